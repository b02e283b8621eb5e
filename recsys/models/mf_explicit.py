"""The rating matrix factorised: what somebody would rate a film, from points for films and people.

State holds films only; the point of a person is computed from the history at hand. Shapes: B queries, I items,
U users, E ratings, F factors.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse

from recsys.data.schema import Dataset, HeldOut, Queries
from recsys.models._histories import one_blas_thread, per_item, popular_where_empty, ratings_of
from recsys.models.base import Recommender
from recsys.training.run import Run


@dataclass(frozen=True)
class MfExplicitConfig:
    """Defaults are those tuned on ML-1M."""

    factors: int = 8
    regularization: float = 30.0  # λ, added to the diagonal once per person and film, not per rating
    iterations: int = 10  # each computes all people, then all films
    liked: float = 5.0  # what a visitor is taken to have rated each film of their history


class MfExplicit(Recommender):
    """Biased matrix factorisation on ratings: r_ui ≈ μ + b_i + b_u + q_i·p_u (Koren, Bell, Volinsky, Computer, 2009).

    Alternating least squares: with the films fixed, each person's (b_u, p_u) is a ridge regression on their ratings,
    and the other way round. Only ratings that were given count, which tells how much somebody would like a film, not
    whether they would watch it: such models rank badly (Cremonesi, Koren, Turrin, RecSys 2010). A visitor has
    watched films and rated none, so each film of the history stands with the rating `liked`. An empty history gets the
    order of popularity.
    """

    title = "MF on ratings"
    family = "Factorisation"
    paper = "doi:10.1109/MC.2009.263"
    Config = MfExplicitConfig
    presets = {
        ("mf-explicit", "ml-1m"): MfExplicitConfig(),
        ("mf-explicit", "ml-100k"): MfExplicitConfig(),
    }

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: Run | None = None) -> Self:
        """Reports {"stage": "fit", "done": i, "total": iterations}; `valid` changes nothing."""
        run, given = run or Run(), ratings_of(train)  # (U, I)
        by_film, width = sparse.csr_array(given.T), self.config.factors
        self.mean = np.float32(given.data.mean())
        films = np.random.default_rng(run.seed).normal(0, 0.1, (train.n_items, 1 + width))  # (I, 1 + F) b_i, q_i
        films[:, 0] = 0
        for iteration in range(self.config.iterations):
            people = self._solve(given, films)  # (U, 1 + F) b_u, p_u
            films = self._solve(by_film, people)
            run.report({"stage": "fit", "done": iteration + 1, "total": self.config.iterations})
        self.films, self.counts = films.astype(np.float32), train.counts.astype(np.float32)
        return self

    def score(self, queries: Queries) -> np.ndarray:
        """(B, I) float32: the rating expected of each film."""
        watched = [np.unique(np.asarray(history, np.int64)) for history in queries.histories]
        ends = np.cumsum([0, *map(len, watched)])
        films = np.concatenate([*watched, np.empty(0, np.int64)])
        rated = np.full(len(films), self.config.liked, np.float32)
        people = self._solve(sparse.csr_array((rated, films, ends), shape=(len(watched), len(self.films))), self.films)
        scores = self.mean + self.films[:, 0] + people[:, :1] + people[:, 1:] @ self.films[:, 1:].T
        return popular_where_empty(scores.astype(np.float32), queries.histories, self.counts)

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
        """{"films": (I, 1 + F) biases and factors, "counts": (I,), "mean": ()} float32."""
        return {"films": self.films, "counts": self.counts, "mean": np.asarray(self.mean)}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Raises KeyError or ValueError when `state` is not that of `n_items` films."""
        self.films, self.counts = per_item(state, "films", n_items), per_item(state, "counts", n_items)
        self.mean = np.float32(state["mean"])


VARIANTS = {"mf-explicit": MfExplicit}
