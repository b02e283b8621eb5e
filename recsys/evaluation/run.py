"""Rank the held-out films with a trained model and write down what came out.

Shapes: S seeds, B queries, I items.
"""

import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np

from recsys import machine, paths, store
from recsys.data.schema import Dataset, HeldOut, Queries
from recsys.data.split import leave_one_out, split
from recsys.evaluation import protocols, results
from recsys.evaluation.metrics import ScoreError, summary, target_ranks
from recsys.evaluation.protocols import Protocol
from recsys.models import registry
from recsys.models.base import Recommender
from recsys.training import distributed
from recsys.training.run import ignore

Report = Callable[[dict[str, Any]], None]


class EvaluationError(ValueError):
    """An evaluation that would not be honest; the message says what to do instead."""


def ranks(
    model: Recommender,
    held_out: HeldOut,
    protocol: Protocol,
    dataset: Dataset,
    report: Report = ignore,
    batch: int = 256,
) -> np.ndarray:
    """(B,) int rank of each held-out film, 1 = best; a users × films matrix never exists.

    `dataset` is the whole set, from which the sampled protocols take training counts and full histories.
    Processes started by `torchrun` rank a share each and all get the whole.
    Reports {"stage": "rank", "done", "total"} after each batch. Raises ScoreError when the scores are not (B, I) finite
    numbers, ProtocolError when the data is too small for the protocol.
    """
    counts = leave_one_out(dataset).train.counts if protocol.sampled else np.empty(0)
    found = np.zeros(len(held_out), np.int64)
    for start in distributed.share(np.arange(0, len(held_out), batch)):
        part = slice(start, start + batch)
        queries, targets = held_out.queries[part], held_out.targets[part]
        scores = _scores(model, queries, dataset.n_items)
        if protocol.sampled:
            found[part] = _sampled_ranks(scores, queries, targets, protocol, dataset, counts)
        else:
            found[part] = target_ranks(scores, targets, queries.histories)
        report({"stage": "rank", "done": min(int(start) + batch, len(held_out)), "total": len(held_out)})
    return distributed.combined(found)


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
    held_out = getattr(split(dataset, protocol), part)
    started = time.perf_counter()
    chosen = seeds or _seeds(variant, paths.training(dataset.name, protocol))
    models = {seed: store.ready(variant, dataset, seed, report, protocol) for seed in chosen}
    config = _common_config(variant, list(models.values()))
    found = {seed: ranks(model, held_out, rules, dataset, report) for seed, model in models.items()}
    document = _document(variant, dataset, rules, config, found)
    document["run"] = _circumstances(models, time.perf_counter() - started)
    if part == "test" and distributed.rank() == 0:
        results.write(document, np.array(list(found.values())))
        if ship:
            results.ship(dataset.name, protocol, variant)
    return document


def _scores(model: Recommender, queries: Queries, n_items: int) -> np.ndarray:
    """(B, I) scores that ranks can be taken from, or a ScoreError."""
    scores = model.score(queries)
    if np.shape(scores) != (len(queries), n_items):
        raise ScoreError(f"{model.title} returned scores of shape {np.shape(scores)}, not {(len(queries), n_items)}")
    if not np.isfinite(scores).all():
        raise ScoreError(f"{model.title} returned NaN or infinite scores; train it again with a lower learning rate")
    return scores


def _sampled_ranks(
    scores: np.ndarray, queries: Queries, targets: np.ndarray, protocol: Protocol, dataset: Dataset, counts: np.ndarray
) -> np.ndarray:
    """(B,) rank of each target among itself and its user's sampled films."""
    assert queries.users is not None, "held-out queries know their users"
    histories = [dataset.history(user) for user in queries.users]
    films = np.column_stack([targets, protocol.candidates(counts, histories, queries.users)])  # (B, 1 + N)
    nothing_seen = [np.empty(0, np.int64)] * len(films)
    return target_ranks(np.take_along_axis(scores, films, 1), np.zeros(len(films), np.int64), nothing_seen)


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
    }


def _rounded(metrics: dict[str, Any]) -> dict[str, float]:
    return {name: round(float(value), 6) for name, value in metrics.items()}


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
