import numpy as np
import pytest

from recsys.data.schema import Queries
from recsys.serving.plan import plan
from tests import toys
from tests.serving.test_recommend import Given

WORLD = toys.cycle(n_items=6)


class Cycle(Given):
    """The film after i is i + 1, round and round; the one after that is half as likely, and so on."""

    def __init__(self, softmax=True) -> None:
        super().__init__([0.0] * 6, softmax)

    def score(self, queries: Queries) -> np.ndarray:
        last = np.array([history[-1] if len(history) else 5 for history in queries.histories])
        ahead = (np.arange(6)[None, :] - last[:, None] - 1) % 6  # (B, I)
        return (-np.log(2) * ahead).astype(np.float32)


def items(steps):
    return [step.item for step in steps]


def test_each_film_follows_from_the_one_before():
    assert items(plan(WORLD, Cycle(), [3], length=4)) == [4, 5, 0, 1]


def test_no_film_comes_twice_and_watched_ones_not_at_all():
    assert items(plan(WORLD, Cycle(), [0, 4, 3], length=5)) == [5, 1, 2]


def test_a_step_says_how_likely_it_is_after_those_before_it():
    chances = [step.probability for step in plan(WORLD, Cycle(), [3], length=2)]
    assert chances == pytest.approx([1 / (2 - 2**-5)] * 2)  # 1 + 1/2 + … + 1/32 = 2 - 1/32
    assert plan(WORLD, Cycle(softmax=False), [3], length=1)[0].probability is None


def test_a_rejected_film_is_passed_over():
    assert items(plan(WORLD, Cycle(), [5], length=3)) == [0, 1, 2]
    assert items(plan(WORLD, Cycle(), [5], length=3, rejected=[1])) == [0, 2, 3]
    assert items(plan(WORLD, Cycle(), [5], length=3, rejected=[0, 1, 2, 3])) == [4]


def test_only_allowed_films_are_planned_and_probabilities_are_over_all_films():
    steps = plan(WORLD, Cycle(), [5], allowed=np.array([False, True, False, False, True, True]))
    assert items(steps) == [1, 4]
    assert steps[0].probability == pytest.approx(0.5 / (2 - 2**-5))


def test_a_newcomer_gets_a_plan_too():
    assert items(plan(WORLD, Cycle(), [], length=2)) == [0, 1]


def test_a_plan_ends_when_films_run_out_or_are_ruled_out():
    assert len(plan(WORLD, Cycle(), [0, 1], length=50)) == 4
    assert plan(WORLD, Given([-np.inf] * 6, softmax=True), [0]) == []
    assert plan(WORLD, Cycle(), [0], length=0) == []


class Fork(Given):
    """After 0, film 1 is a little likelier than 2; but after 1 all is open, and after 2 comes 3 for sure."""

    def __init__(self, softmax=True) -> None:
        super().__init__([0.0] * 6, softmax)

    def score(self, queries: Queries) -> np.ndarray:
        rows = {0: [0, 5, 4.9, 0, 0, 0], 2: [0, 0, 0, 9, 0, 0]}
        return np.array([rows.get(int(history[-1]), [0] * 6) for history in queries.histories], np.float32)


def together(steps):
    return np.prod([step.probability for step in steps])


def test_the_likeliest_evening_need_not_begin_with_the_likeliest_film():
    one_by_one = plan(WORLD, Fork(), [0], length=2, beam=1)
    evening = plan(WORLD, Fork(), [0], length=2)
    assert items(one_by_one) == [1, 2]
    assert items(evening) == [2, 3]
    assert together(evening) > 5 * together(one_by_one)


def test_scores_without_probabilities_are_followed_one_by_one():
    assert items(plan(WORLD, Fork(softmax=False), [0], length=2)) == [1, 2]


def test_a_search_as_wide_as_the_catalogue_finds_the_best_of_all_orders():
    best = max(
        (together_of(first, second), (first, second))
        for first in range(1, 6)
        for second in range(1, 6)
        if first != second
    )
    assert tuple(items(plan(WORLD, Fork(), [0], length=2, beam=6))) == best[1]


def together_of(first, second):
    """The probability of two films after film 0, worked out from the scores."""
    rows = [np.exp(Fork().score(Queries([np.array([last])]))[0]) for last in (0, first)]
    return rows[0][first] / rows[0].sum() * rows[1][second] / rows[1].sum()
