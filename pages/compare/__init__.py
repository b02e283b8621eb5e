"""Compare: one sequence through several recommenders."""
