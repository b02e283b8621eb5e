"""Replace infrequent films of a history by the items with the most similar content.

A film number (index of `Catalog.films`) of I or more is an infrequent film. Most models only read items. `VisitorPool`
also reads the descriptions of infrequent films, see `AllDatasetFilms`. Two or more substitutes per film gave worse
recommendations than a single substitute (docs/experiments.md).

Shapes: I items, F films of the catalogue, D features, T films of a history.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from recsys.data.dataset import Dataset, Queries, cache_by_dataset
from recsys.data.film_tables import original_languages
from recsys.models.array_model import csr_state
from recsys.models.base import Model
from recsys.models.common_trait import TraitTable
from recsys.models.registry import get
from recsys.models.visitor_pool import CONTENT_MEMBER
from recsys.text.fields import dataset_field_vectors
from recsys.text.films import rows_by_value

YEAR_SCALE = 15.0  # a distance of YEAR_SCALE years divides the similarity by e
MIN_SIMILARITY = 1.0  # of the fields of a film and its substitute, see `are_kept`


class Substitute(NamedTuple):
    """The item that replaces an infrequent film."""

    item: int
    similarity: float  # of the fields of both, see `recsys.text.fields`; infinite for an entry of the same film


def find_item(dataset: Dataset, number: int) -> int:
    """Return the item that replaces a film. An item replaces itself."""
    return number if number < dataset.n_items else _substitute(dataset, number).item


def _substitute(dataset: Dataset, number: int) -> Substitute:
    """Return the substitute of an infrequent film."""
    substitutes = _substitute_cache(dataset)
    if number not in substitutes:
        substitutes[number] = _most_similar(dataset, number)
    return substitutes[number]


@dataclass(frozen=True)
class AllDatasetFilms:
    """See `recsys.models.visitor_pool.AllFilms`. Content and traits are computed on first access."""

    dataset: Dataset

    @property
    def content(self) -> Model:
        """CONTENT_MEMBER, fitted on the descriptions of all films."""
        return _content_of_all_films(self.dataset)

    @property
    def traits(self) -> TraitTable:
        """The traits of all films."""
        return _traits_of_all_films(self.dataset)

    def has_similar_item(self, number: int) -> bool:
        """Return whether a film is an item or its substitute has a similarity of MIN_SIMILARITY or more."""
        return has_similar_item(self.dataset, number)

    def to_items(self, queries: Queries) -> Queries:
        """Remove the films that `are_kept` leaves out, with their ratings. Replace infrequent films by items."""
        histories, ratings = [], []
        for row, history in enumerate(queries.histories):
            is_kept = are_kept(self.dataset, history.tolist())
            histories.append(replace_infrequent(self.dataset, history[is_kept]))
            if queries.ratings is not None:
                ratings.append(queries.ratings[row][is_kept])
        return replace(queries, histories=histories, ratings=None if queries.ratings is None else ratings)


@cache_by_dataset
def _content_of_all_films(dataset: Dataset) -> Model:
    """Return CONTENT_MEMBER with the descriptions of all films."""
    recommender = get(CONTENT_MEMBER)
    model = recommender.model(recommender.preset(dataset.name))
    counts = replace(dataset, catalog=dataset.catalog.complete).counts
    vectors, _item_vectors = dataset_field_vectors(dataset)
    model.load_state({"counts": counts, **csr_state(vectors)}, len(counts))
    return model


@cache_by_dataset
def _traits_of_all_films(dataset: Dataset) -> TraitTable:
    """Return the traits of all films."""
    return TraitTable.from_dataset(replace(dataset, catalog=dataset.catalog.complete))


def replace_infrequent(dataset: Dataset, history: np.ndarray) -> np.ndarray:
    """Return a history of film numbers (T,) with each infrequent film replaced by its substitute."""
    if not len(history) or history.max() < dataset.n_items:
        return history
    return np.array([find_item(dataset, number) for number in history.tolist()], np.int64)


def replace_duplicates(dataset: Dataset, history: np.ndarray) -> np.ndarray:
    """Return a history of film numbers (T,) with each film that the catalogue has twice replaced by its main film."""
    if not len(history) or history.max() < dataset.n_items:
        return history
    return np.array([dataset.main_film_by_duplicate.get(film, film) for film in history.tolist()], np.int64)


def are_kept(dataset: Dataset, numbers: Sequence[int]) -> list[bool]:
    """Return for each film of a history whether `AllDatasetFilms.to_items` keeps it or its substitute.

    Films without a similar item are left out, unless this is true of all films.
    """
    is_kept = [has_similar_item(dataset, number) for number in numbers]
    return is_kept if any(is_kept) else [True] * len(numbers)


def has_similar_item(dataset: Dataset, number: int) -> bool:
    """Return whether a film is an item or its substitute has a similarity of MIN_SIMILARITY or more."""
    return number < dataset.n_items or _substitute(dataset, number).similarity >= MIN_SIMILARITY


def label(dataset: Dataset, number: int) -> str:
    """Return title and year of the substitute of an infrequent film, "" for an item."""
    return "" if number < dataset.n_items else dataset.catalog.films[find_item(dataset, number)].label


@cache_by_dataset
def _substitute_cache(dataset: Dataset) -> dict[int, Substitute]:
    """Return the dict, initially empty, in which `_substitute` stores substitutes by film number."""
    return {}


def _most_similar(dataset: Dataset, number: int) -> Substitute:
    """Return the substitute with the highest weighted similarity of the fields (`recsys.text.fields`).

    The weight is exp(-distance of the years / YEAR_SCALE) · √log(1 + number of ratings). Popular films have a larger
    weight, because recommenders learn more about them. Both factors were chosen on validation (docs/experiments.md).
    `Substitute.similarity` is not weighted.

    If the film is a duplicate of an item, this item is the substitute. If the film is not in English, only the items of
    `_relatives` are considered.
    """
    main_film = dataset.main_film_by_duplicate.get(number, number)
    if main_film < dataset.n_items:
        return Substitute(main_film, np.inf)
    film_vectors, item_vectors = dataset_field_vectors(dataset)
    similarity = item_vectors @ film_vectors[[number]].toarray()[0]  # (I,)
    weight = np.sqrt(np.log1p(dataset.counts))
    year = dataset.catalog.films[number].year
    if year is not None:
        years = dataset.catalog.movies["year"].fillna(year).to_numpy(np.float64)  # (I,); unknown: counts as the same
        weight *= np.exp(-np.abs(years - year) / YEAR_SCALE)
    weighted_similarity = similarity * weight
    is_relative = _relatives(dataset, number)
    if is_relative.any():
        weighted_similarity[~is_relative] = -np.inf
    item = int(np.lexsort((-dataset.counts, -weighted_similarity))[0])  # ties: the most watched item
    return Substitute(item, float(similarity[item]))


def _relatives(dataset: Dataset, number: int) -> np.ndarray:
    """Return True for the items in the language of a film or by its directors, (I,) bool.

    If there are none, it is True for all items that are not in English. A film in English has no relatives.
    """
    movie_id = dataset.catalog.films[number].movie_id
    language = original_languages(dataset.name).get(movie_id)
    item_languages, items_by_director = _languages_and_directors(dataset)
    if language is None:
        return np.zeros(dataset.n_items, bool)
    is_relative = item_languages == language
    for director in dataset.catalog.details.get(movie_id).directors:
        is_relative[items_by_director.get(director, [])] = True
    return is_relative if is_relative.any() else item_languages != ""


@cache_by_dataset
def _languages_and_directors(dataset: Dataset) -> tuple[np.ndarray, dict[str, list[int]]]:
    """Return the original language of each item, (I,) str, "" for English, and director → items."""
    languages, details = original_languages(dataset.name), dataset.catalog.details
    movie_ids = dataset.catalog.movie_ids.tolist()
    items_by_director = rows_by_value(details.get(movie_id).directors for movie_id in movie_ids)
    return np.array([languages.get(movie_id, "") for movie_id in movie_ids], str), items_by_director
