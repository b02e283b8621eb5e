import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA

from recsys.models.popular import Popular
from recsys.serving.insight import tsne
from recsys.serving.insight.embedding_map import common_genres, embedding_map, pca, telling_genres, to_draw
from recsys.serving.recommend import ServingError
from tests import toys
from tests.serving.given import Given, predictor
from tests.serving.insight.test_attention import WORLD, bert, sasrec


class Embedded(Given):
    """A model with these embeddings of films."""

    has_item_embeddings = True

    def __init__(self, embeddings):
        super().__init__([0] * len(embeddings))
        self.embeddings = np.array(embeddings, np.float32)

    def item_embeddings(self):
        return self.embeddings


def test_the_projection_agrees_with_scikit_learn():
    vectors = np.random.default_rng(0).normal(size=(50, 7)) @ np.diag([5, 3, 1, 1, 1, 1, 1])
    points, shares = pca(vectors)
    theirs = PCA(2).fit(vectors)
    np.testing.assert_allclose(shares, theirs.explained_variance_ratio_)
    np.testing.assert_allclose(np.abs(points), np.abs(theirs.transform(vectors)), atol=1e-9)


def test_a_mirrored_eigenvector_gives_the_same_map(monkeypatch):
    vectors = np.random.default_rng(0).normal(size=(9, 4))
    points, _ = pca(vectors)
    eigh = np.linalg.eigh
    monkeypatch.setattr(np.linalg, "eigh", lambda matrix: (eigh(matrix)[0], -eigh(matrix)[1]))
    np.testing.assert_allclose(pca(vectors)[0], points)


@pytest.mark.parametrize("vectors", [[[1.0], [2.0]], [[1.0, 2.0]], [[0.0, 0.0]] * 3, [[3.0, 1.0]] * 5])
def test_films_that_hardly_differ_still_have_coordinates(vectors):
    points, shares = pca(np.array(vectors))
    assert points.shape == (len(vectors), 2)
    assert np.isfinite(points).all()
    assert 0 <= sum(shares) <= 1 + 1e-9


def test_neighbours_are_the_nearest_by_cosine_in_all_dimensions():
    world = toys.dataset([[0, 1, 2, 3]], 4)
    found = embedding_map(predictor(world, Embedded([[1, 0, 0], [10, 1, 0], [0, 0, 1], [0, 0, 0]])))
    assert [item for item, _ in found.neighbours(0)] == [1, 2, 3]
    assert found.neighbours(0, 1)[0][1] == pytest.approx(10 / np.sqrt(101))
    assert [cosine for _, cosine in found.neighbours(3)] == [0, 0, 0]  # no direction: as near to each


def test_a_row_of_the_map_is_a_film():
    found = embedding_map(predictor(WORLD, bert()))
    assert len(found.table) == 20
    assert found.table["title"].iloc[7] == "Film 7"
    assert found.table["views"].tolist() == WORLD.counts.tolist()
    assert 0 < sum(found.shares) <= 1
    assert found.directions.shape == (20, 8)
    assert embedding_map(predictor(WORLD, sasrec())).directions.shape == (20, 8)


def test_a_model_without_embeddings_is_refused_with_a_sentence():
    with pytest.raises(ServingError, match="Most popular has no embeddings of films"):
        embedding_map(predictor(WORLD, Popular().fit(WORLD), "Most popular"))


def test_rare_genres_and_films_without_one_share_a_colour():
    table = embedding_map(predictor(WORLD, bert())).table
    table.loc[0, "genre"] = ""
    assert set(common_genres(table)) == {"", "Comedy", "Horror"}
    assert (common_genres(table, 1) == "Horror").sum() == 10


def test_of_a_large_catalogue_the_most_watched_are_drawn_and_those_that_must_not_be_missing():
    table = embedding_map(predictor(toys.dataset([[0, 1, 1, 2, 2, 2]], 6), Embedded(np.eye(6)))).table
    assert to_draw(table, [5], most=2).index.tolist() == [1, 2, 5]
    assert len(to_draw(table, [5], most=6)) == 6


def test_a_film_is_told_by_the_rarest_of_its_genres_that_is_not_rare():
    genres = pd.Series(["Drama|War", "Drama|Horror", "Drama|Horror", "Horror", "", "War"] + ["Drama"] * 40)
    assert telling_genres(genres)[:7].tolist() == ["Drama", "Horror", "Horror", "Horror", "", "War", "Drama"]
    many = pd.Series(["Drama|Horror"] * 3 + ["Drama"] * 7)
    assert telling_genres(many).tolist() == ["Horror"] * 3 + ["Drama"] * 7


def test_a_tsne_map_must_have_been_computed(monkeypatch):
    asked = predictor(WORLD, Embedded(np.eye(20)))
    monkeypatch.setattr(tsne, "kept", lambda predictor: None)
    with pytest.raises(ServingError, match="compute it first"):
        embedding_map(asked, "t-SNE")
    monkeypatch.setattr(tsne, "kept", lambda predictor: np.arange(40, dtype=np.float32).reshape(20, 2))
    found = embedding_map(asked, "t-SNE")
    assert found.table["y"].iloc[3] == 7
    assert found.shares is None
