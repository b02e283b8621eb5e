import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys.data import datasets
from recsys.errors import RecsysError
from recsys.ranking.ranking import Ranking
from recsys.serving import group
from recsys.serving.filters import Filters
from recsys.serving.group import MAX_SHARED_FILMS, SHARED_LIST_PATTERN
from recsys.serving.recommend import Request, rank_positions, recommend
from tests import toys
from tests.serving.given import Given, Pulls, predictor, pulls

WORLD = toys.dataset([[0, 1, 2, 3, 4, 5]], 6)  # even films are comedies, odd ones horror
OPPOSITE = predictor(WORLD, Pulls(pulls(f0_2=9.0, f0_3=1.0, f0_4=5.0, f1_3=9.0, f1_2=1.0, f1_4=5.0)))


def items(found):
    return [one.item for one in found]


def both(one, other, k=10, of=OPPOSITE, rule="fair", passing=None, **asked):
    return group.recommend_for_two((of, of), (Request(one, **asked), Request(other)), k, rule, passing)


def test_two_with_the_same_films_get_what_each_gets_alone():
    alone = [pick.item for pick in recommend(OPPOSITE, Request((0,), k=10))]
    for rule in group.RULES:
        assert items(both((0,), (0,), rule=rule)) == alone


def test_two_of_opposite_tastes_get_the_compromise_first():
    # Film 0 wants 2, then 4, then 3; film 1 wants 3, then 4, then 2. Nobody wants 5.
    found = both((0,), (1,))
    assert items(found) == [4, 2, 3, 5]
    assert [(one.rank, other.rank) for one, other in (film.positions for film in found)] == [
        (2, 2),
        (1, 3),
        (3, 1),
        (4, 4),
    ]


def test_on_average_a_strong_wish_of_one_can_outweigh_a_compromise():
    # Nearness is by the logarithm of the rank: ranks 1 and 3 are together nearer than 2 and 2, as 1 · 3 < 2 · 2.
    assert items(both((0,), (1,), rule="average")) == [2, 3, 4, 5]


def test_how_much_each_wants_a_film_is_its_rank_and_probability_in_their_own_list():
    film = both((0,), (1,))[0]
    total = np.exp([9.0, 1.0, 5.0, 0.0]).sum()
    for standing in film.positions:
        assert standing.n_ranked == 4
        assert standing.log_rank_score == pytest.approx(1 - np.log(2) / np.log(4))
        assert standing.probability == pytest.approx(np.exp(5.0) / total)
    assert film.film.label == "Film 4 (1994)"
    assert both((0,), (1,), of=predictor(WORLD, Given([0.0] * 6)))[0].positions[0].probability is None


def test_films_that_either_has_watched_or_does_not_want_are_hidden():
    assert set(items(both((0, 2), (1,)))) == {3, 4, 5}
    assert set(items(both((0,), (1, 4)))) == {2, 3, 5}
    assert set(items(both((0,), (1,), unwanted=(4,)))) == {2, 3, 5}
    assert set(items(both((0,), (1,), filters=Filters(hide_seen=False)))) == {2, 3, 4, 5}


def test_filters_and_a_mask_narrow_the_films_of_both():
    assert items(both((0,), (1,), filters=Filters(genres=("Horror",)))) == [3, 5]
    assert items(both((0,), (1,), passing=np.arange(6) < 4)) == [2, 3]
    assert both((0,), (1,), passing=np.zeros(6, bool)) == []


def test_the_table_has_the_wishes_of_both():
    table = group.group_table(both((0,), (1,), k=2))
    assert table[["rank", "title", "your_rank", "their_rank"]].to_numpy().tolist() == [
        [1, "Film 4", 2, 2],
        [2, "Film 2", 1, 3],
    ]


def test_no_more_than_k_films_come_back():
    assert items(both((0,), (1,), k=1)) == [4]
    assert both((0,), (1,), k=0) == []


def test_a_film_that_is_ruled_out_for_one_is_not_offered():
    ruled = Pulls(pulls(f0_2=9.0, f1_3=9.0) + np.where(np.eye(6, k=4) > 0, -np.inf, 0))  # 0 rules out 4, 1 rules out 5
    assert items(both((0,), (1,), of=predictor(WORLD, ruled))) == [2, 3]


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9), st.randoms())
def test_the_order_is_that_of_the_bars(scores, random):
    others = [random.choice([-np.inf, *range(4)]) for _ in scores]
    rankings = [Ranking.from_scores(np.array(row, float)) for row in (scores, others)]
    items = [item for item in range(len(scores)) if others[item] > -np.inf]
    bars = np.array([[standing.log_rank_score for standing in rank_positions(row, items)] for row in rankings])
    lower, total = (dict(zip(items, values, strict=True)) for values in (bars.min(0).round(9), bars.sum(0).round(9)))
    fair = sorted(items, key=lambda item: (-lower[item], -total[item], item))
    average = sorted(items, key=lambda item: (-total[item], -lower[item], item))
    assert group.merge_rankings(*rankings, "fair").tolist() == fair
    assert group.merge_rankings(*rankings, "average").tolist() == average


def test_a_film_low_in_a_long_list_can_be_nearer_to_the_top_than_one_high_in_a_short_list():
    # Item 0 is last of 2 films for one person: nearness 0. Item 1 has ranks 1 of 2 and 3 of 8: 1 and 0.47.
    short = Ranking.from_scores(np.array([1.0, 2.0, *[-np.inf] * 6]))
    long = Ranking.from_scores(np.array([9.0, 7.0, 8.0, 6.0, 5.0, 4.0, 3.0, 2.0]))
    assert group.merge_rankings(short, long, "fair").tolist() == [1, 0]  # plain ranks, 2 and 1 against 1 and 3: [0, 1]


def test_a_link_of_the_app_gives_its_films_with_their_data_set():
    assert group.list_from_link("http://localhost:8501/?data=ml-1m&s=1-260-1196&n=5") == "ml-1m.1-260-1196"
    assert group.list_from_link(" ?s=7 ") == f"{datasets.DEFAULT_DATASET}.7"
    assert group.list_from_link("?data=my.shop&s=7-8") == "my.shop.7-8"
    assert (
        group.list_from_link("?s=e2400-7-8") == f"{datasets.DEFAULT_DATASET}.7-8"
    )  # of a list that had no room in the link
    long = "-".join(map(str, range(1, MAX_SHARED_FILMS + 50)))
    found = group.list_from_link(f"https://films.example/compare?s={long}")
    assert SHARED_LIST_PATTERN.fullmatch(found)
    assert found.endswith(f"-{MAX_SHARED_FILMS + 49}")
    assert found.count("-") == MAX_SHARED_FILMS - 1 + datasets.DEFAULT_DATASET.count("-")


@pytest.mark.parametrize(
    "text", ["", "hello", "?s=", "?s=abc", "?data=ml-1m", "?s=1--2", "?data=../etc&s=1", "?s=1;2", "http://["]
)
def test_what_is_no_such_link_is_said(text):
    with pytest.raises(RecsysError, match="link"):
        group.list_from_link(text)
