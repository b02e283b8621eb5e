"""Lift: by how much a history raises the probability of an item above what its popularity alone would give it.

    score(i) = log p(i | history) - power · log(1 + times i was watched),

with p of another recommender. At power 1 this is, but for a constant, the logarithm of what association rules call lift
(Brin et al., SIGMOD 1997) and the pointwise mutual information of history and item.

It is the best ranking there is under `popularity-100`. There one item, drawn from p, is hidden among others drawn in
proportion to popularity q, all of them in an order that tells nothing. Which one is the hidden one?

    P(it is i | the items, history) ∝ p(i) · Π q(of the others) ∝ p(i) / q(i),

so that whoever ranks by p / q finds it most often within the first k, for every k. (Exactly so where negatives are
drawn with replacement; it is the answer that InfoNCE is trained for, arXiv:1807.03748, section 2.3.) Among all items
the best ranking is that by p. Nothing is learnt here: what is gained under one protocol and lost under the other says
nothing of taste.

Shapes: B queries, I items.
"""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from recsys.config import NonNegative, config_class
from recsys.data.schema import Dataset, HeldOut, Queries
from recsys.models.base import Model
from recsys.models.histories import require_n_items
from recsys.models.pool import values_of
from recsys.ranking.ranking import log_sum_exp
from recsys.training.options import RunOptions

NOTE = (
    "First come the films that your history makes likelier than they are for everybody, so a film may stand above a "
    "more probable one."
)


@config_class
class LiftConfig:
    """Nothing is tuned: the power follows from the protocol."""

    member: str = "sasrec-memory"  # the recommender whose probabilities are divided
    power: NonNegative = 1.0  # of popularity: 0 leaves the member as it is


class Lift(Model):
    """The member's log-probabilities less the logarithm of popularity; one is added to counts, so that none is 0."""

    Config = LiftConfig
    config: LiftConfig
    note: str = NOTE

    def __init__(self, config: Any = None, title: str = "") -> None:
        super().__init__(config, title)
        self.members = (self.config.member,)

    def set_members(self, members: Mapping[str, Model]) -> None:
        """Take the fitted member."""
        self.member = members[self.config.member]
        self.uses_credits, self.uses_query_ratings = self.member.uses_credits, self.member.uses_query_ratings
        self.has_probabilities, self.also = self.member.has_probabilities, self.member.also

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: RunOptions | None = None) -> Self:
        """Count; the member has learnt from `train` before."""
        self.log_counts = np.log1p(train.counts).astype(np.float32)  # (I,)
        return self

    def score(self, queries: Queries) -> np.ndarray:
        """(B, I) float32; of a member that gives no probabilities `log_values` takes their place."""
        return values_of(self.member, queries, len(self.log_counts)) - self._discount

    def log_probabilities(self, scores: np.ndarray, items: np.ndarray) -> np.ndarray:
        """log p that the next item is each of `items` (n,), by one row of scores (I,) → (n,) float64: the member's."""
        values = scores + self._discount
        return values[items].astype(np.float64) - log_sum_exp(values)

    @property
    def device(self) -> str:
        """Where the member computes."""
        return self.member.device

    def state(self) -> dict[str, np.ndarray]:
        """{"log_counts": (I,) float32}: nothing of the member."""
        return {"log_counts": self.log_counts}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Raises KeyError or ValueError when `state` is not that of `n_items` items."""
        self.log_counts = require_n_items(state, "log_counts", n_items)

    @property
    def _discount(self) -> np.ndarray:
        """(I,) float32: what popularity takes off each score."""
        return np.float32(self.config.power) * self.log_counts
