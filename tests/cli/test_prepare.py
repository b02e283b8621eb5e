import pytest

from recsys.cli.main import main
from recsys.data.download import DownloadError
from recsys.serving import predictor
from recsys.text import encoder
from tests.artifacts import available_names
from tests.models.conftest import words_as_vectors

DATA = "ml-latest-sample"


@pytest.fixture
def with_encoder(monkeypatch):
    """A sentence encoder that is here."""
    monkeypatch.setattr(encoder, "encode", words_as_vectors)
    monkeypatch.setattr(encoder, "load", lambda report, fetch=True: words_as_vectors)


def test_everything_that_needs_no_training_is_fitted(toy_home, with_encoder, capsys):
    assert main(["prepare"]) == 0
    ready = set(available_names(DATA))
    wanted = {
        one.name
        for one in predictor.all_recommenders()
        if not (one.needs_training or predictor.recommenders_to_train(one.name, DATA))
    }
    assert wanted - ready <= {
        "content-genre",
        "content-fields",
        "content-tfidf",
        "content-sentence",
    }  # never kept, or fitted to all films
    assert {"popular", "markov", "item-knn", "ease"} <= ready
    assert f"{DATA}: ease is ready" in capsys.readouterr().out


def test_what_cannot_be_had_is_said_and_the_rest_is_made(toy_home, monkeypatch, capsys):
    def fail(report, fetch=True):
        raise DownloadError("there is no network", "connect and try again")

    monkeypatch.setattr(encoder, "encode", fail)
    monkeypatch.setattr(encoder, "load", fail)
    assert main(["prepare", DATA]) == 1
    said = capsys.readouterr()
    assert f"{DATA}: the sentence encoder is not ready: there is no network; connect and try again" in said.err
    assert f"{DATA}: ease is ready" in said.out
