import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from recsys import paths
from recsys.evaluation import results
from recsys.evaluation.metrics import summary
from recsys.evaluation.run import evaluate
from tests import toys

CYCLE = toys.cycle()


def keep(variant, ranks):
    """Write a result as `evaluate` does, with made-up ranks (S, B)."""
    each = [summary(row) for row in np.asarray(ranks)]
    mean = {name: float(np.mean([metrics[name] for metrics in each])) for name in each[0]}
    document = dict.fromkeys(("variant", "model", "title", "family", "paper"), variant)
    document |= {"dataset": "toy", "protocol": {"name": "full"}, "fingerprint": "f", "config": {}, "mean": mean}
    document |= {"seeds": [{"seed": seed, "metrics": metrics} for seed, metrics in enumerate(each)]}
    results.write(document | {"std": {}, "run": {"date": "2026-01-01"}}, np.asarray(ranks))


def test_the_best_ndcg_stands_first_and_a_single_seed_has_no_spread():
    keep("worse", [[3, 4]])
    keep("better", [[1, 2]])
    board = results.leaderboard("toy", "full")
    assert board["variant"].tolist() == ["better", "worse"]
    assert board["hr@1"].tolist() == [0.5, 0.0]
    assert board["seeds"].tolist() == [1, 1]
    assert board["std ndcg@10"].isna().all()
    assert results.available() == [("toy", "full")]
    assert results.ranks("toy", "full", "worse").tolist() == [[3, 4]]


def test_an_empty_leaderboard_has_its_columns_and_what_is_missing_names_the_line_to_type():
    assert "ndcg@10" in results.leaderboard("toy", "full").columns
    assert results.leaderboard("toy", "full").empty
    assert results.available() == []
    with pytest.raises(results.ResultError, match="evaluate als --dataset toy --protocol full"):
        results.load("toy", "full", "als")


def test_this_machines_result_wins_over_the_shipped_one():
    keep("popular", [[1, 1]])
    results.ship("toy", "full", "popular")
    keep("popular", [[9, 9]])
    keep("als", [[2, 2]])
    board = results.leaderboard("toy", "full").set_index("variant")
    assert board.loc["popular", "hr@1"] == 0
    assert list(board.index) == ["als", "popular"]
    (paths.results(paths.home(), "toy", "full") / "popular.json").unlink()
    assert results.leaderboard("toy", "full").set_index("variant").loc["popular", "hr@1"] == 1


def test_no_truncation_and_no_altered_bit_of_a_result_is_read(home):
    keep("popular", [np.arange(1, 200)])
    rng = np.random.default_rng(0)
    for path in sorted(paths.results(home, "toy", "full").iterdir()):
        whole = path.read_bytes()
        damaged = [whole[:length] for length in rng.integers(len(whole), size=50)]
        for bit in rng.integers(8 * len(whole), size=200):
            damaged.append(bytearray(whole))
            damaged[-1][bit // 8] ^= 1 << bit % 8
        for data in damaged:
            path.write_bytes(data)
            with pytest.raises(results.ResultError):
                results.ranks("toy", "full", "popular")
        path.write_bytes(whole)
    assert len(results.ranks("toy", "full", "popular")[0]) == 199


def test_the_leaderboard_leaves_out_a_damaged_file_and_says_so(home):
    keep("popular", [[1, 2]])
    keep("als", [[2, 3]])
    path = paths.results(home, "toy", "full") / "als.json"
    path.write_text(path.read_text().replace("0.5", "0.6"))
    said = []
    assert results.leaderboard("toy", "full", said.append)["variant"].tolist() == ["popular"]
    assert len(said) == 1
    assert "als.json is damaged; run: python -m recsys evaluate als --dataset toy" in said[0]


def test_a_measured_model_is_on_the_leaderboard():
    document = evaluate("counts", CYCLE)
    row = results.leaderboard("cycle", "full").iloc[0]
    assert row["title"] == "Counts"
    assert row["ndcg@10"] == document["mean"]["ndcg@10"]


def test_published_figures_carry_their_rules_and_source():
    full, sampled = results.published("ml-1m", "full"), results.published("ml-1m", "popularity-100")
    assert full["ndcg@10"].is_monotonic_decreasing
    for table in (full, sampled, results.published("ml-20m", "popularity-100")):
        assert (table["source"].str.len() > 10).all()
        assert (table["rules"].str.len() > 10).all()
        assert table[["hr@10", "ndcg@10"]].notna().all(axis=None)
        assert (table["ndcg@10"] < table["hr@10"]).all()
    paper = sampled[sampled["source"].str.contains("1904.06690")].set_index("title").loc["BERT4Rec"]
    assert paper[["hr@1", "hr@10", "ndcg@10", "mrr"]].tolist() == [0.2863, 0.6970, 0.4818, 0.4254]
    assert results.published("beauty", "full").empty


def test_a_training_curve_survives_a_resumed_run_and_a_half_written_line():
    folder = paths.checkpoint("toy", "bert4rec", 2)
    folder.mkdir(parents=True)
    events = [{"note": "started"}, {"epoch": 1, "loss": 5.0}, {"epoch": 2, "loss": 9.0}, {"epoch": 2, "loss": 4.0}]
    (folder / "log.jsonl").write_text("\n".join(map(json.dumps, events)) + '\n{"epoch": 3, "lo')
    assert results.curve("toy", "bert4rec")[["epoch", "loss"]].values.tolist() == [[1, 5.0], [2, 4.0]]


def test_the_shipped_curve_is_shown_where_nothing_was_trained():
    assert results.curve("toy", "bert4rec").empty
    folder = paths.shipped_checkpoint("toy", "bert4rec")
    folder.mkdir(parents=True)
    (folder / "log.jsonl").write_text('{"epoch": 1, "loss": 5.0}\n')
    assert results.curve("toy", "bert4rec")["loss"].tolist() == [5.0]


def test_reading_results_loads_neither_torch_nor_streamlit():
    code = "import sys, recsys.evaluation.results; print(sorted({'torch', 'streamlit', 'scipy'} & set(sys.modules)))"
    root = Path(__file__).parent.parent.parent
    assert subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True).stdout == "[]\n"
