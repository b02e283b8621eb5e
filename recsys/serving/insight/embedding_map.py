"""A map of a model's film embeddings: two dimensions to look at, neighbours in all of them.

Shapes: I films, D dimensions.

Regions of a map of films, and what sets each apart: genres, decades and tags that are over-represented there.

Regions are groups by k-means of the points; nothing is said of them but shares of films that were counted.
Shapes: I films, W terms.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from recsys.data.dataset import Catalog
from recsys.errors import Message
from recsys.serving.insight import tsne
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import ServingError
from recsys.text.films import genre_matrix

TSNE, PCA = "t-SNE", "PCA"
OTHER_GENRE = ""  # a film without any of the genres that have a colour
MIN_GENRE_SHARE = 0.05  # share of the films that a genre needs to be told of at all


@dataclass(frozen=True)
class FilmMap:
    """The films of a model as points of a plane, and the directions of their embeddings."""

    table: pd.DataFrame  # row i is item i: movie_id, title, year, genres, genre (the most telling one), views, x, y
    shares: tuple[float, float] | None  # of the variance, along x and y; None where the axes mean nothing
    directions: np.ndarray  # (I, D) embeddings scaled to length 1; 0 for a film whose embedding is 0

    def neighbours(self, item: int, k: int = 10) -> list[tuple[int, float]]:
        """The k films whose embeddings have the largest cosine with this one's: (item, cosine), the nearest first."""
        return neighbours(self.directions, item, k)


def unit_vectors(embeddings: np.ndarray) -> np.ndarray:
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
    points, shares = (_tsne_points(predictor), None) if method == TSNE else pca(embeddings)
    movies = predictor.dataset.catalog.movies
    table = movies[["movie_id", "title", "year", "genres"]].assign(
        genre=main_genres(movies["genres"]), views=predictor.dataset.counts, x=points[:, 0], y=points[:, 1]
    )
    return FilmMap(table, shares, unit_vectors(embeddings))


def _tsne_points(predictor: Predictor) -> np.ndarray:
    points = tsne.load_points(predictor)
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


def main_genres(genres: pd.Series) -> np.ndarray:
    """Of each film ("Drama|Horror") the genre that tells most about it: the rarest of those that are not rare.

    Genres of fewer than FREQUENT of the films do not count, unless a film has no other; OTHER_GENRE without any.
    """
    of_films = [text.split("|") if text else [] for text in genres]
    counts = pd.Series([genre for known in of_films for genre in known], dtype="str").value_counts()
    order = {name: (count < MIN_GENRE_SHARE * len(genres), count, name) for name, count in counts.items()}
    return np.array([min(known, key=order.__getitem__) if known else OTHER_GENRE for known in of_films], object)


def common_genres(table: pd.DataFrame, n: int = 7) -> pd.Series:
    """The telling genre of each film where it is one of the n most frequent, `OTHER_GENRE` elsewhere."""
    frequent = table["genre"].replace("", pd.NA).value_counts().index[:n]
    return table["genre"].where(table["genre"].isin(frequent), OTHER_GENRE)


def limit_films(table: pd.DataFrame, always: list[int], most: int = 10_000) -> pd.DataFrame:
    """The most watched films of a large catalogue, in the order of items, and those that must not be missing."""
    if len(table) <= most:
        return table
    popular = table["views"].to_numpy().argsort(kind="stable")[::-1][:most]
    return table.iloc[np.union1d(popular, np.array(always, np.int64))]


MAX_REGIONS, MIN_REGION_FILMS = 18, 40  # regions of a map; films of a region, on average, below which there are fewer
MIN_Z_SCORE = 6.0  # standard errors above the share in the whole catalogue; below that nothing is said
MIN_TERM_SHARE = {
    "decade": 0.35,
    "genre": 0.12,
    "tag": 0.1,
    "views": 0.4,
}  # share of a region's films that have what it is called by
MIN_SHARE_RATIO = 1.5  # by how much the share must exceed that of the catalogue
MIN_TAG_USES, MIN_TAG_FILMS = (
    2,
    5,
)  # a tag counts when it was given to so many films so many times: not one person's own list
WIDELY_WATCHED, SELDOM_WATCHED = (
    ("widely watched", 0.9, 1.0),
    ("seldom watched", 0.0, 0.33),
)  # name, and from which to which share
FIRST_DECADE = 1960  # decades before are one
FORMAT_GENRES = ("IMAX",)  # in the data they are genres, but they say nothing of what a film is about


@dataclass(frozen=True)
class Term:
    """Something that sets a region apart."""

    name: str
    kind: str  # a key of LEAST
    here: float  # share of the region's films that have it
    everywhere: float  # share of all films


@dataclass(frozen=True, eq=False)
class Region:
    """A group of films that lie together."""

    x: float
    y: float
    items: np.ndarray  # its films, the most watched first
    terms: tuple[Term, ...]  # the surest first, at most one decade and one of WIDELY and SELDOM

    @property
    def has_topic(self) -> bool:
        """Whether a genre or a tag sets it apart."""
        return any(term.kind in ("genre", "tag") for term in self.terms)

    @property
    def label(self) -> str:
        """ "Horror · 1980s": what it is about, else how widely watched, then when; "" where nothing sets it apart."""
        by_kind: dict[str, str] = {}
        for term in self.terms:
            by_kind.setdefault("about" if term.kind in ("genre", "tag") else term.kind, term.name)
        first = by_kind.get("about", by_kind.get("views"))
        return " · ".join(filter(None, [first, by_kind.get("decade")]))


def find_regions(points: np.ndarray, catalog: Catalog, views: np.ndarray, most: int = MAX_REGIONS) -> list[Region]:
    """The regions of points (I, 2), the largest first; views (I,): how often each film was watched."""
    n = max(1, min(most, len(points) // MIN_REGION_FILMS))
    group = _cluster(points, n)
    has, terms = _term_matrix(catalog, views)
    everywhere = has.mean(0)
    found = []
    for number in range(n):
        items = np.flatnonzero(group == number)
        if not len(items):
            continue
        here = has[items].mean(0)
        error = np.sqrt(np.maximum(everywhere * (1 - everywhere), 1e-12) / len(items))
        middle = points[items].mean(0)
        by_views = items[np.argsort(-views[items], kind="stable")]
        apart = _overrepresented(terms, here, everywhere, (here - everywhere) / error)
        found.append(Region(float(middle[0]), float(middle[1]), by_views, apart))
    return sorted(found, key=lambda region: -len(region.items))


def _cluster(points: np.ndarray, n: int) -> np.ndarray:
    """(I,) the number of each point's group, the same for the same points."""
    from sklearn.cluster import KMeans

    return KMeans(n, n_init=4, random_state=0).fit_predict(np.asarray(points, np.float64))


def _overrepresented(
    terms: list[tuple[str, str]], here: np.ndarray, everywhere: np.ndarray, surely: np.ndarray
) -> tuple[Term, ...]:
    """What is over-represented beyond doubt, the surest first; of decades the surest alone, and of views too."""
    found: list[Term] = []
    for number in np.argsort(-surely, kind="stable"):
        name, kind = terms[number]
        enough = (
            here[number] >= max(MIN_TERM_SHARE[kind], MIN_SHARE_RATIO * everywhere[number])
            and surely[number] >= MIN_Z_SCORE
        )
        another = kind in ("decade", "views") and any(term.kind == kind for term in found)
        same = any(term.name.lower() == name.lower() for term in found)
        if enough and not another and not same:
            found.append(Term(name, kind, float(here[number]), float(everywhere[number])))
    return tuple(found)


def _term_matrix(catalog: Catalog, views: np.ndarray) -> tuple[np.ndarray, list[tuple[str, str]]]:
    """Which film has what, (I, W) bool, and the name and kind of each of the W terms."""
    genres, names = genre_matrix(catalog)
    kept = [number for number, name in enumerate(names) if name not in FORMAT_GENRES]
    years = catalog.movies["year"]
    decades = (years // 10 * 10).where(years >= FIRST_DECADE, 0).fillna(-1).astype(int).to_numpy()
    known = sorted({decade for decade in decades.tolist() if decade >= 0})
    by_decade = decades[:, None] == np.array(known, int)[None, :]
    tags, words = _tag_matrix(catalog)
    among = np.argsort(np.argsort(views, kind="stable")) / max(1, len(views) - 1)  # 0: watched least, 1: most
    watched = np.stack([(low <= among) & (among <= high) for _, low, high in (WIDELY_WATCHED, SELDOM_WATCHED)], 1)
    terms = [(names[number], "genre") for number in kept]
    terms += [(f"{decade}s" if decade else f"before {FIRST_DECADE}", "decade") for decade in known]
    terms += [(name, "views") for name, *_ in (WIDELY_WATCHED, SELDOM_WATCHED)]
    return np.hstack([genres[:, kept], by_decade, watched, tags]), [*terms, *((word, "tag") for word in words)]


def _tag_matrix(catalog: Catalog) -> tuple[np.ndarray, list[str]]:
    """Which film was given which tag, (I, W) bool, of the tags on which people agree."""
    given = pd.DataFrame({"movie": np.asarray(catalog.tags.movie), "word": np.asarray(catalog.tags.word)})
    times = given.groupby(["movie", "word"]).size().reset_index(name="times")
    agreed = times[times["times"] >= MIN_TAG_USES].groupby("word").size()
    words = agreed[agreed >= MIN_TAG_FILMS].index.to_numpy()
    column = {word: number for number, word in enumerate(words.tolist())}
    has = np.zeros((len(catalog), len(words)), bool)
    for movie, word in times[["movie", "word"]].itertuples(index=False):
        if word in column and movie in catalog.item_of:
            has[catalog.item_of[movie], column[word]] = True
    return has, [catalog.tags.words[word] for word in words.tolist()]
