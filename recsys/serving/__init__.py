"""Recommend films for a watch history, search films, and explain recommendations."""
