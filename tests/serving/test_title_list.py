"""Lists of titles to choose from."""

import pytest

from recsys.serving import title_list
from recsys.serving.film_matching import Matcher


@pytest.mark.parametrize(
    ("line", "title", "year"),
    [
        ("Heat (1995)", "Heat", 1995),
        ("Heat, 1995", "Heat", 1995),
        ("  • Heat  ", "Heat", None),
        ("12. Heat (1995)", "Heat", 1995),
        ("1. Alien - 5/5", "Alien", None),
        ("Heat (1995) 8.5/10", "Heat", 1995),
        ("12 Angry Men", "12 Angry Men", None),
        ("1917", "1917", None),
        ("Heat.1995.1080p.BluRay.x264.mkv", "Heat", 1995),
        ("/films/Heat (1995)/Heat (1995).mkv", "Heat", 1995),
        (r"D:\Films\Blade_Runner_2049_2017.mp4", "Blade Runner 2049", 2017),
        ("The.Matrix.720p.avi", "The Matrix", None),
        ("2001.A.Space.Odyssey.1968.mkv", "2001 A Space Odyssey", 1968),
        ("Wonder.Woman.1984.2020.1080p.mkv", "Wonder Woman 1984", 2020),
        ("Heat.1995.1080p.BluRay.2017.mkv", "Heat", 1995),
        ("Матриця (1999)", "Матриця", 1999),
    ],
)
def test_titles_and_years(line, title, year):
    (entry,) = title_list.parse(line)
    assert (entry.title, entry.year) == (title, year)


def test_empty_lines_and_long_texts(sample):
    assert title_list.parse(" \n\n--\n") == []
    assert len(title_list.parse("Heat\n" * 5000)) == title_list.MAX_TITLES


def test_the_films_of_the_built_in_set(sample):
    text = "The Matrix\nAvengers: Endgame (2019)\nБрат\nHeat.1995.1080p.mkv\nHeat (1995)\nNo Such Film At All"
    result = title_list.find_films(Matcher(sample), title_list.parse(text))
    labels = [sample.catalog.films[film].label for film in result.films]
    assert labels == ["The Matrix (1999)", "Avengers: Endgame (2019)", "Brother (Brat) (1997)", "Heat (1995)"]
    assert result.missing == ("No Such Film At All",)


def test_a_year_can_be_a_part_of_the_title(sample):
    text = "Blade Runner 2049\nDeath Race 2000\nNo Such Film 2000"
    result = title_list.find_films(Matcher(sample), title_list.parse(text))
    labels = [sample.catalog.films[film].label for film in result.films]
    assert labels == ["Blade Runner 2049 (2017)", "Death Race 2000 (1975)"]
    assert result.missing == ("No Such Film (2000)",)


def test_a_watchlist_of_letterboxd_and_a_text_file():
    watchlist = b"Date,Name,Year,Letterboxd URI\n2024-01-02,Heat,1995,https://boxd.it/x\n"
    (entry,) = title_list.read_file("watchlist.csv", watchlist)
    assert (entry.title, entry.year) == ("Heat", 1995)
    assert [entry.title for entry in title_list.read_file("films.txt", "Heat\nАлиса".encode())] == ["Heat", "Алиса"]


@pytest.mark.parametrize(
    ("typed", "label"),
    [
        ("the matrx", "The Matrix (1999)"),
        ("matirx", "The Matrix (1999)"),
        ("godfahter", "The Godfather (1972)"),
        ("the jokker", "Joker (2019)"),
        ("forest gump", "Forrest Gump (1994)"),
    ],
)
def test_typing_errors_are_accepted_as_in_the_search_box(sample, typed, label):
    result = title_list.find_films(Matcher(sample), title_list.parse(typed))
    assert [sample.catalog.films[film].label for film in result.films] == [label]
    assert result.missing == ()


@pytest.mark.parametrize("absent", ["Past Lives", "Oppenheimer", "The Matrx (2015)", "Tarantino"])
def test_another_film_is_no_typing_error(sample, absent):
    assert title_list.find_films(Matcher(sample), title_list.parse(absent)).films == ()
