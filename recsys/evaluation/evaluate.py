"""Rank the held-out items with a trained model and write down what came out.

Shapes: S seeds, B queries, I items.
"""

import json
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np

from recsys import checkpoints, machine
from recsys.config import Seed, check, to_document
from recsys.data.dataset import Dataset, HeldOut, Split
from recsys.errors import RecsysError, recsys_command
from recsys.evaluation import beyond, costs, protocols, rating_errors, results, significance
from recsys.evaluation.calibration import calibration
from recsys.evaluation.protocols import FULL, Protocol
from recsys.evaluation.rank import Lists, ranks, ranks_and_lists
from recsys.models import registry
from recsys.models.base import Model
from recsys.models.registry import Recommender
from recsys.progress import ProgressCallback, no_progress
from recsys.ranking.metrics import summary
from recsys.training import distributed

__all__ = ["EvaluationError", "Measured", "evaluate", "ranks"]


class EvaluationError(RecsysError):
    """An evaluation whose figures would mislead; the message says what to do instead."""


@dataclass(frozen=True)
class Measured:
    """What was measured of one seed."""

    ranks: np.ndarray  # (B,)
    lists: Lists | None  # None: a sampled protocol, under which nothing is recommended


def evaluate(
    variant_name: str,
    dataset: Dataset,
    protocol: Protocol | str = FULL,
    seeds: Sequence[int] | None = None,
    part: Literal["test", "valid"] = "test",
    ship: bool = False,
    report: ProgressCallback = no_progress,
    add: bool = False,
) -> dict[str, Any]:
    """Measure a model, one run per seed, and return the result document (schema: `results`).

    Args:
        variant_name: The recommender.
        dataset: The data set.
        protocol: The protocol or its name.
        seeds: The seeds. None: all that were trained on this machine, else the shipped one; 0 for models that are
            fitted on first use.
        part: "test" writes the document to the home folder. "valid" writes nothing, for choosing between settings.
        ship: Also write the document to assets/.
        report: Called with progress events.
        add: Keep the seeds of the stored result, if its settings and data are the same and they are not measured now.

    Raises:
        EvaluationError: If the figures would mislead, such as validation figures of weights fitted on validation.
        UnknownModelError, ConfigError, StoreError, ScoreError, ProtocolError, DataError: As named by their messages.
        ResultError: If `add` finds no stored result.
    """
    check(tuple[Seed, ...], seeds=tuple(seeds or ()))
    protocol = protocols.get(protocol) if isinstance(protocol, str) else protocol
    variant = registry.get(variant_name)
    started = time.perf_counter()
    models = _models(variant_name, dataset, protocol, seeds, report)
    if part == "valid" and any(model.is_fitted_on_validation for model in models.values()):
        raise EvaluationError(
            f"the weights of {variant_name} were fitted on the validation films, so its figures on them would be too "
            "high; measure it on the test films"
        )
    config = _common_config(variant_name, list(models.values()))
    splits = {seed: protocol.split(dataset, seed) for seed in models}
    held_out = {seed: split.test if part == "test" else split.valid for seed, split in splits.items()}
    found = {seed: _measure(model, held_out[seed], protocol, dataset, report) for seed, model in models.items()}
    document = _labels(variant, dataset, protocol, config) | _also(list(models.values()))
    document |= _makers(list(models.values()), dataset)
    document |= _accuracy({seed: one.ranks for seed, one in found.items()})
    document |= _of_lists(document, list(splits.values()), list(held_out.values()), list(found.values()))
    if not protocol.sampled and all(model.predicts_ratings for model in models.values()):
        parts = (list(models.values()), list(splits.values()), list(held_out.values()))
        document["stars"] = _all_rounded(rating_errors.summary(*parts, dataset))
    document["run"] = _circumstances(models, time.perf_counter() - started)
    document["run"] |= _trained(variant_name, dataset.name, protocol, list(models))
    hidden_ranks = np.array([one.ranks for one in found.values()])
    if part == "test" and add:
        document, hidden_ranks = _added(document, hidden_ranks)
    if part == "test" and distributed.rank() == 0:
        results.write(document, hidden_ranks)
        if ship:
            results.ship(dataset.name, protocol.name, variant_name)
    return document


def _models(
    variant_name: str, dataset: Dataset, protocol: Protocol, seeds: Sequence[int] | None, report: ProgressCallback
) -> dict[int, Model]:
    """Models by seed, learnt from this protocol's training part of this very data."""
    if not seeds and registry.get(variant_name).needs_training:
        seeds = checkpoints.seeds(variant_name, dataset.name, protocol.splitting)
    return {
        seed: checkpoints.load_or_fit(variant_name, dataset, seed, report, splitting=protocol.splitting, measuring=True)
        for seed in seeds or [0]
    }


def _measure(
    model: Model, held_out: HeldOut, protocol: Protocol, dataset: Dataset, report: ProgressCallback
) -> Measured:
    """One pass over the held-out queries."""
    if protocol.sampled:
        return Measured(ranks(model, held_out, protocol, dataset, report), None)
    return Measured(*ranks_and_lists(model, held_out, dataset, report))


def _of_lists(
    document: dict[str, Any], splits: list[Split], held_out: list[HeldOut], found: list[Measured]
) -> dict[str, Any]:
    """What the recommended lists add to a document: `seeds` with `beyond`, its mean, and `calibration` of all seeds.

    splits, held_out, found: of each seed, in the order of the document's `seeds`.
    """
    lists = [one.lists for one in found if one.lists]
    if not lists:
        return {}
    each = [beyond.summary(one.items, split.train) for one, split in zip(lists, splits, strict=True)]
    seeds = [run | {"beyond": _rounded(figures)} for run, figures in zip(document["seeds"], each, strict=True)]
    added: dict[str, Any] = {"seeds": seeds} | _mean_beyond(seeds)
    probabilities = [one.probabilities for one in lists if one.probabilities is not None]
    if probabilities:
        items = np.concatenate([one.items for one in lists])
        targets = np.concatenate([part.targets for part in held_out])
        figures = calibration(items, np.concatenate(probabilities), targets)
        added["calibration"] = {"over": results.UNSEEN, **_all_rounded(figures)}
    return added


def _added(document: dict[str, Any], measured: np.ndarray) -> tuple[dict[str, Any], np.ndarray]:
    """A document with the further seeds of the one on file, and the ranks (S, B) of all seeds, ascending.

    measured: (S, B) ranks of the document's own. What cannot be put together from figures and ranks, `calibration` and
    `stars`, remains that of the seeds measured now; `run` names the earlier one. Raises EvaluationError, ResultError.
    """
    dataset, protocol, variant = document["dataset"], document["protocol"]["name"], document["variant"]
    earlier, kept = results.load(dataset, protocol, variant), results.ranks(dataset, protocol, variant)
    known = {"data_sha256": document["data_sha256"]} | earlier  # which older results lack
    if _made_of(known) != _made_of(document):
        again = recsys_command("evaluate", variant, "--dataset", dataset, "--protocol", protocol)
        raise EvaluationError(f"the result on file of {variant} is of other data or settings; measure all seeds", again)
    runs = {run["seed"]: run for run in (*earlier["seeds"], *document["seeds"])}
    pairs = zip((*earlier["seeds"], *document["seeds"]), (*kept, *measured), strict=True)
    by_seed = {run["seed"]: own for run, own in pairs}
    joined = document | _accuracy({seed: by_seed[seed] for seed in sorted(runs)})
    joined["seeds"] = [runs[seed] for seed in sorted(runs)]
    joined |= _mean_beyond(joined["seeds"])
    joined["run"] = document["run"] | {"earlier": earlier["run"]} | _all_trained(earlier, document)
    return joined, np.array([by_seed[seed] for seed in sorted(runs)])


def _all_trained(earlier: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    """`trained` of two results' seeds together; a seed that both have was measured anew, so the later one counts."""
    again = {run["seed"] for run in document["seeds"]}
    kept = [one for one in earlier["run"].get("trained", []) if one["seed"] not in again]
    times = sorted([*kept, *document["run"].get("trained", [])], key=lambda one: one["seed"])
    return {"trained": times} if times else {}


def _made_of(document: dict[str, Any]) -> str:
    """What must be equal for two results to be of the same model on the same data."""
    facts = {name: document.get(name) for name in ("data_sha256", "config", "also", "details")}
    return json.dumps([results.population_key(document), facts], sort_keys=True)


def _mean_beyond(seeds: list[dict[str, Any]]) -> dict[str, Any]:
    """`beyond` of a document whose `seeds` have one each; nothing where they have none."""
    each = [run["beyond"] for run in seeds if "beyond" in run]
    return (
        {"beyond": _rounded({name: np.mean([figures[name] for figures in each]) for name in each[0]})} if each else {}
    )


def _common_config(variant_name: str, models: list[Model]) -> dict[str, Any]:
    """The settings that all seeds share; means over different settings would describe no model."""
    configs = [to_document(model.config) for model in models]
    if any(config != configs[0] for config in configs):
        raise EvaluationError(
            f"the seeds of {variant_name} were trained with different settings; choose some with --seeds"
        )
    return configs[0]


def _also(models: list[Model]) -> dict[str, str]:
    """Whose histories were learnt from besides those of the set; the seeds must agree. Nothing where there are none."""
    others = {model.also for model in models}
    if len(others) > 1:
        raise EvaluationError("some of the seeds learnt from another set too; choose some with --seeds")
    return {"also": name} if (name := others.pop()) else {}


def _makers(models: list[Model], dataset: Dataset) -> dict[str, str]:
    """What was known of who made the films (its fingerprint), where that was learnt from; else nothing."""
    known = dataset.catalog.details.fingerprint
    return {"details": known} if known and any(model.uses_credits for model in models) else {}


def _labels(variant: Recommender, dataset: Dataset, protocol: Protocol, config: dict[str, Any]) -> dict[str, Any]:
    """What was measured, on what, and how."""
    return {
        "variant": variant.name,
        "model": variant.model_class.__name__,
        "title": variant.title,
        "family": variant.family,
        "paper": variant.paper,
        "dataset": dataset.name,
        "protocol": {"name": protocol.name, **protocol.rules_on(dataset)},
        "fingerprint": dataset.fingerprint,
        "data_sha256": dataset.full_fingerprint,
        "config": config,
    }


def _accuracy(found: dict[int, np.ndarray]) -> dict[str, Any]:
    """What follows from the ranks (B,) by seed: users, metrics of each seed, mean and std over seeds, interval."""
    measured = {seed: summary(own) for seed, own in found.items()}
    table = {name: [metrics[name] for metrics in measured.values()] for name in results.METRICS}
    together = np.array(list(found.values()))  # (S, B)
    return {
        "users": together.shape[1],
        "seeds": [{"seed": seed, "metrics": _rounded(metrics)} for seed, metrics in measured.items()],
        "mean": _rounded({name: np.mean(values) for name, values in table.items()}),
        "std": _rounded({name: np.std(values, ddof=1) for name, values in table.items()} if len(found) > 1 else {}),
        "interval": _all_rounded(significance.intervals(together)),
    }


def _rounded(metrics: dict[str, Any]) -> dict[str, float]:
    return {name: round(float(value), 6) for name, value in metrics.items()}


def _all_rounded(value: Any) -> Any:
    """`_rounded` for numbers at any depth of dicts and lists."""
    if isinstance(value, dict):
        return {name: _all_rounded(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_all_rounded(inner) for inner in value]
    return round(float(value), 6)


def _circumstances(models: dict[int, Model], seconds: float) -> dict[str, Any]:
    """What may differ from run to run; `seconds` includes loading, and fitting where a model had to be fitted."""
    return {
        "device": ", ".join(sorted({model.device for model in models.values()})),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "threads": os.environ.get("OMP_NUM_THREADS", "all"),
        "seconds": round(seconds, 1),
        "versions": machine.versions(),
        "commit": machine.commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _trained(variant_name: str, dataset_name: str, protocol: Protocol, seeds: Sequence[int]) -> dict[str, Any]:
    """{"trained": [{"seed", "seconds", "hardware"}]}: how long seeds were trained and on what, where that is known."""
    notes = {seed: checkpoints.notes(variant_name, dataset_name, protocol.splitting, seed) for seed in seeds}
    times = [{"seed": seed, **took} for seed, own in notes.items() if (took := costs.time_of(own))]
    return {"trained": times} if times else {}
