"""Measure the speed of training. There is no validation, and the weights are discarded.

These flags of `python -m recsys bench train` generate a data set of ML-20M's size and train a large network on it:
--users 138493 --films 26744 --mean-length 144 --dim 256 --batch-size 256
"""

import statistics
import time
from dataclasses import asdict, replace
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import Field

from benchmarks.generated_data import generate_dataset
from recsys.config import Count, Layers, Length, Seed, Size, config_class, replace_settings
from recsys.data import datasets
from recsys.data.dataset import Dataset
from recsys.data.split import LEAVE_ONE_OUT
from recsys.errors import RecsysError
from recsys.runtime import peak_memory_mb
from recsys.training.options import RunOptions

SETTINGS = ("epochs", "batch_size", "dim", "layers", "heads", "length")  # settings of a recommender that have a flag


@config_class
class Options:
    """The recommender, the data set, and the device."""

    model: str = "bert4rec"  # a network with settings dim, layers, heads and length
    dataset: str = "ml-1m"  # name of a data set that has been downloaded
    users: Count | None = None  # generate a data set of this many users instead; needs --films and --mean-length
    films: Count | None = None  # films of the generated data set
    mean_length: Annotated[float, Field(ge=1)] | None = None  # mean films per user of the generated data set
    device: str = "auto"  # auto (a GPU if there is one), cpu, cuda, cuda:1 …
    precision: Literal["auto", "fp32", "bf16"] = "auto"  # precision of matrix products
    compile: bool = False  # compile the network with torch.compile
    seed: Seed = 0  # seed of the random numbers
    epochs: Count = 2  # the first epoch is reported separately, because it includes warm-up or compilation
    batch_size: Size | None = None  # sequences per step; default: the recommender's setting for the data set
    dim: Size | None = None  # width of an embedding; default as for the batch size
    layers: Layers | None = None  # Transformer blocks; default as for the batch size
    heads: Count | None = None  # attention heads; default as for the batch size
    length: Length | None = None  # newest films of a history that are read; default as for the batch size


def measure(options: Options) -> dict[str, Any]:
    """Train for some epochs, and return the result of `time_training` with the data set and the settings.

    "views" is the number of ratings of the data set. The held-out ratings are included, but not trained on.
    """
    shape = (options.users, options.films, options.mean_length)
    if None not in shape:
        dataset = generate_dataset(*shape, seed=options.seed)  # type: ignore[arg-type]
    elif any(shape):
        raise RecsysError("a generated set needs all of --users, --films and --mean-length")
    else:
        dataset = datasets.load(options.dataset)
    config = _config(options, dataset.name)
    run = RunOptions(seed=options.seed, device=options.device, precision=options.precision, compile=options.compile)
    figures = time_training(options.model, config, LEAVE_ONE_OUT(dataset).train, run)
    settings = _flatten(config)
    return {
        "model": options.model,
        "dataset": dataset.name,
        "users": dataset.n_users,
        "films": dataset.n_items,
        "views": len(dataset.interactions),
        "settings": {name: settings[name] for name in SETTINGS}
        | {"precision": run.precision, "compile": run.compile, "seed": run.seed},
        **figures,
    }


def time_training(recommender: str, config: Any, train: Dataset, run: RunOptions) -> dict[str, Any]:
    """Fit a recommender with the settings `config`, without validation, and return its speed. `run.report` is replaced.

    Speeds are medians over the epochs after the first, which includes warm-up or compilation.
    "first_epoch_extra_seconds" is the time of the first epoch minus the median. Memory is in MB (10⁶ bytes).

    Raises:
        RecsysError: The model is not trained in epochs.
    """
    from recsys.models import registry  # loads torch

    events: list[dict[str, Any]] = []
    start = time.perf_counter()
    model = registry.get(recommender).model(config).fit(train, None, replace(run, report=events.append))
    total_seconds = time.perf_counter() - start
    if not events:
        raise RecsysError(f"{recommender} is not trained in epochs; try --model bert4rec")
    epoch_ends = [0.0, *(event["seconds"] for event in events)]  # seconds since the first batch
    epoch_seconds = [after - before for before, after in pairwise(epoch_ends)]
    median_seconds = statistics.median(epoch_seconds[1:] or epoch_seconds)
    speeds = [event["sequences_per_second"] for event in events[1:] or events]
    return {
        "device": model.device,
        "sequences_per_second": round(statistics.median(speeds), 1),
        "seconds_per_epoch": round(median_seconds, 4),
        "first_epoch_extra_seconds": round(epoch_seconds[0] - median_seconds, 4),
        "preparation_seconds": round(total_seconds - epoch_ends[-1], 4),  # before and after the epochs
        "losses": [event["loss"] for event in events],
        "memory_mb": round(peak_memory_mb(), 1),  # peak of the process, data included
        "gpu_memory_mb": max(event["memory_mb"] for event in events) if model.device.startswith("cuda") else None,
    }


def format_lines(result: dict[str, Any]) -> list[str]:
    """Format a result of `measure` for the terminal, in three lines."""
    settings, losses = result["settings"], result["losses"]
    gpu = f", GPU memory {result['gpu_memory_mb']:,.0f} MB" if result["gpu_memory_mb"] else ""
    return [
        f"{result['model']} on {result['dataset']}: {result['users']:,} users, {result['films']:,} films,"
        f" {result['views']:,} ratings; {result['device']}, {settings['precision']}"
        f"{', compiled' if settings['compile'] else ''}, batches of {settings['batch_size']}, dim {settings['dim']},"
        f" {settings['layers']} layers, length {settings['length']}",
        f"{result['sequences_per_second']:,.0f} sequences/s, {result['seconds_per_epoch']:.2f} s an epoch"
        f" (the first took {result['first_epoch_extra_seconds']:+.2f} s more),"
        f" {result['preparation_seconds']:.2f} s before and after the epochs",
        f"loss {losses[-1]:.4f} after {len(losses)} epochs, peak memory {result['memory_mb']:,.0f} MB{gpu}",
    ]


def _config(options: Options, dataset_name: str) -> Any:
    """Return the preset for the data set, with the values of the flags that are given.

    For generated data, embeddings start at random. The films are independent, so a start from PMI would be noise.
    """
    from recsys.models import registry

    config = registry.get(options.model).preset(dataset_name)
    settings = _flatten(config)
    if missing := [name for name in SETTINGS if name not in settings]:
        raise RecsysError(f"{options.model} has no setting {missing[0]}; try --model bert4rec")
    changes = {name: value for name in SETTINGS if (value := getattr(options, name)) is not None}
    if dataset_name == "generated" and "pmi_init" in settings:
        changes["pmi_init"] = False
    return replace_settings(config, changes)


def _flatten(config: Any) -> dict[str, Any]:
    """Return the settings of a config and of its schedule in one dictionary."""
    return asdict(config) | asdict(config).get("schedule", {})
