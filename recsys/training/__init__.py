"""The one training loop that all neural recommenders share."""
