"""Rank the held-out films with a trained model and write down what came out.

Shapes: S seeds, B queries, I items.
"""

import os
import platform
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np

from recsys import machine, paths, store
from recsys.data.schema import Dataset, HeldOut
from recsys.data.split import split
from recsys.evaluation import beyond, certainty, protocols, results
from recsys.evaluation.calibration import calibration
from recsys.evaluation.metrics import summary
from recsys.evaluation.protocols import Protocol
from recsys.evaluation.ranking import Lists, Report, ranks, ranks_and_lists
from recsys.models import registry
from recsys.models.base import Recommender
from recsys.training import distributed
from recsys.training.run import ignore

__all__ = ["EvaluationError", "Measured", "evaluate", "ranks"]


class EvaluationError(ValueError):
    """An evaluation that would not be honest; the message says what to do instead."""


@dataclass(frozen=True)
class Measured:
    """What one seed came to."""

    ranks: np.ndarray  # (B,)
    lists: Lists | None  # None: a sampled protocol, where nothing is recommended


def evaluate(
    variant: str,
    dataset: Dataset,
    protocol: str = "full",
    seeds: Sequence[int] | None = None,
    part: Literal["test", "valid"] = "test",
    ship: bool = False,
    report: Report = ignore,
) -> dict[str, Any]:
    """Measure a model, one run per seed, and return the result document (schema: `results`).

    seeds None: every seed trained on this machine, else the shipped one; models that are fitted on first use: seed 0.
    part "test" writes the document to the home folder (`ship`: to assets/ too); part "valid", for choosing between
    settings, writes nothing. Raises EvaluationError, StoreError, ScoreError, ProtocolError.
    """
    rules = protocols.get(protocol)
    if variant not in registry.names():
        raise EvaluationError(f"no model is called {variant}; there are: {', '.join(registry.names())}")
    parts = split(dataset, protocol)
    held_out = getattr(parts, part)
    started = time.perf_counter()
    chosen = seeds or _seeds(variant, paths.training(dataset.name, protocol))
    models = {seed: store.ready(variant, dataset, seed, report, protocol) for seed in chosen}
    config = _common_config(variant, list(models.values()))
    found = {seed: _measure(model, held_out, rules, dataset, report) for seed, model in models.items()}
    document = _document(variant, dataset, rules, config, {seed: one.ranks for seed, one in found.items()})
    document |= _of_lists(document, parts.train, held_out, [one.lists for one in found.values() if one.lists])
    document["run"] = _circumstances(models, time.perf_counter() - started)
    if part == "test" and distributed.rank() == 0:
        results.write(document, np.array([one.ranks for one in found.values()]))
        if ship:
            results.ship(dataset.name, protocol, variant)
    return document


def _measure(model: Recommender, held_out: HeldOut, protocol: Protocol, dataset: Dataset, report: Report) -> Measured:
    """One pass over the held-out queries."""
    if protocol.sampled:
        return Measured(ranks(model, held_out, protocol, dataset, report), None)
    return Measured(*ranks_and_lists(model, held_out, protocol, dataset, report))


def _of_lists(document: dict[str, Any], train: Dataset, held_out: HeldOut, lists: list[Lists]) -> dict[str, Any]:
    """What the recommended lists add to a document: `seeds` with `beyond`, its mean, and `calibration` of all seeds."""
    if not lists:
        return {}
    each = [beyond.summary(one.films, train) for one in lists]
    added: dict[str, Any] = {
        "seeds": [run | {"beyond": _rounded(figures)} for run, figures in zip(document["seeds"], each, strict=True)],
        "beyond": _rounded({name: np.mean([figures[name] for figures in each]) for name in each[0]}),
    }
    chances = [one.chances for one in lists if one.chances is not None]
    if chances:
        films, targets = np.concatenate([one.films for one in lists]), np.tile(held_out.targets, len(lists))
        added["calibration"] = _all_rounded(calibration(films, np.concatenate(chances), targets))
    return added


def _seeds(variant: str, dataset_name: str) -> list[int]:
    trained = store.seeds(variant, dataset_name) if registry.get(variant).shipped else []
    return trained or [0]


def _common_config(variant: str, models: list[Recommender]) -> dict[str, Any]:
    """The settings that all seeds share; means over different settings would describe no model."""
    configs = [asdict(model.config) for model in models]
    if any(config != configs[0] for config in configs):
        raise EvaluationError(f"the seeds of {variant} were trained with different settings; choose some with --seeds")
    return configs[0]


def _document(
    variant: str, dataset: Dataset, protocol: Protocol, config: dict[str, Any], found: dict[int, np.ndarray]
) -> dict[str, Any]:
    """The part of a result that comes out the same each time; `found` holds the ranks (B,) by seed."""
    cls = registry.get(variant)
    measured = {seed: summary(seed_ranks) for seed, seed_ranks in found.items()}
    table = {name: [metrics[name] for metrics in measured.values()] for name in results.METRICS}
    return {
        "variant": variant,
        "model": cls.__name__,
        "title": cls.title,
        "family": cls.family,
        "paper": cls.paper,
        "dataset": dataset.name,
        "protocol": {"name": protocol.name, **protocol.rules_on(dataset)},
        "fingerprint": dataset.fingerprint,
        "config": config,
        "seeds": [{"seed": seed, "metrics": _rounded(metrics)} for seed, metrics in measured.items()],
        "mean": _rounded({name: np.mean(values) for name, values in table.items()}),
        "std": _rounded({name: np.std(values, ddof=1) for name, values in table.items()} if len(found) > 1 else {}),
        "interval": _all_rounded(certainty.intervals(np.array(list(found.values())))),
    }


def _rounded(metrics: dict[str, Any]) -> dict[str, float]:
    return {name: round(float(value), 6) for name, value in metrics.items()}


def _all_rounded(value: Any) -> Any:
    """The same for numbers in dicts and lists."""
    if isinstance(value, dict):
        return {name: _all_rounded(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_all_rounded(inner) for inner in value]
    return round(float(value), 6)


def _circumstances(models: dict[int, Recommender], seconds: float) -> dict[str, Any]:
    """What may differ when the same evaluation is run again; `seconds` includes loading, and a fit where it was due."""
    return {
        "device": ", ".join(sorted({str(getattr(model, "device", "cpu")) for model in models.values()})),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "threads": os.environ.get("OMP_NUM_THREADS", "all"),
        "seconds": round(seconds, 1),
        "versions": machine.versions(),
        "commit": machine.commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }
