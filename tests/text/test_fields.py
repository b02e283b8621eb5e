"""Vectors of several fields, on films whose similarities are known."""

import pandas as pd
import pytest

from recsys.data.tags import Tags
from recsys.text import fields
from tests import toys


def films(n=4, genres=None, years=None, titles=None):
    """Films without any field, except those given."""
    catalog = toys.catalog(n)
    catalog.movies["genres"] = genres or [""] * n
    catalog.movies["year"] = pd.array([pd.NA] * n if years is None else years, dtype="Int64")
    catalog.movies["title"] = titles or ["?"] * n
    return catalog


def similarities(catalog, name="toy"):
    vectors = fields.field_vectors(name, catalog)
    return (vectors @ vectors.T).toarray()


def weight(field):
    return dict(fields.FIELDS)[field]


def test_films_that_share_a_field_have_its_weight_as_similarity():
    genres = similarities(films(genres=["Comedy", "Comedy", "Drama", ""]))
    assert genres[0, 1] == pytest.approx(weight(fields._genres))
    assert genres[0, 2] == genres[0, 3] == genres[3, 3] == 0


def test_fields_add_up_and_a_missing_field_adds_nothing():
    both = similarities(films(genres=["Comedy", "Comedy", "Comedy", "Drama"], years=[1990, 1990, 2040, 1990]))
    assert both[0, 1] == pytest.approx(weight(fields._genres) + weight(fields._period))
    assert both[0, 2] == pytest.approx(weight(fields._genres))
    assert both[0, 3] == pytest.approx(weight(fields._period))


def test_periods_that_are_closer_are_more_similar():
    years = similarities(films(years=[1990, 1993, 2000, 2035]))[0]
    assert years[1] > years[2] > years[3] == 0


def test_parts_of_a_series_share_title_words_and_brackets_do_not_count():
    titles = ["Star Voyage", "Star Voyage II", "The Door (Star Voyage)", "Harbour"]
    scores = similarities(films(titles=titles))[0]
    assert scores[1] > 0
    assert scores[2] == scores[3] == 0


def test_a_tag_given_more_often_is_stronger_and_a_rare_tag_is_left_out():
    given = [(100, "space", 0), (101, "space", 0), (101, "space", 1), (102, "space", 0), (100, "mine", 0)]
    given += [(film, "slow", 0) for film in (101, 102, 103)]
    catalog = toys.tagged(films(6), Tags.from_rows(given))
    scores = similarities(catalog)
    assert fields._tags("toy", catalog).shape[1] == 2  # "mine" has one film only
    assert scores[0, 1] > scores[0, 2] > scores[0, 3] == 0


def test_a_tag_of_many_films_that_no_film_got_twice_is_a_private_note():
    n_films = fields.PRIVATE_MIN_FILMS
    dvr = [(100 + film, "on dvr", 0) for film in range(n_films)]
    war = [(100 + film, "war", time) for film in range(n_films) for time in (0, 1)]
    catalog = toys.tagged(films(n_films + 1), Tags.from_rows([*dvr, *war]))
    assert fields.public_tag_counts(catalog).sum(0).tolist() == [0, 2 * n_films]  # "on dvr", "war"
    fewer = toys.tagged(films(n_films + 1), Tags.from_rows(dvr[1:]))
    assert fields.public_tag_counts(fewer).sum() == n_films - 1


def test_films_that_share_their_single_tag_are_less_similar_than_films_that_share_three():
    given = [(film, "space", 0) for film in (100, 101, 102, 103)]
    given += [(film, tag, 0) for film in (102, 103, 104) for tag in ("robot", "future")]
    scores = similarities(toys.tagged(films(9), Tags.from_rows(given)))
    assert 0 < scores[0, 1] < scores[2, 3] < weight(fields._tags)


def test_films_of_one_language_are_more_similar_than_films_of_two(monkeypatch):
    monkeypatch.setattr(fields.film_tables, "original_languages", lambda dataset: {100: "fr", 101: "fr", 102: "ko"})
    scores = similarities(films())[0]
    assert scores[1] == pytest.approx(weight(fields._language))
    assert scores[1] > scores[2] > scores[3] == 0


def test_directors_of_an_enriched_data_set_count():
    world = toys.enriched(toys.checkerboard(), {100 + film: {"directors": [f"Lee {film % 3}"]} for film in range(30)})
    vectors = fields._directors("toy", world.catalog)
    scores = (vectors @ vectors.T).toarray()[0]
    assert (scores[3::3] > 0).all()
    assert not scores[1::3].any()
