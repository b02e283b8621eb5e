"""How fast a model trains. What it learns is thrown away, and there is no validation.

A set of ML-20M's shape, generated: --users 138493 --films 26744 --mean-length 144 --dim 256 --batch-size 256
"""

import argparse
import statistics
import time
from dataclasses import fields, replace
from itertools import pairwise
from typing import Any

from recsys.bench.shapes import generated
from recsys.data import movielens
from recsys.data.schema import DataError, Dataset
from recsys.data.split import leave_one_out
from recsys.machine import peak_memory_mb
from recsys.training.run import Run

SETTINGS = ("epochs", "batch_size", "dim", "layers", "heads", "length")  # of the model's Config, all whole numbers


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Which model, on what data, where."""
    parser.add_argument("--model", default="bert4rec")
    parser.add_argument("--dataset", default="ml-1m")
    parser.add_argument("--users", type=int, help="generate a set of this many users instead; goes with the next two")
    parser.add_argument("--films", type=int, help="films of the generated set")
    parser.add_argument("--mean-length", type=float, help="mean films per user of the generated set")
    parser.add_argument("--device", default="auto", help="auto (a GPU if there is one), cpu, cuda, cuda:1 …")
    parser.add_argument("--precision", choices=("auto", "fp32", "bf16"), default="auto")
    parser.add_argument("--compile", action="store_true", help="hand the model to torch.compile")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=2, help="the first is told apart from the others")
    for name in SETTINGS[1:]:
        parser.add_argument("--" + name.replace("_", "-"), type=int, help="default: the model's for the data set")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Train for some epochs and return what `time_training` does, with the settings."""
    dataset = _dataset(options)
    config = _config(options, dataset.name)
    run = Run(options.seed, options.device, precision=options.precision, compile=options.compile)
    measured = time_training(options.model, config, leave_one_out(dataset).train, run)
    settings = {name: getattr(config, name) for name in SETTINGS}
    return {
        "model": options.model,
        "dataset": dataset.name,
        "users": dataset.n_users,
        "films": dataset.n_items,
        "views": len(dataset.interactions),
        "settings": settings | {"precision": run.precision, "compile": run.compile, "seed": run.seed},
        **measured,
    }


def time_training(variant: str, config: Any, train: Dataset, run: Run) -> dict[str, Any]:
    """Fit a model and tell its speed: medians over the epochs after the first, which also warms up or compiles.

    Raises DataError for a model that is not trained in epochs.
    """
    from recsys.models import registry  # loads torch

    events: list[dict[str, Any]] = []
    began = time.perf_counter()
    model = registry.get(variant)(config).fit(train, None, replace(run, report=events.append))
    whole = time.perf_counter() - began
    if not events:
        raise DataError(f"{variant} is not trained in epochs, so it has no speed; try --model bert4rec")
    ends = [0.0, *(event["seconds"] for event in events)]
    seconds = [end - start for start, end in pairwise(ends)]
    steady = statistics.median(seconds[1:] or seconds)
    device = str(getattr(model, "device", "cpu"))
    on_gpu = device.startswith("cuda")
    return {
        "device": device,
        "sequences_per_second": round(statistics.median(e["sequences_per_second"] for e in events[1:] or events), 1),
        "seconds_per_epoch": round(steady, 4),
        "first_epoch_extra_seconds": round(seconds[0] - steady, 4),
        "preparation_seconds": round(whole - ends[-1], 4),  # the module, the head start, the best weights put back
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


def _dataset(options: argparse.Namespace) -> Dataset:
    """The set that was named, or one of the shape that was given."""
    shape = (options.users, options.films, options.mean_length)
    if all(size is None for size in shape):
        return movielens.load(options.dataset)
    if any(size is None for size in shape):
        raise DataError("a generated set needs all of --users, --films and --mean-length")
    return generated(*shape, seed=options.seed)


def _config(options: argparse.Namespace, dataset_name: str) -> Any:
    """The model's settings for the data set with those of the flags; no head start where there is nothing to find."""
    from recsys.models import registry

    cls = registry.get(options.model)
    known = {field.name for field in fields(cls.Config)}
    chosen = {name: value for name in SETTINGS if (value := getattr(options, name)) is not None}
    if dataset_name == "generated" and "head_start" in known:
        chosen["head_start"] = False
    if not set(SETTINGS) <= known:
        raise DataError(f"{options.model} is not trained in epochs, so it has no speed; try --model bert4rec")
    return replace(cls.preset(options.model, dataset_name), **chosen)
