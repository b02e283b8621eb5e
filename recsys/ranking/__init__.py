"""Rank the items of a score row, and compute metrics from ranks."""
