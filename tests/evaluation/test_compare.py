import subprocess
import sys

import numpy as np
import pytest

from recsys import paths
from recsys.data import prepared
from recsys.evaluation import compare, results
from recsys.evaluation.compare import against_best, head_to_head, pairwise_tests
from recsys.evaluation.evaluate import evaluate
from recsys.evaluation.significance import holm
from tests import toys
from tests.artifacts import payload
from tests.evaluation.made_up import keep

RNG = np.random.default_rng(0)
GOOD = RNG.integers(1, 15, size=(1, 400))


def test_the_difference_is_that_of_the_metrics_and_others_are_compared_with_the_best():
    keep("good", GOOD)
    keep("worse", GOOD + 3)
    keep("worst", GOOD + 30)
    table = against_best(pairwise_tests("toy", "full"))
    assert table["variant"].tolist() == ["worse", "worst"]
    assert set(table["other"]) == {"good"}
    board = results.leaderboard("toy", "full").set_index("variant")["ndcg@10"]
    assert table["difference"].tolist() == pytest.approx([board[name] - board["good"] for name in table["variant"]])
    assert (table["low"] < table["difference"]).all()
    assert (table["difference"] < table["high"]).all()
    assert (table["high"] < 0).all()
    assert (table["p_holm"] < 0.01).all()
    assert table["differs"].all()
    assert table["users"].tolist() == [400, 400]


def test_a_difference_that_chance_makes_does_not_count():
    keep("one", RNG.integers(1, 15, size=(1, 400)))
    keep("two", RNG.integers(1, 15, size=(1, 400)))
    (row,) = pairwise_tests("toy", "full").to_dict("records")
    assert row["p_holm"] == row["p"] > 0.05
    assert not row["differs"]
    assert row["low"] < 0 < row["high"]


def test_the_same_users_are_compared_so_that_a_small_steady_difference_is_seen():
    keep("good", GOOD)
    keep("steady", steady := np.where(GOOD < 5, GOOD, GOOD + 1))
    assert pairwise_tests("toy", "full", "mrr")["p"].item() < 0.001
    keep("steady", RNG.permuted(steady, axis=1))  # the same figures, of other users
    assert pairwise_tests("toy", "full", "mrr")["p"].item() > 0.05


def test_seeds_are_averaged_before_users_are_compared():
    keep("good", GOOD)
    keep("both", np.vstack([GOOD, GOOD + 1]))
    (row,) = pairwise_tests("toy", "full", "mrr").to_dict("records")
    assert row["difference"] == pytest.approx(np.mean(1 / (GOOD + 1) - 1 / GOOD) / 2)
    assert row["users"] == 400


def test_all_pairs_of_the_leaderboard_are_corrected_together():
    for number in range(4):
        keep(f"m{number}", RNG.integers(1, 15, size=(1, 400)))
    table = pairwise_tests("toy", "full")
    assert len(table) == 6
    assert (table["difference"] <= 0).all()
    assert table["p_holm"].to_numpy() == pytest.approx(holm(table["p"].to_numpy()))
    smallest = table.loc[table["p"].idxmin()]
    assert smallest["p"] < smallest["p_holm"] == min(1, 6 * smallest["p"])


def test_a_difference_that_counts_alone_may_not_count_among_many():
    """Twelve models that differ by chance alone: some pairs have p < .05, none of them counts."""
    rng = np.random.default_rng(1)
    for number in range(12):
        keep(f"m{number:02}", rng.integers(1, 15, size=(1, 300)))
    table = pairwise_tests("toy", "full")
    assert (table["p"] < compare.ALPHA).any()
    assert not table["differs"].any()


def test_the_leaderboard_and_two_of_them_have_one_verdict():
    keep("good", GOOD)
    keep("like-it", np.where(RNG.random(GOOD.shape) < 0.05, GOOD + 1, GOOD))
    keep("worst", GOOD + 30)
    table = pairwise_tests("toy", "full")
    for row in against_best(table).to_dict("records"):
        alone = head_to_head(table, row["variant"], row["other"])
        assert alone.to_dict() == row


def test_a_pair_is_seen_from_the_one_that_is_named_first():
    keep("als", [[1, 2, 1, 1]])
    keep("popular", [[9, 30, 2, 1]])
    table = pairwise_tests("toy", "full")
    better, worse = head_to_head(table, "als", "popular"), head_to_head(table, "popular", "als")
    assert better["difference"] == -worse["difference"] > 0
    assert (better["low"], better["high"]) == (-worse["high"], -worse["low"])
    assert (worse["variant"], worse["other"]) == ("popular", "als")
    assert better["p"] == worse["p"]
    assert better["p_holm"] == worse["p_holm"]


def test_two_that_were_not_compared_are_a_sentence():
    keep("good", GOOD)
    keep("worse", GOOD + 3)
    with pytest.raises(results.ResultError, match="good and nobody cannot be compared"):
        head_to_head(pairwise_tests("toy", "full"), "good", "nobody")


def test_one_model_alone_is_compared_with_nobody():
    assert pairwise_tests("toy", "full").empty
    keep("good", GOOD)
    table = pairwise_tests("toy", "full")
    assert against_best(table).empty
    assert list(table.columns) == compare.COLUMNS


def test_a_result_of_other_users_is_left_out_and_does_not_stop_the_others():
    keep("good", GOOD)
    keep("worse", GOOD + 3)
    keep("short", GOOD[:, :-1])
    said = []
    table = pairwise_tests("toy", "full", report=said.append)
    assert table[["variant", "other"]].values.tolist() == [["worse", "good"]]
    assert len(said) == 1
    assert "short is left out" in said[0]


def test_the_command_for_a_stale_result_brings_it_back_into_the_comparison():
    """gru4rec-ce measured on an older form of the data beside others of today's: no command helped."""
    world = toys.cycle()
    prepared.save(world, {})
    evaluate("counts", world)
    keep("better", np.ones((1, 200)), dataset="cycle", fingerprint=world.fingerprint)
    keep("counts", np.ones((1, 150)), dataset="cycle")
    said = []
    assert pairwise_tests("cycle", "full", report=said.append).empty
    assert "evaluate counts --dataset cycle --protocol full" in said[0]
    evaluate("counts", world)
    assert len(pairwise_tests("cycle", "full")) == 1


def test_ranks_that_are_damaged_are_left_out_with_a_sentence(home):
    for variant in ("good", "worse", "worst"):
        keep(variant, GOOD)
    payload(paths.results(home, "toy", "full") / "worst.json", "worst.npz").write_bytes(b"nothing")
    said = []
    assert len(pairwise_tests("toy", "full", report=said.append)) == 1
    assert "worst" in said[0]


def test_comparing_and_slicing_load_neither_torch_nor_streamlit():
    code = (
        "import sys, recsys.evaluation.compare, recsys.evaluation.groups, recsys.evaluation.tables; "
        "print(sorted({'torch', 'streamlit'} & set(sys.modules)))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=paths.REPOSITORY, capture_output=True, text=True, check=True
    )
    assert said.stdout == "[]\n"
