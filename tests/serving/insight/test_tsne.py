import numpy as np
import pytest

from recsys import paths
from recsys.models.popular import Popular
from recsys.serving.insight import tsne
from recsys.serving.recommend import ServingError
from tests.serving.given import predictor
from tests.serving.insight.test_attention import WORLD
from tests.serving.insight.test_embedding_map import Embedded

pytestmark = pytest.mark.usefixtures("home", "no_assets")


def groups():
    """20 films in two groups, far from each other."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(20, 6)) * 0.1 + np.where(np.arange(20) < 10, 1, -1)[:, None]


@pytest.fixture
def first_coordinates(monkeypatch):
    """Replace t-SNE, which runs in a process of its own, by the first two coordinates."""
    monkeypatch.setattr(tsne, "compute_points", lambda vectors, report: vectors[:, :2].astype(np.float32))


def test_neighbours_stay_together_and_progress_is_reported():
    told = []
    points = tsne.compute_points(groups(), told.append)
    assert points.shape == (20, 2)
    assert told[-1] == {"stage": "map", "done": 1000, "total": 1000}
    inside = np.linalg.norm(points[:10, None] - points[None, :10], axis=-1).mean()
    across = np.linalg.norm(points[:10, None] - points[None, 10:], axis=-1).mean()
    assert inside < across


def test_a_map_is_kept_for_these_embeddings_and_no_others(first_coordinates):
    asked = predictor(WORLD, Embedded(groups()))
    assert tsne.load_points(asked) is None
    made = tsne.compute_map(asked)
    np.testing.assert_array_equal(tsne.load_points(asked), made)
    assert tsne.load_points(predictor(WORLD, Embedded(groups() + 1e-3))) is None  # trained again
    paths.film_map(paths.home(), "cycle", "given").write_bytes(b"broken")
    assert tsne.load_points(asked) is None


def test_a_map_is_shipped_with_the_project(first_coordinates):
    asked = predictor(WORLD, Embedded(groups()))
    made = tsne.compute_map(asked, ship=True)
    assert not paths.film_map(paths.home(), "cycle", "given").exists()
    np.testing.assert_array_equal(tsne.load_points(asked), made)


@pytest.mark.slow
def test_whoever_has_had_enough_stops_the_computation_and_nothing_is_kept():
    def stop(event):
        raise KeyboardInterrupt

    asked = predictor(WORLD, Embedded(groups()))
    with pytest.raises(KeyboardInterrupt):
        tsne.compute_map(asked, stop)
    assert tsne.load_points(asked) is None


@pytest.mark.slow
def test_two_films_and_films_without_a_direction_have_points():
    assert tsne.compute_points(np.ones((2, 4))).tolist() == [[0, 0], [0, 0]]
    vectors = groups()
    vectors[3] = 0
    assert np.isfinite(tsne.compute_points(vectors)).all()


@pytest.mark.slow
def test_a_worker_that_fails_says_so():
    with pytest.raises(ServingError, match="could not be computed"):
        tsne.compute_points(np.full((20, 4), np.nan))


def test_a_recommender_without_embeddings_is_refused():
    with pytest.raises(ServingError, match="no embeddings"):
        tsne.compute_map(predictor(WORLD, Popular().fit(WORLD), "Most popular"))
