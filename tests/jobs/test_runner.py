import os
import signal
import time

import pytest

from recsys import checkpoints, paths, progress
from recsys.data.split import LEAVE_ONE_OUT
from recsys.errors import Message
from recsys.jobs import queue, runner
from recsys.jobs.queue import State
from recsys.training.trainer import RunFolder
from tests.jobs.conftest import DATA

SMALL = {"dim": 8, "length": 12, "batch_size": 16, "warmup_steps": 5, "validate_every": 10, "patience": 99}
LONG = 120.0  # seconds, at most, for what ends in a few: a busy machine is slow, not wrong


def state(job):
    (found,) = [other.state for other in queue.jobs() if other.id == job.id]
    return found


def wait(until, *, seconds=LONG):
    deadline = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < deadline, [(job.id, job.state, job.error) for job in queue.jobs()]
        time.sleep(0.02)


def test_what_waits_is_carried_out_one_after_the_other(training, monkeypatch):
    jobs = [queue.add(name, DATA) for name in ("caser", "ncf")]
    seen = []
    train = runner._train
    monkeypatch.setattr(runner, "_train", lambda job: seen.append([state(one) for one in jobs]) or train(job))
    runner.run()
    assert seen == [[State.RUNNING, State.WAITING], [State.DONE, State.RUNNING]]
    assert [state(job) for job in jobs] == [State.DONE, State.DONE]
    assert all(job.started <= job.ended for job in queue.jobs())


@pytest.mark.parametrize(("n_running", "expected"), [("1", State.WAITING), ("2", State.DONE)])
def test_a_second_runner_trains_only_if_the_server_may_train_two_at_a_time(training, monkeypatch, n_running, expected):
    monkeypatch.setenv(queue.MAX_RUNNING_VARIABLE, n_running)
    first, second = queue.add("caser", DATA), queue.add("ncf", DATA)
    train = runner._train

    def meanwhile(job):
        if job.id == first.id:
            runner.run()
            assert state(second) is expected
        return train(job)

    monkeypatch.setattr(runner, "_train", meanwhile)
    runner.run()
    assert [state(first), state(second)] == [State.DONE, State.DONE]


def test_what_comes_while_a_runner_is_about_to_leave_is_not_forgotten(training, monkeypatch):
    late = []
    carry_out = runner._run_next

    def then_one_comes():
        if carry_out():
            return True
        if not late:  # nothing waits any more, and the slot is still taken, so that another runner would leave
            late.append(queue.add("ncf", DATA))
        return False

    monkeypatch.setattr(runner, "_run_next", then_one_comes)
    queue.add("caser", DATA)
    runner.run()
    assert state(late[0]) is State.DONE


def test_a_training_that_fails_says_why_and_the_next_one_begins(training):
    job = queue.add("caser", DATA)
    training("import sys; sys.exit('slow\\nthe loss became nan\\n')")
    runner.run()
    assert state(job) is State.FAILED
    assert Message.from_document(queue.jobs()[0].error) == Message("the loss became nan")
    training("")
    queue.resume(job.id)
    runner.run()
    assert (state(job), queue.jobs()[0].error) == (State.DONE, "")


@pytest.mark.slow
def test_a_training_that_somebody_is_at_already_fails_and_says_who(asleep):
    job = queue.add("sasrec-bce", DATA, changes=SMALL)
    with RunFolder(checkpoint("sasrec-bce")).lock():
        runner.run()
    assert state(job) is State.FAILED
    assert f"process {os.getpid()} is training in" in str(Message.from_document(queue.jobs()[0].error))
    queue.resume(job.id)
    assert state(job) is State.WAITING


def test_a_training_that_is_killed_says_so(training):
    job = queue.add("caser", DATA)
    training("import os; os.kill(os.getpid(), 9)")
    runner.run()
    assert state(job) is State.FAILED
    assert queue.jobs()[0].error["fields"] == {"signal": "SIGKILL"}


def test_a_training_that_somebody_else_told_to_end_can_be_resumed(training):
    job = queue.add("caser", DATA)
    training("import os, signal; os.kill(os.getpid(), signal.SIGTERM)")
    runner.run()
    assert state(job) is State.STOPPED


def test_a_training_that_does_not_end_when_told_is_killed(training, monkeypatch):
    monkeypatch.setattr(runner, "STOP_TIMEOUT_SECONDS", 0.0)
    job = queue.add("caser", DATA)
    deaf = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(600)"
    )
    training(deaf)
    is_stopping = queue.is_stopping

    def stop_once_deaf(job):
        if (job.folder / queue.PROGRESS).read_text():
            queue.stop(job.id)
        return is_stopping(job)

    monkeypatch.setattr(queue, "is_stopping", stop_once_deaf)
    runner.run()
    assert state(job) is State.STOPPED


def checkpoint(variant):
    return paths.checkpoint(DATA, LEAVE_ONE_OUT.name, variant, 0)


@pytest.mark.slow
def test_a_training_is_started_stopped_resumed_and_finished(started):
    job = queue.add("sasrec-bce", DATA, changes=SMALL | {"epochs": 150}, device="cpu")
    waiting = queue.add("ncf", DATA)
    queue.stop(waiting.id)
    wait(lambda: queue.progress(job).n_epochs > 0)
    queue.stop(job.id)
    wait(lambda: state(job) is State.STOPPED)
    reached = queue.progress(job).n_epochs
    assert 0 < reached < 150
    assert (checkpoint("sasrec-bce") / RunFolder.STATE).exists()
    assert checkpoints.find("sasrec-bce", DATA) is None

    queue.resume(job.id)
    wait(lambda: state(job) not in queue.ACTIVE)
    assert (state(job), queue.jobs()[-1].error) == (State.DONE, "")
    assert checkpoints.find("sasrec-bce", DATA)
    assert [event["epoch"] for event in progress.read(checkpoint("sasrec-bce") / paths.LOG)] == list(range(1, 151))
    assert [event["epoch"] for event in queue.progress(job).events] == list(range(1, 151))
    assert queue.progress(job).best[1] > 0
    assert state(waiting) is State.STOPPED


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc"), reason="other systems let a training go on alone")
def test_when_the_machine_takes_the_runner_away_the_training_ends_and_can_be_resumed(started):
    job = queue.add("sasrec-bce", DATA, changes=SMALL | {"epochs": 100_000}, device="cpu")
    wait(lambda: queue.progress(job).n_epochs > 0)
    os.kill(started[0].pid, signal.SIGKILL)
    wait(lambda: state(job) is State.INTERRUPTED)
    wait((checkpoint("sasrec-bce") / RunFolder.STATE).exists)  # it kept its state before it left
    queue.resume(job.id)
    reached = queue.progress(job).n_epochs
    wait(lambda: queue.progress(job).n_epochs > reached or state(job) is State.FAILED)
    assert state(job) is State.RUNNING
    queue.stop(job.id)
    wait(lambda: state(job) is State.STOPPED)
