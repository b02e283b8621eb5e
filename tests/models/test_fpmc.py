import numpy as np

from recsys.data.dataset import Queries
from recsys.models.fpmc import Fpmc, FpmcConfig
from tests import toys
from tests.models.configs import changed, fitted

SETTINGS = changed(
    FpmcConfig(dim=16, length=30, dropout=0.0, negatives=16), epochs=30, batch_size=8, lr=2e-2, warmup_steps=10
)


def fitted_fpmc(world, **changes):
    return fitted(Fpmc(changed(SETTINGS, **changes)), world)


def test_with_the_user_it_learns_who_likes_even_items():
    model = fitted_fpmc(toys.checkerboard(), dropout=0.1)
    scores = model.score(Queries([np.array([2, 8, 4]), np.array([1, 5, 7])]))
    assert scores[0, 10::2].min() > scores[0, 11::2].max()
    assert scores[1, 11::2].min() > scores[1, 10::2].max()


def test_without_the_user_only_the_last_item_counts():
    model = fitted_fpmc(toys.cycle(n_users=20), epochs=1, personal=False)
    long, short = model.score(Queries([np.array([3, 9, 5]), np.array([5])]))
    np.testing.assert_allclose(long, short, rtol=1e-5)


def test_with_the_user_older_items_count_in_any_order():
    model = fitted_fpmc(toys.cycle(n_users=20), epochs=1)
    scores, swapped, other = model.score(Queries([np.array([3, 9, 5]), np.array([9, 3, 5]), np.array([2, 9, 5])]))
    np.testing.assert_allclose(scores, swapped, atol=1e-5)
    assert np.abs(scores - other).max() > 1e-3


def test_a_score_is_that_of_the_paper():
    """Equation 11 and the bias of the item."""
    model = fitted_fpmc(toys.cycle(n_users=20), epochs=1)
    state, dim = model.state(), SETTINGS.dim
    start = len(state["bias"]) + 1
    user = state["people.weight"][[start, 3, 9, 5]].mean(0)
    last, offers = state["items.weight"][5], state["offers.weight"]
    expected = offers[:, :dim] @ last + offers[:, dim:] @ user + state["bias"]
    np.testing.assert_allclose(model.score(Queries([np.array([3, 9, 5])], are_whole=True))[0], expected, atol=1e-5)
