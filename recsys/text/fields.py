"""Each film as one sparse vector of several fields, such as tags, genres, period, title, language and directors.

    v_i = [√w_f · x_if / ‖x_if‖ for each field f],   so   ⟨v_i, v_j⟩ = Σ_f w_f · cos(x_if, x_jf)

A field that a film lacks adds 0, so two films that both lack a field do not become more similar. Tags are divided by a
greater length, see `_shrunk`. The weights w were chosen on validation users and on lists of films of one taste, such as
noir, see docs/experiments.md.

Shapes: I films, D features of all fields, d features of a field.
"""

import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pandas as pd
from scipy import sparse

from recsys import storage
from recsys.data import film_tables
from recsys.data.dataset import Catalog, Dataset, cache_by_dataset
from recsys.data.film_details import FilmDetails
from recsys.text.films import genre_matrix

VERSION = 2  # increased with every change of the vectors, so that stored fits of older vectors are replaced
MIN_FILMS = 3  # tags and credits of fewer films are dropped; a rare tag is often a private note
# A tag of many films that each got it about once is often a private note too, such as "on dvr".
PRIVATE_MIN_FILMS = 30
PRIVATE_MAX_MEAN_COUNT = 1.1  # mean number of times that a film with the tag got it
TRIANGLE_YEARS = 20  # half the width of the triangle in `_period`, so films 40 years apart have the similarity 0
FIRST_YEAR = 1890
LAST_YEAR = 2050
NOT_ENGLISH = "not English"  # feature of all films in other languages, so that they are similar to each other
BRACKETS = re.compile(r"\([^)]*\)")  # an original or alternative title

Field = Callable[[str, Catalog], sparse.csr_array]  # (name of the data set, its films) → (I, d)


def fingerprint(dataset: str) -> str:
    """Return a hash that changes with VERSION and the tables of films."""
    return storage.sha256(f"{VERSION}/{film_tables.fingerprint(dataset)}".encode())


def field_vectors(dataset: str, catalog: Catalog) -> sparse.csr_array:
    """Return the vectors of all films, (I, D) float32."""
    fields = []
    for field, weight in FIELDS:
        values = field(dataset, catalog)
        fields.append((_shrunk(values) if field is _tags else _normalised(values)) * np.sqrt(weight))
    return sparse.csr_array(sparse.hstack(fields), dtype=np.float32)


@cache_by_dataset
def dataset_field_vectors(dataset: Dataset) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return the vectors of all films of a data set, infrequent films included, and the vectors of its items only.

    A slice of a sparse array is a copy, so the vectors of the items are also cached.
    """
    vectors = field_vectors(dataset.name, dataset.catalog.complete)
    return vectors, vectors[: dataset.n_items]


def _tags(dataset: str, catalog: Catalog) -> sparse.csr_array:
    """Return n / (n + 1) · idf for each tag, where n is the number of times that the film got the tag."""
    strength = public_tag_counts(catalog)
    strength.data = strength.data / (strength.data + 1)
    return _multiply_by_idf(strength)


def tag_counts(catalog: Catalog) -> sparse.csr_array:
    """Return how often each film got each tag, (I, tags) float64."""
    tags = catalog.tags
    films = np.array([catalog.item_of.get(movie, -1) for movie in tags.movie.tolist()], np.int64)
    is_listed = films >= 0
    return count_pairs(films[is_listed], tags.tag_index[is_listed], (len(catalog), len(tags.texts)))


def public_tag_counts(catalog: Catalog) -> sparse.csr_array:
    """Return `tag_counts` with zeros for private notes."""
    counts = tag_counts(catalog)
    n_films = np.bincount(counts.indices, minlength=counts.shape[1])
    is_private = (n_films >= PRIVATE_MIN_FILMS) & (counts.sum(0) <= PRIVATE_MAX_MEAN_COUNT * n_films)
    counts.data[is_private[counts.indices]] = 0
    counts.eliminate_zeros()
    return counts


def _genres(dataset: str, catalog: Catalog) -> sparse.csr_array:
    """Return genres · idf."""
    return _multiply_by_idf(sparse.csr_array(genre_matrix(catalog)[0].astype(np.float64)), min_films=1)


def _period(dataset: str, catalog: Catalog) -> sparse.csr_array:
    """Return max(0, 1 - distance / TRIANGLE_YEARS), with the distance of a film's year to every tenth year.

    Films without a year have zeros.
    """
    years = pd.to_numeric(catalog.movies["year"]).to_numpy(np.float64, na_value=np.nan)
    tenth_years = np.arange(FIRST_YEAR, LAST_YEAR + 1, 10)
    triangle = np.maximum(0, 1 - np.abs(years[:, None] - tenth_years) / TRIANGLE_YEARS)
    return sparse.csr_array(np.nan_to_num(triangle))


def _title(dataset: str, catalog: Catalog) -> sparse.csr_array:
    """Return TF-IDF of the words of titles, without text in brackets. The films of a series share such words."""
    titles = [re.findall(r"\w{2,}", BRACKETS.sub("", title).lower()) for title in catalog.movies["title"].tolist()]
    return _multiply_by_idf(_count_values(titles), min_films=2)


def _language(dataset: str, catalog: Catalog) -> sparse.csr_array:
    """Return two ones for each film that is not in English: its language and NOT_ENGLISH. Other films have zeros."""
    languages = map(film_tables.original_languages(dataset).get, catalog.movies["movie_id"].tolist())
    return _count_values([language, NOT_ENGLISH] if language else [] for language in languages)


def _directors(dataset: str, catalog: Catalog) -> sparse.csr_array:
    """Return directors · idf. Films of unknown directors have zeros."""
    return _multiply_by_idf(_count_values(film.directors for film in _details(catalog)), min_films=2)


def _themes(dataset: str, catalog: Catalog) -> sparse.csr_array:
    """Return themes · idf. Films that are not in the table of themes have zeros."""
    themes = film_tables.themes(dataset)
    return _multiply_by_idf(_count_values(themes.get(movie, ()) for movie in catalog.movies["movie_id"].tolist()))


def _credits(dataset: str, catalog: Catalog) -> sparse.csr_array:
    """Return cast, countries and subjects · idf. Films without details from Wikidata have zeros."""
    counts = _count_values([*film.cast, *film.countries, *film.subjects] for film in _details(catalog))
    return _multiply_by_idf(counts)


def _details(catalog: Catalog) -> list[FilmDetails]:
    """Return the details of each of the I films."""
    return [catalog.details.get(movie) for movie in catalog.movies["movie_id"].tolist()]


FIELDS: tuple[tuple[Field, float], ...] = (  # (field, weight w)
    (_tags, 1.0),
    (_genres, 0.4),
    (_period, 0.2),
    (_title, 0.4),
    (_language, 0.6),
    (_directors, 0.3),
    (_themes, 0.45),
    (_credits, 1.0),
)


def trait_matrix(dataset: str, catalog: Catalog) -> tuple[list[str], sparse.csr_array]:
    """Return the names of the A traits, and the traits of each film, (I, A) bool.

    Traits are the original language if it is not English, directors, themes, genres, and tags of MIN_FILMS or more
    films. A name begins with its kind, as in "language/fr", "director/Agnès Varda", "theme/boxing" and "genre/Drama".
    """
    movies = catalog.movies["movie_id"].tolist()
    languages, themes = film_tables.original_languages(dataset), film_tables.themes(dataset)
    values: dict[str, Sequence[Sequence[str]]] = {
        "language": [[languages[movie]] if movie in languages else [] for movie in movies],
        "director": [details.directors for details in _details(catalog)],
        "theme": [themes.get(movie, ()) for movie in movies],
        "genre": [[genre for genre in genres.split("|") if genre] for genres in catalog.movies["genres"].tolist()],
        "tag": _frequent_tags(catalog),
    }
    films = [
        # without line breaks, because `TraitTable.state` joins the names by them
        [
            f"{kind}/{' '.join(value.split())}"
            for kind, values_of_films in values.items()
            for value in values_of_films[row]
        ]
        for row in range(len(movies))
    ]
    names = list(dict.fromkeys(name for film in films for name in film))  # the order of the columns of `_count_values`
    return names, _count_values(films) > 0


def _frequent_tags(catalog: Catalog) -> list[list[str]]:
    """Return the tags of each film that MIN_FILMS or more films have."""
    tags = public_tag_counts(catalog)
    is_frequent = np.bincount(tags.indices, minlength=tags.shape[1]) >= MIN_FILMS
    columns_of_films = np.split(tags.indices, tags.indptr[1:-1])
    return [[catalog.tags.texts[column] for column in columns[is_frequent[columns]]] for columns in columns_of_films]


def _count_values(films: Iterable[Sequence[str]]) -> sparse.csr_array:
    """Return how often each value occurs in the list of each film, with one column per value."""
    lists = list(films)
    column_of: dict[str, int] = {}
    columns = [column_of.setdefault(value, len(column_of)) for values in lists for value in values]
    rows = np.repeat(np.arange(len(lists)), np.array([len(values) for values in lists], np.int64))
    return count_pairs(rows, np.array(columns, np.int64), (len(lists), len(column_of)))


def count_pairs(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> sparse.csr_array:
    """Return how often each pair of row and column occurs, as a float64 matrix of this shape."""
    return sparse.csr_array(sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=shape))


def _multiply_by_idf(features: sparse.csr_array, min_films: int = MIN_FILMS) -> sparse.csr_array:
    """Multiply each feature by log(I / number of its films), and remove features of fewer than `min_films` films."""
    n_films = np.bincount(features.indices, minlength=features.shape[1])
    common = np.flatnonzero(n_films >= min_films)
    return sparse.csr_array(features[:, common] * np.log(features.shape[0] / n_films[common]))


def _shrunk(field: sparse.csr_array) -> sparse.csr_array:
    """Divide each row x by √(‖x‖² + c²), where c is the median length of the rows that are not zero.

    So a film with a single tag is not as similar to another film with this tag as films that share many tags.
    """
    squares = (field * field).sum(1)
    median_square = np.median(squares[squares > 0]) if squares.any() else 1.0
    return sparse.csr_array(field * (1 / np.sqrt(squares + median_square))[:, None])


def _normalised(field: sparse.csr_array) -> sparse.csr_array:
    """Scale rows to length 1. Rows of zeros stay."""
    lengths = np.sqrt((field * field).sum(1))
    return sparse.csr_array(field * (1 / np.where(lengths > 0, lengths, 1))[:, None])
