"""Measure speed, memory and quality of the recommenders and of the app: one script per question, see README.md."""
