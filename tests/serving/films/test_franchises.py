from dataclasses import replace

import pytest

from recsys.data.dataset import Catalog, Film
from recsys.serving.films.franchises import names, same_series
from tests import toys

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
    assert same_series(made, 0).tolist() == [0, 1]
    assert same_series(made, 1).tolist() == [0, 1]


@pytest.mark.parametrize("pair", STRANGERS)
def test_films_that_only_sound_alike_are_strangers(pair):
    assert same_series(world(list(pair)), 0).tolist() == [0]


def test_a_tag_names_a_series_that_titles_do_not():
    made = world(["Goldfinger", "Skyfall", "Rope"], ["007, gold", "espionage, James Bond", "hitchcock"])
    assert same_series(made, 0).tolist() == [0, 1]


def test_a_word_with_which_many_titles_begin_is_no_series():
    made = world(["Ghost", *(f"Ghost {name}" for name in ("World", "Town", "Ship", "Dog", "Rider"))])
    assert len(same_series(made, 0)) == 6  # five that begin with it might be its parts
    many = world(["Ghost", *(f"Ghost of Street {letter}" for letter in "abcdefghijkl")])
    assert same_series(many, 0).tolist() == [0]


@pytest.mark.parametrize("title", ["300", "1917", "II", "Se7en (a.k.a. Seven)", "", "Part 3", "&", "…"])
def test_every_title_has_a_name(title):
    assert names(Film(1, title, 2000, ""))
