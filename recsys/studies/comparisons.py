"""Studies that train nothing: they set side by side what has been measured already. Loads no torch."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import pandas as pd
from scipy.stats import kendalltau

from recsys.errors import RecsysError, recsys_command
from recsys.evaluation import overview, protocols, results
from recsys.evaluation.costs import costs
from recsys.evaluation.report import short
from recsys.evaluation.significance import FEW_USERS

METRIC = "ndcg@10"
FEWEST = 5  # recommenders in common, below which a correlation says nothing
CLOSE = 0.95  # of the best NDCG@10: who comes so near at least cost is named


def protocols_agree(dataset: str) -> dict[str, Any]:
    """How alike protocols rank the same recommenders: a row for each pair of them.

    Protocols with too few people are left out: there the order itself is noise. Raises RecsysError for too few.
    """
    measured = protocols.in_order(protocol for name, protocol in results.available() if name == dataset)
    boards = {name: overview.measures(dataset, name) for name in measured}
    rows = []
    for one, other in combinations(boards, 2):
        table = overview.orders({one: boards[one], other: boards[other]}, METRIC)
        enough = len(table) >= FEWEST and table[[f"users {one}", f"users {other}"]].min(axis=None) >= FEW_USERS
        if enough:
            tau = float(kendalltau(table[one], table[other]).statistic)
            pair = f"{protocols.title(one)} – {protocols.title(other)}"
            best = table.iloc[0]
            rows.append([pair, round(tau, 4), len(table), best["title"], int(best[f"rank {other}"])])
    if not rows:
        raise RecsysError(
            f"fewer than two protocols have {FEWEST} recommenders in common on {dataset}",
            recsys_command("evaluate", "all", "--dataset", dataset, "--protocol", "all"),
        )
    rows.sort(key=lambda row: row[1])
    (least, low, *_), (most, high, *_) = rows[0], rows[-1]
    return {
        "title": "Do protocols agree?",
        "dataset": dataset,
        "question": "Would another way of measuring have put the same recommenders in another order? 1: the very same "
        "order, 0: no connection, -1: the reverse.",
        "papers": "Krichene and Rendle (KDD 2020) show that ranking among a hundred drawn films instead of all can "
        "change which recommender is best.",
        "answer": f"Here {least} agree least ({signed(low)}) and {most} most ({signed(high)}).",
        "how": f"{dataset}: Kendall's τ of test NDCG@10 over the recommenders measured under both protocols; "
        f"{overview_of(boards)}.",
        "columns": [
            {"name": "pair", "title": "Protocols"},
            {"name": "tau", "title": "Rank correlation (Kendall's τ)", "digits": 2},
            {"name": "common", "title": "Recommenders"},
            {"name": "best", "title": "Best under the first"},
            {"name": "rank", "title": "Its rank under the second"},
        ],
        "rows": rows,
        "chart": {"kind": "rows", "x": "pair", "y": "tau"},
    }


def quality_for_time(dataset: str) -> dict[str, Any]:
    """What each recommender reached and how long it was trained. Raises RecsysError where no time is known."""
    unsampled = [name for data, name in results.available() if data == dataset and not protocols.get(name).sampled]
    measured = {name: costs(results.documents(dataset, name)) for name in unsampled}
    protocol = max(measured, key=lambda name: len(measured[name].table), default="")
    if not protocol or measured[protocol].table.empty:
        lines = [recsys_command(verb, "bert4rec", "--dataset", dataset) for verb in ("train", "evaluate")]
        raise RecsysError(f"no result on {dataset} says how long its model was trained", " && ".join(lines))
    found = measured[protocol]
    table = found.table.sort_values("seconds")
    best = table.loc[table[METRIC].idxmax()]
    near = table[table[METRIC] >= CLOSE * best[METRIC]].iloc[0]
    second = f"nothing quicker comes within {1 - CLOSE:.0%} of it"
    if near["title"] != best["title"]:
        after = f"{short(near[METRIC])} after {minutes(near['seconds'])}"
        second = f"{near['title']} is the quickest to come within {1 - CLOSE:.0%} of it ({after})"
    return {
        "title": "Quality for time",
        "dataset": dataset,
        "question": "Which recommender gives most for the time that it is trained?",
        "papers": "Petrov and Macdonald (RecSys 2022) show that BERT4Rec needs far more training than is usual to "
        "reach its published figures, and Klenitskiy and Vasilev (RecSys 2023) that SASRec gets there sooner.",
        "answer": f"Here {best['title']} is best ({short(best[METRIC])} after {minutes(best['seconds'])}), "
        f"and {second}.",
        "how": f"{dataset}, protocol “{protocols.title(protocol)}”, test NDCG@10; seconds by the training loop's own "
        f"clock, one training each, {found.hardware}, in part beside other work; validation included.",
        "columns": [
            {"name": "title", "title": "Recommender"},
            {"name": "family", "title": "Family"},
            {"name": "seconds", "title": "Seconds of training", "digits": 0},
            {"name": "ndcg", "title": "NDCG@10", "digits": 4},
        ],
        "rows": [
            [row["title"], row["family"], round(row["seconds"], 1), row[METRIC]] for row in table.to_dict("records")
        ],
        "chart": {"kind": "scatter", "x": "seconds", "y": "ndcg", "by": "family", "label": "title", "log": ["x"]},
    }


def overview_of(boards: dict[str, pd.DataFrame]) -> str:
    """How many recommenders each protocol has."""
    return "; ".join(f"{protocols.title(name)}: {len(board)}" for name, board in boards.items())


def signed(figure: float) -> str:
    """`−.21`."""
    return ("−" if figure < 0 else "") + short(abs(figure), 2)


def minutes(seconds: float) -> str:
    """A time as people say it."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


COMPARISONS: dict[str, Callable[[str], dict[str, Any]]] = {"protocols": protocols_agree, "cost": quality_for_time}
