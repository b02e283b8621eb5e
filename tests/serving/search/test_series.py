from dataclasses import replace

import pytest

from recsys.data.dataset import Catalog, Film
from recsys.serving.search.search import TitleIndex
from recsys.serving.search.series import items_of_series, series_names
from tests import toys
from tests.serving.search.test_search import make_index

FILMS = [  # title, year, how often it was watched
    ("Harry Potter and the Sorcerer's Stone", 2001, 360),
    ("Harry Potter and the Chamber of Secrets", 2002, 310),
    ("Harry Potter and the Prisoner of Azkaban", 2004, 307),
    ("The Lord of the Rings", 1978, 53),
    ("The Lord of the Rings: The Fellowship of the Ring", 2001, 747),
    ("The Lord of the Rings: The Two Towers", 2002, 693),
    ("Star Wars: Episode IV - A New Hope", 1977, 900),
    ("Star Wars: Episode V - The Empire Strikes Back", 1980, 756),
    ("Star Wars: Episode I - The Phantom Menace", 1999, 392),
    ("Mission: Impossible", 1996, 460),
    ("Mission: Impossible II", 2000, 239),
    ("Mission: Impossible - Ghost Protocol", 2011, 100),
    ("Batman", 1989, 565),
    ("Batman Returns", 1992, 162),
    ("Batman: Mask of the Phantasm", 1993, 26),
    ("Batman: Gotham Knight", 2008, 5),
    ("Terminator 2: Judgment Day", 1991, 692),
    ("T2: Trainspotting", 2017, 30),
    ("Everything Everywhere All at Once", 2022, 21),
]


@pytest.fixture(scope="module")
def index() -> TitleIndex:
    return make_index(FILMS, [("Harry Potter and the Fan Film", 2000)])


@pytest.mark.parametrize(
    ("query", "year"),
    [
        ("harry potter 3", 2004),  # by year; the one that training left out does not count
        ("harry potter three", 2004),
        ("harry poter 3", 2004),
        ("hp3", 2004),
        ("hp 2", 2002),
        ("hp", 2001),  # the most watched of the series
        ("lotr", 2001),
        ("lotr 2", 2002),  # the film of 1978 does not count either
        ("lotr two towers", 2002),
        ("star wars 1", 1999),  # its own number, not the first by year
        ("sw5", 1980),
        ("mission impossible 3", 2011),
        ("esb", 1980),  # the initials of a subtitle
        ("eeaao", 2022),
        ("t2", 1991),  # a nickname of assets/films/names.json
    ],
)
def test_numbers_initials_and_by_names_find_the_film(index, query, year):
    found = index.search(query)
    assert found[0].year == year
    assert found[0].is_confident


def test_a_series_whose_films_are_called_in_other_ways_too_is_not_counted_by_year():
    batman = [film for film in FILMS if film[0].startswith("Batman")]
    assert not [film.label for film in make_index(batman, []).search("batman 4") if film.is_confident]


def test_a_number_that_the_series_has_not_is_not_sure(index):
    found = index.search("harry potter 9")
    assert found
    assert not any(film.is_confident for film in found)


def test_initials_do_not_stand_in_front_of_words(index):
    assert "The" in index.search("the")[0].title


def test_without_the_list_of_by_names_search_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr("recsys.paths.ASSETS", tmp_path)
    assert make_index(FILMS, []).search("t2")[0].year == 2017


ONE_SERIES = [
    ("Star Wars: Episode IV - A New Hope", "Star Wars: Episode I - The Phantom Menace"),
    ("The Godfather", "The Godfather: Part II"),
    ("Rocky", "Rocky IV"),
    ("Back to the Future", "Back to the Future Part III"),
    ("The Terminator", "Terminator 2: Judgment Day"),
    ("Harry Potter and the Goblet of Fire", "Harry Potter and the Deathly Hallows: Part 2"),
    ("Indiana Jones and the Last Crusade", "Indiana Jones and the Temple of Doom"),
    ("The Dark Knight", "The Dark Knight Rises"),
    ("Mission: Impossible", "Mission: Impossible - Fallout"),
    ("Kill Bill: Vol. 1", "Kill Bill: Vol. 2"),
    ("Alien", "Aliens"),
    ("Alien", "Alien³ (a.k.a. Alien 3)"),
    ("Shrek", "Shrek the Third"),
    ("John Wick", "John Wick: Chapter Two"),
    ("Toy Story", "Toy Story 3"),
]
STRANGERS = [
    ("Up", "Up in the Air"),
    ("Inception", "Interstellar"),
    ("The Matrix", "The Martian"),
    ("12 Angry Men", "12 Years a Slave"),
    ("Apollo 13", "Apollo 18"),
    ("American Beauty", "American Psycho"),
    ("A Beautiful Mind", "The Beautiful Country"),
]


def world(titles, tags=None):
    made = toys.cycle(len(titles))
    movies = made.catalog.movies.assign(title=titles, tags=tags or "")
    return replace(made, catalog=Catalog(movies, made.catalog.infrequent))


@pytest.mark.parametrize("pair", ONE_SERIES)
def test_parts_of_one_series_are_recognised_by_their_titles(pair):
    made = world([*pair, "Casablanca"])
    assert items_of_series(made, 0).tolist() == [0, 1]
    assert items_of_series(made, 1).tolist() == [0, 1]


@pytest.mark.parametrize("pair", STRANGERS)
def test_films_that_only_sound_alike_are_strangers(pair):
    assert items_of_series(world(list(pair)), 0).tolist() == [0]


def test_a_tag_names_a_series_that_titles_do_not():
    made = world(["Goldfinger", "Skyfall", "Rope"], ["007, gold", "espionage, James Bond", "hitchcock"])
    assert items_of_series(made, 0).tolist() == [0, 1]


def test_a_word_with_which_many_titles_begin_is_no_series():
    made = world(["Ghost", *(f"Ghost {name}" for name in ("World", "Town", "Ship", "Dog", "Rider"))])
    assert len(items_of_series(made, 0)) == 6  # five that begin with it might be its parts
    many = world(["Ghost", *(f"Ghost of Street {letter}" for letter in "abcdefghijkl")])
    assert items_of_series(many, 0).tolist() == [0]


@pytest.mark.parametrize("title", ["300", "1917", "II", "Se7en (a.k.a. Seven)", "", "Part 3", "&", "…"])
def test_every_title_has_a_name(title):
    assert series_names(Film(1, title, 2000, ""))
