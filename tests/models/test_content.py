import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from recsys import paths
from recsys.data.download import DownloadError
from recsys.data.schema import Queries
from recsys.models import _encoder, _text
from recsys.models.content import VARIANTS, ContentConfig, ContentGenre, ContentSentence, ContentTfidf
from recsys.training.run import Run
from tests import toys
from tests.models.conftest import words_as_vectors

pytestmark = pytest.mark.usefixtures("known_encoder")


@pytest.fixture(params=VARIANTS)
def model(request):
    return VARIANTS[request.param]().fit(toys.checkerboard())  # even films are comedies, odd ones horror


def test_films_of_the_same_genre_come_first(model):
    comedy, horror = model.score(Queries([[4], [7, 9]]))
    assert comedy[0::2].min() > comedy[1::2].max()
    assert horror[1::2].min() > horror[0::2].max()


def test_a_later_film_counts_more(model):
    ends_in_comedy, ends_in_horror = model.score(Queries([[7, 4], [4, 7]]))
    assert ends_in_comedy[4] > ends_in_comedy[7]
    assert ends_in_horror[7] > ends_in_horror[4]


def test_a_film_watched_again_counts_once_at_its_last_place(model):
    repeated, once = model.score(Queries([[4, 4, 7, 2, 4], [7, 2, 4]]))
    np.testing.assert_allclose(repeated, once, atol=1e-6)


def test_scores_are_cosines_with_the_weighted_mean():
    """Against scikit-learn: half-life 1 gives weights 1/4, 1/2, 1 to three films, oldest first."""
    model = ContentTfidf(ContentConfig(half_life=1)).fit(toys.checkerboard())
    vectors = model.vectors.toarray()
    profile = np.array([[0.25, 0.5, 1]]) @ vectors[[3, 8, 5]]
    np.testing.assert_allclose(model.score(Queries([[3, 8, 5]])), cosine_similarity(profile, vectors), atol=1e-5)


def test_genre_scores_are_cosines_of_marks():
    """Against scikit-learn, on films of one, two, three and no genres."""
    world = toys.dataset([[0, 1, 2, 3]], n_items=4)
    world.catalog.movies["genres"] = ["Comedy", "Comedy|Sci-Fi", "Drama|Film-Noir|Sci-Fi", ""]
    marks = [[1, 0, 0, 0], [1, 0, 0, 1], [0, 1, 1, 1], [0, 0, 0, 0]]  # Comedy, Drama, Film-Noir, Sci-Fi
    model = ContentGenre().fit(world)
    np.testing.assert_allclose(model.score(Queries([[1], [2], [3]])), cosine_similarity(marks)[1:], atol=1e-6)


def test_a_catalogue_without_genres_has_nothing_to_say():
    world = toys.dataset([[0, 1, 2]], n_items=3)
    world.catalog.movies["genres"] = ""
    assert not ContentGenre().fit(world).score(Queries([[1]])).any()


def test_a_film_without_any_words_is_neither_near_nor_far():
    world = toys.dataset([[0, 1, 2]], n_items=3)
    world.catalog.movies.loc[1, ["title", "genres"]] = ""
    world.catalog.movies.loc[1, "year"] = None
    scores = ContentTfidf().fit(world).score(Queries([[1], [0]]))
    assert (scores[0] == 0).all()
    assert scores[1, 1] == 0


def test_an_empty_history_gets_the_order_of_popularity(model):
    model.counts = np.arange(30, dtype=np.float32)[::-1].copy()
    [scores] = model.score(Queries([[]]))
    assert list(scores.argsort()[::-1]) == list(range(30))


def test_texts_leave_out_what_is_not_known():
    catalog = toys.catalog(3)
    catalog.movies.loc[0, ["genres", "tags"]] = ["Comedy|Sci-Fi", "robots, slow"]
    catalog.movies.loc[1, "year"] = None
    catalog.movies.loc[2, "genres"] = ""
    assert _text.film_texts(catalog) == [
        "Film 0 (1990). Comedy, Sci-Fi. robots, slow",
        "Film 1. Horror",
        "Film 2 (1992)",
    ]


def test_without_the_encoder_words_stand_in_and_the_model_says_so(monkeypatch):
    def out_of_reach(texts, report):
        raise DownloadError("the package index sent no wheel")

    monkeypatch.setattr(_encoder, "encode", out_of_reach)
    world = toys.cycle(n_items=9)
    model = ContentSentence().fit(world)
    assert "could not be fetched" in model.note
    again = ContentSentence()
    again.load_state(model.state(), 9)
    assert again.note == model.note
    words = ContentTfidf(model.config).fit(world)
    np.testing.assert_array_equal(again.score(Queries([[1, 2]])), words.score(Queries([[1, 2]])))
    assert words.note == ""  # it is what it says it is


def test_vectors_are_computed_once_and_kept(known_encoder, monkeypatch):
    catalog, events = toys.catalog(7), []
    first = _text.film_vectors("kept", catalog, events.append)
    assert events[-1] == {"stage": "encode", "done": 7, "total": 7}
    monkeypatch.setattr(_encoder, "encode", None)  # calling it would now fail
    kept = _text.film_vectors("kept", catalog)
    np.testing.assert_array_equal(kept.matrix, first.matrix)
    np.testing.assert_allclose(np.linalg.norm(kept.matrix, axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(kept.matrix, words_as_vectors(_text.film_texts(catalog), print), atol=1e-3)


def test_kept_vectors_of_another_film_list_or_a_broken_file_are_computed_again(known_encoder):
    few = _text.film_vectors("changing", toys.catalog(5))
    more = _text.film_vectors("changing", toys.catalog(6))
    assert (len(few.matrix), len(more.matrix)) == (5, 6)
    path = paths.film_vectors("changing")
    path.write_bytes(path.read_bytes()[:-100])
    np.testing.assert_array_equal(_text.film_vectors("changing", toys.catalog(6)).matrix, more.matrix)


@pytest.mark.parametrize(
    "path", sorted((paths.ASSETS / "film_vectors").glob("*.safetensors")), ids=lambda path: path.stem
)
def test_shipped_vectors_are_whole(path):
    from safetensors.numpy import load_file

    shipped = load_file(path)
    assert shipped["vectors"].shape == (len(shipped["movie_ids"]), _encoder.DIM)
    assert shipped["vectors"].dtype == np.float16
    assert len(np.unique(shipped["movie_ids"])) == len(shipped["movie_ids"])
    np.testing.assert_allclose(np.linalg.norm(shipped["vectors"].astype(np.float32), axis=1), 1, atol=2e-3)


def test_progress_of_the_encoder_reaches_the_run():
    events = []
    ContentSentence().fit(toys.cycle(n_items=8), run=Run(report=events.append))
    assert events == [{"stage": "encode", "done": 8, "total": 8}]
