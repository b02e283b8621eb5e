"""Measure the latency of a request for ten recommendations on one thread or, with --batch, the time for a data set.

Single requests use random histories and an untrained model, because the amount of computation is the same.
"""

import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from recsys.bench.shapes import generated
from recsys.config import Count, Layers, Size, config_class
from recsys.data import movielens
from recsys.runtime import peak_memory_mb

if TYPE_CHECKING:
    from recsys.serving.predictor import Predictor
    from recsys.serving.recommend import Request

N_WARM_UP = 20  # requests before the measurement
MAX_PROFILED = 100  # requests whose parts are timed, after the measurement
PERCENTILES = (50, 90, 99)
SIZES = ("films", "dim", "layers", "heads", "history", "requests", "memory")  # options that a result repeats
COUNTED_USERS = 5_000  # whose histories the count model is fitted on
COUNTED_LENGTH = 144  # films of such a history: the mean of ML-20M


@config_class
class Options:
    """The sizes of a request, or the data set and the recommender of a batch."""

    films: Count = 27_000  # films in the catalogue
    dim: Size = 64  # width of an embedding
    layers: Layers = 2  # Transformer blocks
    heads: Count = 2  # attention heads
    history: Annotated[int, Field(ge=0, le=32_765)] = 199  # films in each history
    requests: Count = 500  # histories to answer, one after another
    memory: bool = False  # pool the network with a count model
    batch: bool = False  # answer all users of a data set instead, on all cores
    dataset: str = "ml-1m"  # for --batch
    model: str = "bert4rec"  # for --batch


def measure(options: Options) -> dict[str, Any]:
    """Measure the milliseconds of a request, or the seconds of a batch, and the peak memory."""
    return _batch(options.dataset, options.model) if options.batch else _requests(options)


def lines(result: dict[str, Any]) -> list[str]:
    """Format a result of `measure` for the terminal."""
    memory = f"{result['memory_mb']:,.0f} MB at most"
    if "users" in result:
        batch = f"{result['model']}, {result['users']:,} users of {result['dataset']}, ten films each, on all cores"
        return [f"{batch}: {result['seconds']:.2f} s ({result['cpu_seconds']:.2f} s of CPU); {memory}"]
    size = f"{result['films']:,} films, d={result['dim']}, L={result['layers']}, h={result['heads']}"
    size += ", with a memory" if result["memory"] else ""
    parts = ", ".join(f"{name} {milliseconds:.2f}" for name, milliseconds in result["parts_ms"].items())
    return [
        f"{result['requests']} requests of {result['history']} films, one thread; {size}; {memory}",
        *(f"{p:>6} {wall:8.2f} ms ({result['cpu_ms'][p]:.2f} ms of CPU)" for p, wall in result["wall_ms"].items()),
        f"  mean {sum(result['parts_ms'].values()):8.2f} ms of CPU: {parts}",
    ]


def _requests(options: Options) -> dict[str, Any]:
    """Measure single requests, one after another. Loads torch."""
    from recsys.serving.recommend import Request

    predictor = _untrained_predictor(options)
    shape = (N_WARM_UP + options.requests, options.history)
    histories = np.random.default_rng(0).integers(options.films, size=shape)
    requests = [Request(tuple(history)) for history in histories.tolist()]
    _times(predictor, requests[:N_WARM_UP])
    wall, cpu = _times(predictor, requests[N_WARM_UP:])
    return {
        **{name: asdict(options)[name] for name in SIZES},
        "wall_ms": _percentiles(wall),
        "cpu_ms": _percentiles(cpu),
        "parts_ms": _parts(predictor, requests[-MAX_PROFILED:]),
        "memory_mb": round(peak_memory_mb(), 1),
    }


def _untrained_predictor(options: Options) -> "Predictor":
    """Return a predictor of a BERT4Rec with random weights and a generated catalogue."""
    from recsys.models import registry
    from recsys.models.bert4rec import Bert4Rec, Bert4RecConfig
    from recsys.models.count_memory import CountMemory
    from recsys.serving.predictor import Predictor, hold_to_one_thread
    from recsys.training.options import RunOptions

    hold_to_one_thread()
    length = max(200, options.history + 1)  # room for the history and [mask]
    model = Bert4Rec(Bert4RecConfig(dim=options.dim, layers=options.layers, heads=options.heads, length=length))
    model.module = model.build(options.films)
    model.module.eval()
    if options.memory:
        counted = generated(COUNTED_USERS, options.films, COUNTED_LENGTH)
        model.memory = CountMemory().fit(counted, None, model.network_scores, RunOptions())
    return Predictor(generated(1, options.films, 1), registry.get("bert4rec"), model)


def _times(predictor: "Predictor", requests: Iterable["Request"]) -> tuple[list[float], list[float]]:
    """Return the wall time and the CPU time of each request, in seconds."""
    from recsys.serving.recommend import recommend

    wall, cpu = [], []
    for request in requests:
        start, cpu_start = time.perf_counter(), time.thread_time()
        recommend(predictor, request)
        cpu.append(time.thread_time() - cpu_start)
        wall.append(time.perf_counter() - start)
    return wall, cpu


def _parts(predictor: "Predictor", requests: list["Request"]) -> dict[str, float]:
    """Return the mean CPU milliseconds of the encoder, of the product with all items, and of the top ten."""
    cpu_seconds: dict[str, float] = defaultdict(float)
    model: Any = predictor.model
    _time_method(model.module, "forward", cpu_seconds)
    _time_method(model, "score", cpu_seconds)
    total = sum(_times(predictor, requests)[1])
    parts = {
        "encoder": cpu_seconds["forward"],
        "scores": cpu_seconds["score"] - cpu_seconds["forward"],
        "best ten": total - cpu_seconds["score"],
    }
    return {name: round(1e3 * seconds / len(requests), 3) for name, seconds in parts.items()}


def _time_method(instance: Any, name: str, cpu_seconds: dict[str, float]) -> None:
    """Replace a method of an instance by one that adds its CPU time to `cpu_seconds[name]`."""
    method = getattr(instance, name)

    def timed(*args: Any) -> Any:
        start = time.thread_time()
        returned = method(*args)
        cpu_seconds[name] += time.thread_time() - start
        return returned

    setattr(instance, name, timed)


def _batch(name: str, recommender: str) -> dict[str, Any]:
    """Measure the recommendations of a trained recommender for all users of a data set."""
    from recsys.serving import predictor
    from recsys.serving.recommend import Request, recommend_many

    dataset = movielens.load(name)
    loaded = predictor.load(recommender, dataset)
    requests = [Request(tuple(history.tolist())) for history in dataset.histories]
    recommend_many(loaded, requests[:N_WARM_UP])
    start, cpu_start = time.perf_counter(), time.process_time()
    lists = recommend_many(loaded, requests)
    return {
        "dataset": name,
        "model": recommender,
        "users": len(lists),
        "seconds": round(time.perf_counter() - start, 3),
        "cpu_seconds": round(time.process_time() - cpu_start, 3),
        "memory_mb": round(peak_memory_mb(), 1),
    }


def _percentiles(seconds: list[float]) -> dict[str, float]:
    """Return PERCENTILES in milliseconds: {"p50": …, "p90": …, "p99": …}."""
    return {f"p{percent}": round(1e3 * float(np.percentile(seconds, percent)), 3) for percent in PERCENTILES}
