"""Explain recommendations, show how models compute them, and compare lists."""
