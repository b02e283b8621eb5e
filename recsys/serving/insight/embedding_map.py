"""A map of a model's film embeddings: two dimensions to look at, neighbours in all of them.

Shapes: I films, D dimensions.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from recsys.errors import Message
from recsys.serving.insight import tsne
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import ServingError

TSNE, PCA = "t-SNE", "PCA"
OTHER_GENRE = ""  # a film without any of the genres that have a colour
FREQUENT = 0.05  # share of the films that a genre needs to be told of at all


@dataclass(frozen=True)
class FilmMap:
    """The films of a model as points of a plane, and the directions of their embeddings."""

    table: pd.DataFrame  # row i is item i: movie_id, title, year, genres, genre (the most telling one), views, x, y
    shares: tuple[float, float] | None  # of the variance, along x and y; None where the axes mean nothing
    directions: np.ndarray  # (I, D) embeddings scaled to length 1; 0 for a film whose embedding is 0

    def neighbours(self, item: int, k: int = 10) -> list[tuple[int, float]]:
        """The k films whose embeddings have the largest cosine with this one's: (item, cosine), the nearest first."""
        return neighbours(self.directions, item, k)


def directions(embeddings: np.ndarray) -> np.ndarray:
    """(I, D) float32 embeddings scaled to length 1; those that are 0 stay so."""
    lengths = np.linalg.norm(embeddings, axis=1, keepdims=True)
    return (embeddings / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def neighbours(directions: np.ndarray, item: int, k: int = 10) -> list[tuple[int, float]]:
    """The k films whose directions (I, D) have the largest cosine with an item: (item, cosine), the nearest first."""
    cosines = directions @ directions[item]
    cosines[item] = -np.inf
    order = np.argsort(-cosines, kind="stable")[: min(k, len(cosines) - 1)]
    return [(int(other), float(cosines[other])) for other in order]


def embedding_map(predictor: Predictor, method: str = PCA) -> FilmMap:
    """The map of a model's film embeddings; raises ServingError where it has none, or has not been computed (TSNE)."""
    if not predictor.model.has_item_embeddings:
        raise ServingError(
            "{title} has no embeddings of films; choose another recommender", title=Message(predictor.title)
        )
    embeddings = predictor.model.item_embeddings().astype(np.float64)
    points, shares = (_kept(predictor), None) if method == TSNE else pca(embeddings)
    movies = predictor.dataset.catalog.movies
    table = movies[["movie_id", "title", "year", "genres"]].assign(
        genre=telling_genres(movies["genres"]), views=predictor.dataset.counts, x=points[:, 0], y=points[:, 1]
    )
    return FilmMap(table, shares, directions(embeddings))


def _kept(predictor: Predictor) -> np.ndarray:
    points = tsne.kept(predictor)
    if points is None:
        raise ServingError(
            "there is no map of {title} for {name} yet; compute it first",
            title=Message(predictor.title),
            name=predictor.dataset.name,
        )
    return points.astype(np.float64)


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


def telling_genres(genres: pd.Series) -> np.ndarray:
    """Of each film ("Drama|Horror") the genre that tells most about it: the rarest of those that are not rare.

    Genres of fewer than FREQUENT of the films do not count, unless a film has no other; OTHER_GENRE without any.
    """
    of_films = [text.split("|") if text else [] for text in genres]
    counts = pd.Series([genre for known in of_films for genre in known], dtype="str").value_counts()
    order = {name: (count < FREQUENT * len(genres), count, name) for name, count in counts.items()}
    return np.array([min(known, key=order.__getitem__) if known else OTHER_GENRE for known in of_films], object)


def common_genres(table: pd.DataFrame, n: int = 7) -> pd.Series:
    """The telling genre of each film where it is one of the n most frequent, `OTHER_GENRE` elsewhere."""
    frequent = table["genre"].replace("", pd.NA).value_counts().index[:n]
    return table["genre"].where(table["genre"].isin(frequent), OTHER_GENRE)


def to_draw(table: pd.DataFrame, always: list[int], most: int = 10_000) -> pd.DataFrame:
    """The most watched films of a large catalogue, in the order of items, and those that must not be missing."""
    if len(table) <= most:
        return table
    popular = table["views"].to_numpy().argsort(kind="stable")[::-1][:most]
    return table.iloc[np.union1d(popular, np.array(always, np.int64))]
