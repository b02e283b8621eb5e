import subprocess
import sys

import numpy as np
import pytest
import torch

from recsys.training import pairwise
from recsys.training.losses import item_loss
from recsys.training.pairwise import PAIRWISE, PENALTY, Pairwise

NAMES = sorted(PAIRWISE)


def example(positions=50, items=37, dim=8):
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(positions, dim, generator=generator, requires_grad=True)
    weight = torch.randn(items, dim, generator=generator, requires_grad=True)
    bias = torch.randn(items, generator=generator, requires_grad=True)
    return hidden, weight, bias, torch.randint(items, (positions,), generator=generator)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def by_hand(name, target, others):
    """One position's loss in plain NumPy, as the papers write it."""
    if name == "bpr":
        return -np.mean(np.log(sigmoid(target - others)))
    if name == "top1":
        return np.mean(sigmoid(others - target) + sigmoid(others**2))
    s = np.exp(others) / np.exp(others).sum()
    if name == "top1-max":
        return np.sum(s * (sigmoid(others - target) + sigmoid(others**2)))
    return -np.log(np.sum(s * sigmoid(target - others))) + PENALTY * np.sum(s * others**2)


@pytest.mark.parametrize("name", NAMES)
def test_each_loss_is_the_papers_formula(name):
    rng = np.random.default_rng(0)
    target, others = rng.normal(size=(5, 1)), rng.normal(size=(5, 7))
    expected = sum(by_hand(name, *row) for row in zip(target[:, 0], others, strict=True))
    ours = PAIRWISE[name](torch.from_numpy(target), torch.from_numpy(others), torch.ones(5, 7, dtype=torch.bool))
    assert ours.item() == pytest.approx(expected)


@pytest.mark.parametrize("name", NAMES)
def test_a_negative_that_is_the_target_is_as_good_as_not_drawn(name):
    positive, negative = torch.randn(4, 1), torch.randn(4, 6)
    counts = torch.ones(4, 6, dtype=torch.bool)
    counts[:, 2] = False
    without = negative[:, [0, 1, 3, 4, 5]]
    expected = PAIRWISE[name](positive, without, torch.ones(4, 5, dtype=torch.bool))
    share = 1 if name.endswith("-max") else 5 / 6  # the others take the mean over six all the same
    torch.testing.assert_close(PAIRWISE[name](positive, negative, counts), share * expected)


@pytest.mark.parametrize("name", NAMES)
def test_where_no_negative_counts_there_is_no_loss_and_no_gradient(name):
    hidden, weight, bias, _ = example(items=1)
    loss = Pairwise(name, 5, np.ones(1), 0)(hidden, weight, bias, torch.zeros(50, dtype=torch.long))
    assert loss == 0
    assert all(not gradient.any() for gradient in torch.autograd.grad(loss, (hidden, weight, bias)))


def the_plain_way(name, draws, hidden, weight, bias, targets):
    """The same loss by autograd alone, all scores at once."""
    scores = hidden @ weight.T + bias
    return PAIRWISE[name](scores.gather(1, targets[:, None]), scores[:, draws], draws != targets[:, None])


@pytest.mark.parametrize("name", NAMES)
def test_chunks_change_neither_value_nor_gradient(name, monkeypatch):
    monkeypatch.setitem(pairwise.CHUNK_SCORES, "cpu", 7 * 20)  # seven positions at a time; the last chunk is short
    *leaves, targets = example()
    torch.manual_seed(3)
    ours = Pairwise(name, 20, np.ones(37), 0)(*leaves, targets)
    torch.manual_seed(3)
    draws = (torch.rand(20, dtype=torch.float64) * 37).long()
    expected = the_plain_way(name, draws, *leaves, targets)
    torch.testing.assert_close(ours, expected)
    gradients, correct = torch.autograd.grad(ours / 3, leaves), torch.autograd.grad(expected / 3, leaves)
    torch.testing.assert_close(gradients, correct, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_inside_autocast_only_the_products_are_rounded(name):
    *leaves, targets = example()
    loss = Pairwise(name, 20, np.ones(37), 0)
    torch.manual_seed(0)
    exact = loss(*leaves, targets)
    torch.manual_seed(0)
    with torch.autocast("cpu", torch.bfloat16):
        ours = loss(*leaves, targets)
    assert ours.dtype == torch.float32
    torch.testing.assert_close(ours, exact, rtol=5e-3, atol=0)
    for gradient, correct in zip(torch.autograd.grad(ours, leaves), torch.autograd.grad(exact, leaves), strict=True):
        assert gradient.dtype == torch.float32
        assert 0 < (gradient - correct).norm() < 0.02 * correct.norm()


@pytest.mark.parametrize("name", NAMES)
def test_huge_scores_do_not_overflow(name):
    hidden, *leaves, targets = example()
    loss = Pairwise(name, 20, np.ones(37), 0)(hidden * 1e4, *leaves, targets)
    assert torch.isfinite(loss)
    assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(loss, leaves))


PEAK = """
import resource, numpy as np, torch
from recsys.training.pairwise import Pairwise

def peak(positions, negatives):
    hidden, weight = torch.randn(positions, 4, requires_grad=True), torch.randn(500, 4, requires_grad=True)
    loss = Pairwise("bpr-max", negatives, np.ones(500), 0)
    loss(hidden, weight, torch.zeros(500), torch.randint(500, (positions,))).backward()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10

print(peak(1_500, 1_000), peak(15_000, 1_000), peak(1_500, 10_000))
"""


def test_ten_times_the_scores_need_no_more_memory():
    answer = subprocess.run([sys.executable, "-c", PEAK], capture_output=True, text=True, check=True, timeout=120)
    small, more_positions, more_negatives = map(int, answer.stdout.split())  # MB
    assert more_positions - small < 30  # one array of all scores would be 60 MB, and there are ten of them
    assert more_negatives - small < 30


def drawn(power, counts):
    """How often each item but the first is drawn, as shares: all scores being 0, its gradient is in proportion."""
    bias = torch.zeros(len(counts), requires_grad=True)
    torch.manual_seed(0)
    loss = Pairwise("bpr", 4000, np.array(counts), power)
    loss(torch.zeros(1, 1), torch.zeros(len(counts), 1), bias, torch.tensor([0])).backward()
    return (bias.grad[1:] / bias.grad[1:].sum()).numpy()


def test_negatives_are_drawn_by_popularity_to_a_power():
    counts = [5, 99, 24, 3]
    np.testing.assert_allclose(drawn(0, counts), [1 / 3, 1 / 3, 1 / 3], atol=0.03)
    np.testing.assert_allclose(drawn(0.5, counts), np.array([10, 5, 2]) / 17, atol=0.03)  # of the counts + 1
    np.testing.assert_allclose(drawn(1, counts), np.array([100, 25, 4]) / 129, atol=0.03)


def test_popularity_in_the_draw_is_popularity_taken_from_the_scores():
    """The scores of lowest BPR are log p - log q: with q = p all are equal."""
    counts = np.array([320, 80, 20])
    targets = torch.from_numpy(np.repeat(np.arange(3), counts))
    learnt = {}
    for power in (0.0, 1.0):
        loss = item_loss("bpr", 64, 0.75, counts, power)
        scores = torch.zeros(3, requires_grad=True)
        optimiser = torch.optim.Adam([scores], lr=0.05)
        torch.manual_seed(0)
        for _ in range(120):
            optimiser.zero_grad()
            (loss(torch.zeros(len(targets), 1), torch.zeros(3, 1), scores, targets) / len(targets)).backward()
            optimiser.step()
        learnt[power] = (scores[0] - scores[2]).item()
    assert learnt[0.0] == pytest.approx(np.log(16), abs=0.3)
    assert learnt[1.0] == pytest.approx(0, abs=0.3)
