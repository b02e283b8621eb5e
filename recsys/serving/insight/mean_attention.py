"""Attention averaged over people, by position: figure 4 of SASRec (arXiv:1808.09781), figure 2 of BERT4Rec
(arXiv:1904.06690).

Shapes: P people, L layers, H heads, W tokens that are kept of each person, N tokens that are averaged.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from recsys.data.datasets import serving_split
from recsys.serving.insight import attention
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import ServingError

PEOPLE = 256  # at most, whose attention is averaged
NEWEST = 15  # tokens that are averaged, as in both papers
KEPT = 50  # newest tokens of each person whose attention to each other is kept
NOTHING = -1  # before the first token of a history that is shorter than others


@dataclass(frozen=True, eq=False)
class Sequences:
    """The attention within the newest tokens of several people; what falls on older tokens is not in it."""

    tokens: np.ndarray  # (P, W) the newest last; NOTHING before the first; numbers from I on are no films
    weights: np.ndarray  # (P, L, H, W, W) float32, row: which token attends, column: to which; 0 beside NOTHING
    newest: int  # N tokens that everybody has
    by_mask: bool  # whether the last token is a `[mask]`, not the newest film


@dataclass(frozen=True, eq=False)
class MeanAttention:
    """The mean attention among the N newest tokens. A row sums to less than 1: the rest falls on older tokens."""

    weights: np.ndarray  # (L, H, N, N) row: which position attends, column: to which
    people: int
    by_mask: bool

    @property
    def newest(self) -> int:
        """N."""
        return self.weights.shape[-1]

    @property
    def labels(self) -> list[str]:
        """Each position: how many films before the next one it stands, from N down to 1, or [mask]."""
        furthest = self.newest - self.by_mask
        return [str(back) for back in range(furthest, 0, -1)] + [attention.MASK] * self.by_mask

    def within(self) -> np.ndarray:
        """(L, H, N) how much of each position's attention falls on the N newest, itself included."""
        return self.weights.sum(-1)

    def table(self) -> pd.DataFrame:
        """A row for each weight: layer and head from 1, the position that attends, the one attended to, the weight."""
        shape = self.weights.shape
        layer, head, row, column = (index.ravel() for index in np.indices(shape))
        labels = np.array(self.labels, object)
        return pd.DataFrame(
            {
                "layer": layer + 1,
                "head": head + 1,
                "attends": labels[row],
                "attended to": labels[column],
                "weight": self.weights.ravel(),
                "people": self.people,
            }
        )


def sequences(predictor: Predictor, n: int = PEOPLE, seed: int = 0) -> Sequences:
    """The attention over the test histories of up to n people with NEWEST films or more, the same for the same seed.

    The test part is that of the splitting which the recommender was trained with. Raises ServingError for models
    without attention, and where nobody watched so many films; DataError where nothing can be held out.
    """
    newest, histories = drawn(predictor, n, seed)
    found = [attention.attention(predictor, history) for history in histories]
    width = min(KEPT, max(len(seen.tokens) for seen in found))
    layers, heads = found[0].weights.shape[:2]
    tokens = np.full((len(found), width), NOTHING)
    weights = np.zeros((len(found), layers, heads, width, width), np.float32)
    for person, seen in enumerate(found):
        own = min(width, len(seen.tokens))
        tokens[person, -own:] = seen.tokens[-own:]
        weights[person, :, :, -own:, -own:] = seen.weights[:, :, -own:, -own:]
    return Sequences(tokens, weights, newest, found[0].by_mask)


def drawn(predictor: Predictor, n: int, seed: int) -> tuple[int, list[np.ndarray]]:
    """How many of the newest tokens can be averaged, and the test histories of up to n people who have so many films.

    So all of these tokens are films, but for a [mask]; NEWEST, or fewer where the model reads fewer.
    """
    newest = min(NEWEST, predictor.model.max_length or NEWEST)
    dataset = predictor.dataset
    known = serving_split(dataset.name)(dataset).test.queries.histories
    rows = np.flatnonzero([len(history) >= newest for history in known])
    if not len(rows):
        raise ServingError(
            "nobody in {name} has watched {newest} films; choose a data set with more ratings",
            name=dataset.name,
            newest=newest,
        )
    chosen = np.random.default_rng(seed).permutation(rows)[:n]
    return newest, [known[row] for row in chosen]


def mean(found: Sequences) -> MeanAttention:
    """The mean over people among the N newest tokens, nothing renormalised."""
    n = found.newest
    newest = found.weights[..., -n:, -n:]
    return MeanAttention(newest.mean(0, dtype=np.float64), len(newest), found.by_mask)
