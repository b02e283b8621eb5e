"""Cyrillic titles in Latin letters, and searches in both scripts."""

import unicodedata

import pytest

from recsys.serving.search.romanize import romanizations
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


def test_a_title_comes_before_an_alias():
    films = [("Star Wars: Episode IV - A New Hope", 1977, 9), ("Star Wars", 1977, 5)]
    assert [film.title for film in make_index(films, []).matches("Star Wars (1977)")] == [
        "Star Wars",
        "Star Wars: Episode IV - A New Hope",
    ]


def test_an_exact_title_in_another_script_is_exact(index):
    assert index.exact("Брат").title == "Brother (Brat)"


@pytest.mark.parametrize("text", ["Йорк", "Їжак", "Назад у майбутнє"])
def test_letters_of_two_characters_are_written_as_one(text):
    assert romanizations(unicodedata.normalize("NFD", text)) == romanizations(text)
