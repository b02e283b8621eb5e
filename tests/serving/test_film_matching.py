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


def labels(data, found):
    return [data.catalog.films[film].label for film in found.films]


def test_numbers_go_before_titles(data, match):
    assert match("Whatever", 2020, imdb_id="tt0113277") == match("Whatever", tmdb_id=949) == match(movie_id=101)
    assert match("Whatever", imdb_id="tt0113277").method is MatchMethod.ID
    assert labels(data, match(imdb_id="tt0000042")) == ["Rare Bird (1999)"]


def test_numbers_of_two_films_are_a_question(data, match):
    found = match("Heat", 1995, imdb_id="tt0113277", tmdb_id=862)
    assert (found.method, set(labels(data, found))) == (MatchMethod.UNSURE, {"Heat (1995)", "Toy Story (1995)"})


def test_a_number_of_movielens_counts_only_if_the_title_agrees(data, match):
    assert match("Toy Story", 1995, movie_id=100).method is MatchMethod.ID
    assert labels(data, match("Heat", 1995, movie_id=100)) == ["Heat (1995)"]
    others = Matcher(replace(data, name="ml-100k"))  # numbers its films otherwise
    assert others.match([Entry("f", 1, movie_id=100)])[0].method is MatchMethod.NOT_FOUND


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
    found = match(title, year)
    assert (found.method, labels(data, found)) == (MatchMethod.TITLE_YEAR, [label])


def test_the_original_title_counts_too(data, match):
    found = match("Spirited Away", 2001, original="千と千尋の神隠し")
    assert (found.method, labels(data, found)) == (MatchMethod.TITLE_YEAR, ["千と千尋の神隠し (2001)"])


def test_a_year_off_by_one_is_taken_where_one_film_alone_fits(data, match):
    assert match("Toy Story", 1996).method is MatchMethod.NEXT_YEAR
    twins = match("Twins", 2004)
    assert (twins.method, len(twins.films)) == (MatchMethod.UNSURE, 2)
    assert match("Heat", 1996) == match("Heat", 1994)


def test_a_year_off_by_more_is_a_question_and_by_many_another_film(data, match):
    asked = match("Solaris", 1975)
    assert (asked.method, labels(data, asked), asked.is_likely) == (MatchMethod.UNSURE, ["Solaris (1972)"], False)
    assert match("Solaris", 2019).method is MatchMethod.NOT_FOUND


def test_two_films_of_one_title_and_year_are_a_question(data, match):
    asked = match("Emma", 1996)
    assert (asked.method, len(asked.films), asked.is_likely) == (MatchMethod.UNSURE, 2, False)
    assert match("Emma", 1996, imdb_id="tt0118308").films == (4,)


def test_the_only_namesake_is_not_taken_where_imdb_knows_another(data, match):
    assert match("Toy Story", 1995, imdb_id="tt7777777").method is MatchMethod.UNSURE
    assert match("Toy Story", imdb_id="tt7777777").method is MatchMethod.UNSURE
    assert (
        match("Solaris", 1972, imdb_id="tt7777777").method is MatchMethod.TITLE_YEAR
    )  # the set knows no number of this one


def test_without_a_year_a_title_is_sure_only_where_it_is_the_only_one(data, match):
    assert match("Toy Story").method is MatchMethod.TITLE
    assert match("Heat").method is MatchMethod.UNSURE
    assert match("The Hours").method is MatchMethod.TITLE  # with the very article
    assert labels(data, match("Solaris", watched=datetime(1999, 1, 1))) == ["Solaris (1972)"]  # not made in 2002 yet


def test_what_looks_alike_is_offered_never_taken(data, match):
    asked = match("Toy Stroy", 1995)
    assert (asked.method, labels(data, asked)[0]) == (MatchMethod.UNSURE, "Toy Story (1995)")
    asked = match("The City of Lost", 1995)
    assert (asked.method, labels(data, asked), asked.is_likely) == (MatchMethod.UNSURE, [FILMS[5][0] + " (1995)"], True)
    assert match("Toy Stroy", 2015).method is MatchMethod.NOT_FOUND


@pytest.mark.parametrize(
    ("title", "year", "label"),
    [("Star Wars", 1977, FILMS[7][0] + " (1977)"), ("Сім", 1995, "Seven (a.k.a. Se7en) (1995)")],
)
def test_other_names_of_the_table_match_as_titles(data, match, title, year, label):
    found = match(title, year)
    assert (found.method, labels(data, found)) == (MatchMethod.TITLE_YEAR, [label])


def test_without_a_year_a_film_watched_after_the_end_of_the_data_is_a_question(data):
    last = datetime(2023, 7, 20)
    events = replace(data.interactions, timestamp=np.full(len(data.interactions), int(last.timestamp())))
    matcher = Matcher(replace(data, interactions=events))

    def match(title, year, date):
        return matcher.match([Entry("f", 1, title, year=year, watched=date)])[0]

    asked = match("Solari s", None, datetime(2024, 1, 1))
    assert (asked.method, asked.is_likely) == (MatchMethod.UNSURE, False)  # perhaps another film
    assert match("Toy Story", None, datetime(2023, 1, 1)).method is MatchMethod.TITLE
    asked = match("Toy Story", None, datetime(2024, 1, 1))
    assert (asked.method, asked.is_likely) == (MatchMethod.UNSURE, True)  # many people know it
    assert match("Toy Story", 1995, datetime(2024, 1, 1)).method is MatchMethod.TITLE_YEAR


def test_of_a_film_that_is_listed_twice_the_more_rated_one_is_taken(data):
    movies = data.catalog.movies
    again = movies.iloc[[2]].assign(movie_id=901, imdb_id="")  # Heat (1986)
    twice = replace(data, catalog=Catalog(movies, again))
    assert twice.main_film_by_duplicate == {len(movies): 2}
    found = Matcher(twice).match([Entry("f", 1, "Heat", year=1986)])[0]
    assert found.films == (2,)


def test_a_title_of_92_percent_similarity_needs_no_year(data):
    """One wrong letter of 13 is a similarity of 92 %, which is also the similarity of films that begin with a title."""
    movies = data.catalog.movies.assign(title=["Groundhog Day", *data.catalog.movies["title"][1:]])
    matcher = Matcher(replace(data, catalog=replace(data.catalog, movies=movies)))
    typing_error, beginning = matcher.match([Entry("f", 1, "Groundhog Dsy"), Entry("f", 2, "Groundhog")])
    assert (typing_error.method, typing_error.films) == (MatchMethod.UNSURE, (0,))
    assert beginning.method is MatchMethod.NOT_FOUND


def test_two_unknown_years_are_not_the_same_year(data):
    movies = data.catalog.movies.assign(year=pd.array([pd.NA] * len(FILMS), "Int64"))
    matcher = Matcher(replace(data, catalog=replace(data.catalog, movies=movies)))
    (asked,) = matcher.match([Entry("f", 1, "Star Wars: Episode IV - A New Hobe")])
    assert (asked.method, asked.films, asked.is_likely) == (MatchMethod.UNSURE, (7,), False)


def test_no_more_films_are_offered_than_one_can_look_through(match):
    asked = match("Nightmare on Elm Street X", 1990)
    assert (len(asked.films), asked.is_likely) == (MAX_CANDIDATES, False)


def test_episodes_are_series_unless_a_film_is_called_so(data, match):
    assert match("Dark: Alpha: Omega", perhaps_series=True).method is MatchMethod.SERIES
    assert match("Star Wars: Episode IV: A New Hope", perhaps_series=True).method is MatchMethod.TITLE


def test_nothing_is_like_nothing(match):
    assert match("!!!", 1995).method is MatchMethod.NOT_FOUND
    assert match("", None, movie_id=10**9).method is MatchMethod.NOT_FOUND
    assert match("x" * 300, 1995).method is MatchMethod.NOT_FOUND


def test_many_lines_keep_their_order(data):
    entries = [Entry("f", line, title, year=year) for line, (title, year, *_) in enumerate(FILMS * 20)]
    entries[3::7] = [Entry("f", 1, "Nothing Of The Kind", year=1900)] * len(entries[3::7])
    found = Matcher(data).match(entries)
    assert len(found) == len(entries)
    assert all(match.method is MatchMethod.NOT_FOUND for match in found[3::7])
    assert found[0].films == (0,)
