"""What a benchmark measures besides taste: how much of a figure is the order of the file within a second.

`results/ties/<dataset>.json`, in assets/ or in the home folder, which wins; sealed, see `recsys.storage`:
{
  "dataset": "ml-1m", "fingerprint": "…", "people": 6040, "films": 3416,
  "order": "hash",                                        "ascending", or null where the order is neither
  "tables": {"64": 1, "128": 2, …},                       buckets → the first person with so many; "hash" only
  "pairs": {"same second": 447265, "alone": 229018},      neighbours of one second, and of films alone in theirs
  "lower": {"same second": 0.0, "alone": 0.51},           how often the second one stands lower in that order
  "distances": {"same second": […], "alone": […]},        share of the pairs by distance, BINS from -1 to 1
  "without_rating": 3,                                    null, or: pairs with a film of that rating were not counted
  "share": 0.45, "targets": 0.33,                         pairs, and hidden films, of the second of the film before
  "people_quantiles": {"10": …, "50": …, "90": …},        share of a person's pairs, by person
  "years": [{"year": 2000, "pairs": …, "share": …}, …],
  "rules": [                                              NDCG@10 on the test, the weight chosen on validation
    {"title": "Most popular", "protocol": "full", "alone": …, "with the order": …, "weight": 0.2}, …],
  "recommenders": [{"variant": …, "title": …, "family": …, "full": …, "untied": …, "full tied": …, "full other": …,
                    "untied tied": …, "untied other": …, "seeds": …}, …],          NDCG@10 on the test, best first
  "run": {"commit": …, "date": …, …}                      `machine.describe`
}
"tied": people whose hidden film was rated in the second of the one before; "other": all others. Shapes: B queries.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from recsys import checkpoints, machine, paths, storage
from recsys.data.dataset import DataError, Dataset, HeldOut
from recsys.errors import recsys_command
from recsys.evaluation import results
from recsys.evaluation.file_order import (
    FileOrder,
    Neighbours,
    OrderRule,
    hashed,
    histogram,
    lower,
    of_file,
    tied_targets,
)
from recsys.evaluation.protocols import FULL, UNTIED_FULL
from recsys.models.base import Model
from recsys.progress import ProgressCallback, no_progress
from recsys.ranking.metrics import ndcg, target_ranks, values

COUNTERS = ("popular", "markov")  # what the rule is added to: the order of popularity, and what followed what
FIELDS = {"dataset", "order", "pairs", "lower", "distances", "share", "targets", "rules", "recommenders", "run"}
WEIGHTS = (0.0, 0.1, 0.2, 0.5, 1.0)  # of the rule
BATCH = 256  # queries
LEAST = 1e-6  # added to a score before its logarithm, where it may be 0


def measure(
    dataset: Dataset, without_rating: float | None = None, report: ProgressCallback = no_progress
) -> dict[str, Any]:
    """The document above. Raises DataError where the order is drawn already, ResultError for damaged results."""
    if dataset.ties == "drawn":
        raise DataError(f"{dataset.name}: films of one second are in a drawn order already; choose another data set")
    everything = Neighbours.of(dataset)
    pairs = everything if without_rating is None else Neighbours.of(dataset, without_rating)
    order = of_file(dataset, everything)
    shown = order or hashed(dataset, everything)
    share = {name: int(mine.sum()) for name, mine in (("same second", pairs.same_second), ("alone", pairs.alone))}
    return {
        "dataset": dataset.name,
        "fingerprint": dataset.fingerprint,
        "people": dataset.n_users,
        "films": dataset.n_items,
        "order": order.name if order else None,
        "tables": _tables(order, dataset),
        "pairs": share,
        "lower": dict(zip(share, (round(one, 5) for one in lower(shown, pairs)), strict=True)),
        "distances": histogram(shown, pairs),
        "without_rating": without_rating,
        **_how_many(dataset, everything),
        "rules": _rules(dataset, order, report) if order else [],
        "recommenders": _recommenders(dataset),
        "run": machine.describe(),
    }


def write(document: dict[str, Any], ship: bool = False) -> Path:
    """Keep a document in the home folder (`ship`: in assets/ too); returns the file of the home folder."""
    for root in (paths.home(), paths.ASSETS) if ship else (paths.home(),):
        storage.write_document(paths.ties(root, document["dataset"]), document)
    return paths.ties(paths.home(), document["dataset"])


def read(dataset: str, report: Callable[[str], None]) -> dict[str, Any] | None:
    """What was measured of a data set; None where nothing was. Of a damaged file `report` gets a sentence."""
    for path in (paths.ties(root, dataset) for root in (paths.home(), paths.ASSETS)):
        if not path.exists():
            continue
        try:
            document = storage.read_document(path)
            if document.keys() >= FIELDS:
                return document
        except (OSError, storage.DamagedFileError):
            pass
        report(f"{path} is damaged; make it again: {recsys_command('experiment', 'ties', '--dataset', dataset)}")
    return None


def _tables(order: FileOrder | None, dataset: Dataset) -> dict[str, int]:
    """Buckets → original id of the first person whose films were in a table of so many."""
    if order is None or order.name != "hash":
        return {}
    _, first = np.unique(order.table, return_index=True)
    return {str(size): int(dataset.user_ids[user]) for size, user in zip(order.sizes, first, strict=True)}


def _how_many(dataset: Dataset, pairs: Neighbours) -> dict[str, Any]:
    """How many neighbours share their second, by person and year."""
    events = dataset.interactions
    own = pd.Series(pairs.same_second).groupby(pairs.user).mean()
    test = FULL.split(dataset).test
    user, time = np.asarray(events.user), np.asarray(events.timestamp)
    year = pd.to_datetime(time[:-1][user[1:] == user[:-1]], unit="s").year
    by_year = pd.Series(pairs.same_second).groupby(np.asarray(year)).agg(["size", "mean"])
    return {
        "share": round(float(pairs.same_second.mean()), 5),
        "targets": round(float(tied_targets(dataset, test).mean()), 5),
        "people_quantiles": {str(q): round(float(np.percentile(own, q)), 4) for q in (10, 50, 90)},
        "years": [
            {"year": int(each), "pairs": int(size), "share": round(float(mean), 4)}
            for each, (size, mean) in zip(by_year.index, by_year.to_numpy(), strict=True)
        ],
    }


def _rules(dataset: Dataset, order: FileOrder, report: ProgressCallback) -> list[dict[str, Any]]:
    """NDCG@10 of simple counts on the test, and of the same with the order's log-ratio added to their logarithm.

    How much the rule weighs, from nothing to 1, is chosen on validation.
    """
    rows = []
    for protocol in (FULL, UNTIED_FULL):
        split = protocol.split(dataset)
        rule = OrderRule.learn(order, split.train)
        for name in COUNTERS:
            model = checkpoints.load_or_fit(name, dataset, 0, report, splitting=protocol.splitting, measuring=True)
            valid = _with_rule(model, rule, split.valid, WEIGHTS)
            weight = WEIGHTS[int(np.argmax([ndcg(ranks, 10) for ranks in valid]))]
            alone, with_rule = (ndcg(ranks, 10) for ranks in _with_rule(model, rule, split.test, (0.0, weight)))
            found = {"alone": round(alone, 5), "with the order": round(with_rule, 5), "weight": weight}
            rows.append({"title": model.title, "protocol": protocol.name, **found})
    return rows


def _with_rule(model: Model, rule: OrderRule, held_out: HeldOut, weights: Sequence[float]) -> list[np.ndarray]:
    """Ranks (B,) for each weight of the rule."""
    found: list[list[np.ndarray]] = [[] for _ in weights]
    for start in range(0, len(held_out), BATCH):
        part = slice(start, start + BATCH)
        queries, targets = held_out.queries[part], held_out.targets[part]
        scores, added = np.log(model.score(queries).astype(np.float64) + LEAST), rule.score(queries)
        for own, weight in zip(found, weights, strict=True):
            own.append(target_ranks(scores + weight * added, targets, queries.histories))
    return [np.concatenate(own) for own in found]


def _recommenders(dataset: Dataset) -> list[dict[str, Any]]:
    """What each recommender has under both protocols, as far as it was measured on this very data."""
    tied = tied_targets(dataset, FULL.split(dataset).test)
    rows = []
    for document in results.documents(dataset.name, UNTIED_FULL.name):
        row = {name: document[name] for name in ("variant", "title", "family")} | {"seeds": len(document["seeds"])}
        for protocol in (FULL.name, UNTIED_FULL.name):
            try:
                ranks = results.ranks(dataset.name, protocol, document["variant"])  # (S, B)
            except results.ResultError:
                break  # not measured
            each = values(ranks, "ndcg@10").mean(0)
            parts = {"": each, " tied": each[tied], " other": each[~tied]}
            row |= {f"{protocol}{part}": round(float(own.mean()), 5) for part, own in parts.items() if len(own)}
        else:
            rows.append(row)
    return sorted(rows, key=lambda row: -row["full"])
