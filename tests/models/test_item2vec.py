from functools import cache

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from recsys.data.dataset import Queries
from recsys.models.item2vec import Item2Vec, Item2VecConfig, NegativeSampling, neighbours
from recsys.training.batches import CounterRNG
from recsys.training.options import RunOptions
from tests import toys
from tests.models.configs import changed, fitted

SETTINGS = changed(Item2VecConfig(dim=8, length=30), epochs=25, batch_size=8, lr=3e-2, warmup_steps=10)
BOTH = pytest.mark.parametrize("cbow", [True, False])


@cache
def fitted_item2vec(**changes):
    return fitted(Item2Vec(changed(SETTINGS, **changes)), toys.checkerboard())


def sampled(histories, **changes):
    """Return (items, target) of each sample. Items are below 10, 10 is padding and 11 the start token."""
    model = Item2Vec(changed(SETTINGS, **changes))
    model.module = model.build(10)
    model.initialise(model.module, toys.dataset(histories, 10), 0)
    batch = model.collate(histories, np.arange(len(histories)), 10, CounterRNG(0, 0))
    return [(bag, target) for bag, target in zip(batch.tokens.tolist(), batch.targets.tolist(), strict=True)]


@BOTH
def test_vectors_of_items_that_are_watched_together_are_alike(cbow):
    vectors = torch.from_numpy(fitted_item2vec(cbow=cbow).state()["items.weight"][:30])
    cosines = F.cosine_similarity(vectors[:, None], vectors, dim=2)
    colour = torch.arange(30) % 2
    same_colour = (colour[:, None] == colour).float()  # 15 of the 30 items
    assert ((cosines * same_colour).mean(1) > (cosines * (1 - same_colour)).mean(1) + 0.2).all()


@BOTH
def test_it_recommends_the_colour_of_the_last_items(cbow):
    scores = fitted_item2vec(cbow=cbow).score(Queries([np.array([2, 8, 4]), np.array([1, 5, 7])]))
    assert scores[0, 10::2].min() > scores[0, 11::2].max()
    assert scores[1, 11::2].min() > scores[1, 10::2].max()


def test_skip_gram_predicts_each_neighbour_of_an_item():
    pairs = sampled([np.array([3, 5, 7]), np.array([2])], window=1)
    assert sorted(pairs) == [([3], 5), ([5], 3), ([5], 7), ([7], 5), ([11], 2), ([11], 3)]


def test_cbow_predicts_an_item_from_all_its_neighbours():
    bags = sampled([np.array([3, 5, 7]), np.array([2])], window=1, cbow=True)
    assert sorted((sorted(bag), target) for bag, target in bags) == [
        ([3, 7], 5),
        ([5, 10], 7),
        ([5, 11], 3),
        ([10, 11], 2),
    ]


def test_neighbours_are_nearer_than_the_window_and_never_in_another_history():
    row, window = np.array([0, 0, 0, 0, 1, 1]), np.array([1, 2, 3, 1, 3, 1])
    nearest = neighbours(np.arange(6), row, window, n_items=9, max_window=3)
    pairs = {(c, int(n)) for c, items in enumerate(nearest) for n in items if n != 9}
    all_pairs = {(c, n) for c in range(6) for n in range(6) if c != n and row[c] == row[n]}
    assert pairs == {(c, n) for c, n in all_pairs if abs(c - n) <= window[c]}


def test_older_items_of_a_history_weigh_less():
    model = fitted_item2vec(cbow=True, epochs=1, half_life=1.0)
    state = model.state()
    vectors = state["items.weight"]
    user = (4 * vectors[4] + 2 * vectors[8] + vectors[2] + vectors[31] / 2) / 7.5  # 31: the start
    scores = model.score(Queries([np.array([2, 8, 4])], are_whole=True))[0]
    np.testing.assert_allclose(scores, state["contexts.weight"] @ user + state["bias"], atol=1e-5)


def test_a_blank_is_filled_from_both_sides_and_the_nearest_items_weigh_most():
    model = fitted_item2vec(cbow=True, epochs=1, half_life=1.0)
    state = model.state()
    vectors = state["items.weight"]
    (scores,) = model.fill(np.array([2, 8, 0, 4]), np.array([2]))
    beside = (vectors[8] + vectors[4] + vectors[2] / 2 + vectors[31] / 4) / 2.75  # 31: the start
    np.testing.assert_allclose(scores, state["contexts.weight"] @ beside + state["bias"], atol=1e-5)
    left, right = model.fill(np.array([0, 0, 4]), np.array([0, 1]))  # a mask does not depend on other masks
    np.testing.assert_allclose(
        left, state["contexts.weight"] @ (vectors[31] * 2 + vectors[4]) / 3 + state["bias"], atol=1e-5
    )
    np.testing.assert_allclose(
        right, state["contexts.weight"] @ (vectors[31] + vectors[4] * 2) / 3 + state["bias"], atol=1e-5
    )


def test_a_blank_between_the_films_of_one_colour_gets_one_of_that_colour():
    model = fitted_item2vec(cbow=True)
    (scores,) = model.fill(np.array([2, 8, 0, 4, 6]), np.array([2]))
    assert scores[10::2].min() > scores[11::2].max()


def test_only_cbow_learns_an_item_from_both_of_its_sides():
    assert Item2Vec(changed(SETTINGS, cbow=True)).can_fill_masks
    assert not Item2Vec(changed(SETTINGS, cbow=False)).can_fill_masks


def test_an_empty_history_gets_what_is_watched_first():
    histories = [np.array([user % 3 or 4, 5, 6]) for user in range(30)]
    model = Item2Vec(changed(SETTINGS, window=1)).fit(toys.dataset(histories, 10), None, RunOptions(device="cpu"))
    assert set(np.argsort(-model.score(Queries([np.array([], np.int64)]))[0])[:3]) == {1, 2, 4}


def test_log_kq_is_subtracted_from_each_score():
    """A score of log k q gives σ(0) = 1/2, which costs log 2 for the target and for each of k negatives."""
    q = np.array([0.5, 0.3, 0.2])
    loss = NegativeSampling(5, q)
    bias = torch.from_numpy(np.log(5 * q)).float()
    total = loss(torch.zeros(4, 2), torch.zeros(3, 2), bias, torch.tensor([0, 1, 2, 0]))
    assert total.item() == pytest.approx(4 * 6 * np.log(2), rel=1e-5)


def test_the_loss_is_that_of_word2vec():
    torch.manual_seed(0)
    hidden, weight, bias = torch.randn(4, 8), torch.randn(9, 8), torch.randn(9)
    targets, drawn = torch.tensor([0, 8, 3, 3]), torch.tensor([1, 3, 3, 5, 7])
    probability = torch.sigmoid(hidden @ weight.T + bias)
    expected = sum(
        -torch.log(probability[row, target]) - torch.log(1 - probability[row, drawn]).sum()
        for row, target in enumerate(targets)
    )
    loss = NegativeSampling(5, np.full(9, 1 / 9))
    loss.sampler = lambda n, device: drawn
    torch.testing.assert_close(loss(hidden, weight, bias + np.log(5 / 9), targets), expected)
