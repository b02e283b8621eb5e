"""Markov: what was watched next, and soon after, by those who watched the same films last.

Shapes: B queries, I items, E watched films in all queries.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse

from recsys.data.schema import Dataset, HeldOut, Queries
from recsys.models._histories import csr_from_state, csr_state, last_places, pairs, per_item, popular_where_empty
from recsys.models.base import Recommender
from recsys.training.run import Run


@dataclass(frozen=True)
class MarkovConfig:
    """Defaults are those tuned on ML-1M."""

    window: int = 10  # films after a film that count as its followers
    fading: float = 0.7  # a follower d films later counts d^-fading
    recent: int = 100  # films of a history that are asked, from the end
    memory: float = 1.0  # the film at place d from the end counts d^-memory
    share: float = 0.7  # 1: followers as a share of all followers of a film; 0: as counts
    popularity: float = 0.3  # 0: as they are; 1: divided by how often the follower was watched


class Markov(Recommender):
    """Item-to-item counts that fade with distance, both where they are counted and where they are asked.

    A first-order Markov chain (as in Rendle et al., FPMC, WWW 2010, without factors) that looks further: with
    n(i, j) = Σ distance^-fading over the times that j followed i within the window, and c(j) the times j was watched,

        score(j) = Σ_d d^-memory · n(i_d, j) / (Σ_j' n(i_d, j'))^share / c(j)^popularity

    where i_d is the film at place d from the end. An empty history gets the order of popularity.
    """

    title = "Markov chain"
    family = "No learning"
    Config = MarkovConfig
    presets = {
        ("markov", "ml-1m"): MarkovConfig(),
        ("markov", "ml-100k"): MarkovConfig(fading=0.3, share=0.5),
        ("markov", "ml-latest-small"): MarkovConfig(window=20, fading=0.3, recent=20, memory=0.7),
    }

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: Run | None = None) -> Self:
        """Count; `valid` changes nothing. Reports {"stage": "fit", "done": distance, "total": window}."""
        run, events = run or Run(), train.interactions
        self.counts = train.counts.astype(np.float32)  # (I,)
        followers = sparse.csr_array((train.n_items, train.n_items), dtype=np.float32)  # (I, I)
        for distance in range(1, self.config.window + 1):
            later = pairs(events.user, events.item, train.n_items, distance)
            followers = followers + later * np.float32(distance**-self.config.fading)
            run.report({"stage": "fit", "done": distance, "total": self.config.window})
        rows = _inverse_power(followers.sum(1), self.config.share)
        columns = _inverse_power(self.counts, self.config.popularity)
        self.followers = sparse.csr_array(sparse.diags_array(rows) @ followers @ sparse.diags_array(columns))
        return self

    def score(self, queries: Queries) -> np.ndarray:
        """(B, I) float32, at least 0; a film that never followed one of the history's gets 0."""
        n_items = len(self.counts)
        row, film, age = last_places(queries.histories, n_items)
        asked = age < self.config.recent
        weight = (1.0 + age[asked]) ** -self.config.memory
        weights = sparse.csr_array(
            (weight.astype(np.float32), (row[asked], film[asked])), shape=(len(queries), n_items)
        )  # (B, I)
        return popular_where_empty((weights @ self.followers).toarray(), queries.histories, self.counts)

    def state(self) -> dict[str, np.ndarray]:
        """{"counts": (I,)} float32 and the three arrays of a CSR matrix (I, I)."""
        return {"counts": self.counts, **csr_state(self.followers)}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Raises KeyError or ValueError when `state` is not that of `n_items` films."""
        self.counts = per_item(state, "counts", n_items)
        self.followers = csr_from_state(state, n_items, n_items)


def _inverse_power(sums: np.ndarray, power: float) -> np.ndarray:
    """sums^-power, float32; a sum of 0 divides nothing."""
    return (np.maximum(sums, 1e-9) ** -power * (sums > 0)).astype(np.float32)


VARIANTS = {"markov": Markov}
