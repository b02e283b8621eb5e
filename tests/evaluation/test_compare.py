import subprocess
import sys

import numpy as np
import pytest

from recsys import paths
from recsys.evaluation import results
from recsys.evaluation.compare import against_best, all_pairs
from tests.evaluation.test_results import keep

RNG = np.random.default_rng(0)
GOOD = RNG.integers(1, 15, size=(1, 400))


def test_the_difference_is_that_of_the_metrics_and_the_best_is_who_others_are_measured_by():
    keep("good", GOOD)
    keep("worse", GOOD + 3)
    keep("worst", GOOD + 30)
    table = against_best("toy", "full")
    assert table["variant"].tolist() == ["worse", "worst"]
    assert set(table["other"]) == {"good"}
    board = results.leaderboard("toy", "full").set_index("variant")["ndcg@10"]
    assert table["difference"].tolist() == pytest.approx([board[name] - board["good"] for name in table["variant"]])
    assert (table["low"] < table["difference"]).all()
    assert (table["difference"] < table["high"]).all()
    assert (table["high"] < 0).all()
    assert (table["p_holm"] < 0.01).all()
    assert table["users"].tolist() == [400, 400]


def test_a_difference_that_chance_makes_is_not_told_from_none():
    keep("one", RNG.integers(1, 15, size=(1, 400)))
    keep("two", RNG.integers(1, 15, size=(1, 400)))
    (row,) = against_best("toy", "full").to_dict("records")
    assert row["p_holm"] == row["p"] > 0.05
    assert row["low"] < 0 < row["high"]


def test_the_same_users_are_compared_so_that_a_small_steady_difference_is_seen():
    keep("steady", steady := np.where(GOOD < 5, GOOD, GOOD + 1))
    keep("good", GOOD)
    keep("strange", RNG.permuted(steady, axis=1))
    table = against_best("toy", "full", metric="mrr").set_index("variant")
    assert table.loc["steady", "p"] < 0.001
    assert table.loc["strange", "p"] > 0.05


def test_seeds_are_averaged_before_users_are_compared():
    keep("good", GOOD)
    keep("both", np.vstack([GOOD, GOOD + 1]))
    (row,) = against_best("toy", "full", metric="mrr").to_dict("records")
    assert row["difference"] == pytest.approx(np.mean(1 / (GOOD + 1) - 1 / GOOD) / 2)
    assert row["users"] == 400


def test_all_pairs_are_corrected_together():
    for number in range(4):
        keep(f"m{number}", GOOD + number)
    table = all_pairs("toy", "full")
    assert len(table) == 6
    assert (table["difference"] < 0).all()
    assert (table["p_holm"] >= table["p"]).all()
    assert (table["p_holm"] <= 6 * table["p"]).all()
    chosen = all_pairs("toy", "full", ["m1", "m2"])
    assert chosen[["variant", "other"]].values.tolist() == [["m2", "m1"]]


def test_one_model_alone_is_compared_with_nobody():
    keep("good", GOOD)
    assert against_best("toy", "full").empty
    assert "p_holm" in all_pairs("toy", "full").columns


def test_results_of_other_users_are_not_compared():
    keep("good", GOOD)
    keep("short", GOOD[:, :-1])
    with pytest.raises(results.ResultError, match=r"not measured on the same users of toy; run: .* evaluate all"):
        against_best("toy", "full", ["good", "short"])
    with pytest.raises(results.ResultError, match="evaluate nobody"):
        against_best("toy", "full", ["good", "nobody"])


def test_comparing_and_slicing_load_neither_torch_nor_streamlit():
    code = (
        "import sys, recsys.evaluation.compare, recsys.evaluation.slices; "
        "print(sorted({'torch', 'streamlit'} & set(sys.modules)))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=paths.REPOSITORY, capture_output=True, text=True, check=True
    )
    assert said.stdout == "[]\n"
