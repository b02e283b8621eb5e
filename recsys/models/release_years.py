"""How much more often films of the same or nearly the same release year are in one history than other films.

People rate the new films of the months in which they use a rating service. So films of 1996 are often in one history
although they have nothing else in common. This says little about the taste of a visitor.

Shapes: U users, I items, Y years, T items of a history.
"""

from collections.abc import Collection
from typing import Self

import numpy as np
import pandas as pd
from scipy import sparse

from recsys.data.dataset import Dataset
from recsys.models.array_model import item_array

N_DISTANCES = 4  # distances of 0 to 3 years have a lift; for others and unknown years, the log lift is 0
REFERENCE_DISTANCES = range(4, 9)  # in years; the lift is relative to pairs of films that are so far apart
WINDOW_YEARS = 3  # pairs of events are also counted for the years up to WINDOW_YEARS before and after each year
PSEUDO_COUNT = 30.0  # added to the numbers of pairs, so that a year with few films has a lift near 1


class ReleaseYears:
    """The release years of items, and the lifts of pairs of items by the distance of their years.

    A pair consists of two events of one user.

        lift(y, d) = r(y, d) / r(y, REFERENCE_DISTANCES)

    r(y, d) is the number of pairs of a film of year y and a film that is d years older or newer, divided by the number
    that is expected if the years of a pair are independent. A preference for an era raises both ratios alike, because
    an era has more than eight years.
    """

    def __init__(self, years: np.ndarray, first_year: int, log_lifts: np.ndarray) -> None:
        """Create a table.

        Args:
            years: The release year of each item, (I,) int; 0: unknown.
            first_year: The first of the Y years.
            log_lifts: The logarithm of the lift of each year at each distance, or 0 if it is negative,
                (Y, N_DISTANCES) float32.
        """
        self.years = years
        self.first_year = first_year
        self.log_lifts = log_lifts

    @classmethod
    def from_dataset(cls, train: Dataset) -> Self:
        """Count the pairs of events of all users. A pair of a user with n events has the weight 1 / n."""
        years = pd.to_numeric(train.catalog.movies["year"]).fillna(0).to_numpy(np.int64)
        if not years.any():
            return cls.empty(len(years))
        first_year = int(years[years > 0].min())
        events = train.interactions
        has_year = years[events.item] > 0
        cells = (events.user[has_year], years[events.item[has_year]] - first_year)
        shape = (train.n_users, int(years.max()) - first_year + 1)
        n_events = sparse.csr_array(sparse.coo_array((np.ones(len(cells[0])), cells), shape=shape))  # (U, Y)
        weighted = n_events * (1 / np.maximum(n_events.sum(1), 1))[:, None]
        n_pairs = (n_events.T @ weighted).toarray() - np.diag(weighted.sum(0))  # (Y, Y), without pairs of equal events
        n_expected = np.outer(n_pairs.sum(1), n_pairs.sum(0)) / max(n_pairs.sum(), 1)
        reference = _ratios(n_pairs, n_expected, REFERENCE_DISTANCES)
        lifts = np.stack([_ratios(n_pairs, n_expected, [distance]) / reference for distance in range(N_DISTANCES)], 1)
        return cls(years, first_year, np.log(np.maximum(lifts, 1)).astype(np.float32))

    @classmethod
    def empty(cls, n_items: int) -> Self:
        """Return a table without years, in which all log lifts are 0."""
        return cls(np.zeros(n_items, np.int64), 0, np.zeros((1, N_DISTANCES), np.float32))

    def mean_log_lifts(self, history: np.ndarray) -> np.ndarray:
        """Return the mean log lift of each item and the items of a history (T,), (I,) float32, see N_DISTANCES."""
        total = np.zeros(len(self.years), np.float32)
        for year in self.years[history]:
            if year:
                distances = np.abs(self.years - year)
                is_near = distances < N_DISTANCES
                total[is_near] += self.log_lifts[year - self.first_year, distances[is_near]]
        return total / max(len(history), 1)

    def state(self) -> dict[str, np.ndarray]:
        """Return the arrays to store."""
        return {
            "release_years": self.years.astype(np.int32),
            "first_release_year": np.array(self.first_year),
            "release_year_log_lifts": self.log_lifts,
        }

    @classmethod
    def from_state(cls, state: dict[str, np.ndarray], n_items: int) -> Self:
        """Return the stored table. A state of an older version has none, and gives an empty table."""
        if "release_years" not in state:
            return cls.empty(n_items)
        years = item_array(state, "release_years", n_items)
        return cls(years, int(state["first_release_year"]), state["release_year_log_lifts"])


def _ratios(n_pairs: np.ndarray, n_expected: np.ndarray, distances: Collection[int]) -> np.ndarray:
    """Return the number of pairs (Y, Y) at `distances` divided by the expected number, (Y,).

    The pairs of the years within WINDOW_YEARS of each year are added, and PSEUDO_COUNT to both numbers.
    """
    distance = np.abs(np.subtract.outer(np.arange(len(n_pairs)), np.arange(len(n_pairs))))  # (Y, Y)
    is_counted = np.isin(distance, list(distances))
    is_in_window = distance <= WINDOW_YEARS
    total, expected_total = (is_in_window @ np.where(is_counted, counts, 0).sum(1) for counts in (n_pairs, n_expected))
    return (total + PSEUDO_COUNT) / (expected_total + PSEUDO_COUNT)
