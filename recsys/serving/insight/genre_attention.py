"""Attention between genres, after figure 5 of SASRec (arXiv:1808.09781).

The paper averages attention between films drawn from two genres. Our networks have a relative position bias, and a
position divides 100% over however many films there are, so such a mean says first of all which genres stand near each
other in histories, and who watches few films. Here it is divided by what position alone explains: the attention
expected of films i and j is r_i · c_d, where c_d depends on the distance d = i - j alone and r_i on the film that
attends; both are chosen so that the sums over each distance and over each film that attends are those observed. A bias
by distance in the logits of a softmax gives exactly this form, so 1 is a network that looks at distance and nothing
else. What genre and distance explain alike is credited to distance, and a position that has few films to choose from
can prefer none by much: both make the figures cautious. A film's attention to itself does not count, nor
that from or to what is no film; a film with several genres counts for each of them.

Shapes: P people, L layers, H heads, W tokens of each person, G genres.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from recsys.data.dataset import Catalog
from recsys.serving.insight.mean_attention import Sequences
from recsys.text.films import genre_matrix

FEWEST = 20  # people with a pair of films of two genres; with fewer, nothing is said of the two
ROUNDS = 30  # of fitting r and c in turn
DRAWS, SEED = 400, 0  # samples of people for an interval
COLUMNS = ["from", "to", "times", "low", "high", "people", "pairs"]


@dataclass(frozen=True, eq=False)
class GenreAttention:
    """What films of one genre give to films of another, summed for each person; row: which attends."""

    genres: tuple[str, ...]
    observed: np.ndarray  # (P, L, H, G, G)
    expected: np.ndarray  # (P, L, H, G, G) by position alone
    pairs: np.ndarray  # (P, G, G) of films, those without any attention left out

    def table(self, genres: list[str], layer: int | None = None, head: int | None = None) -> pd.DataFrame:
        """COLUMNS, a row for each two of `genres`: attention from one to the other, in times of what is expected.

        low, high: the 95% interval over people, by the bootstrap. NaN with fewer than FEWEST people. layer and head
        count from 0; None: all of them together.
        """
        at = [self.genres.index(genre) for genre in genres]
        layers, heads = (slice(None) if one is None else slice(one, one + 1) for one in (layer, head))
        each = [of[:, layers, heads][..., at, :][..., at].sum((1, 2)) for of in (self.observed, self.expected)]
        pairs = self.pairs[:, at][:, :, at]
        people = (pairs > 0).sum(0)
        known = people >= FEWEST
        times, low, high = (np.where(known, found, np.nan).ravel() for found in _times(*each))
        names = np.array(genres, object)
        found = [np.repeat(names, len(at)), np.tile(names, len(at)), times, low, high]
        return pd.DataFrame(dict(zip(COLUMNS, [*found, people.ravel(), pairs.sum(0).ravel()], strict=True)))


def between_genres(found: Sequences, catalog: Catalog) -> GenreAttention:
    """The attention from films to other films within `found`, by their genres."""
    has, genres = genre_matrix(catalog)  # (I, G)
    films = (found.tokens >= 0) & (found.tokens < len(has))  # (P, W)
    of = np.where(films[..., None], has[np.where(films, found.tokens, 0)], False).astype(np.float32)  # (P, W, G)
    others = films[:, :, None] & films[:, None] & ~np.eye(films.shape[1], dtype=bool)  # (P, W, W)
    observed = np.where(others[:, None, None], found.weights, 0)
    expected = np.zeros_like(observed)
    for layer, head in np.ndindex(observed.shape[1:3]):
        expected[:, layer, head] = by_position(observed[:, layer, head], others)
    pairs = others & (expected > 0).any((1, 2))  # a film that only reads back gives nothing to later ones
    given, due = (_by_genre(of[:, None, None], weights) for weights in (observed, expected))
    return GenreAttention(genres, given, due, _by_genre(of, pairs).astype(np.int64))


def by_position(weights: np.ndarray, others: np.ndarray) -> np.ndarray:
    """What position alone explains of weights (P, W, W): r_i · c_d where `others` (P, W, W) is True, else 0."""
    width = weights.shape[-1]
    distance = np.subtract.outer(np.arange(width), np.arange(width)) + width - 1  # (W, W) from 0
    given, at_distance = weights.sum(2, dtype=np.float64), _over(distance, weights.sum(0, dtype=np.float64))
    counted = others.astype(np.float32)
    of_film = np.ones(weights.shape[:2])  # r, (P, W)
    of_distance = np.ones(2 * width - 1)  # c
    for _ in range(ROUNDS):
        of_distance = _ratio(at_distance, _over(distance, np.einsum("pi,pij->ij", of_film, counted)))
        of_film = _ratio(given, np.einsum("ij,pij->pi", of_distance[distance], counted))
    return of_film[:, :, None] * of_distance[distance] * others


def _over(distance: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Sums of a table (W, W) over each distance, (2W - 1,)."""
    return np.bincount(distance.ravel(), table.ravel(), 2 * len(table) - 1)


def _by_genre(of: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weights (…, W, W) summed over films of each two genres, (…, G, G); of (…, W, G)."""
    return np.swapaxes(of, -1, -2) @ (weights.astype(np.float32) @ of)


def _times(observed: np.ndarray, expected: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Observed over expected (G, G) of sums (P, G, G) for each person, and the bounds of its 95% interval."""
    people = len(observed)
    drawn = np.random.default_rng(SEED).multinomial(people, np.full(people, 1 / people), DRAWS)  # (draws, P)
    samples = _ratio(*(np.tensordot(drawn, of, 1) for of in (observed, expected)))
    low, high = np.quantile(samples, [0.025, 0.975], axis=0)
    return _ratio(observed.sum(0), expected.sum(0)), low, high


def _ratio(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """One divided by the other, 0 where that is 0."""
    return np.divide(one, other, out=np.zeros(np.shape(one), np.float64), where=other > 0)
