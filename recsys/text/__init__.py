"""Films as texts, and texts as vectors."""
