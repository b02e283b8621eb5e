"""Where an attention model looks while it asks for the next film.

Attention is not influence: it says what a layer reads, not what the answer would be without it.
Shapes: L layers, H heads, T tokens, N distances.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from recsys.data.schema import Dataset
from recsys.models.base import Recommender
from recsys.serving.inside import FillsBlanks, attending
from recsys.serving.recommend import History, ServingError, valid_items

FARTHEST = 30  # films before the next one, as far as attention is averaged
MASK, START = "[mask]", "start"  # the one token that is no film, in models that fill blanks and in others


@dataclass(frozen=True)
class Attention:
    """The attention of one sequence; the last token is the one that asks for the next film."""

    tokens: np.ndarray  # (T,) items; what is no item is the start of a history or, at its end, the mask
    films: np.ndarray  # (T,) True where a token is a film
    labels: list[str]  # what people call each token
    weights: np.ndarray  # (L, H, T, T) row: who looks, column: at what; rows sum to 1
    asks_by_mask: bool  # whether a `[mask]` asks for the next film, not the newest film

    def view(self, layer: int | None = None, head: int | None = None) -> np.ndarray:
        """(T, T) of one layer and head, each counted from 0; None: the mean of them."""
        layers = self.weights if layer is None else self.weights[layer : layer + 1]
        heads = layers if head is None else layers[:, head : head + 1]
        return heads.mean((0, 1))


@dataclass(frozen=True)
class ByDistance:
    """The attention of the asking token by distance: place n - 1 is the n-th film before the next one."""

    total: np.ndarray  # (L, H, N) added up over people
    people: np.ndarray  # (N,) whose history reaches so far

    def __add__(self, other: "ByDistance") -> "ByDistance":
        return ByDistance(self.total + other.total, self.people + other.people)

    def table(self, layer: int | None = None, head: int | None = None) -> pd.DataFrame:
        """Distance (1 = the newest film), attention (the mean over people) and people, as far as anybody reaches."""
        layers = self.total if layer is None else self.total[layer : layer + 1]
        heads = layers if head is None else layers[:, head : head + 1]
        reached = self.people > 0
        mean = heads.mean((0, 1))[reached] / self.people[reached]
        return pd.DataFrame(
            {"distance": np.flatnonzero(reached) + 1, "attention": mean, "people": self.people[reached]}
        )


def attention(dataset: Dataset, model: Recommender, films: History) -> Attention:
    """The attention while `model` asks for what follows `films` (items, oldest first).

    Raises ServingError for models without attention and for items outside the catalogue.
    """
    attends = attending(model)
    tokens = attends.prompt(valid_items(dataset, films))
    masks = isinstance(model, FillsBlanks)
    labels = names(dataset, tokens, MASK if masks else START)
    return Attention(tokens, tokens < dataset.n_items, labels, attends.attention(tokens), masks)


def names(dataset: Dataset, tokens: np.ndarray, other: str = MASK) -> list[str]:
    """What people call each token: "Alien (1979)", or `other` for what is no film."""
    films = dataset.catalog.films
    return [films[token].label if token < dataset.n_items else other for token in tokens.tolist()]


def by_distance(
    dataset: Dataset, model: Recommender, histories: Sequence[np.ndarray], farthest: int = FARTHEST
) -> ByDistance:
    """How the asking token divides its attention over the films before it, added up over histories of items."""
    found: ByDistance | None = None
    for history in histories:
        seen = attention(dataset, model, history)
        asked = seen.weights[:, :, -1, seen.films][:, :, ::-1][:, :, :farthest]  # (L, H, n), the newest film first
        rest = farthest - asked.shape[-1]
        one = ByDistance(np.pad(asked, ((0, 0), (0, 0), (0, rest))), (np.arange(farthest) < asked.shape[-1]) * 1)
        found = found + one if found else one
    if found is None:
        raise ServingError("nobody has watched anything here; take a data set with ratings")
    return found


def sample(dataset: Dataset, n: int, seed: int = 0) -> list[np.ndarray]:
    """The histories of up to n people drawn at random, the same for the same seed."""
    people = np.random.default_rng(seed).permutation(dataset.n_users)[:n]
    return [history for history in (dataset.history(int(person)) for person in people) if len(history)]


def table(seen: Attention, layer: int | None = None, head: int | None = None) -> pd.DataFrame:
    """A view as a table: a row for each token that looks, a column for each that is looked at."""
    return pd.DataFrame(seen.view(layer, head), index=seen.labels, columns=seen.labels)


def looked_at(
    seen: Attention, layer: int | None = None, head: int | None = None, k: int = 10
) -> list[tuple[int, float]]:
    """The k films that the asking token looks at most: (place, weight), the strongest first."""
    weights = seen.view(layer, head)[-1]
    order = np.argsort(-weights, kind="stable")
    return [(int(place), float(weights[place])) for place in order if seen.films[place]][:k]
