"""How long a visitor waits: one history in, the ten best films out, on one thread; or a whole data set (--batch).

For single requests films and histories are generated and the model is untrained: neither changes what is computed.
"""

import argparse
import time
from collections import defaultdict
from typing import Any

import numpy as np

from recsys.bench.shapes import generated
from recsys.data import movielens
from recsys.data.schema import DataError, Dataset
from recsys.machine import peak_memory_mb

WARM_UP = 20  # requests that are not counted
TAKEN_APART = 100  # requests, at most, of which the parts are timed, after the others
PERCENTILES = (50, 90, 99)
SIZES = ("films", "dim", "layers", "heads", "history", "requests")


def add_flags(parser: argparse.ArgumentParser) -> None:
    """The sizes of a request, or the data set and the model of a batch."""
    parser.add_argument("--films", type=int, default=27_000, help="films in the catalogue (27000)")
    parser.add_argument("--dim", type=int, default=64, help="width of an embedding (64)")
    parser.add_argument("--layers", type=int, default=2, help="Transformer blocks (2)")
    parser.add_argument("--heads", type=int, default=2, help="attention heads (2)")
    parser.add_argument("--history", type=int, default=199, help="films in each history (199)")
    parser.add_argument("--requests", type=int, default=500, help="histories to answer, one after another (500)")
    parser.add_argument("--batch", action="store_true", help="answer all users of a data set instead, on all cores")
    parser.add_argument("--dataset", default="ml-1m", help="for --batch (ml-1m)")
    parser.add_argument("--model", default="bert4rec", help="for --batch (bert4rec)")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Milliseconds of requests, or the seconds of a batch, and the peak of memory. Raises DataError for silly sizes."""
    if options.batch:
        return _batch(options.dataset, options.model)
    if min(options.requests, options.films) < 1:
        raise DataError("ask for at least one request, of at least one film")
    return _requests(options)


def lines(result: dict[str, Any]) -> list[str]:
    """The measurement for people."""
    if "users" in result:
        told = f"{result['model']}, {result['users']:,} users of {result['dataset']}, ten films each, on all cores"
        return [f"{told}: {result['seconds']:.2f} s ({result['cpu_seconds']:.2f} s of CPU); {_memory(result)}"]
    size = f"{result['films']:,} films, d={result['dim']}, L={result['layers']}, h={result['heads']}"
    parts = ", ".join(f"{name} {worth:.2f}" for name, worth in result["parts_ms"].items())
    return [
        f"{result['requests']} requests of {result['history']} films, one thread; {size}; {_memory(result)}",
        *(f"{p:>6} {wall:8.2f} ms ({result['cpu_ms'][p]:.2f} ms of CPU)" for p, wall in result["wall_ms"].items()),
        f"  mean {sum(result['parts_ms'].values()):8.2f} ms of CPU: {parts}",
    ]


def _memory(result: dict[str, Any]) -> str:
    return f"{result['memory_mb']:,.0f} MB at most"


def _requests(options: argparse.Namespace) -> dict[str, Any]:
    """Answer histories one after another; loads torch."""
    from recsys.models.bert4rec import Bert4Rec, Bert4RecConfig
    from recsys.serving.models import hold_to_one_thread

    hold_to_one_thread()
    length = max(200, options.history + 1)  # room for the history and [mask]
    model = Bert4Rec(Bert4RecConfig(dim=options.dim, layers=options.layers, heads=options.heads, length=length))
    model.module = model.build(options.films)
    model.module.eval()
    dataset = generated(1, options.films, 1)
    histories = np.random.default_rng(0).integers(options.films, size=(WARM_UP + options.requests, options.history))
    _times(dataset, model, histories[:WARM_UP])
    wall, cpu = _times(dataset, model, histories[WARM_UP:])
    return {
        **{name: getattr(options, name) for name in SIZES},
        "wall_ms": _percentiles(wall),
        "cpu_ms": _percentiles(cpu),
        "parts_ms": _parts(dataset, model, histories[-TAKEN_APART:]),
        "memory_mb": round(peak_memory_mb(), 1),
    }


def _times(dataset: Dataset, model: Any, histories: np.ndarray) -> tuple[list[float], list[float]]:
    """Seconds that each request took: on the clock, and of CPU."""
    from recsys.serving.recommend import recommend

    wall, cpu = [], []
    for history in histories:
        began, began_cpu = time.perf_counter(), time.thread_time()
        recommend(dataset, model, history)
        cpu.append(time.thread_time() - began_cpu)
        wall.append(time.perf_counter() - began)
    return wall, cpu


def _parts(dataset: Dataset, model: Any, histories: np.ndarray) -> dict[str, float]:
    """CPU milliseconds of a mean request: in the encoder, in the product with the catalogue, in what follows."""
    spent: dict[str, float] = defaultdict(float)
    _clock(model.module, "forward", spent)
    _clock(model, "score", spent)
    whole = sum(_times(dataset, model, histories)[1])
    parts = {
        "encoder": spent["forward"],
        "scores": spent["score"] - spent["forward"],
        "best ten": whole - spent["score"],
    }
    return {name: round(1e3 * seconds / len(histories), 3) for name, seconds in parts.items()}


def _clock(owner: Any, method: str, spent: dict[str, float]) -> None:
    """Add up the CPU seconds that a method takes from now on."""
    plain = getattr(owner, method)

    def timed(*given: Any) -> Any:
        began = time.thread_time()
        answer = plain(*given)
        spent[method] += time.thread_time() - began
        return answer

    setattr(owner, method, timed)


def _batch(name: str, variant: str) -> dict[str, Any]:
    """Answer every user of a data set with a trained model."""
    from recsys.serving import models
    from recsys.serving.recommend import recommend_many

    dataset = movielens.load(name)
    model = models.load(variant, dataset)
    recommend_many(dataset, model, dataset.histories[:WARM_UP])
    began, began_cpu = time.perf_counter(), time.process_time()
    answers = recommend_many(dataset, model, dataset.histories)
    return {
        "dataset": name,
        "model": variant,
        "users": len(answers),
        "seconds": round(time.perf_counter() - began, 3),
        "cpu_seconds": round(time.process_time() - began_cpu, 3),
        "memory_mb": round(peak_memory_mb(), 1),
    }


def _percentiles(seconds: list[float]) -> dict[str, float]:
    """Milliseconds by name: {"p50": …}."""
    return {f"p{percent}": round(1e3 * float(np.percentile(seconds, percent)), 3) for percent in PERCENTILES}
