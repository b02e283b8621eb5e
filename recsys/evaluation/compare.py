"""Do two models really differ? Paired comparisons on the same users, from the ranks in the result files.

Every pair of a leaderboard is tested and corrected together, once, so that a pair has the same verdict wherever it is
shown. Loads neither torch nor Streamlit. Shapes: V variants, S seeds, B users, P pairs.
"""

import warnings
from itertools import combinations

import numpy as np
import pandas as pd

from recsys.evaluation import results
from recsys.evaluation.significance import bootstrap_differences, holm, randomisation
from recsys.ranking.metrics import values

ALPHA = 0.05  # corrected p below which a difference is significant
COLUMNS = ["variant", "other", "metric", "users", "difference", "low", "high", "p", "p_holm", "differs"]


def pairwise_tests(
    dataset: str, protocol: str, metric: str = "ndcg@10", report: results.Report = warnings.warn
) -> pd.DataFrame:
    """Every two variants of the leaderboard, a row for each pair, the worse one as `variant`, the better as `other`.

    difference: metric of `variant` less that of `other`, the mean over users of their means over seeds; low, high: its
    95 % bootstrap interval over users; p: randomisation test; p_holm: p corrected for all rows together; differs:
    whether that is below SURE. Results that cannot be read or compared are left out, each with a sentence to `report`.
    """
    names, figures = _figures(dataset, protocol, metric, report)
    if len(names) < 2:
        return pd.DataFrame(columns=COLUMNS)
    pairs = np.array([(row, better) for better, row in combinations(range(len(names)), 2)])  # (P, 2)
    low, high = bootstrap_differences(figures, pairs)
    p = randomisation(figures, pairs)
    corrected, means = holm(p), figures.mean(0)
    return pd.DataFrame(
        {
            "variant": [names[one] for one, _ in pairs],
            "other": [names[other] for _, other in pairs],
            "metric": metric,
            "users": len(figures),
            "difference": means[pairs[:, 0]] - means[pairs[:, 1]],
            "low": low,
            "high": high,
            "p": p,
            "p_holm": corrected,
            "differs": corrected < ALPHA,
        }
    )


def against_best(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of `pairwise_tests` that compare with the best variant, the nearest to it first."""
    worse = set(table["variant"])
    return table[~table["other"].isin(worse)].reset_index(drop=True)


def head_to_head(table: pd.DataFrame, one: str, other: str) -> pd.Series:
    """The row of `pairwise_tests` about two variants as seen from `one`: the difference is above 0 where it is better.

    Raises ResultError where the two were not compared, about which `pairwise_tests` has reported.
    """
    for row in table.to_dict("records"):
        if (row["variant"], row["other"]) == (one, other):
            return pd.Series(row)
        if (row["variant"], row["other"]) == (other, one):
            return pd.Series(row | _from_the_other_side(row))
    raise results.ResultError(f"{one} and {other} cannot be compared: they were not both measured on the same people")


def _from_the_other_side(row: dict) -> dict:
    """What changes when the two variants of a row change sides."""
    sides = {"variant": row["other"], "other": row["variant"]}
    return sides | {"difference": -row["difference"], "low": -row["high"], "high": -row["low"]}


def _figures(dataset: str, protocol: str, metric: str, report: results.Report) -> tuple[list[str], np.ndarray]:
    """Variants, best first, and what each user contributes to the metric (B, V), averaged over seeds."""
    found: dict[str, np.ndarray] = {}
    for document in results.documents(dataset, protocol, report):
        try:
            ranks = results.ranks(dataset, protocol, document["variant"])
        except results.ResultError as error:
            report(str(error))
            continue
        found[document["variant"]] = values(ranks, metric).mean(0)
    names = sorted(found, key=lambda name: -found[name].mean())
    return names, np.stack([found[name] for name in names], 1) if names else np.empty((0, 0))
