import numpy as np
import pytest
from sklearn.linear_model import Ridge

from recsys import machine
from recsys.data.dataset import DataError, Queries
from recsys.models import ease
from recsys.models.ease import Ease, EaseConfig
from tests import toys


def matrix(world):
    """Return 1 where a user watched a film, else 0, (users, films)."""
    watched = np.zeros((world.n_users, world.n_items))
    watched[world.interactions.user, world.interactions.item] = 1
    return watched


def random_world():
    rng = np.random.default_rng(1)
    return toys.dataset([rng.permutation(12)[: rng.integers(2, 8)] for _ in range(40)], n_items=12)


@pytest.mark.parametrize("block", [5, 1024])  # 12 films in blocks that do not divide them, and in one
def test_every_film_is_a_ridge_regression_on_the_others(block, monkeypatch):
    """Against scikit-learn, one regression per film."""
    monkeypatch.setattr(ease, "BLOCK_ROWS", block)
    world = random_world()
    people, model = matrix(world), Ease(EaseConfig(regularization=3)).fit(world)
    for film in range(12):
        others = np.delete(np.arange(12), film)
        expected = Ridge(alpha=3, fit_intercept=False).fit(people[:, others], people[:, film]).coef_
        np.testing.assert_allclose(model.weights[others, film], expected, atol=1e-5)


def test_the_diagonal_is_zero():
    model = Ease().fit(random_world())
    assert (model.weights.diagonal() == 0).all()
    assert np.count_nonzero(model.weights) > 100


def test_a_score_is_the_sum_of_the_weights_of_the_history():
    model = Ease().fit(random_world())
    np.testing.assert_allclose(
        model.score(Queries([[3, 7, 3, 3]])), model.weights[[3, 7]].sum(0, keepdims=True), rtol=1e-5
    )


def test_a_film_without_views_scores_0():
    model = Ease().fit(toys.dataset([[0, 1, 2], [1, 2]], n_items=4))
    assert model.score(Queries([[0, 1]]))[0, 3] == 0


def test_too_little_memory_raises_an_error_before_any_work(monkeypatch):
    monkeypatch.setattr(machine, "free_memory", lambda: 4.2e9)
    monkeypatch.setattr(ease, "_gram", None)  # a call would raise TypeError
    needs = (
        r"EASE needs 4\.8 GB of memory for 20,000 films, but only half of the 4\.2 GB .*; choose another recommender"
    )
    with pytest.raises(DataError, match=needs):
        Ease(title="EASE").fit(toys.dataset([[0, 1, 2]], n_items=20_000))


def test_half_of_the_free_memory_is_allowed(monkeypatch):
    monkeypatch.setattr(machine, "free_memory", lambda: 2 * 3 * 4 * 12**2)
    Ease().fit(random_world())
    monkeypatch.setattr(machine, "free_memory", lambda: 2 * 3 * 4 * 12**2 - 1)
    with pytest.raises(DataError, match="choose another recommender"):
        Ease().fit(random_world())


def test_no_matrix_of_items_by_items_is_made_for_many_items(monkeypatch):
    monkeypatch.setattr(machine, "free_memory", lambda: 1e12)
    monkeypatch.setattr(ease, "_gram", None)
    with pytest.raises(DataError, match="too many for 20,001 items; add --rank 256"):
        Ease().fit(toys.dataset([[0, 1, 2]], n_items=20_001))


def test_a_singular_matrix_raises_an_error():
    with pytest.raises(DataError, match="increase this setting"):
        Ease(EaseConfig(regularization=0)).fit(toys.dataset([[0, 1]], n_items=2))  # two films with equal viewers


def test_the_memory_limit_of_a_control_group_is_respected(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "MEMORY_FILE", tmp_path / "meminfo")
    monkeypatch.setattr(machine, "CONTROL_GROUPS", tmp_path)
    monkeypatch.setattr(machine, "OWN_CONTROL_GROUPS", tmp_path / "own")
    assert machine.free_memory() == float("inf")
    (tmp_path / "meminfo").write_text("MemTotal:       9000 kB\nMemAvailable:   8000 kB\nBuffers: 5 kB\n")
    control_group(tmp_path, "memory.max", "max", "memory.current", "500000", "inactive_file 100000")
    assert machine.free_memory() == 8_192_000
    (tmp_path / "memory.max").write_text("1000000\n")
    assert machine.free_memory() == 600_000
    (tmp_path / "own").write_text("5:cpuset:/b\n4:memory:/a/b\n0::/\n")
    old = control_group(
        tmp_path / "memory/a/b", "memory.limit_in_bytes", "700000", "memory.usage_in_bytes", "500000", ""
    )
    assert machine.free_memory() == 200_000
    (old / "memory.usage_in_bytes").write_text("900000")
    assert machine.free_memory() == 0


def control_group(folder, limit, most, usage, used, statistics):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in ((limit, most), (usage, used), ("memory.stat", statistics)):
        (folder / name).write_text(f"{text}\n" if text else "")
    return folder


def test_low_rank_weights_are_those_of_the_counts_without_their_lesser_eigenvalues():
    world, rank, ridge = random_world(), 3, 2.0
    values, vectors = np.linalg.eigh(matrix(world).T @ matrix(world))
    values[:-rank] = 0
    inverse = np.linalg.inv(vectors @ np.diag(values) @ vectors.T + ridge * np.eye(12))
    weights = -inverse / np.diag(inverse)
    np.fill_diagonal(weights, 0)
    scores = Ease(EaseConfig(regularization=ridge, rank=rank)).fit(world).score(Queries([[4], [6, 1]]))
    np.testing.assert_allclose(scores, [weights[4], weights[6] + weights[1]], atol=1e-4)


def test_a_rank_is_limited_by_the_number_of_films():
    model = Ease(EaseConfig(rank=99)).fit(random_world())
    assert model.weights.shape == (12, 11)
    np.testing.assert_array_equal(model.weights, Ease(EaseConfig(rank=99)).fit(random_world()).weights)
