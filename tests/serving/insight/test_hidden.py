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


def test_films_are_hidden_newest_first_and_never_the_first():
    assert hidden.positions([7, 8, 9]) == [2, 1]
    assert hidden.positions([7]) == hidden.positions([]) == []
    assert hidden.positions(range(100)) == list(range(99, 79, -1))


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
