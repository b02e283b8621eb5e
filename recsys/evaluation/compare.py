"""Do two models really differ? Paired comparisons on the same users, from the ranks in the result files.

Loads neither torch nor Streamlit. Shapes: S seeds, B users, V variants, P pairs.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from recsys.evaluation import results
from recsys.evaluation.certainty import bootstrap, holm, randomisation
from recsys.evaluation.metrics import values

COLUMNS = ["variant", "other", "metric", "users", "difference", "low", "high", "p", "p_holm"]


def against_best(
    dataset: str, protocol: str, variants: Sequence[str] | None = None, metric: str = "ndcg@10"
) -> pd.DataFrame:
    """Every variant against the best of them, a row each, the nearest first; None: all that have a result.

    difference: metric of `variant` less that of `other`, the mean over users of their means over seeds; low, high: its
    95 % bootstrap interval over users; p: randomisation test; p_holm: corrected for the number of rows.
    Raises ResultError when a result is missing or two do not tell of the same users.
    """
    names, figures = _figures(dataset, protocol, variants, metric)
    return _compare(names, figures, [(row, 0) for row in range(1, len(names))], metric)


def all_pairs(
    dataset: str, protocol: str, variants: Sequence[str] | None = None, metric: str = "ndcg@10"
) -> pd.DataFrame:
    """Every two variants, the better one as `other`; columns as in `against_best`, corrected for all pairs together."""
    names, figures = _figures(dataset, protocol, variants, metric)
    return _compare(names, figures, [(row, better) for better, row in combinations(range(len(names)), 2)], metric)


def pair(dataset: str, protocol: str, one: str, other: str, metric: str = "ndcg@10") -> pd.Series:
    """Two variants, a row of `all_pairs` as seen from `one`: above 0 where it is better. Raises ResultError."""
    row = all_pairs(dataset, protocol, [one, other], metric).iloc[0]
    if row["variant"] == one:
        return row
    turned = {
        "variant": one,
        "other": other,
        "difference": -row["difference"],
        "low": -row["high"],
        "high": -row["low"],
    }
    return pd.Series(row.to_dict() | turned)


def _figures(dataset: str, protocol: str, variants: Sequence[str] | None, metric: str) -> tuple[list[str], np.ndarray]:
    """Variants, best first, and what each user contributes to the metric (V, B), averaged over seeds."""
    known = results.leaderboard(dataset, protocol)["variant"] if variants is None else variants
    names = list(dict.fromkeys(known))
    same = [_what_was_measured(results.load(dataset, protocol, name)) for name in names]
    ranks = [results.ranks(dataset, protocol, name) for name in names]
    for name, measured, own in zip(names, same, ranks, strict=True):
        if measured != same[0] or own.shape[1] != ranks[0].shape[1]:
            raise results.ResultError(
                f"{name} and {names[0]} were not measured on the same users of {dataset}; "
                f"run: python -m recsys evaluate all --dataset {dataset} --protocol {protocol}"
            )
    each = [values(own, metric).mean(0) for own in ranks]
    order = sorted(range(len(names)), key=lambda row: -each[row].mean())
    return [names[row] for row in order], np.array([each[row] for row in order])


def _what_was_measured(document: dict) -> tuple[str, dict]:
    """What must be the same for two results to be of the same users."""
    return document["fingerprint"], document["protocol"]


def _compare(names: list[str], figures: np.ndarray, pairs: list[tuple[int, int]], metric: str) -> pd.DataFrame:
    """A row for each pair of rows of figures (V, B)."""
    if not pairs:
        return pd.DataFrame(columns=COLUMNS)
    differences = np.stack([figures[one] - figures[other] for one, other in pairs], 1)  # (B, P)
    low, high = bootstrap(differences)
    p = randomisation(differences)
    return pd.DataFrame(
        {
            "variant": [names[one] for one, _ in pairs],
            "other": [names[other] for _, other in pairs],
            "metric": metric,
            "users": len(differences),
            "difference": differences.mean(0),
            "low": low,
            "high": high,
            "p": p,
            "p_holm": holm(p),
        }
    )
