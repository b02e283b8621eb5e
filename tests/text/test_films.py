import errno
import sys
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file

from recsys import arrays, paths, storage
from recsys.data.download import DownloadError
from recsys.data.tags import Tags
from recsys.errors import MissingLibraryError
from recsys.text import encoder, films
from tests import toys
from tests.models.conftest import words_as_vectors


@pytest.fixture(autouse=True)
def encoded(tmp_path, monkeypatch):
    """An empty home, empty assets and a fake encoder. The value is the list of texts of each call."""
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(paths, "ASSETS", tmp_path / "assets")
    calls = []

    def encode(texts, report):
        calls.append(list(texts))
        return words_as_vectors(texts, report)

    monkeypatch.setattr(encoder, "encode", encode)
    return calls


def with_genres(*genres):
    made = toys.catalog(len(genres))
    return replace(made, movies=made.movies.assign(genres=list(genres)))


# Texts and genres


def test_texts_leave_out_missing_parts():
    catalog = toys.catalog(3)
    catalog.movies.loc[0, ["genres", "tags"]] = ["Comedy|Sci-Fi", "robots, slow"]
    catalog.movies.loc[1, "year"] = None
    catalog.movies.loc[2, "genres"] = ""
    assert films.film_texts(catalog) == [
        "Film 0 (1990). Comedy, Sci-Fi. robots, slow",
        "Film 1. Horror",
        "Film 2 (1992)",
    ]


def test_the_fingerprint_of_texts_depends_on_each_and_on_their_order():
    lists = (["a", "b"], ["b", "a"], ["ab"], ["a", "b", ""], ["a", "é"])
    assert len({films.texts_fingerprint(texts) for texts in lists}) == 5
    assert films.texts_fingerprint(["a", "b"]) == films.texts_fingerprint(("a", "b"))


def test_the_genre_matrix_has_a_column_for_each_genre_in_alphabetical_order():
    matrix, names = films.genre_matrix(with_genres("War", "Comedy|Sci-Fi", "", "Sci-Fi|War"))
    assert names == ("Comedy", "Sci-Fi", "War")
    assert matrix.dtype == bool
    assert matrix.astype(int).tolist() == [[0, 0, 1], [1, 1, 0], [0, 0, 0], [0, 1, 1]]


def test_a_catalogue_without_genres_has_a_matrix_without_columns():
    matrix, names = films.genre_matrix(with_genres("", ""))
    assert (matrix.shape, names) == ((2, 0), ())
    assert films.genre_vectors(with_genres("", "")).shape == (2, 0)


def test_genre_vectors_have_length_1_or_are_0():
    vectors = films.genre_vectors(with_genres("A|B|C|D", "B", ""))
    assert vectors.tolist() == [[0.5, 0.5, 0.5, 0.5], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert vectors.dtype == np.float32


# Vectors belong to texts


def test_vectors_are_computed_once_and_kept(encoded):
    catalog, events = toys.catalog(7), []
    computed = films.film_vectors("kept", catalog, events.append)
    assert events[-1] == {"stage": "encode", "done": 7, "total": 7}
    kept = films.film_vectors("kept", catalog)
    assert len(encoded) == 1
    np.testing.assert_array_equal(kept.matrix, computed.matrix)
    np.testing.assert_allclose(np.linalg.norm(kept.matrix, axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(kept.matrix, words_as_vectors(films.film_texts(catalog), print), atol=1e-3)


def test_the_same_films_with_other_texts_have_other_vectors_and_each_are_kept(encoded):
    catalog = toys.tagged(toys.catalog(5), Tags.from_rows([(100, "slow", 1), (101, "dark", 9)]))
    for _ in range(2):
        now, then = (films.film_vectors("tagged", tagged).matrix for tagged in (catalog, catalog.as_of(5)))
        assert np.array_equal(now[0], then[0])
        assert not np.array_equal(now[1], then[1])
    assert encoded == [films.film_texts(catalog), films.film_texts(catalog.as_of(5))]


def test_a_broken_file_is_computed_again(encoded):
    catalog = toys.catalog(6)
    whole = films.film_vectors("broken", catalog).matrix
    path = paths.vectors("film", "broken", films.texts_fingerprint(films.film_texts(catalog)))
    data = bytearray(path.read_bytes())
    data[-100] ^= 1  # in a number
    for damaged in (data, data[:-100]):
        path.write_bytes(damaged)
        np.testing.assert_array_equal(films.film_vectors("broken", catalog).matrix, whole)
    assert len(encoded) == 3


def test_vectors_are_used_even_if_the_disk_is_full(monkeypatch):
    def full(path, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(storage, "replace_file", full)
    with pytest.warns(UserWarning, match="No space left on device; free up disk space, or set RECSYS_HOME"):
        vectors = films.film_vectors("full", toys.catalog(3)).matrix
    assert vectors.shape == (3, encoder.DIM)


def shipped(catalog, made_of):
    vectors = np.eye(len(catalog), encoder.DIM, dtype=np.float16)
    arrays.write(paths.shipped_vectors("film", "shipped"), films.VECTORS, vectors, made_of)
    return vectors


def test_shipped_vectors_are_used_for_their_texts(encoded):
    catalog = toys.catalog(4)
    vectors = shipped(catalog, films.texts_fingerprint(films.film_texts(catalog)))
    np.testing.assert_array_equal(films.film_vectors("shipped", catalog).matrix, vectors)
    assert encoded == []


def test_shipped_vectors_of_other_texts_are_not_used(encoded):
    catalog = toys.catalog(4)
    shipped(catalog, films.texts_fingerprint(["other", "texts"]))
    assert films.stored_film_vectors("shipped", catalog) is None
    films.film_vectors("shipped", catalog)
    assert encoded == [films.film_texts(catalog)]


SHIPPED = sorted((paths.REPOSITORY / "assets" / "film_vectors").glob("*.safetensors"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_vectors_are_intact_and_have_a_fingerprint(path):
    vectors = load_file(path)["vectors"]
    assert vectors.shape[1:] == (encoder.DIM,)
    assert vectors.dtype == np.float16
    np.testing.assert_allclose(np.linalg.norm(vectors.astype(np.float32), axis=1), 1, atol=2e-3)
    document, _ = storage.read_payloads(path.with_suffix(".json"))
    assert len(document["made_of"]) == 64


def test_vectors_are_shipped_for_some_sets():
    assert {path.stem for path in SHIPPED} == {"ml-latest-sample", "ml-1m"}  # those whose networks are shipped as well


# Without the encoder


@pytest.mark.parametrize(
    "error", [DownloadError("the package index sent no wheel"), MissingLibraryError("the sentence encoder", "it")]
)
def test_without_the_encoder_tfidf_replaces_it_and_is_not_stored(monkeypatch, error):
    def out_of_reach(texts, report):
        raise error

    monkeypatch.setattr(encoder, "encode", out_of_reach)
    vectors = films.film_vectors("words", toys.catalog(5))
    assert vectors.note == films.NO_ENCODER
    expected = films.tfidf(films.film_texts(toys.catalog(5)))
    np.testing.assert_array_equal(vectors.matrix.toarray(), expected.toarray())
    assert films.stored_film_vectors("words", toys.catalog(5)) is None


def test_without_scikit_learn_the_error_names_the_package_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.feature_extraction.text", None)
    with pytest.raises(MissingLibraryError, match="scikit-learn"):
        films.tfidf(["a film"])


@pytest.mark.parametrize("texts", [["a", "B", "7"], ["the", "and of"], [""]])
def test_texts_without_words_have_vectors_of_0(texts):
    vectors = films.tfidf(texts)
    assert vectors.shape == (len(texts), 1)
    assert vectors.nnz == 0
    assert vectors.dtype == np.float32
