"""The contract of all networks. Every network of the registry is tested."""

import numpy as np
import pytest
import torch

from recsys.data.dataset import HeldOut, Queries
from recsys.data.split import leave_one_out
from recsys.models import registry
from recsys.models.sequence_model import SequenceModel
from recsys.ranking import metrics
from recsys.training.batches import CounterRNG
from recsys.training.options import RunOptions
from tests import toys
from tests.models.configs import TOY_CONFIGS, changed, untrained

N_ITEMS = 30
START = N_ITEMS + 1  # token before the first item
LEARNING = {
    "dim": 32,
    "length": 10,
    "hidden": 32,
    "dropout": 0.0,
    "epochs": 30,
    "batch_size": 16,
    "lr": 5e-3,
    "warmup_steps": 20,
    "validate_every": 2,
    "patience": 5,
    "ema_decay": 0.9,
}


def initialised(name):
    """Return the recommender with a module that has large random weights, and its training data."""
    recommender = registry.get(name)
    config = recommender.preset("")
    large = {"init": 0.5} if hasattr(config, "init") else {}
    model = untrained(recommender.model(changed(config, **TOY_CONFIGS[name], **large)), N_ITEMS)
    train = leave_one_out(toys.cycle(N_ITEMS, 8, 8)).train
    model.initialise(model.module, train, 0)
    return model, train


def predicts_each_position(name):
    """Return whether the state at each position of a training sample predicts the next item."""
    return registry.get(name).model_class.collate is SequenceModel.collate


def depends_on_order(name):
    """Return whether the order of a history changes the scores."""
    scores, permuted = initialised(name)[0].score(Queries([np.array([3, 9, 5]), np.array([9, 5, 3])]))
    return not np.allclose(scores, permuted, atol=1e-4)


NETWORKS = [name for name in registry.names() if issubclass(registry.get(name).model_class, SequenceModel)]
CAUSAL = [name for name in NETWORKS if predicts_each_position(name)]
ORDERED = [name for name in CAUSAL if depends_on_order(name)]
FIRST_OF_CLASS = {registry.get(name).model_class: name for name in reversed(ORDERED)}.values()


@pytest.mark.parametrize("name", CAUSAL)
def test_a_later_item_changes_no_earlier_state(name):
    module = initialised(name)[0].module
    states = module(torch.tensor([[START, 4, 8, 15, 16], [START, 4, 8, 23, 29]]))
    torch.testing.assert_close(states[0, :3], states[1, :3])
    assert not torch.allclose(states[0, 3], states[1, 3])


@pytest.mark.parametrize("name", CAUSAL)
def test_states_at_some_positions_are_those_of_all_positions(name):
    module = initialised(name)[0].module
    tokens, positions = torch.randint(N_ITEMS, (3, 7)), torch.tensor([[6, 0], [2, 2], [5, 1]])
    tokens[:, 0] = START
    loss_index = module(tokens)[torch.arange(3)[:, None], positions]
    torch.testing.assert_close(module(tokens, positions), loss_index, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", NETWORKS)
def test_every_weight_learns(name):
    model, train = initialised(name)
    model.item_loss = model.make_loss(train)
    (batch,) = model.batches(Queries(train.histories), N_ITEMS, CounterRNG(0, 0))
    model.loss(model.module.train(), batch).backward()
    for weight_name, weight in model.module.named_parameters():
        if weight.requires_grad:
            assert weight.grad is not None, weight_name
            assert weight.grad.any(), weight_name


@pytest.mark.parametrize(
    "name", [name if name in FIRST_OF_CLASS else pytest.param(name, marks=pytest.mark.slow) for name in ORDERED]
)
def test_it_learns_that_the_next_item_is_the_last_plus_one(name):
    split = leave_one_out(toys.cycle(n_items=20, n_users=120, length=10))
    recommender = registry.get(name)
    config = recommender.preset("")
    settings = {key: value for key, value in LEARNING.items() if hasattr(config, key) or hasattr(config.schedule, key)}
    model = recommender.model(changed(config, **settings)).fit(split.train, split.valid, RunOptions(device="cpu"))
    histories = split.test.queries.histories
    ranks = metrics.target_ranks(model.score(split.test.queries), split.test.targets, histories)
    assert metrics.summary(ranks)["hr@1"] > 0.9
    scores = model.score(Queries([np.array([7])]))[0]  # of an unknown user
    scores[7] = -np.inf
    assert scores.argmax() == 8


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("bert4rec", "sasrec-softmax", "gru4rec-ce", "stamp"), True),
        (("sasrec-bce", "gsasrec", "sasrec-paper", "gru4rec-bpr", "gru4rec-plus", "caser"), False),
    ],
)
def test_only_a_softmax_gives_probabilities_that_users_see(names, expected):
    assert {registry.get(name).model().has_probabilities for name in names} == {expected}


def test_calibration_changes_the_probabilities_by_length_and_not_the_order():
    """Logits of a random network are multiplied by 8, so its probabilities are far too high."""
    model, _ = initialised("sasrec-softmax")
    with torch.no_grad():
        model.module.items.weight.mul_(8)
    rng = np.random.default_rng(0)
    histories = [rng.integers(0, N_ITEMS, length) for length in rng.integers(1, 8, 400)]
    valid = HeldOut(Queries(histories), rng.integers(0, N_ITEMS, 400))  # targets are random
    queries = Queries([np.array([4]), np.array([4, 9, 2])])
    before = model.score(queries)

    def log_loss():
        scores = model.score(valid.queries).astype(np.float64)
        return np.mean(np.logaddexp.reduce(scores, 1) - scores[np.arange(400), valid.targets])

    loss_before = log_loss()
    model.calibrate(valid)
    after = model.score(queries)
    assert np.array_equal(np.argsort(-before), np.argsort(-after))
    assert log_loss() < loss_before - 1
    assert log_loss() < np.log(N_ITEMS) + 0.5  # nothing is known about random targets
    factors = model.calibration.weights[[0, 2]]  # of the ranges of one film and of three films
    np.testing.assert_allclose(after, factors * before, rtol=1e-5)
    restored = registry.get("sasrec-softmax").model(model.config)
    restored.load_state(model.state(), N_ITEMS)
    assert np.array_equal(restored.score(queries), after)
