"""How fast a model trains. What it learns is thrown away, and there is no validation.

A set of ML-20M's shape, generated: --users 138493 --films 26744 --mean-length 144 --dim 256 --batch-size 256
"""

import statistics
import time
from dataclasses import asdict, replace
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import Field

from recsys.bench.shapes import generated
from recsys.config import Count, Layers, Length, Seed, Size, config_class
from recsys.data import movielens
from recsys.data.schema import Dataset
from recsys.data.split import LEAVE_ONE_OUT
from recsys.errors import RecsysError
from recsys.runtime import peak_memory_mb
from recsys.training.options import RunOptions

SIZES = ("dim", "layers", "heads", "length")  # of the model's config
SCHEDULE = ("epochs", "batch_size")  # of its schedule


@config_class
class Options:
    """Which recommender, on what data, where."""

    model: str = "bert4rec"  # the recommender
    dataset: str = "ml-1m"  # data set, on this machine
    users: Count | None = None  # generate a set of this many users instead; goes with the next two
    films: Count | None = None  # films of the generated set
    mean_length: Annotated[float, Field(ge=1)] | None = None  # mean films per user of the generated set
    device: str = "auto"  # auto (a GPU if there is one), cpu, cuda, cuda:1 …
    precision: Literal["auto", "fp32", "bf16"] = "auto"  # of matrix products
    compile: bool = False  # hand the model to torch.compile
    seed: Seed = 0  # of everything random
    epochs: Count = 2  # the first is counted apart from the others
    batch_size: Size | None = None  # without it, the recommender's for the data set, as with the next four
    dim: Size | None = None  # width of an embedding
    layers: Layers | None = None  # blocks
    heads: Count | None = None  # attention heads
    length: Length | None = None  # films kept of a history


def measure(options: Options) -> dict[str, Any]:
    """Train for some epochs and return what `time_training` does, with the settings."""
    dataset = _dataset(options)
    config = _config(options, dataset.name)
    run = RunOptions(options.seed, options.device, precision=options.precision, compile=options.compile)
    measured = time_training(options.model, config, LEAVE_ONE_OUT(dataset).train, run)
    settings = _flat(config)
    return {
        "model": options.model,
        "dataset": dataset.name,
        "users": dataset.n_users,
        "films": dataset.n_items,
        "views": len(dataset.interactions),
        "settings": {name: settings[name] for name in (*SCHEDULE, *SIZES)}
        | {"precision": run.precision, "compile": run.compile, "seed": run.seed},
        **measured,
    }


def time_training(variant: str, config: Any, train: Dataset, run: RunOptions) -> dict[str, Any]:
    """Fit a model and return its speed: medians over the epochs after the first, which also warms up or compiles.

    Raises RecsysError for a model that is not trained in epochs.
    """
    from recsys.models import registry  # loads torch

    events: list[dict[str, Any]] = []
    began = time.perf_counter()
    model = registry.get(variant).model(config).fit(train, None, replace(run, report=events.append))
    whole = time.perf_counter() - began
    if not events:
        raise _no_speed(variant)
    ends = [0.0, *(event["seconds"] for event in events)]
    seconds = [end - start for start, end in pairwise(ends)]
    steady = statistics.median(seconds[1:] or seconds)
    on_gpu = model.device.startswith("cuda")
    return {
        "device": model.device,
        "sequences_per_second": round(statistics.median(e["sequences_per_second"] for e in events[1:] or events), 1),
        "seconds_per_epoch": round(steady, 4),
        "first_epoch_extra_seconds": round(seconds[0] - steady, 4),
        "preparation_seconds": round(whole - ends[-1], 4),  # the module, its initialisation, the best weights put back
        "losses": [event["loss"] for event in events],
        "memory_mb": round(peak_memory_mb(), 1),  # of the process, data included
        "gpu_memory_mb": max(event["memory_mb"] for event in events) if on_gpu else None,
    }


def lines(result: dict[str, Any]) -> list[str]:
    """The measurement in three lines."""
    r = result
    s = r["settings"]
    gpu = f", of the GPU {r['gpu_memory_mb']:,.0f} MB" if r["gpu_memory_mb"] else ""
    return [
        f"{r['model']} on {r['dataset']}: {r['users']:,} users, {r['films']:,} films, {r['views']:,} views;"
        f" {r['device']}, {s['precision']}{', compiled' if s['compile'] else ''},"
        f" batches of {s['batch_size']}, dim {s['dim']}, {s['layers']} layers, length {s['length']}",
        f"{r['sequences_per_second']:,.0f} sequences/s, {r['seconds_per_epoch']:.2f} s an epoch"
        f" (the first {r['first_epoch_extra_seconds']:+.2f} s), {r['preparation_seconds']:.2f} s before and after",
        f"loss {r['losses'][-1]:.4f} after {len(r['losses'])} epochs, peak memory {r['memory_mb']:,.0f} MB{gpu}",
    ]


def _dataset(options: Options) -> Dataset:
    """The set that was named, or one of the shape that was given."""
    shape = (options.users, options.films, options.mean_length)
    if shape == (None, None, None):
        return movielens.load(options.dataset)
    if options.users is None or options.films is None or options.mean_length is None:
        raise RecsysError("a generated set needs all of --users, --films and --mean-length")
    return generated(options.users, options.films, options.mean_length, seed=options.seed)


def _config(options: Options, dataset_name: str) -> Any:
    """The model's settings for the data set with those of the flags; generated data has no order to start from."""
    from recsys.models import registry

    config = registry.get(options.model).preset(dataset_name)
    known = _flat(config)
    if not {*SIZES, *SCHEDULE} <= known.keys():
        raise _no_speed(options.model)
    chosen = {name: value for name, value in asdict(options).items() if value is not None}
    changed = {name: chosen[name] for name in SIZES if name in chosen}
    if dataset_name == "generated" and "pmi_init" in known:
        changed["pmi_init"] = False
    schedule = replace(config.schedule, **{name: chosen[name] for name in SCHEDULE if name in chosen})
    return replace(config, schedule=schedule, **changed)


def _flat(config: Any) -> dict[str, Any]:
    """The settings by name, those of the schedule among them."""
    settings = asdict(config)
    return settings | settings.get("schedule", {})


def _no_speed(model: str) -> RecsysError:
    return RecsysError(f"{model} is not trained in epochs, so it has no speed; try --model bert4rec")
