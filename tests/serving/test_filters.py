from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys.data.dataset import Catalog
from recsys.serving import filters
from recsys.serving.filters import POPULARITY_LEVELS, Filters
from recsys.serving.recommend import Request, recommend
from tests import toys
from tests.serving.given import Given, predictor

GENRES = ["Comedy", "Comedy|Drama", "Drama", "Horror", "", "Comedy"]
YEARS = [1990, 1995, 2000, None, 2005, 1995]


@pytest.fixture
def genre_films():
    """Six films; film 0 was watched six times, film 1 five times … film 5 once."""
    dataset = toys.dataset([range(6 - user) for user in range(6)], n_items=6)
    movies = dataset.catalog.movies.assign(genres=GENRES, year=pd.array(YEARS, dtype="Int64"))
    return replace(dataset, catalog=Catalog(movies, movies.iloc[:0]))


def passing(genre_films, history=(), **settings):
    return np.flatnonzero(
        filters.allowed_mask(filters.film_features(genre_films), Filters(**settings), history)
    ).tolist()


def test_without_filters_every_film_passes(genre_films):
    assert passing(genre_films) == [0, 1, 2, 3, 4, 5]
    assert Filters().active_fields == []


def test_only_filters_that_exclude_films_count_as_such():
    assert not Filters().excludes_films
    assert not Filters(hide_seen=False, diversity=0.5).excludes_films
    for setting in (
        {"years": (1, 2)},
        {"genres": ("A",)},
        {"excluded_genres": ("A",)},
        {"popularity": "mainstream"},
        {"released_by_last_film": True},
    ):
        assert Filters(**setting).excludes_films


def test_years_are_inclusive_and_films_without_a_year_are_excluded(genre_films):
    assert passing(genre_films, years=(1995, 2000)) == [1, 2, 5]
    assert passing(genre_films, years=(1900, 2100)) == [0, 1, 2, 4, 5]


def test_a_film_needs_one_of_the_genres_and_none_of_the_excluded_genres(genre_films):
    assert passing(genre_films, genres=("Drama", "Horror")) == [1, 2, 3]
    assert passing(genre_films, excluded_genres=("Drama", "Horror")) == [0, 4, 5]
    assert passing(genre_films, genres=("Comedy",), excluded_genres=("Drama",)) == [0, 5]


def test_no_film_has_a_genre_that_the_data_set_lacks(genre_films):
    assert passing(genre_films, genres=("Western",)) == []
    assert passing(genre_films, excluded_genres=("Western",)) == [0, 1, 2, 3, 4, 5]


def test_films_outside_the_table_of_languages_count_as_english(genre_films, monkeypatch):
    monkeypatch.setattr(filters, "original_languages", lambda name: {100: "fr", 101: "ko", 103: "fr"})
    assert passing(genre_films, languages=("fr",)) == [0, 3]
    assert passing(genre_films, languages=("fr", "ko")) == [0, 1, 3]
    assert passing(genre_films, languages=("en",)) == [2, 4, 5]
    assert passing(genre_films, languages=("uk",)) == []
    features = filters.film_features(genre_films)
    assert {code: len(items) for code, items in features.items_by_language.items()} == {"fr": 2, "ko": 1, "en": 3}


def test_a_set_without_languages_or_details_has_no_such_features(genre_films):
    features = filters.film_features(genre_films)
    assert features.items_by_language == features.items_by_country == {}
    assert passing(genre_films, countries=("France",)) == []


def test_countries_are_those_of_the_film_details(genre_films):
    enriched = toys.enriched(genre_films, {100: {"countries": ["France", "Italy"]}, 102: {"countries": ["Italy"]}})
    assert passing(enriched, countries=("France",)) == [0]
    assert passing(enriched, countries=("Italy",)) == [0, 2]


def test_popularity_is_the_share_of_films_that_are_watched_more_often(genre_films):
    assert filters.film_features(genre_films).popularity_percentile == pytest.approx(np.arange(6) / 6)
    assert passing(genre_films, popularity="mainstream") == [0]  # 0 of 6 films are watched more often
    assert passing(genre_films, popularity="well known") == [0, 1]  # 1 of 6 is less than a fifth
    assert passing(genre_films, popularity="lesser known") == [2, 3, 4, 5]
    assert passing(genre_films, popularity="hidden gems") == [3, 4, 5]


def test_films_watched_equally_often_are_equally_well_known():
    assert filters.film_features(toys.dataset([[0, 1], [0, 1, 2]], n_items=3)).popularity_percentile == pytest.approx(
        [0, 0, 2 / 3]
    )


def test_films_newer_than_the_last_film_with_a_year_are_excluded(genre_films):
    assert passing(genre_films, [4, 1], released_by_last_film=True) == [0, 1, 5]
    assert passing(genre_films, [1, 3], released_by_last_film=True) == [0, 1, 5]  # film 3 has none
    assert passing(genre_films, [], released_by_last_film=True) == [0, 1, 2, 3, 4, 5]


def test_a_catalogue_without_films_or_years_has_facts_too():
    empty = filters.film_features(toys.dataset([[]], n_items=0))
    assert (empty.year_range, empty.genres) == ((0, 0), ())


def test_the_range_of_years_ignores_unknown_years(genre_films):
    assert filters.film_features(genre_films).year_range == (1990, 2005)


def test_mmr_equals_a_calculation_by_hand(genre_films):
    # Relevance 1, 0.8, 0.4, 0; films 0 and 5 are alike (1), film 1 is half a comedy (1/√2), film 3 is like no other.
    items, scores = np.array([0, 5, 1, 3]), np.array([5.0, 4.0, 2.0, 0.0])
    likeness = filters.genre_similarity(filters.film_features(genre_films).genre_matrix[items])
    chosen = [filters.mmr(items, scores, likeness, 4, diversity).tolist() for diversity in (0, 0.5, 1)]
    assert chosen[0] == [0, 5, 1, 3]
    # After film 0: 5 → 0.4 - 0.5 = -0.1; 1 → 0.2 - 0.354 = -0.154; 3 → 0. Then 5 (-0.1) before 1 (-0.154).
    assert chosen[1] == [0, 3, 5, 1]
    assert chosen[2] == [0, 3, 1, 5]  # difference alone: 1 is at 0.707 from what is chosen, 5 at 1


@given(
    scores=st.lists(st.integers(-5, 5), min_size=0, max_size=12),
    k=st.integers(0, 15),
    diversity=st.floats(0, 1),
    seed=st.integers(0, 99),
)
def test_mmr_repeats_no_film_and_begins_with_the_best(scores, k, diversity, seed):
    rng = np.random.default_rng(seed)
    genres = ["|".join(rng.choice(["A", "B", "C"], rng.integers(0, 4), replace=False)) for _ in scores]
    catalog = Catalog(toys.catalog(len(scores)).movies.assign(genres=genres), toys.catalog(0).movies)
    features = filters.film_features(replace(toys.dataset([[]], n_items=len(scores)), catalog=catalog))
    ordered = np.array(sorted(scores, reverse=True), float)
    chosen = filters.mmr(
        np.arange(len(scores)), ordered, filters.genre_similarity(features.genre_matrix), k, diversity
    ).tolist()
    assert len(chosen) == len(set(chosen)) == min(k, len(scores))
    assert chosen[:1] == [0][: len(chosen)]
    if diversity == 0:
        assert chosen == list(range(len(chosen)))


def test_probabilities_are_normalised_over_the_allowed_films(genre_films):
    ready_predictor = predictor(genre_films, Given([0, 3, 1, 5, 2, 4], softmax=True))
    probabilities = {film.item: film.probability for film in recommend(ready_predictor, Request((1,), 6))}
    picks = recommend(ready_predictor, Request((1,), 6, Filters(genres=("Comedy",))))
    assert [(film.rank, film.item) for film in picks] == [(1, 5), (2, 0)]
    share = probabilities[5] + probabilities[0]
    assert [film.probability for film in picks] == pytest.approx([probabilities[5] / share, probabilities[0] / share])


def test_cosines_are_scaled_from_the_least_to_the_most_similar_pair():
    vectors = np.array([[2.0, 0.0], [3.0, 0.0], [1.0, 1.0], [0.0, 5.0]])  # the cosines of pairs: 1, 1/√2, 0
    likeness = filters.vector_similarity(vectors)
    assert likeness[0] == pytest.approx([1, 1, 0.5**0.5, 0])
    assert likeness == pytest.approx(likeness.T)
    assert filters.vector_similarity(vectors[:1]).tolist() == [[1.0]]
    assert np.isfinite(filters.vector_similarity(np.zeros((3, 2)))).all()


class Embedded(Given):
    has_item_embeddings = True

    def item_embeddings(self):
        return np.array([[1, 0], [0, 1], [1, 0.1], [1, 0], [0, 1], [1, 0]], np.float32)


def test_diversity_uses_the_vectors_of_the_model_if_it_has_any(genre_films):
    settings, scores = Request((), 2, Filters(diversity=0.5)), [5, 0, 4, 4.5, 2, 3]
    assert [pick.item for pick in recommend(predictor(genre_films, Given(scores)), settings)] == [
        0,
        3,
    ]  # a comedy, a horror film
    assert [pick.item for pick in recommend(predictor(genre_films, Embedded(scores)), settings)] == [0, 4]


def test_infrequent_films_of_the_history_do_not_disturb_the_filters(genre_films):
    items, left_out = genre_films.catalog.movies, 6
    infrequent = items.iloc[:1].assign(year=1992, movie_id=999)
    genre_films = replace(genre_films, catalog=Catalog(items, infrequent))
    assert passing(genre_films, [4, 1, left_out], released_by_last_film=True) == [0]  # from 1992 or earlier


def test_diversity_changes_the_order_of_recommendations(genre_films):
    ready_predictor = predictor(genre_films, Given([5, 2, 1, 0, -9, 4]))

    def recommended(k, diversity):
        return [film.item for film in recommend(ready_predictor, Request((), k, Filters(diversity=diversity)))]

    assert recommended(2, 0.0) == [0, 5]
    assert recommended(2, 0.5) == [0, 2]
    assert recommended(0, 0.5) == []


@given(
    step=st.sampled_from(list(POPULARITY_LEVELS)),
    seed=st.integers(0, 50),
    history=st.lists(st.integers(0, 19), max_size=5),
)
def test_recommendations_pass_every_filter(step, seed, history):
    rng = np.random.default_rng(seed)
    ready_predictor = predictor(toys.dataset([rng.integers(0, 20, 30)], n_items=20), Given(rng.normal(size=20)))
    settings = Filters(
        years=(1992, 1997), genres=("Horror",), popularity=step, released_by_last_film=True, diversity=0.3
    )
    low, high = POPULARITY_LEVELS[step]
    newest = min(1997, ready_predictor.dataset.catalog.films[history[-1]].year) if history else 1997
    for pick in recommend(ready_predictor, Request(tuple(history), 20, settings)):
        assert pick.item not in history
        assert 1992 <= pick.film.year <= newest
        assert pick.film.genres == "Horror"
        assert low <= filters.film_features(ready_predictor.dataset).popularity_percentile[pick.item] < high
