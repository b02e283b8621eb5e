"""One test user: what they had watched, which film was hidden, and how every model ranked it. No model is run.

Shapes: S seeds, B test users.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from recsys.data.dataset import Dataset, HeldOut
from recsys.evaluation.results import ResultError

FOUND = 10  # a rank up to which a film counts as found


@dataclass(frozen=True)
class Person:
    """A user of the test part."""

    user_id: int  # as in the ratings file
    history: np.ndarray  # items, oldest first
    target: int  # the item that was hidden


def person(dataset: Dataset, test: HeldOut, row: int) -> Person:
    """The test user of a row, counted from 0; raises ResultError where there is none."""
    if not 0 <= row < len(test) or test.queries.users is None:
        raise ResultError(f"{dataset.name} has {len(test)} test users; choose a number from 1 to {len(test)}")
    user = test.queries.users[row]
    return Person(int(dataset.user_ids[user]), test.queries.histories[row], int(test.targets[row]))


def comparable(board: pd.DataFrame, ranks: dict[str, np.ndarray], dataset: Dataset, test: HeldOut) -> list[str]:
    """The variants of a `results.leaderboard` whose ranks are certain to be those of these test users."""
    same = board.loc[board["fingerprint"] == dataset.fingerprint, "variant"]
    return [variant for variant in same if variant in ranks and ranks[variant].shape[1] == len(test)]


def ranks_of(board: pd.DataFrame, ranks: dict[str, np.ndarray], variants: list[str], row: int) -> pd.DataFrame:
    """How each model ranked the hidden film of one user, best first: variant, title, family, rank, low, high, found.

    ranks: variant → (S, B). rank: the median over seeds; low, high: the best and the worst seed's; found: whether the
    median is at most FOUND.
    """
    own = [ranks[variant][:, row] for variant in variants]
    table = board.set_index("variant").loc[variants, ["title", "family"]].reset_index()
    table["rank"] = [float(np.median(each)) for each in own]
    table["low"], table["high"] = [int(each.min()) for each in own], [int(each.max()) for each in own]
    table["found"] = table["rank"] <= FOUND
    return table.sort_values("rank", kind="stable", ignore_index=True)
