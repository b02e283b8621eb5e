"""Measure the time and the memory that training, serving, evaluation and loading take on this machine."""
