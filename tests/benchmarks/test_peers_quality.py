import json

import numpy as np
import pytest

from benchmarks import peers_quality
from benchmarks.peers import task as tasks
from benchmarks.peers.task import Limits, TimedTraining
from recsys import checkpoints, paths
from recsys.data.split import UNTIED
from recsys.errors import RecsysError
from recsys.evaluation import results
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

    def state_dict(self):
        return {"step": self.step}

    def load_state_dict(self, state):
        self.step = state["step"]


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
    path = TimedTraining(task, pupil.score, lambda: pupil)
    path.start()
    while True:
        pupil.step = steps[len(path.validations)]
        path.count_batch(10)
        if path.is_over:
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
    row = path.result("toy", 100, {"width": 3}, tmp_path)
    ranks = np.load(tmp_path / "ranks.npy")
    assert ranks.shape == (100,)
    assert (ranks == 1).all()  # the test film is one after the validation film, which the history holds by then
    assert (row["system"], row["settings"]) == ("toy", {"width": 3})
    assert row["epochs"] == pytest.approx(path.sequences / 100)


def test_scores_of_another_shape_are_refused(task, clock):
    path = TimedTraining(task, Pupil(21).score, Pupil)
    clock.now += 60 * task.limits.minutes  # so that the first batch is validated
    with pytest.raises(ValueError, match=r"scores are \(40, 21\), not \(40, 20\)"):
        path.count_batch(10)


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


def test_rows_of_another_data_set_are_refused(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text('{"dataset": "ml-1m", "rows": [{"system": "recbole sasrec"}]}')
    assert peers_quality.read_rows(path, "ml-1m") == [{"system": "recbole sasrec"}]
    with pytest.raises(RecsysError, match=r"rows\.json has rows of ml-1m; choose another file"):
        peers_quality.read_rows(path, "cycle")


def test_names_with_braces_are_in_the_errors():
    with pytest.raises(RecsysError, match=r"no model has been trained on \{a\}"):
        peers_quality.study("{a}", [], LIMITS)
    with pytest.raises(SystemExit, match=r"no system is called \{a\}"):
        peers_quality.main(["--systems", "{a}"])


def test_the_study_tells_the_minutes_that_the_rows_were_trained(monkeypatch):
    stored = json.loads((paths.REPOSITORY / "benchmarks" / "peers_quality.json").read_text("utf-8"))
    monkeypatch.setattr(peers_quality.datasets, "title", lambda name: name)
    text = peers_quality.study(stored["dataset"], stored["rows"], LIMITS)["how"]
    assert "the others were trained for 120 minutes" in text


def test_ours_are_read_from_results_on_the_same_drawing(home, monkeypatch):
    monkeypatch.setattr(peers_quality, "OUR_RECOMMENDERS", ("markov", "bert4rec"))
    evaluate("markov", CYCLE, UNTIED_FULL, seeds=[0, 1])
    (row,) = peers_quality.our_rows("cycle")
    hidden = results.ranks("cycle", UNTIED_FULL.name, "markov")
    assert row["test"]["ndcg@10"] == pytest.approx(ndcg(hidden[0], 10), abs=1e-6)
    assert row["interval"][0] <= row["test"]["ndcg@10"] <= row["interval"][1]
    assert "epochs" not in row
    assert f"{row['test']['ndcg@10']:.4f}" in peers_quality.format_row(row)


def test_the_minutes_of_ours_are_those_of_the_drawing_whose_ranks_are_shown(home, monkeypatch):
    monkeypatch.setattr(peers_quality, "OUR_RECOMMENDERS", ("markov",))
    evaluate("markov", CYCLE, UNTIED_FULL, seeds=[0, 1])

    def note(seed, seconds):
        model = checkpoints.load_or_fit("markov", CYCLE, seed, splitting=UNTIED, reject_stale=True)
        checkpoints.save("markov", model, CYCLE, seed, {"epochs": 3, "seconds": seconds}, UNTIED)

    note(1, 90.0)
    assert "train_seconds" not in peers_quality.our_rows("cycle")[0]
    note(0, 60.0)
    assert peers_quality.our_rows("cycle")[0]["train_seconds"] == 60
