"""The page Compare: the answers of several recommenders to the visitor's list of films."""
