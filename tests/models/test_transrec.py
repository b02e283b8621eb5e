import numpy as np

from recsys.data.dataset import Queries
from recsys.models.transrec import TransRec, TransRecConfig
from tests import toys
from tests.models.configs import changed, fitted

SETTINGS = changed(
    TransRecConfig(dim=16, length=30, dropout=0.0, negatives=16), epochs=30, batch_size=8, lr=2e-2, warmup_steps=10
)


def fitted_transrec(**changes):
    return fitted(TransRec(changed(SETTINGS, **changes)), toys.cycle(n_users=20))


def test_a_score_is_minus_the_squared_distance_from_where_the_translation_leads():
    """Scores are compared without the bias and without the squared length of the point, which all items share."""
    model = fitted_transrec(epochs=3, init=0.5)
    state = model.state()
    coordinates, translations = state["items.weight"], state["people.weight"]
    start = len(state["bias"]) + 1
    point = coordinates[5] + state["step"] + translations[[start, 3, 9, 5]].mean(0)
    distances = np.square(point - coordinates[: len(state["bias"])]).sum(1)
    scores = model.score(Queries([np.array([3, 9, 5])], are_whole=True))[0]
    np.testing.assert_allclose(scores - point @ point, state["bias"] - distances, atol=1e-4)


def test_users_who_watched_other_items_have_other_translations():
    model = fitted_transrec(epochs=3)
    scores, swapped, other = model.score(Queries([np.array([3, 9, 5]), np.array([9, 3, 5]), np.array([2, 9, 5])]))
    np.testing.assert_allclose(scores, swapped, atol=1e-5)
    assert np.abs(scores - other).max() > 1e-3
