"""Models, one per file. `base.py` has their interface and `registry.py` the table of recommenders."""
