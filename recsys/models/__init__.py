"""One recommender per file; see base.py for what each promises."""
