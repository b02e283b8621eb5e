"""Protocols, ranks, result files and their analysis. Of its modules, only `evaluate` and `rank` load torch."""
