"""What every recommender must do, whatever it has learnt. Being registered is all it takes to be tested here."""

from dataclasses import replace

import numpy as np
import pytest

from recsys.data.schema import HeldOut, Queries
from recsys.data.split import leave_one_out
from recsys.models import registry
from recsys.training.run import Run
from tests import toys

pytestmark = pytest.mark.usefixtures("known_encoder")

SMALL = {"dim": 16, "length": 16, "epochs": 2, "negatives": 8}
TOY_CONFIGS = {  # what to change in a preset so that a toy fit takes a second
    "ials": {"factors": 8},
    "bpr-mf": {"factors": 8},
    "bert4rec": SMALL,
    "sasrec-softmax": SMALL,
    "sasrec-bce": SMALL,
    "gsasrec": SMALL,
    "fmc": SMALL,
    "fpmc": SMALL,
    "transrec": SMALL,
    "ncf": SMALL,
    "item2vec-cbow": {"dim": 16, "length": 16, "epochs": 2},
    "item2vec-skipgram": {"dim": 16, "length": 16, "epochs": 2},
    "gru4rec-ce": SMALL,
    "gru4rec-bpr": SMALL,
    "gru4rec-top1": SMALL,
    "gru4rec-plus": SMALL,
    "caser": SMALL,
}
WORLD = toys.cycle(n_items=20, n_users=61, length=8)  # 61: no layer is that wide
HISTORIES = [
    np.array([3, 4, 5]),
    np.array([], np.int64),  # nobody yet
    np.array([7]),
    np.arange(10_000) % WORLD.n_items,
    np.array([2, 2, 2, 9, 2, 9, 9]),
    np.arange(WORLD.n_items),  # everything there is
]


def fitted(variant, seed=0):
    cls = registry.get(variant)
    config = replace(cls.preset(variant, WORLD.name), **TOY_CONFIGS.get(variant, {}))
    split = leave_one_out(WORLD)
    return cls(config).fit(split.train, split.valid, Run(seed=seed, device="cpu"))


@pytest.fixture(scope="module", params=registry.names())
def variant(request):
    return request.param


@pytest.fixture(scope="module")
def model(variant, known_encoder):
    return fitted(variant)


def test_it_says_what_it_is(variant):
    cls = registry.get(variant)
    assert cls.title
    assert cls.family
    assert isinstance(cls.preset(variant, "ml-1m"), cls.Config)


def test_every_film_gets_a_finite_score(model):
    scores = model.score(Queries(HISTORIES))
    assert scores.shape == (len(HISTORIES), WORLD.n_items)
    assert scores.dtype == np.float32
    assert np.isfinite(scores).all()


def test_film_vectors_are_a_finite_row_for_every_film(model):
    vectors = model.film_vectors() if hasattr(model, "film_vectors") else None
    if vectors is not None:
        assert (len(vectors), vectors.ndim, vectors.dtype) == (WORLD.n_items, 2, np.float32)
        assert np.isfinite(vectors).all()


def test_no_queries_give_no_scores(model):
    assert model.score(Queries([])).shape == (0, WORLD.n_items)


def test_known_users_and_strangers_may_both_ask(model):
    train = leave_one_out(WORLD).train
    users = np.array([5, 0])
    asked = Queries([train.history(user) for user in users], users)
    assert np.isfinite(model.score(asked)).all()
    assert np.isfinite(model.score(Queries(asked.histories))).all()


def test_a_query_is_not_changed(model):
    before = [history.copy() for history in HISTORIES]
    for history in HISTORIES:
        history.flags.writeable = False  # data sets are memory-mapped read-only
    model.score(Queries(HISTORIES))
    for history, copy in zip(HISTORIES, before, strict=True):
        np.testing.assert_array_equal(history, copy)


def test_scores_belong_to_the_caller(model):
    """Hiding seen films writes into scores; the next answer must not know."""
    first = model.score(Queries(HISTORIES))
    kept = first.copy()
    first[:] = -np.inf
    np.testing.assert_array_equal(model.score(Queries(HISTORIES)), kept)


def test_an_answer_does_not_depend_on_who_else_asks(model):
    together = model.score(Queries(HISTORIES))
    for row, history in enumerate(HISTORIES):
        alone = model.score(Queries([history]))
        np.testing.assert_allclose(alone[0], together[row], rtol=1e-4, atol=1e-5)


def test_what_is_saved_answers_the_same(model):
    again = type(model)(model.config)
    again.load_state({name: array.copy() for name, array in model.state().items()}, WORLD.n_items)
    np.testing.assert_array_equal(again.score(Queries(HISTORIES)), model.score(Queries(HISTORIES)))


def test_a_state_of_another_catalogue_is_refused(model):
    with pytest.raises((KeyError, ValueError)):
        type(model)(model.config).load_state(model.state(), WORLD.n_items + 1)
    with pytest.raises((KeyError, ValueError)):
        type(model)(model.config).load_state({}, WORLD.n_items)


def test_state_is_arrays_that_hold_no_user(model):
    """No array has a row per user or an entry per event: what is written says nothing about a single person."""
    if model.holds_histories:
        pytest.skip("it is what people watched, and the store refuses to ship it")
    train = leave_one_out(WORLD).train
    for name, array in model.state().items():
        assert isinstance(array, np.ndarray), name
        assert array.dtype != object, name
        assert train.n_users not in array.shape, name
        assert len(train.interactions) not in array.shape, name


def test_the_same_seed_gives_the_same_scores(variant, model):
    np.testing.assert_array_equal(fitted(variant).score(Queries(HISTORIES)), model.score(Queries(HISTORIES)))


def test_fit_returns_the_model_and_leaves_the_data_alone(variant):
    split = leave_one_out(WORLD)
    items = split.train.interactions.item.copy()
    cls = registry.get(variant)
    model = cls(replace(cls.preset(variant, WORLD.name), **TOY_CONFIGS.get(variant, {})))
    assert model.fit(split.train, HeldOut(split.valid.queries, split.valid.targets), Run(device="cpu")) is model
    np.testing.assert_array_equal(split.train.interactions.item, items)
