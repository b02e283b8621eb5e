"""Studies that train nothing: they compare stored results. Loads no torch."""

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any

import pandas as pd
from scipy.stats import kendalltau

from recsys.data import datasets
from recsys.errors import RecsysError, recsys_command
from recsys.evaluation import protocols, results, tables
from recsys.evaluation.report import format_metric
from recsys.evaluation.significance import FEW_USERS

METRIC = "ndcg@10"
MIN_RECOMMENDERS = 5  # recommenders measured under both protocols; with fewer, the rank correlation is noise
HARDWARE = {"cpu": "a CPU", "cuda": "a GPU"}
TOLERANCE = 0.05  # a faster recommender is named if its METRIC is at most this share below the best


def correlate_protocols(dataset: str) -> dict[str, Any]:
    """Return a document, in the format of `evaluation.studies`, with the rank correlation of each pair of protocols.

    Protocols that shorten the histories are left out, because "List lengths" in the leaderboard compares them. Pairs
    with few common recommenders or few users are left out, because their correlation is noise. Raises RecsysError if no
    pair remains.
    """
    measured = protocols.sort_names(name for data, name in results.available() if data == dataset)
    names = [name for name in measured if protocols.get(name).has_whole_histories]
    leaderboards = {name: tables.leaderboard(dataset, name) for name in names}
    rows = _correlations(leaderboards)
    if not rows:
        raise RecsysError(
            "fewer than two protocols have {minimum} recommenders in common on {dataset}",
            recsys_command("evaluate", "all", "--dataset", dataset, "--protocol", "all"),
            minimum=MIN_RECOMMENDERS,
            dataset=dataset,
        )
    rows.sort(key=lambda row: row[1])  # by the correlation
    (low_pair, low_tau, *_), (high_pair, high_tau, *_) = rows[0], rows[-1]
    sizes = ", ".join(f"“{protocols.title(name)}” {len(leaderboard)}" for name, leaderboard in leaderboards.items())
    return {
        "title": "Do protocols agree?",
        "dataset": dataset,
        "question": "Does another protocol put the same recommenders in a different order? 1 is the same order, 0 no "
        "correlation, and -1 the reverse order.",
        "papers": "Krichene and Rendle (KDD 2020) show that ranking among a hundred sampled films instead of all can "
        "change which recommender is best.",
        "answer": f"{_quoted(low_pair)} agree least ({_signed(low_tau)}), {_quoted(high_pair)} most "
        f"({_signed(high_tau)}).",
        "how": f"{datasets.title(dataset)}: Kendall's τ of test NDCG@10 over the recommenders measured under both "
        f"protocols; number of recommenders: {sizes}.",
        "columns": [
            {"name": "pair", "title": "Protocols"},
            {"name": "tau", "title": "Rank correlation (Kendall's τ)", "digits": 2},
            {"name": "common", "title": "Recommenders"},
            {"name": "best", "title": "Best under the first protocol"},
            {"name": "rank", "title": "Its rank under the second protocol"},
        ],
        "rows": rows,
        "chart": {"kind": "rows", "x": "pair", "y": "tau"},
    }


def _correlations(leaderboards: Mapping[str, pd.DataFrame]) -> list[list[Any]]:
    """Return the rows of the study, one per pair of protocols. `leaderboards` are by protocol."""
    rows: list[list[Any]] = []
    for left, right in combinations(leaderboards, 2):
        table = tables.compare_protocols({left: leaderboards[left], right: leaderboards[right]}, METRIC)
        min_users = table[[f"users {left}", f"users {right}"]].min(axis=None)
        if len(table) >= MIN_RECOMMENDERS and min_users >= FEW_USERS:
            tau = float(kendalltau(table[left], table[right]).statistic)
            pair = f"{protocols.title(left)} – {protocols.title(right)}"
            best = table.iloc[0]  # the best recommender under the left protocol
            rows.append([pair, round(tau, 4), len(table), best["title"], int(best[f"rank {right}"])])
    return rows


def compare_costs(dataset: str) -> dict[str, Any]:
    """Return a document, in the format of `evaluation.studies`, with the metric and training time of each recommender.

    Of the protocols that rank all items, the protocol with the most training times is used. Raises RecsysError if no
    result has a training time.
    """
    measured = [name for data, name in results.available() if data == dataset and name in protocols.PROTOCOLS]
    unsampled = [name for name in measured if not protocols.get(name).n_candidates]
    costs = {name: tables.costs(results.documents(dataset, name)) for name in unsampled}
    protocol = max(costs, key=lambda name: len(costs[name].table), default=None)
    if protocol is None or costs[protocol].table.empty:
        commands = [recsys_command(verb, "bert4rec", "--dataset", dataset) for verb in ("train", "evaluate")]
        raise RecsysError(
            "no result on {dataset} says how long its model was trained", " && ".join(commands), dataset=dataset
        )
    table = costs[protocol].table.sort_values("seconds")
    best = table.loc[table[METRIC].idxmax()]
    fastest = table[table[METRIC] >= (1 - TOLERANCE) * best[METRIC]].iloc[0]  # of the recommenders that are good enough
    comparison = f"nothing quicker comes within {TOLERANCE:.0%} of it"
    if fastest["title"] != best["title"]:
        comparison = f"{fastest['title']} is the quickest to come within {TOLERANCE:.0%} of it ({_result(fastest)})"
    return {
        "title": "Quality and training time",
        "dataset": dataset,
        "question": "Which recommender is best for its training time?",
        "papers": "Petrov and Macdonald (RecSys 2022) show that BERT4Rec needs far more training than usual to reach "
        "its published figures. Klenitskiy and Vasilev (RecSys 2023) show that SASRec reaches them sooner.",
        "answer": f"Here {best['title']} is best ({_result(best)}), and {comparison}.",
        "how": f"{datasets.title(dataset)}, protocol “{protocols.title(protocol)}”, test NDCG@10; time measured by the "
        f"training loop, including validation; one training run each, on {HARDWARE[costs[protocol].hardware]} that "
        "sometimes ran other programs too.",
        "columns": [
            {"name": "title", "title": "Recommender"},
            {"name": "family", "title": "Family"},
            {"name": "seconds", "title": "Seconds of training", "digits": 0},
            {"name": "ndcg", "title": "NDCG@10", "digits": 4},
        ],
        "rows": table.round({"seconds": 1})[["title", "family", "seconds", METRIC]].to_numpy().tolist(),
        "chart": {"kind": "scatter", "x": "seconds", "y": "ndcg", "by": "family", "label": "title", "log": ["x"]},
    }


def _quoted(pair: str) -> str:
    """Return a pair of protocols as part of a sentence: "A – B" → "“A” and “B”"."""
    return " and ".join(f"“{title}”" for title in pair.split(" – "))


def _signed(value: float) -> str:
    """Format a correlation with two digits and a minus sign instead of a hyphen: "−0.21", as in the table."""
    return f"{value:.2f}".replace("-", "−")


def _result(row: Any) -> str:
    """Format the metric and the training time of a row of `Costs.table`: ".1234 after 5 min"."""
    seconds = row["seconds"]
    return f"{format_metric(row[METRIC])} after " + (f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min")


# name on the command line → function from the name of a data set to the document
COMPARISONS: dict[str, Callable[[str], dict[str, Any]]] = {"protocols": correlate_protocols, "cost": compare_costs}
