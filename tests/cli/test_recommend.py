import json
from dataclasses import replace

import pytest

from recsys.cli.main import main
from recsys.data import prepared
from tests import toys


@pytest.fixture(autouse=True)
def five_films(home):
    """A data folder with one set of five films, of which film 2 is watched most, then 1, then 3."""
    prepared.save(toys.dataset([[2, 2, 2, 1, 1, 3, 0, 4]] * 3, 5), {})


def recommend(*arguments, dataset="toy", model="popular"):
    return main(["recommend", "--dataset", dataset, "--model", model, *arguments])


def test_a_table_shows_rank_film_genres_and_score(capsys):
    assert recommend("Film 2 (1992)", "film 0", "-k", "2") == 0
    heading, first, second = capsys.readouterr().out.splitlines()
    assert heading.split() == ["film", "genres", "score"]
    assert first.split()[:5] == ["1", "Film", "1", "(1991)", "Horror"]
    assert second.split()[:5] == ["2", "Film", "3", "(1993)", "Horror"]
    assert len(heading) == len(first) == len(second)


def test_json_holds_the_fields_of_every_film_and_nothing_else(capsys):
    assert recommend("Film 2", "-k", "1", "--json") == 0
    (film,) = json.loads(capsys.readouterr().out)
    assert list(film) == ["rank", "movie_id", "title", "year", "genres", "score", "probability"]
    assert (film["rank"], film["movie_id"], film["title"], film["year"]) == (1, 101, "Film 1", 1991)
    assert film["probability"] is None


def test_seen_films_come_back_when_they_need_not_be_hidden(capsys):
    assert recommend("Film 2", "-k", "1", "--json", "--keep-seen") == 0
    assert json.loads(capsys.readouterr().out)[0]["title"] == "Film 2"


def test_without_titles_the_answer_is_what_a_newcomer_gets_and_that_is_said(capsys):
    assert recommend("-k", "1", "--json") == 0
    output = capsys.readouterr()
    assert json.loads(output.out)[0]["title"] == "Film 2"
    assert "no films given" in output.err


def test_all_films_seen_is_said_in_words(capsys):
    assert recommend(*(f"Film {n}" for n in range(5))) == 0
    assert capsys.readouterr().out == "no film is left to recommend\n"


@pytest.mark.parametrize(
    ("dataset", "model", "arguments", "sentence"),
    [
        ("toy", "popular", ["Film 99"], "no film is called “Film 99”; did you mean "),
        ("toy", "no-such-model", [], "no recommender is called no-such-model; choose one of: "),
        ("ml-1m", "popular", [], "-m recsys data get ml-1m"),
        ("no-such-set", "popular", [], "no-such-set"),
        ("toy", "popular", ["-k", "0"], "--k is 0, but must be at least 1"),
    ],
)
def test_what_cannot_be_answered_is_one_line_on_stderr(capsys, dataset, model, arguments, sentence):
    assert recommend(*arguments, dataset=dataset, model=model) == 1
    output = capsys.readouterr()
    assert sentence in output.err.splitlines()[-1]
    assert output.out == ""


def test_data_of_items_are_called_items(capsys):
    prepared.save(replace(toys.dataset([[2, 1, 3]] * 3, 5), noun="item"), {})
    assert recommend("-k", "1") == 0
    output = capsys.readouterr()
    assert output.out.split()[0] == "item"
    assert "no items given" in output.err
    assert recommend(*(f"Film {n}" for n in range(5))) == 0
    assert capsys.readouterr().out == "no item is left to recommend\n"


def test_lists_that_cannot_be_written_are_an_error_in_one_line(capsys):
    assert recommend("--all", "--out", "/proc/lists/all.csv") == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert error == "cannot write /proc/lists/all.csv: No such file or directory; choose another file for --out"


def test_a_person_of_the_data_set_is_asked_for_by_id(capsys):
    prepared.save(toys.dataset([[2, 1], [2, 3], [3, 2], [2, 2, 2]], 5), {})
    assert recommend("--user", "1", "-k", "1", "--json") == 0
    output = capsys.readouterr()
    assert json.loads(output.out)[0]["title"] == "Film 3"  # the most popular of those that person 1 did not see
    assert output.err == ""
    assert recommend("--user", "9") == 1
    assert "has no person 9; its 4 IDs range from 1 to 4" in capsys.readouterr().err


def test_the_lists_of_everybody_go_into_a_file(capsys, tmp_path):
    path = tmp_path / "lists.csv"
    assert recommend("--all", "--out", str(path), "-k", "2", "--keep-seen") == 0
    assert capsys.readouterr().out == f"{path}: 2 recommendations for each of 3 users\n"
    header, *rows = path.read_text().splitlines()
    assert header == "user_id,rank,movie_id,title,year,score,probability"
    assert [row.split(",")[:3] for row in rows[:3]] == [["1", "1", "102"], ["1", "2", "101"], ["2", "1", "102"]]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["Film 2", "--user", "1"], "exclude each other"),
        (["--user", "1", "--all", "--out", "x.csv"], "exclude each other"),
        (["--all"], "use both: --all --out lists.csv"),
        (["Film 2", "--out", "x.csv"], "use both: --all --out lists.csv"),
        (["--all", "--out", "x.txt", "--model", "nobody"], "x.txt: the file name must end in .csv or .parquet"),
    ],
)
def test_whose_films_and_where_to_must_be_clear(capsys, arguments, sentence):
    assert recommend(*arguments) == 1
    assert sentence in capsys.readouterr().err


def test_a_history_is_read_from_files_and_what_was_not_taken_is_said(capsys, tmp_path):
    lines = "Title,Year,Date\nFilm 1,1991,2024-01-02\nFilm 2,1992,2024-01-01\nNowhere,1950,\n"
    (tmp_path / "list.csv").write_text(lines)
    assert recommend("--history", str(tmp_path / "list.csv"), "-k", "5", "--json") == 0
    answer = capsys.readouterr()
    assert {film["title"] for film in json.loads(answer.out)} == {"Film 0", "Film 3", "Film 4"}
    assert "2 films of the history are in toy" in answer.err
    assert "1 left out, not in this data set: Nowhere (1950)" in answer.err


def test_a_history_that_cannot_be_read_is_one_line(capsys, tmp_path):
    assert recommend("--history", str(tmp_path / "nowhere.csv")) == 1
    assert "check the path" in capsys.readouterr().err
    (tmp_path / "empty.csv").write_bytes(b"")
    assert recommend("--history", str(tmp_path / "empty.csv")) == 1
    assert "is empty" in capsys.readouterr().err
    assert recommend("Film 1", "--history", str(tmp_path / "empty.csv")) == 1
    assert "exclude each other" in capsys.readouterr().err


def test_titles_are_favourites_unless_they_are_in_order(monkeypatch):
    adapted = []
    monkeypatch.setattr("recsys.serving.predictor.for_unordered_list", lambda each: adapted.append(each) or each)
    assert recommend("Film 2", "--in-order", "-k", "1") == 0
    assert not adapted
    assert recommend("Film 2", "-k", "1") == 0
    assert len(adapted) == 1
