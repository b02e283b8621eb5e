import numpy as np
import pytest

from recsys.data.schema import Queries
from recsys.serving import explain as explaining
from recsys.serving.explain import LEAST, explain
from tests import toys
from tests.serving.test_recommend import Given

WORLD = toys.cycle(n_items=6)


class Pulls(Given):
    """A film's logit is the sum of what the watched films pull: (I, I), row = watched; order and repeats count not."""

    def __init__(self, pulls, softmax=True, length=None) -> None:
        super().__init__([0.0] * len(pulls), softmax)
        self.pulls = np.array(pulls, np.float32)
        if length:
            self.config = type("Config", (), {"length": length})()

    def score(self, queries: Queries) -> np.ndarray:
        self.blocks.append(len(queries))
        rows = [self.pulls[np.asarray(history, int)].sum(0) for history in queries.histories]
        return np.array(rows, np.float32).reshape(len(queries), -1)


def pulls(**of):
    """A 6 × 6 table of zeros but for `f0_5=2.0`: film 0 pulls film 5 by 2."""
    table = np.zeros((6, 6))
    for name, pull in of.items():
        table[int(name[1]), int(name[3])] = pull
    return table


def test_the_film_that_pulled_most_comes_first_and_the_one_in_the_way_is_told_apart():
    [why] = explain(WORLD, Pulls(pulls(f0_5=1.0, f1_5=2.0, f2_5=-0.5)), [0, 1, 2, 3], [5])
    assert [one.item for one in why.lifted_by] == [1, 0]
    assert [one.item for one in why.lowered_by] == [2]
    assert [one.place for one in why.influences] == [1, 0, 2, 3]


def test_the_effect_is_the_change_of_the_log_probability():
    [why] = explain(WORLD, Pulls(pulls(f0_5=2.0)), [0, 1], [5])
    with_it, without = np.exp(2) / (np.exp(2) + 5), 1 / 6
    assert why.standing.probability == pytest.approx(with_it)
    assert why.influences[0].without.probability == pytest.approx(without)
    assert why.influences[0].effect == pytest.approx(np.log(with_it / without), abs=1e-6)
    assert why.influences[1].effect == pytest.approx(0, abs=1e-6)


def test_watched_films_do_not_compete_for_a_rank_not_even_the_one_left_out():
    model = Pulls(pulls(f0_0=9.0, f1_0=9.0, f0_5=1.0, f1_4=0.5))
    [why] = explain(WORLD, model, [0, 1], [5])
    assert why.standing.rank == 1
    without_0 = next(one.without for one in why.influences if one.item == 0)
    assert without_0.rank == 4  # behind films 2, 3 (item order) and 4, but not behind film 0


def test_without_a_softmax_effects_are_measured_against_the_spread_of_the_scores():
    table = pulls(f0_5=2.0, f0_4=1.0)
    one, tenfold = (explain(WORLD, Pulls(scale * table, softmax=False), [0], [5])[0] for scale in (1, 10))
    row = np.array([0, 0, 0, 0, 1.0, 2])
    assert one.standing.probability is None
    assert one.influences[0].effect == pytest.approx((2 - row.mean()) / row.std())  # the empty history: all alike
    assert tenfold.influences[0].effect == pytest.approx(one.influences[0].effect, rel=1e-5)


def test_a_history_of_one_film_is_compared_with_a_newcomer():
    [why] = explain(WORLD, Pulls(pulls(f3_5=1.0)), [3], [5])
    assert [one.item for one in why.lifted_by] == [3]
    assert why.influences[0].without.probability == pytest.approx(1 / 6)


def test_an_empty_history_explains_nothing():
    [why] = explain(WORLD, Pulls(pulls()), [], [5])
    assert why.influences == ()


@pytest.mark.parametrize("softmax", [True, False])
def test_a_model_that_ignores_the_history_is_moved_by_no_film(softmax):
    [why] = explain(WORLD, Given([0, 1, 2, 3, 4, 5], softmax), [0, 1, 2], [4])
    assert len(why.influences) == 3
    assert why.lifted_by == why.lowered_by == ()


def test_only_films_that_the_model_reads_are_left_out_and_the_newest():
    [why] = explain(WORLD, Pulls(pulls(), length=2), [0, 1, 2, 3], [5])
    assert {one.place for one in why.influences} == {2, 3}
    assert why.watched == 4


def test_a_long_history_is_weighed_in_bounded_time(monkeypatch):
    monkeypatch.setattr(explaining, "MOST", 7)
    model = Pulls(pulls())
    [why] = explain(WORLD, model, [0, 1, 2] * 300, [5])
    assert len(why.influences) == 7
    assert sum(model.blocks) == 8


def test_a_film_that_the_model_rules_out_has_numbers_all_the_same():
    model = Pulls(pulls(f0_5=-np.inf, f1_5=1.0))
    [why] = explain(WORLD, model, [0, 1], [5])
    assert (why.standing.value, why.standing.probability, why.standing.rank) == (LEAST, 0.0, None)
    assert all(np.isfinite(one.effect) for one in why.influences)
    assert [one.item for one in why.lowered_by] == [0]


def test_one_film_watched_twice_is_left_out_one_time_at_each_place():
    [why] = explain(WORLD, Pulls(pulls(f0_5=1.0)), [0, 3, 0], [5])
    assert sorted(one.place for one in why.lifted_by) == [0, 2]


def test_several_films_share_one_round_of_questions():
    model = Pulls(pulls(f0_5=1.0, f1_4=1.0))
    last, other = explain(WORLD, model, [0, 1], [5, 4])
    assert (last.lifted_by[0].item, other.lifted_by[0].item) == (0, 1)
    assert sum(model.blocks) == 3
