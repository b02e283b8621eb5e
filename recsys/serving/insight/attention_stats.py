"""Attention averaged over people, by position: figure 4 of SASRec (arXiv:1808.09781), figure 2 of BERT4Rec
(arXiv:1904.06690).

Shapes: P people, L layers, H heads, W tokens that are kept of each person, N tokens that are averaged.

Attention between genres, after figure 5 of SASRec (arXiv:1808.09781).

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
from recsys.data.datasets import serving_split
from recsys.serving.insight import attention
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import ServingError
from recsys.text.films import genre_matrix

MAX_USERS = 256  # at most, whose attention is averaged
MAX_TOKENS = 15  # tokens that are averaged, as in both papers
MAX_STORED_TOKENS = 50  # newest tokens of each person whose attention to each other is kept
PAD = -1  # before the first token of a history that is shorter than others


@dataclass(frozen=True, eq=False)
class AttentionBatch:
    """The attention within the newest tokens of several people; what falls on older tokens is not in it."""

    tokens: np.ndarray  # (P, W) the newest last; NOTHING before the first; numbers from I on are no films
    weights: np.ndarray  # (P, L, H, W, W) float32, row: which token attends, column: to which; 0 beside NOTHING
    newest: int  # N tokens that everybody has
    ends_with_mask: bool  # whether the last token is a `[mask]`, not the newest film


@dataclass(frozen=True, eq=False)
class MeanAttention:
    """The mean attention among the N newest tokens. A row sums to less than 1: the rest falls on older tokens."""

    weights: np.ndarray  # (L, H, N, N) row: which position attends, column: to which
    people: int
    ends_with_mask: bool

    @property
    def newest(self) -> int:
        """N."""
        return self.weights.shape[-1]

    @property
    def labels(self) -> list[str]:
        """Each position: how many films before the next one it stands, from N down to 1, or [mask]."""
        furthest = self.newest - self.ends_with_mask
        return [str(back) for back in range(furthest, 0, -1)] + [attention.MASK_LABEL] * self.ends_with_mask

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


def collect_attention(predictor: Predictor, n: int = MAX_USERS, seed: int = 0) -> AttentionBatch:
    """The attention over the test histories of up to n people with NEWEST films or more, the same for the same seed.

    The test part is that of the splitting which the recommender was trained with. Raises ServingError for models
    without attention, and where nobody watched so many films; DataError where nothing can be held out.
    """
    newest, histories = sample_test_histories(predictor, n, seed)
    found = [attention.attention(predictor, history) for history in histories]
    width = min(MAX_STORED_TOKENS, max(len(seen.tokens) for seen in found))
    layers, heads = found[0].weights.shape[:2]
    tokens = np.full((len(found), width), PAD)
    weights = np.zeros((len(found), layers, heads, width, width), np.float32)
    for person, seen in enumerate(found):
        own = min(width, len(seen.tokens))
        tokens[person, -own:] = seen.tokens[-own:]
        weights[person, :, :, -own:, -own:] = seen.weights[:, :, -own:, -own:]
    return AttentionBatch(tokens, weights, newest, found[0].ends_with_mask)


def sample_test_histories(predictor: Predictor, n: int, seed: int) -> tuple[int, list[np.ndarray]]:
    """How many of the newest tokens can be averaged, and the test histories of up to n people who have so many films.

    So all of these tokens are films, but for a [mask]; NEWEST, or fewer where the model reads fewer.
    """
    newest = min(MAX_TOKENS, predictor.model.max_length or MAX_TOKENS)
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


def mean_attention(found: AttentionBatch) -> MeanAttention:
    """The mean over people among the N newest tokens, nothing renormalised."""
    n = found.newest
    newest = found.weights[..., -n:, -n:]
    return MeanAttention(newest.mean(0, dtype=np.float64), len(newest), found.ends_with_mask)


MIN_USERS = 20  # people with a pair of films of two genres; with fewer, nothing is said of the two
N_ROUNDS = 30  # of fitting r and c in turn
N_BOOTSTRAP, BOOTSTRAP_SEED = 400, 0  # samples of people for an interval
GENRE_COLUMNS = ["from", "to", "times", "low", "high", "people", "pairs"]


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
        known = people >= MIN_USERS
        times, low, high = (np.where(known, found, np.nan).ravel() for found in _ratio_with_interval(*each))
        names = np.array(genres, object)
        found = [np.repeat(names, len(at)), np.tile(names, len(at)), times, low, high]
        return pd.DataFrame(dict(zip(GENRE_COLUMNS, [*found, people.ravel(), pairs.sum(0).ravel()], strict=True)))


def genre_attention(found: AttentionBatch, catalog: Catalog) -> GenreAttention:
    """The attention from films to other films within `found`, by their genres."""
    has, genres = genre_matrix(catalog)  # (I, G)
    films = (found.tokens >= 0) & (found.tokens < len(has))  # (P, W)
    of = np.where(films[..., None], has[np.where(films, found.tokens, 0)], False).astype(np.float32)  # (P, W, G)
    others = films[:, :, None] & films[:, None] & ~np.eye(films.shape[1], dtype=bool)  # (P, W, W)
    observed = np.where(others[:, None, None], found.weights, 0)
    expected = np.zeros_like(observed)
    for layer, head in np.ndindex(observed.shape[1:3]):
        expected[:, layer, head] = expected_by_position(observed[:, layer, head], others)
    pairs = others & (expected > 0).any((1, 2))  # a film that only reads back gives nothing to later ones
    given, due = (_sum_by_genre(of[:, None, None], weights) for weights in (observed, expected))
    return GenreAttention(genres, given, due, _sum_by_genre(of, pairs).astype(np.int64))


def expected_by_position(weights: np.ndarray, others: np.ndarray) -> np.ndarray:
    """What position alone explains of weights (P, W, W): r_i · c_d where `others` (P, W, W) is True, else 0."""
    width = weights.shape[-1]
    distance = np.subtract.outer(np.arange(width), np.arange(width)) + width - 1  # (W, W) from 0
    given, at_distance = weights.sum(2, dtype=np.float64), _sum_by_distance(distance, weights.sum(0, dtype=np.float64))
    counted = others.astype(np.float32)
    of_film = np.ones(weights.shape[:2])  # r, (P, W)
    of_distance = np.ones(2 * width - 1)  # c
    for _ in range(N_ROUNDS):
        of_distance = _ratio(at_distance, _sum_by_distance(distance, np.einsum("pi,pij->ij", of_film, counted)))
        of_film = _ratio(given, np.einsum("ij,pij->pi", of_distance[distance], counted))
    return of_film[:, :, None] * of_distance[distance] * others


def _sum_by_distance(distance: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Sums of a table (W, W) over each distance, (2W - 1,)."""
    return np.bincount(distance.ravel(), table.ravel(), 2 * len(table) - 1)


def _sum_by_genre(of: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weights (…, W, W) summed over films of each two genres, (…, G, G); of (…, W, G)."""
    return np.swapaxes(of, -1, -2) @ (weights.astype(np.float32) @ of)


def _ratio_with_interval(observed: np.ndarray, expected: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Observed over expected (G, G) of sums (P, G, G) for each person, and the bounds of its 95% interval."""
    people = len(observed)
    drawn = np.random.default_rng(BOOTSTRAP_SEED).multinomial(
        people, np.full(people, 1 / people), N_BOOTSTRAP
    )  # (draws, P)
    samples = _ratio(*(np.tensordot(drawn, of, 1) for of in (observed, expected)))
    low, high = np.quantile(samples, [0.025, 0.975], axis=0)
    return _ratio(observed.sum(0), expected.sum(0)), low, high


def _ratio(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """One divided by the other, 0 where that is 0."""
    return np.divide(one, other, out=np.zeros(np.shape(one), np.float64), where=other > 0)
