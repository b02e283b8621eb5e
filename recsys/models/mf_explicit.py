"""Matrix factorisation of ratings.

The state contains item factors only. The user's bias and factors are computed from the history of the query.

Shapes: B queries, U users, I items, F factors.
"""

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from recsys.config import Count, Finite, Positive, Size, config_class
from recsys.data.dataset import Dataset, Queries
from recsys.models.array_model import ArrayModel
from recsys.models.histories import history_matrix, rating_matrix
from recsys.training.options import RunOptions


@config_class
class MfExplicitConfig:
    """Settings of MfExplicit, tuned on ML-1M."""

    factors: Size = 8  # numbers per item and per user
    regularization: Positive = 30.0  # λ of each ridge regression, whatever the number of its ratings
    iterations: Count = 10  # each iteration computes all users, then all items
    liked: Finite = 5.0  # stars assumed for an unrated item of a query


class MfExplicit(ArrayModel):
    """Biased matrix factorisation: r_ui ≈ μ + b_i + b_u + q_i·p_u (Koren, Bell and Volinsky, Computer, 2009).

    It is fitted by alternating least squares: with the items fixed, (b_u, p_u) of each user is a ridge regression on
    the user's ratings. Then, with the users fixed, (b_i, q_i) of each item is a ridge regression.

    Only given ratings are fitted, so a score estimates how much a user likes an item and not whether the user watches
    it. Such models rank badly (Cremonesi, Koren and Turrin, RecSys 2010).

    Departure from the paper: an unrated item of a query counts as rated with `liked` stars.
    """

    Config = MfExplicitConfig
    config: MfExplicitConfig
    uses_times_or_ratings = True
    uses_query_ratings = True
    predicts_ratings = True
    array_names = ("items", "counts")

    def _fit(self, train: Dataset, run: RunOptions) -> None:
        ratings = rating_matrix(train)  # (U, I)
        by_item = sparse.csr_array(ratings.T)
        self.mean = np.float32(ratings.data.mean())
        items = np.random.default_rng(run.seed).normal(0, 0.1, (train.n_items, 1 + self.config.factors))
        items[:, 0] = 0  # (I, 1 + F): b_i, then q_i
        for iteration in range(self.config.iterations):
            users = self._solve(ratings, items)  # (U, 1 + F): b_u, then p_u
            items = self._solve(by_item, users)
            run.report({"stage": "fit", "done": iteration + 1, "total": self.config.iterations})
        self.items = items.astype(np.float32)

    def _score(self, queries: Queries) -> np.ndarray:
        return self.predicted_ratings(queries)

    def predicted_ratings(self, queries: Queries) -> np.ndarray:
        """Return μ + b_i + b_u + q_i·p_u in stars, (B, I) float32. For an empty history, b_u and p_u are 0."""
        ratings = history_matrix(queries.histories, len(self.items), queries.ratings, self.config.liked)
        users = self._solve(ratings, self.items)
        scores = self.mean + self.items[:, 0] + users[:, :1] + users[:, 1:] @ self.items[:, 1:].T
        return scores.astype(np.float32)

    def _solve(self, ratings: sparse.csr_array, fixed: np.ndarray) -> np.ndarray:
        """Return the biases and factors of the rows of `ratings`, (rows, 1 + F) float32.

        Rows are users and columns are items, or the reverse. `fixed` are the biases and factors of the columns,
        (columns, 1 + F).
        """
        solution = np.zeros((ratings.shape[0], fixed.shape[1]), np.float32)
        features = np.column_stack([np.ones(len(fixed)), fixed[:, 1:]])
        ridge = self.config.regularization * np.eye(features.shape[1])
        with threadpool_limits(1, "blas"):  # on small matrices more threads are slower
            for row in range(len(solution)):
                entries = slice(ratings.indptr[row], ratings.indptr[row + 1])
                columns = ratings.indices[entries]
                x, y = features[columns], ratings.data[entries] - self.mean - fixed[columns, 0]
                solution[row] = np.linalg.solve(x.T @ x + ridge, x.T @ y)
        return solution

    def state(self) -> dict[str, np.ndarray]:
        """Return "items" (I, 1 + F), biases before factors, "counts" (I,) and "mean" (), float32."""
        return super().state() | {"mean": np.asarray(self.mean)}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """See `Model.load_state`."""
        super().load_state(state, n_items)
        self.mean = np.float32(state["mean"].item())  # raises ValueError for an array of several numbers
