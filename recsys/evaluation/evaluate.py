"""Rank the held-out items with a trained model and write the result document.

Shapes: S seeds, B queries. With `Protocol.n_given`, the ranks (S, B) are (S, users, ORDERS_PER_USER, MAX_RELEVANT).
"""

import json
import time
from collections.abc import Sequence
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
from recsys.ranking.metrics import METRICS, summary
from recsys.training import distributed


class EvaluationError(RecsysError):
    """An evaluation would give misleading figures. The message says how to avoid that."""


@dataclass(frozen=True)
class SeedEvaluation:
    """The model of a seed, and its ranks and lists for the held-out items."""

    seed: int
    model: Model
    split: Split
    held_out: HeldOut
    held_out_ranks: HeldOutRanks


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
    """Evaluate a recommender with one or more seeds, write the result document and return it.

    Without `seeds`, all seeds trained on this machine are evaluated, or the shipped seed if there are none. Models
    without training use seed 0. Part "test" writes the document to the home folder and, if `ship`, to assets/. Part
    "valid" is for the comparison of settings and writes nothing. With `add`, the stored result keeps its other seeds.

    Raises:
        EvaluationError: The figures would mislead, such as validation figures of a model fitted on validation items.
        ResultError: `add` is set, but there is no stored result.
        RecsysError: The recommender, the protocol, the data set or a checkpoint cannot be used.
    """
    start = time.perf_counter()
    check(tuple[Seed, ...], seeds=tuple(seeds or ()))
    protocol = protocols.get(protocol) if isinstance(protocol, str) else protocol
    recommender = registry.get(variant_name)
    if not seeds and recommender.needs_training:
        seeds = checkpoints.seeds(variant_name, dataset.name, protocol.splitting)
    models = {
        seed: checkpoints.load_or_fit(variant_name, dataset, seed, report, protocol.splitting, reject_stale=True)
        for seed in seeds or [0]
    }
    if part == "valid" and any(model.is_fitted_on_validation for model in models.values()):
        text = (
            "the weights of {variant_name} were fitted on the validation films, so its figures on them would be too "
            "high; measure it on the test films"
        )
        raise EvaluationError(text, variant_name=variant_name)
    document = _identifying_fields(recommender, list(models.values()), dataset, protocol)
    evaluations = []
    for seed, model in models.items():
        split = protocol.split(dataset, seed)
        held_out = split.test if part == "test" else split.valid
        held_out_ranks = rank_held_out(model, held_out, protocol, dataset, report, seed)
        evaluations.append(SeedEvaluation(seed, model, split, held_out, held_out_ranks))
    ranks = np.array([evaluation.held_out_ranks.ranks for evaluation in evaluations])  # (S, B)
    document |= _accuracy_fields(list(models), ranks)
    document |= _list_metric_fields(evaluations, document["seeds"])
    if protocol.is_standard_task and all(model.predicts_ratings for model in models.values()):
        runs = [(evaluation.model, evaluation.split, evaluation.held_out) for evaluation in evaluations]
        document["stars"] = _rounded(rating_errors.summary(runs, dataset))
    document["run"] = _run_fields(evaluations, variant_name, dataset, protocol, time.perf_counter() - start)
    if part == "test" and add:
        document, ranks = _with_stored_seeds(document, ranks)
    if part == "test" and distributed.rank() == 0:
        results.write(document, ranks)
        if ship:
            results.ship(dataset.name, protocol.name, variant_name)
    return document


def _identifying_fields(
    recommender: Recommender, models: Sequence[Model], dataset: Dataset, protocol: Protocol
) -> dict[str, Any]:
    """Return the fields that identify the recommender, the data and the protocol.

    Raises EvaluationError if the seeds differ in settings or training data, because a mean would be meaningless.
    """
    configs = [to_document(model.config) for model in models]
    if any(config != configs[0] for config in configs):
        text = "the seeds of {variant_name} were trained with different settings; choose seeds with --seeds"
        raise EvaluationError(text, variant_name=recommender.name)
    added_datasets = {model.added_dataset for model in models}  # "": trained on `dataset` alone
    if len(added_datasets) > 1:
        raise EvaluationError("some of the seeds were also trained on another data set; choose seeds with --seeds")
    uses_credits = any(model.uses_credits for model in models)
    optional = {"also": added_datasets.pop(), "details": dataset.catalog.details.fingerprint if uses_credits else ""}
    return {
        "variant": recommender.name,
        "model": recommender.model_class.__name__,
        "title": recommender.title,
        "family": recommender.family,
        "paper": recommender.paper,
        "dataset": dataset.name,
        "protocol": {"name": protocol.name, **protocol.rules_on(dataset)},
        "fingerprint": dataset.fingerprint,
        "data_sha256": dataset.full_fingerprint,
        "config": configs[0],
        **{name: value for name, value in optional.items() if value},
    }


def _accuracy_fields(seeds: Sequence[int], ranks: np.ndarray) -> dict[str, Any]:
    """Return the fields that are computed from the ranks (S, B) of seeds (S,): metrics, mean, deviation, intervals."""
    metrics = [summary(seed_ranks) for seed_ranks in ranks]
    by_name = {name: [row[name] for row in metrics] for name in METRICS}
    return {
        "users": ranks.shape[1],
        "seeds": [{"seed": seed, "metrics": _rounded(row)} for seed, row in zip(seeds, metrics, strict=True)],
        "mean": _rounded({name: np.mean(values) for name, values in by_name.items()}),
        "std": _rounded({name: np.std(values, ddof=1) for name, values in by_name.items()} if len(ranks) > 1 else {}),
        "interval": _rounded(significance.intervals(ranks)),
    }


def _list_metric_fields(evaluations: Sequence[SeedEvaluation], seed_rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the fields that are computed from the recommended lists: `seeds`, `beyond` and `calibration`.

    `seeds` contains the `seed_rows` with "beyond". Without lists, as in sampled protocols, {} is returned.
    """
    lists = [e.held_out_ranks.lists for e in evaluations if e.held_out_ranks.lists is not None]
    if not lists:
        return {}
    rows = [
        seed_row | {"beyond": _rounded(list_metrics.beyond_accuracy(items, evaluation.split.train))}
        for seed_row, evaluation, items in zip(seed_rows, evaluations, lists, strict=True)
    ]
    document = {"seeds": rows, **_mean_list_metrics(rows)}
    probabilities = [e.held_out_ranks.probabilities for e in evaluations if e.held_out_ranks.probabilities is not None]
    if probabilities:
        targets = np.concatenate([evaluation.held_out.targets for evaluation in evaluations])
        calibration = list_metrics.calibration(np.concatenate(lists), np.concatenate(probabilities), targets)
        document["calibration"] = {"over": results.UNSEEN_ITEMS, **_rounded(calibration)}
    return document


def _mean_list_metrics(seed_rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return {"beyond": means over seeds}, or {} if the seeds have no list metrics."""
    rows = [seed_row["beyond"] for seed_row in seed_rows if "beyond" in seed_row]
    return {"beyond": _rounded({name: np.mean([row[name] for row in rows]) for name in rows[0]})} if rows else {}


def _run_fields(
    evaluations: Sequence[SeedEvaluation], variant_name: str, dataset: Dataset, protocol: Protocol, seconds: float
) -> dict[str, Any]:
    """Return the field `run`, which may differ when the evaluation is repeated.

    `seconds` includes loading the models, and fitting the models without a checkpoint. "trained" has the training time
    of each seed, if it is known.
    """
    trained = []
    for evaluation in evaluations:
        notes = checkpoints.notes(variant_name, dataset.name, protocol.splitting, evaluation.seed)
        if training_time := tables.training_time(notes):
            trained.append({"seed": evaluation.seed, **training_time})
    computer = machine.describe()
    return {
        "device": ", ".join(sorted({evaluation.model.device for evaluation in evaluations})),
        "machine": f"{computer['system']}, {computer['cores']} cores",
        "seconds": round(seconds, 1),
        "versions": machine.versions(),
        **{name: computer[name] for name in ("threads", "commit", "date")},
        **({"trained": trained} if trained else {}),
    }


def _with_stored_seeds(document: dict[str, Any], ranks: np.ndarray) -> tuple[dict[str, Any], np.ndarray]:
    """Return the document and ranks (S, B) of the new seeds and the stored seeds together, in ascending order.

    `calibration` and `stars` cannot be combined, so they are of the new seeds alone. `run` contains the stored run as
    "earlier". Raises ResultError as `results.load`, and EvaluationError if stored data or settings differ.
    """
    dataset, protocol, variant = document["dataset"], document["protocol"]["name"], document["variant"]
    stored = results.load(dataset, protocol, variant)
    stored.setdefault("data_sha256", document["data_sha256"])  # results of older versions lack this field
    if _identity(stored) != _identity(document):
        command = recsys_command("evaluate", variant, "--dataset", dataset, "--protocol", protocol)
        text = "the stored result of {variant} has other data or settings; measure all seeds"
        raise EvaluationError(text, command, variant=variant)
    new_seeds = {row["seed"] for row in document["seeds"]}
    stored_ranks = zip(stored["seeds"], results.ranks(dataset, protocol, variant), strict=True)
    pairs = [(row, seed_ranks) for row, seed_ranks in stored_ranks if row["seed"] not in new_seeds]
    pairs = sorted([*pairs, *zip(document["seeds"], ranks, strict=True)], key=lambda pair: pair[0]["seed"])
    seed_rows, all_ranks = [row for row, _ in pairs], np.array([seed_ranks for _, seed_ranks in pairs])
    trained = [row for row in stored["run"].get("trained", []) if row["seed"] not in new_seeds]
    trained += document["run"].get("trained", [])
    run = document["run"] | {"earlier": stored["run"]}
    if trained:
        run["trained"] = sorted(trained, key=lambda row: row["seed"])
    combined = document | _accuracy_fields([row["seed"] for row in seed_rows], all_ranks)
    return combined | {"seeds": seed_rows, "run": run} | _mean_list_metrics(seed_rows), all_ranks


def _identity(document: dict[str, Any]) -> str:
    """Return a text that two results of a recommender have in common if settings, data and users are equal."""
    fields = {name: document.get(name) for name in ("data_sha256", "config", "also", "details")}
    return json.dumps([results.population_key(document), fields], sort_keys=True)


def _rounded(value: Any) -> Any:
    """Round the numbers of nested dicts and lists to six digits."""
    if isinstance(value, dict):
        return {name: _rounded(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(inner) for inner in value]
    return round(float(value), 6)
