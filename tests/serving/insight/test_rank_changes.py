import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recsys.serving.filters import Filters
from recsys.serving.insight.list_comparison import Change, move_film, rank_changes, remove_film
from recsys.serving.recommend import Request, recommend
from tests import toys
from tests.serving.given import Given, Pulls, predictor, pulls

WORLD = toys.cycle(n_items=6)


def shifted(model, before, after, k=10, **wishes):
    requests = (Request(tuple(history), k, Filters(**wishes)) for history in (before, after))
    return rank_changes(predictor(WORLD, model), *requests)


def turns(found):
    return {shift.item: shift.change for shift in found}


def test_a_film_is_dropped_or_moved_and_the_rest_keep_their_order():
    assert remove_film((4, 5, 6), 1) == (4, 6)
    assert move_film((4, 5, 6), 0, 2) == (5, 6, 4)
    assert move_film((4, 5, 6), 2, 0) == (6, 4, 5)


@pytest.mark.parametrize("position", [-1, 3])
def test_a_position_that_does_not_exist_is_refused(position):
    with pytest.raises(IndexError, match="no position"):
        remove_film((4, 5, 6), position)
    with pytest.raises(IndexError, match="no position"):
        move_film((4, 5, 6), 0, position)


def test_films_rise_fall_enter_and_leave():
    model = Pulls(pulls(f0_5=3.0, f0_4=2.0, f0_3=1.0, f1_3=4.0, f1_2=1.5))
    found = shifted(model, [0], [1], k=3)
    assert [shift.item for shift in found] == [3, 2, 0, 5, 4]  # film 0 is not watched now, so it may be recommended
    ranks = {shift.item: (shift.before.rank, shift.after.rank) for shift in found}
    assert ranks == {3: (3, 1), 2: (5, 2), 0: (None, 3), 5: (1, 5), 4: (2, 4)}
    assert turns(found) == {3: Change.ROSE, 2: Change.ENTERED, 0: Change.ENTERED, 5: Change.LEFT, 4: Change.LEFT}


def test_nothing_changes_for_a_model_that_ignores_the_history():
    found = shifted(Given([0, 1, 2, 3, 4, 5]), [0, 1], [1, 0], k=3)
    assert set(turns(found).values()) == {Change.STAYED}
    assert [shift.before for shift in found] == [shift.after for shift in found]


def test_ranks_and_probabilities_are_those_that_the_page_shows():
    model = Pulls(pulls(f0_5=3.0, f0_4=2.0, f1_3=4.0))
    after = [shift for shift in shifted(model, [0], [0, 1], k=3) if shift.change is not Change.LEFT]
    shown = recommend(predictor(WORLD, model), Request((0, 1), 3))
    assert [(pick.item, pick.rank) for pick in shown] == [(shift.item, shift.after.rank) for shift in after]
    assert [shift.after.probability for shift in after] == pytest.approx([pick.probability for pick in shown])


def test_without_probabilities_there_are_ranks_alone():
    assert shifted(Given([0, 1, 2, 3, 4, 5]), [0], [1])[0].after.probability is None


def test_films_that_a_filter_refuses_are_in_neither_list():
    found = shifted(Given([0, 1, 2, 3, 4, 5], softmax=True), [0], [1], k=2, genres=("Comedy",))
    assert [shift.item for shift in found] == [4, 2]
    assert found[0].after.probability == pytest.approx(np.exp(4) / np.exp([0, 2, 4]).sum())
    assert (found[0].before.n_ranked, found[0].after.n_ranked) == (2, 3)


def test_a_filter_applies_to_each_history_on_its_own():
    found = shifted(Given([0, 1, 2, 3, 4, 5]), [0, 3], [0, 5], released_by_last_film=True)  # film n is of 1990 + n
    assert {shift.item: (shift.before.rank, shift.after.rank) for shift in found} == {
        4: (None, 1), 3: (None, 2), 2: (1, 3), 1: (2, 4)
    }  # fmt: skip


def test_when_every_film_is_ruled_out_nothing_is_shown():
    assert shifted(Given([-np.inf] * 6, softmax=True), [0], [1]) == []


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(6)), st.integers(0, 5), st.integers(0, 5), st.integers(1, 6))
def test_going_there_and_back_turns_every_rise_into_a_fall(history, position, to, k):
    model = Pulls(np.random.default_rng(0).normal(size=(6, 6)))
    other = move_film(history[:4], position % 4, to % 4)
    back = {
        Change.ROSE: Change.FELL,
        Change.FELL: Change.ROSE,
        Change.ENTERED: Change.LEFT,
        Change.LEFT: Change.ENTERED,
    }
    there = turns(shifted(model, history[:4], other, k))
    assert turns(shifted(model, other, history[:4], k)) == {item: back.get(turn, turn) for item, turn in there.items()}
