import builtins
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from recsys.data.dataset import DataError, Queries
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


def test_a_history_of_one_film_decides_the_colour(model):
    even, odd = model.score(Queries([[4], [7]]))
    assert even[0::2].min() > even[1::2].max()
    assert odd[1::2].min() > odd[0::2].max()


def test_order_and_repetition_change_nothing(model):
    once, again = model.score(Queries([[2, 8, 4], [4, 4, 2, 8, 2, 2]]))
    np.testing.assert_allclose(once, again, rtol=1e-4, atol=1e-5)


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


@pytest.mark.parametrize(
    ("model", "world", "advice"),
    [
        (Als(AlsConfig(factors=64, regularization=0)), toys.dataset([[0, 1]], 2), "a higher regularization"),
        (BprMf(BprMfConfig(factors=4, regularization=1e6)), toys.cycle(), "lr 0.05 and regularization 0.003"),
    ],
)
def test_a_fit_without_finite_factors_names_the_settings_to_change(model, world, advice):
    with pytest.raises(DataError, match=advice):
        model.fit(world)


def test_the_factors_are_the_item_embeddings(model):
    assert model.has_item_embeddings
    np.testing.assert_array_equal(model.item_embeddings(), model.factors)


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


@pytest.mark.parametrize("name", ["ials", "bpr-mf", "item-knn"])
def test_without_implicit_an_error_names_the_command(name, monkeypatch):
    usual = builtins.__import__

    def without(module, *rest):
        if module.startswith("implicit"):
            raise ModuleNotFoundError(f"No module named {module!r}")
        return usual(module, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingLibraryError, match=r"needs .*pip install implicit"):
        RECOMMENDERS[name].model().fit(toys.checkerboard())
