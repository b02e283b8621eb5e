import numpy as np
import pandas as pd
import pytest

from recsys.data.dataset import Catalog, Dataset, Interactions
from recsys.data.tags import Tags
from recsys.serving.filters import Filters
from recsys.serving.library import DAMPING, ORDERS, Library, LibraryQuery
from tests import toys

TITLES = ["The Matrix", "Zorro", "Heat", "An Apple", "Unrated"]  # the last two were left out of training
YEARS = [1999, 1940, 1995, 2020, None]
GENRES = ["Sci-Fi", "Adventure", "Crime|Drama", "Drama", ""]
GIVEN = [(100, "Dark", 1), (100, "hackers", 1), (102, "dark", 1), (102, "dark", 2), (103, "dark", 3)]


@pytest.fixture
def library():
    """Film 0 was watched three times, film 1 twice, film 2 once; the stars are 3, 3, 3, then 5, 5, then 1."""
    films = toys.catalog(5).movies.assign(title=TITLES, year=pd.array(YEARS, dtype="Int64"), genres=GENRES)
    item = np.array([0, 1, 2, 0, 1, 0], np.int32)
    stars = np.array([3, 5, 1, 3, 5, 3], np.float32)
    events = Interactions(np.array([0, 0, 0, 1, 1, 2], np.int32), item, stars, np.arange(6))
    catalog = Catalog(films.iloc[:3], films.iloc[3:].reset_index(drop=True), Tags.from_rows(GIVEN))
    return Library.from_dataset(Dataset("toy", catalog, events, np.arange(1, 4)))


def found(library, tags=(), order=ORDERS[0], among=None, **filters):
    return library.search(LibraryQuery(Filters(**filters), tags, order), among).tolist()


def test_all_films_are_there_those_left_out_included(library):
    assert len(library) == 5
    assert sorted(found(library)) == [0, 1, 2, 3, 4]
    assert library.n_ratings.tolist() == [3, 2, 1, 0, 0]
    assert library.mean_stars == pytest.approx([3, 5, 1, np.nan, np.nan], nan_ok=True)


def test_viewers_are_counted_once_per_film():
    library = Library.from_dataset(toys.dataset([[0, 1, 0, 0], [0, 2], [2, 2]], 4))
    assert library.n_ratings.tolist() == [4, 1, 3, 0]
    assert library.n_viewers.tolist() == [2, 1, 2, 0]


def test_the_orders_are_what_they_say_and_what_is_unknown_comes_last(library):
    assert found(library, order="most watched") == [0, 1, 2, 3, 4]
    assert found(library, order="newest") == [3, 0, 2, 1, 4]
    assert found(library, order="oldest") == [1, 2, 0, 3, 4]
    assert found(library, order="title") == [3, 2, 0, 4, 1]  # Apple, Heat, Matrix, Unrated, Zorro
    assert found(library, order="best rated") == [1, 0, 2, 3, 4]


def test_one_rating_of_five_stars_does_not_beat_many_of_four():
    item = np.array([0] * 100 + [1] + [2] * 100, np.int32)
    stars = np.array([4.5] * 100 + [5] + [2] * 100, np.float32)
    user = np.arange(201, dtype=np.int32)
    world = Dataset("toy", toys.catalog(3), Interactions(user, item, stars, np.arange(201)), user)
    library = Library.from_dataset(world)
    assert library.mean_stars.tolist() == [4.5, 5, 2]
    assert found(library, order="best rated") == [0, 1, 2]
    mean = (450 + 5 + 200) / 201
    assert library._damped_rating[1] == pytest.approx((5 + DAMPING * mean) / (1 + DAMPING))


def test_in_a_set_without_ratings_no_film_has_a_mean():
    events = Interactions(
        *(np.array([0, 1], kind) for kind in (np.int32, np.int32)), np.ones(2, np.float32), np.arange(2)
    )
    library = Library.from_dataset(Dataset("toy", toys.catalog(2), events, np.arange(2)))
    assert np.isnan(library.mean_stars).all()
    assert found(library, order="best rated") == [0, 1]


def test_filters_and_tags_narrow_together(library):
    assert found(library, years=(1990, 2020)) == [0, 2, 3]
    assert found(library, genres=("Drama",)) == [2, 3]
    assert found(library, tags=("dark",)) == [0, 2, 3]  # given as "Dark" too
    assert found(library, tags=("  DARK ", "hackers")) == [0]  # all of the tags
    assert found(library, tags=("dark",), genres=("Drama",), years=(2000, 2030)) == [3]
    assert found(library, tags=("nobody said so",)) == []


def test_how_well_known_a_film_is_goes_by_the_films_that_recommenders_know(library):
    assert found(library, popularity="well known") == [0]  # a third of the three is watched more often than film 1
    assert found(library, popularity="hidden gems") == [2, 3, 4]
    assert found(library, popularity="any") == [0, 1, 2, 3, 4]


def test_what_a_search_found_keeps_its_order(library):
    assert found(library, among=[3, 0, 2], order="title") == [3, 0, 2]
    assert found(library, among=[3, 0, 2], genres=("Drama",)) == [3, 2]
    assert found(library, among=[]) == []


def test_the_tags_of_most_films_are_offered(library):
    assert library.common_tags(1) == ["dark"]
    assert library.common_tags(9) == ["dark", "hackers"]


def test_a_set_without_tags_ratings_or_films_can_be_browsed():
    empty = Library.from_dataset(toys.dataset([[]], n_items=0))
    assert [found(empty, order=order) for order in ORDERS] == [[]] * len(ORDERS)
    assert empty.common_tags(5) == []
    unwatched = Library.from_dataset(toys.dataset([[]], n_items=2))
    assert [found(unwatched, order=order) for order in ("most watched", "best rated", "title")] == [[0, 1]] * 3
