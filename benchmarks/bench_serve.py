"""Measure the latency of a request for ten recommendations or, with --batch, the time for all users of a data set.

Single requests run on one thread. They use random histories and a BERT4Rec with random weights, which needs as much
computation as a trained network. A batch uses a trained recommender and all cores.
"""

import time
from collections import defaultdict
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from benchmarks.generated_data import generate_dataset
from benchmarks.script import costs, request_seconds
from recsys.config import MAX_LENGTH, Count, Layers, Size, config_class
from recsys.data import datasets
from recsys.runtime import peak_memory_mb

if TYPE_CHECKING:
    from recsys.serving.predictor import Predictor
    from recsys.serving.recommend import Request

N_WARM_UP = 20  # requests before the measurement
MAX_PROFILED = 100  # requests that are answered again after the measurement, to time their parts
PERCENTILES = (50, 90, 99)
RESULT_OPTIONS = ("films", "dim", "layers", "heads", "history", "requests", "memory")  # options that a result contains
N_COUNTED_USERS = 5_000  # generated users, on whose histories the CountMemory is fitted
COUNTED_MEAN_LENGTH = 144  # mean number of films in their histories, as in ML-20M
MIN_LENGTH = 200  # minimum positions of the network: the default of `Bert4RecConfig`
MAX_HISTORY = MAX_LENGTH - 1  # [mask] takes a position


@config_class
class Options:
    """The sizes of a request, or the data set and the recommender of a batch."""

    films: Count = 27_000  # films in the catalogue
    dim: Size = 64  # width of an embedding
    layers: Layers = 2  # Transformer blocks
    heads: Count = 2  # attention heads
    history: Annotated[int, Field(ge=0, le=MAX_HISTORY)] = 199  # films in each history
    requests: Count = 500  # requests, answered one after another
    memory: bool = False  # add a CountMemory, whose transition and co-occurrence counts are added to the logits
    batch: bool = False  # answer all users of a data set instead, on all cores; uses only the next two options
    dataset: str = "ml-1m"  # for --batch: name of a data set that has been downloaded
    model: str = "bert4rec"  # for --batch: a recommender that is trained, shipped or fitted on first use


def measure(options: Options) -> dict[str, Any]:
    """Measure a batch if the option `batch` is set, else single requests."""
    return _measure_batch(options.dataset, options.model) if options.batch else _measure_requests(options)


def format_lines(result: dict[str, Any]) -> list[str]:
    """Format a result of `measure` for the terminal."""
    peak_memory = f"{result['memory_mb']:,.0f} MB at most"
    if "users" in result:
        batch = f"{result['model']}, {result['users']:,} users of {result['dataset']}, ten films each, on all cores"
        return [f"{batch}: {result['seconds']:.2f} s ({result['cpu_seconds']:.2f} s of CPU); {peak_memory}"]
    size = f"{result['films']:,} films, d={result['dim']}, L={result['layers']}, h={result['heads']}"
    size += ", with a CountMemory" if result["memory"] else ""
    parts = ", ".join(f"{name} {milliseconds:.2f}" for name, milliseconds in result["parts_ms"].items())
    return [
        f"{result['requests']} requests of {result['history']} films, one thread; {size}; {peak_memory}",
        *(f"{p:>6} {wall:8.2f} ms ({result['cpu_ms'][p]:.2f} ms of CPU)" for p, wall in result["wall_ms"].items()),
        f"  mean {sum(result['parts_ms'].values()):8.2f} ms of CPU in a second run: {parts}",
    ]


def _measure_requests(options: Options) -> dict[str, Any]:
    """Measure single requests, one after another. "parts_ms" is from `_time_parts`, which repeats some requests."""
    from recsys.serving.recommend import Request

    predictor = _untrained_predictor(options)
    shape = (N_WARM_UP + options.requests, options.history)
    histories = np.random.default_rng(0).integers(options.films, size=shape)
    requests = [Request(tuple(history)) for history in histories.tolist()]
    request_seconds(predictor, requests[:N_WARM_UP])
    wall, cpu = request_seconds(predictor, requests[N_WARM_UP:])
    return {
        **{name: asdict(options)[name] for name in RESULT_OPTIONS},
        "wall_ms": _percentiles(wall),
        "cpu_ms": _percentiles(cpu),
        "parts_ms": _time_parts(predictor, requests[-MAX_PROFILED:]),
        "memory_mb": round(peak_memory_mb(), 1),
    }


def _untrained_predictor(options: Options) -> "Predictor":
    """Limit torch to one thread, and return a predictor with an untrained BERT4Rec for a generated catalogue."""
    from recsys.models import registry
    from recsys.models.bert4rec import Bert4Rec, Bert4RecConfig
    from recsys.models.count_memory import CountMemory
    from recsys.serving.predictor import Predictor, use_one_thread
    from recsys.training.options import RunOptions

    use_one_thread()
    length = max(MIN_LENGTH, options.history + 1)  # room for the history and [mask]
    model = Bert4Rec(Bert4RecConfig(dim=options.dim, layers=options.layers, heads=options.heads, length=length))
    model.module = model.build(options.films)
    model.module.eval()
    if options.memory:
        counted_data = generate_dataset(users=N_COUNTED_USERS, films=options.films, mean_length=COUNTED_MEAN_LENGTH)
        model.count_memory = CountMemory().fit(counted_data, None, model.network_scores, RunOptions())
    dataset = generate_dataset(users=1, films=options.films, mean_length=1)  # only its catalogue is used
    return Predictor(dataset, registry.get("bert4rec"), model)


def _time_parts(predictor: "Predictor", requests: list["Request"]) -> dict[str, float]:
    """Answer requests again, and return the mean CPU milliseconds of the parts of a request.

    "encoder" is the forward pass of the network. "scores" is the rest of `Model.score`: the product with all items, and
    the CountMemory, if any. "best ten" is the rest of `recommend`: checks, excluded films and the top k.
    """
    cpu_seconds: dict[str, float] = defaultdict(float)
    model: Any = predictor.model
    _time_method(model.module, "forward", cpu_seconds)
    _time_method(model, "score", cpu_seconds)
    total = sum(request_seconds(predictor, requests)[1])
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


def _measure_batch(dataset_name: str, model_name: str) -> dict[str, Any]:
    """Measure `recommend_many` for all users. Loading is not timed, but it is part of the peak memory."""
    from recsys.serving import predictor
    from recsys.serving.recommend import Request, recommend_many

    dataset = datasets.load(dataset_name)
    loaded = predictor.load(model_name, dataset)
    requests = [Request(tuple(history.tolist())) for history in dataset.histories]
    recommend_many(loaded, requests[:N_WARM_UP])
    with costs() as figures:
        recommend_many(loaded, requests)
    return {"dataset": dataset_name, "model": model_name, "users": len(requests), **figures}


def _percentiles(seconds: list[float]) -> dict[str, float]:
    """Return PERCENTILES in milliseconds: {"p50": …, "p90": …, "p99": …}."""
    return {f"p{percent}": round(1e3 * float(np.percentile(seconds, percent)), 3) for percent in PERCENTILES}
