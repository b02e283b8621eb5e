"""What every recommender must do, whatever it has learnt. Being registered is all it takes to be tested here."""

import re
from functools import cache

import numpy as np
import pytest

from recsys.data.schema import HeldOut, Queries
from recsys.data.split import leave_one_out
from recsys.models import presets, registry
from recsys.models.registry import Recommender
from recsys.ranking.ranking import Ranking
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import Request, ServingError, recommend
from recsys.training.run import Run
from tests import toys
from tests.models.configs import TOY_CONFIGS, changed

pytestmark = pytest.mark.usefixtures("known_encoder")

WORLD = toys.cycle(n_items=20, n_users=61, length=8)  # 61: no layer is that wide
HISTORIES = [
    np.array([3, 4, 5]),
    np.array([], np.int64),  # nothing watched yet
    np.array([7]),
    np.arange(10_000) % WORLD.n_items,
    np.array([2, 2, 2, 9, 2, 9, 9]),
    np.arange(WORLD.n_items),  # everything there is
]


def unfitted(name):
    return standing(toy_model(name))


def toy_model(name):
    """The model with toy settings, without its members."""
    variant = registry.get(name)
    return variant.model(changed(variant.preset(WORLD.name), **TOY_CONFIGS[name]))


def standing(model):
    """The model with those that it stands on, if any, as the store would hand them over."""
    if model.members:
        model.set_members({name: member(name) for name in model.members})
    return model


@cache
def member(name):
    return fitted(name)


def fitted(name, seed=0):
    split = leave_one_out(WORLD)
    return unfitted(name).fit(split.train, split.valid, Run(seed=seed, device="cpu"))


def only_those(that):
    """Run a test for the recommenders of which `that(model)` is true."""
    names = [name for name in registry.names() if that(toy_model(name))]
    return pytest.mark.parametrize("variant", names, indirect=True)


@pytest.fixture(params=registry.names())
def variant(request):
    return request.param


@pytest.fixture
def model(variant, known_encoder):
    return fitted_once(variant)


@cache
def fitted_once(name):
    """A fitted model apart from `member(name)`, because a mixture removes the memory of its members."""
    return fitted(name)


def test_it_says_what_it_is(variant):
    found = registry.get(variant)
    assert isinstance(found, Recommender)
    assert found.name == variant
    assert found.title
    assert found.family
    assert found.model().title == found.title


def test_all_its_settings_are_of_its_own_kind(variant):
    found = registry.get(variant)
    for dataset in ("ml-1m", *presets.PRESETS.get(variant, ())):
        assert type(found.preset(dataset)) is found.model_class.Config


def test_every_item_gets_a_finite_score(model):
    scores = model.score(Queries(HISTORIES))
    assert scores.shape == (len(HISTORIES), WORLD.n_items)
    assert scores.dtype == np.float32
    assert np.isfinite(scores).all()


@only_those(lambda model: model.has_item_embeddings)
def test_item_embeddings_are_a_finite_row_for_every_item(model):
    vectors = model.item_embeddings()
    assert (len(vectors), vectors.ndim, vectors.dtype) == (WORLD.n_items, 2, np.float32)
    assert np.isfinite(vectors).all()


def test_what_it_does_not_declare_is_refused_in_words(model):
    tokens, positions = np.array([3, 4]), np.array([0])
    abilities = [
        (model.has_item_embeddings, model.item_embeddings, ()),
        (model.predicts_ratings, model.predicted_ratings, (Queries([tokens]),)),
        (model.has_attention, model.attention, (tokens,)),
        (model.can_fill_masks, model.fill, (tokens, positions)),
        (model.can_fill_masks and model.has_attention, model.training_example, (tokens,)),
        (model.can_fill_masks and model.has_attention, model.embed_tokens, (tokens,)),
    ]
    for declared, method, arguments in abilities:
        if not declared:
            with pytest.raises(NotImplementedError, match=re.escape(model.title)):
                method(*arguments)


@only_those(lambda model: model.predicts_ratings)
def test_predicted_ratings_are_finite_and_near_those_that_were_given(model):
    given = [np.full(len(history), 4, np.float32) for history in HISTORIES]
    found = model.predicted_ratings(Queries(HISTORIES, ratings=given))
    assert (found.shape, found.dtype) == ((len(HISTORIES), WORLD.n_items), np.float32)
    np.testing.assert_allclose(found, 4, atol=1e-3)  # everybody of the toy world gives 4 as well


@only_those(lambda model: model.has_attention)
def test_attention_is_a_share_for_every_pair_of_tokens(model):
    tokens = model.input_tokens(np.array([3, 4, 5]))
    weights = model.attention(tokens)
    assert weights.shape[2:] == (len(tokens), len(tokens))
    np.testing.assert_allclose(weights.sum(-1), 1, rtol=1e-5)


@only_those(lambda model: model.can_fill_masks)
def test_a_blank_is_filled_from_all_but_what_stands_there_and_at_the_end_like_the_next_item(model):
    history = np.array([3, 4, 5, 6])
    (middle,) = model.fill(history, np.array([1]))
    assert (middle.shape, middle.dtype) == ((WORLD.n_items,), np.float32)
    np.testing.assert_array_equal(model.fill(np.array([3, 9, 5, 6]), np.array([1]))[0], middle)
    for other in ([7, 4, 5, 6], [3, 4, 5, 7]):  # one side, then the other
        assert (model.fill(np.array(other), np.array([1]))[0] != middle).any()
    scores = getattr(model, "network_scores", model.score)  # a memory, which only reads forwards, fills no blanks
    np.testing.assert_allclose(model.fill(history, np.array([3])), scores(Queries([history[:3]])), rtol=1e-4, atol=1e-5)


def test_probabilities_that_people_see_are_those_of_the_listed_items(model):
    if not model.has_probabilities:
        pytest.skip("nobody sees any")
    seen = np.array([3, 4, 5])
    ranking = Ranking.from_scores(model.score(Queries([seen]))[0], seen, model.log_probabilities)
    found = ranking.probabilities(np.arange(WORLD.n_items))
    assert found.sum() == pytest.approx(1)
    assert (found[seen] == 0).all()


@only_those(lambda model: model.max_length is not None)
def test_it_reads_no_more_of_a_history_than_it_says(model):
    history = np.arange(100) % WORLD.n_items
    scores = getattr(model, "network_scores", model.score)  # a memory reads everything
    np.testing.assert_array_equal(scores(Queries([history])), scores(Queries([history[-model.max_length :]])))


def test_no_queries_give_no_scores(model):
    assert model.score(Queries([])).shape == (0, WORLD.n_items)


def test_known_and_unseen_users_are_both_served(model):
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
def test_any_history_gets_at_most_k_finite_unseen_items_and_equal_ones_in_their_order(variant, model, k):
    predictor = Predictor(WORLD, registry.get(variant), model)
    longest = np.arange(model.max_length or 200) % (WORLD.n_items - 3)
    for history in [*HISTORIES, np.array([4, 4]), np.array([4, 7]), longest]:
        found = recommend(predictor, Request(tuple(history.tolist()), k))
        items, scores = [one.item for one in found], [one.score for one in found]
        assert len(found) == min(k, WORLD.n_items - len({*history.tolist()}))
        assert not {*items} & {*history.tolist()}
        assert {*items} <= {*range(WORLD.n_items)}
        assert np.isfinite(scores).all()
        order = np.lexsort((items, [-score for score in scores]))
        assert (np.diff(order) == 1).all()
        assert len({*items}) == len(items)


def test_numbers_that_are_no_items_are_refused_in_words(variant, model):
    predictor = Predictor(WORLD, registry.get(variant), model)
    padding, mask = WORLD.n_items, WORLD.n_items + 1
    for unknown in (padding, mask, -1, 10**12):
        with pytest.raises(ServingError, match=f"there is no item {unknown} among {WORLD.n_items}"):
            recommend(predictor, Request((3, unknown, 4)))


def test_scores_belong_to_the_caller(model):
    """Whoever changes them, to hide seen items, must not change the next scores."""
    first = model.score(Queries(HISTORIES))
    kept = first.copy()
    first[:] = -np.inf
    np.testing.assert_array_equal(model.score(Queries(HISTORIES)), kept)


def test_scores_do_not_depend_on_the_other_queries_of_a_batch(model):
    together = model.score(Queries(HISTORIES))
    for row, history in enumerate(HISTORIES):
        alone = model.score(Queries([history]))
        np.testing.assert_allclose(alone[0], together[row], rtol=1e-4, atol=1e-5)


def test_a_loaded_state_scores_the_same(model):
    again = standing(type(model)(model.config))
    again.load_state({name: array.copy() for name, array in model.state().items()}, WORLD.n_items)
    np.testing.assert_array_equal(again.score(Queries(HISTORIES)), model.score(Queries(HISTORIES)))


def test_a_state_of_another_catalogue_is_refused(model):
    with pytest.raises((KeyError, ValueError)):
        type(model)(model.config).load_state(model.state(), WORLD.n_items + 1)
    with pytest.raises((KeyError, ValueError)):
        type(model)(model.config).load_state({}, WORLD.n_items)


@only_those(lambda model: not model.state_has_histories)
def test_state_is_arrays_that_hold_no_user(model):
    """No array has a row per user or an entry per event: what is written says nothing about a single person."""
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
    model = unfitted(variant)
    assert model.fit(split.train, HeldOut(split.valid.queries, split.valid.targets), Run(device="cpu")) is model
    np.testing.assert_array_equal(split.train.interactions.item, items)
