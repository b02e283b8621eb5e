"""Run a plan: train its missing trials, and build the JSON document that the Evaluation page shows.

Shapes: B test users.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from recsys import paths, storage
from recsys.data import datasets
from recsys.data.dataset import Dataset
from recsys.errors import RecsysError
from recsys.evaluation.protocols import FULL, UNTIED_FULL, Protocol
from recsys.evaluation.significance import bootstrap
from recsys.progress import ProgressCallback, no_progress
from recsys.ranking.metrics import user_values
from recsys.studies import trials
from recsys.studies.plans import Plan, Point
from recsys.studies.trials import Outcome, Trial

METRIC = "ndcg@10"
POLL_SECONDS = 5.0  # between two attempts at a trial that another process is running
# Columns of the table of a study: name → title. "change" is the difference to the baseline, see `is_baseline`.
LABEL_COLUMNS = {"recommender": "Recommender", "setting": "", "seeds": "Seeds"}  # `setting`: see `Plan.setting_title`
METRIC_COLUMNS = {"valid": "Validation", "ndcg": "NDCG@10", "low": "From", "high": "To", "hr": "HR@10"}
CHANGE_COLUMNS = {"change": "Difference", "change_low": "Difference, lower end", "change_high": "Difference, upper end"}
INTERVAL_NOTE = "“From” and “To” are the ends of the 95% confidence interval over people (bootstrap)"
DIFFERENCE_NOTE = (
    "differences are measured from the baseline (the row of the same recommender with no value under “Difference”), "
    "paired by person and seed"
)
COLUMNS = LABEL_COLUMNS | METRIC_COLUMNS | CHANGE_COLUMNS  # low, high: the ends of the 95% interval of `ndcg`
Outcomes = Mapping[int, Outcome]  # seed → outcome of one point


def run_trials(
    plan: Plan,
    dataset: Dataset,
    protocol: Protocol,
    seeds: Sequence[int] = (0,),
    report: ProgressCallback = no_progress,
) -> None:
    """Train and measure the trials of a plan that are not stored yet, and wait for trials of other processes.

    Some points use the first seed only, see `uses_all_seeds`. Raises RecsysError as `trials.measure` does.
    """
    all_trials = list(list_trials(plan, dataset.name, seeds))
    pending = list(enumerate(all_trials, 1))
    while pending:
        running_elsewhere = []
        for number, trial in pending:
            if trials.read(trial, dataset, protocol):
                continue
            changes = ", ".join(f"{name} {value}" for name, value in trial.changes.items()) or "usual settings"
            text = f"{number} of {len(all_trials)}: {trial.recommender}, {changes}, seed {trial.seed}"
            report({"stage": "note", "text": text})
            if trials.measure(trial, dataset, protocol, report) is None:
                running_elsewhere.append((number, trial))
        if pending := running_elsewhere:
            time.sleep(POLL_SECONDS)


def list_trials(plan: Plan, dataset: str, seeds: Sequence[int]) -> Iterator[Trial]:
    """Yield the trials: all points with the first seed, then the points of `uses_all_seeds` with the other seeds."""
    for seed in seeds:
        for point in plan.points:
            if seed == seeds[0] or uses_all_seeds(point, plan, dataset):
                yield Trial(point.recommender, point.changes, seed)


def uses_all_seeds(point: Point, plan: Plan, dataset: str) -> bool:
    """Return whether a point is trained with every seed: a baseline, an end of a numeric sweep, or `plan.all_seeds`."""
    settings = [other.setting for other in plan.points if other.title == point.title]
    is_end = not isinstance(point.setting, str) and point.setting in (settings[0], settings[-1])
    return plan.all_seeds or is_end or is_baseline(point, dataset)


def is_baseline(point: Point, dataset: str) -> bool:
    """Return whether a point is the baseline of the points with its title: it has the settings of the preset."""
    return Trial(point.recommender, point.changes).config(dataset) == Trial(point.recommender).config(dataset)


def build_document(plan: Plan, dataset: Dataset, protocol: Protocol, seeds: Sequence[int] = (0,)) -> dict[str, Any]:
    """Build the document of a study, in the format of `evaluation.studies`, from the stored trials.

    Raises RecsysError if fewer than two points have been measured.
    """
    outcomes = [_read_outcomes(point, dataset, protocol, seeds) for point in plan.points]
    measured = [(point, by_seed) for point, by_seed in zip(plan.points, outcomes, strict=True) if by_seed]
    if len(measured) < 2:
        raise RecsysError(
            "next to nothing of “{title}” has been measured on {name} yet", title=plan.title, name=dataset.name
        )
    baselines = {point.title: by_seed for point, by_seed in measured if is_baseline(point, dataset.name)}
    rows = [
        _row(point, by_seed, {} if is_baseline(point, dataset.name) else baselines.get(point.title, {}))
        for point, by_seed in measured
    ]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return {
        "title": plan.title if protocol.name == default_protocol(dataset.name) else f"{plan.title} ({protocol.title})",
        "dataset": dataset.name,
        "question": plan.question,
        "papers": plan.papers,
        "answer": plan.summarise(table),
        "how": _method(dataset, protocol, outcomes),
        "columns": [
            {"name": name, "title": title} | ({} if name in LABEL_COLUMNS else {"digits": 4})
            for name, title in (COLUMNS | {"setting": plan.setting_title}).items()
        ],
        "rows": table.round(6).astype(object).where(table.notna(), None).to_numpy().tolist(),
        "chart": dict(plan.chart),
    }


def write(name: str, dataset: str, document: dict[str, Any], protocol: str = "", ship: bool = False) -> Path:
    """Write the document of a study to the home folder and, if `ship`, to assets/. Return the path in the home folder.

    The name of a protocol other than `default_protocol` becomes a part of the file name.
    """
    parts = [name, dataset] if protocol in ("", default_protocol(dataset)) else [name, protocol, dataset]
    file = f"{'-'.join(parts)}.json"
    for root in (paths.home(), paths.ASSETS) if ship else (paths.home(),):
        storage.write_document(paths.studies(root) / file, document)
    return paths.studies(paths.home()) / file


def default_protocol(dataset: str) -> str:
    """Return the protocol with the data split that the served recommenders of a data set are trained on."""
    return UNTIED_FULL.name if datasets.serving_splitting(dataset) is UNTIED_FULL.splitting else FULL.name


def _read_outcomes(point: Point, dataset: Dataset, protocol: Protocol, seeds: Sequence[int]) -> Outcomes:
    """Return the stored outcomes of a point, {} if there are none."""
    point_trials = [Trial(point.recommender, point.changes, seed) for seed in seeds]
    return {trial.seed: outcome for trial in point_trials if (outcome := trials.read(trial, dataset, protocol))}


def _row(point: Point, by_seed: Outcomes, baseline: Outcomes) -> dict[str, Any]:
    """Return a row of the table: the metrics of a point, means over its seeds, and its change from the baseline.

    The change is paired by user and seed, because trials with the same seed share initial weights and the order of
    samples, if the setting allows it. If point and baseline have no common seed, the row has no change.
    """
    ndcg = _by_user(by_seed.values(), METRIC)
    low, high = bootstrap(ndcg[:, None])
    row = {
        "recommender": point.title,
        "setting": point.setting,
        "seeds": len(by_seed),
        "valid": np.mean([outcome.valid.get(METRIC, np.nan) for outcome in by_seed.values()]),
        "ndcg": ndcg.mean(),
        "low": low[0],
        "high": high[0],
        "hr": _by_user(by_seed.values(), "hr@10").mean(),
    }
    if common_seeds := by_seed.keys() & baseline.keys():
        paired_ndcg = _by_user([by_seed[seed] for seed in common_seeds], METRIC)
        change = paired_ndcg - _by_user([baseline[seed] for seed in common_seeds], METRIC)
        low, high = bootstrap(change[:, None])
        row |= {"change": change.mean(), "change_low": low[0], "change_high": high[0]}
    return row


def _by_user(outcomes: Iterable[Outcome], metric: str) -> np.ndarray:
    """Return a metric of each test user (B,), the mean over outcomes."""
    return user_values(np.stack([outcome.ranks for outcome in outcomes]), metric).mean(0)


def _method(dataset: Dataset, protocol: Protocol, outcomes: Sequence[Outcomes]) -> str:
    """Describe protocol, seeds, intervals, processors, dates and commits, in one sentence."""
    counts = sorted({len(by_seed) for by_seed in outcomes if by_seed})
    seeds = f"{counts[0]} to {counts[-1]} seeds" if len(counts) > 1 else f"{counts[0]} seed{'s' * (counts[0] > 1)}"
    measured = [outcome for by_seed in outcomes for outcome in by_seed.values()]
    stopping = "early stopping on validation; " if any(outcome.training for outcome in measured) else ""
    n_missing = sum(not by_seed for by_seed in outcomes)
    verb = "is" if n_missing == 1 else "are"
    missing = f"{n_missing} of {len(outcomes)} rows {verb} still to be trained; " if n_missing else ""

    def distinct(key: str, length: int | None = None) -> list[str]:
        """Return the distinct values of `Outcome.run[key]`, each cut to a length."""
        return sorted({outcome.run[key][:length] for outcome in measured if outcome.run[key]})

    commits = distinct("commit", 12) or ["unknown"]
    return (
        f"{datasets.title(dataset.name)}, protocol “{protocol.title}”, test NDCG@10, {seeds} per row; {stopping}"
        f"{INTERVAL_NOTE}; {DIFFERENCE_NOTE}; {missing}{', '.join(distinct('cpu') + distinct('date', 10))}, "
        f"commit{'s' * (len(commits) > 1)} {', '.join(commits)}."
    )
