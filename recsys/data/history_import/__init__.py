"""Histories that people bring along: the files of other services, our own exports, any CSV. Nothing of them is kept."""
