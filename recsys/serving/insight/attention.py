"""Where an attention model looks while it predicts the next film.

Attention is not influence: it says what a layer reads, not what the answer would be without it.
Shapes: L layers, H heads, T tokens, N distances.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
import pandas as pd

from recsys.data.dataset import Dataset
from recsys.errors import Message
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import History, ServingError, check_items

MAX_DISTANCE = 30  # films before the next one, as far back as attention is averaged
MASK_LABEL, START_LABEL = "[mask]", "start"  # the token that is no film, in models that fill blanks and in others


@dataclass(frozen=True)
class Attention:
    """The attention in one sequence; the last token is the one from which the next film is predicted."""

    tokens: np.ndarray  # (T,) items; what is no item is the start of a history or, at its end, the mask
    films: np.ndarray  # (T,) True where a token is a film
    labels: list[str]  # each token as people call it
    weights: np.ndarray  # (L, H, T, T) row: which token looks, column: at which; rows sum to 1
    ends_with_mask: bool  # whether the last token is a `[mask]`, not the newest film

    def view(self, layer: int | None = None, head: int | None = None) -> np.ndarray:
        """(T, T) of one layer and head, each counted from 0; None: the mean of them."""
        return _select_mean(self.weights, layer, head)


@dataclass(frozen=True)
class DistanceAttention:
    """The attention of the last token by distance: column n - 1 is the n-th film before the next one."""

    total: np.ndarray  # (L, H, N) sum over people
    people: np.ndarray  # (N,) whose history is that long

    def __add__(self, other: "DistanceAttention") -> "DistanceAttention":
        return DistanceAttention(self.total + other.total, self.people + other.people)

    def table(self, layer: int | None = None, head: int | None = None) -> pd.DataFrame:
        """Distance (1 = the newest film), attention (mean over people) and people, as far as anybody's history goes."""
        reached = self.people > 0
        mean = _select_mean(self.total, layer, head)[reached] / self.people[reached]
        return pd.DataFrame(
            {"distance": np.flatnonzero(reached) + 1, "attention": mean, "people": self.people[reached]}
        )


def attention(predictor: Predictor, films: History) -> Attention:
    """The attention while the model predicts what follows `films` (items, oldest first).

    Raises ServingError for models without attention and for items outside the catalogue.
    """
    dataset, model = predictor.dataset, predictor.model
    if not model.has_attention:
        raise ServingError("{title} has no attention to look at; choose BERT4Rec", title=Message(predictor.title))
    tokens = model.input_tokens(check_items(dataset, films))
    labels = token_labels(dataset, tokens, MASK_LABEL if model.can_fill_masks else START_LABEL)
    return Attention(tokens, tokens < dataset.n_items, labels, model.attention(tokens), model.can_fill_masks)


def token_labels(dataset: Dataset, tokens: np.ndarray, other: str = MASK_LABEL) -> list[str]:
    """Each token as people call it: "Alien (1979)", or `other` for what is no film."""
    films = dataset.catalog.films
    return [films[token].label if token < dataset.n_items else other for token in tokens.tolist()]


def attention_by_distance(
    predictor: Predictor, histories: Sequence[np.ndarray], farthest: int = MAX_DISTANCE
) -> DistanceAttention:
    """How the last token divides its attention over the films before it, summed over histories of items."""
    if not len(histories):
        raise ServingError("nobody has watched anything here; take a data set with ratings")
    return reduce(add, (_distance_attention(attention(predictor, history), farthest) for history in histories))


def _distance_attention(seen: Attention, farthest: int) -> DistanceAttention:
    """The attention of one history by distance, with N = `farthest`."""
    weights = seen.weights[:, :, -1, seen.films][:, :, ::-1][:, :, :farthest]  # (L, H, n), the newest film first
    missing = farthest - weights.shape[-1]
    return DistanceAttention(
        np.pad(weights, ((0, 0), (0, 0), (0, missing))), (np.arange(farthest) < weights.shape[-1]) * 1
    )


def sample_histories(dataset: Dataset, n: int, seed: int = 0) -> list[np.ndarray]:
    """The histories of up to n people drawn at random, the same for the same seed."""
    people = np.random.default_rng(seed).permutation(dataset.n_users)[:n]
    return [history for history in (dataset.history(int(person)) for person in people) if len(history)]


def attention_table(seen: Attention, layer: int | None = None, head: int | None = None) -> pd.DataFrame:
    """A view as a table: a row for each token that looks, a column for each that is looked at."""
    return pd.DataFrame(seen.view(layer, head), index=seen.labels, columns=seen.labels)


def most_attended(
    seen: Attention, layer: int | None = None, head: int | None = None, k: int = 10
) -> list[tuple[int, float]]:
    """The k films that the last token looks at most: (position, weight), the strongest first."""
    weights = seen.view(layer, head)[-1]
    order = np.argsort(-weights, kind="stable")
    return [(int(position), float(weights[position])) for position in order if seen.films[position]][:k]


def _select_mean(weights: np.ndarray, layer: int | None, head: int | None) -> np.ndarray:
    """(…) of weights (L, H, …): those of one layer and head; None: the mean of them."""
    layers = weights if layer is None else weights[layer : layer + 1]
    heads = layers if head is None else layers[:, head : head + 1]
    return heads.mean((0, 1))
