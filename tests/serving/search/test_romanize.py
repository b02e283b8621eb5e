"""Cyrillic titles in Latin letters, and searches in both scripts."""

import unicodedata

import pytest

from recsys.serving.search.normalize import romanizations
from tests.serving.search.test_search import make_index


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("Брат", ["brat"]),
        ("Тіні забутих предків", ["tini zabutykh predkiv"]),
        ("Ночной дозор", ["nochnoi dozor", "nochnoy dozor"]),  # of both languages, if no letter shows which
        ("Утомлённые солнцем", ["utomlyonnyye solntsem"]),
        ("Возвращение", ["vozvrashchenye", "vozvrashcheniye"]),
        ("Їжак", ["yizhak"]),
        ("Згурівка", ["zghurivka"]),  # "zh" is ж
        ("Brat", []),
        ("Amélie", []),
        ("千と千尋", []),
    ],
)
def test_letters(text, forms):
    assert romanizations(text) == forms


@pytest.fixture(scope="module")
def index():
    films = [("Brother (Brat)", 1997, 5), ("Stalker", 1979, 31), ("Ночной дозор", 2004, 30), ("The Matrix", 1999, 9)]
    return make_index(films, [])


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("Брат", "Brother (Brat)"),
        ("сталк", "Stalker"),
        ("Сталкер 1979", "Stalker"),
        ("nochnoy dozor", "Ночной дозор"),
        ("Матриця", "The Matrix"),
        ("Matrytsia", "The Matrix"),
        ("Матрица", "The Matrix"),  # a letter differs from the Ukrainian title
    ],
)
def test_titles_are_found_in_both_scripts(index, query, title):
    assert index.search(query)[0].title == title


@pytest.mark.parametrize(
    ("query", "is_confident"),
    [
        ("бокс", False),  # the beginning of "Boksuneun"
        ("пила", False),  # a part of "José and Pilar"
        ("зірка", False),  # almost the beginning of "Zerkalo"
        ("брат", True),  # a whole title
        ("сталке", True),
        ("ганди", True),  # almost a whole title
        ("солярис", True),
        ("солярисс", True),
        ("брат 1997", True),
    ],
)
def test_a_short_part_of_a_name_in_latin_letters_is_no_confident_match(query, is_confident):
    titles = [
        "Sympathy (Boksuneun naui geot)",
        "José and Pilar",
        "Zerkalo",
        "Brother (Brat)",
        "Stalker",
        "Solyaris",
        "Gandhi",
    ]
    index = make_index([(title, 1997, 9) for title in titles], [])
    assert [film.is_confident for film in index.search(query)] == [is_confident]


def test_a_title_comes_before_an_alias():
    films = [("Star Wars: Episode IV - A New Hope", 1977, 9), ("Star Wars", 1977, 5)]
    assert [film.title for film in make_index(films, []).find_all_exact("Star Wars (1977)")] == [
        "Star Wars",
        "Star Wars: Episode IV - A New Hope",
    ]


def test_an_exact_title_in_another_script_is_exact(index):
    assert index.find_exact("Брат").title == "Brother (Brat)"


@pytest.mark.parametrize("text", ["Йорк", "Їжак", "Назад у майбутнє"])
def test_letters_of_two_characters_are_written_as_one(text):
    assert romanizations(unicodedata.normalize("NFD", text)) == romanizations(text)
