import json

import numpy as np
import pytest

from benchmarks import peers_quality
from benchmarks.peers import task as tasks
from benchmarks.peers.task import Limits, TimedTraining
from pages.ui import i18n
from recsys import checkpoints, paths, storage
from recsys.data.split import UNTIED
from recsys.errors import RecsysError
from recsys.evaluation import results, studies
from recsys.evaluation.evaluate import evaluate
from recsys.evaluation.protocols import UNTIED_FULL
from recsys.ranking.metrics import ndcg
from tests import toys

CYCLE = toys.cycle(n_items=20, n_users=100, length=14)
LIMITS = Limits(minutes=1.0, validations=3, validation_users=40)


class Clock:
    """A second of work a reading."""

    def __init__(self):
        self.now = 0.0

    def process_time(self):
        self.now += 1.0
        return self.now


class Pupil:
    """Scores the film that is `step` after the last one highest."""

    def __init__(self, n_items=20):
        self.step, self.n_items = 0, n_items

    def score(self, histories):
        return np.eye(self.n_items, dtype=np.float32)[[(films[-1] + self.step) % self.n_items for films in histories]]

    def copy(self):
        return self.step

    def load(self, step):
        self.step = step


@pytest.fixture
def task():
    return peers_quality.make_task(CYCLE, LIMITS)


@pytest.fixture
def clock(monkeypatch):
    ticking = Clock()
    monkeypatch.setattr(tasks, "time", ticking)
    return ticking


def trained(task, steps):
    """A course whose pupil has the next of some steps whenever validation is looked at."""
    pupil, steps = Pupil(), list(steps)
    path = TimedTraining(task, pupil.score, pupil.copy, pupil.load)
    path.start()
    while True:
        pupil.step = steps[len(path.validations)]
        if path.batch_done(10):
            return path


def test_histories_are_those_of_the_drawn_order_and_both_films_are_hidden(task):
    split = UNTIED(CYCLE, 0)
    assert [films.tolist() for films in task.train] == [films.tolist() for films in split.train.histories]
    for films, valid, test in zip(task.train, task.valid, task.test, strict=True):
        assert (valid, test) == ((films[-1] + 1) % 20, (films[-1] + 2) % 20)


def test_a_task_comes_back_from_disk_as_it_was(task, tmp_path):
    tasks.save(task, tmp_path)
    back = tasks.load(tmp_path)
    assert (back.limits, back.n_items) == (task.limits, task.n_items)
    for mine, other in zip((*task.train, task.valid, task.test), (*back.train, back.valid, back.test), strict=True):
        assert np.array_equal(mine, other)


def test_training_lasts_as_long_as_was_said_and_validation_is_looked_at_evenly(task, clock):
    path = trained(task, [5, 5, 5])
    assert [look["seconds"] for look in path.validations] == pytest.approx([20, 40, 60], abs=1.1)
    assert path.seconds == pytest.approx(60, abs=1.1)
    assert path.sequences == path.validations[-1]["sequences"]


def test_time_spent_on_looks_is_not_training(task, clock, monkeypatch):
    slow = Pupil.score

    def score(self, histories):
        clock.now += 1000
        return slow(self, histories)

    monkeypatch.setattr(Pupil, "score", score)
    assert trained(task, [5, 5, 5]).seconds == pytest.approx(60, abs=1.1)


def test_the_weights_that_were_best_on_validation_rank_the_test_films(task, clock, tmp_path):
    path = trained(task, [3, 1, 2])  # the validation film is one after the last
    assert [look["ndcg@10"] > 0.9 for look in path.validations] == [False, True, False]
    row = path.result("toy", 100, {"width": 3}, tmp_path / "ranks.npy")
    ranks = np.load(tmp_path / "ranks.npy")
    assert ranks.shape == (100,)
    assert (ranks == 1).all()  # the test film is one after the validation film, which the history holds by then
    assert (row["system"], row["settings"]) == ("toy", {"width": 3})
    assert row["epochs"] == pytest.approx(path.sequences / 100)


def test_scores_of_another_shape_are_refused(task, clock):
    path = TimedTraining(task, Pupil(21).score, Pupil().copy, Pupil().load)
    with pytest.raises(ValueError, match=r"scores are \(40, 21\), not \(40, 20\)"):
        [path.batch_done(10) for _ in range(60)]


def test_rows_of_those_who_do_not_take_part_are_kept_and_those_of_now_take_the_place_of_older_ones():
    def row(system, epochs):
        return {"system": system, "epochs": epochs}

    before = [row("recbole sasrec", 1), row("rectools sasrec", 2), row("ours bert4rec", 3)]
    merged = peers_quality.merge(before, [row("rectools bert4rec", 4), row("recbole sasrec", 5)])
    assert [(one["system"], one["epochs"]) for one in merged] == [
        ("rectools sasrec", 2),
        ("rectools bert4rec", 4),
        ("recbole sasrec", 5),
    ]


def test_ours_are_read_from_results_on_the_same_drawing(tmp_path, monkeypatch):
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path))
    monkeypatch.setattr(peers_quality, "OURS", ("markov", "bert4rec"))
    evaluate("markov", CYCLE, UNTIED_FULL, seeds=[0, 1])
    (row,) = peers_quality.our_rows("cycle")
    hidden = results.ranks("cycle", UNTIED_FULL.name, "markov")
    assert row["test"]["ndcg@10"] == pytest.approx(ndcg(hidden[0], 10), abs=1e-6)
    assert row["interval"][0] <= row["test"]["ndcg@10"] <= row["interval"][1]
    assert "epochs" not in row
    assert f"{row['test']['ndcg@10']:.4f}" in peers_quality.line(row)


def test_the_minutes_of_ours_are_those_of_the_drawing_whose_ranks_are_shown(tmp_path, monkeypatch):
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path))
    monkeypatch.setattr(peers_quality, "OURS", ("markov",))
    evaluate("markov", CYCLE, UNTIED_FULL, seeds=[0, 1])

    def note(seed, seconds):
        model = checkpoints.load_or_fit("markov", CYCLE, seed, splitting=UNTIED, measuring=True)
        checkpoints.save("markov", model, CYCLE, seed, {"epochs": 3, "seconds": seconds}, UNTIED)

    note(1, 90.0)
    assert "train_seconds" not in peers_quality.our_rows("cycle")[0]
    note(0, 60.0)
    assert peers_quality.our_rows("cycle")[0]["train_seconds"] == 60


def test_a_system_that_nobody_knows_is_answered_with_those_there_are():
    with pytest.raises(SystemExit, match="no system is called recsys; there are: rectools-sasrec"):
        peers_quality.main(["--systems", "recsys"])


def test_what_was_measured_before_is_written_again(tmp_path, monkeypatch):
    kept = tmp_path / "quality.json"
    kept.write_text(json.dumps({"rows": [{"system": "recbole sasrec", "interval": [0, 1], "test": {"ndcg@10": 0.5}}]}))
    found = {"system": "rectools sasrec", "interval": [0, 1], "test": {"ndcg@10": 0.25}}
    monkeypatch.setattr(peers_quality, "train", lambda name, python, task: found)
    monkeypatch.setattr(peers_quality, "environment", lambda system, folder: "python")
    peers_quality.main(["--smoke", "--systems", "rectools-sasrec", "--json", str(kept)])
    assert [row["system"] for row in json.loads(kept.read_text())["rows"]] == ["rectools sasrec", "recbole sasrec"]


def measured(system, ndcg, **more):
    return {"system": system, "interval": [ndcg - 0.01, ndcg + 0.01], "test": {"ndcg@10": ndcg, "hr@10": 0.5}} | more


MACHINE = {"machine": {"cpu": "A processor", "date": "2026-11-23T07:00:00+00:00", "commit": "abc"}}
ROWS = [
    measured("rectools sasrec", 0.125, epochs=9.4, train_seconds=7200.0, **MACHINE),
    measured("recbole bert4rec", 0.15, epochs=21.6, train_seconds=7230.0, **MACHINE),
    measured("recbole sasrec", 0.1, epochs=8.1, train_seconds=7200.0, **MACHINE),
    measured("ours sasrec-softmax", 0.175, epochs=40, train_seconds=1500.0),
    measured("ours bert4rec", 0.16, epochs=130, train_seconds=2460.0),
    measured("ours bert4rec-memory", 0.18),
]


def test_the_study_has_everybody_the_best_first_and_compares_each_model_with_the_best_of_theirs(tmp_path):
    found = peers_quality.study("ml-1m", ROWS, LIMITS)
    path = tmp_path / "peers-ml-1m.json"
    storage.replace_file(path, storage.sign_document(found))
    table = studies.read(path).table
    assert table["system"].tolist() == [
        "NextReel – BERT4Rec with memory",
        "NextReel – SASRec (softmax)",
        "NextReel – BERT4Rec",
        "RecBole – BERT4Rec",
        "RecTools – SASRec",
        "RecBole – SASRec",
    ]
    assert table["ndcg"].tolist() == [0.18, 0.175, 0.16, 0.15, 0.125, 0.1]
    assert table["minutes"].tolist()[1:] == [25, 41, 120.5, 120, 120]
    assert table[["epochs", "minutes"]].iloc[0].isna().all()
    assert found["answer"] == (
        "Here SASRec has .1750 in NextReel after 25 minutes of training and at best .1250 elsewhere, in RecTools after "
        "120; BERT4Rec has .1600 in NextReel after 41 minutes of training and at best .1500 elsewhere, in RecBole "
        "after 120."
    )
    assert "RecTools 0.19.0; RecBole 1.2.1" in found["how"]
    assert found["how"].endswith("A processor, 2026-11-23, commit abc.")


def without_a_time(row):
    return {name: value for name, value in row.items() if name not in ("epochs", "train_seconds")}


@pytest.mark.parametrize(
    ("rows", "command"),
    [
        (ROWS[:3], "train bert4rec --dataset ml-1m --protocol untied && "),
        ([*ROWS[:3], *map(without_a_time, ROWS[3:])], "recsys evaluate bert4rec --dataset ml-1m --protocol untied$"),
        (ROWS[3:], "-m benchmarks.peers_quality --dataset ml-1m "),
    ],
)
def test_one_side_alone_makes_no_study(rows, command):
    with pytest.raises(RecsysError, match=f"no model has been trained on ml-1m by us and by others yet; .*{command}"):
        peers_quality.study("ml-1m", rows, LIMITS)


def test_a_study_is_written_of_what_was_measured_before(tmp_path, monkeypatch):
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path / "home"))
    kept = tmp_path / "quality.json"
    kept.write_text(json.dumps({"rows": ROWS[:3]}))
    monkeypatch.setattr(paths, "ASSETS", tmp_path / "assets")
    monkeypatch.setattr(peers_quality, "our_rows", lambda dataset: ROWS[3:])
    peers_quality.main(["--smoke", "--systems", "none", "--json", str(kept), "--ship"])
    (path,) = (tmp_path / "assets").rglob("peers-*.json")
    assert len(studies.read(path).table) == 6


def test_the_words_of_the_study_are_in_ukrainian(monkeypatch):
    monkeypatch.setattr(i18n, "current", lambda: "uk")
    found = peers_quality.study("ml-1m", ROWS, LIMITS)
    for text in [found["title"], found["question"], found["papers"], *(one["title"] for one in found["columns"])]:
        assert text == "NDCG@10" or text == "HR@10" or i18n._(text) != text
