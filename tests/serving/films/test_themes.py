import numpy as np
import pytest

from recsys.data.download import DownloadError
from recsys.errors import MissingLibraryError
from recsys.serving.films import themes
from recsys.serving.films.themes import Missing, ThemeIndex, open_index
from recsys.text import encoder, films
from tests import toys
from tests.models.conftest import words_as_vectors


def load(report, fetch=True):
    return words_as_vectors


def not_here(report, fetch=True):
    assert not fetch  # nothing is downloaded unless somebody asks for it
    raise DownloadError("the sentence encoder is not on this machine; fetch it first")


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Six films, even ones comedies and odd ones horror, in an empty home without anything shipped."""
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path))
    monkeypatch.setattr("recsys.paths.ASSETS", tmp_path / "assets")
    monkeypatch.setattr(encoder, "encode", words_as_vectors)
    monkeypatch.setattr(encoder, "load", load)
    return toys.cycle(6)


def items(found):
    return [near.item for near in found]


def test_the_nearest_films_come_first_and_equal_ones_by_item():
    index = ThemeIndex(np.array([[0, 1], [1, 0], [0.6, 0.8], [1, 0]]), lambda texts: np.array([[1.0, 0]]))
    found = index.search("anything")
    assert items(found) == [1, 3, 2]  # film 0 has nothing in common with the theme
    assert [near.cosine for near in found] == [1, 1, 0.6]
    assert items(index.search("anything", limit=1)) == [1]


@pytest.mark.parametrize("theme", ["", "   ", "\n\t"])
def test_no_theme_finds_nothing_and_does_not_wake_the_encoder(theme):
    assert ThemeIndex(np.eye(2), None).search(theme) == []


def test_only_so_much_of_a_theme_is_read():
    read = []
    ThemeIndex(np.eye(2), lambda texts: read.extend(texts) or np.eye(2)[:1]).search("word " * 10_000)
    assert [len(text) for text in read] == [themes.LONGEST]


def test_films_that_were_encoded_are_compared_by_meaning(world):
    films.film_vectors(world.name, world.catalog)
    index = open_index(world)
    assert index.missing is Missing.NOTHING
    assert {item % 2 for item in items(index.search("Horror", limit=3))} == {1}


def test_films_that_were_never_encoded_are_compared_by_their_words_and_encoding_is_not_started(world, monkeypatch):
    monkeypatch.setattr(encoder, "encode", None)  # would fail if it were called
    index = open_index(world)
    assert index.missing is Missing.VECTORS
    assert items(index.search("some horror please")) == [1, 3, 5]
    assert index.search("romance") == []


def test_without_the_encoder_films_are_compared_by_their_words(world, monkeypatch):
    films.film_vectors(world.name, world.catalog)
    monkeypatch.setattr(encoder, "load", not_here)
    index = open_index(world)
    assert index.missing is Missing.ENCODER
    assert items(index.search("comedy", limit=2)) == [0, 2]


def test_without_the_library_films_are_compared_by_their_words(world, monkeypatch):
    def missing(report, fetch=True):
        raise MissingLibraryError("the sentence encoder", "sentence-transformers")

    films.film_vectors(world.name, world.catalog)
    monkeypatch.setattr(encoder, "load", missing)
    assert open_index(world).missing is Missing.LIBRARY


def test_the_real_loader_downloads_nothing_unless_told_to(tmp_path, monkeypatch):
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path))
    hub = []
    monkeypatch.setattr(encoder, "_from_hub", hub.append)
    monkeypatch.setattr(encoder, "_from_wheel", None)  # would fail if it were called
    with pytest.raises(DownloadError, match="not on this machine"):
        encoder.load(print, fetch=False)
    assert hub == [False]
