import numpy as np
import pytest

from recsys.data.dataset import Queries
from recsys.evaluation.confidence import observed, of_list, protocol_of
from tests.serving.given import Given

SCORES = np.log([0.1, 0.4, 0.2, 0.3])


def test_the_films_of_a_list_have_their_probabilities_best_first_and_seen_ones_are_left_out():
    table = of_list(Given(SCORES), Queries([np.array([1])]), k=2)
    assert table["rank"].tolist() == [1, 2]
    assert table["item"].tolist() == [3, 2]
    assert table["probability"].tolist() == pytest.approx([0.5, 1 / 3])  # of 0.6, as film 1 is out


def test_each_bin_of_ranks_has_the_share_of_people_for_one_rank_of_it():
    table = observed(np.array([[1, 1, 2, 90, 100], [1, 3, 300, 100, 5000]]), k=100)
    assert table["share"].iloc[0] == pytest.approx(3 / 10)
    assert table["first"].iloc[0] == table["last"].iloc[0] == 1
    last = table.iloc[-1]
    assert (last["last"], last["first"] <= 90) == (100, True)
    assert last["share"] == pytest.approx(3 / 10 / (last["last"] - last["first"] + 1))
    assert table["first"].iloc[1:].tolist() == (table["last"].iloc[:-1] + 1).tolist()
    total = (table["share"] * (table["last"] - table["first"] + 1)).sum()
    assert total == pytest.approx(8 / 10)  # two of ten stood further down


def test_the_recommenders_of_the_app_are_measured_where_no_order_of_a_file_leaks():
    assert protocol_of("ml-1m").name == "untied"
    assert protocol_of("ml-latest-sample").name == "full"
