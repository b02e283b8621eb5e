import torch

from recsys.models.narm import Narm, NarmConfig
from tests.models.configs import untrained


def by_hand(module, h):
    """Return B c of the GRU states h (T, H) of one history, state by state as the paper writes it."""
    query = module.a1.weight @ h[-1]
    alphas = [module.attention.v.weight[0] @ torch.sigmoid(query + module.a2.weight @ state) for state in h]
    c_local = sum(alpha * state for alpha, state in zip(alphas, h, strict=True))
    return module.b.weight @ torch.cat([h[-1], c_local])


def test_each_position_has_the_state_of_the_papers_equations():
    module = untrained(Narm(NarmConfig(dim=16, hidden=12, length=20, init=0.5))).module
    tokens = torch.randint(30, (1, 7))
    states, h = module(tokens)[0], module.gru(module.items(tokens))[0][0]
    for end in range(7):
        expected = module.norm(by_hand(module, h[: end + 1]))
        torch.testing.assert_close(states[end], expected, rtol=1e-4, atol=1e-5)
