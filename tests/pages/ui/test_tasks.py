import threading

import pytest

from pages.ui import tasks
from recsys.data.dataset import DataError

LONG = 10  # seconds, at most, for what ends in milliseconds


@pytest.fixture(autouse=True)
def nothing_yet():
    """No work of another test."""
    tasks._tasks.cache_clear()


def test_the_last_event_that_says_something_is_kept():
    def task(report):
        report({"stage": "download", "done": 1, "total": 4})
        report({"stage": "wait"})

    done = tasks.start("one", task)
    assert done.wait(LONG)
    assert done.event == {"stage": "download", "done": 1, "total": 4}
    assert tasks.completed_share(done.event) == 0.25
    assert done.error is None


def test_what_goes_on_is_not_begun_again_and_what_has_ended_is():
    go_on, begun = threading.Event(), []

    def task(report):
        begun.append(1)
        go_on.wait(LONG)

    first = tasks.start("one", task)
    assert tasks.start("one", task) is first
    tasks.remove("one")
    assert tasks.find("one") is first
    go_on.set()
    assert first.wait(LONG)
    second = tasks.start("one", task)
    assert second is not first
    assert second.wait(LONG)
    assert len(begun) == 2
    tasks.remove("one")
    assert tasks.find("one") is None


def test_work_that_is_called_off_stops_when_it_reports():
    called_off, reached = threading.Event(), []

    def task(report):
        called_off.wait(LONG)
        report({"stage": "wait"})
        reached.append(1)

    one = tasks.start("one", task)
    one.cancel()
    called_off.set()
    assert one.wait(LONG)
    assert (one.error, reached) == (None, [])


@pytest.mark.parametrize("error", [DataError("no network"), KeyError("a bug")])
def test_what_ended_it_is_kept_for_the_page(error):
    def task(report):
        raise error

    one = tasks.start("one", task)
    assert one.wait(LONG)
    assert one.error is error


@pytest.mark.parametrize(
    ("event", "share"),
    [({}, 0), ({"stage": "parse"}, 0), ({"done": 5, "total": None}, 0), ({"done": 9, "total": 6}, 1)],
)
def test_the_share_is_between_nothing_and_all(event, share):
    assert tasks.completed_share(event) == share
