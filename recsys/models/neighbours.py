"""Neighbours: people who watched the same films, or films that the same people watched.

Shapes: B queries, U users of the training data, I items, X neighbours.
"""

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy import sparse

from recsys.data.schema import Dataset, HeldOut, Queries
from recsys.models._histories import (
    csr_from_state,
    csr_state,
    per_item,
    popular_where_empty,
    profile_weights,
    ratings_of,
    seen,
    watched,
)
from recsys.models.base import Recommender
from recsys.training.run import Run

AT_ONCE = 64  # queries at a time: their similarities to U users are held together


@dataclass(frozen=True)
class UserKnnConfig:
    """Defaults are those tuned on ML-1M."""

    neighbours: int = 50  # X, the most similar users
    shrink: float = 100.0  # added to the number of ratings; 0 is the formula as it was written


class _UserKnn(Recommender):
    """What the two formulas share. r_kj is the rating of film j by neighbour k, similarity is the cosine of ratings.

    A visitor has watched films and rated none. Every film of the history stands with the same rating: a cosine is the
    same whichever it is, so nothing has to be guessed. The number of ratings is how many of the X neighbours rated film
    j; taken literally, one neighbour's film beats all that many have rated, hence `shrink`. Users are found among their
    own neighbours, where they vote for what they have seen. An empty history gets the order of popularity.
    """

    family = "Neighbours"
    Config = UserKnnConfig
    holds_histories: ClassVar[bool] = True

    @abstractmethod
    def _votes(self, ratings: sparse.csr_array) -> tuple[sparse.csr_array, float]:
        """(U, I) what each user says of the films that they rated, and what is added to everybody's scores."""

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: Run | None = None) -> Self:
        """Keep all ratings, of a film that was rated several times the last; `valid` and `run` change nothing."""
        self._learnt(ratings_of(train), train.counts.astype(np.float32))
        return self

    def score(self, queries: Queries) -> np.ndarray:
        """(B, I) float32, the rating that the formula expects."""
        scores = np.empty((len(queries), len(self.counts)), np.float32)
        for start in range(0, len(queries), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            near = self._neighbours(queries.histories[part])  # (b, U)
            total = (near @ self.votes).toarray()
            near.data = (near.data > 0).astype(np.float32)
            number = (near @ self.rated).toarray()  # of ratings
            scores[part] = self.base + total / np.maximum(number + self.config.shrink, 1)
        return popular_where_empty(scores, queries.histories, self.counts)

    def _neighbours(self, histories: Sequence[np.ndarray]) -> sparse.csr_array:
        """(b, U) the cosines of each visitor and their X most similar users."""
        n_users = len(self.ratings.indptr) - 1
        films = seen(histories, len(self.counts))  # (b, I)
        cosine = (films @ self.directions).toarray()  # (b, U)
        cosine /= np.sqrt(np.maximum(films.sum(1), 1))[:, None]
        few = min(self.config.neighbours, n_users)
        near = np.argpartition(cosine, n_users - few, axis=1)[:, n_users - few :]  # (b, X)
        ends = np.arange(0, near.size + 1, few)
        return sparse.csr_array((np.take_along_axis(cosine, near, 1).ravel(), near.ravel(), ends), shape=cosine.shape)

    def _learnt(self, ratings: sparse.csr_array, counts: np.ndarray) -> None:
        self.ratings, self.counts = ratings, counts
        self.votes, self.base = self._votes(ratings)
        self.rated = _with_data(ratings, np.ones_like(ratings.data))
        lengths = np.sqrt((ratings * ratings).sum(1))  # (U,)
        self.directions = sparse.csr_array(
            _with_data(ratings, ratings.data / _per_rating(ratings, lengths)).T
        )  # (I, U)

    def state(self) -> dict[str, np.ndarray]:
        """{"counts": (I,)} float32 and the three arrays of a CSR matrix (U, I): everybody's ratings."""
        return {"counts": self.counts, **csr_state(self.ratings)}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Raises KeyError or ValueError when `state` is not that of `n_items` films."""
        self._learnt(csr_from_state(state, None, n_items), per_item(state, "counts", n_items))


class UserKnn(_UserKnn):
    """r_ij = Σ_k cos(u_i, u_k) · r_kj / number of ratings (the thesis' first formula, with the notes of `_UserKnn`)."""

    title = "User kNN"
    presets = {
        ("user-knn", "ml-1m"): UserKnnConfig(),
        ("user-knn", "ml-100k"): UserKnnConfig(neighbours=20, shrink=1000.0),
    }

    def _votes(self, ratings: sparse.csr_array) -> tuple[sparse.csr_array, float]:
        return ratings, 0.0


class UserKnnCentred(_UserKnn):
    """r_ij = r̄_i + Σ_k cos(u_i, u_k) · (r_kj - r̄_k) / number of ratings (the thesis' second formula).

    A visitor has no r̄_i: the mean of all ratings stands for it, which changes no order.
    """

    title = "User kNN, centred"
    presets = {
        ("user-knn-centred", "ml-1m"): UserKnnConfig(shrink=1000.0),
        ("user-knn-centred", "ml-100k"): UserKnnConfig(neighbours=20, shrink=1000.0),
    }

    def _votes(self, ratings: sparse.csr_array) -> tuple[sparse.csr_array, float]:
        means = ratings.sum(1) / np.maximum(np.diff(ratings.indptr), 1)  # (U,)
        return _with_data(ratings, ratings.data - _per_rating(ratings, means)), float(ratings.data.mean())


@dataclass(frozen=True)
class ItemKnnConfig:
    """Defaults are those tuned on ML-1M."""

    weighting: Literal["cosine", "tf-idf", "bm25"] = "tf-idf"  # of who watched a film, before films are compared
    neighbours: int = 20  # K, the most similar films that are kept of each film, itself included
    half_life: float = 1.0  # films: one watched this many films before the last counts half as much


class ItemKnn(Recommender):
    """Films that the same people watched (Sarwar et al., WWW 2001; Deshpande and Karypis, 2004), by `implicit`.

    Who watched what is 0 or 1. Unlike the papers, later films of a history may count more: see `half_life`. An empty
    history gets the order of popularity.
    """

    title = "Item kNN"
    family = "Neighbours"
    paper = "doi:10.1145/963770.963776"
    Config = ItemKnnConfig
    presets = {
        ("item-knn", "ml-1m"): ItemKnnConfig(),
        ("item-knn", "ml-100k"): ItemKnnConfig(neighbours=400),
    }

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: Run | None = None) -> Self:
        """Compare all films; `valid` and `run` change nothing. Raises ImportError when implicit is missing."""
        model = _implicit(self.config.weighting)(K=min(self.config.neighbours, train.n_items), num_threads=1)
        with (
            warnings.catch_warnings()
        ):  # of threads in BLAS, which are not used here, and of the matrix it makes itself
            warnings.simplefilter("ignore")
            model.fit(watched(train), show_progress=False)
        self.similarities = sparse.csr_array(model.similarity.astype(np.float32))  # (I, I)
        self.counts = train.counts.astype(np.float32)  # (I,)
        return self

    def score(self, queries: Queries) -> np.ndarray:
        """(B, I) float32: the mean similarity of each film with those of the history."""
        weights = profile_weights(queries.histories, len(self.counts), self.config.half_life)  # (B, I)
        return popular_where_empty((weights @ self.similarities).toarray(), queries.histories, self.counts)

    def state(self) -> dict[str, np.ndarray]:
        """{"counts": (I,)} float32 and the three arrays of a CSR matrix (I, I)."""
        return {"counts": self.counts, **csr_state(self.similarities)}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Raises KeyError or ValueError when `state` is not that of `n_items` films."""
        self.counts = per_item(state, "counts", n_items)
        self.similarities = csr_from_state(state, n_items, n_items)


def _with_data(matrix: sparse.csr_array, data: np.ndarray) -> sparse.csr_array:
    """Other numbers at the same places."""
    return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _per_rating(ratings: sparse.csr_array, per_user: np.ndarray) -> np.ndarray:
    """(E,) the number of the user whose rating it is."""
    return np.repeat(per_user, np.diff(ratings.indptr)).astype(np.float32)


def _implicit(weighting: str) -> Any:
    """implicit's class for a weighting."""
    try:
        from implicit import nearest_neighbours
    except ImportError as error:
        raise ImportError("item kNN is fitted by the package implicit; run: pip install implicit") from error
    return {
        "cosine": nearest_neighbours.CosineRecommender,
        "tf-idf": nearest_neighbours.TFIDFRecommender,
        "bm25": nearest_neighbours.BM25Recommender,
    }[weighting]


VARIANTS = {"user-knn": UserKnn, "user-knn-centred": UserKnnCentred, "item-knn": ItemKnn}
