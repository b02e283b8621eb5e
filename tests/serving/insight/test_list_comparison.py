import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys.data.dataset import Film, Queries
from recsys.serving.history import SampleList
from recsys.serving.insight import list_comparison
from recsys.serving.recommend import RankPosition, Recommendation
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


def effect(reads: bool, films=(0, 2, 4), k=3) -> list_comparison.OrderEffect:
    return list_comparison.order_effect(
        predictor(toys.cycle(12), Toy(reads)), films, list_comparison.reorderings(films), k
    )


def test_rank_biased_overlap_of_a_case_worked_by_hand(monkeypatch):
    # agreement at depths 1, 2, 3: 0, 2/2, 2/3; p = 0.5: weights 1/2, 1/4, 1/8, and what lies deeper, 1/8, as at depth 3
    monkeypatch.setattr(list_comparison, "RBO_PERSISTENCE", 0.5)
    assert list_comparison.rank_biased_overlap("abc", "bad") == pytest.approx(0 / 2 + 1 / 4 + 2 / 3 / 8 + 2 / 3 / 8)


def test_the_top_of_the_list_counts_most():
    swapped_first = list_comparison.rank_biased_overlap("abcdefghij", "bacdefghij")
    swapped_last = list_comparison.rank_biased_overlap("abcdefghij", "abcdefghji")
    assert swapped_first < swapped_last < 1


@given(some_lists, some_lists)
def test_overlap_is_a_share_and_the_same_either_way(one, other):
    overlap = list_comparison.rank_biased_overlap(one, other)
    assert 0 <= overlap <= 1
    assert overlap == list_comparison.rank_biased_overlap(other, one)


@given(some_lists)
def test_a_list_overlaps_with_itself_by_exactly_one(films):
    assert list_comparison.rank_biased_overlap(films, films) == 1


@given(st.lists(st.integers(0, 9), max_size=6, unique=True))
def test_every_other_order_holds_the_same_films_and_comes_once(films):
    orders = list_comparison.reorderings(films)
    assert all(sorted(other) == sorted(films) for other in orders)
    assert len({tuple(films), *orders}) == 1 + len(orders)
    assert orders == list_comparison.reorderings(films)


def test_orders_of_few_films():
    assert list_comparison.reorderings([]) == list_comparison.reorderings([7]) == []
    assert list_comparison.reorderings([7, 8]) == [(8, 7)]
    assert list_comparison.reorderings([1, 2, 3])[0] == (3, 2, 1)


def test_a_model_that_ignores_order_gives_the_same_list_for_every_order():
    found = effect(reads=False)
    assert found.has_equal_lists
    assert (set(found.overlaps), found.mean_overlap, found.mean_kept) == ({1.0}, 1.0, 3.0)


def test_a_model_that_reads_the_newest_film_gives_other_lists():
    # 0, 2, 4 → films 5, 11, 10; newest first, it ends in 0 → films 1, 11, 10
    found = effect(reads=True)
    assert not found.has_equal_lists
    assert found.kept_counts[0] == 2
    assert found.overlaps[0] == list_comparison.rank_biased_overlap([5, 11, 10], [1, 11, 10]) < 1


def test_the_table_has_a_row_for_each_recommender_and_order():
    [row] = list_comparison.order_table({"Toy": effect(True, (0, 2))}, ["newest first"]).to_dict("records")
    assert 0 < row.pop("overlap") < 1
    assert row == {"recommender": "Toy", "order": "newest first", "kept": 2, "of": 3}


def test_two_moods_hold_the_same_films_in_another_order():
    one, other = SampleList("Space", "", (1, 2, 3, 4, 5)), SampleList("Cartoons", "", (3, 7, 8))
    (last, first_order), (also_last, second_order) = list_comparison.sample_list_orders(
        [SampleList("One film", "", (9,)), one, other]
    )
    assert (last, also_last) == ("Space", "Cartoons")
    assert first_order == (7, 8, 1, 2, 3, 4)
    assert second_order == (1, 2, 3, 4, 7, 8)
    assert list_comparison.sample_list_orders([one]) is None


LISTS = {"a": [1, 2, 3], "b": [3, 2, 9], "c": [7, 8, 3]}


def test_films_are_counted_once_per_list():
    assert list_comparison.count_lists_per_item({"a": [1, 1, 2], "b": [2]}) == {1: 1, 2: 2}


def test_the_table_holds_what_each_two_lists_share():
    table = list_comparison.shared_counts(LISTS)
    assert table.loc["a", "b"] == table.loc["b", "a"] == 2
    assert table.loc["a", "c"] == 1
    assert table.loc["c", "c"] == 3


def test_the_closest_two_lists_share_the_most():
    assert list_comparison.closest_lists(LISTS) == ("a", "b", 2)
    assert list_comparison.closest_lists({"alone": [1]}) is None


def test_a_film_of_one_list_alone_is_named_there():
    assert list_comparison.unique_items(LISTS) == {"a": [1], "b": [9], "c": [7, 8]}


def test_the_table_for_a_file_counts_the_lists_of_each_film():
    def pick(rank, item):
        return Recommendation(rank, item, Film(item + 100, f"Film {item}", None, ""), 0.0, None)

    table = list_comparison.overlap_table({"a": [pick(1, 5), pick(2, 6)], "b": [pick(1, 6)]})
    assert table[["recommender", "rank", "movie_id", "lists"]].to_numpy().tolist() == [
        ["a", 1, 105, 1],
        ["a", 2, 106, 2],
        ["b", 1, 106, 2],
    ]


def test_a_film_is_looked_for_with_the_films_before_it_and_nothing_else():
    films = [4, 5, 0, 11]
    # 4 → 5 comes first; 4, 5 → 6, 11, 10, …, and 0 last of ten; 4, 5, 0 → 1, 11, …
    found = list_comparison.held_out_ranks(predictor(toys.cycle(12), Toy(reads=True)), films, [1, 2, 3])
    assert [(row.rank, row.n_ranked) for row in found] == [(1, 11), (10, 10), (2, 9)]


def test_an_excluded_film_has_a_reciprocal_rank_of_zero():
    positions = [RankPosition(rank, 50, None) for rank in (1, 10, 20, None)]
    assert list_comparison.mean_reciprocal_rank(positions) == pytest.approx((1 + 1 / 10 + 1 / 20 + 0) / 4)
    assert list(map(list_comparison.is_hit, positions)) == [True, True, False, False]


def test_the_table_leaves_a_rank_open_where_the_film_is_not_in_the_list():
    table = list_comparison.rank_table(
        {"Toy": [RankPosition(3, 9, 0.5), RankPosition(None, 9, None)]}, ["Heat (1995)", "Alien (1979)"]
    )
    assert table["rank"].tolist() == [3, pd.NA]
    assert table["film"].tolist() == ["Heat (1995)", "Alien (1979)"]


def test_the_last_films_are_those_that_recommenders_know():
    assert list_comparison.last_item_positions([3, 12, 5, 11], 12) == [3, 2]
    assert list_comparison.last_item_positions([0], 12) == list_comparison.last_item_positions([], 12) == []
    assert list_comparison.last_item_positions(range(30), 40) == list(range(29, 19, -1))


def test_a_guess_has_the_intervals_that_its_few_films_allow():
    ranks = [1, 2, 3, 20, 30, 40, 50, 60, 70, None]
    guess = list_comparison.hit_statistics([RankPosition(rank, 100, None) for rank in ranks])
    assert guess.hits == 3
    share, z = 0.3, 1.959964  # Wilson (1927), n = 10
    middle, half = (share + z**2 / 20) / (1 + z**2 / 10), z * math.sqrt(share * 0.7 / 10 + z**2 / 400) / (1 + z**2 / 10)
    assert (guess.hit_rate_low, guess.hit_rate_high) == pytest.approx((middle - half, middle + half), abs=1e-6)
    assert guess.ndcg == pytest.approx((1 + 1 / math.log2(3) + 1 / 2) / 10)
    assert guess.median == 35
    assert (guess.median_low, guess.median_high) == (
        2,
        70,
    )  # the second and the ninth: 97.9 %; the third and the eighth: 89 %


def test_five_films_are_too_few_for_an_interval_of_the_median_and_an_unlisted_film_is_last():
    guess = list_comparison.hit_statistics([RankPosition(None, 100, None)] * 5)
    assert guess.median == math.inf
    assert math.isnan(guess.median_low)
    assert (guess.hits, guess.ndcg) == (0, 0)


def test_guesses_come_best_first():
    rows = {"B": [RankPosition(5, 9, None)], "A": [RankPosition(1, 9, None)], "C": [RankPosition(50, 90, None)]}
    assert list_comparison.hit_table(rows)["recommender"].tolist() == ["A", "B", "C"]
