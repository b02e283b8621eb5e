import pytest

from recsys.cli.main import main
from recsys.jobs import queue

DATA = "ml-latest-sample"


@pytest.fixture
def job(toy_home, monkeypatch):
    """A job that nobody carries out."""
    monkeypatch.setattr(queue, "start_runner", lambda: None)
    return queue.add("caser", DATA)


def said(capsys, *arguments):
    assert main(["jobs", *arguments]) == 0
    return capsys.readouterr().out.strip()


def test_an_empty_list_says_so(toy_home, capsys):
    assert said(capsys) == "no training was started in the app"


def test_jobs_are_listed_stopped_resumed_and_removed(job, capsys):
    assert said(capsys) == said(capsys, "list") == f"{job.id}  waiting  caser on {DATA}"
    assert said(capsys, "stop", job.id) == ""
    (job.folder / queue.PROGRESS).write_text('{"epoch": 3, "epochs": 60}\n')
    assert said(capsys) == f"{job.id}  stopped  caser on {DATA}  epoch 3 of 60"
    said(capsys, "resume", job.id)
    assert "waiting" in said(capsys)
    said(capsys, "stop", job.id)
    said(capsys, "remove", job.id)
    assert said(capsys) == "no training was started in the app"


def test_a_name_that_no_job_has_is_one_line(job, capsys):
    assert main(["jobs", "stop", "yesterday"]) == 1
    assert capsys.readouterr().err == f"there is no training run yesterday; the training runs are: {job.id}\n"


def test_a_damaged_job_is_listed(job, capsys):
    (job.folder / queue.JOB_FILE).write_text("{")
    assert said(capsys) == f"{job.id}  damaged"
