import numpy as np
import pytest

from recsys.serving.filters import Filters
from recsys.serving.insight import explain as explaining
from recsys.serving.insight.explain import MIN_LOG_PROB, explain
from recsys.serving.recommend import RankPosition, Request, ServingError, recommend
from tests import toys
from tests.serving.given import Given, Pulls, predictor, pulls

WORLD = toys.cycle(n_items=6)


def explained(model, history, items):
    return explain(predictor(WORLD, model), Request(tuple(history)), items)


def test_the_film_that_pulled_most_comes_first_and_the_one_that_did_harm_is_not_among_them():
    [why] = explained(Pulls(pulls(f0_5=1.0, f1_5=2.0, f2_5=-0.5)), [0, 1, 2, 3], [5])
    assert [one.item for one in why.positive_influences] == [1, 0]
    assert [one.item for one in why.negative_influences] == [2]
    assert [one.position for one in why.influences] == [1, 0, 2, 3]


def test_the_effect_is_the_change_of_the_log_probability_among_the_films_not_watched():
    [why] = explained(Pulls(pulls(f0_5=2.0)), [0, 1], [5])
    with_it, without = np.exp(2) / (np.exp(2) + 3), 1 / 4
    assert why.rank_position.probability == pytest.approx(with_it)
    assert why.influences[0].rank_position_without.probability == pytest.approx(without)
    assert why.influences[0].effect == pytest.approx(np.log(with_it / without), abs=1e-6)
    assert why.influences[1].effect == pytest.approx(0, abs=1e-6)


def test_the_standing_is_that_of_the_recommendation():
    ready = predictor(WORLD, Pulls(pulls(f0_5=2.0, f1_4=1.0)))
    first, second, *_ = recommend(ready, Request((0, 1)))
    for pick, why in zip((first, second), explain(ready, Request((0, 1)), [first.item, second.item]), strict=True):
        assert why.rank_position == RankPosition(pick.rank, 4, pytest.approx(pick.probability))


def test_with_filters_it_stands_where_the_filtered_list_shows_it():
    ready = predictor(WORLD, Pulls(pulls(f0_5=1.0, f1_4=2.0, f0_3=3.0)))
    request = Request((0, 1), filters=Filters(genres=("Horror",)), unwanted=(3,))  # odd films, of which 5 alone is left
    [shown] = recommend(ready, request)
    [why] = explain(ready, request, [shown.item])
    assert why.rank_position == RankPosition(1, 1, pytest.approx(shown.probability))
    assert why.influences[0].rank_position_without.n_ranked == 1


def test_watched_films_do_not_compete_for_a_rank_not_even_the_one_left_out():
    model = Pulls(pulls(f0_0=9.0, f1_0=9.0, f0_5=1.0, f1_4=0.5))
    [why] = explained(model, [0, 1], [5])
    assert why.rank_position.rank == 1
    without_0 = next(one.rank_position_without for one in why.influences if one.item == 0)
    assert without_0.rank == 4  # behind films 2, 3 (item order) and 4, but not behind film 0


def test_a_watched_film_can_be_explained_and_then_it_competes():
    [why] = explained(Pulls(pulls(f0_0=2.0, f0_1=3.0)), [0, 1], [0])
    assert (why.rank_position.rank, why.rank_position.n_ranked) == (1, 5)


def test_without_probabilities_effects_are_measured_against_the_spread_of_the_scores():
    table = pulls(f0_5=2.0, f0_4=1.0)
    one, tenfold = (explained(Pulls(scale * table, softmax=False), [0], [5])[0] for scale in (1, 10))
    row = np.array([0, 0, 0, 1.0, 2])
    assert one.rank_position.probability is None
    assert one.influences[0].effect == pytest.approx((2 - row.mean()) / row.std())  # the empty history: all alike
    assert tenfold.influences[0].effect == pytest.approx(one.influences[0].effect, rel=1e-5)


def test_of_equally_strong_films_the_newest_comes_first():
    [why] = explained(Pulls(pulls(f0_5=1.0, f1_5=1.0, f2_5=1.0)), [0, 1, 2], [5])
    assert [one.position for one in why.positive_influences] == [2, 1, 0]


def test_no_film_is_weaker_than_one_that_is_ruled_out():
    [why] = explained(Pulls(pulls(f0_5=-70.0)), [0, 1], [5])
    assert why.influences[0].effect == pytest.approx(MIN_LOG_PROB + np.log(4))  # without film 0: one of four


def test_a_history_of_one_film_is_compared_with_a_newcomer():
    [why] = explained(Pulls(pulls(f3_5=1.0)), [3], [5])
    assert [one.item for one in why.positive_influences] == [3]
    assert why.influences[0].rank_position_without.probability == pytest.approx(1 / 5)


def test_an_empty_history_explains_nothing():
    [why] = explained(Pulls(pulls()), [], [5])
    assert why.influences == ()


@pytest.mark.parametrize("softmax", [True, False])
def test_a_model_that_ignores_the_history_is_moved_by_no_film(softmax):
    [why] = explained(Given([0, 1, 2, 3, 4, 5], softmax), [0, 1, 2], [4])
    assert len(why.influences) == 3
    assert why.positive_influences == why.negative_influences == ()


def test_only_films_that_the_model_reads_are_left_out_and_the_newest():
    [why] = explained(Pulls(pulls(), length=2), [0, 1, 2, 3], [5])
    assert {one.position for one in why.influences} == {2, 3}
    assert why.n_watched == 4


def test_a_long_history_is_weighed_in_bounded_time(monkeypatch):
    monkeypatch.setattr(explaining, "MAX_ABLATED", 7)
    model = Pulls(pulls())
    [why] = explained(model, [0, 1, 2] * 300, [5])
    assert len(why.influences) == 7
    assert sum(model.blocks) == 8


def test_a_film_that_the_model_rules_out_has_numbers_all_the_same():
    model = Pulls(pulls(f0_5=-np.inf, f1_5=1.0))
    [why] = explained(model, [0, 1], [5])
    assert (why.rank_position.probability, why.rank_position.rank) == (0.0, None)
    assert {one.item: one.effect for one in why.influences} == pytest.approx(
        {0: MIN_LOG_PROB + np.log(1 + 3 / np.e), 1: 0.0}
    )
    assert [one.item for one in why.negative_influences] == [0]


def test_one_film_watched_twice_is_left_out_once_at_each_position():
    [why] = explained(Pulls(pulls(f0_5=1.0)), [0, 3, 0], [5])
    assert sorted(one.position for one in why.positive_influences) == [0, 2]


def test_several_films_are_explained_by_the_same_scores():
    model = Pulls(pulls(f0_5=1.0, f1_4=1.0))
    last, other = explained(model, [0, 1], [5, 4])
    assert (last.positive_influences[0].item, other.positive_influences[0].item) == (0, 1)
    assert sum(model.blocks) == 3


def test_items_that_there_are_not_are_refused():
    with pytest.raises(ServingError, match="there is no item 6"):
        explained(Pulls(pulls()), [0], [6])
    with pytest.raises(ServingError, match="there is no item 9"):
        explained(Pulls(pulls()), [9], [5])
