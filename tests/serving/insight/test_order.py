import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys.data.dataset import Queries
from recsys.serving.history import Example
from recsys.serving.insight import order
from tests import toys
from tests.serving.given import Given, predictor

some_lists = st.lists(st.integers(0, 20), max_size=8, unique=True)


class Toy(Given):
    """Films by number, the highest first; `reads` = it puts the film after the newest one first."""

    def __init__(self, reads: bool) -> None:
        super().__init__(np.arange(12))
        self.reads = reads

    def score(self, queries: Queries) -> np.ndarray:
        scores = super().score(queries)
        if self.reads:
            for row, history in zip(scores, queries.histories, strict=True):
                row[(history[-1] + 1) % 12] = 100
        return scores


def effect(reads: bool, films=(0, 2, 4), k=3) -> order.OrderEffect:
    return order.order_effect(predictor(toys.cycle(12), Toy(reads)), films, order.reorderings(films), k)


def test_rank_biased_overlap_of_a_case_worked_by_hand():
    # agreement at depths 1, 2, 3: 0, 2/2, 2/3; p = 0.5: weights 1/2, 1/4, 1/8, and what lies deeper, 1/8, as at depth 3
    assert order.rank_biased_overlap("abc", "bad", p=0.5) == pytest.approx(0 / 2 + 1 / 4 + 2 / 3 / 8 + 2 / 3 / 8)


def test_the_top_of_the_list_counts_most():
    swapped_first = order.rank_biased_overlap("abcdefghij", "bacdefghij")
    swapped_last = order.rank_biased_overlap("abcdefghij", "abcdefghji")
    assert swapped_first < swapped_last < 1


@given(some_lists, some_lists)
def test_overlap_is_a_share_and_the_same_either_way(one, other):
    overlap = order.rank_biased_overlap(one, other)
    assert 0 <= overlap <= 1
    assert overlap == order.rank_biased_overlap(other, one)


@given(some_lists)
def test_a_list_overlaps_with_itself_by_exactly_one(films):
    assert order.rank_biased_overlap(films, films) == 1


@given(st.lists(st.integers(0, 9), max_size=6, unique=True))
def test_every_other_order_holds_the_same_films_and_comes_once(films):
    orders = order.reorderings(films)
    assert all(sorted(other) == sorted(films) for other in orders)
    assert len({tuple(films), *orders}) == 1 + len(orders)
    assert orders == order.reorderings(films)


def test_orders_of_few_films():
    assert order.reorderings([]) == order.reorderings([7]) == []
    assert order.reorderings([7, 8]) == [(8, 7)]
    assert order.reorderings([1, 2, 3])[0] == (3, 2, 1)


def test_a_model_that_ignores_order_gives_the_same_list_for_every_order():
    found = effect(reads=False)
    assert found.ignores_order
    assert (set(found.overlaps), found.overlap, found.mean_kept) == ({1.0}, 1.0, 3.0)


def test_a_model_that_reads_the_newest_film_gives_other_lists():
    # 0, 2, 4 → films 5, 11, 10; newest first, it ends in 0 → films 1, 11, 10
    found = effect(reads=True)
    assert not found.ignores_order
    assert found.kept[0] == 2
    assert found.overlaps[0] == order.rank_biased_overlap([5, 11, 10], [1, 11, 10]) < 1


def test_the_table_has_a_row_for_each_recommender_and_order():
    [row] = order.table({"Toy": effect(True, (0, 2))}, ["newest first"]).to_dict("records")
    assert 0 < row.pop("overlap") < 1
    assert row == {"recommender": "Toy", "order": "newest first", "kept": 2, "of": 3}


def test_two_moods_hold_the_same_films_in_another_order():
    one, other = Example("Space", "", (1, 2, 3, 4, 5)), Example("Cartoons", "", (3, 7, 8))
    (last, first_order), (also_last, second_order) = order.moods([Example("One film", "", (9,)), one, other])
    assert (last, also_last) == ("Space", "Cartoons")
    assert first_order == (7, 8, 1, 2, 3, 4)
    assert second_order == (1, 2, 3, 4, 7, 8)
    assert order.moods([one]) is None
