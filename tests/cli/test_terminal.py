import io
import json
import sys
import warnings
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tqdm import tqdm

from recsys.cli.main import main
from recsys.cli.terminal import escape_controls, safe_output
from recsys.data import prepared
from recsys.data.dataset import Catalog
from tests import toys

STEERING = "\x1b[2J\x1b]0;owned\x07 \u202eetad \x9b31m\ufeff\rFilm"


@pytest.fixture
def hostile(home):
    """A set all of whose films have a title that steers a terminal."""
    dataset = toys.dataset([[0, 1, 2]] * 3, 3)
    movies = dataset.catalog.movies.assign(title=[f"{STEERING} {n}" for n in range(3)])
    prepared.save(replace(dataset, catalog=Catalog(movies, movies.iloc[:0])), {})


def steers(text):
    """Signs that a terminal obeys, but for the ends of lines and tabs."""
    return [sign for sign in text if (not sign.isprintable() and sign not in "\n\t \xa0") or sign == "\u202e"]


@pytest.mark.parametrize("more", [[], ["--json"], ["Film 1"], [f"{STEERING} 1"], ["Alien"]])
def test_no_title_reaches_the_terminal_as_it_is(hostile, capsys, more):
    main(["recommend", "--dataset", "toy", "--model", "popular", *more])
    output = capsys.readouterr()
    assert output.out + output.err
    assert steers(output.out + output.err) == []


def test_json_keeps_what_it_says(hostile, capsys):
    assert main(["recommend", "--dataset", "toy", "--model", "popular", "--json", "-k", "1"]) == 0
    (film,) = json.loads(capsys.readouterr().out)
    assert film["title"].startswith(STEERING)


def test_errors_and_warnings_are_shown_too(capsys):
    assert main(["data", "add", "mine", "--interactions", "no\x1b[2Jfile"]) == 1
    with safe_output():
        warnings.showwarning = lambda message, *_: print(message, file=sys.stderr)
        warnings.warn("a \x1b[2J title", stacklevel=1)
    said = capsys.readouterr().err
    assert "no\\u001b[2Jfile" in said
    assert "\x1b" not in said


@given(st.text())
def test_nothing_is_lost_and_nothing_steers(text):
    seen = escape_controls(text)
    assert steers(seen.strip("\r").replace("\r\n", "")) == [sign for sign in steers(seen) if sign != "\r"]
    assert json.loads(f'"{escape_controls(json.dumps(text, ensure_ascii=False)[1:-1])}"') == text


@pytest.mark.parametrize("text", ["Amélie 千と千尋", "a\tb\n", "می‌خواهم", "👩‍👧", "\r  50%", "\r    \r", "a\r\nb"])
def test_what_does_not_steer_stays(text):
    assert escape_controls(text) == text


def test_progress_bars_stay_bars(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with safe_output(), tqdm(total=2, file=sys.stderr, desc="fetching", mininterval=0) as bar:
        bar.update(2)
    assert "\\u" not in stream.getvalue()
    assert "\rfetching: 100%" in stream.getvalue()
