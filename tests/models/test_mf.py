import builtins
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from recsys.config import ConfigError
from recsys.data.dataset import Queries
from recsys.errors import MissingLibraryError
from recsys.models.mf import Als, AlsConfig, BprMf, BprMfConfig
from recsys.models.registry import RECOMMENDERS
from recsys.training.options import RunOptions
from tests import toys

TOY = {"ials": AlsConfig(factors=4, regularization=0.1, alpha=5), "bpr-mf": BprMfConfig(factors=8, lr=0.1, epochs=200)}


@pytest.fixture(scope="module", params=TOY)
def variant(request):
    return request.param


@pytest.fixture(scope="module")
def model(variant):
    return RECOMMENDERS[variant].model(TOY[variant]).fit(toys.checkerboard())


def test_the_withheld_film_of_a_checkerboard_comes_first(model):
    n_items = 30
    histories = [[film for film in range(user % 2, n_items, 2) if film != user] for user in range(n_items)]
    scores = model.score(Queries(histories))
    for user, history in enumerate(histories):
        scores[user, history] = -np.inf
    assert list(scores.argmax(1)) == list(range(n_items))


def test_a_history_of_one_film_decides_the_colour(model):
    even, odd = model.score(Queries([[4], [7]]))
    assert even[0::2].min() > even[1::2].max()
    assert odd[1::2].min() > odd[0::2].max()


def test_order_and_repetition_change_nothing(model):
    once, again = model.score(Queries([[2, 8, 4], [4, 4, 2, 8, 2, 2]]))
    np.testing.assert_allclose(once, again, rtol=1e-4, atol=1e-5)


def test_an_empty_history_gets_the_order_of_popularity(variant):
    world = toys.dataset([[0, 1, 2], [0, 1], [0, 2], [0, 3, 1], [0, 1]], n_items=4)
    model = RECOMMENDERS[variant].model(replace(TOY[variant], factors=2)).fit(world)
    [scores] = model.score(Queries([[]]))
    assert list(scores.argsort()[::-1]) == [0, 1, 2, 3]


@pytest.mark.parametrize("alpha", [1, 3])
def test_als_folds_in_as_implicit_does(alpha):
    implicit = pytest.importorskip("implicit.cpu.als")
    model = Als(AlsConfig(factors=6, regularization=0.5, alpha=alpha, iterations=5)).fit(
        toys.cycle(), run=RunOptions(seed=1)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # about BLAS threads
        theirs = implicit.AlternatingLeastSquares(6, regularization=0.5, alpha=alpha)
    theirs.item_factors = model.factors
    histories = [[0, 1, 2], [7], [5, 19, 3, 4]]
    rows = np.repeat(range(3), [len(history) for history in histories])
    watched = sparse.csr_matrix((np.ones(8, np.float32), (rows, np.concatenate(histories))), shape=(3, 20))
    expected = theirs.recalculate_user(np.arange(3), watched) @ model.factors.T
    np.testing.assert_allclose(model.score(Queries(histories)), expected, rtol=1e-3, atol=1e-4)


def test_bpr_folds_in_by_one_newton_step_on_its_criterion():
    """Compare with numerical derivatives of the criterion at zero."""
    films = np.random.default_rng(0).normal(size=(8, 2)).astype(np.float32)
    model = BprMf(BprMfConfig(factors=2, fold_in=0.3))
    model.load_state({"factors": films, "bias": np.zeros(8, np.float32), "counts": np.ones(8, np.float32)}, 8)

    def criterion(person, watched):
        likes = films @ np.array(person)
        differences = likes[watched][:, None] - likes[None]  # (watched, any)
        return np.log(1 / (1 + np.exp(-differences))).mean() - 0.3 / 2 * np.dot(person, person)

    def gradient(person, watched, step=1e-3):
        moves = step * np.eye(2)
        return np.array([criterion(person + m, watched) - criterion(person - m, watched) for m in moves]) / (2 * step)

    all_films, some = np.arange(8), np.array([1, 5])  # a history of all films has the covariance of all films
    hessian = [(gradient(m, all_films) - gradient(-m, all_films)) / 2e-2 for m in 1e-2 * np.eye(2)]
    person = -np.linalg.solve(hessian, gradient(np.zeros(2), some))
    np.testing.assert_allclose(model.score(Queries([some]))[0], films @ person, rtol=1e-3, atol=1e-4)


def test_the_factors_are_the_item_embeddings(model):
    assert model.has_item_embeddings
    np.testing.assert_array_equal(model.item_embeddings(), model.factors)


@pytest.mark.parametrize("wrong", [{"factors": 0}, {"regularization": -1}])
def test_an_invalid_setting_raises_an_error(variant, wrong):
    [name] = wrong
    with pytest.raises(ConfigError, match=f"{name} is .*, but must be "):
        replace(TOY[variant], **wrong)


def test_no_warning_about_threads_reaches_the_user(variant):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RECOMMENDERS[variant].model(replace(TOY[variant], factors=2)).fit(toys.checkerboard())


def test_progress_is_reported(variant):
    events = []
    model = RECOMMENDERS[variant].model(TOY[variant]).fit(toys.checkerboard(), run=RunOptions(report=events.append))
    total = model.config.iterations if variant == "ials" else model.config.epochs
    assert events[-1] == {"stage": "fit", "done": total, "total": total}
    assert len(events) == total


def test_without_implicit_an_error_names_the_command(variant, monkeypatch):
    usual = builtins.__import__

    def without(name, *rest):
        if name.startswith("implicit"):
            raise ModuleNotFoundError(f"No module named {name!r}")
        return usual(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingLibraryError, match="pip install implicit"):
        RECOMMENDERS[variant].model().fit(toys.checkerboard())
