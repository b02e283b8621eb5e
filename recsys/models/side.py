"""Side information: what is known of items beside who watched them, of who watched them, and of what they thought.

All vectors start at zero, so that training begins as it would without them. Shapes: B sequences, T positions, I items,
S slots of a kind of detail, P people, D dimensions.
"""

import zlib
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from recsys.data.schema import PEOPLE_COLUMNS, Dataset
from recsys.text.films import genre_matrix

UNRATED = UNKNOWN = 0  # in place of stars, and of what somebody did not say
STARS = 10  # ½, 1, 1½ … 5 are 1 … STARS
SAID = 64  # different answers that have vectors: ML-1M has 2 genders, 7 groups of ages and 21 occupations


class ItemDetails(nn.Module):
    """A vector for every genre, decade and bucket of popularity; an item has the mean of those of its genres.

    What each item is lies in a buffer for each kind: to load a model that was kept, no data set is needed.
    """

    def __init__(self, kinds: Sequence[str], n_items: int, dim: int) -> None:
        super().__init__()
        for kind in kinds:
            self.register_buffer(kind, torch.zeros(n_items, SLOTS[kind], dtype=torch.uint8))  # (I, S), 1: it is that
        self.vectors = nn.ParameterDict({kind: nn.Parameter(torch.zeros(SLOTS[kind], dim)) for kind in kinds})

    def describe(self, train: Dataset) -> None:
        """Read from the training part what each item is."""
        for kind in self.vectors:
            getattr(self, kind).copy_(torch.from_numpy(KINDS[kind](train)))

    def forward(self) -> Tensor:
        """(I, D) the sum over the kinds of the mean of the vectors of what an item is; 0 where nothing is known."""
        return torch.stack([_mean(getattr(self, kind), vectors) for kind, vectors in self.vectors.items()]).sum(0)


def _mean(slots: Tensor, vectors: Tensor) -> Tensor:
    """(I, D) from slots (I, S) and vectors (S, D)."""
    return (slots.float() / slots.sum(1, keepdim=True).clamp(min=1)) @ vectors


class StarVectors(nn.Module):
    """A vector for every rating; what is not rated has none."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.vectors = nn.Parameter(torch.zeros(STARS, dim))

    def forward(self, stars: Tensor) -> Tensor:
        """Codes of `rating_ids` (B, T) → (B, T, D)."""
        return F.embedding(stars, F.pad(self.vectors, (0, 0, 1, 0)))  # UNRATED is a row of zeros


class PersonVectors(nn.Module):
    """A vector for each gender, group of ages and occupation; a person has the sum of those that are known of them."""

    known: Tensor

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.register_buffer("known", torch.zeros(SAID, dtype=torch.int64))  # what stands for each answer, see `_key`
        self.vectors = nn.Parameter(torch.zeros(SAID, dim))

    def describe(self, train: Dataset) -> None:
        """Take the answers of the people of the training part, of too many the most frequent, for those to be known."""
        if train.people is not None:
            said = Counter(key for keys in _keys(train.people) for key in keys if key).most_common(SAID)
            self.known[: len(said)] = torch.tensor([key for key, _ in said])

    def codes(self, people: pd.DataFrame) -> np.ndarray:
        """PEOPLE_COLUMNS (P, 3) → (P, 3) int64, 1 … SAID or UNKNOWN."""
        number = {key: 1 + slot for slot, key in enumerate(self.known.tolist()) if key}
        return np.array([[number.get(key, UNKNOWN) for key in keys] for keys in _keys(people)], np.int64).reshape(-1, 3)

    def forward(self, people: Tensor) -> Tensor:
        """`codes` of people (B, 3) → (B, D)."""
        return F.embedding(people, F.pad(self.vectors, (0, 0, 1, 0))).sum(1)


def _keys(people: pd.DataFrame) -> list[tuple[int, ...]]:
    """A number for each of the answers of each of P people, the same on every machine; 0 for none."""
    columns = [
        [zlib.crc32(f"{name} {said}".encode()) if said else 0 for said in people[name]] for name in PEOPLE_COLUMNS
    ]
    return list(zip(*columns, strict=True))


def rating_ids(ratings: np.ndarray) -> np.ndarray:
    """Ratings (T,) in stars → (T,) int64: 1 … STARS in half stars, UNRATED for NaN."""
    return np.where(np.isnan(ratings), UNRATED, np.clip(np.rint(2 * np.nan_to_num(ratings)), 1, STARS)).astype(np.int64)


def _genres(train: Dataset) -> np.ndarray:
    """(I, S) uint8; of more than S genres those of the most films."""
    found = genre_matrix(train.catalog)[0]
    most = np.argsort(-found.sum(0), kind="stable")[: SLOTS["genres"]]
    return np.pad(found[:, most].astype(np.uint8), [(0, 0), (0, SLOTS["genres"] - len(most))])


def _decade(train: Dataset) -> np.ndarray:
    """(I, S) uint8, from the 1870s on; nothing where the year is unknown."""
    years = train.catalog.movies["year"].to_numpy(float, na_value=np.nan)
    return _one_hot((years - 1870) // 10, SLOTS["decade"])


def _popularity(train: Dataset) -> np.ndarray:
    """(I, S) uint8: each bucket reaches to twice as many ratings of the training part as the one before it."""
    return _one_hot(np.log2(1 + train.counts), SLOTS["popularity"])


def _one_hot(values: np.ndarray, slots: int) -> np.ndarray:
    """(I, S) uint8: a 1 in the slot of each value (I,), rounded down and cut to what there is; none for NaN."""
    return (np.arange(slots) == np.clip(np.floor(values), 0, slots - 1)[:, None]).astype(np.uint8)


KINDS: dict[str, Callable[[Dataset], np.ndarray]] = {"genres": _genres, "decade": _decade, "popularity": _popularity}
SLOTS = {"genres": 32, "decade": 20, "popularity": 24}  # of every data set alike: MovieLens has 20 genres
