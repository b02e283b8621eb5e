"""Widgets, state, texts and caches that all pages use."""
