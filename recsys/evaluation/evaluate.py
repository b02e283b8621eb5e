"""Rank the held-out items with a trained model and write the result document.

Shapes: S seeds, B queries, I items.
"""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from recsys import checkpoints, machine
from recsys.config import Seed, check, to_document
from recsys.data.dataset import Dataset, HeldOut, Split
from recsys.errors import RecsysError, recsys_command
from recsys.evaluation import list_metrics, protocols, rating_errors, results, significance, tables
from recsys.evaluation.protocols import FULL, Protocol
from recsys.evaluation.rank import HeldOutRanks, rank_held_out
from recsys.models import registry
from recsys.models.base import Model
from recsys.models.registry import Recommender
from recsys.progress import ProgressCallback, no_progress
from recsys.ranking.metrics import summary
from recsys.training import distributed


class EvaluationError(RecsysError):
    """An evaluation would mislead. The message contains the alternative."""


@dataclass(frozen=True)
class Run:
    """The evaluation of one seed."""

    seed: int
    model: Model
    split: Split
    held_out: HeldOut
    result: HeldOutRanks


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
    """Evaluate a recommender with one or more seeds, and write and return the result document.

    Without `seeds`, all seeds trained on this machine are evaluated, else the shipped one. Models without training use
    seed 0. Part "test" writes the document to the home folder and, if `ship`, to assets/. Part "valid" writes nothing
    and serves to compare settings. With `add`, the other seeds of the stored result are kept.

    Raises:
        EvaluationError: The figures would mislead, such as validation figures of a model fitted on validation items.
        ResultError: `add` is set, but there is no stored result.
        RecsysError: The recommender, the protocol, the data set or a checkpoint cannot be used.
    """
    check(tuple[Seed, ...], seeds=tuple(seeds or ()))
    protocol = protocols.get(protocol) if isinstance(protocol, str) else protocol
    variant, started = registry.get(variant_name), time.perf_counter()
    if not seeds and variant.needs_training:
        seeds = checkpoints.seeds(variant_name, dataset.name, protocol.splitting)
    models = {
        seed: checkpoints.load_or_fit(variant_name, dataset, seed, report, splitting=protocol.splitting, measuring=True)
        for seed in seeds or [0]
    }
    if part == "valid" and any(model.is_fitted_on_validation for model in models.values()):
        raise EvaluationError(
            f"the weights of {variant_name} were fitted on the validation films, so its figures on them would be too "
            "high; measure it on the test films"
        )
    config = _shared_config(variant_name, models.values())
    runs = []
    for seed, model in models.items():
        split = protocol.split(dataset, seed)
        held_out = split.test if part == "test" else split.valid
        result = rank_held_out(model, held_out, protocol, dataset, seed, report)
        runs.append(Run(seed, model, split, held_out, result))
    document = _labels(variant, dataset, protocol, config) | _learnt_from(models.values(), dataset)
    document |= _accuracy({run.seed: run.result.ranks for run in runs})
    document |= _list_metrics(runs, document["seeds"])
    if not protocol.n_candidates and all(model.predicts_ratings for model in models.values()):
        errors = rating_errors.summary([(run.model, run.split, run.held_out) for run in runs], dataset)
        document["stars"] = _rounded(errors)
    document["run"] = _circumstances(runs, variant_name, dataset, protocol, time.perf_counter() - started)
    ranks = np.array([run.result.ranks for run in runs])
    if part == "test" and add:
        document, ranks = _add_seeds(document, ranks)
    if part == "test" and distributed.rank() == 0:
        results.write(document, ranks)
        if ship:
            results.ship(dataset.name, protocol.name, variant_name)
    return document


def _shared_config(variant_name: str, models: Iterable[Model]) -> dict[str, Any]:
    """Return the settings of all seeds. Raises EvaluationError if they differ, because a mean would be meaningless."""
    config, *others = [to_document(model.config) for model in models]
    if any(other != config for other in others):
        raise EvaluationError(
            f"the seeds of {variant_name} were trained with different settings; choose some with --seeds"
        )
    return config


def _labels(variant: Recommender, dataset: Dataset, protocol: Protocol, config: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that identify the recommender, the data set and the protocol."""
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


def _learnt_from(models: Iterable[Model], dataset: Dataset) -> dict[str, str]:
    """Return `also`, a second training data set, and `details`, the fingerprint of credits. Raises EvaluationError."""
    second_sets = {model.also for model in models}
    if len(second_sets) > 1:
        raise EvaluationError("some of the seeds learnt from another set too; choose some with --seeds")
    has_credits = any(model.uses_credits for model in models)
    fields = {"also": second_sets.pop(), "details": dataset.catalog.details.fingerprint if has_credits else ""}
    return {name: value for name, value in fields.items() if value}


def _accuracy(ranks: Mapping[int, np.ndarray]) -> dict[str, Any]:
    """Return the fields computed from the ranks (B,) of each seed: metrics per seed, mean, deviation, intervals."""
    by_seed = {seed: summary(of_seed) for seed, of_seed in ranks.items()}
    table = {name: [metrics[name] for metrics in by_seed.values()] for name in results.METRICS}
    stacked = np.array(list(ranks.values()))  # (S, B)
    return {
        "users": stacked.shape[1],
        "seeds": [{"seed": seed, "metrics": _rounded(metrics)} for seed, metrics in by_seed.items()],
        "mean": _rounded({name: np.mean(values) for name, values in table.items()}),
        "std": _rounded({name: np.std(values, ddof=1) for name, values in table.items()} if len(ranks) > 1 else {}),
        "interval": _rounded(significance.intervals(stacked)),
    }


def _list_metrics(runs: Sequence[Run], seeds: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the fields computed from the lists: `seeds` with `beyond`, its mean, and `calibration` over all seeds."""
    lists = [run.result.lists for run in runs if run.result.lists is not None]
    if not lists:
        return {}
    beyond = [list_metrics.beyond_accuracy(items, run.split.train) for items, run in zip(lists, runs, strict=True)]
    seeds = [fields | {"beyond": _rounded(figures)} for fields, figures in zip(seeds, beyond, strict=True)]
    document = {"seeds": seeds} | _mean_beyond(seeds)
    probabilities = [run.result.probabilities for run in runs if run.result.probabilities is not None]
    if probabilities:
        targets = np.concatenate([run.held_out.targets for run in runs])
        figures = list_metrics.calibration(np.concatenate(lists), np.concatenate(probabilities), targets)
        document["calibration"] = {"over": results.UNSEEN, **_rounded(figures)}
    return document


def _mean_beyond(seeds: list[dict[str, Any]]) -> dict[str, Any]:
    """Return {"beyond": means over seeds}, or {} if the seeds have no list metrics."""
    rows = [fields["beyond"] for fields in seeds if "beyond" in fields]
    return {"beyond": _rounded({name: np.mean([row[name] for row in rows]) for name in rows[0]})} if rows else {}


def _circumstances(
    runs: Sequence[Run], variant_name: str, dataset: Dataset, protocol: Protocol, seconds: float
) -> dict[str, Any]:
    """Return the field `run`, which may differ when the evaluation is repeated.

    `seconds` includes loading, and fitting if a model had to be fitted. "trained" lists the seeds with a training time.
    """
    host, names = machine.describe(), (variant_name, dataset.name, protocol.splitting)
    times = [{"seed": run.seed, **tables.training_time(checkpoints.notes(*names, run.seed))} for run in runs]
    trained = [fields for fields in times if "seconds" in fields]
    return {
        "device": ", ".join(sorted({run.model.device for run in runs})),
        "machine": f"{host['system']}, {host['cores']} cores",
        "seconds": round(seconds, 1),
        "versions": machine.versions(),
        **{name: host[name] for name in ("threads", "commit", "date")},
        **({"trained": trained} if trained else {}),
    }


def _add_seeds(document: dict[str, Any], ranks: np.ndarray) -> tuple[dict[str, Any], np.ndarray]:
    """Return a document and ranks (S, B) with the other seeds of the stored result, seeds in ascending order.

    `calibration` and `stars` cannot be combined, so they stay those of the seeds evaluated now. `run` contains the
    stored run as "earlier". Raises EvaluationError, ResultError.
    """
    dataset, protocol, variant = document["dataset"], document["protocol"]["name"], document["variant"]
    stored = {"data_sha256": document["data_sha256"]} | results.load(dataset, protocol, variant)  # old results lack it
    if _identity(stored) != _identity(document):
        again = recsys_command("evaluate", variant, "--dataset", dataset, "--protocol", protocol)
        raise EvaluationError(f"the result on file of {variant} is of other data or settings; measure all seeds", again)
    seeds = (*stored["seeds"], *document["seeds"])
    all_ranks = zip(seeds, (*results.ranks(dataset, protocol, variant), *ranks), strict=True)
    by_seed = {fields["seed"]: (fields, of_seed) for fields, of_seed in all_ranks}  # new seeds replace stored ones
    by_seed = dict(sorted(by_seed.items()))
    joined = document | _accuracy({seed: of_seed for seed, (_, of_seed) in by_seed.items()})
    joined["seeds"] = [fields for fields, _ in by_seed.values()]
    new = {fields["seed"] for fields in document["seeds"]}
    times = [fields for fields in stored["run"].get("trained", []) if fields["seed"] not in new]
    times = sorted([*times, *document["run"].get("trained", [])], key=lambda fields: fields["seed"])
    trained = {"trained": times} if times else {}
    joined |= _mean_beyond(joined["seeds"]) | {"run": document["run"] | {"earlier": stored["run"]} | trained}
    return joined, np.array([of_seed for _, of_seed in by_seed.values()])


def _identity(document: dict[str, Any]) -> str:
    """Return a text that is equal for two results of the same recommender, settings and data."""
    facts = {name: document.get(name) for name in ("data_sha256", "config", "also", "details")}
    return json.dumps([results.population_key(document), facts], sort_keys=True)


def _rounded(value: Any) -> Any:
    """Round the numbers of nested dicts and lists to six digits."""
    if isinstance(value, dict):
        return {name: _rounded(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(inner) for inner in value]
    return round(float(value), 6)
