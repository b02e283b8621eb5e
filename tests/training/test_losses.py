import itertools
from typing import get_args

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from recsys.training import losses
from recsys.training.losses import PAIRWISE


def example(positions=50, items=37, dim=8):
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(positions, dim, generator=generator, requires_grad=True)
    weight = torch.randn(items, dim, generator=generator, requires_grad=True)
    bias = torch.randn(items, generator=generator, requires_grad=True)
    return hidden, weight, bias, torch.randint(items, (positions,), generator=generator)


P = torch.tensor([8, 4, 2, 1, 1]) / 16  # what comes next, in the one context that there is


def outcomes(shares):
    """Draws that stand for a distribution: each film as often as its share, in sixteenths, says."""
    return torch.repeat_interleave((shares * 16).round().long())


def lowest(loss):
    """The scores (I,) of one context at which a loss is lowest."""
    scores = torch.zeros(len(P), requires_grad=True)
    optimiser = torch.optim.LBFGS([scores], max_iter=200, line_search_fn="strong_wolfe", tolerance_grad=1e-6)

    def closure():
        optimiser.zero_grad()
        value = loss(torch.zeros(1), torch.zeros(len(P), 1), scores)
        value.backward()
        return value

    optimiser.step(closure)
    return scores.detach()


def sampled(q, log_q, k=2):
    """The sampled softmax with every possible draw of k negatives from q for every possible target, each as likely."""
    draws = torch.tensor(list(itertools.product(*[outcomes(P).tolist()] + [outcomes(q).tolist()] * k)))

    def loss(hidden, weight, scores):
        hidden = hidden.expand(len(draws), 1)
        return losses.sampled_softmax(hidden, weight, scores, draws[:, 0], draws[:, 1:], log_q) / len(draws)

    return loss


@pytest.mark.parametrize("q", [P, torch.tensor([12, 1, 1, 1, 1]) / 16, torch.tensor([1, 1, 2, 4, 8]) / 16])
def test_the_corrected_sampled_softmax_is_lowest_at_the_true_probabilities(q):
    probabilities = lowest(sampled(q, q.log())).softmax(0)
    torch.testing.assert_close(probabilities, P, rtol=0, atol=1e-3)


@pytest.mark.parametrize("q", [P, torch.tensor([12, 1, 1, 1, 1]) / 16])
def test_without_the_correction_films_come_last_that_are_drawn_more_than_watched(q):
    probabilities = lowest(sampled(q, torch.zeros(len(P)))).softmax(0)
    torch.testing.assert_close(probabilities, (P / q) / (P / q).sum(), rtol=0, atol=1e-3)


def test_shared_negatives_are_the_same_negatives_for_each():
    *leaves, targets = example()
    negatives, log_q = torch.randint(37, (5,)), torch.randn(37)
    each = negatives.expand(len(targets), 5)
    shared = losses.sampled_softmax(*leaves, targets, negatives, log_q)
    torch.testing.assert_close(shared, losses.sampled_softmax(*leaves, targets, each, log_q))
    shared = losses.gbce(*leaves, targets, negatives, 0.5)
    torch.testing.assert_close(shared, losses.gbce(*leaves, targets, each, 0.5))


def test_the_sampled_softmax_equals_torch_on_the_scores_it_chose():
    *leaves, targets = example()
    negatives, log_q = torch.randint(37, (len(targets), 5)), torch.randn(37)
    ours = losses.sampled_softmax(*leaves, targets, negatives, log_q)
    corrected = leaves[0] @ leaves[1].T + leaves[2] - log_q
    chosen = corrected.gather(1, torch.cat([targets[:, None], negatives], 1))
    expected = F.cross_entropy(chosen, torch.zeros_like(targets), reduction="sum")
    torch.testing.assert_close(ours, expected)
    gradients, correct = torch.autograd.grad(ours, leaves), torch.autograd.grad(expected, leaves)
    torch.testing.assert_close(gradients, correct, rtol=1e-4, atol=1e-5)


def calibrated(t):
    """gBCE with one negative, each of the films that are not the target equally often, for every possible target."""
    n = len(P)
    pairs = torch.tensor([(y, film) for y in outcomes(P).tolist() for film in range(n) if film != y])

    def loss(hidden, weight, scores):
        hidden = hidden.expand(len(pairs), 1)
        return losses.gbce(hidden, weight, scores, pairs[:, 0], pairs[:, 1:], t) / len(pairs)

    return lowest(loss).sigmoid()


def test_gbce_is_calibrated_at_one_and_too_sure_of_itself_at_zero():
    torch.testing.assert_close(calibrated(1), P, rtol=0, atol=1e-3)
    alpha = 1 / (len(P) - 1)
    torch.testing.assert_close(calibrated(0), P / (P + alpha * (1 - P)), rtol=0, atol=1e-3)
    assert (calibrated(0) > P + 0.1).all()
    assert calibrated(0.75).sum() < calibrated(0.5).sum()


def test_gbce_equals_the_papers_formula():
    *leaves, targets = example()
    negatives = (targets[:, None] + torch.tensor([1, 5, 9])) % 37  # none is the target
    scores = leaves[0] @ leaves[1].T + leaves[2]
    alpha, t = 3 / 36, 0.75
    beta = alpha * (t * (1 - 1 / alpha) + 1 / alpha)
    positive, negative = scores.gather(1, targets[:, None]).sigmoid(), scores.gather(1, negatives).sigmoid()
    expected = -(positive**beta).log().sum() - (1 - negative).log().sum()
    torch.testing.assert_close(losses.gbce(*leaves, targets, negatives, t), expected, rtol=1e-4, atol=0)


def test_gbce_leaves_out_a_negative_that_is_the_target():
    *leaves, targets = example()
    spared = torch.stack([targets, targets], 1)
    scores = (leaves[0] @ leaves[1].T + leaves[2]).gather(1, targets[:, None])
    beta = 1 - 0.75 * (1 - 2 / 36)  # the paper's β for t = .75 and α = 2 / 36
    ours = losses.gbce(*leaves, targets, spared, 0.75)
    torch.testing.assert_close(ours, -beta * F.logsigmoid(scores).sum())
    assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(ours, leaves))


@pytest.mark.parametrize("name", ["sampled-softmax", "gbce", *PAIRWISE])
def test_huge_scores_do_not_overflow_in_a_sampled_loss(name):
    *leaves, targets = example()
    loss = losses.make_item_loss(name, 4, 0.75, np.ones(37))(leaves[0] * 1e4, *leaves[1:], targets)
    assert torch.isfinite(loss)
    assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(loss, leaves))


@pytest.mark.parametrize("name", get_args(losses.LossName))
def test_every_loss_learns_what_is_likely_and_repeats_itself_for_a_seed(name):
    counts = (P.numpy() * 1600).astype(int)
    power = 0 if name in PAIRWISE else 0.75  # BPR and its like correct nothing: with it, log p - log q is learnt
    loss = losses.make_item_loss(name, negatives=4, gbce_t=0.75, counts=counts, sampling_power=power)
    targets = torch.from_numpy(np.random.default_rng(0).permutation(np.repeat(np.arange(5), counts)))

    def learn():
        torch.manual_seed(0)
        scores = torch.zeros(5, requires_grad=True)
        optimiser = torch.optim.Adam([scores], lr=0.05)
        for batch in targets.split(40) * 5:
            optimiser.zero_grad()
            loss(torch.zeros(len(batch), 1), torch.zeros(5, 1), scores, batch).backward()
            optimiser.step()
        return scores.detach()

    scores = learn()
    assert scores.argmax() == 0
    assert scores[:3].min() > scores[3:].max()
    assert torch.equal(scores, learn())


@pytest.mark.parametrize("name", get_args(losses.LossName))
def test_every_loss_of_no_position_is_nothing(name):
    *leaves, targets = example(positions=0)
    loss = losses.make_item_loss(name, negatives=4, gbce_t=0.75, counts=np.ones(37))(*leaves, targets)
    assert loss == 0
    assert all(not gradient.any() for gradient in torch.autograd.grad(loss, leaves))


def test_bce_is_that_of_each_target_and_an_item_of_its_own_with_the_scores_as_they_are(monkeypatch):
    hidden, weight, bias, _ = example()
    targets, drawn = torch.full((50,), 36), torch.arange(50)[:, None] % 36
    monkeypatch.setattr(torch, "randint", lambda *size, **where: drawn)
    scores = hidden @ weight.T + bias
    pairs = torch.cat([scores[:, 36:], scores.gather(1, drawn)], 1)
    expected = F.binary_cross_entropy_with_logits(pairs, torch.tensor([1.0, 0.0]).expand(50, 2), reduction="sum")
    ours = losses.make_item_loss("bce", 1, 0.75, np.ones(37))(hidden, weight, bias, targets)
    torch.testing.assert_close(ours, expected)


def test_positions_share_many_negatives_of_gbce_but_not_few(monkeypatch):
    drawn = []
    monkeypatch.setattr(losses, "gbce", lambda *given: drawn.append(given[4]))
    *leaves, targets = example()
    for negatives in (8, 9):
        losses.make_item_loss("gbce", negatives, 0.75, np.ones(37))(*leaves, targets)
    assert [tuple(films.shape) for films in drawn] == [(50, 8), (9,)]


def test_the_sampled_softmax_is_corrected_by_the_distribution_that_it_draws_from(monkeypatch):
    given = []
    monkeypatch.setattr(losses, "sampled_softmax", lambda *arguments: given.extend(arguments[-2:]))
    *leaves, targets = example(items=4)
    losses.make_item_loss("sampled-softmax", 200_000, 0, np.array([5, 99, 24, 0]), sampling_power=0.5)(*leaves, targets)
    negatives, log_q = given
    frequencies = torch.bincount(negatives, minlength=4) / len(negatives)
    torch.testing.assert_close(log_q.exp(), frequencies, rtol=0.05, atol=0)


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
    return -np.log(np.sum(s * sigmoid(target - others))) + losses.BPR_MAX_PENALTY * np.sum(s * others**2)


@pytest.mark.parametrize("name", PAIRWISE)
def test_each_loss_is_the_papers_formula(name):
    rng = np.random.default_rng(0)
    target, others = rng.normal(size=(5, 1)), rng.normal(size=(5, 7))
    expected = sum(by_hand(name, *row) for row in zip(target[:, 0], others, strict=True))
    ours = PAIRWISE[name](torch.from_numpy(target), torch.from_numpy(others), torch.ones(5, 7, dtype=torch.bool))
    assert ours.item() == pytest.approx(expected)


@pytest.mark.parametrize("name", PAIRWISE)
def test_a_negative_that_is_the_target_is_as_good_as_not_drawn(name):
    positive, negative = torch.randn(4, 1), torch.randn(4, 6)
    counts = torch.ones(4, 6, dtype=torch.bool)
    counts[:, 2] = False
    without = negative[:, [0, 1, 3, 4, 5]]
    expected = PAIRWISE[name](positive, without, torch.ones(4, 5, dtype=torch.bool))
    share = 1 if name.endswith("-max") else 5 / 6  # the others take the mean over six all the same
    torch.testing.assert_close(PAIRWISE[name](positive, negative, counts), share * expected)


@pytest.mark.parametrize("name", PAIRWISE)
def test_where_no_negative_counts_there_is_no_loss_and_no_gradient(name):
    hidden, weight, bias, _ = example(items=1)
    loss = losses.make_item_loss(name, 5, 0.75, np.ones(1), 0)(hidden, weight, bias, torch.zeros(50, dtype=torch.long))
    assert loss == 0
    assert all(not gradient.any() for gradient in torch.autograd.grad(loss, (hidden, weight, bias)))


@pytest.mark.parametrize("name", PAIRWISE)
def test_inside_autocast_only_the_products_are_rounded(name):
    *leaves, targets = example()
    loss = losses.make_item_loss(name, 20, 0.75, np.ones(37), 0)
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


def drawn(power, counts):
    """How often each item but the first is drawn, as shares: all scores being 0, its gradient is in proportion."""
    bias = torch.zeros(len(counts), requires_grad=True)
    torch.manual_seed(0)
    loss = losses.make_item_loss("bpr", 4000, 0.75, np.array(counts), power)
    loss(torch.zeros(1, 1), torch.zeros(len(counts), 1), bias, torch.tensor([0])).backward()
    return (bias.grad[1:] / bias.grad[1:].sum()).numpy()


def test_negatives_are_drawn_by_popularity_to_a_power():
    counts = [5, 99, 24, 3]
    np.testing.assert_allclose(drawn(0, counts), [1 / 3, 1 / 3, 1 / 3], atol=0.03)
    np.testing.assert_allclose(drawn(0.5, counts), np.array([10, 5, 2]) / 17, atol=0.03)  # of the counts + 1
    np.testing.assert_allclose(drawn(1, counts), np.array([100, 25, 4]) / 129, atol=0.03)


@pytest.mark.parametrize(("negatives", "items", "drawn"), [(256, 40, 39), (4, 3, 2), (8, 1, 1), (5, 37, 5)])
def test_gbce_draws_fewer_negatives_than_there_are_items(monkeypatch, negatives, items, drawn):
    """The paper's sampling rate α is a share of the items that are not the target: at most 1."""
    used, gbce = [], losses.gbce
    monkeypatch.setattr(losses, "gbce", lambda *given: used.append(given[4]) or gbce(*given))
    *leaves, targets = example(items=items)
    assert losses.make_item_loss("gbce", negatives, 0.75, np.ones(items))(*leaves, targets).isfinite()
    assert used[0].shape[-1] == drawn
