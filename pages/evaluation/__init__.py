"""Evaluation: how good each recommender is."""
