import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import peers_speed
from benchmarks.peers.task import MASK, Settings, SpeedTask, cloze_loss, latency, load, save
from benchmarks.peers_speed import OURS, make_task, summary, summary_lines
from recsys.errors import RecsysError
from tests import toys

SETTINGS = Settings(length=8, requests=2)


@pytest.fixture(scope="module")
def task():
    return make_task(toys.cycle(n_items=20, n_users=100, length=14), SETTINGS)


def guesses(task, logits_of):
    """A system's score function: logits (I,) of a hidden film from what stands before it."""

    def score(sequences):
        return np.array([logits_of(row, position) for row in sequences for position in np.flatnonzero(row == MASK)])

    return score


# The task


def test_nobody_trains_on_the_people_kept_out():
    dataset = toys.dataset([[user, 40, 40, user, user] for user in range(40)], 41)  # everybody has a film of their own
    task = make_task(dataset, SETTINGS)
    assert len(task.train) == 38
    assert task.n_items == 39  # theirs, and the one that all have watched
    assert [films.tolist() for films in task.held_out] == [[38, 38], [38, 38]]  # the others' own films are unknown


def test_a_set_without_anybody_to_keep_out_is_refused():
    with pytest.raises(RecsysError, match="no user can be held out; choose a larger data set"):
        make_task(toys.cycle(n_users=5), SETTINGS)


def test_sequences_are_the_newest_films_of_the_training_part(task):
    assert {len(films) for films in task.train + task.held_out} == {8}
    assert len(task.train) == 95
    assert len(task.held_out) == 5
    for films in task.train:  # the cycle's order is kept, without the two films that are test and validation
        assert np.all(np.diff(films) % 20 == 1)
    assert all(films.any() for films in task.masks)
    assert 0.05 < np.concatenate(task.masks).mean() < 0.5


def test_the_same_films_are_hidden_every_time(task):
    again = make_task(toys.cycle(n_items=20, n_users=100, length=14), SETTINGS)
    other = make_task(toys.cycle(n_items=20, n_users=100, length=14), replace(SETTINGS, seed=1))
    np.testing.assert_array_equal(np.concatenate(task.masks), np.concatenate(again.masks))
    assert not np.array_equal(np.concatenate(task.masks), np.concatenate(other.masks))


def test_a_task_comes_back_from_disk_as_it_was(task, tmp_path):
    save(task, tmp_path)
    back = load(tmp_path)
    assert (back.settings, back.n_items) == (task.settings, task.n_items)
    for name in ("train", "held_out", "masks"):
        for one, other in zip(getattr(back, name), getattr(task, name), strict=True):
            np.testing.assert_array_equal(one, other)


def test_the_asked_history_leaves_room_for_the_mask():
    task = SpeedTask(SETTINGS, 20, [np.arange(3), np.arange(10), np.arange(5)], [], [])
    assert task.query.tolist() == list(range(3, 10))
    assert task.query_row == 1


# The measures


def test_the_loss_of_knowing_nothing_is_the_logarithm_of_the_catalogue(task):
    assert cloze_loss(task, guesses(task, lambda row, position: np.full(20, 3.0))) == pytest.approx(np.log(20))


def test_the_loss_is_the_mean_of_minus_log_probability():
    films, hidden = [np.array([0, 1, 2]), np.array([2, 1])], [np.array([True, False, True]), np.array([False, True])]
    task = SpeedTask(SETTINGS, 3, films, films, hidden)
    probabilities = np.array([0.5, 0.3, 0.2])  # the targets are 0, 2 and 1
    score = guesses(task, lambda row, position: np.log(probabilities) + 7)
    assert cloze_loss(task, score) == pytest.approx(-np.log([0.5, 0.2, 0.3]).mean())


def test_no_system_sees_a_hidden_film(task):
    shown = []

    def score(sequences):
        shown.extend(sequences)
        return np.zeros((sum((row == MASK).sum() for row in sequences), 20))

    cloze_loss(task, score)
    for row, films, hidden in zip(shown, task.held_out, task.masks, strict=True):
        np.testing.assert_array_equal(row, np.where(hidden, MASK, films))


def test_logits_of_another_catalogue_are_refused(task):
    with pytest.raises(ValueError, match="logits are"):
        cloze_loss(task, guesses(task, lambda row, position: np.zeros(22)))  # PAD and MASK forgotten in them


def test_an_answer_that_holds_seen_films_is_no_answer(task):
    with pytest.raises(ValueError, match="not 10 unseen items"):
        latency(task, lambda: task.query[:1].tolist() + list(range(100, 109)))


def test_the_ratio_is_the_median_of_the_rounds_and_no_ratio_of_medians():
    def turn(number, name, speed, milliseconds):
        rest = {"seconds": 1.0, "fit_seconds": 1.0, "memory_mb": 1.0, "cloze_loss": 6.0}
        asked = {"p50": milliseconds, "p99": 9.0, "cpu_p50": 1.0}
        return {"round": number, "system": name, "sequences_per_second": speed, "latency_ms": asked, **rest}

    runs = [turn(0, "ours", 100, 1), turn(0, "recbole", 10, 50), turn(1, "ours", 50, 2), turn(1, "recbole", 20, 10)]
    runs += [turn(2, "ours", 30, 1), turn(2, "recbole", 4, 20)]
    table = summary(runs)
    assert table["recbole"]["times_the_speed"] == 7.5  # of 10, 2.5 and 7.5; the medians' ratio would be 5
    assert table["recbole"]["times_the_latency"] == 20  # of 50, 5 and 20
    lines = "\n".join(summary_lines(table, runs))
    assert "sequences/s, ours over recbole: 7.5 times, target ≥ 8: missed" in lines
    assert "requests, ours over recbole: 20.0 times, target ≥ 10: met" in lines
    assert "held-out loss, ours over recbole: 6.0000, target ≤ 6: met" in lines


# The runs


@pytest.mark.slow
def test_a_whole_run_of_ours_leaves_its_figures(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(peers_speed, "SYSTEMS", (OURS,))
    peers_speed.main(["--smoke", "--rounds", "1", "--epochs", "4", "--json", str(tmp_path / "found.json")])
    found = json.loads((tmp_path / "found.json").read_text())
    (ours,) = found["runs"]
    assert ours["sequences_per_second"] > 0
    assert ours["latency_ms"]["p50"] > 0
    assert 100 < ours["memory_mb"] < 4_000
    assert ours["cloze_loss"] < np.log(found["data"]["films"])  # better than knowing nothing
    assert found["settings"]["epochs"] == 4
    assert found["machine"]["cores"] > 0
    assert "medians:" in capsys.readouterr().out
