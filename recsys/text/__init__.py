"""Texts of films, and sentence vectors of texts."""
