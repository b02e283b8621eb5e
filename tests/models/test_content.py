import numpy as np
import pytest
from safetensors.numpy import load, save
from sklearn.metrics.pairwise import cosine_similarity

from recsys.data.dataset import Queries
from recsys.data.download import DownloadError
from recsys.models.content import Content, ContentConfig
from recsys.models.registry import RECOMMENDERS
from recsys.text import encoder
from recsys.text.films import film_texts, texts_with_credits
from recsys.training.options import RunOptions
from tests import toys

NAMES = [row.name for row in RECOMMENDERS.values() if row.model_path.startswith(".content:")]

TF_IDF, GENRES = ContentConfig(vectors="tf-idf"), ContentConfig(vectors="genres")

pytestmark = pytest.mark.usefixtures("known_encoder")


@pytest.fixture(params=NAMES)
def model(request):
    return RECOMMENDERS[request.param].model().fit(toys.checkerboard())  # even films are comedies, odd ones horror


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
    model = Content(ContentConfig(vectors="tf-idf", half_life=1)).fit(toys.checkerboard())
    vectors = model.vectors.toarray()
    profile = np.array([[0.25, 0.5, 1]]) @ vectors[[3, 8, 5]]
    np.testing.assert_allclose(model.score(Queries([[3, 8, 5]])), cosine_similarity(profile, vectors), atol=1e-5)


def test_genre_scores_are_cosines_of_marks():
    """Against scikit-learn, on films of one, two, three and no genres."""
    world = toys.dataset([[0, 1, 2, 3]], n_items=4)
    world.catalog.movies["genres"] = ["Comedy", "Comedy|Sci-Fi", "Drama|Film-Noir|Sci-Fi", ""]
    marks = [[1, 0, 0, 0], [1, 0, 0, 1], [0, 1, 1, 1], [0, 0, 0, 0]]  # Comedy, Drama, Film-Noir, Sci-Fi
    model = Content(GENRES).fit(world)
    np.testing.assert_allclose(model.score(Queries([[1], [2], [3]])), cosine_similarity(marks)[1:], atol=1e-6)


def test_a_catalogue_without_genres_has_nothing_to_say():
    world = toys.dataset([[0, 1, 2]], n_items=3)
    world.catalog.movies["genres"] = ""
    assert not Content(GENRES).fit(world).score(Queries([[1]])).any()


def test_a_film_without_words_scores_0():
    world = toys.dataset([[0, 1, 2]], n_items=3)
    world.catalog.movies.loc[1, ["title", "genres"]] = ""
    world.catalog.movies.loc[1, "year"] = None
    scores = Content(TF_IDF).fit(world).score(Queries([[1], [0]]))
    assert (scores[0] == 0).all()
    assert scores[1, 1] == 0


@pytest.mark.parametrize("config", [TF_IDF, ContentConfig()])
def test_titles_without_words_score_0_also_after_saving(config, monkeypatch):
    def unavailable(texts, report):
        raise DownloadError("the package index sent no wheel")

    monkeypatch.setattr(encoder, "encode", unavailable)
    world = toys.dataset([[0, 1, 2]], n_items=3)
    world.catalog.movies["title"] = ["A", "B", "The"]  # one letter, and a stop word
    world.catalog.movies["genres"] = ""
    world.catalog.movies["year"] = None
    model = Content(config).fit(world)
    again = Content(config)
    again.load_state(load(save(model.state())), 3)
    for fitted in (model, again):
        assert fitted.score(Queries([[1], [0, 2]])).tolist() == [[0, 0, 0]] * 2


def test_without_the_encoder_tf_idf_is_used_and_the_note_is_set(monkeypatch):
    def out_of_reach(texts, report):
        raise DownloadError("the package index sent no wheel")

    monkeypatch.setattr(encoder, "encode", out_of_reach)
    world = toys.cycle(n_items=9)
    model = Content().fit(world)
    assert "is not available" in model.note
    again = Content()
    again.load_state(model.state(), 9)
    assert again.note == model.note
    assert not again.has_item_embeddings
    words = Content(TF_IDF).fit(world)
    np.testing.assert_array_equal(again.score(Queries([[1, 2]])), words.score(Queries([[1, 2]])))
    assert words.note == ""  # TF-IDF was requested


def test_only_sentence_vectors_are_item_embeddings(model):
    if model.config.vectors == "sentences":
        assert model.has_item_embeddings
        np.testing.assert_array_equal(model.item_embeddings(), model.vectors)
    else:
        assert not model.has_item_embeddings
        with pytest.raises(NotImplementedError):
            model.item_embeddings()


def test_progress_of_the_encoder_reaches_the_run():
    events = []
    Content().fit(toys.cycle(n_items=8), run=RunOptions(report=events.append))
    assert events == [{"stage": "encode", "done": 8, "total": 8}]


# An enriched data set

MAKERS = ("Ann Lee", "Bo Lee", "Cy Dee")  # of films 0 and 1, 2 and 3, 4 and 5, 6 and 7, …
KNOWN = {100 + film: {"directors": [MAKERS[film // 2 % 3]], "subjects": ["deep sea"]} for film in range(30)}


def test_tf_idf_uses_credits_and_a_name_is_one_word():
    world = toys.enriched(toys.checkerboard(), KNOWN)
    world.catalog.movies["title"], world.catalog.movies["year"] = "Film", 1990
    scores = Content(TF_IDF).fit(world).score(Queries([[0]]))[0]  # a comedy by Ann Lee
    ann, bo, cy = (scores[np.arange(2 * maker, 30, 6)] for maker in range(3))
    assert ann.min() > max(bo.max(), cy.max())
    np.testing.assert_allclose(bo, cy, atol=1e-6)  # a name is one word, so Bo Lee and Ann Lee share none
    assert texts_with_credits(world.catalog)[0].endswith("Ann_Lee, deep sea")


def test_sentences_and_genres_do_not_use_credits():
    plain, richer = toys.checkerboard(), toys.enriched(toys.checkerboard(), KNOWN)
    for config in (ContentConfig(), GENRES):
        before, after = (Content(config).fit(world).score(Queries([[4, 7]])) for world in (plain, richer))
        np.testing.assert_array_equal(before, after)
        assert not Content(config).uses_credits


def test_without_details_the_words_are_those_of_the_texts_to_the_letter():
    catalog = toys.checkerboard().catalog
    assert texts_with_credits(catalog) == film_texts(catalog)


def test_fields_use_credits_and_score_by_the_mean_similarity():
    world = toys.enriched(toys.checkerboard(), KNOWN)
    model = Content(ContentConfig(vectors="fields", half_life=1e9)).fit(world)
    assert model.uses_credits
    assert model.scores_cold_items
    similarity = (model.vectors @ model.vectors.T).toarray()
    expected = similarity[[2, 9]].mean(0)
    scores = model.score(Queries([[2, 9]]))[0]
    np.testing.assert_allclose(scores / scores.max(), expected / expected.max(), atol=1e-5)
