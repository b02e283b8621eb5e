import numpy as np
import torch

from recsys.data.schema import Queries
from recsys.data.split import leave_one_out
from recsys.models.stamp import Stamp, StampConfig
from recsys.ranking import metrics
from recsys.training.batches import Draws
from recsys.training.run import Run
from tests import toys
from tests.models.configs import changed


def untrained():
    model = Stamp(StampConfig(dim=16, length=20, init=0.5))
    torch.manual_seed(0)
    model.module = model.build(30)
    model.module.eval()
    return model


def test_it_learns_that_the_next_item_is_the_last_plus_one():
    split = leave_one_out(toys.cycle(n_items=20, n_users=120, length=10))
    config = changed(StampConfig(dim=32, length=10), epochs=12, batch_size=16, lr=1e-2, warmup_steps=20)
    model = Stamp(config).fit(split.train, split.valid, Run(device="cpu"))
    ranks = metrics.target_ranks(model.score(split.test.queries), split.test.targets, split.test.queries.histories)
    assert metrics.hit_rate(ranks, 1) > 0.95
    assert model.score(Queries([np.array([7])])).argmax() == 8  # the history of an unknown user


def by_hand(module, x):
    """Return h_s ⊙ h_t of one history x (T, D), item by item as the paper writes it."""
    m_s, m_t = x.mean(0), x[-1]
    query = module.w2.weight @ m_t + module.w3.weight @ m_s + module.w3.bias
    alphas = [module.attention.v.weight[0] @ torch.sigmoid(module.w1.weight @ item + query) for item in x]
    m_a = sum(alpha * item for alpha, item in zip(alphas, x, strict=True))
    h_s = torch.tanh(module.w_s.weight @ m_a + module.w_s.bias)
    h_t = torch.tanh(module.w_t.weight @ m_t + module.w_t.bias)
    return h_s * h_t


def test_each_position_has_the_state_of_the_papers_equations():
    module = untrained().module
    tokens = torch.randint(30, (1, 7))
    states = module(tokens)[0]
    for end in range(7):
        expected = module.norm(by_hand(module, module.items(tokens)[0, : end + 1]))
        torch.testing.assert_close(states[end], expected, rtol=1e-4, atol=1e-5)


def test_states_at_some_positions_are_those_of_all_positions():
    module = untrained().module
    tokens, at = torch.randint(32, (3, 7)), torch.tensor([[6, 0], [2, 2], [5, 1]])
    torch.testing.assert_close(module(tokens, at), module(tokens)[torch.arange(3)[:, None], at])


def test_every_weight_learns():
    model = untrained()
    split = leave_one_out(toys.cycle(30, 8, 8))
    model.item_loss = model.make_loss(split.train)
    model.loss(model.module.train(), model.collate(split.train.histories, np.arange(8), 30, Draws(0, 0))).backward()
    for name, weight in model.module.named_parameters():
        assert weight.grad.any(), name


def test_long_histories_are_learnt_from_random_windows_too():
    model = Stamp(StampConfig(length=5))
    histories = [np.arange(100)] * 20
    windows = model.sequences(histories, np.arange(20), Draws(0, 0))
    assert {len(window) for window in windows} == {6}
    assert any(window[-1] == 99 for window in windows)
    assert any(window[-1] < 90 for window in windows)
