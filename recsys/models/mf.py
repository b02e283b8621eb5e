"""Matrix factorisation of implicit feedback, fitted by the library `implicit`: ALS and BPR-MF.

A score is the product of a user's and an item's factors. The state contains item factors only. The user's factors are
computed from the history of the query (fold-in). So a user may be new, and a history may have grown since training.

Shapes: B queries, I items, F factors.
"""

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from recsys.config import Count, NonNegative, Rate, Size, config_class
from recsys.data.dataset import DataError, Dataset, Queries
from recsys.errors import N_, MissingLibraryError
from recsys.models.array_model import ArrayModel
from recsys.models.histories import history_matrix, profile_weights
from recsys.training.options import RunOptions


class FactorModel(ArrayModel):
    """A model with item factors, fitted by the library `implicit`."""

    has_item_embeddings = True
    factors: np.ndarray  # (I, F) float32
    divergence_error: ClassVar[str]  # message of the error if the factors are not finite

    def _fit(self, train: Dataset, run: RunOptions) -> None:
        """Set `factors` to all item factors of `_library_model`. Each iteration is reported.

        Raises DataError if the factors are not finite, and MissingLibraryError.
        """
        try:
            import implicit.cpu.als
            import implicit.cpu.bpr
            from implicit.recommender_base import ModelFitError
        except ImportError as error:
            raise MissingLibraryError("preparing ALS and BPR-MF", "implicit") from error

        views = sparse.csr_matrix(history_matrix(train.histories, train.n_items))  # the type that implicit expects
        with threadpool_limits(1, "blas"):  # threads of implicit are many times slower beside threads of BLAS
            model = self._library_model(implicit.cpu, run.seed)

            def report(iteration: int, *_: Any) -> None:
                run.report({"stage": "fit", "done": iteration + 1, "total": model.iterations})

            try:
                model.fit(views, show_progress=False, callback=report)
            except ModelFitError as error:
                raise DataError(self.divergence_error) from error
        self.factors = model.item_factors

    def _library_model(self, cpu: Any, seed: int) -> Any:
        """Return the unfitted model of `implicit.cpu`."""
        raise NotImplementedError

    def item_embeddings(self) -> np.ndarray:
        """Return the item factors, (I, F) float32."""
        return self.factors


@config_class
class AlsConfig:
    """Settings of Als, tuned on ML-1M."""

    factors: Size = 192  # numbers per item and per user
    regularization: NonNegative = 10.0  # λ; each user and each item is penalised once, not once per rating
    alpha: NonNegative = 1.0  # confidence in a watched item; the confidence in all other items is 1
    iterations: Count = 15  # each iteration computes all users, then all items


class Als(FactorModel):
    """Alternating least squares for implicit feedback (Hu, Koren and Volinsky, ICDM 2008).

    It minimises Σ_ui c_ui (p_ui - x_u·y_i)² + λ (Σ_u |x_u|² + Σ_i |y_i|²). p_ui is 1 if user u watched item i, else 0.
    A score is about 1 for a relevant item and about 0 for other items.

    Departure from the paper: the confidence c_ui of a watched item is α. In the paper it grows with the number of
    views. Ratings are not used.
    """

    Config = AlsConfig
    config: AlsConfig
    array_names = ("factors", "counts")
    divergence_error = N_("ALS found no finite factors; train it with a higher regularization, for example 1")

    def _library_model(self, cpu: Any, seed: int) -> Any:
        return cpu.als.AlternatingLeastSquares(
            factors=self.config.factors,
            regularization=self.config.regularization,
            alpha=self.config.alpha,
            iterations=self.config.iterations,
            random_state=seed,
        )

    def _derive(self) -> None:
        """Compute YᵀY + λE (F, F)."""
        eye = np.eye(self.factors.shape[1], dtype=np.float32)
        self.gram = self.factors.T @ self.factors + self.config.regularization * eye

    def _score(self, queries: Queries) -> np.ndarray:
        return self._fold_in(queries) @ self.factors.T  # (B, F) (F, I)

    def _fold_in(self, queries: Queries) -> np.ndarray:
        """Return the user factors x = (YᵀY + λE + Yᵀ(C - E)Y)⁻¹ YᵀCp, (B, F): equation 4 of the paper.

        Y (I, F) are the item factors, C is the diagonal matrix of confidences and E the identity.
        """
        alpha = self.config.alpha
        watched = [self.factors[np.unique(np.asarray(history, np.int64))] for history in queries.histories]  # rows of Y
        right_sides = np.array([alpha * factors.sum(0) for factors in watched], np.float32)
        right_sides = right_sides.reshape(-1, len(self.gram))  # (B, F), also for B = 0
        if alpha == 1:  # C = E: all users have the same matrix
            return np.linalg.solve(self.gram, right_sides.T).T
        users = np.empty_like(right_sides)
        with threadpool_limits(1, "blas"):  # on small matrices more threads are slower
            for row, factors in enumerate(watched):
                users[row] = np.linalg.solve(self.gram + (alpha - 1) * factors.T @ factors, right_sides[row])
        return users


@config_class
class BprMfConfig:
    """Settings of BprMf, tuned on ML-1M."""

    factors: Size = 64  # numbers per item and per user
    lr: Rate = 0.05  # learning rate
    regularization: NonNegative = 0.003  # the paper's λ, per sampled pair
    epochs: Count = 20  # one pair is sampled per rating and epoch
    fold_in: NonNegative = 0.1  # L2 penalty φ of the user factors of a query, see `BprMf._derive`


class BprMf(FactorModel):
    """Bayesian personalised ranking with matrix factorisation (Rendle et al., UAI 2009, arXiv:1205.2618).

    It maximises Σ ln σ(x_ui - x_uj) - λ|Θ|² over users u, watched items i and items j that were not watched, with
    x_ui = b_i + x_u·y_i. A score is x_ui, and a difference of two scores is the log-odds of a preference.

    Departures from the paper:
    - `implicit` draws j in proportion to popularity. The paper draws uniformly.
    - The trained factors of users are not used. Instead, a user's factors are one Newton step from zero, see
      `_derive`. On the validation set of ML-1M, NDCG@10 is .046 with this step and .033 with the trained factors.
    """

    Config = BprMfConfig
    config: BprMfConfig
    array_names = ("factors", "bias", "counts")
    divergence_error = N_(
        "BPR-MF found no finite factors; train it with lower settings, for example lr 0.05 and regularization 0.003"
    )

    def _library_model(self, cpu: Any, seed: int) -> Any:
        return cpu.bpr.BayesianPersonalizedRanking(
            factors=self.config.factors,
            learning_rate=self.config.lr,
            regularization=self.config.regularization,
            iterations=self.config.epochs,
            num_threads=1,  # threads update factors without locks, so fits would not be reproducible
            random_state=seed,
        )

    def _fit(self, train: Dataset, run: RunOptions) -> None:
        super()._fit(train, run)
        # implicit returns (I, F + 1): the last column is the bias.
        self.factors, self.bias = self.factors[:, :-1].copy(), self.factors[:, -1].copy()

    def _score(self, queries: Queries) -> np.ndarray:
        weights = profile_weights(queries.histories, len(self.factors))  # (B, I)
        users = (weights @ self.factors - self.mean_factors) @ self.newton_step  # (B, F)
        return users @ self.factors.T + self.bias

    def _derive(self) -> None:
        """Compute the mean item factors (F,) and the matrix of the Newton step (F, F).

        The criterion for one user, without biases, is the mean of ln σ(x·(y_i - y_j)) over watched items i and all
        items j, minus φ/2 |x|², where φ is the setting `fold_in`. At x = 0 its gradient is (mean y_i - mean y_j) / 2.
        Its Hessian is approximated by -(Cov y / 2 + φE). Cov y is the covariance over all items. It replaces the
        covariance over the watched items.
        """
        self.mean_factors = self.factors.mean(0)
        centred = self.factors - self.mean_factors
        covariance = centred.T @ centred / len(centred)  # (F, F)
        negative_hessian = covariance / 2 + self.config.fold_in * np.eye(len(covariance))
        self.newton_step = (np.linalg.inv(negative_hessian) / 2).astype(np.float32)
