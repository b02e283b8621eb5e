"""Rank the held-out items with a trained model and write the result document.

Shapes: S seeds, B queries. Ranks (S, B) have the shape (S, users, ORDERS_PER_USER, MAX_RELEVANT) if the protocol sets
`n_given`.
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
    """The result of an evaluation would be misleading."""


@dataclass(frozen=True)
class SeedEvaluation:
    """The model of a training seed, its split, and the ranks of the held-out items."""

    seed: int
    model: Model
    split: Split
    held_out: HeldOut
    held_out_ranks: HeldOutRanks


def evaluate(
    variant: str,
    dataset: Dataset,
    protocol: Protocol | str = FULL,
    seeds: Sequence[int] | None = None,
    part: Literal["test", "valid"] = "test",
    ship: bool = False,
    report: ProgressCallback = no_progress,
    add_to_stored: bool = False,
) -> dict[str, Any]:
    """Evaluate a recommender with one or more seeds, write the result document and return it.

    Without `seeds`, all seeds trained on this machine are evaluated. If there are none, the seed of the checkpoint in
    assets/ is evaluated. Models that need no training use seed 0. Part "test" writes the document to the home folder
    and, if `ship`, to assets/. Part "valid" is for the comparison of settings and writes nothing. With `add_to_stored`,
    the seeds are added to the stored result.

    Raises:
        EvaluationError: The result would be misleading, for example, because a model was fitted on validation items.
        ResultError: `add_to_stored` is set, but there is no stored result.
        RecsysError: The recommender, the protocol, the data set or a checkpoint cannot be used.
    """
    start = time.perf_counter()
    check(tuple[Seed, ...], seeds=tuple(seeds or ()))
    protocol = protocols.get(protocol) if isinstance(protocol, str) else protocol
    recommender = registry.get(variant)
    if not seeds and recommender.needs_training:
        seeds = checkpoints.seeds(variant, dataset.name, protocol.splitting)
    model_of_seed = {
        seed: checkpoints.load_or_fit(variant, dataset, seed, report, protocol.splitting, reject_stale=True)
        for seed in seeds or [0]
    }
    if part == "valid" and any(model.is_fitted_on_validation for model in model_of_seed.values()):
        text = (
            "the weights of {variant_name} were fitted on the validation films, so its figures on them would be too "
            "high; measure it on the test films"
        )
        raise EvaluationError(text, variant_name=variant)
    document = _identifying_fields(recommender, list(model_of_seed.values()), dataset, protocol)
    evaluations = []
    for seed, model in model_of_seed.items():
        split = protocol.split(dataset, seed)
        held_out = split.test if part == "test" else split.valid
        held_out_ranks = rank_held_out(model, held_out, protocol, dataset, report, seed)
        evaluations.append(SeedEvaluation(seed, model, split, held_out, held_out_ranks))
    ranks = np.array([evaluation.held_out_ranks.ranks for evaluation in evaluations])  # (S, B)
    document |= _accuracy_fields(list(model_of_seed), ranks)
    document |= _list_metric_fields(evaluations, document["seeds"])
    ratings_differ = np.ptp(dataset.interactions.rating) > 0  # in a data set without ratings, all are 1
    if ratings_differ and protocol.is_standard_task and all(model.predicts_ratings for model in model_of_seed.values()):
        seed_runs = [(evaluation.model, evaluation.split, evaluation.held_out) for evaluation in evaluations]
        document["stars"] = _round(rating_errors.summary(seed_runs, dataset))
    document["run"] = _run_fields(evaluations, variant, dataset, protocol, time.perf_counter() - start)
    if part == "test" and add_to_stored:
        document, ranks = _merge_stored_seeds(document, ranks)
    if part == "test" and distributed.rank() == 0:
        results.write(document, ranks)
        if ship:
            results.ship(dataset.name, protocol.name, variant)
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
    added_datasets = {model.added_dataset for model in models}  # "" for a model trained on `dataset` alone
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
    seed_metrics = [summary(seed_ranks) for seed_ranks in ranks]
    values_by_metric = {metric: [metrics[metric] for metrics in seed_metrics] for metric in METRICS}
    std = {metric: np.std(values, ddof=1) for metric, values in values_by_metric.items()} if len(ranks) > 1 else {}
    return {
        "users": ranks.shape[1],
        "seeds": [{"seed": seed, "metrics": _round(row)} for seed, row in zip(seeds, seed_metrics, strict=True)],
        "mean": _round({metric: np.mean(values) for metric, values in values_by_metric.items()}),
        "std": _round(std),
        "interval": _round(significance.intervals(ranks)),
    }


def _list_metric_fields(evaluations: Sequence[SeedEvaluation], seed_rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the fields that are computed from the recommended lists: `seeds`, `beyond` and `calibration`.

    `seeds` is a copy of `seed_rows`, in which each row also has "beyond". Returns {} if there are no lists, as in
    sampled protocols. Also returns {} if all lists are empty, because every user has watched all items.
    """
    all_ranks = [evaluation.held_out_ranks for evaluation in evaluations]
    lists = [ranks.lists for ranks in all_ranks if ranks.lists is not None]
    if not any((items >= 0).any() for items in lists):
        return {}
    rows = [
        seed_row | {"beyond": _round(list_metrics.beyond_accuracy(items, evaluation.split.train))}
        for seed_row, evaluation, items in zip(seed_rows, evaluations, lists, strict=True)
    ]
    document = {"seeds": rows, **_mean_list_metrics(rows)}
    probabilities = [ranks.probabilities for ranks in all_ranks if ranks.probabilities is not None]
    if probabilities:
        targets = np.concatenate([evaluation.held_out.targets for evaluation in evaluations])
        calibration = list_metrics.calibration(np.concatenate(lists), np.concatenate(probabilities), targets)
        document["calibration"] = {"over": results.UNSEEN_ITEMS, **_round(calibration)}
    return document


def _mean_list_metrics(seed_rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return {"beyond": means over seeds}, or {} if the seeds have no list metrics.

    A metric is left out if a seed lacks it. Seeds measured by an older version of the program lack newer metrics.
    """
    rows = [seed_row["beyond"] for seed_row in seed_rows if "beyond" in seed_row]
    if not rows:
        return {}
    metrics = [metric for metric in rows[0] if all(metric in row for row in rows)]
    return {"beyond": _round({metric: np.mean([row[metric] for row in rows]) for metric in metrics})}


def _run_fields(
    evaluations: Sequence[SeedEvaluation], variant: str, dataset: Dataset, protocol: Protocol, seconds: float
) -> dict[str, Any]:
    """Return the content of the field `run`, which may differ when the evaluation is repeated.

    `seconds` is the duration of the evaluation. It includes loading the models, and fitting them if they have no
    checkpoint. "trained" is a list with the training time of each seed, if it is stored.
    """
    trainings = []
    for evaluation in evaluations:
        notes = checkpoints.training_notes(variant, dataset.name, protocol.splitting, evaluation.seed)
        if training_time := tables.training_time(notes):
            trainings.append({"seed": evaluation.seed, **training_time})
    description = machine.describe()
    return {
        "device": ", ".join(sorted({evaluation.model.device for evaluation in evaluations})),
        "machine": f"{description['system']}, {description['cores']} cores",
        "seconds": round(seconds, 1),
        "versions": machine.versions(),
        **{name: description[name] for name in ("threads", "commit", "date")},
        **({"trained": trainings} if trainings else {}),
    }


def _merge_stored_seeds(document: dict[str, Any], ranks: np.ndarray) -> tuple[dict[str, Any], np.ndarray]:
    """Return the document and ranks (S, B) of the new and the stored seeds together, sorted by seed.

    A new seed replaces a stored seed with the same number. `calibration` and `stars` come from the new seeds alone,
    because they cannot be combined. `run` contains the stored run as "earlier". Raises ResultError without a valid
    stored result, and EvaluationError if the stored result has other data or settings.
    """
    dataset, protocol, variant = document["dataset"], document["protocol"]["name"], document["variant"]
    stored_document = results.load(dataset, protocol, variant)
    stored_document.setdefault("data_sha256", document["data_sha256"])  # results of older versions lack this field
    if _identity(stored_document) != _identity(document):
        command = recsys_command("evaluate", variant, "--dataset", dataset, "--protocol", protocol)
        text = "the stored result of {variant} comes from other data or settings; measure all seeds again"
        raise EvaluationError(text, command, variant=variant)
    rows = [*stored_document["seeds"], *document["seeds"]]
    row_of_seed = {row["seed"]: row for row in rows}  # a new row replaces a stored row
    stored_ranks = results.ranks(dataset, protocol, variant)
    ranks_of_seed = {row["seed"]: seed_ranks for row, seed_ranks in zip(rows, [*stored_ranks, *ranks], strict=True)}
    seeds = sorted(row_of_seed)
    seed_rows, all_ranks = [row_of_seed[seed] for seed in seeds], np.array([ranks_of_seed[seed] for seed in seeds])
    new_seeds = {row["seed"] for row in document["seeds"]}
    trainings = [row for row in stored_document["run"].get("trained", []) if row["seed"] not in new_seeds]
    trainings += document["run"].get("trained", [])
    run = document["run"] | {"earlier": stored_document["run"]}
    if trainings:
        run["trained"] = sorted(trainings, key=lambda row: row["seed"])
    combined = document | _accuracy_fields(seeds, all_ranks) | _mean_list_metrics(seed_rows)
    combined |= {"seeds": seed_rows, "run": run}
    return combined, all_ranks


def _identity(document: dict[str, Any]) -> str:
    """Return a text that is equal for results with equal settings, data and users."""
    fields = {name: document.get(name) for name in ("data_sha256", "config", "also", "details")}
    return json.dumps([results.population_key(document), fields], sort_keys=True)


def _round(value: Any) -> Any:
    """Round the numbers of nested dicts and lists to six digits."""
    if isinstance(value, dict):
        return {name: _round(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_round(inner) for inner in value]
    return round(float(value), 6)
