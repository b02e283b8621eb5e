import argparse
import shlex
import time
from collections import defaultdict

import pytest
import torch

from recsys.bench import serve
from recsys.data.schema import DataError

SMALL = "--films 300 --dim 8 --layers 1 --heads 1"


@pytest.fixture(autouse=True)
def threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def measure(settings):
    parser = argparse.ArgumentParser()
    serve.add_flags(parser)
    return serve.measure(parser.parse_args(shlex.split(settings)))


def test_requests_are_timed_whole_and_in_parts():
    result = measure(f"{SMALL} --history 10 --requests 30")
    assert (result["films"], result["dim"], result["history"], result["requests"]) == (300, 8, 10, 30)
    assert list(result["wall_ms"]) == list(result["cpu_ms"]) == ["p50", "p90", "p99"]
    assert 0 < result["cpu_ms"]["p50"] <= result["cpu_ms"]["p99"]
    assert min(result["parts_ms"].values()) > 0
    assert result["memory_mb"] > 50
    text = "\n".join(serve.lines(result))
    assert "30 requests of 10 films" in text
    assert f"{result['wall_ms']['p99']:.2f} ms" in text


def test_a_clocked_method_answers_as_before_and_its_time_is_added_up():
    class Sleeper:
        def work(self, seconds):
            end = time.thread_time() + seconds
            while time.thread_time() < end:
                pass
            return seconds

    sleeper, spent = Sleeper(), defaultdict(float)
    serve._clock(sleeper, "work", spent)
    assert [sleeper.work(0.02), sleeper.work(0.03)] == [0.02, 0.03]
    assert 0.05 <= spent["work"] < 0.06


@pytest.mark.parametrize(("films", "length"), [(10, 200), (300, 301)])
def test_a_history_is_never_cut_short(monkeypatch, films, length):
    asked = []
    monkeypatch.setattr(serve, "_times", lambda dataset, model, histories: asked.append(model) or ([1.0], [1.0]))
    measure(f"{SMALL} --history {films} --requests 1")
    assert asked[0].config.length == length


def test_a_batch_answers_every_user(toy_home):
    result = measure("--batch --dataset ml-100k --model popular")
    assert result["users"] == toy_home.n_users
    assert result["cpu_seconds"] > 0
    assert "60 users of ml-100k" in serve.lines(result)[0]


@pytest.mark.parametrize("sizes", ["--requests 0", "--films 0"])
def test_sizes_that_no_request_can_have_are_refused(sizes):
    with pytest.raises(DataError, match="at least one"):
        measure(sizes)
