"""Ranks, metrics and result files; `metrics` and `results` load neither torch nor Streamlit."""
