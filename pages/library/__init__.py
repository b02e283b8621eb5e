"""Library: the films of a set, its numbers, and films for two."""
