"""Search films by title, other titles and people."""
