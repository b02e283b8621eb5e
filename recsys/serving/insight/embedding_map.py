"""Make a map of a model's film embeddings: points in two dimensions, neighbours in all dimensions, and regions.

Regions are k-means clusters of the points. A term is a genre, decade, tag or popularity. A region has the terms that
are more frequent among its films than among all films.

Shapes: I items, D dimensions, W terms.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from recsys.data.dataset import Catalog
from recsys.errors import Message
from recsys.serving.insight import tsne
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import ServingError
from recsys.text.fields import public_tag_counts
from recsys.text.films import genre_matrix

TSNE = "t-SNE"
PCA = "PCA"
OTHER_GENRE = ""  # genre of films without genres, and of films whose main genre has no colour
MIN_GENRE_SHARE = 0.05  # share of all films; `main_genres` avoids genres with fewer films
N_GENRE_COLOURS = 7  # main genres with a colour
MAX_DRAWN_FILMS = 10_000
MAX_REGIONS = 18
MIN_MEAN_REGION_FILMS = 40  # mean number of films per region; a map with few films has fewer regions
# criteria for a term of a region; a kind of term is genre, decade, tag or popularity
MIN_Z_SCORE = 6.0  # share of the region's films with the term minus share of all films, in standard errors
MIN_TERM_SHARE = {"decade": 0.35, "genre": 0.12, "tag": 0.1, "popularity": 0.4}  # kind → share of the region's films
MIN_SHARE_RATIO = 1.5  # share of the region's films / share of all films
# criteria for a tag, so that a tag of a single user is not a term
MIN_TAG_USES = 2  # uses of the tag for one film
MIN_TAG_FILMS = 5  # films for which the tag has MIN_TAG_USES
# name of a term → lowest and highest popularity, from 0 (the least watched film) to 1 (the most watched film)
POPULARITY_TERMS = {"widely watched": (0.9, 1.0), "rarely watched": (0.0, 0.33)}
FIRST_DECADE = 1960  # earlier decades are one term
FORMAT_GENRES = ("IMAX",)  # genres of the data that are not about the content


@dataclass(frozen=True)
class FilmMap:
    """The films of a model as points of a plane, and their embeddings scaled to unit length."""

    # row i is item i: movie_id, title, year, genres, genre (see `main_genres`), views (number of ratings), x, y
    table: pd.DataFrame
    method: str  # PCA or TSNE
    variance_shares: tuple[float, float] | None  # along x and y; None: t-SNE axes have no meaning
    unit_vectors: np.ndarray  # (I, D) embeddings, see `to_unit_length`


def to_unit_length(embeddings: np.ndarray) -> np.ndarray:
    """Return embeddings (I, D) scaled to length 1, float32. Vectors of 0 stay 0."""
    lengths = np.linalg.norm(embeddings, axis=1, keepdims=True)
    return (embeddings / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def neighbours(vectors: np.ndarray, item: int, k: int = 10) -> list[tuple[int, float]]:
    """Return the k nearest items by cosine as (item, cosine), nearest first. `vectors` (I, D) are unit vectors."""
    cosines = vectors @ vectors[item]
    cosines[item] = -np.inf
    order = np.argsort(-cosines, kind="stable")[: min(k, len(cosines) - 1)]
    return [(int(other), float(cosines[other])) for other in order]


def make_film_map(predictor: Predictor, method: str = PCA) -> FilmMap:
    """Return the map of a model's film embeddings. `method` is PCA or TSNE.

    Raises:
        ServingError: If the model has no embeddings, or if TSNE is requested and no t-SNE map is stored.
    """
    embeddings = tsne.item_embeddings(predictor).astype(np.float64)
    if method == PCA:
        points, shares = pca(embeddings)
    elif (stored_points := tsne.load_points(predictor)) is not None:
        points, shares = stored_points.astype(np.float64), None
    else:
        raise ServingError(
            "there is no map of {title} for {name} yet; compute it first",
            title=Message(predictor.title),
            name=predictor.dataset.name,
        )
    movies = predictor.dataset.catalog.movies
    table = movies[["movie_id", "title", "year", "genres"]].assign(
        genre=main_genres(movies["genres"]), views=predictor.dataset.counts, x=points[:, 0], y=points[:, 1]
    )
    return FilmMap(table, method, shares, to_unit_length(embeddings))


def pca(vectors: np.ndarray) -> tuple[np.ndarray, tuple[float, float]]:
    """Return the first two principal components (I, 2) of vectors (I, D), and their shares of the variance.

    The components are eigenvectors of the covariance matrix (D, D). The sign of each is chosen so that its largest
    loading is positive. So the same vectors always give the same map.
    """
    centred = vectors - vectors.mean(0)
    variances, loadings = np.linalg.eigh(centred.T @ centred)  # ascending
    components = loadings[:, ::-1][:, :2]  # (D, 2), or (1, 1) for vectors of one dimension
    n_components = components.shape[1]
    largest_loadings = components[np.abs(components).argmax(0), np.arange(n_components)]
    points, total = centred @ (components * np.sign(largest_loadings)), variances.sum()
    shares = variances[::-1][:2] / total if total > 0 else np.zeros(n_components)
    x_share, y_share = np.pad(shares, (0, 2 - n_components)).clip(0, 1).tolist()
    return np.pad(points, ((0, 0), (0, 2 - n_components))), (x_share, y_share)


def main_genres(genres: pd.Series) -> np.ndarray:
    """Return the rarest genre of each film, (I,), because it describes the film best.

    `genres` (I,) are texts such as "Drama|Horror".

    Genres of less than MIN_GENRE_SHARE of the films are skipped, unless the film has no other genre. A film without
    genres has OTHER_GENRE.
    """
    film_genres = [text.split("|") if text else [] for text in genres]
    counts = pd.Series([genre for names in film_genres for genre in names], dtype="str").value_counts()
    sort_keys = {name: (count < MIN_GENRE_SHARE * len(genres), count, name) for name, count in counts.items()}
    return np.array([min(names, key=sort_keys.__getitem__) if names else OTHER_GENRE for names in film_genres], object)


def colour_genres(table: pd.DataFrame) -> pd.Series:
    """Return the genre that sets the colour of each film, (I,), for `FilmMap.table`.

    It is the main genre if it is one of the N_GENRE_COLOURS most frequent main genres, otherwise OTHER_GENRE.
    """
    frequent = table["genre"].replace(OTHER_GENRE, pd.NA).value_counts().index[:N_GENRE_COLOURS]
    return table["genre"].where(table["genre"].isin(frequent), OTHER_GENRE)


def limit_films(table: pd.DataFrame, required: list[int]) -> pd.DataFrame:
    """Return the rows of `FilmMap.table` for the MAX_DRAWN_FILMS most watched films and the required items."""
    popular = table["views"].to_numpy().argsort(kind="stable")[::-1][:MAX_DRAWN_FILMS]
    return table.iloc[np.union1d(popular, np.array(required, np.int64))]


@dataclass(frozen=True)
class Term:
    """A genre, decade, tag or popularity that is over-represented in a region."""

    name: str
    kind: str  # a key of MIN_TERM_SHARE
    region_share: float  # share of the region's films that have the term
    catalog_share: float  # share of all films that have the term


@dataclass(frozen=True, eq=False)
class Region:
    """A cluster of films."""

    x: float  # of its centre
    y: float
    items: np.ndarray  # most watched first
    terms: tuple[Term, ...]  # largest z-score first; at most one decade and one popularity

    @property
    def has_topic(self) -> bool:
        """Whether a term is a genre or a tag."""
        return any(term.kind in ("genre", "tag") for term in self.terms)

    @property
    def label_terms(self) -> tuple[Term, ...]:
        """The terms that name the region: the first genre or tag, or else the popularity, and then the decade.

        Each term can be missing: ("Horror", "1980s"), ("widely watched",) or ().
        """
        topics = [term for term in self.terms if term.kind in ("genre", "tag")]
        popularities = [term for term in self.terms if term.kind == "popularity"]
        decades = [term for term in self.terms if term.kind == "decade"]
        return (*(topics or popularities)[:1], *decades)


def find_regions(points: np.ndarray, catalog: Catalog, views: np.ndarray) -> list[Region]:
    """Return the regions of points (I, 2), largest first. `views` (I,) are the numbers of ratings."""
    from sklearn.cluster import KMeans

    n = max(1, min(MAX_REGIONS, len(points) // MIN_MEAN_REGION_FILMS))
    clusters = KMeans(n, n_init=4, random_state=0).fit_predict(np.asarray(points, np.float64))
    matrix, terms = _term_matrix(catalog, views)
    catalog_shares = matrix.mean(0)
    regions = []
    for number in range(n):
        items = np.flatnonzero(clusters == number)
        shares = matrix[items].mean(0)
        variances = np.maximum(catalog_shares * (1 - catalog_shares), 1e-12)  # above 0, because z-scores divide by it
        standard_errors = np.sqrt(variances / len(items))
        z_scores = (shares - catalog_shares) / standard_errors
        x, y = points[items].mean(0).tolist()
        by_views = items[np.argsort(-views[items], kind="stable")]
        regions.append(Region(x, y, by_views, _select_terms(terms, shares, catalog_shares, z_scores)))
    return sorted(regions, key=lambda region: -len(region.items))


def _select_terms(
    terms: list[tuple[str, str]], shares: np.ndarray, catalog_shares: np.ndarray, z_scores: np.ndarray
) -> tuple[Term, ...]:
    """Return `Region.terms`.

    Args:
        terms: Name and kind of W terms.
        shares: Share of the region's films that have each term, (W,).
        catalog_shares: Share of all films that have each term, (W,).
        z_scores: `shares` minus `catalog_shares`, in standard errors, (W,).
    """
    selected: list[Term] = []
    for index in np.argsort(-z_scores, kind="stable"):
        name, kind = terms[index]
        min_share = max(MIN_TERM_SHARE[kind], MIN_SHARE_RATIO * catalog_shares[index])
        if shares[index] < min_share or z_scores[index] < MIN_Z_SCORE:
            continue
        is_second_of_kind = kind in ("decade", "popularity") and any(term.kind == kind for term in selected)
        has_equal_name = any(term.name.lower() == name.lower() for term in selected)  # a tag and a genre
        if not is_second_of_kind and not has_equal_name:
            selected.append(Term(name, kind, float(shares[index]), float(catalog_shares[index])))
    return tuple(selected)


def _term_matrix(catalog: Catalog, views: np.ndarray) -> tuple[np.ndarray, list[tuple[str, str]]]:
    """Return which terms each film has, (I, W) bool, and the pair (name, kind) of each term."""
    genres_of_films, genres = genre_matrix(catalog)
    genre_columns = [column for column, genre in enumerate(genres) if genre not in FORMAT_GENRES]
    earliest = FIRST_DECADE - 10  # stands for all earlier decades
    film_decades = (catalog.movies["year"] // 10 * 10).clip(lower=earliest)
    decades = sorted(film_decades.dropna().unique().tolist())
    popularity = np.argsort(np.argsort(views, kind="stable")) / max(1, len(views) - 1)  # 0: least watched, 1: most
    tags_of_films, tags = _tag_matrix(catalog)
    columns = [
        genres_of_films[:, genre_columns],
        *((film_decades == decade).fillna(False).to_numpy(bool) for decade in decades),
        *((low <= popularity) & (popularity <= high) for low, high in POPULARITY_TERMS.values()),
        tags_of_films,
    ]
    terms = [(genres[column], "genre") for column in genre_columns]
    terms += [(f"before {FIRST_DECADE}" if decade == earliest else f"{decade}s", "decade") for decade in decades]
    terms += [(name, "popularity") for name in POPULARITY_TERMS]
    terms += [(tag, "tag") for tag in tags]
    return np.column_stack(columns), terms


def _tag_matrix(catalog: Catalog) -> tuple[np.ndarray, list[str]]:
    """Return which tags each film has, (I, number of tags) bool, and the tags.

    A tag is included if at least MIN_TAG_FILMS films got it MIN_TAG_USES times. For an included tag, one use suffices.
    """
    counts = public_tag_counts(catalog)
    tags = np.flatnonzero((counts >= MIN_TAG_USES).sum(axis=0) >= MIN_TAG_FILMS)
    return counts[:, tags].toarray() > 0, [catalog.tags.texts[tag] for tag in tags.tolist()]
