"""Tables of stored results for pages and studies: metrics, training curves, training times, calibration, test users.

Loads neither torch nor Streamlit. Shapes: V recommenders, S seeds, B users.
"""

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from recsys.data.dataset import Dataset, HeldOut
from recsys.data.split import LEAVE_ONE_OUT, Splitting
from recsys.evaluation import results
from recsys.evaluation.report import BEYOND, is_trained, members
from recsys.evaluation.results import Report, ResultError
from recsys.evaluation.significance import FEW_USERS
from recsys.ranking.metrics import METRICS

ENDS = ("low", "high")
BOUNDS = tuple(f"{end} {name}" for name in METRICS for end in ENDS)
ERROR = "calibration error"
MEASURES = (*METRICS, *BEYOND, ERROR)  # columns by which recommenders can be compared
EVERYTHING = "all"  # value of `over` in old results: probabilities sum to 1 over all films, seen ones included
COST_COLUMNS = ["variant", "title", "family", "seconds", "log10", *METRICS]
MAX_FOUND_RANK = 10  # a target up to this rank counts as found


@dataclass(frozen=True)
class Costs:
    """Training times on one kind of hardware, and the titles without one. The best NDCG@10 comes first."""

    table: pd.DataFrame  # COST_COLUMNS, a row per recommender
    hardware: str  # "cpu" or "cuda"; "" if no time is known
    fitted: list[str]  # fitted on first use, without a training loop
    mixed: list[str]  # combine other recommenders, which have their own training times
    unknown: list[str]  # trained, but without a recorded time
    other_hardware: list[str]


@dataclass(frozen=True)
class Person:
    """A user of the test part."""

    user_id: int  # as in the ratings file
    history: np.ndarray  # items, oldest first
    target: int  # the held-out item


def measures(dataset: str, protocol: str, report: Report = warnings.warn) -> pd.DataFrame:
    """Return the leaderboard with BOUNDS (95 %, over users), BEYOND and ERROR.

    A value that a result lacks is NaN. `report` is called with a sentence for each skipped result.
    """
    documents = results.documents(dataset, protocol, report)
    board, rows = results.as_table(documents), [_extras(document) for document in documents]
    return board.join(pd.DataFrame(rows, index=board.index, columns=[*BOUNDS, *BEYOND, ERROR], dtype=np.float64))


def all_ranks(
    dataset: str, protocol: str, variants: Sequence[str], report: Report = warnings.warn
) -> dict[str, np.ndarray]:
    """Return ranks (S, B) by recommender. Results that cannot be read are skipped with a sentence to `report`."""
    ranks = {}
    for variant in variants:
        try:
            ranks[variant] = results.comparable_ranks(dataset, protocol, variant)
        except ResultError as error:
            report(str(error))
    return ranks


def orders(boards: dict[str, pd.DataFrame], metric: str) -> pd.DataFrame:
    """Return how the same recommenders rank under several protocols, the best under the first protocol on top.

    `boards` has the table of `measures` by protocol. Only recommenders with a result under all protocols are ranked.
    Equal values share the better rank. Columns: variant, title, family and, for each protocol, its name (the metric),
    "rank <name>" and "users <name>".
    """
    labels = pd.concat([board[["variant", "title", "family"]] for board in boards.values()])
    table = labels.drop_duplicates("variant").set_index("variant")
    for name, board in boards.items():
        columns = board.set_index("variant")[[metric, "users"]]
        table = table.join(columns.rename(columns={metric: name, "users": f"users {name}"}), how="inner")
    table = table.dropna(subset=list(boards))
    for name in boards:
        table[f"rank {name}"] = table[name].rank(ascending=False, method="min").astype(int)
    return table.sort_values(next(iter(boards)), ascending=False, kind="stable").reset_index()


def discordant_share(table: pd.DataFrame, left: str, right: str) -> float | None:
    """Return the share of pairs of recommenders that two protocols of `orders` rank in opposite order.

    It is (1 - τ) / 2 with Kendall's τ. A pair with equal values counts half. None: fewer than two recommenders, or
    fewer than FEW_USERS users, because their order is noise.
    """
    if len(table) < 2 or table[[f"users {left}", f"users {right}"]].min(axis=None) < FEW_USERS:
        return None
    x, y = table[left].tolist(), table[right].tolist()
    signs = [np.sign(x[a] - x[b]) * np.sign(y[a] - y[b]) for a, b in combinations(range(len(table)), 2)]
    return float(1 - np.mean(signs)) / 2


def best_of_families(board: pd.DataFrame, variants: Sequence[str], n: int) -> list[str]:
    """Return the best of `variants` in each of the n best families of a table of `measures`."""
    rows = board[board["variant"].isin(variants)]
    return rows.drop_duplicates("family")["variant"].tolist()[:n]


def curves(dataset: str, variants: Sequence[str], splitting: Splitting = LEAVE_ONE_OUT) -> dict[str, pd.DataFrame]:
    """Return training logs (`results.curve`) by recommender, of the recommenders that have one."""
    logs = {variant: results.curve(dataset, variant, splitting) for variant in variants}
    return {variant: log for variant, log in logs.items() if len(log)}


def reliability(dataset: str, protocol: str, variants: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return predicted probabilities and hit rates, by bin and by rank, of recommenders with probabilities.

    Both tables have the columns variant, predicted, hit_rate and over: the films over which probabilities sum to 1,
    results.UNSEEN or EVERYTHING. By bin: also share, of the predictions. By rank: also rank, from 1, and times, which
    is predicted / hit_rate, NaN if that is 0.
    """
    bins, ranks = [], []
    for variant in variants:
        if calibration := results.load(dataset, protocol, variant).get("calibration"):
            labels = {"variant": variant, "over": calibration.get("over", EVERYTHING)}
            bins.append(pd.DataFrame(calibration["bins"]).assign(**labels))
            by_rank = pd.DataFrame(calibration["by_rank"])
            ranks.append(by_rank.assign(**labels, rank=range(1, len(by_rank) + 1)))
    columns = ["variant", "predicted", "hit_rate", "over"]
    bins_table = pd.concat(bins) if bins else pd.DataFrame(columns=[*columns, "share"])
    rank_table = pd.concat(ranks) if ranks else pd.DataFrame(columns=[*columns, "rank"], dtype=np.float64)
    times = rank_table["predicted"] / rank_table["hit_rate"].where(rank_table["hit_rate"] > 0)
    return bins_table[[*columns, "share"]], rank_table[["variant", "rank", *columns[1:]]].assign(times=times)


def predicted_stars(documents: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return errors of predicted ratings in stars, a row per recommender and baseline, the best RMSE first.

    Columns: name (a recommender or a baseline of `rating_errors`), baseline (bool), rmse, mae, "low rmse", ….
    """
    rows = {document["variant"]: document["stars"] for document in documents if "stars" in document}
    baselines = next(iter(rows.values()))["baselines"] if rows else {}  # all results have the same
    records = [
        {"name": name, "baseline": name in baselines, "rmse": row["rmse"], "mae": row["mae"], **_ends(row["interval"])}
        for name, row in (rows | baselines).items()
    ]
    bounds = [f"{end} {name}" for name in ("rmse", "mae") for end in ENDS]
    table = pd.DataFrame(records, columns=["name", "baseline", "rmse", "mae", *bounds])
    return table.sort_values("rmse", kind="stable", ignore_index=True)


def rank_margins(ranks: np.ndarray, other_ranks: np.ndarray) -> pd.DataFrame:
    """Count users by how much higher one recommender ranks their target than another: columns margin and users.

    Ranks (S, B) are averaged over seeds as geometric means, so 1 against 2 counts like 10 against 20. Margins are
    steps of powers of two, from -4 (at least 8 times lower) over 0 (equal) to 4 (at least 8 times higher).
    """
    ratio = np.log2(other_ranks).mean(0) - np.log2(ranks).mean(0)  # (B,) positive: the first ranks the target higher
    steps = np.minimum(np.floor(np.abs(ratio)), 3) + 1  # 1: less than twice as high … 4: eight times and more
    margins = np.where(np.abs(ratio) < 1e-9, 0, np.sign(ratio) * steps).astype(int)
    return pd.DataFrame({"margin": range(-4, 5), "users": [int((margins == step).sum()) for step in range(-4, 5)]})


def count_wins(margins: pd.DataFrame) -> tuple[int, int, int]:
    """Return for how many users of `rank_margins` the first, the second and neither recommender ranks higher."""
    wins, losses, draws = (int(margins.loc[np.sign(margins["margin"]) == sign, "users"].sum()) for sign in (1, -1, 0))
    return wins, losses, draws


def costs(documents: Sequence[dict[str, Any]]) -> Costs:
    """Return the training times of results: the first seed with a time, on the most common hardware.

    A time is measured by the training loop. It excludes loading and ranking.
    """
    trained = [document for document in documents if is_trained(document)]
    fitted = [document for document in documents if not is_trained(document)]
    timed = [(document, times[0]) for document in trained if (times := document["run"].get("trained"))]
    kinds = Counter(time["hardware"] for _, time in timed)
    hardware = max(kinds, key=lambda kind: (kinds[kind], kind), default="")
    rows = [
        {**document, "seconds": time["seconds"], "log10": np.log10(time["seconds"]), **document["mean"]}
        for document, time in timed
        if time["hardware"] == hardware
    ]
    with_time = [document["variant"] for document, _ in timed]
    return Costs(
        pd.DataFrame(rows, columns=COST_COLUMNS),
        hardware,
        fitted=[document["title"] for document in fitted if not members(document)],
        mixed=[document["title"] for document in fitted if members(document)],
        unknown=[document["title"] for document in trained if document["variant"] not in with_time],
        other_hardware=[document["title"] for document, time in timed if time["hardware"] != hardware],
    )


def training_time(notes: Mapping[str, Any]) -> dict[str, Any]:
    """Return {"seconds", "hardware"} from the notes of a checkpoint, {} if they lack one.

    Old notes have no device. With a PyTorch without CUDA, it was the CPU.
    """
    device = str(notes.get("device", "")).partition(":")[0]
    hardware = device or ("cpu" if str(notes.get("versions", {}).get("torch", "")).endswith("+cpu") else "")
    seconds = notes.get("seconds")
    return {"seconds": seconds, "hardware": hardware} if seconds and hardware else {}


def person(dataset: Dataset, test: HeldOut, row: int) -> Person:
    """Return the test user of a row, counted from 0. Raises ResultError if there is none."""
    if not 0 <= row < len(test) or test.queries.users is None:
        raise ResultError(f"{dataset.name} has {len(test)} test users; choose a number from 1 to {len(test)}")
    user = test.queries.users[row]
    return Person(int(dataset.user_ids[user]), test.queries.histories[row], int(test.targets[row]))


def comparable(board: pd.DataFrame, ranks: dict[str, np.ndarray], dataset: Dataset, test: HeldOut) -> list[str]:
    """Return the recommenders of a leaderboard whose ranks (S, B) belong to these test users."""
    variants = board.loc[board["fingerprint"] == dataset.fingerprint, "variant"]
    return [variant for variant in variants if variant in ranks and ranks[variant].shape[1] == len(test)]


def ranks_of_person(board: pd.DataFrame, ranks: dict[str, np.ndarray], variants: list[str], row: int) -> pd.DataFrame:
    """Return how each recommender ranks the target of one user, the best first.

    Columns: variant, title, family, rank, low, high, found. `rank` is the median over seeds, `low` and `high` are the
    best and the worst seed. `found`: the median is at most MAX_FOUND_RANK.
    """
    of_user = [ranks[variant][:, row] for variant in variants]
    table = board.set_index("variant").loc[variants, ["title", "family"]].reset_index()
    table["rank"] = [float(np.median(seeds)) for seeds in of_user]
    table["low"], table["high"] = [int(seeds.min()) for seeds in of_user], [int(seeds.max()) for seeds in of_user]
    table["found"] = table["rank"] <= MAX_FOUND_RANK
    return table.sort_values("rank", kind="stable", ignore_index=True)


def _ends(intervals: dict[str, tuple[float, float]]) -> dict[str, float]:
    """Return intervals as "low <metric>" and "high <metric>"."""
    return {f"{end} {name}": bound for name, pair in intervals.items() for end, bound in zip(ENDS, pair, strict=True)}


def _extras(document: dict) -> dict[str, float]:
    """Return intervals, list metrics and calibration error of a result."""
    error = (document.get("calibration") or {}).get("ece", np.nan)
    return _ends(document.get("interval", {})) | document.get("beyond", {}) | {ERROR: error}
