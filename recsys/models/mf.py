"""Matrix factorisation by the library `implicit`: items and users are vectors, and a score is their product.

State holds item factors only. The factors of a user, seen in training or not, are computed from the history at hand:
at test time every history is an item longer than in training. Shapes: B queries, I items, F factors.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

from recsys.config import Count, NonNegative, Rate, Size, config_class
from recsys.data.schema import Dataset, HeldOut, Queries
from recsys.errors import MissingLibraryError
from recsys.models.base import Model
from recsys.models.histories import fill_empty_histories, one_blas_thread, profile_weights, require_n_items, watched
from recsys.training.options import RunOptions


@config_class
class AlsConfig:
    """Defaults are those tuned on ML-1M."""

    factors: Size = 192  # numbers per item and per person
    regularization: NonNegative = 10.0  # λ, added to the diagonal once per user and item, not per rating
    alpha: NonNegative = 1.0  # confidence in an item that was watched; one that was not has confidence 1
    iterations: Count = 15  # each computes all users, then all items


class Als(Model):
    """Alternating least squares (Hu, Koren, Volinsky: Collaborative Filtering for Implicit Feedback Datasets, 2008).

    Every item watched has confidence α; ratings do not count, because the histories to be answered have none. An empty
    history gets the order of popularity.
    """

    Config = AlsConfig
    config: AlsConfig
    has_item_embeddings = True

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: RunOptions | None = None) -> Self:
        """Reports {"stage": "fit", "done": i, "total": iterations}. Raises MissingLibraryError without implicit."""
        run = run or RunOptions()
        with _implicit() as cpu:
            model = cpu.als.AlternatingLeastSquares(
                self.config.factors,
                self.config.regularization,
                self.config.alpha,
                iterations=self.config.iterations,
                random_state=run.seed,
            )
            model.fit(watched(train), show_progress=False, callback=_progress(run, self.config.iterations))
        self._learnt(model.item_factors, train.counts.astype(np.float32))
        return self

    def score(self, queries: Queries) -> np.ndarray:
        """(B, I) float32: about 1 for an item that fits, about 0 for one that does not."""
        scores = self._fold_in(queries) @ self.factors.T  # (B, F) (F, I)
        return fill_empty_histories(scores, queries.histories, self.counts)

    def _fold_in(self, queries: Queries) -> np.ndarray:
        """(B, F) x = (YᵀY + λI + Yᵀ(C - I)Y)⁻¹ YᵀC p, equation 4 of the paper, C = α for items of the history."""
        alpha = self.config.alpha
        watched = [self.factors[np.unique(np.asarray(history, np.int64))] for history in queries.histories]
        wanted = np.array([alpha * factors.sum(0) for factors in watched], np.float32).reshape(-1, len(self.gram))
        if alpha == 1:  # C is the identity: one system for all users
            return np.linalg.solve(self.gram, wanted.T).T
        users = np.empty_like(wanted)
        with one_blas_thread():
            for row, factors in enumerate(watched):
                users[row] = np.linalg.solve(self.gram + (alpha - 1) * factors.T @ factors, wanted[row])
        return users

    def _learnt(self, factors: np.ndarray, counts: np.ndarray) -> None:
        self.factors, self.counts = factors, counts
        self.gram = factors.T @ factors + self.config.regularization * np.eye(factors.shape[1], dtype=np.float32)

    def item_embeddings(self) -> np.ndarray:
        """(I, F) float32: the items' factors."""
        return self.factors

    def state(self) -> dict[str, np.ndarray]:
        """{"factors": (I, F), "counts": (I,)} float32."""
        return {"factors": self.factors, "counts": self.counts}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Raises KeyError or ValueError when `state` is not that of `n_items` items."""
        self._learnt(require_n_items(state, "factors", n_items), require_n_items(state, "counts", n_items))


@config_class
class BprMfConfig:
    """Defaults are those tuned on ML-1M."""

    factors: Size = 64  # numbers per item and per person
    lr: Rate = 0.05  # learning rate
    regularization: NonNegative = 0.003  # λ of the paper, per sampled pair
    epochs: Count = 20  # one pair is sampled per rating and epoch
    fold_in: NonNegative = 0.1  # λ where a user is computed from a history


class BprMf(Model):
    """Bayesian personalised ranking (arXiv:1205.2618).

    Unlike the paper: `implicit` draws the item that was not watched in proportion to popularity; and a user's factors
    are not those of training but one Newton step from zero on the paper's criterion, over all pairs of a watched and
    any item. That is a closed form, linear in the mean of the history's item factors, and what makes this another
    method than the published one: on ML-1M's validation NDCG@10 is .046 with it, .033 with the trained factors. An
    empty history gets the order of popularity.
    """

    Config = BprMfConfig
    config: BprMfConfig
    has_item_embeddings = True

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: RunOptions | None = None) -> Self:
        """Reports {"stage": "fit", "done": i, "total": epochs}. Raises MissingLibraryError without implicit."""
        run = run or RunOptions()
        with _implicit() as cpu:
            model = cpu.bpr.BayesianPersonalizedRanking(
                self.config.factors,
                self.config.lr,
                self.config.regularization,
                iterations=self.config.epochs,
                num_threads=1,  # threads write over each other, so that no two fits agree
                random_state=run.seed,
            )
            model.fit(watched(train), show_progress=False, callback=_progress(run, self.config.epochs))
        factors, bias = model.item_factors[:, :-1].copy(), model.item_factors[:, -1].copy()  # bias is the last column
        self._learnt(factors, bias, train.counts.astype(np.float32))
        return self

    def score(self, queries: Queries) -> np.ndarray:
        """(B, I) float32, the x of the paper: differences are log-odds of preferring one item to another."""
        weights = profile_weights(queries.histories, len(self.factors))  # (B, I)
        users = (weights @ self.factors - self.mean) @ self.newton  # (B, F)
        return fill_empty_histories(users @ self.factors.T + self.bias, queries.histories, self.counts)

    def _learnt(self, factors: np.ndarray, bias: np.ndarray, counts: np.ndarray) -> None:
        """Keep what was learnt and prepare the Newton step.

        For one user the criterion is the mean of ln σ(x·(y_i - y_j)) over watched items i and all items j, less
        λ/2 |x|². At x = 0 its gradient is (mean y_i - mean y_j) / 2. Its Hessian is taken to be -(Cov y / 2 + λI), as
        if the history's items had the covariance of the whole catalogue.
        """
        self.factors, self.bias, self.counts = factors, bias, counts
        self.mean = factors.mean(0)
        centred = factors - self.mean
        covariance = centred.T @ centred / len(factors)  # (F, F)
        hessian = covariance / 2 + self.config.fold_in * np.eye(len(covariance))
        self.newton = (np.linalg.inv(hessian) / 2).astype(np.float32)

    def item_embeddings(self) -> np.ndarray:
        """(I, F) float32: the items' factors."""
        return self.factors

    def state(self) -> dict[str, np.ndarray]:
        """{"factors": (I, F), "bias": (I,), "counts": (I,)} float32."""
        return {"factors": self.factors, "bias": self.bias, "counts": self.counts}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Raises KeyError or ValueError when `state` is not that of `n_items` items."""
        self._learnt(*(require_n_items(state, name, n_items) for name in ("factors", "bias", "counts")))


@contextmanager
def _implicit() -> Iterator[Any]:
    """`implicit.cpu` with BLAS kept to one thread: its own threads are many times slower beside those of BLAS."""
    try:
        import implicit.cpu.als
        import implicit.cpu.bpr
    except ImportError as error:
        raise MissingLibraryError("fitting ALS and BPR-MF", "implicit") from error
    with one_blas_thread():
        yield implicit.cpu


def _progress(run: RunOptions, total: int) -> Any:
    """implicit's callback after each iteration, as an event of the run."""
    return lambda iteration, *_: run.report({"stage": "fit", "done": iteration + 1, "total": total})
