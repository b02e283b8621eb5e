import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from recsys import paths, storage
from recsys.cli.main import main
from recsys.config import ConfigError
from recsys.data import datasets
from recsys.data.dataset import DataError
from recsys.jobs import queue, runner
from recsys.jobs.queue import JobError, State
from recsys.models.registry import UnknownModelError
from tests.jobs.conftest import DATA


def epochs(progress):
    """Return the number of finished epochs and the maximum."""
    return progress.n_epochs, progress.max_epochs


def states():
    return [job.state for job in queue.jobs()]


def reported(job, *events):
    (job.folder / queue.PROGRESS).write_text("".join(f"{json.dumps(event)}\n" for event in events))


def test_without_jobs_the_queue_is_empty(asleep):
    assert queue.jobs() == []


def test_jobs_stand_in_the_order_in_which_they_came(asleep):
    first = queue.add("caser", DATA, changes={"epochs": 3, "dim": 8})
    second = queue.add("ncf", DATA, seed=2, device="cpu")
    assert queue.jobs() == [first, second]
    assert (first.changes, first.protocol, first.state) == ({"epochs": 3, "dim": 8}, "full", State.WAITING)
    assert first.id != second.id  # though they came within a second
    queue.stop(first.id)
    queue.resume(first.id)
    assert [job.variant for job in queue.jobs()] == ["ncf", "caser"]


def test_a_job_learns_from_what_the_app_answers_from(asleep, monkeypatch):
    monkeypatch.setattr(datasets, "load", lambda name: None)
    assert queue.add("caser", "ml-1m").protocol == "untied"


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"variant": "bert5rec"}, UnknownModelError),
        ({"dataset": "ml-10m"}, DataError),
        ({"changes": {"epochs": 0}}, ConfigError),
        ({"changes": {"lr": float("nan")}}, ConfigError),
        ({"changes": {"wings": 2}}, ConfigError),
    ],
)
def test_what_cannot_work_is_refused_before_it_waits(asleep, asked, error):
    with pytest.raises(error):
        queue.add(**{"variant": "caser", "dataset": DATA} | asked)
    assert queue.jobs() == []


def test_no_two_jobs_make_the_same_model_at_a_time(asleep):
    first = queue.add("caser", DATA)
    for seed, data in ((1, DATA), (0, "ml-100k")):
        queue.add("caser", data, seed=seed)
    with pytest.raises(JobError, match="Caser is already being trained for ml-latest-sample"):
        queue.add("caser", DATA, changes={"dim": 8})
    queue.stop(first.id)
    queue.add("caser", DATA, changes={"dim": 8})
    with pytest.raises(JobError, match="is already being trained"):
        queue.resume(first.id)


def test_a_crowd_cannot_fill_the_queue_without_end(asleep, monkeypatch):
    monkeypatch.setattr(queue, "MAX_ACTIVE_JOBS", 2)
    for seed in range(2):
        queue.add("caser", DATA, seed=seed)
    with pytest.raises(JobError, match="the maximum"):
        queue.add("caser", DATA, seed=2)


ADD = """
import sys
from recsys.jobs import queue
queue.start_runner = lambda: None
sys.stdin.readline()
for seed in range(int(sys.argv[1]), int(sys.argv[1]) + 10):
    try:
        queue.add("caser", "ml-100k", seed=seed)
    except queue.JobError:
        pass
"""


@pytest.mark.slow
def test_processes_that_add_at_once_fill_the_queue_and_no_more(asleep):
    line = [sys.executable, "-c", ADD]
    adding = [
        subprocess.Popen([*line, str(first)], cwd=paths.REPOSITORY, stdin=subprocess.PIPE) for first in (0, 10, 20)
    ]
    for process in adding:
        process.stdin.write(b"\n")
        process.stdin.flush()
    assert [process.wait() for process in adding] == [0, 0, 0]
    assert states() == [State.WAITING] * queue.MAX_ACTIVE_JOBS


def sealed(job, **changes):
    """Replace job.json by a document with a valid hash."""
    path = job.folder / queue.JOB_FILE
    storage.replace_file(path, storage.sign_document(storage.read_document(path) | changes))


MALFORMED = [
    {"variant": 5},
    {"variant": None},
    {"dataset": ["ml-100k"]},
    {"protocol": "no such protocol"},
    {"seed": "0"},
    {"seed": True},
    {"changes": [1]},
    {"changes": {"epochs": {"a": 1}}},
    {"resume": "yes"},
    {"queued": "now"},
    {"queued": None},
    {"queued": float("nan")},
    {"queued": float("inf")},
    {"started": 1e300},
    {"ended": -1},
    {"error": {"text": "no"}},
    {"device": 0},
    {"state": ["running"]},
    {"state": "asleep"},
]


@pytest.mark.parametrize("changes", MALFORMED)
def test_a_sealed_job_with_values_of_the_wrong_kind_is_damaged(asleep, changes):
    malformed, sound = queue.add("caser", DATA), queue.add("ncf", DATA)
    sealed(malformed, **changes)
    assert {job.id: job.state for job in queue.jobs()} == {malformed.id: State.DAMAGED, sound.id: State.WAITING}
    assert main(["jobs"]) == 0
    queue.add("caser", DATA)
    queue.remove(malformed.id)


def test_an_endless_job_file_is_damaged_and_not_read(asleep):
    job = queue.add("caser", DATA)
    os.truncate(job.folder / queue.JOB_FILE, 1 << 40)
    assert states() == [State.DAMAGED]


def endless(path, pattern, size=1 << 26):
    """Write a log of `size` bytes that repeats a pattern, and seems to be a terabyte long."""
    path.write_bytes(b"\0")
    os.truncate(path, 1 << 40)
    with path.open("r+b") as file:
        file.seek((1 << 40) - size)
        for _ in range(size >> 20):
            file.write(pattern * ((1 << 20) // len(pattern)))
        file.truncate()


@pytest.mark.parametrize("end", ["", '\n{"epoch": 3, "epochs": 9, "loss": 1.0}\n'])
def test_of_an_endless_line_nothing_is_read_but_the_end_of_the_file(asleep, end):
    job = queue.add("caser", DATA)
    endless(job.folder / queue.PROGRESS, b'{"epoch": 1, "epochs": 9, ')
    with (job.folder / queue.PROGRESS).open("ab") as file:
        file.write(end.encode())
    assert epochs(queue.progress(job)) == ((3, 9) if end else (0, 0))
    assert main(["jobs"]) == 0


def test_of_an_endless_log_the_latest_epochs_are_read(asleep):
    job = queue.add("caser", DATA)
    lines = "".join(f'{{"epoch": {epoch}, "epochs": 2000000, "loss": 1.0}}\n' for epoch in range(1_000_000, 1_300_000))
    endless(job.folder / queue.PROGRESS, b"\n")
    with (job.folder / queue.PROGRESS).open("ab") as file:
        file.write(lines.encode())
    assert epochs(queue.progress(job)) == (1_299_999, 2_000_000)


@pytest.mark.parametrize(
    "value", ["1e999", "-1e999", "NaN", '"x"', "null", "[]", "{}", "true", "9" * 400, "9" * 5000, "-1", "0", "1e300"]
)
@pytest.mark.parametrize("name", ["epoch", "epochs", "loss", "ndcg@10", "seconds_left"])
def test_a_report_with_any_value_can_be_shown(asleep, name, value):
    job = queue.add("caser", DATA)
    with queue.claim_next() as running:
        values = {"epoch": "2", "epochs": "9", "loss": "1.0", "ndcg@10": "0.5", "seconds_left": "3.0"} | {name: value}
        text = ", ".join(f'"{key}": {shown}' for key, shown in values.items())
        (job.folder / queue.PROGRESS).write_text(f'{{"epoch": 1, "epochs": 9, "loss": 2.0}}\n{{{text}}}\n')
        known = queue.progress(running)
    assert 0 <= known.share <= 1
    assert epochs(known)
    assert known.best is None or len(known.best) == 2
    assert main(["jobs"]) == 0


def test_what_waits_is_taken_out_of_the_queue_and_put_back(asleep):
    job = queue.add("caser", DATA)
    queue.stop(job.id)
    assert states() == [State.STOPPED]
    queue.resume(job.id)
    assert states() == [State.WAITING]
    with pytest.raises(JobError, match="cannot be resumed: its state is “waiting”"):
        queue.resume(job.id)


def test_only_what_is_over_is_removed(asleep):
    job = queue.add("caser", DATA)
    with pytest.raises(JobError, match="stop it before"):
        queue.remove(job.id)
    queue.stop(job.id)
    queue.remove(job.id)
    assert queue.jobs() == []
    assert not job.folder.exists()


@pytest.mark.parametrize("name", ["20200101-000000", "..", "../data", ""])
def test_nothing_is_removed_but_jobs(asleep, home, name):
    queue.add("caser", DATA)
    with pytest.raises(JobError, match="there is no training"):
        queue.remove(name)
    assert (home / "data" / DATA).is_dir()


def test_a_damaged_job_is_said_and_the_others_go_on(asleep):
    broken, whole = queue.add("caser", DATA), queue.add("ncf", DATA)
    path = broken.folder / queue.JOB_FILE
    path.write_bytes(path.read_bytes().replace(b"caser", b"Caser"))
    assert [(job.id, job.state) for job in queue.jobs()] == [(broken.id, State.DAMAGED), (whole.id, State.WAITING)]
    with queue.claim_next() as job:
        assert job.id == whole.id
    with pytest.raises(JobError, match="its state is “damaged”"):
        queue.resume(broken.id)
    queue.remove(broken.id)
    assert [job.id for job in queue.jobs()] == [whole.id]


def test_a_job_whose_runner_is_gone_was_cut_off_and_can_be_resumed(asleep):
    job = queue.add("caser", DATA)
    with queue.claim_next():
        assert states() == [State.RUNNING]
    assert states() == [State.INTERRUPTED]  # the lock is free, and nobody wrote how it ended
    queue.resume(job.id)
    with queue.claim_next() as again:
        assert (again.id, again.resume, again.state) == (job.id, True, State.RUNNING)


def test_a_job_that_was_to_stop_when_its_runner_went_is_stopped(asleep):
    job = queue.add("caser", DATA)
    with queue.claim_next():
        queue.stop(job.id)
        assert states() == [State.STOPPING]
    assert states() == [State.STOPPED]


@pytest.mark.parametrize(("value", "on"), [("", True), ("0", True), ("1", False), ("yes", False)])
def test_a_public_server_switches_training_off(asleep, monkeypatch, value, on):
    job = queue.add("caser", DATA)
    monkeypatch.setenv(paths.PUBLIC, value)
    if not on:
        for act in (queue.stop, queue.resume, queue.remove):
            with pytest.raises(JobError, match="switched off"):
                act(job.id)
        with pytest.raises(JobError, match="switched off"):
            queue.add("ncf", DATA)
        assert queue.jobs() == [job]


def test_a_disk_that_refuses_is_a_sentence(asleep, monkeypatch):
    def full(path, data):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(storage, "replace_file", full)
    with pytest.raises(JobError, match="No space left on device; free up disk space"):
        queue.add("caser", DATA)


def test_progress_is_what_the_training_reported(asleep):
    job = queue.add("caser", DATA)
    assert epochs(queue.progress(job)) == (0, 0)
    assert (queue.progress(job).share, queue.progress(job).best, queue.progress(job).seconds_left) == (0.0, None, None)
    told = [{"epoch": n, "epochs": 8, "loss": 9.0 - n, "seconds_left": 8.0 - n} for n in (1, 2, 3, 4)]
    reported(job, told[0], told[1] | {"ndcg@10": 0.2}, told[2] | {"ndcg@10": 0.1}, told[3])
    with queue.claim_next() as job:
        os.utime(job.folder / queue.PROGRESS, (job.started + 1, job.started + 1))
        found = queue.progress(job)
    assert (epochs(found), found.share, found.best) == ((4, 8), 0.5, (2, 0.2))
    assert [event["loss"] for event in found.events] == [8, 7, 6, 5]
    assert 4.0 <= found.seconds_left <= 5.0  # said a second in the future, and nearly no time went by since


def test_damaged_lines_of_what_was_reported_are_left_out(asleep):
    job = queue.add("caser", DATA)
    whole = {"epoch": 1, "epochs": 8, "loss": 1.0, "seconds_left": 7.0}
    reported(
        job, whole, {"epoch": "2", "epochs": 8}, {"epoch": 3}, [4], {"epoch": 5, "epochs": None}, whole | {"epoch": 2}
    )
    assert epochs(queue.progress(job)) == (2, 8)
    reported(job, {"epoch": 1, "epochs": 8, "seconds_lefu": 7.0})
    with queue.claim_next() as job:
        os.utime(job.folder / queue.PROGRESS, (job.started + 1, job.started + 1))
        assert queue.progress(job).seconds_left is None


def test_what_a_run_before_reported_says_nothing_of_the_time_left(asleep):
    job = queue.add("caser", DATA)
    reported(job, {"epoch": 1, "epochs": 8, "loss": 1.0, "seconds_left": 7.0})
    with queue.claim_next() as job:
        os.utime(job.folder / queue.PROGRESS, (job.started - 60, job.started - 60))
        assert epochs(queue.progress(job)) == (1, 8)
        assert queue.progress(job).seconds_left is None


def test_the_command_line_of_a_job_is_that_of_its_settings(asleep):
    job = queue.add(
        "bert4rec", DATA, seed=3, changes={"batch_size": 8, "pmi_init": False, "crop": "windows", "lr": 1e-5}
    )
    words = runner.command(job)[3:]
    assert words[:2] == ["train", "bert4rec"]
    assert {"--batch-size=8", "--no-pmi-init", "--crop=windows", "--lr=1e-05", "--json"} <= set(words)
    assert words[words.index("--seed") + 1] == "3"
    assert "--resume" not in words


def test_a_resumed_job_continues_only_if_its_training_has_saved_a_state(asleep):
    job = replace(queue.add("bert4rec", DATA), resume=True)
    assert "--resume" not in runner.command(job)
    storage.replace_file(job.checkpoint / paths.STATE, b"state")
    assert "--resume" in runner.command(job)
