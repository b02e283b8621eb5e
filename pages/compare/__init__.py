"""Compare: answers of several recommenders to one watch list."""
