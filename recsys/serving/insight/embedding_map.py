"""A map of a model's film embeddings: two dimensions to look at, neighbours in all of them.

Shapes: I films, D dimensions.
"""

from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import pandas as pd

from recsys.serving.predictor import Predictor
from recsys.serving.recommend import ServingError

PCA, UMAP = "PCA", "UMAP"
OTHER_GENRE = ""  # a film whose first genre is rare, or that has none


@dataclass(frozen=True)
class FilmMap:
    """The films of a model as points of a plane, and the directions of their embeddings."""

    table: pd.DataFrame  # row i is item i: movie_id, title, year, genres, genre (the first), views, x, y
    shares: tuple[float, float] | None  # of the variance, along x and y; None where the axes mean nothing
    directions: np.ndarray  # (I, D) embeddings scaled to length 1; 0 for a film whose embedding is 0

    def neighbours(self, item: int, k: int = 10) -> list[tuple[int, float]]:
        """The k films whose embeddings have the largest cosine with this one's: (item, cosine), the nearest first."""
        cosines = self.directions @ self.directions[item]
        cosines[item] = -np.inf
        order = np.argsort(-cosines, kind="stable")[: min(k, len(cosines) - 1)]
        return [(int(other), float(cosines[other])) for other in order]


def methods() -> tuple[str, ...]:
    """The projections that are possible here: PCA, and UMAP where `umap-learn` is installed."""
    return (PCA, UMAP) if find_spec("umap") else (PCA,)


def embedding_map(predictor: Predictor, method: str = PCA) -> FilmMap:
    """The map of a model's film embeddings; raises ServingError where it has none."""
    if not predictor.model.has_item_embeddings:
        raise ServingError(f"{predictor.title} has no embeddings of films; choose another recommender")
    embeddings = predictor.model.item_embeddings().astype(np.float64)
    points, shares = (umap_points(embeddings), None) if method == UMAP else pca(embeddings)
    movies = predictor.dataset.catalog.movies
    table = movies[["movie_id", "title", "year", "genres"]].assign(
        genre=movies["genres"].str.split("|").str[0], views=predictor.dataset.counts, x=points[:, 0], y=points[:, 1]
    )
    lengths = np.linalg.norm(embeddings, axis=1, keepdims=True)
    return FilmMap(table, shares, (embeddings / np.where(lengths > 0, lengths, 1)).astype(np.float32))


def pca(vectors: np.ndarray) -> tuple[np.ndarray, tuple[float, float]]:
    """The two directions in which (I, D) vectors vary most: points (I, 2), and the share of the variance of each.

    The directions are eigenvectors of the covariance matrix (D, D). Each sign is chosen so that the largest loading is
    positive: the same vectors always give the same map.
    """
    centred = vectors - vectors.mean(0)
    variances, loadings = np.linalg.eigh(centred.T @ centred)  # ascending
    first = loadings[:, ::-1][:, :2]  # (D, 2)
    first = first * np.sign(first[np.abs(first).argmax(0), np.arange(first.shape[1])])
    points, total = centred @ first, variances.sum()
    shares = variances[::-1][:2] / total if total > 0 else np.zeros(first.shape[1])
    missing = 2 - first.shape[1]  # vectors of one number
    x, y = np.pad(shares, (0, missing)).clip(0, 1).tolist()
    return np.pad(points, ((0, 0), (0, missing))), (x, y)


def umap_points(vectors: np.ndarray) -> np.ndarray:
    """(I, 2) points that keep neighbours by cosine together (arXiv:1802.03426); takes seconds, and needs umap-learn."""
    import umap

    return umap.UMAP(metric="cosine", random_state=0).fit_transform(vectors)


def common_genres(table: pd.DataFrame, n: int = 6) -> pd.Series:
    """The first genre of each film where it is one of the n most frequent, `OTHER_GENRE` elsewhere."""
    frequent = table["genre"].replace("", pd.NA).value_counts().index[:n]
    return table["genre"].where(table["genre"].isin(frequent), OTHER_GENRE)


def to_draw(table: pd.DataFrame, always: list[int], most: int = 10_000) -> pd.DataFrame:
    """The most watched films of a large catalogue, in the order of items, and those that must not be missing."""
    if len(table) <= most:
        return table
    popular = table["views"].to_numpy().argsort(kind="stable")[::-1][:most]
    return table.iloc[np.union1d(popular, np.array(always, np.int64))]
