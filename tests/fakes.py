"""Recommenders that need no training, for tests of what surrounds a model."""

from typing import Self

import numpy as np

from recsys.config import config_class
from recsys.data.dataset import Dataset, HeldOut, Queries
from recsys.models.base import Model
from recsys.models.registry import Recommender
from recsys.training.options import RunOptions


@config_class
class CountsConfig:
    power: float = 1.0
    sizes: tuple[int, ...] = (3, 4)  # JSON has no tuples: a store must give back what it took


class Counts(Model):
    """Scores every item by how often it was watched in training; fitted on first use."""

    Config = CountsConfig
    fits = 0  # how often any of them was fitted

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: RunOptions | None = None) -> Self:
        type(self).fits += 1
        self.counts = train.counts.astype(np.float32) ** self.config.power
        return self

    def score(self, queries: Queries) -> np.ndarray:
        return np.tile(self.counts, (len(queries), 1))

    def state(self) -> dict[str, np.ndarray]:
        return {"counts": self.counts, "step": np.array(7)}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        if state["counts"].shape != (n_items,) or state["step"].shape != ():
            raise ValueError("other sizes")
        self.counts = state["counts"]


class Trained(Counts):
    """The same, but it counts as a model that has to be trained, and whose weights may be shipped."""

    needs_training = True


VARIANTS = {
    "counts": Recommender("counts", "Counts", "Baselines", "tests.fakes:Counts", "arXiv:0000.00000"),
    "trained": Recommender(
        "trained", "Trained", "Transformers", "tests.fakes:Trained", "arXiv:0000.00000", needs_training=True
    ),
}
