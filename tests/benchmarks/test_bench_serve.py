from dataclasses import replace

import pytest
import torch

from benchmarks import bench_serve as serve
from benchmarks.bench_serve import Options
from recsys.models.count_memory import CountMemory

SMALL = Options(films=300, dim=8, layers=1, heads=1)


@pytest.fixture(autouse=True)
def threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_requests_are_timed_whole_and_in_parts():
    result = serve.measure(replace(SMALL, history=10, requests=30))
    assert (result["films"], result["dim"], result["history"], result["requests"]) == (300, 8, 10, 30)
    assert list(result["wall_ms"]) == list(result["cpu_ms"]) == ["p50", "p90", "p99"]
    assert 0 < result["cpu_ms"]["p50"] <= result["cpu_ms"]["p99"]
    assert min(result["parts_ms"].values()) > 0
    assert result["memory_mb"] > 50
    text = "\n".join(serve.format_lines(result))
    assert "30 requests of 10 films" in text
    assert f"{result['wall_ms']['p99']:.2f} ms" in text


def test_a_memory_is_part_of_the_request(monkeypatch):
    monkeypatch.setattr(serve, "N_COUNTED_USERS", 30)
    monkeypatch.setattr(serve, "COUNTED_MEAN_LENGTH", 10)
    asked, plain = [], CountMemory.combine
    monkeypatch.setattr(CountMemory, "combine", lambda *given: asked.append(1) or plain(*given))
    result = serve.measure(replace(SMALL, history=10, requests=5, memory=True))
    assert len(asked) >= 5
    assert "h=1, with a CountMemory" in serve.format_lines(result)[0]
    serve.measure(replace(SMALL, history=10, requests=5))
    assert len(asked) < 2 * (5 + serve.N_WARM_UP + serve.MAX_PROFILED)


@pytest.mark.parametrize(("films", "length"), [(10, 200), (300, 301)])
def test_a_history_is_never_cut_short(monkeypatch, films, length):
    used = []
    monkeypatch.setattr(serve, "request_seconds", lambda predictor, requests: used.append(predictor) or ([1.0], [1.0]))
    serve.measure(replace(SMALL, history=films, requests=1))
    assert used[0].model.config.length == length


def test_a_batch_answers_every_user(toy_home):
    result = serve.measure(Options(batch=True, dataset="ml-latest-sample", model="popular"))
    assert result["users"] == 60
    assert result["cpu_seconds"] > 0
    assert "60 users of ml-latest-sample" in serve.format_lines(result)[0]
