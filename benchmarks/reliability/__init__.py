"""Forty bars of load, faults, bad input, security and determinism: python -m benchmarks.reliability."""
