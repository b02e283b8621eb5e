"""One script for each system, run in that system's own environment; what they have in common is exchange.py."""
