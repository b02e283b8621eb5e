"""How much of a metric comes from the order of films within a second, which has nothing to do with taste.

`results/ties/<dataset>.json`, in assets/ or in the home folder, which has precedence:
{
  "dataset": "ml-1m", "fingerprint": "…", "people": 6040, "films": 3416,
  "order": "hash",                                        "hash", "ascending" or null
  "tables": {"64": 1, "128": 2, …},                       "hash" only: number of buckets → first user with it
  "pairs": {"same second": 447265, "alone": 229018},      of one second, and of films alone in their second
  "lower": {"same second": 0.0, "alone": 0.51},           share of these pairs in descending order
  "distances": {"same second": […], "alone": […]},        share of the pairs by distance, BINS from -1 to 1
  "without_rating": 3,                                    pairs with a film of this rating are not counted, or null
  "share": 0.45, "targets": 0.33,                         of all pairs, and of the test targets, that are tied
  "people_quantiles": {"10": …, "50": …, "90": …},        share of the tied pairs of a user
  "years": [{"year": 2000, "pairs": …, "share": …}, …],
  "rules": [                                              test NDCG@10, weight chosen on validation
    {"title": "Most popular", "protocol": "full", "alone": …, "with the order": …, "weight": 0.2}, …],
  "recommenders": [{"variant": …, "title": …, "family": …, "full": …, "untied": …, "full tied": …, "full other": …,
                    "untied tied": …, "untied other": …, "seeds": …}, …],          test NDCG@10, best first
  "run": {"commit": …, "date": …, …}                      `machine.describe`
}
"tied": users whose target has the timestamp of the film before. "other": all other users. Shapes: B queries.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from recsys import checkpoints, machine, paths, storage
from recsys.data.dataset import DataError, Dataset, HeldOut
from recsys.errors import recsys_command
from recsys.evaluation import file_order, results
from recsys.evaluation.file_order import FileOrder, Neighbours, OrderRule, tied_targets
from recsys.evaluation.protocols import FULL, UNTIED_FULL
from recsys.models.base import Model
from recsys.progress import ProgressCallback, no_progress
from recsys.ranking.metrics import ndcg, target_ranks, values

COUNTERS = ("popular", "markov")  # recommenders that the rule is added to
FIELDS = {"dataset", "order", "pairs", "lower", "distances", "share", "targets", "rules", "recommenders", "run"}
WEIGHTS = (0.0, 0.1, 0.2, 0.5, 1.0)  # of the rule
BATCH_SIZE = 256  # queries
MIN_SCORE = 1e-6  # added to a score before its logarithm, because counts can be 0


def measure(
    dataset: Dataset, without_rating: float | None = None, report: ProgressCallback = no_progress
) -> dict[str, Any]:
    """Return the document. Raises DataError if ties are already shuffled, ResultError for damaged results."""
    if dataset.ties == "drawn":
        raise DataError(f"{dataset.name}: films of one second are in a drawn order already; choose another data set")
    all_pairs = Neighbours.from_dataset(dataset)
    pairs = all_pairs if without_rating is None else Neighbours.from_dataset(dataset, without_rating)
    order = file_order.detect(dataset, all_pairs)
    nearest = order or file_order.hashed(dataset, all_pairs)
    n_pairs = {"same second": int(pairs.same_second.sum()), "alone": int(pairs.alone.sum())}
    shares = (round(share, 5) for share in file_order.descending_shares(nearest, pairs))
    return {
        "dataset": dataset.name,
        "fingerprint": dataset.fingerprint,
        "people": dataset.n_users,
        "films": dataset.n_items,
        "order": order.name if order else None,
        "tables": _tables(order, dataset),
        "pairs": n_pairs,
        "lower": dict(zip(n_pairs, shares, strict=True)),
        "distances": file_order.histogram(nearest, pairs),
        "without_rating": without_rating,
        **_tie_shares(dataset, all_pairs),
        "rules": _rules(dataset, order, report) if order else [],
        "recommenders": _recommenders(dataset),
        "run": machine.describe(),
    }


def write(document: dict[str, Any], ship: bool = False) -> Path:
    """Write a document to the home folder and, if `ship`, to assets/. Return the path in the home folder."""
    for root in (paths.home(), paths.ASSETS) if ship else (paths.home(),):
        storage.write_document(paths.ties(root, document["dataset"]), document)
    return paths.ties(paths.home(), document["dataset"])


def read(dataset: str, report: Callable[[str], None]) -> dict[str, Any] | None:
    """Return the document of a data set, or None. `report` is called with a sentence for a damaged file."""
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
    """Return the original id of the first user by table size, {} if the order is not "hash"."""
    if order is None or order.name != "hash":
        return {}
    _, users = np.unique(order.table, return_index=True)
    return {str(size): int(dataset.user_ids[user]) for size, user in zip(order.sizes, users, strict=True)}


def _tie_shares(dataset: Dataset, pairs: Neighbours) -> dict[str, Any]:
    """Return the share of pairs of one second: of all pairs, of the test targets, by user and by year."""
    user, time = np.asarray(dataset.interactions.user), np.asarray(dataset.interactions.timestamp)
    by_user = pd.Series(pairs.same_second).groupby(pairs.user).mean()
    year = pd.to_datetime(time[:-1][user[1:] == user[:-1]], unit="s").year
    by_year = pd.Series(pairs.same_second).groupby(np.asarray(year)).agg(["size", "mean"])
    return {
        "share": round(float(pairs.same_second.mean()), 5),
        "targets": round(float(tied_targets(dataset, FULL.split(dataset).test).mean()), 5),
        "people_quantiles": {str(q): round(float(np.percentile(by_user, q)), 4) for q in (10, 50, 90)},
        "years": [
            {"year": int(year), "pairs": int(size), "share": round(float(mean), 4)}
            for year, (size, mean) in zip(by_year.index, by_year.to_numpy(), strict=True)
        ],
    }


def _rules(dataset: Dataset, order: FileOrder, report: ProgressCallback) -> list[dict[str, Any]]:
    """Return test NDCG@10 of COUNTERS, alone and with the rule. Its weight is chosen on validation items."""
    rows = []
    for protocol in (FULL, UNTIED_FULL):
        split = protocol.split(dataset)
        rule = OrderRule.learn(order, split.train)
        for name in COUNTERS:
            model = checkpoints.load_or_fit(name, dataset, 0, report, splitting=protocol.splitting, measuring=True)
            valid = _ranks_with_rule(model, rule, split.valid, WEIGHTS)
            weight = WEIGHTS[int(np.argmax([ndcg(ranks, 10) for ranks in valid]))]
            test = _ranks_with_rule(model, rule, split.test, (0.0, weight))
            alone, with_rule = (round(ndcg(ranks, 10), 5) for ranks in test)
            figures = {"alone": alone, "with the order": with_rule, "weight": weight}
            rows.append({"title": model.title, "protocol": protocol.name, **figures})
    return rows


def _ranks_with_rule(model: Model, rule: OrderRule, held_out: HeldOut, weights: Sequence[float]) -> list[np.ndarray]:
    """Return ranks (B,) by log score + weight · log ratio of the rule, for each weight."""
    ranks: list[list[np.ndarray]] = [[] for _ in weights]
    for start in range(0, len(held_out), BATCH_SIZE):
        rows = slice(start, start + BATCH_SIZE)
        queries, targets = held_out.queries[rows], held_out.targets[rows]
        scores, added = np.log(model.score(queries).astype(np.float64) + MIN_SCORE), rule.score(queries)
        for of_weight, weight in zip(ranks, weights, strict=True):
            of_weight.append(target_ranks(scores + weight * added, targets, queries.histories))
    return [np.concatenate(of_weight) for of_weight in ranks]


def _recommenders(dataset: Dataset) -> list[dict[str, Any]]:
    """Return NDCG@10 of the recommenders with results under both protocols: of all, tied and other targets."""
    tied = tied_targets(dataset, FULL.split(dataset).test)
    rows = []
    for document in results.documents(dataset.name, UNTIED_FULL.name):
        row = {name: document[name] for name in ("variant", "title", "family")} | {"seeds": len(document["seeds"])}
        for protocol in (FULL.name, UNTIED_FULL.name):
            try:
                ranks = results.ranks(dataset.name, protocol, document["variant"])  # (S, B)
            except results.ResultError:
                break  # no result under this protocol
            figures = values(ranks, "ndcg@10").mean(0)
            parts = {"": figures, " tied": figures[tied], " other": figures[~tied]}
            row |= {f"{protocol}{part}": round(float(mine.mean()), 5) for part, mine in parts.items() if len(mine)}
        else:
            rows.append(row)
    return sorted(rows, key=lambda row: -row["full"])
