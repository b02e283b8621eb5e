from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys.data.schema import Catalog
from recsys.serving import filters
from recsys.serving.filters import KNOWN, Filters
from recsys.serving.recommend import ServingError, recommend
from tests import toys
from tests.serving.test_recommend import Given, ids

GENRES = ["Comedy", "Comedy|Drama", "Drama", "Horror", "", "Comedy"]
YEARS = [1990, 1995, 2000, None, 2005, 1995]


@pytest.fixture
def world():
    """Six films; film 0 was watched six times, film 1 five times … film 5 once."""
    made = toys.dataset([range(6 - user) for user in range(6)], n_items=6)
    movies = made.catalog.movies.assign(genres=GENRES, year=pd.array(YEARS, dtype="Int64"))
    return replace(made, catalog=Catalog(movies, movies.iloc[:0]))


def passing(world, history=(), **asked):
    return np.flatnonzero(filters.allowed(filters.facts(world), Filters(**asked), history)).tolist()


def test_without_a_wish_every_film_passes(world):
    assert passing(world) == [0, 1, 2, 3, 4, 5]
    assert Filters().active == []


def test_years_are_inclusive_and_a_film_without_one_stays_out(world):
    assert passing(world, years=(1995, 2000)) == [1, 2, 5]
    assert passing(world, years=(1900, 2100)) == [0, 1, 2, 4, 5]


def test_genres_are_wanted_any_of_them_and_unwanted_all_of_them(world):
    assert passing(world, genres=("Drama", "Horror")) == [1, 2, 3]
    assert passing(world, without=("Drama", "Horror")) == [0, 4, 5]
    assert passing(world, genres=("Comedy",), without=("Drama",)) == [0, 5]


def test_a_genre_that_the_set_lacks_is_nobodys(world):
    assert passing(world, genres=("Western",)) == []
    assert passing(world, without=("Western",)) == [0, 1, 2, 3, 4, 5]


def test_how_well_known_a_film_is_goes_by_the_share_of_films_watched_more_often(world):
    assert filters.facts(world).place == pytest.approx(np.arange(6) / 6)
    assert passing(world, known="mainstream") == [0]  # 0 of 6 films are watched more often
    assert passing(world, known="well known") == [0, 1]  # 1 of 6 is less than a fifth
    assert passing(world, known="lesser known") == [2, 3, 4, 5]
    assert passing(world, known="hidden gems") == [3, 4, 5]


def test_films_watched_equally_often_are_equally_well_known():
    assert filters.facts(toys.dataset([[0, 1], [0, 1, 2]], n_items=3)).place == pytest.approx([0, 0, 2 / 3])


def test_nothing_newer_than_the_last_film_that_has_a_year(world):
    assert passing(world, [4, 1], no_newer=True) == [0, 1, 5]
    assert passing(world, [1, 3], no_newer=True) == [0, 1, 5]  # film 3 has none
    assert passing(world, [], no_newer=True) == [0, 1, 2, 3, 4, 5]


def test_the_filter_to_loosen_is_the_one_that_stands_alone_in_the_way(world):
    asked = Filters(years=(2000, 2005), genres=("Comedy",))
    known = filters.facts(world)
    assert not filters.allowed(known, asked, []).any()
    assert filters.too_strict(known, asked, []) == ["years", "genres"]
    assert filters.too_strict(known, asked, [0, 1], [5]) == ["genres"]  # no comedy is left
    assert filters.too_strict(known, replace(asked, hide_seen=False), [0, 1], [5]) == ["years", "genres"]
    assert filters.too_strict(known, asked, [0, 1, 2, 3, 4, 5]) == []


def test_unwanted_films_do_not_pass(world):
    assert np.flatnonzero(filters.allowed(filters.facts(world), Filters(), [], [0, 4])).tolist() == [1, 2, 3, 5]


def test_a_catalogue_without_films_or_years_has_facts_too():
    empty = filters.facts(toys.dataset([[]], n_items=0))
    assert (empty.span, empty.genres) == ((0, 0), ())


def test_the_span_of_years_leaves_out_what_is_unknown(world):
    assert filters.facts(world).span == (1990, 2005)


def test_a_varied_list_trades_relevance_for_difference_as_worked_by_hand(world):
    # Relevance 1, 0.8, 0.4, 0; films 0 and 5 are alike (1), film 1 is half a comedy (1/√2), film 3 is like no other.
    items, scores = np.array([0, 5, 1, 3]), np.array([5.0, 4.0, 2.0, 0.0])
    varied = [filters.varied(world.catalog, items, scores, 4, strength).tolist() for strength in (0, 0.5, 1)]
    assert varied[0] == [0, 5, 1, 3]
    # After film 0: 5 → 0.4 - 0.5 = -0.1; 1 → 0.2 - 0.354 = -0.154; 3 → 0. Then 5 (-0.1) before 1 (-0.154).
    assert varied[1] == [0, 3, 5, 1]
    assert varied[2] == [0, 3, 1, 5]  # difference alone: 1 is at 0.707 from what is chosen, 5 at 1


@given(
    scores=st.lists(st.integers(-5, 5), min_size=0, max_size=12),
    k=st.integers(0, 15),
    strength=st.floats(0, 1),
    seed=st.integers(0, 99),
)
def test_a_varied_list_holds_no_film_twice_and_begins_with_the_best(scores, k, strength, seed):
    rng = np.random.default_rng(seed)
    genres = ["|".join(rng.choice(["A", "B", "C"], rng.integers(0, 4), replace=False)) for _ in scores]
    catalog = Catalog(toys.catalog(len(scores)).movies.assign(genres=genres), toys.catalog(0).movies)
    ordered = np.array(sorted(scores, reverse=True), float)
    chosen = filters.varied(catalog, np.arange(len(scores)), ordered, k, strength).tolist()
    assert len(chosen) == len(set(chosen)) == min(k, len(scores))
    assert chosen[:1] == [0][: len(chosen)]
    if strength == 0:
        assert chosen == list(range(len(chosen)))


def test_filters_change_which_films_are_shown_not_how_likely_they_are(world):
    model = Given([0, 3, 1, 5, 2, 4], softmax=True)
    everything = {film.movie_id: film.probability for film in recommend(world, model, [], k=6)}
    allowed = filters.allowed(filters.facts(world), Filters(genres=("Comedy",)), [])
    shown = recommend(world, model, [1], k=6, allowed=allowed)
    assert ids(shown) == [105, 100]
    assert [film.rank for film in shown] == [1, 2]
    assert [film.probability for film in shown] == [everything[105], everything[100]]


def test_diversity_reorders_what_recommend_gives(world):
    model = Given([5, 2, 1, 0, -9, 4])
    assert ids(recommend(world, model, [], k=2)) == [100, 105]
    assert ids(recommend(world, model, [], k=2, diversity=0.5)) == [100, 102]
    assert recommend(world, model, [], k=0, diversity=0.5) == []


def test_a_mask_for_another_catalogue_is_refused(world):
    with pytest.raises(ServingError, match="yes or no for each film"):
        recommend(world, Given([0] * 6), [], allowed=np.ones(5, bool))


@given(step=st.sampled_from(list(KNOWN)), seed=st.integers(0, 50), history=st.lists(st.integers(0, 19), max_size=5))
def test_what_is_recommended_passes_every_filter(step, seed, history):
    rng = np.random.default_rng(seed)
    world = toys.dataset([rng.integers(0, 20, 30)], n_items=20)
    asked = Filters(years=(1992, 1997), genres=("Horror",), known=step, no_newer=True)
    known = filters.facts(world)
    allowed = filters.allowed(known, asked, history)
    films = recommend(world, Given(rng.normal(size=20)), history, k=20, allowed=allowed, diversity=0.3)
    least, most = KNOWN[step]
    newest = min(1997, world.catalog.films[history[-1]].year) if history else 1997
    for film in films:
        item = world.catalog.item_of[film.movie_id]
        assert item not in history
        assert 1992 <= film.year <= newest
        assert film.genres == "Horror"
        assert least <= known.place[item] < most
