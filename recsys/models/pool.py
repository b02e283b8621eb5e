"""A pool: the weighted sum of the scores of several recommenders, its members (see `length_weights.py`).

Reference: Burke (UMUAI 2002) calls such a recommender a weighted hybrid.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Self

import numpy as np

from recsys.config import ConfigError, Count, config_class
from recsys.data.dataset import Dataset, HeldOut, Queries
from recsys.models.base import Model
from recsys.models.length_weights import LengthWeights, member_scores, whole_or_cut_histories
from recsys.training.options import RunOptions


@config_class
class PoolConfig:
    """The members and the ranges of history lengths. Edges other than the default ones change the metrics little."""

    members: tuple[str, ...] = ("sasrec-softmax", "markov", "content-tfidf")  # the recommenders that are mixed
    edges: tuple[Count, ...] = (10, 50)  # lowest history lengths, in items, of the second and each later range

    def __post_init__(self) -> None:
        """Raise ConfigError if there is no member, a member is named twice, or the edges do not ascend."""
        if not self.members:
            raise ConfigError("{setting} is empty, but must name at least 1 recommender", setting="members")
        if len(set(self.members)) < len(self.members):
            raise ConfigError(
                "members is {members}, but each member can be named only once", members=" ".join(self.members)
            )
        if any(low >= high for low, high in pairwise(self.edges)):
            raise ConfigError("edges is {edges}, but its values must increase", edges=" ".join(map(str, self.edges)))


class Pool(Model):
    """A log-linear pool of other recommenders. Only its weights are learnt and stored."""

    Config = PoolConfig
    config: PoolConfig
    has_probabilities: bool = True
    is_fitted_on_validation: bool = True
    choose_examples = staticmethod(whole_or_cut_histories)  # the queries on which the weights are fitted

    def __init__(self, config: Any = None, title: str = "") -> None:
        super().__init__(config, title)
        self.members = self.config.members
        self.models: list[Model] = []  # the fitted members, M
        self.length_weights = LengthWeights(len(self.members), self.config.edges)

    @classmethod
    def with_fixed_weights(cls, weights: Mapping[str, float], members: Mapping[str, Model], n_items: int) -> Self:
        """Return a pool of fitted members with the same given weights for all lengths. It has no probabilities."""
        model = cls(PoolConfig(members=tuple(weights), edges=()))
        model.set_members(members)
        model.length_weights.set_weights(np.array([[*weights.values()]], np.float32))
        model.n_items = n_items
        model.has_probabilities = model.is_fitted_on_validation = False
        return model

    def set_members(self, members: Mapping[str, Model]) -> None:
        """See `Model.set_members`."""
        self.models = [members[name] for name in self.members]
        self.uses_credits = any(model.uses_credits for model in self.models)
        self.uses_query_ratings = any(model.uses_query_ratings for model in self.models)
        self.added_dataset = ", ".join(sorted({model.added_dataset for model in self.models} - {""}))
        self.note = " ".join(model.note for model in self.models if model.note)

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: RunOptions | None = None) -> Self:
        """Fit the weights on `valid`. Without `valid`, the weights stay equal. The members were fitted before."""
        self.n_items = train.n_items
        if valid:
            self.length_weights.fit(self._member_scores, valid, run or RunOptions(), self.choose_examples)
        return self

    def score(self, queries: Queries) -> np.ndarray:
        """Return Σ_m w_m · z_m, (B, I) float32: log-probabilities up to a constant per row."""
        return self.length_weights.combine(self._member_scores(queries), queries)

    @property
    def device(self) -> str:
        """The device of the members, the GPU if any of them is on one."""
        return next((model.device for model in self.models if model.device != "cpu"), "cpu")

    def state(self) -> dict[str, np.ndarray]:
        """Return {"weights": (W, M) float32, "n_items": ()}. The members are stored separately."""
        return {"weights": self.length_weights.weights, "n_items": np.array(self.n_items)}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """See `Model.load_state`."""
        if state["n_items"] != n_items:
            raise ValueError(f"the saved weights are for {state['n_items']} items, not {n_items}")
        self.length_weights.set_weights(state["weights"])
        self.n_items = n_items

    def _member_scores(self, queries: Queries) -> Iterator[np.ndarray]:
        """Yield z (B, I) float32 of each member."""
        return (member_scores(model, queries, self.n_items) for model in self.models)
