"""Matrix factorisation by the library `implicit`: films and people are points, and who watches what is their product.

State holds film factors only. The factors of a person, known or not, are computed from the history at hand: at test
time everybody has watched a film more than in training. Shapes: B queries, I items, F factors.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from recsys.data.schema import Dataset, HeldOut, Queries
from recsys.models._histories import one_blas_thread, per_item, popular_where_empty, profile_weights, watched
from recsys.models.base import Recommender
from recsys.training.run import Run


@dataclass(frozen=True)
class AlsConfig:
    """Defaults are those tuned on ML-1M."""

    factors: int = 192
    regularization: float = 10.0  # λ, added to the diagonal once per person and film, not per rating
    alpha: float = 1.0  # confidence in a film that was watched; one that was not has confidence 1
    iterations: int = 15


class Als(Recommender):
    """Alternating least squares (Hu, Koren, Volinsky: Collaborative Filtering for Implicit Feedback Datasets, 2008).

    Every watched film has confidence α, ratings do not count: a visitor's history has none. An empty history gets the
    order of popularity.
    """

    title = "ALS"
    family = "Factorisation"
    paper = "doi:10.1109/ICDM.2008.22"
    Config = AlsConfig
    presets = {
        ("ials", "ml-1m"): AlsConfig(),
        ("ials", "ml-100k"): AlsConfig(factors=32, regularization=1.0),
        ("ials", "ml-latest-small"): AlsConfig(factors=64, regularization=70.0, alpha=12.0),
    }

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: Run | None = None) -> Self:
        """Reports {"stage": "fit", "done": i, "total": iterations}. Raises ImportError when implicit is missing."""
        run = run or Run()
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
        """(B, I) float32: about 1 for a film that fits, about 0 for one that does not."""
        scores = self._fold_in(queries) @ self.factors.T  # (B, F) (F, I)
        return popular_where_empty(scores, queries.histories, self.counts)

    def _fold_in(self, queries: Queries) -> np.ndarray:
        """(B, F) x = (YᵀY + λI + Yᵀ(C - I)Y)⁻¹ YᵀC p, equation 4 of the paper, with C = α for films of the history."""
        alpha = self.config.alpha
        watched = [self.factors[np.unique(np.asarray(history, np.int64))] for history in queries.histories]
        wanted = np.array([alpha * films.sum(0) for films in watched], np.float32).reshape(-1, len(self.gram))
        if alpha == 1:  # C = I: one system for everybody
            return np.linalg.solve(self.gram, wanted.T).T
        people = np.empty_like(wanted)
        with one_blas_thread():
            for row, films in enumerate(watched):
                people[row] = np.linalg.solve(self.gram + (alpha - 1) * films.T @ films, wanted[row])
        return people

    def _learnt(self, factors: np.ndarray, counts: np.ndarray) -> None:
        self.factors, self.counts = factors, counts
        self.gram = factors.T @ factors + self.config.regularization * np.eye(factors.shape[1], dtype=np.float32)

    def film_vectors(self) -> np.ndarray:
        """(I, F) float32: the films' factors."""
        return self.factors

    def state(self) -> dict[str, np.ndarray]:
        """{"factors": (I, F), "counts": (I,)} float32."""
        return {"factors": self.factors, "counts": self.counts}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Raises KeyError or ValueError when `state` is not that of `n_items` films."""
        self._learnt(per_item(state, "factors", n_items), per_item(state, "counts", n_items))


@dataclass(frozen=True)
class BprConfig:
    """Defaults are those tuned on ML-1M."""

    factors: int = 64
    lr: float = 0.05
    regularization: float = 0.003  # λ of the paper, per sampled pair
    epochs: int = 20  # one pair is sampled per rating and epoch
    fold_in: float = 0.1  # λ where a person is computed from a history


class Bpr(Recommender):
    """Bayesian personalised ranking (arXiv:1205.2618).

    Unlike the paper: `implicit` draws the film that was not watched in proportion to popularity; and a person's factors
    are not those of training but one Newton step from zero on the paper's criterion, over all pairs of a watched and
    any film. That is a closed form, linear in the mean of the history's film factors; it beats the trained factors on
    ML-1M's validation (NDCG@10 .046 against .033). An empty history gets the order of popularity.
    """

    title = "BPR-MF"
    family = "Factorisation"
    paper = "arXiv:1205.2618"
    Config = BprConfig
    presets = {
        ("bpr-mf", "ml-1m"): BprConfig(),
        ("bpr-mf", "ml-100k"): BprConfig(factors=32, lr=0.02, regularization=0.01, epochs=50, fold_in=0.01),
        ("bpr-mf", "ml-latest-small"): BprConfig(factors=128, regularization=0.01, epochs=50, fold_in=0.2),
    }

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: Run | None = None) -> Self:
        """Reports {"stage": "fit", "done": i, "total": epochs}. Raises ImportError when implicit is missing."""
        run = run or Run()
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
        """(B, I) float32, the x of the paper: differences are log-odds of preferring one film to another."""
        weights = profile_weights(queries.histories, len(self.factors))  # (B, I)
        people = (weights @ self.factors - self.mean) @ self.newton  # (B, F)
        return popular_where_empty(people @ self.factors.T + self.bias, queries.histories, self.counts)

    def _learnt(self, factors: np.ndarray, bias: np.ndarray, counts: np.ndarray) -> None:
        """Keep what was learnt and prepare the Newton step.

        For one person the criterion is the mean of ln σ(x·(y_i - y_j)) over watched films i and all films j, less
        λ/2 |x|². At x = 0 its gradient is (mean y_i - mean y_j) / 2, and its Hessian -(Cov y / 2 + λI) as long as the
        history spreads as the catalogue does.
        """
        self.factors, self.bias, self.counts = factors, bias, counts
        self.mean = factors.mean(0)
        centred = factors - self.mean
        covariance = centred.T @ centred / len(factors)  # (F, F)
        hessian = covariance / 2 + self.config.fold_in * np.eye(len(covariance))
        self.newton = (np.linalg.inv(hessian) / 2).astype(np.float32)

    def film_vectors(self) -> np.ndarray:
        """(I, F) float32: the films' factors."""
        return self.factors

    def state(self) -> dict[str, np.ndarray]:
        """{"factors": (I, F), "bias": (I,), "counts": (I,)} float32."""
        return {"factors": self.factors, "bias": self.bias, "counts": self.counts}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Raises KeyError or ValueError when `state` is not that of `n_items` films."""
        self._learnt(*(per_item(state, name, n_items) for name in ("factors", "bias", "counts")))


@contextmanager
def _implicit() -> Iterator[Any]:
    """`implicit.cpu`, whose own threads are many times slower beside threads of BLAS."""
    try:
        import implicit.cpu.als
        import implicit.cpu.bpr
    except ImportError as error:
        raise ImportError("ALS and BPR-MF are fitted by the package implicit; run: pip install implicit") from error
    with one_blas_thread():
        yield implicit.cpu


def _progress(run: Run, total: int) -> Any:
    """implicit's callback after each iteration, as an event of the run."""
    return lambda iteration, *_: run.report({"stage": "fit", "done": iteration + 1, "total": total})


VARIANTS = {"ials": Als, "bpr-mf": Bpr}
