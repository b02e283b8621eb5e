import math

import numpy as np
import pandas as pd
import pytest

from recsys import paths
from recsys.data.split import leave_one_out
from recsys.evaluation import results, tables
from recsys.evaluation.metric_texts import CALIBRATION_ERROR, LIST_METRICS
from recsys.evaluation.significance import FEW_USERS
from tests import toys
from tests.artifacts import remove_ranks
from tests.evaluation.made_up import CIRCUMSTANCES, keep


def board(users=200, **figures):
    """A table of models and their NDCG@10."""
    names = list(figures)
    return pd.DataFrame(
        {"variant": names, "title": names, "family": "F", "users": users, "ndcg@10": list(figures.values())}
    )


def swaps(one, other, users=200):
    """`opposite_order` of two protocols from the figures of the same models."""
    models = [{f"m{number}": figure for number, figure in enumerate(figures)} for figures in (one, other)]
    boards = {"full": board(**models[0]), "time": board(users, **models[1])}
    return tables.discordant_share(tables.compare_protocols(boards, "ndcg@10"), "full", "time")


def test_measures_of_an_old_result_without_intervals_are_unknown_and_not_zero():
    keep("popular", [[1, 2]])
    table = tables.leaderboard("toy", "full")
    assert table["ndcg@10"].item() > 0
    assert table[[*tables.INTERVAL_COLUMNS, *LIST_METRICS, CALIBRATION_ERROR]].isna().all(axis=None)


def test_measures_hold_what_a_result_tells_of_intervals_lists_and_confidence():
    keep("popular", [[1, 2]])
    document = results.load("toy", "full", "popular")
    document |= {"interval": {"mrr": [0.5, 0.75]}, "beyond": {"coverage@10": 0.25}, "calibration": {"ece": 0.125}}
    results.write(document, np.array([[1, 2]]))
    row = tables.leaderboard("toy", "full").iloc[0]
    assert (row["low mrr"], row["high mrr"], row["coverage@10"], row[CALIBRATION_ERROR]) == (
        0.5,
        0.75,
        0.25,
        0.125,
    )


def test_a_stamp_changes_with_every_result_that_is_written_or_taken_away():
    stamps = [results.version("toy", "full")]
    keep("popular", [[1, 2]])
    stamps.append(results.version("toy", "full"))
    assert results.version("toy", "full") == stamps[-1]
    keep("popular", [[1, 300]])
    stamps.append(results.version("toy", "full"))
    paths.results(paths.home(), "toy", "full").unlink()
    stamps.append(results.version("toy", "full"))
    assert len(set(stamps)) == 3
    assert stamps[0] == stamps[-1]


def test_damaged_ranks_are_left_out_with_a_sentence():
    keep("popular", [[1, 2]])
    keep("als", [[3, 4]])
    remove_ranks(paths.results(paths.home(), "toy", "full"), "als")
    said = []
    found = tables.all_ranks("toy", "full", ["popular", "als"], lambda error: said.append(str(error)))
    assert list(found) == ["popular"]
    assert "als" in said[0]


def test_orders_are_among_the_models_that_were_measured_everywhere():
    table = tables.compare_protocols({"full": board(a=0.3, b=0.2, c=0.1), "time": board(c=0.9, a=0.5)}, "ndcg@10")
    assert table[["variant", "rank full", "rank time"]].values.tolist() == [["a", 1, 2], ["c", 2, 1]]
    assert table["time"].tolist() == [0.5, 0.9]


def test_models_with_the_same_figure_share_the_better_rank():
    table = tables.compare_protocols({"full": board(a=0.3, b=0.3, c=0.1)}, "ndcg@10")
    assert table["rank full"].tolist() == [1, 1, 3]


def test_the_share_of_pairs_that_change_their_order_is_counted():
    assert swaps([3, 2, 1], [30, 20, 10]) == 0
    assert swaps([3, 2, 1], [1, 2, 3]) == 1
    assert swaps([3, 2, 1], [3, 1, 2]) == pytest.approx(1 / 3)
    assert swaps([1, 2], [5, 5]) == 0.5
    assert swaps([1], [1]) is None


def test_with_few_people_no_share_of_pairs_is_given_because_it_would_be_noise():
    assert swaps([3, 2, 1], [1, 2, 3], users=FEW_USERS) == 1
    assert swaps([3, 2, 1], [1, 2, 3], users=FEW_USERS - 1) is None


def test_the_best_of_each_family_are_those_of_the_best_families():
    table = board(a=0.5, b=0.4, c=0.3, d=0.2).assign(family=["F", "F", "G", "H"])
    assert tables.best_of_families(table, ["a", "b", "c", "d"], 2) == ["a", "c"]
    assert tables.best_of_families(table, ["b", "d"], 3) == ["b", "d"]


def test_reliability_tells_how_many_times_too_sure_and_leaves_a_zero_unsaid():
    keep("popular", [[1, 2]])
    keep("als", [[1, 2]])
    document = results.load("toy", "full", "als")
    bins = [{"predicted": 0.5, "hit_rate": 0.25, "share": 1.0}]
    document["calibration"] = {"ece": 0.1, "bins": bins, "by_rank": {"predicted": [0.5, 0.2], "hit_rate": [0.25, 0]}}
    results.write(document, np.array([[1, 2]]))
    table, by_rank = tables.reliability_tables("toy", "full", ["popular", "als"])
    assert table.values.tolist() == [["als", 0.5, 0.25, tables.ALL_ITEMS, 1.0]]
    assert by_rank["rank"].tolist() == [1, 2]
    assert by_rank["predicted_to_hit_ratio"].iloc[0] == 2
    assert math.isnan(by_rank["predicted_to_hit_ratio"].iloc[1])


def test_reliability_says_over_which_films_probabilities_add_up_to_1():
    figures = {"ece": 0.1, "bins": [{"predicted": 0.5, "hit_rate": 0.25, "share": 1.0}]}
    figures["by_rank"] = {"predicted": [0.5], "hit_rate": [0.25]}
    keep("old", [[1, 2]], calibration=figures)
    keep("new", [[1, 2]], calibration={"over": results.UNSEEN_ITEMS, **figures})
    for table in tables.reliability_tables("toy", "full", ["old", "new"]):
        assert table["normalized_over"].tolist() == [tables.ALL_ITEMS, results.UNSEEN_ITEMS]


def test_without_probabilities_reliability_is_empty():
    keep("popular", [[1, 2]])
    assert all(table.empty for table in tables.reliability_tables("toy", "full", ["popular"]))


def test_people_are_counted_by_how_much_higher_the_first_model_ranks_their_film():
    ours, theirs = np.array([[1, 5, 10, 1, 100]]), np.array([[1, 10, 8, 50, 10]])
    margins = tables.rank_margins(ours, theirs)
    users = dict(margins.values.tolist())
    assert {margin: n for margin, n in users.items() if n} == {0: 1, 2: 1, -1: 1, 4: 1, -4: 1}
    assert tables.count_wins(margins) == (2, 2, 1)


def test_seeds_are_averaged_by_their_geometric_mean():
    even = tables.rank_margins(np.array([[2], [8]]), np.array([[4], [4]]))
    assert even.loc[even["margin"] == 0, "users"].item() == 1


WORLD = toys.dataset([[0, 1, 2, 3], [4, 3, 2]], n_items=5)
TEST = leave_one_out(WORLD).test
PEOPLE_BOARD = pd.DataFrame(
    {
        "variant": ["a", "b", "c"],
        "title": ["A", "B", "C"],
        "family": "F",
        "fingerprint": [WORLD.fingerprint] * 2 + ["x"],
    }
)


def test_a_person_is_what_was_watched_before_and_what_came_next():
    somebody = tables.held_out_user(WORLD, TEST, 1)
    assert somebody.history.tolist() == [4, 3]
    assert somebody.target == 2
    assert somebody.user_id == WORLD.user_ids[1]


def test_ranks_of_other_people_are_not_compared():
    ranks = {"a": np.ones((1, 2)), "b": np.ones((1, 3)), "c": np.ones((1, 2))}
    assert tables.matching_recommenders(PEOPLE_BOARD, ranks, WORLD, TEST) == ["a"]


def test_ranks_are_medians_over_seeds_the_best_first():
    ranks = {"a": np.array([[7, 50], [1, 11], [2, 9]]), "b": np.array([[7, 10]])}
    table = tables.ranks_of_user(PEOPLE_BOARD, ranks, ["a", "b"], 1)
    assert table[["variant", "rank", "low", "high", "is_hit"]].values.tolist() == [
        ["b", 10.0, 10, 10, True],
        ["a", 11.0, 9, 50, False],
    ]


SETTINGS = {"schedule": {"epochs": 2}}


def measured(variant, rank, *trained, config=SETTINGS):
    """A result of which these trainings are known: (seed, seconds, hardware)."""
    times = [dict(zip(("seed", "seconds", "hardware"), one, strict=True)) for one in trained]
    keep(variant, [[rank, rank]], config=config, run=CIRCUMSTANCES | {"trained": times})


def costs():
    return tables.costs(results.documents("toy", "full", pytest.fail))


def test_the_first_training_counts_and_who_has_no_time_is_named():
    measured("sasrec", 1, (1, 100.0, "cpu"), (2, 300.0, "cpu"))
    measured("fpmc", 2)
    measured("popular", 3, config={"run": 1})
    measured("hybrid", 4, config={"members": ["sasrec", "popular"]})
    found = costs()
    assert found.table[["variant", "seconds", "log10"]].values.tolist() == [["sasrec", 100.0, 2.0]]
    assert found.table["ndcg@10"].tolist() == [1.0]
    assert (found.hardware, found.untimed_titles, found.other_hardware_titles) == ("cpu", ["fpmc"], [])
    assert (found.fitted_titles, found.mixture_titles) == (["popular"], ["hybrid"])


def test_results_from_before_times_were_noted_have_none():
    keep("sasrec", [[1, 1]], config=SETTINGS)
    assert (costs().hardware, costs().untimed_titles, costs().table.empty) == ("", ["sasrec"], True)


def test_trainings_on_other_hardware_are_left_out_and_named():
    measured("a", 1, (0, 5.0, "cuda"))
    measured("b", 2, (0, 100.0, "cpu"))
    measured("c", 3, (0, 100.0, "cpu"))
    found = costs()
    assert found.table["variant"].tolist() == ["b", "c"]
    assert (found.hardware, found.other_hardware_titles, found.untimed_titles) == ("cpu", ["a"], [])


@pytest.mark.parametrize(
    ("notes", "time"),
    [
        ({"seconds": 0.04, "device": "cuda:0", "versions": {"torch": "2.13.0+cpu"}}, (0.04, "cuda")),
        ({"seconds": 5.0, "device": "cpu"}, (5.0, "cpu")),
        ({"seconds": 5.0, "versions": {"torch": "2.13.0+cpu"}}, (5.0, "cpu")),
        ({"seconds": 5.0, "versions": {"torch": "2.13.0+cu130"}}, None),
        ({"device": "cpu"}, None),
        ({}, None),
    ],
)
def test_the_time_of_a_training_is_known_with_its_hardware_or_not_at_all(notes, time):
    assert tables.training_time(notes) == (dict(zip(("seconds", "hardware"), time, strict=True)) if time else {})
