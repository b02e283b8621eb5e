"""Matrix factorisation of implicit feedback, fitted by the library `implicit`: ALS and BPR-MF.

A score is the product of a user's and an item's factors. The state contains item factors only. The user's factors are
computed from the history of the query (fold-in), so new users are served, and histories may have grown since training.

Shapes: B queries, I items, F factors.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from scipy import sparse

from recsys.config import Count, NonNegative, Rate, Size, config_class
from recsys.data.dataset import Dataset, HeldOut, Queries
from recsys.errors import MissingLibraryError
from recsys.models.base import Model
from recsys.models.histories import fill_empty_histories, history_matrix, profile_weights, require_n_items
from recsys.models.linalg import one_blas_thread
from recsys.training.options import RunOptions


@config_class
class AlsConfig:
    """Settings of Als, tuned on ML-1M."""

    factors: Size = 192  # numbers per item and per user
    regularization: NonNegative = 10.0  # λ, added to the diagonal once per user and item, not per rating
    alpha: NonNegative = 1.0  # confidence in a watched item; the confidence in all other items is 1
    iterations: Count = 15  # each computes all users, then all items


class Als(Model):
    """Alternating least squares for implicit feedback (Hu, Koren and Volinsky, ICDM 2008).

    It minimises Σ_ui c_ui (p_ui - x_u·y_i)² + λ (Σ_u |x_u|² + Σ_i |y_i|²). p_ui is 1 if user u watched item i, else 0.
    An empty history is scored by popularity.

    Departure from the paper: the confidence c_ui of a watched item is α. In the paper it grows with the number of
    views. Ratings are not used.
    """

    Config = AlsConfig
    config: AlsConfig
    has_item_embeddings = True

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: RunOptions | None = None) -> Self:
        """Factorise. Reports {"stage": "fit", "done": iteration, "total": iterations}. `valid` is not used.

        Raises:
            MissingLibraryError: If implicit is not installed.
        """
        run = run or RunOptions()
        with _implicit() as cpu:
            model = cpu.als.AlternatingLeastSquares(
                self.config.factors,
                self.config.regularization,
                self.config.alpha,
                iterations=self.config.iterations,
                random_state=run.seed,
            )
            model.fit(_views(train), show_progress=False, callback=_progress(run, self.config.iterations))
        self._set_factors(model.item_factors, train.counts.astype(np.float32))
        return self

    def score(self, queries: Queries) -> np.ndarray:
        """Return x·y_i, (B, I) float32: about 1 for a relevant item, about 0 for other items."""
        scores = self._fold_in(queries) @ self.factors.T  # (B, F) (F, I)
        return fill_empty_histories(scores, queries.histories, self.counts)

    def _fold_in(self, queries: Queries) -> np.ndarray:
        """Return the user factors x = (YᵀY + λE + Yᵀ(C - E)Y)⁻¹ YᵀCp, (B, F): equation 4 of the paper.

        Y (I, F) are the item factors, C is the diagonal matrix of confidences and E the identity.
        """
        alpha = self.config.alpha
        watched = [self.factors[np.unique(np.asarray(history, np.int64))] for history in queries.histories]
        right_sides = np.array([alpha * factors.sum(0) for factors in watched], np.float32).reshape(-1, len(self.gram))
        if alpha == 1:  # C = E: all users have the same matrix
            return np.linalg.solve(self.gram, right_sides.T).T
        users = np.empty_like(right_sides)
        with one_blas_thread():
            for row, factors in enumerate(watched):
                users[row] = np.linalg.solve(self.gram + (alpha - 1) * factors.T @ factors, right_sides[row])
        return users

    def _set_factors(self, factors: np.ndarray, counts: np.ndarray) -> None:
        """Store item factors (I, F) and counts (I,), and compute YᵀY + λE."""
        self.factors, self.counts = factors, counts
        self.gram = factors.T @ factors + self.config.regularization * np.eye(factors.shape[1], dtype=np.float32)

    def item_embeddings(self) -> np.ndarray:
        """Return the item factors, (I, F) float32."""
        return self.factors

    def state(self) -> dict[str, np.ndarray]:
        """Return "factors" (I, F) and "counts" (I,), float32."""
        return {"factors": self.factors, "counts": self.counts}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Restore the arrays of `state`."""
        self._set_factors(require_n_items(state, "factors", n_items), require_n_items(state, "counts", n_items))


@config_class
class BprMfConfig:
    """Settings of BprMf, tuned on ML-1M."""

    factors: Size = 64  # numbers per item and per user
    lr: Rate = 0.05  # learning rate
    regularization: NonNegative = 0.003  # the paper's λ, per sampled pair
    epochs: Count = 20  # one pair is sampled per rating and epoch
    fold_in: NonNegative = 0.1  # L2 penalty λ of user factors, see `_set_factors`


class BprMf(Model):
    """Bayesian personalised ranking with matrix factorisation (Rendle et al., UAI 2009, arXiv:1205.2618).

    It maximises Σ ln σ(x_ui - x_uj) - λ|Θ|² over users u, watched items i and items j that were not watched, with
    x_ui = b_i + x_u·y_i. An empty history is scored by popularity.

    Departures from the paper:
    - `implicit` draws j in proportion to popularity. The paper draws uniformly.
    - The trained factors of users are not used. A user is a Newton step from zero, see `_set_factors`. On ML-1M's
      validation set, NDCG@10 is .046 with this step and .033 with the trained factors.
    """

    Config = BprMfConfig
    config: BprMfConfig
    has_item_embeddings = True

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: RunOptions | None = None) -> Self:
        """Factorise. Reports {"stage": "fit", "done": epoch, "total": epochs}. `valid` is not used.

        Raises:
            MissingLibraryError: If implicit is not installed.
        """
        run = run or RunOptions()
        with _implicit() as cpu:
            model = cpu.bpr.BayesianPersonalizedRanking(
                self.config.factors,
                self.config.lr,
                self.config.regularization,
                iterations=self.config.epochs,
                num_threads=1,  # threads update factors without locks, so fits would not be reproducible
                random_state=run.seed,
            )
            model.fit(_views(train), show_progress=False, callback=_progress(run, self.config.epochs))
        factors, bias = model.item_factors[:, :-1].copy(), model.item_factors[:, -1].copy()  # bias is the last column
        self._set_factors(factors, bias, train.counts.astype(np.float32))
        return self

    def score(self, queries: Queries) -> np.ndarray:
        """Return the paper's x_ui, (B, I) float32. A difference of two scores is the log-odds of a preference."""
        weights = profile_weights(queries.histories, len(self.factors))  # (B, I)
        users = (weights @ self.factors - self.mean) @ self.newton  # (B, F)
        return fill_empty_histories(users @ self.factors.T + self.bias, queries.histories, self.counts)

    def _set_factors(self, factors: np.ndarray, bias: np.ndarray, counts: np.ndarray) -> None:
        """Store item factors (I, F), biases (I,) and counts (I,), and compute the matrix of the Newton step.

        The criterion for one user, without biases, is the mean of ln σ(x·(y_i - y_j)) over watched items i and all
        items j, minus λ/2 |x|². At x = 0 its gradient is (mean y_i - mean y_j) / 2. Its Hessian is approximated by
        -(Cov y / 2 + λE), with the covariance of all items in place of the items of the history.
        """
        self.factors, self.bias, self.counts = factors, bias, counts
        self.mean = factors.mean(0)
        centred = factors - self.mean
        covariance = centred.T @ centred / len(factors)  # (F, F)
        negative_hessian = covariance / 2 + self.config.fold_in * np.eye(len(covariance))
        self.newton = (np.linalg.inv(negative_hessian) / 2).astype(np.float32)

    def item_embeddings(self) -> np.ndarray:
        """Return the item factors, (I, F) float32."""
        return self.factors

    def state(self) -> dict[str, np.ndarray]:
        """Return "factors" (I, F), "bias" (I,) and "counts" (I,), float32."""
        return {"factors": self.factors, "bias": self.bias, "counts": self.counts}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Restore the arrays of `state`."""
        self._set_factors(*(require_n_items(state, name, n_items) for name in ("factors", "bias", "counts")))


@contextmanager
def _implicit() -> Iterator[Any]:
    """Yield `implicit.cpu`, with one BLAS thread: its own threads are many times slower beside threads of BLAS.

    Raises:
        MissingLibraryError: If implicit is not installed.
    """
    try:
        import implicit.cpu.als
        import implicit.cpu.bpr
    except ImportError as error:
        raise MissingLibraryError("fitting ALS and BPR-MF", "implicit") from error
    with one_blas_thread():
        yield implicit.cpu


def _views(train: Dataset) -> sparse.csr_matrix:
    """Return 1 for each item that a user watched, (users, I), in the type that implicit expects."""
    return sparse.csr_matrix(history_matrix(train.histories, train.n_items))


def _progress(run: RunOptions, total: int) -> Callable[..., None]:
    """Return a callback for implicit that reports each iteration to the run."""
    return lambda iteration, *_: run.report({"stage": "fit", "done": iteration + 1, "total": total})
