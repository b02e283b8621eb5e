"""Misspelt titles are found, and the names of people are not taken for misspelt titles, on the set that is shipped."""

from dataclasses import replace

import pytest

from recsys.data.film_details import Details
from recsys.data.tags import Tags
from recsys.serving.search.search import TitleIndex

PEOPLE = ("tarantino", "spielberg", "fincher", "lynch", "bergman", "hanks", "antonioni")
TYPOS = {
    "pulp ficton": "Pulp Fiction",
    "godfahter": "The Godfather",
    "shawshenk": "The Shawshank Redemption",
    "schindlers list": "Schindler's List",
    "matirx": "The Matrix",
    "psyco": "Psycho",
    "tarnatoin": "Tarnation",
    "trainspoting": "Trainspotting",
    "pan labirynth": "Pan's Labyrinth (Laberinto del fauno, El)",
}


@pytest.fixture(scope="module")
def index(sample) -> TitleIndex:
    return TitleIndex(sample.catalog, sample.counts)


@pytest.fixture(scope="module")
def without_tags(sample) -> TitleIndex:
    return TitleIndex(replace(sample.catalog, tags=Tags()), sample.counts)


@pytest.mark.parametrize("name", PEOPLE)
def test_the_name_of_a_person_is_no_misspelt_title(index, name):
    assert index.search(name) == []


def test_two_wrong_letters_of_nine_are_too_many_without_tags_as_well(without_tags):
    assert without_tags.search("tarantino") == without_tags.search("spielberg") == []


@pytest.mark.parametrize("typed", TYPOS)
def test_a_misspelt_title_is_found_with_and_without_tags(index, without_tags, typed):
    first, other = index.search(typed)[0], without_tags.search(typed)[0]
    assert first.title == other.title == TYPOS[typed]
    assert first.is_confident


def test_a_director_who_is_known_leads_to_the_films_and_to_no_guess(sample):
    film = next(film for film in sample.catalog.films if film.title == "Pulp Fiction")
    details = Details.from_facts({film.movie_id: {"directors": ["Quentin Tarantino"]}})
    found = TitleIndex(replace(sample.catalog, tags=Tags(), details=details), sample.counts).search("tarantino")
    assert [(one.title, one.matched_person) for one in found] == [("Pulp Fiction", "Quentin Tarantino")]
