"""How long a visitor waits: one history in, the ten best films out, on one thread; or a whole data set (--batch).

For single requests films and histories are generated and the model is untrained: neither changes what is computed.
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

WARM_UP = 20  # requests that are not counted
TAKEN_APART = 100  # requests, at most, of which the parts are timed, after the others
PERCENTILES = (50, 90, 99)
SIZES = ("films", "dim", "layers", "heads", "history", "requests", "memory")
REMEMBERED = 5_000, 144  # people whose histories are counted, and films of each: the mean of ML-20M


@config_class
class Options:
    """The sizes of a request, or the data set and the recommender of a batch."""

    films: Count = 27_000  # films in the catalogue
    dim: Size = 64  # width of an embedding
    layers: Layers = 2  # Transformer blocks
    heads: Count = 2  # attention heads
    history: Annotated[int, Field(ge=0, le=32_765)] = 199  # films in each history
    requests: Count = 500  # histories to answer, one after another
    memory: bool = False  # with a memory of counts beside the network
    batch: bool = False  # answer all users of a data set instead, on all cores
    dataset: str = "ml-1m"  # for --batch
    model: str = "bert4rec"  # for --batch


def measure(options: Options) -> dict[str, Any]:
    """Milliseconds of requests, or seconds of a batch, and the peak of memory."""
    return _batch(options.dataset, options.model) if options.batch else _requests(options)


def lines(result: dict[str, Any]) -> list[str]:
    """The measurement for people."""
    if "users" in result:
        said = f"{result['model']}, {result['users']:,} users of {result['dataset']}, ten films each, on all cores"
        return [f"{said}: {result['seconds']:.2f} s ({result['cpu_seconds']:.2f} s of CPU); {_memory(result)}"]
    size = f"{result['films']:,} films, d={result['dim']}, L={result['layers']}, h={result['heads']}"
    size += ", with a memory" if result["memory"] else ""
    parts = ", ".join(f"{name} {worth:.2f}" for name, worth in result["parts_ms"].items())
    return [
        f"{result['requests']} requests of {result['history']} films, one thread; {size}; {_memory(result)}",
        *(f"{p:>6} {wall:8.2f} ms ({result['cpu_ms'][p]:.2f} ms of CPU)" for p, wall in result["wall_ms"].items()),
        f"  mean {sum(result['parts_ms'].values()):8.2f} ms of CPU: {parts}",
    ]


def _memory(result: dict[str, Any]) -> str:
    return f"{result['memory_mb']:,.0f} MB at most"


def _requests(options: Options) -> dict[str, Any]:
    """Answer histories one after another; loads torch."""
    from recsys.serving.recommend import Request

    predictor = _untrained(options)
    shape = (WARM_UP + options.requests, options.history)
    histories = np.random.default_rng(0).integers(options.films, size=shape)
    requests = [Request(tuple(history)) for history in histories.tolist()]
    _times(predictor, requests[:WARM_UP])
    wall, cpu = _times(predictor, requests[WARM_UP:])
    return {
        **{name: asdict(options)[name] for name in SIZES},
        "wall_ms": _percentiles(wall),
        "cpu_ms": _percentiles(cpu),
        "parts_ms": _parts(predictor, requests[-TAKEN_APART:]),
        "memory_mb": round(peak_memory_mb(), 1),
    }


def _untrained(options: Options) -> "Predictor":
    """A BERT4Rec of these sizes with random weights, over a generated catalogue."""
    from recsys.models import registry
    from recsys.models.bert4rec import Bert4Rec, Bert4RecConfig
    from recsys.models.count_memory import CountMemory
    from recsys.serving.predictor import Predictor, hold_to_one_thread
    from recsys.training.run import Run

    hold_to_one_thread()
    length = max(200, options.history + 1)  # room for the history and [mask]
    model = Bert4Rec(Bert4RecConfig(dim=options.dim, layers=options.layers, heads=options.heads, length=length))
    model.module = model.build(options.films)
    model.module.eval()
    if options.memory:
        people, films = REMEMBERED
        model.memory = CountMemory().fit(generated(people, options.films, films), None, model.network_scores, Run())
    return Predictor(generated(1, options.films, 1), registry.get("bert4rec"), model)


def _times(predictor: "Predictor", requests: Iterable["Request"]) -> tuple[list[float], list[float]]:
    """Seconds that each request took: on the clock, and of CPU."""
    from recsys.serving.recommend import recommend

    wall, cpu = [], []
    for request in requests:
        began, began_cpu = time.perf_counter(), time.thread_time()
        recommend(predictor, request)
        cpu.append(time.thread_time() - began_cpu)
        wall.append(time.perf_counter() - began)
    return wall, cpu


def _parts(predictor: "Predictor", requests: list["Request"]) -> dict[str, float]:
    """CPU milliseconds of a mean request: in the encoder, in the product with the catalogue, in what follows."""
    spent: dict[str, float] = defaultdict(float)
    model: Any = predictor.model
    _clock(model.module, "forward", spent)
    _clock(model, "score", spent)
    whole = sum(_times(predictor, requests)[1])
    parts = {
        "encoder": spent["forward"],
        "scores": spent["score"] - spent["forward"],
        "best ten": whole - spent["score"],
    }
    return {name: round(1e3 * seconds / len(requests), 3) for name, seconds in parts.items()}


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
    from recsys.serving import predictor
    from recsys.serving.recommend import Request, recommend_many

    dataset = movielens.load(name)
    ready = predictor.load(variant, dataset)
    requests = [Request(tuple(history.tolist())) for history in dataset.histories]
    recommend_many(ready, requests[:WARM_UP])
    began, began_cpu = time.perf_counter(), time.process_time()
    answers = recommend_many(ready, requests)
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
