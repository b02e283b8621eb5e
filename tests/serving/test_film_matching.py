from dataclasses import replace
from datetime import datetime

import numpy as np
import pandas as pd
import pytest

from recsys.data.dataset import Catalog
from recsys.data.history_import.entries import Entry
from recsys.serving.film_matching import MAX_CANDIDATES, Matcher, MatchMethod
from tests import toys

FILMS = [  # title, year, imdb, tmdb; the first ones are watched more often
    ("Toy Story", 1995, "tt0114709", 862),
    ("Heat", 1995, "tt0113277", 949),
    ("Heat", 1986, "tt0093164", None),
    ("Emma", 1996, "tt0116191", None),
    ("Emma", 1996, "tt0118308", None),
    ("The City of Lost Children (Cité des enfants perdus, La)", 1995, "tt0112682", 902),
    ("Seven (a.k.a. Se7en)", 1995, "tt0114369", 807),
    ("Star Wars: Episode IV - A New Hope", 1977, "tt0076759", 11),
    ("Rocky IV", 1985, "tt0089927", None),
    ("Solaris", 1972, "", None),
    ("Solaris", 2002, "", None),
    ("Hours", 1989, "", None),
    ("The Hours", 2002, "", None),
    ("千と千尋の神隠し", 2001, "", None),
    ("Amélie", 2001, "", None),
    ("Twins", 2003, "", None),
    ("Twins", 2005, "", None),
    *((f"Nightmare on Elm Street {part}", 1990, "", None) for part in "ABCDEFG"),
]
LEFT_OUT = ("Rare Bird", 1999, "tt0000042", None)


@pytest.fixture(scope="module")
def data():
    world = toys.cycle(len(FILMS))
    movies = world.catalog.movies.assign(
        title=[title for title, *_ in FILMS],
        year=pd.array([year for _, year, *_ in FILMS], dtype="Int64"),
        imdb_id=[imdb for *_, imdb, _ in FILMS],
        tmdb_id=pd.array([tmdb for *_, tmdb in FILMS], dtype="Int64"),
    )
    rare = movies.iloc[:1].assign(
        movie_id=900, title=LEFT_OUT[0], year=pd.array([LEFT_OUT[1]], "Int64"), imdb_id=LEFT_OUT[2], tmdb_id=pd.NA
    )
    return replace(world, catalog=Catalog(movies, rare))


@pytest.fixture(scope="module")
def match(data):
    matcher = Matcher(data)
    return lambda title="", year=None, **more: matcher.match([Entry("f", 1, title, year=year, **more)])[0]


def labels(data, result):
    return [data.catalog.films[film].label for film in result.films]


def test_ids_take_precedence_over_titles(data, match):
    assert match("Whatever", 2020, imdb_id="tt0113277") == match("Whatever", tmdb_id=949) == match(movie_id=101)
    assert match("Whatever", imdb_id="tt0113277").method is MatchMethod.ID
    assert labels(data, match(imdb_id="tt0000042")) == ["Rare Bird (1999)"]


def test_ids_of_two_films_are_uncertain(data, match):
    result = match("Heat", 1995, imdb_id="tt0113277", tmdb_id=862)
    assert (result.method, set(labels(data, result))) == (MatchMethod.UNSURE, {"Heat (1995)", "Toy Story (1995)"})


def test_a_movielens_id_counts_only_if_the_title_agrees(data, match):
    assert match("Toy Story", 1995, movie_id=100).method is MatchMethod.ID
    assert labels(data, match("Heat", 1995, movie_id=100)) == ["Heat (1995)"]
    others = Matcher(replace(data, name="ml-100k"))  # numbers its films otherwise
    assert others.match([Entry("f", 1, movie_id=100)])[0].method is MatchMethod.NOT_FOUND


def test_an_entry_without_movie_id_is_not_the_film_with_the_id_0(data):
    movies = data.catalog.movies
    matcher = Matcher(replace(data, catalog=Catalog(movies.assign(movie_id=range(len(movies))), movies.iloc[:0])))
    assert matcher.match([Entry("f", 1, movie_id=0)])[0].films == (0,)
    assert matcher.match([Entry("f", 1, imdb_id="tt0113277")])[0].method is MatchMethod.ID
    title, year = FILMS[0][:2]
    assert not matcher.match([Entry("f", 1, title, year=year + 3)])[0].is_confident


@pytest.mark.parametrize(
    ("title", "year", "label"),
    [
        ("toy story", 1995, "Toy Story (1995)"),
        ("Heat", 1995, "Heat (1995)"),
        ("Heat", 1986, "Heat (1986)"),
        ("City of Lost Children, The", 1995, FILMS[5][0] + " (1995)"),
        ("La Cité des enfants perdus", 1995, FILMS[5][0] + " (1995)"),
        ("Se7en", 1995, FILMS[6][0] + " (1995)"),
        ("Rocky 4", 1985, "Rocky IV (1985)"),
        ("千と千尋の神隠し", 2001, "千と千尋の神隠し (2001)"),
        ("Amelie", 2001, "Amélie (2001)"),
        ("Hours", 2002, "The Hours (2002)"),
        ("Rare Bird", 1999, "Rare Bird (1999)"),
    ],
)
def test_title_and_year_in_every_form_of_the_title(data, match, title, year, label):
    result = match(title, year)
    assert (result.method, labels(data, result)) == (MatchMethod.TITLE_YEAR, [label])


def test_the_original_title_matches(data, match):
    result = match("Spirited Away", 2001, original_title="千と千尋の神隠し")
    assert (result.method, labels(data, result)) == (MatchMethod.TITLE_YEAR, ["千と千尋の神隠し (2001)"])


def test_a_year_that_differs_by_one_matches_if_only_one_film_has_the_title(data, match):
    assert match("Toy Story", 1996).method is MatchMethod.NEXT_YEAR
    twins = match("Twins", 2004)
    assert (twins.method, len(twins.films)) == (MatchMethod.UNSURE, 2)
    assert match("Heat", 1996) == match("Heat", 1994)


def test_a_year_that_differs_by_more_is_uncertain_or_another_film(data, match):
    result = match("Solaris", 1975)
    assert (result.method, labels(data, result), result.is_likely) == (MatchMethod.UNSURE, ["Solaris (1972)"], False)
    assert match("Solaris", 2019).method is MatchMethod.NOT_FOUND


def test_two_films_with_equal_title_and_year_are_uncertain(data, match):
    result = match("Emma", 1996)
    assert (result.method, len(result.films), result.is_likely) == (MatchMethod.UNSURE, 2, False)
    assert match("Emma", 1996, imdb_id="tt0118308").films == (4,)


def test_the_only_namesake_is_not_taken_where_imdb_knows_another(data, match):
    assert match("Toy Story", 1995, imdb_id="tt7777777").method is MatchMethod.UNSURE
    assert match("Toy Story", imdb_id="tt7777777").method is MatchMethod.UNSURE
    assert (
        match("Solaris", 1972, imdb_id="tt7777777").method is MatchMethod.TITLE_YEAR
    )  # the set knows no number of this one


def test_a_title_without_a_year_matches_only_if_it_is_unique(data, match):
    assert match("Toy Story").method is MatchMethod.TITLE
    assert match("Heat").method is MatchMethod.UNSURE
    assert match("The Hours").method is MatchMethod.TITLE  # with the very article
    assert labels(data, match("Solaris", watch_date=datetime(1999, 1, 1))) == ["Solaris (1972)"]  # not made in 2002 yet


def test_similar_titles_are_offered_but_not_accepted(data, match):
    result = match("Toy Stroy", 1995)
    assert (result.method, labels(data, result)[0]) == (MatchMethod.UNSURE, "Toy Story (1995)")
    result = match("The City of Lost", 1995)
    assert (result.method, labels(data, result), result.is_likely) == (
        MatchMethod.UNSURE,
        [FILMS[5][0] + " (1995)"],
        True,
    )
    assert match("Toy Stroy", 2015).method is MatchMethod.NOT_FOUND


@pytest.mark.parametrize(
    ("title", "year", "label"),
    [("Star Wars", 1977, FILMS[7][0] + " (1977)"), ("Сім", 1995, "Seven (a.k.a. Se7en) (1995)")],
)
def test_other_titles_of_the_table_match(data, match, title, year, label):
    result = match(title, year)
    assert (result.method, labels(data, result)) == (MatchMethod.TITLE_YEAR, [label])


def test_a_film_without_a_year_watched_after_the_end_of_the_data_is_uncertain(data):
    last = datetime(2023, 7, 20)
    events = replace(data.interactions, timestamp=np.full(len(data.interactions), int(last.timestamp())))
    matcher = Matcher(replace(data, interactions=events))

    def match(title, year, date):
        return matcher.match([Entry("f", 1, title, year=year, watch_date=date)])[0]

    result = match("Solari s", None, datetime(2024, 1, 1))
    assert (result.method, result.is_likely) == (MatchMethod.UNSURE, False)  # perhaps another film
    assert match("Toy Story", None, datetime(2023, 1, 1)).method is MatchMethod.TITLE
    result = match("Toy Story", None, datetime(2024, 1, 1))
    assert (result.method, result.is_likely) == (MatchMethod.UNSURE, True)  # many people know it
    assert match("Toy Story", 1995, datetime(2024, 1, 1)).method is MatchMethod.TITLE_YEAR


def test_of_duplicate_films_the_one_with_more_ratings_matches(data):
    movies = data.catalog.movies
    again = movies.iloc[[2]].assign(movie_id=901, imdb_id="")  # Heat (1986)
    twice = replace(data, catalog=Catalog(movies, again))
    assert twice.main_film_by_duplicate == {len(movies): 2}
    result = Matcher(twice).match([Entry("f", 1, "Heat", year=1986)])[0]
    assert result.films == (2,)


def test_the_ids_of_a_duplicate_match_its_main_film(data):
    movies = data.catalog.movies
    again = movies.iloc[[1]].assign(movie_id=901, imdb_id="tt0000043")  # Heat (1995), with the same TMDB id
    twice = replace(data, catalog=Catalog(movies, again))
    assert twice.main_film_by_duplicate == {len(movies): 1}
    main_ids = {"imdb_id": "tt0113277", "tmdb_id": 949}
    for ids in ({"tmdb_id": 949}, {"imdb_id": "tt0000043"}, {"movie_id": 901}, main_ids):
        result = Matcher(twice).match([Entry("f", 1, "Heat", year=1995, **ids)])[0]
        assert (result.method, result.films) == (MatchMethod.ID, (1,)), ids


def test_a_title_of_92_percent_similarity_needs_no_year(data):
    """One wrong letter of 13 is a similarity of 92 %, which is also the similarity of films that begin with a title."""
    movies = data.catalog.movies.assign(title=["Groundhog Day", *data.catalog.movies["title"][1:]])
    matcher = Matcher(replace(data, catalog=replace(data.catalog, movies=movies)))
    typing_error, beginning = matcher.match([Entry("f", 1, "Groundhog Dsy"), Entry("f", 2, "Groundhog")])
    assert (typing_error.method, typing_error.films) == (MatchMethod.UNSURE, (0,))
    assert beginning.method is MatchMethod.NOT_FOUND


def test_two_unknown_years_are_not_equal(data):
    movies = data.catalog.movies.assign(year=pd.array([pd.NA] * len(FILMS), "Int64"))
    matcher = Matcher(replace(data, catalog=replace(data.catalog, movies=movies)))
    (result,) = matcher.match([Entry("f", 1, "Star Wars: Episode IV - A New Hobe")])
    assert (result.method, result.films, result.is_likely) == (MatchMethod.UNSURE, (7,), False)


def test_the_number_of_offered_films_is_limited(match):
    result = match("Nightmare on Elm Street X", 1990)
    assert (len(result.films), result.is_likely) == (MAX_CANDIDATES, False)


def test_episodes_are_series_unless_a_film_is_called_so(data, match):
    assert match("Dark: Alpha: Omega", may_be_series=True).method is MatchMethod.SERIES
    assert match("Star Wars: Episode IV: A New Hope", may_be_series=True).method is MatchMethod.TITLE


def test_an_empty_title_matches_nothing(match):
    assert match("!!!", 1995).method is MatchMethod.NOT_FOUND
    assert match("", None, movie_id=10**9).method is MatchMethod.NOT_FOUND
    assert match("x" * 300, 1995).method is MatchMethod.NOT_FOUND


def test_many_lines_keep_their_order(data):
    entries = [Entry("f", line, title, year=year) for line, (title, year, *_) in enumerate(FILMS * 20)]
    entries[3::7] = [Entry("f", 1, "Nothing Of The Kind", year=1900)] * len(entries[3::7])
    results = Matcher(data).match(entries)
    assert len(results) == len(entries)
    assert all(match.method is MatchMethod.NOT_FOUND for match in results[3::7])
    assert results[0].films == (0,)
