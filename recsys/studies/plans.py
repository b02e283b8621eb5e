"""What a study trains, asks and says. Loads no torch."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from recsys.evaluation.report import short

Changes = dict[str, Mapping[str, Any]]  # a name for people → what differs from the preset

LINES = {"kind": "line", "x": "setting", "y": "ndcg", "by": "recommender"}
FIGURES = {"kind": "rows", "x": "setting", "y": "ndcg", "by": "recommender", "low": "low", "high": "high"}
DIFFERENCES = FIGURES | {"y": "change", "low": "change_low", "high": "change_high"}


@dataclass(frozen=True)
class Point:
    """One row of a study: a variant with some settings changed."""

    recommender: str  # for people; rows of the same one are compared with its usual settings
    setting: str | float  # what it is called, or the value that was set
    variant: str
    changes: Mapping[str, Any] = field(default_factory=dict)  # of the preset; nothing: the usual settings


ABLATED = {"bert4rec": "bert4rec-ablated", "sasrec-softmax": "sasrec-ablated"}  # have the settings of ABLATIONS_ONLY
ABLATIONS_ONLY = {"without", "masking"}


def points(recommenders: Mapping[str, str], changes: Changes) -> tuple[Point, ...]:
    """Each of some recommenders (its name for people → the variant) with each of the changes."""
    return tuple(
        Point(title, name, ABLATED[variant] if change.keys() & ABLATIONS_ONLY else variant, change)
        for title, variant in recommenders.items()
        for name, change in changes.items()
    )


@dataclass(frozen=True)
class Plan:
    """A study as it is planned: the rows, and the words around them."""

    title: str
    question: str
    papers: str  # a sentence: what the papers say
    setting: str  # title of the column of settings
    points: tuple[Point, ...]
    seen: Callable[[pd.DataFrame], str]  # the finished table → a sentence: what we see
    chart: Mapping[str, Any]  # as in `evaluation.studies`
    each_often: bool = False  # all rows deserve several seeds, not the usual settings and ends alone


def best_and_worst(table: pd.DataFrame) -> str:
    """For each recommender of a table, a clause each, the settings with the lowest and the highest NDCG@10."""
    parts = []
    for name, own in table.groupby("recommender", sort=False):
        low, high = own.loc[own["ndcg"].idxmin()], own.loc[own["ndcg"].idxmax()]
        parts.append(f"{name} has " + (f"from {_named(low)} to {_named(high)}" if len(own) > 1 else _named(low)))
    return f"Here {'; '.join(parts)}."


def gains_and_losses(table: pd.DataFrame) -> str:
    """Which rows differ from the usual settings by more than the interval over people."""
    others = table[table["change"].notna()]
    worse = others[others["change_high"] < 0].sort_values("change")
    better = others[others["change_low"] > 0].sort_values("change", ascending=False)
    if worse.empty and better.empty:
        return f"Here none of the {len(others)} changes moves NDCG@10 by more than the interval over people."
    said = [_listed(part, way) for part, way in ((worse, "lower"), (better, "raise")) if len(part)]
    return f"Here, of {len(others)} changes, {' and '.join(said)} NDCG@10 by more than the interval over people."


def sweep(recommender: str, variant: str, setting: str, values: Sequence[float]) -> tuple[Point, ...]:
    """One recommender with one setting at several values."""
    return tuple(Point(recommender, value, variant, {setting: value}) for value in values)


def _named(row: pd.Series) -> str:
    """`.1234 (64)`."""
    setting = row["setting"]
    return f"{short(row['ndcg'])} ({setting if isinstance(setting, str) else format(setting, 'g')})"


def _listed(part: pd.DataFrame, way: str) -> str:
    """`3 lower (most of all: no residual connections, -.0123)`."""
    first = part.iloc[0]
    change = ("+" if first["change"] > 0 else "−") + short(abs(first["change"]))
    return f"{len(part)} {way} (most of all “{first['setting']}”, {change})"
