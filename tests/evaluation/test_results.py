import errno
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from recsys import boards, paths, storage
from recsys.data import prepared
from recsys.data.split import OTHER_SCALE_RULE
from recsys.errors import recsys_command
from recsys.evaluation import published_figures, results, tables
from recsys.evaluation.evaluate import evaluate
from tests import toys
from tests.artifacts import change, payload
from tests.evaluation.made_up import CIRCUMSTANCES, keep

CYCLE = toys.cycle()


def collect(sentences):
    """Return a callback that appends the text of an error."""
    return lambda error: sentences.append(str(error))


def test_the_best_ndcg_stands_first_and_a_single_seed_has_no_spread():
    keep("worse", [[3, 4]])
    keep("better", [[1, 2]])
    board = tables.leaderboard("toy", "full")
    assert board["variant"].tolist() == ["better", "worse"]
    assert board["hr@1"].tolist() == [0.5, 0.0]
    assert board["seeds"].tolist() == [1, 1]
    assert board["std ndcg@10"].isna().all()
    assert results.available() == [("toy", "full")]
    assert results.ranks("toy", "full", "worse").tolist() == [[3, 4]]


def test_a_result_of_an_older_version_has_the_title_and_the_family_of_today():
    keep("session-popular", [[1]], title="Popular in the session", family="No learning")
    document = results.load("toy", "full", "session-popular")
    assert (document["title"], document["family"]) == ("Watched near the last two films", "Counting")


@pytest.mark.parametrize("highest", [101, 255, 256, 65535, 65536, 10_000_000])
def test_ranks_come_back_whole_and_can_be_subtracted_however_few_bytes_hold_them(highest):
    keep("markov", [[highest, 3]])
    (found,) = results.ranks("toy", "full", "markov")
    assert found.tolist() == [highest, 3]
    assert found[1] - found[0] == 3 - highest


def test_an_empty_leaderboard_has_its_columns_and_what_is_missing_names_the_line_to_type():
    assert "ndcg@10" in tables.leaderboard("toy", "full").columns
    assert tables.leaderboard("toy", "full").empty
    assert results.available() == []
    with pytest.raises(results.ResultError, match="evaluate als --dataset toy --protocol full"):
        results.load("toy", "full", "als")


def test_a_result_of_other_data_than_this_machines_gives_way_to_the_shipped_one_of_it():
    prepared.save(CYCLE, {})
    evaluate("counts", CYCLE, ship=True)
    keep("counts", np.ones((1, 200)), dataset="cycle")
    assert results.load("cycle", "full", "counts")["fingerprint"] == CYCLE.fingerprint
    assert results.ranks("cycle", "full", "counts").mean() > 1


def test_a_stale_result_is_left_out_with_a_command_that_brings_it_back():
    prepared.save(CYCLE, {})
    evaluate("counts", CYCLE)
    keep("trained", np.ones((1, 200)), dataset="cycle")
    said = []
    assert tables.leaderboard("cycle", "full", collect(said))["variant"].tolist() == ["counts"]
    command = recsys_command("evaluate", "trained", "--dataset", "cycle", "--protocol", "full")
    assert said == [
        f"trained was measured on a different version of cycle from the one on this computer; run: {command}"
    ]
    with pytest.raises(results.ResultError, match="a different version of cycle"):
        results.ranks("cycle", "full", "trained")


def test_where_the_data_is_not_here_the_form_that_most_results_are_of_counts():
    keep("als", [[2, 2]])
    keep("popular", [[1, 1]])
    keep("a-stale-one", [[1, 1]], fingerprint="other")
    said = []
    assert tables.leaderboard("toy", "full", collect(said))["variant"].tolist() == ["popular", "als"]
    assert len(said) == 1
    assert said[0].startswith(
        "a-stale-one is left out: it was not measured on the same people of toy as most other recommenders; run: "
    )
    assert "evaluate all --dataset toy --protocol full" in said[0]


def test_of_two_forms_that_are_as_common_the_one_measured_last_counts():
    keep("als", [[2, 2]], run=CIRCUMSTANCES | {"date": "2026-02-01"})
    keep("a-stale-one", [[1, 1]], fingerprint="other")
    assert tables.leaderboard("toy", "full", lambda error: None)["variant"].tolist() == ["als"]


def test_other_dates_are_other_people_but_rules_may_be_put_better():
    for variant in ("als", "popular"):
        keep(variant, [[2, 2]], rules={"dates": {"test": "2000-01-01"}})
    keep("late", [[1, 1]], rules={"dates": {"test": "2001-01-01"}})
    keep("reworded", [[1, 1]], rules={"dates": {"test": "2000-01-01"}, "ranked": "every film"})
    said = []
    assert tables.leaderboard("toy", "full", collect(said))["variant"].tolist() == [
        "reworded",
        "als",
        "popular",
    ]
    assert [line.split()[0] for line in said] == ["late"]


def test_a_stamp_changes_with_the_data_on_this_machine():
    before = results.version("cycle", "full")
    prepared.save(CYCLE, {})
    assert results.version("cycle", "full") != before


@pytest.mark.parametrize("field", ["users", "config"])
def test_a_file_of_another_version_is_named_with_the_command_that_replaces_it(field):
    keep("als", [[1, 1]])
    change(paths.results(paths.home(), "toy", "full"), "als", field)
    with pytest.raises(results.ResultError, match=rf"lacks {field}; run: .*evaluate als --dataset toy"):
        results.load("toy", "full", "als")


def test_this_machines_result_wins_over_the_shipped_one():
    keep("popular", [[1, 1]])
    results.ship("toy", "full", "popular")
    keep("popular", [[9, 9]])
    keep("als", [[2, 2]])
    board = tables.leaderboard("toy", "full").set_index("variant")
    assert board.loc["popular", "hr@1"] == 0
    assert list(board.index) == ["als", "popular"]
    paths.results(paths.home(), "toy", "full").unlink()
    assert tables.leaderboard("toy", "full").set_index("variant").loc["popular", "hr@1"] == 1


def test_a_damaged_board_gives_way_to_the_shipped_one_with_the_command_that_repeats_it(home):
    keep("popular", [[1, 2]])
    board = results.ship("toy", "full", "popular")
    keep("als", [[2, 3]])
    path = paths.results(home, "toy", "full")
    path.write_text(path.read_text().replace("0.5", "0.6"))
    said = []
    assert tables.leaderboard("toy", "full", collect(said))["variant"].tolist() == ["popular"]
    assert len(said) == 1
    assert said[0].startswith(f"{path} is damaged; run: ")
    assert "-m recsys evaluate all --dataset toy --protocol full" in said[0]
    with pytest.raises(results.ResultError, match=r"full.json is damaged"):
        results.load("toy", "full", "als")
    path.unlink()
    board.write_bytes(board.read_bytes()[:-9])
    with pytest.raises(results.ResultError, match=r"full.json is damaged; run: git .* checkout"):
        results.load("toy", "full", "popular")


def test_what_a_damaged_board_contained_is_lost_with_a_warning_when_it_is_written(home):
    keep("popular", [[1, 2]])
    path = paths.results(home, "toy", "full")
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.warns(match=r"full.json is damaged, so its content is lost; run: .*evaluate all --dataset toy"):
        keep("als", [[2, 3]])
    assert tables.leaderboard("toy", "full")["variant"].tolist() == ["als"]
    results.check(path)


def test_damaged_ranks_of_a_board_leave_its_documents(home):
    keep("popular", [[1, 2]])
    path = paths.results(home, "toy", "full")
    payload(path, "full.npz").write_bytes(b"nothing")
    with pytest.warns(match=r"full-\w+\.npz is missing or damaged, so its content is lost"):
        keep("als", [[2, 3]])
    assert tables.leaderboard("toy", "full")["variant"].tolist() == ["popular", "als"]
    assert results.ranks("toy", "full", "als").tolist() == [[2, 3]]
    with pytest.raises(results.ResultError, match=r"holds no ranks; run: .*evaluate popular --dataset toy"):
        results.ranks("toy", "full", "popular")
    with pytest.raises(results.ResultError, match="holds no ranks"):
        results.check(path)


WRITER = """
import sys
from tests.evaluation.made_up import keep
for number in range(30):
    keep(f"{sys.argv[1]}-{number}", [[number, 2]])
"""


def test_results_that_two_processes_write_at_the_same_time_are_all_kept(home):
    root = Path(__file__).parent.parent.parent
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, name], cwd=root) for name in "ab"]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0]
    for name in "ab":
        for number in range(30):
            assert results.ranks("toy", "full", f"{name}-{number}").tolist() == [[number, 2]]
    assert len(list(paths.results(home, "toy", "full").parent.iterdir())) == 2


def write_as_before():
    """Store the results of the board as older programs did, in a folder with files for each. Return the folder."""
    board = paths.results(paths.home(), "toy", "full")
    folder = board.with_suffix("")
    for variant, document in boards.read(board).items():
        buffer = io.BytesIO()
        np.savez_compressed(buffer, ranks=boards.read_ranks(board)[variant])
        storage.write_document(folder / f"{variant}.json", document, {f"{variant}.npz": buffer.getvalue()})
    payload(board, "full.npz").unlink()
    board.unlink()
    return folder


def test_results_of_older_programs_are_moved_into_the_board():
    keep("popular", [[1, 2]])
    keep("als", [[3, 4]])
    document = results.load("toy", "full", "popular")
    folder = write_as_before()
    assert results.available() == [("toy", "full")]
    assert tables.leaderboard("toy", "full")["variant"].tolist() == ["popular", "als"]
    assert results.ranks("toy", "full", "als").tolist() == [[3, 4]]
    assert results.load("toy", "full", "popular") == document  # without the hashes of the older files
    assert results.available() == [("toy", "full")]
    assert not folder.exists()


def test_a_result_is_written_beside_those_of_older_programs_and_a_damaged_one_of_them_is_named():
    keep("popular", [[1, 2]])
    keep("ease", [[1, 2]])
    damaged = write_as_before() / "ease.json"
    damaged.write_bytes(damaged.read_bytes()[:-9])
    with pytest.warns(match=r"ease.json is damaged; run: .*evaluate ease --dataset toy --protocol full"):
        keep("als", [[3, 4]])
    assert tables.leaderboard("toy", "full")["variant"].tolist() == ["popular", "als"]
    assert not damaged.parent.exists()


def test_results_of_older_programs_stay_where_they_are_if_the_board_cannot_be_written(monkeypatch):
    keep("popular", [[1, 2]])
    folder = write_as_before()

    def full_disk(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(storage, "write_document", full_disk)
        with pytest.warns(match=r"cannot write .*full.json"):
            assert results.documents("toy", "full") == []
    assert len(list(folder.iterdir())) == 2
    assert results.ranks("toy", "full", "popular").tolist() == [[1, 2]]


def test_a_measured_model_is_on_the_leaderboard():
    document = evaluate("counts", CYCLE)
    row = tables.leaderboard("cycle", "full").iloc[0]
    assert row["title"] == "Counts"
    assert row["ndcg@10"] == document["mean"]["ndcg@10"]


def test_an_unlisted_recommender_is_measured_but_has_no_row_on_the_leaderboard():
    keep("lift", [[1, 2]])
    keep("markov", [[3, 4]])
    assert tables.leaderboard("toy", "full")["variant"].tolist() == ["markov"]
    assert results.load("toy", "full", "lift")["users"] == 2


def test_published_figures_carry_their_rules_and_source():
    full, sampled = published_figures.published("ml-1m", "full"), published_figures.published("ml-1m", "popularity-100")
    assert full["ndcg@10"].is_monotonic_decreasing
    paper = sampled[sampled["source"].str.contains("1904.06690")].set_index("title").loc["BERT4Rec"]
    assert paper[["hr@1", "hr@10", "ndcg@10", "mrr"]].tolist() == [0.2863, 0.6970, 0.4818, 0.4254]
    assert paper[["variant", "hr@5", "ndcg@5"]].tolist() == ["bert4rec-paper", 0.5876, 0.4454]
    uniform = published_figures.published("ml-1m", "uniform-100").set_index("title")
    assert uniform.loc["SASRec", ["variant", "hr@10", "ndcg@10", "code"]].tolist() == [
        "sasrec-paper", 0.8245, 0.5905, "U",
    ]  # fmt: skip
    assert len(uniform) == 9
    assert "samples differ from those used here" in uniform.loc["SASRec", "rules"]
    assert published_figures.published("beauty", "full").empty


def test_figures_of_a_method_that_is_not_quite_ours_are_marked_and_say_what_differs():
    table = published_figures.published("ml-1m", "full").set_index("title")
    assert table.loc["SASRec (softmax over 3,000)", ["variant", "ndcg@10", "code"]].tolist() == [
        "sasrec-softmax",
        0.1857,
        "A*",
    ]
    assert "3,000 sampled films" in table.loc["SASRec (softmax over 3,000)", "note"]
    assert (table.loc["MF-BPR", "code"].isin(["A*", "B*"])).all()
    assert "here they are computed from the history" in table.loc["MF-BPR", "note"].iloc[0]
    assert table.loc["ItemKNN", "code"] == "M*"
    assert table.loc["EASE", "code"] == "M"
    assert table.loc["EASE", ["rules", "note"]].tolist() == [table.loc["ItemKNN", "rules"], ""]


def test_a_training_curve_survives_a_resumed_run_and_a_half_written_line():
    folder = paths.checkpoint("toy", "leave-one-out", "bert4rec", 2)
    folder.mkdir(parents=True)
    events = [{"note": "started"}, {"epoch": 1, "loss": 5.0}, {"epoch": 2, "loss": 9.0}, {"epoch": 2, "loss": 4.0}]
    (folder / "log.jsonl").write_text("\n".join(map(json.dumps, events)) + '\n{"epoch": 3, "lo')
    assert results.training_log("toy", "bert4rec")[["epoch", "loss"]].values.tolist() == [[1, 5.0], [2, 4.0]]


def test_the_shipped_curve_is_shown_where_nothing_was_trained():
    assert results.training_log("toy", "bert4rec").empty
    folder = paths.shipped_checkpoint("toy", "leave-one-out", "bert4rec")
    folder.mkdir(parents=True)
    (folder / "log.jsonl").write_text('{"epoch": 1, "loss": 5.0}\n')
    assert results.training_log("toy", "bert4rec")["loss"].tolist() == [5.0]


@pytest.mark.parametrize(
    ("modules", "slow_packages"),
    [
        ("results", {"torch", "streamlit", "scipy"}),
        ("groups report significance studies tables", {"torch", "streamlit"}),
    ],
)
def test_reading_results_loads_no_slow_package(modules, slow_packages):
    imports = "".join(f"import recsys.evaluation.{module}; " for module in modules.split())
    code = f"import sys; {imports} sys.exit(bool({slow_packages} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=paths.REPOSITORY, check=False).returncode == 0


def test_a_damaged_result_of_this_machine_gives_way_to_the_sound_shipped_one_with_a_sentence(home):
    keep("popular", [[1, 2]])
    shipped = results.ship("toy", "full", "popular")
    keep("popular", [[9, 9]])
    path = paths.results(home, "toy", "full")
    path.write_bytes(path.read_bytes()[:-9])
    sentences = []
    assert results.load("toy", "full", "popular", collect(sentences)) == boards.read(shipped)["popular"]
    assert [document["mean"]["hr@1"] for document in results.documents("toy", "full", collect(sentences))] == [0.5]
    assert len(sentences) == 2
    assert all(sentence.startswith(f"{path} is damaged; run: ") for sentence in sentences)


def test_results_with_another_rule_for_liked_films_are_not_compared():
    document = {"protocol": {"users": "one wording"}, "fingerprint": "a", "users": 18}
    assert results.population_key(document) == results.population_key(document | {"protocol": {"users": "another"}})
    other_scale = document | {"protocol": {"users": OTHER_SCALE_RULE}}
    assert results.population_key(document) != results.population_key(other_scale)
    older = "people of the test or validation part who rated at least 11 films with 80% of the highest rating or more"
    assert results.population_key(document | {"protocol": {"users": older}}) == results.population_key(other_scale)
