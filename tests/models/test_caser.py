import torch

from recsys.models.caser import Caser, CaserConfig
from recsys.models.layers import running_mean
from tests.models.configs import untrained


def small_caser(**settings):
    config = CaserConfig(dim=16, length=20, window=4, horizontal=3, vertical=2, init=0.5, **settings)
    model = untrained(Caser(config))
    torch.nn.init.normal_(model.module.vertical.weight)
    return model


def one_window(module, items):
    """The paper's equations 3 to 8 for one window (L, D), filter by filter, position by position."""
    features = []
    for conv in module.horizontal:
        height = conv.kernel_size[0]
        for weight, bias in zip(conv.weight, conv.bias, strict=True):  # (D, height)
            starts = range(len(items) - height + 1)
            features.append(max(torch.relu((weight.T * items[i : i + height]).sum() + bias) for i in starts))
    weighted = module.vertical.weight @ items  # (N, D)
    return torch.cat([torch.stack(features), weighted.T.flatten()])


def test_each_position_has_the_state_of_the_papers_equations():
    module = small_caser(person=False).module
    tokens = torch.randint(30, (1, 7))
    states = module(tokens)[0]
    items = torch.cat([torch.zeros(3, 16), module.items(tokens)[0]])  # zeros before the history
    for end in range(7):
        expected = module.norm(module.combine(one_window(module, items[end : end + 4])))
        torch.testing.assert_close(states[end], expected, rtol=1e-4, atol=1e-5)


def test_items_before_the_window_count_through_the_mean_only():
    tokens = torch.tensor([[1, 2, 3, 4, 5, 6], [9, 2, 3, 4, 5, 6]])
    alone, with_mean = small_caser(person=False).module(tokens), small_caser().module(tokens)
    torch.testing.assert_close(alone[0, 4:], alone[1, 4:])  # the window is four items long
    assert not torch.allclose(alone[0, 3], alone[1, 3])
    assert not torch.allclose(with_mean[0, 5], with_mean[1, 5])


def test_the_running_mean_excludes_later_items():
    x = torch.randn(2, 5, 3)
    for end in range(5):
        torch.testing.assert_close(running_mean(x)[:, end], x[:, : end + 1].mean(1))


def test_its_loss_is_binary_cross_entropy_against_three_items_of_each_position():
    config = CaserConfig()
    assert (config.loss, config.negatives, config.gbce_t) == ("gbce", 3, 0)
