import csv
import io
import json

import pandas as pd
import pytest

from recsys.data.schema import Catalog
from recsys.serving import export
from recsys.serving.recommend import Recommendation
from tests import toys


@pytest.fixture
def catalog():
    movies = toys.catalog(4).movies
    movies["title"] = ["Amélie 八月", '=HYPERLINK("http://x")', 'He said, "no"\nand left', "-30-"]
    movies["year"] = pd.array([2001, None, 1999, 1959], dtype="Int64")
    movies.loc[0, ["imdb_id", "tmdb_id"]] = ["tt0211915", 194]
    return Catalog(movies, movies.iloc[:0])


def pick(rank, movie_id, probability):
    return Recommendation(rank, movie_id, "as the model calls it", 1990, "Comedy", 0.5, probability)


def read(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_a_sequence_keeps_its_order_and_what_is_known_of_each_film(catalog):
    first, second = read(export.films_csv(catalog, [2, 0]))
    assert (first["place"], first["title"], first["imdb_id"], first["tmdb_id"]) == (
        "1",
        'He said, "no"\nand left',
        "",
        "",
    )
    assert (second["place"], second["title"], second["year"]) == ("2", "Amélie 八月", "2001")
    assert (second["movie_id"], second["imdb_id"], second["tmdb_id"]) == ("100", "tt0211915", "194")


def test_no_cell_is_a_formula(catalog):
    texts = [export.films_csv(catalog, [1, 3]), export.letterboxd(catalog, [1, 3])]
    for text in [*texts, export.predictions_csv(catalog, [pick(1, 101, None), pick(2, 103, None)])]:
        titles = [row.get("title") or row.get("Title") for row in read(text)]
        assert titles == ['\'=HYPERLINK("http://x")', "'-30-"]


def test_predictions_have_rank_and_probability_or_none(catalog):
    rows = read(export.predictions_csv(catalog, [pick(1, 100, 0.25), pick(2, 102, None)]))
    assert [(row["rank"], row["probability"], row["year"]) for row in rows] == [
        ("1", "0.25", "2001"),
        ("2", "", "1999"),
    ]


def test_letterboxd_finds_its_own_columns(catalog):
    text = export.letterboxd(catalog, [0, 1])
    assert text.splitlines()[0] == "tmdbID,imdbID,Title,Year"
    assert text.splitlines()[1] == "194,tt0211915,Amélie 八月,2001"


def test_json_holds_both_and_where_they_come_from(catalog):
    told = json.loads(export.as_json("toy", "BERT4Rec", catalog, [1, 0], [pick(1, 102, 0.5)]))
    assert (told["dataset"], told["recommender"]) == ("toy", "BERT4Rec")
    assert [film["movie_id"] for film in told["watched"]] == [101, 100]
    assert told["watched"][0] | {"title": ""} == {
        "title": "", "year": None, "genres": "Horror", "movie_id": 101, "imdb_id": None, "tmdb_id": None
    }  # fmt: skip
    assert told["next"][0]["probability"] == 0.5
    assert told["next"][0]["genres"] == "Comedy"


def test_an_empty_sequence_is_a_header_alone(catalog):
    assert read(export.films_csv(catalog, [])) == []
    assert export.letterboxd(catalog, []) == "tmdbID,imdbID,Title,Year\r\n"


def test_excel_is_told_that_the_file_is_utf_8():
    assert export.for_spreadsheet("é") == b"\xef\xbb\xbf\xc3\xa9"
