"""A home that takes no writes: what is there is used, what is not is made for this process, and errors are one line."""

import json
import warnings

import numpy as np
import pytest

from recsys import checkpoints, storage
from recsys.cli.main import main
from recsys.data import datasets, prepared
from recsys.jobs import queue
from recsys.models import registry
from recsys.serving import predictor
from recsys.serving.recommend import Request, recommend
from tests import fakes, read_only, toys


@pytest.fixture(autouse=True)
def empty_folder(home, monkeypatch):
    monkeypatch.setattr(prepared, "_in_memory", {})
    home.mkdir()


@pytest.fixture
def small(monkeypatch):
    """In place of the first set's archive, a toy of that name."""
    made = toys.dataset([[0, 1, 2, 3], [3, 2, 1, 0], [1, 2, 3, 0]], 4, datasets.DEFAULT_DATASET)
    monkeypatch.setattr(datasets, "_parse", lambda name, source, report: (made, toys.ARCHIVE))
    return made


def test_the_popular_recommender_answers_in_an_empty_home(home, small, monkeypatch):
    read_only.make(home, monkeypatch)
    with pytest.warns(UserWarning, match=r"cannot write .*; set RECSYS_HOME to another folder"):
        dataset = datasets.ensure(datasets.DEFAULT_DATASET)
    with pytest.warns(UserWarning, match=r"cannot write .*; set RECSYS_HOME to another folder"):
        ready = predictor.load(predictor.FALLBACK, dataset)
    assert len(recommend(ready, Request(()))) == 4
    assert ready.is_current  # it is not fitted anew at every click
    assert not list(home.iterdir())


def test_what_is_not_on_disk_is_known_to_whoever_asks_later(home, small, monkeypatch):
    read_only.make(home, monkeypatch)
    with pytest.warns(UserWarning, match="read from its archive at each start"):
        dataset = datasets.ensure(datasets.DEFAULT_DATASET)
    with warnings.catch_warnings(action="error"):
        assert datasets.ensure(datasets.DEFAULT_DATASET) is datasets.load(datasets.DEFAULT_DATASET) is dataset
    assert datasets.prepared_names() == [datasets.DEFAULT_DATASET]
    assert prepared.fingerprint(datasets.DEFAULT_DATASET) == small.fingerprint
    assert prepared.metadata(datasets.DEFAULT_DATASET)["people"] == 3
    monkeypatch.undo()
    monkeypatch.setenv("RECSYS_HOME", str(home.with_name("another")))  # which takes it
    prepared.save(dataset, toys.ARCHIVE)
    assert prepared.load(datasets.DEFAULT_DATASET) is not dataset


def test_a_set_and_a_fit_that_are_there_are_used_without_a_word(home, monkeypatch):
    made = toys.cycle()
    monkeypatch.setattr(registry, "get", fakes.VARIANTS.__getitem__)
    prepared.save(made, {})
    kept = checkpoints.load_or_fit("counts", made)
    read_only.make(home, monkeypatch)
    with warnings.catch_warnings(action="error"):
        again = checkpoints.load_or_fit("counts", datasets.load(made.name))
    np.testing.assert_array_equal(again.counts, kept.counts)


def test_recommend_prints_films_and_says_in_a_line_what_was_not_kept(home, small, monkeypatch, capsys):
    read_only.make(home, monkeypatch)
    assert main(["recommend", "--model", "popular", "--k", "2", "--json"]) == 0
    said = capsys.readouterr()
    assert len(json.loads(said.out)) == 2
    assert "Traceback" not in said.err
    assert sum("set RECSYS_HOME" in line for line in said.err.splitlines()) == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["data", "get", "ml-latest-sample"],
        ["evaluate", "popular", "--dataset", "toy"],
        ["train", "popular", "--dataset", "toy"],
        ["data", "remove", "toy"],
    ],
)
def test_a_command_that_has_to_write_ends_in_one_line_that_says_what_to_do(home, monkeypatch, capsys, arguments):
    prepared.save(toys.dataset([[0, 1, 2, 3], [3, 2, 1, 0]], 4), {})
    read_only.make(home, monkeypatch)
    assert main(arguments) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert "RECSYS_HOME" in last or "check the permissions" in last
    assert "Traceback" not in last
    assert prepared.load("toy").n_users == 2


def test_the_queue_is_read_and_what_would_change_it_is_refused(home, monkeypatch):
    prepared.save(toys.dataset([[0, 1, 2, 3], [3, 2, 1, 0]], 4), {})
    job = queue.Job(id="20260101-000000", variant="bert4rec", dataset="toy", state=queue.State.RUNNING)
    for name, data in ((queue.JOB_FILE, storage.sign_document(vars(job))), (queue.RUNNER_LOCK, b"")):
        storage.replace_file(job.folder / name, data)
    read_only.make(home, monkeypatch)
    assert [known.state for known in queue.jobs()] == [queue.State.INTERRUPTED]
    refused = (lambda: queue.add("bert4rec", "toy"), lambda: queue.resume(job.id), lambda: queue.remove(job.id))
    for change in refused:
        with pytest.raises(queue.JobError, match="Read-only file system; set RECSYS_HOME to another folder"):
            change()
