"""Parts that neural recommenders are made of."""
