"""The rating matrix factorised: what a user would rate an item, from a vector for each.

State holds items only; the vector of a user is computed from the history at hand. Shapes: B queries, I items, U users,
F factors.
"""

from typing import Self

import numpy as np
from scipy import sparse

from recsys.config import Count, Finite, Positive, Size, config_class
from recsys.data.schema import Dataset, HeldOut, Queries
from recsys.models.base import Model
from recsys.models.histories import fill_empty_histories, one_blas_thread, ratings_of, require_n_items, stars
from recsys.training.options import RunOptions


@config_class
class MfExplicitConfig:
    """Defaults are those tuned on ML-1M."""

    factors: Size = 8  # numbers per item and per person
    regularization: Positive = 30.0  # λ, added to the diagonal once per user and item, not per rating
    iterations: Count = 10  # each computes all users, then all items
    liked: Finite = 5.0  # the rating that stands for each item of a history that was not rated


class MfExplicit(Model):
    """Biased matrix factorisation on ratings: r_ui ≈ μ + b_i + b_u + q_i·p_u (Koren, Bell, Volinsky, Computer, 2009).

    Alternating least squares: with the items fixed, each user's (b_u, p_u) is a ridge regression on their ratings, and
    then each item's (b_i, q_i) with the users fixed. Only ratings that were given are fitted: they say how much
    somebody would like an item, not whether they would watch it, and such models rank badly (Cremonesi, Koren, Turrin,
    RecSys 2010). Unlike the paper: an item of a history to be answered that has no rating counts as rated `liked`. An
    empty history gets the order of popularity.
    """

    Config = MfExplicitConfig
    config: MfExplicitConfig
    uses_times_or_ratings = True
    uses_query_ratings = True
    predicts_ratings = True

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: RunOptions | None = None) -> Self:
        """Reports {"stage": "fit", "done": i, "total": iterations}; `valid` changes nothing."""
        run, given = run or RunOptions(), ratings_of(train)  # (U, I)
        by_item, width = sparse.csr_array(given.T), self.config.factors
        self.mean = np.float32(given.data.mean())
        items = np.random.default_rng(run.seed).normal(0, 0.1, (train.n_items, 1 + width))  # (I, 1 + F) b_i, q_i
        items[:, 0] = 0
        for iteration in range(self.config.iterations):
            users = self._solve(given, items)  # (U, 1 + F) b_u, p_u
            items = self._solve(by_item, users)
            run.report({"stage": "fit", "done": iteration + 1, "total": self.config.iterations})
        self.items, self.counts = items.astype(np.float32), train.counts.astype(np.float32)
        return self

    def score(self, queries: Queries) -> np.ndarray:
        """(B, I) float32: the rating predicted for each item."""
        return fill_empty_histories(self.predicted_ratings(queries), queries.histories, self.counts)

    def predicted_ratings(self, queries: Queries) -> np.ndarray:
        """(B, I) float32 stars: μ + b_i + b_u + q_i·p_u; for an empty history μ + b_i."""
        users = self._solve(stars(queries, len(self.items), self.config.liked), self.items)
        scores = self.mean + self.items[:, 0] + users[:, :1] + users[:, 1:] @ self.items[:, 1:].T
        return scores.astype(np.float32)

    def _solve(self, given: sparse.csr_array, others: np.ndarray) -> np.ndarray:
        """(rows, 1 + F) biases and factors of one side, from ratings (rows, columns) and the other (columns, 1 + F)."""
        found = np.zeros((given.shape[0], others.shape[1]), np.float32)
        features = np.column_stack([np.ones(len(others)), others[:, 1:]])
        ridge = self.config.regularization * np.eye(features.shape[1])
        with one_blas_thread():
            for row in range(len(found)):
                here = slice(given.indptr[row], given.indptr[row + 1])
                known = features[given.indices[here]]
                left = given.data[here] - self.mean - others[given.indices[here], 0]
                found[row] = np.linalg.solve(known.T @ known + ridge, known.T @ left)
        return found

    def state(self) -> dict[str, np.ndarray]:
        """{"items": (I, 1 + F) biases and factors, "counts": (I,), "mean": ()} float32."""
        return {"items": self.items, "counts": self.counts, "mean": np.asarray(self.mean)}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Raises KeyError or ValueError when `state` is not that of `n_items` items."""
        self.items, self.counts = require_n_items(state, "items", n_items), require_n_items(state, "counts", n_items)
        self.mean = np.float32(state["mean"].reshape(())[()])  # ValueError for more numbers than one
