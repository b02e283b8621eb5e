import numpy as np
import torch

from recsys.models.session_model import SessionConfig
from recsys.models.stamp import Stamp
from recsys.training.batches import CounterRNG
from tests.models.configs import untrained


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
    module = untrained(Stamp(SessionConfig(dim=16, length=20, init=0.5))).module
    tokens = torch.randint(30, (1, 7))
    states = module(tokens)[0]
    for end in range(7):
        expected = module.norm(by_hand(module, module.items(tokens)[0, : end + 1]))
        torch.testing.assert_close(states[end], expected, rtol=1e-4, atol=1e-5)


def test_long_histories_are_learnt_from_random_windows_too():
    model = Stamp(SessionConfig(length=5))
    histories = [np.arange(100)] * 20
    windows = model.sequences(histories, np.arange(20), CounterRNG(0, 0))
    assert {len(window) for window in windows} == {6}
    assert any(window[-1] == 99 for window in windows)
    assert any(window[-1] < 90 for window in windows)
