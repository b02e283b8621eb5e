"""Recommenders whose scores are known, and predictors made of them."""

import numpy as np

from recsys.data.dataset import Dataset, Queries
from recsys.models.base import Model
from recsys.models.registry import Recommender
from recsys.ranking.ranking import log_sum_exp
from recsys.serving.predictor import Predictor


class Given(Model):
    """Gives every history the same scores; counts how many histories it is given at a time."""

    def __init__(self, scores, softmax: bool = False) -> None:
        super().__init__()
        self.scores, self.has_probabilities, self.blocks = np.array(scores, np.float32), softmax, []

    def fit(self, train, valid=None, run=None):
        return self

    def score(self, queries: Queries) -> np.ndarray:
        self.blocks.append(len(queries))
        return np.tile(self.scores, (len(queries), 1))

    def log_probabilities(self, scores, items):
        return scores[items] - log_sum_exp(scores)

    def state(self):
        return {}

    def load_state(self, state, n_items):
        pass


class Pulls(Given):
    """A film's logit is the sum of what the watched films pull: (I, I), row = watched; order does not matter."""

    def __init__(self, pulls, softmax=True, length=None) -> None:
        super().__init__([0.0] * len(pulls), softmax)
        self.pulls, self.length = np.array(pulls, np.float32), length

    @property
    def max_length(self):
        return self.length

    def score(self, queries: Queries) -> np.ndarray:
        self.blocks.append(len(queries))
        rows = [self.pulls[np.asarray(history, int)].sum(0) for history in queries.histories]
        return np.array(rows, np.float32).reshape(len(queries), -1)


def pulls(**of):
    """A 6 × 6 table of zeros but for `f0_5=2.0`: film 0 pulls film 5 by 2."""
    table = np.zeros((6, 6))
    for name, pull in of.items():
        table[int(name[1]), int(name[3])] = pull
    return table


def predictor(dataset: Dataset, model: Model, title: str = "Given") -> Predictor:
    """A model made ready for a data set."""
    return Predictor(
        dataset, Recommender("given", title, "Toys", f"{type(model).__module__}:{type(model).__qualname__}"), model
    )
