"""From a plan to a study: train what is missing, and write the table that the Evaluation page draws.

Shapes: S seeds, B queries.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from recsys import files, paths
from recsys.data.movielens import served_from
from recsys.data.schema import Dataset
from recsys.errors import RecsysError
from recsys.evaluation.protocols import FULL, UNTIED_FULL, Protocol
from recsys.evaluation.significance import bootstrap
from recsys.progress import Report, ignore
from recsys.ranking.metrics import values
from recsys.studies import trials
from recsys.studies.plans import Plan, Point
from recsys.studies.trials import Outcome, Trial

METRIC = "ndcg@10"
PAUSE = 5.0  # seconds between two looks at a trial that another process is at
COLUMNS = {
    "recommender": "Recommender",
    "setting": "",  # the plan's
    "seeds": "Seeds",
    "valid": "Validation",
    "ndcg": "NDCG@10",
    "low": "From",
    "high": "To",
    "hr": "HR@10",
    "change": "Change",
    "change_low": "Change from",
    "change_high": "Change to",
}
WORDS = {"recommender", "setting", "seeds"}
BySeed = Mapping[int, Outcome]  # what came of one point


def train(
    plan: Plan, dataset: Dataset, protocol: Protocol, seeds: Sequence[int] = (0,), report: Report = ignore
) -> None:
    """Train and measure every trial of a plan that is not on disk yet; the first seed of all of them comes first.

    Trials that another process is at are waited for. Raises ConfigError, TrainingError, DeviceError.
    """
    waiting = list(all_trials(plan, dataset.name, seeds))
    total = len(waiting)
    while waiting:
        left = []
        for number, trial in enumerate(waiting, total - len(waiting) + 1):
            if trials.read(trial, dataset, protocol):
                continue
            report({"stage": "note", "text": f"{number} of {total}: {_said(trial)}"})
            if trials.measure(trial, dataset, protocol, report) is None:
                left.append(trial)
        waiting = left
        if waiting:
            time.sleep(PAUSE)


def all_trials(plan: Plan, dataset: str, seeds: Sequence[int]) -> Iterator[Trial]:
    """What a plan trains: everything with the first seed, then what is `often` trained with the others."""
    for seed in seeds:
        for point in plan.points:
            if seed == seeds[0] or often(point, plan, dataset):
                yield Trial(point.variant, point.changes, seed)


def often(point: Point, plan: Plan, dataset: str) -> bool:
    """Whether a row deserves several seeds: all, if the plan says so; the usual settings, and both ends of numbers."""
    own = [other.setting for other in plan.points if other.recommender == point.recommender]
    is_end = not isinstance(point.setting, str) and point.setting in (own[0], own[-1])
    return plan.each_often or is_end or _is_usual(point, dataset)


def study(plan: Plan, dataset: Dataset, protocol: Protocol, seeds: Sequence[int] = (0,)) -> dict[str, Any]:
    """The document of `evaluation.studies`, of the rows measured so far. Raises RecsysError for fewer than two."""
    found = [_outcomes(point, dataset, protocol, seeds) for point in plan.points]
    table = _table(plan, dataset, found)
    if len(table) < 2:
        raise RecsysError(f"next to nothing of “{plan.title}” has been measured on {dataset.name} yet")
    named = COLUMNS | {"setting": plan.setting}
    return {
        "title": plan.title if protocol.name == usual_protocol(dataset.name) else f"{plan.title} ({protocol.title})",
        "dataset": dataset.name,
        "question": plan.question,
        "papers": plan.papers,
        "answer": plan.seen(table),
        "how": _how(dataset, protocol, found),
        "columns": [
            {"name": name, "title": title, **({} if name in WORDS else {"digits": 4})} for name, title in named.items()
        ],
        "rows": [[_plain(value) for value in row] for row in table.itertuples(index=False)],
        "chart": dict(plan.chart),
    }


def write(name: str, dataset: str, document: dict[str, Any], protocol: str = "", ship: bool = False) -> Path:
    """Keep a study in the home folder (`ship`: in assets/ too); returns the file of the home folder.

    protocol: of a study that has been made under another one than `usual_protocol`, beside which it is kept.
    """
    parts = [name, protocol, dataset] if protocol not in ("", usual_protocol(dataset)) else [name, dataset]
    return files.keep(document, lambda root: paths.studies(root) / f"{'-'.join(parts)}.json", ship)


def usual_protocol(dataset: str) -> str:
    """Under which protocol studies of a set are made where nothing else is said: as its recommenders are served."""
    return UNTIED_FULL.name if served_from(dataset) is UNTIED_FULL.splitting else FULL.name


def _table(plan: Plan, dataset: Dataset, found: list[BySeed]) -> pd.DataFrame:
    """A row with COLUMNS for each point that has been measured; found: the outcomes of each."""
    measured = [(point, own) for point, own in zip(plan.points, found, strict=True) if own]
    usual = {point.recommender: own for point, own in measured if _is_usual(point, dataset.name)}
    rows = [
        _row(point, own, {} if _is_usual(point, dataset.name) else usual.get(point.recommender, {}))
        for point, own in measured
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _outcomes(point: Point, dataset: Dataset, protocol: Protocol, seeds: Sequence[int]) -> BySeed:
    """What is on disk of a point."""
    wanted = [Trial(point.variant, point.changes, seed) for seed in seeds]
    return {trial.seed: outcome for trial in wanted if (outcome := trials.read(trial, dataset, protocol))}


def _row(point: Point, found: BySeed, usual: BySeed) -> dict[str, Any]:
    """The figures of a point, means over its seeds; `change`: against the usual settings, same people, same seeds.

    A seed draws the first weights and the order of the samples. Where both settings draw the same ones, trainings with
    the same seed differ by less than others; and one lucky seed is not set against a mean over seeds.
    """
    own = _each(found.values(), METRIC)
    (low, high) = bootstrap(own[:, None])
    row = {
        "recommender": point.recommender,
        "setting": point.setting,
        "seeds": len(found),
        "valid": np.mean([outcome.valid.get(METRIC, np.nan) for outcome in found.values()]),
        "ndcg": own.mean(),
        "low": low[0],
        "high": high[0],
        "hr": _each(found.values(), "hr@10").mean(),
    }
    if shared := found.keys() & usual.keys():
        here, there = (_each([outcomes[seed] for seed in shared], METRIC) for outcomes in (found, usual))
        difference = here - there
        (low, high) = bootstrap(difference[:, None])
        row |= {"change": difference.mean(), "change_low": low[0], "change_high": high[0]}
    return row


def _each(found: Iterable[Outcome], metric: str) -> np.ndarray:
    """(B,) a metric of each person, the mean over seeds."""
    return values(np.stack([outcome.ranks for outcome in found]), metric).mean(0)


def _is_usual(point: Point, dataset: str) -> bool:
    """Whether a point has the settings that a recommender is trained with elsewhere.

    Where rows of one recommender are different variants, none of them is.
    """
    return Trial(point.variant, point.changes).config(dataset) == Trial(point.variant).config(dataset)


def _how(dataset: Dataset, protocol: Protocol, found: list[BySeed]) -> str:
    """How it was measured, on what, when and with which code; clauses, as `pages.shared.sentences` knows them."""
    seeds = sorted({len(own) for own in found if own})
    outcomes = [outcome for own in found for outcome in own.values()]
    trained = f"{seeds[0]} to {seeds[-1]} seeds" if len(seeds) > 1 else f"{seeds[0]} seed{'s' if seeds[0] > 1 else ''}"
    stopping = "early stopping on validation; " if any(outcome.training for outcome in outcomes) else ""
    left = sum(not own for own in found)
    open_rows = f"{left} of {len(found)} rows are still to be trained; " if left else ""
    runs = [outcome.run for outcome in outcomes]
    machines, dates, commits = (
        ", ".join(sorted({run[name][:length] for run in runs if run[name]}))
        for name, length in (("cpu", None), ("date", 10), ("commit", 12))
    )
    return (
        f"{dataset.name}, protocol “{protocol.title}”, test NDCG@10, {trained} a row; {stopping}from and to are a 95 % "
        "interval over people (bootstrap); a change is paired by person and seed with the usual settings; "
        f"{open_rows}{machines}, {dates}, commit {commits or 'unknown'}."
    )


def _said(trial: Trial) -> str:
    changes = ", ".join(f"{name} {value}" for name, value in trial.changes.items()) or "usual settings"
    return f"{trial.variant}, {changes}, seed {trial.seed}"


def _plain(value: Any) -> Any:
    """A cell as JSON has it: numbers rounded to six digits, nothing for what is not there."""
    if isinstance(value, str):
        return value
    number = float(value)
    if np.isnan(number):
        return None
    return int(number) if number.is_integer() and abs(number) >= 1 else round(number, 6)
