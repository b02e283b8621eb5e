"""The contract of all models. Every recommender of the registry is tested."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from recsys.data.dataset import HeldOut, Queries
from recsys.data.split import leave_one_out
from recsys.models import presets, registry
from recsys.models.array_model import ArrayModel
from recsys.models.registry import Recommender
from recsys.ranking.ranking import Ranking
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import Request, ServingError, recommend
from recsys.training.options import RunOptions
from tests import toys
from tests.models.configs import TOY_CONFIGS, changed

pytestmark = pytest.mark.usefixtures("known_encoder")

WORLD = toys.cycle(n_items=20, n_users=61, length=8)  # 61: no layer is that wide
HISTORIES = [
    np.array([3, 4, 5]),
    np.array([], np.int64),
    np.array([7]),
    np.arange(10_000) % WORLD.n_items,
    np.array([2, 2, 2, 9, 2, 9, 9]),
    np.arange(WORLD.n_items),  # all items
]


def unfitted(name):
    return with_members(toy_model(name))


def toy_model(name):
    """Return the unfitted model with toy settings and without its members."""
    variant = registry.get(name)
    return variant.model(changed(variant.preset(WORLD.name), **TOY_CONFIGS[name]))


def with_members(model):
    """Return the model with its fitted members, if it has any."""
    if model.members:
        model.set_members({name: member(name) for name in model.members})
    return model


@cache
def member(name):
    return toy_fitted(name)


def toy_fitted(name, seed=0):
    split = leave_one_out(WORLD)
    return unfitted(name).fit(split.train, split.valid, RunOptions(seed=seed, device="cpu"))


def for_models(condition):
    """Parametrise a test with the recommenders whose model fulfils `condition(model)`."""
    names = [name for name in registry.names() if condition(toy_model(name))]
    return pytest.mark.parametrize("variant", names, indirect=True)


@pytest.fixture(params=registry.names())
def variant(request):
    return request.param


@pytest.fixture
def model(variant, known_encoder):
    return fitted_once(variant)


@cache
def fitted_once(name):
    """Return a fitted model that is not `member(name)`, because a mixture removes the memory of its members."""
    return toy_fitted(name)


def test_the_row_of_a_recommender_has_a_name_a_title_and_a_family(variant):
    recommender = registry.get(variant)
    assert isinstance(recommender, Recommender)
    assert recommender.name == variant
    assert recommender.title
    assert recommender.family
    assert recommender.model().title == recommender.title


def test_presets_have_the_config_class_of_the_model(variant):
    recommender = registry.get(variant)
    for dataset in ("ml-1m", *presets.PRESETS.get(variant, ())):
        assert type(recommender.preset(dataset)) is recommender.model_class.Config


def test_every_item_gets_a_finite_score(model):
    scores = model.score(Queries(HISTORIES))
    assert scores.shape == (len(HISTORIES), WORLD.n_items)
    assert scores.dtype == np.float32
    assert np.isfinite(scores).all()


@for_models(lambda model: isinstance(model, ArrayModel))
def test_an_empty_history_gets_the_order_of_popularity(model, monkeypatch):
    monkeypatch.setattr(model, "counts", np.arange(WORLD.n_items, dtype=np.float32)[::-1].copy())
    [scores] = model.score(Queries([np.array([], np.int64)]))
    assert list(np.argsort(-scores)) == list(range(WORLD.n_items))


CHECKERBOARD = {
    "ease": {"regularization": 5.0},
    "ials": {"factors": 4, "regularization": 0.1, "alpha": 5.0},
    "bpr-mf": {"factors": 8, "lr": 0.1, "epochs": 200},
    "user-knn": {"neighbours": 20},
    "item-knn": {"neighbours": 15, "half_life": 1000.0},  # all neighbours of a colour
}


@pytest.mark.parametrize("name", CHECKERBOARD)
def test_the_withheld_film_of_a_checkerboard_comes_first(name):
    """Each history misses one film of its colour."""
    recommender, n_items = registry.get(name), 30
    model = recommender.model(replace(recommender.model().config, **CHECKERBOARD[name])).fit(toys.checkerboard())
    histories = [[film for film in range(user % 2, n_items, 2) if film != user] for user in range(n_items)]
    scores = model.score(Queries(histories))
    for user, history in enumerate(histories):
        scores[user, history] = -np.inf
    assert list(scores.argmax(1)) == list(range(n_items))


@for_models(lambda model: model.has_item_embeddings)
def test_item_embeddings_are_a_finite_row_for_every_item(model):
    vectors = model.item_embeddings()
    assert (len(vectors), vectors.ndim, vectors.dtype) == (WORLD.n_items, 2, np.float32)
    assert np.isfinite(vectors).all()


def test_a_missing_ability_raises_an_error_with_the_title(model):
    tokens, positions = np.array([3, 4]), np.array([0])
    abilities = [
        (model.has_item_embeddings, model.item_embeddings, ()),
        (model.predicts_ratings, model.predicted_ratings, (Queries([tokens]),)),
        (model.has_attention, model.attention, (tokens,)),
        (model.can_fill_masks, model.fill, (tokens, positions)),
    ]
    for declared, method, arguments in abilities:
        if not declared:
            with pytest.raises(NotImplementedError, match=re.escape(model.title)):
                method(*arguments)


@for_models(lambda model: model.predicts_ratings)
def test_predicted_ratings_are_those_of_a_world_with_one_rating(model):
    given = [np.full(len(history), 4, np.float32) for history in HISTORIES]
    predicted = model.predicted_ratings(Queries(HISTORIES, ratings=given))
    assert (predicted.shape, predicted.dtype) == ((len(HISTORIES), WORLD.n_items), np.float32)
    np.testing.assert_allclose(predicted, 4, atol=1e-3)  # all ratings of the toy world are 4


@for_models(lambda model: model.has_attention)
def test_attention_weights_of_a_token_sum_to_1(model):
    tokens = model.input_tokens(np.array([3, 4, 5]))
    weights = model.attention(tokens)
    assert weights.shape[2:] == (len(tokens), len(tokens))
    np.testing.assert_allclose(weights.sum(-1), 1, rtol=1e-5)


@for_models(lambda model: model.can_fill_masks)
def test_a_mask_is_filled_from_both_sides_and_at_the_end_like_the_next_item(model):
    history = np.array([3, 4, 5, 6])
    (middle,) = model.fill(history, np.array([1]))
    assert (middle.shape, middle.dtype) == ((WORLD.n_items,), np.float32)
    np.testing.assert_array_equal(model.fill(np.array([3, 9, 5, 6]), np.array([1]))[0], middle)
    for other in ([7, 4, 5, 6], [3, 4, 5, 7]):  # one side, then the other
        assert (model.fill(np.array(other), np.array([1]))[0] != middle).any()
    scores = getattr(model, "network_scores", model.score)  # a count memory does not fill masks
    next_scores = scores(Queries([history[:3]], are_whole=True))
    np.testing.assert_allclose(model.fill(history, np.array([3])), next_scores, rtol=1e-4, atol=1e-5)


def test_probabilities_are_a_softmax_over_the_unseen_items(model):
    if not model.has_probabilities:
        pytest.skip("nobody sees any")
    seen = np.array([3, 4, 5])
    ranking = Ranking.from_scores(model.score(Queries([seen]))[0], seen, model.log_probabilities)
    found = ranking.probabilities(np.arange(WORLD.n_items))
    assert found.sum() == pytest.approx(1)
    assert (found[seen] == 0).all()


@for_models(lambda model: model.max_length is not None)
def test_items_beyond_the_maximal_length_change_no_score(model):
    history = np.arange(100) % WORLD.n_items
    scores = getattr(model, "network_scores", model.score)  # a count memory reads all items
    np.testing.assert_array_equal(scores(Queries([history])), scores(Queries([history[-model.max_length :]])))


def test_no_queries_give_no_scores(model):
    for queries in (Queries([]), Queries([], ratings=[])):
        assert model.score(queries).shape == (0, WORLD.n_items)


def test_users_of_the_training_data_and_new_users_get_scores(model):
    train = leave_one_out(WORLD).train
    users = np.array([5, 0])
    queries = Queries([train.history(user) for user in users], users)
    assert np.isfinite(model.score(queries)).all()
    assert np.isfinite(model.score(Queries(queries.histories))).all()


def test_a_query_is_not_changed(model):
    before = [history.copy() for history in HISTORIES]
    for history in HISTORIES:
        history.flags.writeable = False  # arrays of data sets are read-only
    model.score(Queries(HISTORIES))
    for history, copy in zip(HISTORIES, before, strict=True):
        np.testing.assert_array_equal(history, copy)


@pytest.mark.parametrize("k", [0, 1, 10, 10_000])
def test_recommendations_are_k_unseen_items_by_score_then_item(variant, model, k):
    predictor = Predictor(WORLD, registry.get(variant), model)
    longest = np.arange(model.max_length or 200) % (WORLD.n_items - 3)
    for history in [*HISTORIES, np.array([4, 4]), np.array([4, 7]), longest]:
        recommended = recommend(predictor, Request(tuple(history.tolist()), k))
        items, scores = [row.item for row in recommended], [row.score for row in recommended]
        assert len(recommended) == min(k, WORLD.n_items - len({*history.tolist()}))
        assert not {*items} & {*history.tolist()}
        assert {*items} <= {*range(WORLD.n_items)}
        assert np.isfinite(scores).all()
        order = np.lexsort((items, [-score for score in scores]))
        assert (np.diff(order) == 1).all()
        assert len({*items}) == len(items)


def test_an_unknown_item_raises_an_error(variant, model):
    predictor = Predictor(WORLD, registry.get(variant), model)
    padding, mask = WORLD.n_items, WORLD.n_items + 1
    for unknown in (padding, mask, -1, 10**12):
        with pytest.raises(ServingError, match=f"there is no item {unknown} among {WORLD.n_items}"):
            recommend(predictor, Request((3, unknown, 4)))


def test_scores_belong_to_the_caller(model):
    """The caller may change the scores, for example to hide seen items, without an effect on later calls."""
    scores = model.score(Queries(HISTORIES))
    kept = scores.copy()
    scores[:] = -np.inf
    np.testing.assert_array_equal(model.score(Queries(HISTORIES)), kept)


def test_scores_do_not_depend_on_the_other_queries_of_a_batch(model):
    together = model.score(Queries(HISTORIES))
    for row, history in enumerate(HISTORIES):
        alone = model.score(Queries([history]))
        np.testing.assert_allclose(alone[0], together[row], rtol=1e-4, atol=1e-5)


def test_a_loaded_state_scores_the_same(model):
    again = with_members(type(model)(model.config))
    again.load_state({name: array.copy() for name, array in model.state().items()}, WORLD.n_items)
    np.testing.assert_array_equal(again.score(Queries(HISTORIES)), model.score(Queries(HISTORIES)))


def test_a_state_with_another_number_of_items_is_refused(model):
    with pytest.raises((KeyError, ValueError)):
        type(model)(model.config).load_state(model.state(), WORLD.n_items + 1)
    with pytest.raises((KeyError, ValueError)):
        type(model)(model.config).load_state({}, WORLD.n_items)


@for_models(lambda model: not model.state_has_histories)
def test_a_state_contains_no_users(model):
    """No array has a row per user or an entry per event."""
    train = leave_one_out(WORLD).train
    for name, array in model.state().items():
        assert isinstance(array, np.ndarray), name
        assert array.dtype != object, name
        assert train.n_users not in array.shape, name
        assert len(train.interactions) not in array.shape, name


def test_the_same_seed_gives_the_same_scores(variant, model):
    np.testing.assert_array_equal(toy_fitted(variant).score(Queries(HISTORIES)), model.score(Queries(HISTORIES)))


def test_fit_returns_the_model_and_does_not_change_the_data(variant):
    split = leave_one_out(WORLD)
    items = split.train.interactions.item.copy()
    model = unfitted(variant)
    assert model.fit(split.train, HeldOut(split.valid.queries, split.valid.targets), RunOptions(device="cpu")) is model
    np.testing.assert_array_equal(split.train.interactions.item, items)
