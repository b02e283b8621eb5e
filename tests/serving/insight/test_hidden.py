import math

import pandas as pd
import pytest

from recsys.serving.insight import hidden
from recsys.serving.recommend import Standing
from tests import toys
from tests.serving.given import predictor
from tests.serving.insight.test_order import Toy


def test_a_film_is_looked_for_with_the_films_before_it_and_nothing_else():
    films = [4, 5, 0, 11]
    # 4 → 5 comes first; 4, 5 → 6, 11, 10, …, and 0 last of ten; 4, 5, 0 → 1, 11, …
    found = hidden.look_for(predictor(toys.cycle(12), Toy(reads=True)), films, [1, 2, 3])
    assert [(row.rank, row.of) for row in found] == [(1, 11), (10, 10), (2, 9)]


def test_the_score_is_hits_and_mean_reciprocal_rank():
    score = hidden.score(
        [Standing(1, 50, None), Standing(10, 50, None), Standing(20, 50, None), Standing(None, 50, 0.0)]
    )
    assert score.found == 2
    assert score.mrr == pytest.approx((1 + 1 / 10 + 1 / 20 + 0) / 4)


def test_the_table_leaves_a_rank_open_where_the_film_is_not_in_the_list():
    table = hidden.table({"Toy": [Standing(3, 9, 0.5), Standing(None, 9, None)]}, ["Heat (1995)", "Alien (1979)"])
    assert table["rank"].tolist() == [3, pd.NA]
    assert table["film"].tolist() == ["Heat (1995)", "Alien (1979)"]


def test_the_last_films_are_those_that_recommenders_know():
    assert hidden.last_known([3, 12, 5, 11], 12) == [3, 2]
    assert hidden.last_known([0], 12) == hidden.last_known([], 12) == []
    assert hidden.last_known(range(30), 40) == list(range(29, 19, -1))


def test_a_guess_has_the_intervals_that_its_few_films_allow():
    ranks = [1, 2, 3, 20, 30, 40, 50, 60, 70, None]
    guess = hidden.guess([Standing(rank, 100, None) for rank in ranks])
    assert guess.found == 3
    share, z = 0.3, 1.959964  # Wilson (1927), n = 10
    middle, half = (share + z**2 / 20) / (1 + z**2 / 10), z * math.sqrt(share * 0.7 / 10 + z**2 / 400) / (1 + z**2 / 10)
    assert (guess.low, guess.high) == pytest.approx((middle - half, middle + half), abs=1e-6)
    assert guess.ndcg == pytest.approx((1 + 1 / math.log2(3) + 1 / 2) / 10)
    assert guess.median == 35
    assert (guess.best, guess.worst) == (2, 70)  # the second and the ninth: 97.9 %; the third and the eighth: 89 %


def test_five_films_are_too_few_for_an_interval_of_the_median_and_an_unlisted_film_is_last():
    guess = hidden.guess([Standing(None, 100, None)] * 5)
    assert guess.median == math.inf
    assert math.isnan(guess.best)
    assert (guess.found, guess.ndcg) == (0, 0)


def test_guesses_come_best_first():
    rows = {"B": [Standing(5, 9, None)], "A": [Standing(1, 9, None)], "C": [Standing(50, 90, None)]}
    assert hidden.guesses(rows)["recommender"].tolist() == ["A", "B", "C"]
