"""Result files as tables, for pages and notebooks: how good models are, how they learnt, how sure they are.

Loads neither torch nor Streamlit, and measures nothing anew. Shapes: V variants, S seeds, B users.
"""

import warnings
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from recsys.data.split import LEAVE_ONE_OUT, Splitting
from recsys.evaluation import results
from recsys.evaluation.report import BEYOND
from recsys.evaluation.results import Report
from recsys.evaluation.significance import FEW_USERS
from recsys.ranking.metrics import METRICS

BOUNDS = tuple(f"{end} {name}" for name in METRICS for end in ("low", "high"))
ERROR = "calibration error"
MEASURES = (*METRICS, *BEYOND, ERROR)  # by which models can be compared
EVERYTHING = "all"  # the films over which older probabilities add up to 1: seen ones too


def measures(dataset: str, protocol: str, report: Report = warnings.warn) -> pd.DataFrame:
    """The leaderboard with BOUNDS (95 %, over users), BEYOND and ERROR; NaN for what a result does not hold.

    Results that cannot be read or compared are left out, each with a sentence to `report`.
    """
    found = results.documents(dataset, protocol, report)
    board, rows = results.as_table(found), [_extras(document) for document in found]
    return board.join(pd.DataFrame(rows, index=board.index, columns=[*BOUNDS, *BEYOND, ERROR], dtype=np.float64))


def all_ranks(
    dataset: str, protocol: str, variants: Sequence[str], report: Report = warnings.warn
) -> dict[str, np.ndarray]:
    """Return ranks (S, B) by recommender. Results that cannot be read are skipped with a sentence to `report`."""
    found = {}
    for variant in variants:
        try:
            found[variant] = results.comparable_ranks(dataset, protocol, variant)
        except results.ResultError as error:
            report(str(error))
    return found


def orders(boards: dict[str, pd.DataFrame], metric: str) -> pd.DataFrame:
    """How the same models rank under several protocols: a row per model, the best under the first protocol on top.

    boards: protocol → its `measures`. Columns: variant, title, family, then for each protocol the metric under its
    name, "rank <protocol>" from 1, among the models that were measured under all of them, and "users <protocol>".
    Models with the same figure share the better rank.
    """
    labels = pd.concat([board[["variant", "title", "family"]] for board in boards.values()])
    table = labels.drop_duplicates("variant").set_index("variant")
    for name, board in boards.items():
        own = board.set_index("variant")[[metric, "users"]]
        table = table.join(own.rename(columns={metric: name, "users": f"users {name}"}), how="inner")
    table = table.dropna(subset=list(boards))
    for name in boards:
        table[f"rank {name}"] = table[name].rank(ascending=False, method="min").astype(int)
    return table.sort_values(next(iter(boards)), ascending=False, kind="stable").reset_index()


def discordant_share(table: pd.DataFrame, one: str, other: str) -> float | None:
    """The share of all pairs of models of `orders` that two of its protocols put in opposite order.

    0: the same order, 1: the reverse; a pair that is even under one of them counts half. It is (1 - τ) / 2, Kendall's
    τ, where no pair is even. None for fewer than two models, and where either protocol has fewer than FEW_USERS users:
    there the order itself is noise.
    """
    if len(table) < 2 or table[[f"users {one}", f"users {other}"]].min(axis=None) < FEW_USERS:
        return None
    first, second = table[one].tolist(), table[other].tolist()
    pairs = combinations(range(len(table)), 2)
    agree = [np.sign(first[a] - first[b]) * np.sign(second[a] - second[b]) for a, b in pairs]
    return float(1 - np.mean(agree)) / 2


def best_of_families(board: pd.DataFrame, variants: Sequence[str], n: int) -> list[str]:
    """The best of each family, of the n best families, among some variants of a `measures` table."""
    rows = board[board["variant"].isin(variants)]
    return rows.drop_duplicates("family")["variant"].tolist()[:n]


def curves(dataset: str, variants: Sequence[str], splitting: Splitting = LEAVE_ONE_OUT) -> dict[str, pd.DataFrame]:
    """Variant → its training log (`results.curve`), of those that have one."""
    logs = {variant: results.curve(dataset, variant, splitting) for variant in variants}
    return {variant: log for variant, log in logs.items() if len(log)}


def reliability(dataset: str, protocol: str, variants: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """How sure models were and how often they were right, of those whose scores give a probability.

    Both tables have variant, predicted, hit_rate and `over`, the films over which the probabilities add up to 1:
    results.UNSEEN or EVERYTHING. The first has a row per bin of equally many predictions, with its share; the second a
    row per rank from 1, with `times`, predicted over hit_rate (NaN where that is 0).
    """
    bins, ranks = [], []
    for variant in variants:
        known = results.load(dataset, protocol, variant).get("calibration")
        if known:
            labels = {"variant": variant, "over": known.get("over", EVERYTHING)}
            bins.append(pd.DataFrame(known["bins"]).assign(**labels))
            by_rank = pd.DataFrame(known["by_rank"])
            ranks.append(by_rank.assign(**labels, rank=range(1, len(by_rank) + 1)))
    columns = ["variant", "predicted", "hit_rate", "over"]
    first = pd.concat(bins) if bins else pd.DataFrame(columns=[*columns, "share"])
    second = pd.concat(ranks) if ranks else pd.DataFrame(columns=[*columns, "rank"], dtype=np.float64)
    times = second["predicted"] / second["hit_rate"].where(second["hit_rate"] > 0)
    return first[[*columns, "share"]], second[["variant", "rank", "predicted", "hit_rate", "over"]].assign(times=times)


def predicted_stars(documents: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """How far predicted ratings are off, where result documents say so: a row per model and baseline, best RMSE first.

    Columns: name, a variant's or as `stars.summary` calls the baseline; baseline, whether it is one; rmse and mae in
    stars, each with its interval as "low rmse", "high rmse".
    """
    found = {document["variant"]: document["stars"] for document in documents if "stars" in document}
    baselines = next(iter(found.values()))["baselines"] if found else {}  # all have the same, seed for seed
    rows = [
        {"name": name, "baseline": name in baselines, "rmse": own["rmse"], "mae": own["mae"], **_ends(own["interval"])}
        for name, own in (found | baselines).items()
    ]
    bounds = [f"{end} {name}" for name in ("rmse", "mae") for end in ("low", "high")]
    table = pd.DataFrame(rows, columns=["name", "baseline", "rmse", "mae", *bounds])
    return table.sort_values("rmse", kind="stable", ignore_index=True)


def head_to_head(ranks: np.ndarray, others: np.ndarray) -> pd.DataFrame:
    """For how many users one model ranks the hidden film higher than another: a row per margin, columns margin, users.

    Ranks (S, B), averaged over seeds as geometric means, so that 1 against 2 weighs as much as 10 against 20. Margins
    run by powers of two from "8 times and more lower" (-4) over even (0) to "8 times and more higher" (4).
    """
    ratio = np.log2(others).mean(0) - np.log2(ranks).mean(0)  # (B,) above 0: the first ranks the film higher
    even = np.abs(ratio) < 1e-9
    steps = np.minimum(np.floor(np.abs(ratio)), 3) + 1  # 1: less than twice as high … 4: eight times and more
    margins = np.where(even, 0, np.sign(ratio) * steps).astype(int)
    return pd.DataFrame({"margin": range(-4, 5), "users": [int((margins == step).sum()) for step in range(-4, 5)]})


def wins(margins: pd.DataFrame) -> tuple[int, int, int]:
    """For how many users of a `head_to_head` the first model ranks the film higher, the second does, neither does."""
    side = np.sign(margins["margin"])
    first, second, neither = (int(margins.loc[side == sign, "users"].sum()) for sign in (1, -1, 0))
    return first, second, neither


def _ends(intervals: dict[str, tuple[float, float]]) -> dict[str, float]:
    """Intervals as "low <metric>" and "high <metric>"."""
    return {f"{end} {name}": pair[at] for name, pair in intervals.items() for at, end in enumerate(("low", "high"))}


def _extras(document: dict) -> dict[str, float]:
    """What a result holds besides its means."""
    error = (document.get("calibration") or {}).get("ece", np.nan)
    return _ends(document.get("interval", {})) | document.get("beyond", {}) | {ERROR: error}
