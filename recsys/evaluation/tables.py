"""Tables of stored results for pages and studies: metrics, training curves, training times, calibration, test users.

This module loads neither torch nor Streamlit. Shapes: S seeds, B users.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from recsys import errors
from recsys.data.dataset import Dataset, HeldOut
from recsys.data.split import Splitting
from recsys.evaluation import results
from recsys.evaluation.metric_texts import CALIBRATION_ERROR, LIST_METRICS, METRIC_TEXTS
from recsys.evaluation.report import members, needs_training
from recsys.evaluation.results import ResultError, WarningCallback
from recsys.evaluation.significance import FEW_USERS
from recsys.ranking.metrics import METRICS

INTERVAL_COLUMNS = tuple(f"{end} {name}" for name in METRICS for end in ("low", "high"))  # "low hr@10"
MEASURES = (*METRICS, *METRIC_TEXTS)  # columns of `leaderboard` by which recommenders can be compared
ALL_ITEMS = "all"  # `normalized_over` of old results: probabilities sum to 1 over all items, history included
COST_COLUMNS = ["variant", "title", "family", "seconds", "log10", *METRICS]  # log10: of the seconds
TOP_K = 10  # a target with this rank or a better one is a hit


@dataclass(frozen=True)
class Costs:
    """Training times on one kind of hardware, and the titles of the other recommenders. Best NDCG@10 first."""

    table: pd.DataFrame  # COST_COLUMNS, a row per recommender
    hardware: str  # "cpu" or "cuda"; "" if no result has a time
    fitted_titles: list[str]  # recommenders that are fitted on first use, without a training loop
    mixture_titles: list[str]  # mixtures, whose members have training times
    untimed_titles: list[str]  # trained recommenders without a recorded time
    other_hardware_titles: list[str]  # recommenders with times on other hardware


@dataclass(frozen=True)
class HeldOutUser:
    """A user of the test part."""

    user_id: int  # as in the ratings file
    history: np.ndarray  # items, oldest first
    target: int  # the held-out item


def leaderboard(dataset: str, protocol: str, warn: WarningCallback = errors.warn) -> pd.DataFrame:
    """Return a row for each of `results.documents`, in their order.

    Columns: variant, title, family, paper, users, seeds (number of seeds), METRICS (means over seeds), "std <metric>",
    fingerprint, date, INTERVAL_COLUMNS (95 %, over users), LIST_METRICS and CALIBRATION_ERROR. A value that a result
    lacks is NaN. `warn` is called with an error for each skipped result.
    """
    rows = [
        {name: document[name] for name in ("variant", "title", "family", "paper", "users", "fingerprint")}
        | {"seeds": len(document["seeds"]), "date": document["run"]["date"]}
        | document["mean"]
        | {f"std {name}": value for name, value in document["std"].items()}
        | _interval_columns(document.get("interval", {}))
        | document.get("beyond", {})
        | {CALIBRATION_ERROR: (document.get("calibration") or {}).get("ece", np.nan)}
        for document in results.documents(dataset, protocol, warn)
    ]
    columns = ["variant", "title", "family", "paper", "users", "seeds", *METRICS, *(f"std {name}" for name in METRICS)]
    optional = [*INTERVAL_COLUMNS, *LIST_METRICS, CALIBRATION_ERROR]
    table = pd.DataFrame(rows, columns=[*columns, "fingerprint", "date", *optional])
    return table.astype(dict.fromkeys(optional, np.float64))


def all_ranks(
    dataset: str, protocol: str, variants: Sequence[str], warn: WarningCallback = errors.warn
) -> dict[str, np.ndarray]:
    """Return `results.comparable_ranks` (S, B) by recommender. `warn` is called for each result without ranks."""
    ranks = {}
    for variant in variants:
        try:
            ranks[variant] = results.comparable_ranks(dataset, protocol, variant)
        except ResultError as error:
            warn(error)
    return ranks


def compare_protocols(leaderboards: dict[str, pd.DataFrame], metric: str) -> pd.DataFrame:
    """Return the metric and rank of recommenders under several protocols, the highest metric first.

    `leaderboards` has the table of `leaderboard` by protocol. The first protocol decides the order of the rows. Only
    recommenders with a result under all protocols are ranked. Equal values share the better rank. Columns: variant,
    title, family and, for each protocol, "<name>" (the metric), "rank <name>" and "users <name>".
    """
    labels = pd.concat([rows[["variant", "title", "family"]] for rows in leaderboards.values()])
    table = labels.drop_duplicates("variant").set_index("variant")
    for name, rows in leaderboards.items():
        columns = rows.set_index("variant")[[metric, "users"]]
        table = table.join(columns.rename(columns={metric: name, "users": f"users {name}"}), how="inner")
    table = table.dropna(subset=list(leaderboards))
    for name in leaderboards:
        table[f"rank {name}"] = table[name].rank(ascending=False, method="min").astype(int)
    return table.sort_values(next(iter(leaderboards)), ascending=False, kind="stable").reset_index()


def discordant_share(table: pd.DataFrame, left: str, right: str) -> float | None:
    """Return the share of pairs of recommenders that two protocols of `compare_protocols` rank in opposite order.

    A pair with equal values counts half. Returns None with fewer than two recommenders, and with fewer than FEW_USERS
    users, because their order is noise.
    """
    if len(table) < 2 or table[[f"users {left}", f"users {right}"]].min(axis=None) < FEW_USERS:
        return None
    left_values, right_values = table[left].tolist(), table[right].tolist()
    # 1 for a pair in equal order, -1 in opposite order, 0 with equal values; the mean is Kendall's τ
    signs = [
        np.sign(left_values[a] - left_values[b]) * np.sign(right_values[a] - right_values[b])
        for a, b in combinations(range(len(table)), 2)
    ]
    return float(1 - np.mean(signs)) / 2


def best_of_families(leaderboard_table: pd.DataFrame, variants: Sequence[str], n: int) -> list[str]:
    """Return the best recommender of each of the n best families. Only `variants` are considered."""
    rows = leaderboard_table[leaderboard_table["variant"].isin(variants)]  # best first
    return rows.drop_duplicates("family")["variant"].tolist()[:n]


def training_logs(dataset: str, variants: Sequence[str], splitting: Splitting) -> dict[str, pd.DataFrame]:
    """Return `results.training_log` by recommender. Recommenders without a log are left out."""
    logs = {variant: results.training_log(dataset, variant, splitting) for variant in variants}
    return {variant: log for variant, log in logs.items() if len(log)}


def reliability_tables(dataset: str, protocol: str, variants: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return predicted probabilities and hit rates, by bin and by rank, of recommenders with probabilities.

    Both tables have the columns variant, predicted, hit_rate and normalized_over. `normalized_over` names the items
    over which probabilities sum to 1: results.UNSEEN_ITEMS or ALL_ITEMS. The table by bin also has "share", the share
    of the predictions. The table by rank also has "rank", from 1, and "predicted_to_hit_ratio", NaN without hits.
    """
    bin_rows, rank_rows = [], []
    for variant in variants:
        if calibration := results.load(dataset, protocol, variant).get("calibration"):
            labels = {"variant": variant, "normalized_over": calibration.get("over", ALL_ITEMS)}
            bin_rows += [labels | row for row in calibration["bins"]]
            by_rank = pd.DataFrame(calibration["by_rank"])
            rank_rows += by_rank.assign(**labels, rank=by_rank.index + 1).to_dict("records")
    bin_table = pd.DataFrame(bin_rows, columns=["variant", "predicted", "hit_rate", "normalized_over", "share"])
    rank_table = pd.DataFrame(rank_rows, columns=["variant", "rank", "predicted", "hit_rate", "normalized_over"])
    hit_rate = rank_table["hit_rate"].astype(np.float64)
    rank_table["predicted_to_hit_ratio"] = rank_table["predicted"] / hit_rate.where(hit_rate > 0)
    return bin_table, rank_table


def rating_error_table(documents: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return errors of predicted ratings in stars, a row per recommender and baseline, the best RMSE first.

    Columns: name (a recommender or a baseline of `rating_errors`), baseline (bool), rmse, mae, "low rmse", ….
    """
    summaries = {document["variant"]: document["stars"] for document in documents if "stars" in document}
    baselines = next(iter(summaries.values()))["baselines"] if summaries else {}  # all results have equal baselines
    rows = [
        {"name": name, "baseline": name in baselines, **row, **_interval_columns(row["interval"])}
        for name, row in (summaries | baselines).items()
    ]
    columns = ["name", "baseline", "rmse", "mae", "low rmse", "high rmse", "low mae", "high mae"]
    return pd.DataFrame(rows, columns=columns).sort_values("rmse", kind="stable", ignore_index=True)


def rank_margins(ranks: np.ndarray, other_ranks: np.ndarray) -> pd.DataFrame:
    """Count users by how much better one of two recommenders ranks their target. Columns: margin and users.

    Ranks (S, B) are averaged over seeds as geometric means. The ratio is `other_ranks` / `ranks`. Margin 0 means equal
    ranks, 1 a ratio below 2, 2 a ratio from 2 to 4, 3 a ratio from 4 to 8, and 4 a higher ratio. Negative margins stand
    for the inverse ratios.
    """
    log_ratio = np.log2(other_ranks).mean(0) - np.log2(ranks).mean(0)  # (B,) positive: the first recommender is better
    size = np.minimum(np.floor(np.abs(log_ratio)), 3) + 1  # of the margin, 1 to 4
    is_equal = np.abs(log_ratio) < 1e-9  # the difference of equal means can be a rounding error
    margins = np.where(is_equal, 0, np.sign(log_ratio) * size).astype(int)
    return pd.DataFrame({"margin": range(-4, 5), "users": [int((margins == n).sum()) for n in range(-4, 5)]})


def count_wins(margins: pd.DataFrame) -> tuple[int, int, int]:
    """Count the users of `rank_margins` for whom the first, the second and neither recommender is better."""
    users_by_sign = margins["users"].groupby(np.sign(margins["margin"])).sum()
    return int(users_by_sign[1]), int(users_by_sign[-1]), int(users_by_sign[0])


def costs(documents: Sequence[dict[str, Any]]) -> Costs:
    """Return the training times of results on the most common hardware. A result has the time of its first seed.

    The training loop measures the time, which excludes loading and ranking.
    """
    trained = [document for document in documents if needs_training(document)]
    fitted = [document for document in documents if not needs_training(document)]
    timed = [(document, document["run"]["trained"][0]) for document in trained if document["run"].get("trained")]
    counts = Counter(timing["hardware"] for _, timing in timed)
    hardware = max(counts, key=lambda kind: (counts[kind], kind), default="")
    rows = [
        {**document, "seconds": timing["seconds"], "log10": np.log10(timing["seconds"]), **document["mean"]}
        for document, timing in timed
        if timing["hardware"] == hardware
    ]
    return Costs(
        pd.DataFrame(rows, columns=COST_COLUMNS),
        hardware,
        fitted_titles=[document["title"] for document in fitted if not members(document)],
        mixture_titles=[document["title"] for document in fitted if members(document)],
        untimed_titles=[document["title"] for document in trained if not document["run"].get("trained")],
        other_hardware_titles=[document["title"] for document, timing in timed if timing["hardware"] != hardware],
    )


def training_time(notes: Mapping[str, Any]) -> dict[str, Any]:
    """Return {"seconds", "hardware"} from the notes of a checkpoint, {} if one of them is unknown.

    Old notes have no device. If their version of PyTorch has no CUDA, the hardware was the CPU.
    """
    device = str(notes.get("device", "")).partition(":")[0]
    hardware = device or ("cpu" if str(notes.get("versions", {}).get("torch", "")).endswith("+cpu") else "")
    seconds = notes.get("seconds")
    return {"seconds": seconds, "hardware": hardware} if seconds and hardware else {}


def held_out_user(dataset: Dataset, test: HeldOut, row: int) -> HeldOutUser:
    """Return the test user of a row."""
    assert test.queries.users is not None, "held-out queries have users"
    user = test.queries.users[row]
    return HeldOutUser(int(dataset.user_ids[user]), test.queries.histories[row], int(test.targets[row]))


def matching_recommenders(
    leaderboard_table: pd.DataFrame, ranks: dict[str, np.ndarray], dataset: Dataset, test: HeldOut
) -> list[str]:
    """Return the recommenders of a `leaderboard` whose ranks (S, B) are for the users of `test`."""
    variants = leaderboard_table.loc[leaderboard_table["fingerprint"] == dataset.fingerprint, "variant"]
    return [variant for variant in variants if variant in ranks and ranks[variant].shape[1] == len(test)]


def ranks_of_user(
    leaderboard_table: pd.DataFrame, ranks: dict[str, np.ndarray], variants: list[str], row: int
) -> pd.DataFrame:
    """Return how recommenders of a `leaderboard` rank the target of one user, the best first.

    Columns: variant, title, family, rank, low, high, is_hit. `rank` is the median over seeds, `low` and `high` are the
    best and the worst seed. `is_hit`: the median is at most TOP_K.
    """
    table = leaderboard_table.set_index("variant").loc[variants, ["title", "family"]].reset_index()
    for column, statistic in (("rank", np.median), ("low", np.min), ("high", np.max)):
        table[column] = [statistic(ranks[variant][:, row]) for variant in variants]
    table["is_hit"] = table["rank"] <= TOP_K
    return table.sort_values("rank", kind="stable", ignore_index=True)


def _interval_columns(intervals: dict[str, tuple[float, float]]) -> dict[str, float]:
    """Return intervals as columns "low <metric>" and "high <metric>"."""
    columns: dict[str, float] = {}
    for name, (low, high) in intervals.items():
        columns |= {f"low {name}": low, f"high {name}": high}
    return columns
