"""Protocols, ranks, result files and their analysis. Only `evaluate` and `rank` load torch."""
