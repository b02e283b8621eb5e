"""Corrected titles, other names and duplicates of films."""

import json

import pandas as pd
import pytest

from recsys import paths
from recsys.data import film_names
from recsys.data.dataset import Catalog
from recsys.serving.search.search import TitleIndex
from tests.serving.search.test_search import film_table


def catalog(*films, **columns):
    return Catalog(film_table(list(films), 1).assign(**columns), film_table([], 100))


def test_a_provisional_title_is_corrected_and_stays_a_name():
    (film,) = catalog(("Avengers: Infinity War - Part II", 2019)).films
    assert film.label == "Avengers: Endgame (2019)"
    names = film_names.read().by_corrected_title[film.title, film.year]
    assert "Avengers: Infinity War - Part II" in names.other_titles


def test_an_unknown_year_is_added():
    assert catalog(("Moonlight", None)).films[0].label == "Moonlight (2016)"


def test_models_read_the_data_as_it_is():
    films = catalog(("Avengers: Infinity War - Part II", 2019))
    assert films.films[0].title == "Avengers: Endgame"
    assert films.movies["title"].tolist() == ["Avengers: Infinity War - Part II"]


def test_the_table_names_films_of_the_built_in_set_once(sample):
    films = pd.concat([sample.catalog.movies, sample.catalog.infrequent])
    known = set(zip(films["title"], films["year"].astype(object).where(films["year"].notna(), None), strict=True))
    table = film_names.read()
    assert table.by_data_title.keys() <= known
    assert len(table.by_data_title) == len(table.by_corrected_title)


def test_no_other_title_is_only_the_title_again():
    for (title, _year), names in film_names.read().by_corrected_title.items():
        assert title not in names.other_titles
        assert names.title == title
        assert len(set(names.other_titles)) == len(names.other_titles)


@pytest.mark.parametrize(
    "content", [[], {"A (2000)": []}, {"A (2000)": {"also": "B"}}, {"A (2000)": {"name": "B"}}, {"A": {"year": "1"}}]
)
def test_a_table_of_another_structure_is_ignored(tmp_path, monkeypatch, content):
    monkeypatch.setattr(paths, "ASSETS", tmp_path)
    paths.film_names().parent.mkdir()
    paths.film_names().write_text(json.dumps(content), "utf-8")
    assert film_names.read() == film_names.NO_NAMES


def test_duplicates_have_equal_ids_or_one_lacks_them():
    tmdb = pd.array([1, 1, 2, 3, 4, pd.NA, pd.NA, pd.NA], dtype="Int64")
    imdb = ["tt1", "tt2", "tt3", "tt4", "tt5", "tt6", "tt7", "tt8"]
    films = catalog(
        ("Same", 2000),
        ("Same (Original)", 2000),  # the TMDB ids are equal
        ("Different", 2000),
        ("Different", 2000),  # the TMDB ids differ
        ("Deleted", 2000),
        ("Deleted", 2000),  # only one has a TMDB id
        ("Emma", 1996),
        ("Emma", 1996),  # the IMDb ids differ
        imdb_id=imdb,
        tmdb_id=tmdb,
    )
    assert films.duplicates == [(0, 1), (4, 5)]
    assert films.main_film_by_duplicate([5, 9]) == {0: 1, 5: 4}


def test_different_films_of_equal_title_and_year_can_each_be_listed_twice():
    names = [("Same", 2000)] * 5
    tmdb = pd.array([1, 2, 1, 2, 3], dtype="Int64")
    films = catalog(*names, imdb_id=["tt1", "tt2", "tt1", "tt2", "tt3"], tmdb_id=tmdb)
    assert films.main_film_by_duplicate([9, 8, 7, 6, 5]) == {2: 0, 3: 1}


@pytest.fixture(scope="module")
def index(sample):
    return TitleIndex(sample.catalog, sample.counts)


@pytest.mark.parametrize(
    ("query", "label"),
    [
        ("Avengers: Endgame", "Avengers: Endgame (2019)"),
        ("avengers infinity war", "Avengers: Infinity War (2018)"),
        ("Spider-Man Homecoming", "Spider-Man: Homecoming (2017)"),
        ("Empire", "Star Wars: Episode V - The Empire Strikes Back (1980)"),
        ("oldboy", "Oldboy (2003)"),
        ("old boy", "Oldboy (2003)"),
        ("Брат", "Brother (Brat) (1997)"),
        ("Утомлённые солнцем", "Burnt by the Sun (Utomlyonnye solntsem) (1994)"),
        ("Назад у майбутнє", "Back to the Future (1985)"),
        ("володар перснів", "The Lord of the Rings: The Fellowship of the Ring (2001)"),
        ("Паразиты", "Parasite (2019)"),
        ("the mitchells vs the machines", "The Mitchells vs. the Machines (2021)"),
        ("lagaan", "Lagaan: Once Upon a Time in India (2001)"),
    ],
)
def test_films_of_the_built_in_set_are_found_by_their_names(index, query, label):
    results = [film for film in index.search(query) if film.is_confident]
    assert results[0].label == label
    assert len({(film.title, film.year) for film in results}) == len(results)


def test_films_without_a_year_are_no_duplicates():
    assert catalog(("Same", None), ("Same", None)).duplicates == []


def test_the_built_in_set_lists_nine_films_twice(sample):
    assert len(sample.catalog.duplicates) == 9
    labels = {sample.catalog.films[main].title for main in sample.main_film_by_duplicate.values()}
    assert "Lagaan: Once Upon a Time in India" in labels
    assert "Aladdin" not in labels  # a second film of 1992 has this title
