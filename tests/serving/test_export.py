import csv
import io
import json
import re
import time

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys.data.dataset import Catalog, Film
from recsys.serving import export
from recsys.serving.export import film_links
from recsys.serving.recommend import Recommendation
from tests import toys


@pytest.fixture
def catalog():
    movies = toys.catalog(4).movies
    movies["title"] = ["Amélie 八月", '=HYPERLINK("http://x")', 'He said, "no"\nand left', "-30-"]
    movies["year"] = pd.array([2001, None, 1999, 1959], dtype="Int64")
    movies.loc[0, ["imdb_id", "tmdb_id"]] = ["tt0211915", 194]
    return Catalog(movies, movies.iloc[:0])


def pick(rank, item, probability):
    return Recommendation(rank, item, Film(100 + item, f"Film {item}", 1990, "Comedy"), 0.5, probability)


def read(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_films_that_training_left_out_are_in_the_files_too(catalog):
    left_out = toys.catalog(1).movies.assign(title="Rare Bird", movie_id=77)
    rows = read(export.films_csv(Catalog(catalog.movies, left_out), [4, 0]))
    assert [(row["title"], row["movie_id"]) for row in rows] == [("Rare Bird", "77"), ("Amélie 八月", "100")]
    assert export.films_csv(catalog, []).count("\n") == 1


def test_a_sequence_keeps_its_order_and_what_is_known_of_each_film(catalog):
    first, second = read(export.films_csv(catalog, [2, 0]))
    assert (first["position"], first["title"], first["imdb_id"], first["tmdb_id"]) == (
        "1",
        'He said, "no"\nand left',
        "",
        "",
    )
    assert (second["position"], second["title"], second["year"]) == ("2", "Amélie 八月", "2001")
    assert (second["movie_id"], second["imdb_id"], second["tmdb_id"]) == ("100", "tt0211915", "194")


def test_no_cell_is_a_formula(catalog):
    texts = [export.films_csv(catalog, [1, 3]), export.letterboxd_csv(catalog, [1, 3])]
    for text in [*texts, export.recommendations_csv(catalog, [pick(1, 1, None), pick(2, 3, None)])]:
        titles = [row.get("title") or row.get("Title") for row in read(text)]
        assert titles == ['\'=HYPERLINK("http://x")', "'-30-"]


def test_predictions_have_rank_and_probability_or_none(catalog):
    rows = read(export.recommendations_csv(catalog, [pick(1, 0, 0.25), pick(2, 2, None)]))
    assert [(row["rank"], row["probability"], row["year"]) for row in rows] == [
        ("1", "0.25", "2001"),
        ("2", "", "1999"),
    ]


def test_letterboxd_finds_its_own_columns(catalog):
    text = export.letterboxd_csv(catalog, [0, 1])
    assert text.splitlines()[0] == "tmdbID,imdbID,Title,Year"
    assert text.splitlines()[1] == "194,tt0211915,Amélie 八月,2001"


def test_json_holds_both_and_where_they_come_from(catalog):
    told = json.loads(export.lists_json("toy", "BERT4Rec", catalog, [1, 0], [pick(1, 2, 0.5)]))
    assert (told["dataset"], told["recommender"]) == ("toy", "BERT4Rec")
    assert [film["movie_id"] for film in told["watched"]] == [101, 100]
    assert told["watched"][0] | {"title": ""} == {
        "title": "", "year": None, "genres": "Horror", "movie_id": 101, "imdb_id": None, "tmdb_id": None
    }  # fmt: skip
    assert told["next"][0]["probability"] == 0.5
    assert told["next"][0]["genres"] == "Comedy"


def test_an_empty_sequence_is_a_header_alone(catalog):
    assert read(export.films_csv(catalog, [])) == []
    assert export.letterboxd_csv(catalog, []) == "tmdbID,imdbID,Title,Year\r\n"


def test_excel_reads_the_file_as_utf_8():
    assert export.spreadsheet_bytes("é") == b"\xef\xbb\xbf\xc3\xa9"


def test_a_record_is_flat():
    names = ["rank", "movie_id", "title", "year", "genres", "score", "probability"]
    values = [3, 102, "Film 2", 1990, "Comedy", 0.5, None]
    assert list(export.as_record(pick(3, 2, None)).items()) == list(zip(names, values, strict=True))


BEFORE = ["", "\ufeff", "\0", "\x1b", "\x85", "\u200b", "\u2060", "\u202e", "\xad", " ", "\u3000", "\0\ufeff \u200b"]
FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\r\n=1", "\0=1", "＝1", "＋1", "－1", "＠1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_text_that_a_spreadsheet_may_run_begins_with_an_apostrophe(text):
    assert export.escape_formula(text).startswith("'")


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("sign", "=+-@|%＝＋－＠｜％﹦﹢﹣﹫−")
def test_nothing_that_a_program_may_drop_hides_the_beginning_of_a_formula(before, sign):
    assert export.escape_formula(f"{before}{sign}1") == f"'{before}{sign}1".replace("\0", "\n")


@given(st.text() | st.text("=+-@|%\t\r\n\0;\ufeff a1"))
def test_whatever_defusedcsv_makes_text_is_text_here(text):
    """Its rule, as version 3.0.0 has it; it leaves numbers alone, which here are text too."""
    escaped = text[:1] in tuple("@+-=|%") and not re.match(r"^-?[0-9,\.]+$", text)
    safe = export.escape_formula(text)
    assert safe.startswith("'") or not escaped
    assert not safe.startswith(("\t", "\r", "\n", "\0"))
    assert "\0" not in safe


def test_no_text_takes_long_to_be_made_harmless():
    began = time.process_time()
    for sign in ("\t", " ", ";", "; ", ";\t", "\ufeff"):
        export.escape_formula(";" + sign * 200_000 + "x")
    assert time.process_time() - began < 5  # hundredths


@pytest.mark.parametrize("text", ["a;=1+1", "a;;@x", "a;\u200b=1", "a\t+1", "a\r=1", "a\r\n=1"])
def test_no_separator_starts_a_cell_with_a_formula(text):
    for separator in "\t;\r":
        assert not any(cell[:1] in "=+-@" for cell in export.escape_formula(text).split(separator) if cell)


@pytest.mark.parametrize(
    "value", ["Heat", "8½", "Dr. Strangelove - or", "a=b", "100%", " Heat", "\ufeffHeat", "one\ntwo", "", 3, -2.5, None]
)
def test_other_values_stay_as_they_are(value):
    assert export.escape_formula(value) == value


def test_in_a_table_cells_headings_and_index_are_harmless_and_numbers_stay_numbers():
    table = pd.DataFrame(
        {"=title": ["+1", None], "year": pd.array([-1, None], dtype="Int64"), 7: [-0.5, 2.0]},
        index=pd.Index(["@a", "b"], name="-user"),
    )
    safe = export.escape_table(table)
    assert safe.to_csv() == "'-user,'=title,year,7\n'@a,'+1,-1,-0.5\nb,,,2.0\n"
    assert table.to_csv().startswith("-user,=title")  # the table itself stays
    assert export.escape_table(pd.DataFrame(["a\r=1"], columns=["\r=x"])).to_csv(index=False) == '"\'\n=x"\n"a\n=1"\n'


def test_tables_with_equal_names_several_levels_or_nothing_are_harmless_too():
    twice = export.escape_table(pd.DataFrame([["=1", "=2"]], columns=["=a", "=a"]))
    assert twice.to_csv(index=False) == "'=a,'=a\n'=1,'=2\n"
    levels = pd.MultiIndex.from_tuples([("=a", "b"), ("c", "@d")], names=["-x", None])
    assert not [name for name in export.escape_table(pd.DataFrame([[1, 2]], columns=levels)).columns if name[0] == "=a"]
    grouped = pd.DataFrame({"genre": pd.Categorical(["=a", "b", "=a"])})
    assert export.escape_table(grouped)["genre"].tolist() == ["'=a", "b", "'=a"]
    assert export.escape_table(pd.DataFrame()).empty


@pytest.mark.parametrize(
    ("imdb", "tmdb", "links"),
    [
        (
            "tt0114709",
            862,
            {"IMDb": "https://www.imdb.com/title/tt0114709/", "TMDB": "https://www.themoviedb.org/movie/862"},
        ),
        ("", None, {}),
        ('tt1"><script>', -3, {}),
        ("tt0114709", None, {"IMDb": "https://www.imdb.com/title/tt0114709/"}),
    ],
)
def test_a_film_is_linked_where_its_ids_are_known_and_look_like_ids(imdb, tmdb, links):
    movies = toys.catalog(1).movies.assign(imdb_id=imdb, tmdb_id=pd.array([tmdb], dtype="Int64"))
    assert film_links(Catalog(movies, movies.iloc[:0]), 0) == links
