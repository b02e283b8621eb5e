"""Lift: the probability of an item divided by its popularity.

It exists only for the study "popularity". Menus and leaderboards do not contain it (`listed=False` in `registry.py`).

    score(i | h) = log p(i | h) - power · log(1 + c(i))

p is the probability from another recommender, the member. c(i) is how often item i was watched in the training data. 1
is added, because log 0 is infinite. At power 1 the score is the pointwise mutual information of history h and item i,
up to a constant and the added 1. In association rules, it is the logarithm of the lift (Brin et al., SIGMOD 1997).

At power 1 it is nearly the best ranking under the protocol `popularity-100`. This protocol ranks the held-out item,
drawn from p, among 100 other items, drawn with probability q(i) ∝ c(i). If the 100 items were drawn with replacement,
item i of the 101 items would be the held-out item with probability

    P(i | the 101 items, h) ∝ p(i | h) · Π_{j ≠ i} q(j) ∝ p(i | h) / q(i)

The protocol draws distinct items, so ranking by p / q is only nearly the best. p / q is also the optimum of InfoNCE
(arXiv:1807.03748, section 2.3). Among all items, the best ranking is by p.

Shapes: B queries, I items.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from recsys.config import NonNegative, config_class
from recsys.data.dataset import Dataset, Queries
from recsys.models.array_model import ArrayModel
from recsys.models.base import Model
from recsys.models.length_weights import member_scores
from recsys.training.options import RunOptions


@config_class
class LiftConfig:
    """Settings of Lift. They are not tuned, because the best power follows from the protocol."""

    member: str = "sasrec-memory"  # the recommender whose probabilities are divided
    power: NonNegative = 1.0  # exponent of popularity; with 0, the scores are those of the member


class Lift(ArrayModel):
    """The log-probabilities of a member minus the logarithm of popularity, see the module docstring."""

    Config = LiftConfig
    config: LiftConfig
    array_names = ("log_counts",)

    def __init__(self, config: Any = None, title: str = "") -> None:
        super().__init__(config, title)
        self.members = (self.config.member,)

    def set_members(self, members: Mapping[str, Model]) -> None:
        """See `Model.set_members`."""
        self.member = members[self.config.member]
        self.uses_credits, self.uses_query_ratings = self.member.uses_credits, self.member.uses_query_ratings
        self.is_fitted_on_validation = self.member.is_fitted_on_validation
        self.added_dataset = self.member.added_dataset

    def _fit(self, train: Dataset, run: RunOptions) -> None:
        self.log_counts = np.log1p(train.counts).astype(np.float32)  # (I,)

    def score(self, queries: Queries) -> np.ndarray:
        """Return log p - power · log(1 + c), (B, I). If the member has no p, `pool.comparable_scores` replace log p."""
        discount = np.float32(self.config.power) * self.log_counts
        return member_scores(self.member, queries, len(self.log_counts)) - discount

    @property
    def device(self) -> str:
        """See `Model.device`."""
        return self.member.device
