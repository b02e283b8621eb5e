import numpy as np
import pytest
import torch
from torch.distributions import Multinomial, Normal, kl_divergence

from recsys.data.dataset import Queries
from recsys.data.split import leave_one_out
from recsys.models.multvae import MultVae, MultVaeConfig
from recsys.training.batches import CounterRNG
from recsys.training.options import RunOptions
from tests import toys
from tests.models.configs import changed, untrained

HISTORIES = [np.array([3, 1, 4, 1, 5]), np.array([2, 7])]


def small_multvae(**settings):
    return untrained(MultVae(MultVaeConfig(**({"hidden": 12, "latent": 6} | settings))), n_items=10)


def test_it_learns_which_films_are_watched_together():
    split = leave_one_out(toys.checkerboard(60))
    config = changed(MultVaeConfig(hidden=32, latent=8), epochs=20, batch_size=8, lr=1e-2, warmup_steps=5)
    model = MultVae(config).fit(split.train, split.valid, RunOptions(device="cpu"))
    even, odd = model.score(Queries([np.array([0, 2, 4]), np.array([1, 3])]))
    assert even[0::2].min() > even[1::2].max()
    assert odd[1::2].min() > odd[0::2].max()


def test_scores_are_those_of_the_papers_network_for_the_mean():
    model = small_multvae()
    module = model.module
    x = torch.zeros(10)
    x[[1, 3, 4, 5]] = 1
    hidden = torch.tanh(x / x.norm() @ module.items.weight[:10] + module.input_bias)
    mean = (module.encoder.weight @ hidden + module.encoder.bias)[:6]
    expected = module.output @ torch.tanh(module.decoder.weight @ mean + module.decoder.bias) + module.bias
    np.testing.assert_allclose(model.score(Queries(HISTORIES))[0], expected.detach(), rtol=1e-4, atol=1e-6)


def test_neither_order_nor_repetition_changes_a_score():
    model = small_multvae()
    scores = model.score(Queries([np.array([3, 1, 4, 1, 5]), np.array([5, 4, 3, 1])]))
    np.testing.assert_array_equal(scores[0], scores[1])


def test_an_empty_history_is_scored_from_biases_alone():
    model = small_multvae()
    with torch.no_grad():
        model.module.items.weight.zero_()
    scores = model.score(Queries([np.array([], int), np.array([3, 1])]))
    np.testing.assert_array_equal(scores[0], scores[1])


def test_the_loss_is_the_negative_evidence_lower_bound():
    model = small_multvae(schedule=changed(MultVaeConfig(), epochs=10, batch_size=2).schedule)
    (batch,) = model.batches(Queries(HISTORIES), 10, CounterRNG(0, 2))  # epoch 2 of 10; annealing ends after 5
    assert batch.beta.item() == pytest.approx(0.2 * 2 / 5)
    torch.manual_seed(1)
    loss = model.loss(model.module, batch)
    torch.manual_seed(1)
    mean, log_variance = model.module.encode(batch.tokens)
    q = Normal(mean, (log_variance / 2).exp())
    logits = model.module.logits(model.module.decode(mean + q.scale * torch.randn_like(mean)))
    expected = batch.beta * kl_divergence(q, Normal(0.0, 1.0)).sum()
    for row, tokens in enumerate(batch.tokens):
        x = torch.bincount(tokens, minlength=11)[:10].double()
        counts = int(x.sum())
        multinomial = Multinomial(counts, logits=logits[row].double())
        arrangements = torch.lgamma(torch.tensor(counts + 1.0))  # the paper leaves out this constant
        expected = expected - multinomial.log_prob(x) + arrangements
    torch.testing.assert_close(loss.double(), expected.double(), rtol=1e-4, atol=1e-4)


def test_annealing_ends_at_the_weight_of_the_configuration():
    model = small_multvae(schedule=changed(MultVaeConfig(), epochs=10, batch_size=1).schedule)
    weights = [
        batch.beta.item()
        for epoch in range(10)
        for batch in model.batches(Queries(HISTORIES), 10, CounterRNG(0, epoch))
    ]
    assert weights[0] == 0
    assert weights == sorted(weights)
    assert weights[10:] == pytest.approx([0.2] * 10)


def test_a_batch_without_loss_has_no_gradient():
    model = small_multvae()
    (batch,) = model.batches(Queries(HISTORIES), 10, CounterRNG(0, 5))
    loss = model.loss(model.module, batch.without_targets())
    loss.backward()
    assert loss == 0
    assert all(not weight.grad.any() for weight in model.module.parameters())
