"""Most popular: everyone is offered what most people watched.

Shapes: B queries, I items.
"""

from typing import Self

import numpy as np

from recsys.data.schema import Dataset, HeldOut, Queries
from recsys.models._histories import per_item
from recsys.models.base import Recommender
from recsys.training.run import Run


class Popular(Recommender):
    """The number of times each film was watched, the same for everybody."""

    title = "Most popular"
    family = "No learning"

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: Run | None = None) -> Self:
        """Count; `valid` and `run` change nothing."""
        self.counts = train.counts.astype(np.float32)  # (I,)
        return self

    def score(self, queries: Queries) -> np.ndarray:
        """(B, I) float32: the counts, once per query."""
        return np.tile(self.counts, (len(queries), 1))

    def state(self) -> dict[str, np.ndarray]:
        """{"counts": (I,) float32}."""
        return {"counts": self.counts}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Raises KeyError or ValueError when `state` is not that of `n_items` films."""
        self.counts = per_item(state, "counts", n_items)


VARIANTS = {"popular": Popular}
