"""BERT4Rec and SASRec with side information: item features, ratings of the user, and user attributes.

The embedding of each input item is the sum of

- its item embedding,
- for each kind of feature (genres, decade, popularity), the mean of the vectors of its values,
- the vector of the rating that the user gave it,
- the vectors of the user's gender, age group and occupation.

The output weights are the item embeddings plus the vectors of the features. All vectors except the item embeddings
start at zero, so training starts as without side information. The network gets a tenth of the training samples without
ratings, and a tenth without user attributes, because visitors of the app may give neither. `attention`, `fill` and
`training_example` use neither ratings nor attributes.

Shapes: B sequences, b sequences scored at once, T positions, I items, S values of a kind of feature, P people,
D dimensions.
"""

import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from recsys.config import added_later, config_class
from recsys.data.dataset import PROFILE_COLUMNS, DataError, Dataset, Queries
from recsys.models.bert4rec import Bert4Rec, Bert4RecConfig, Bert4RecEncoder
from recsys.models.sasrec import SasRec, SasRecConfig, SasRecEncoder
from recsys.models.sequence_model import SequenceEncoder, SequenceModel
from recsys.text.films import genre_matrix
from recsys.training.batches import Batch, CounterRNG, Stream

UNKNOWN = 0  # the id of a missing rating or attribute
N_RATINGS = 10  # ½, 1, 1½ … 5 stars have the ids 1 … 10
MAX_ATTRIBUTES = 64  # vectors of user attributes; ML-1M has 2 genders, 7 age groups and 21 occupations
DROP_SHARE = 0.1  # share of the samples without ratings, and share without user attributes


@config_class
class SideConfig:
    """The side information that a model uses. `stars` are the ratings, `person` the user attributes."""

    genres: bool = added_later(False)  # the mean of the vectors of its genres is added to an item's embedding
    decade: bool = added_later(False)  # the vector of its decade is added to an item's embedding
    popularity: bool = added_later(False)  # the vector of its popularity bucket is added to an item's embedding
    stars: bool = added_later(False)  # the vector of the stars given is added to each item of the history
    person: bool = added_later(False)  # vectors of gender, age and occupation, where known, are added to every position


class ItemDetails(nn.Module):
    """A vector for every genre, decade and popularity bucket.

    The genres, decade and bucket of each item are buffers, so they are stored with the weights.
    """

    def __init__(self, kinds: Sequence[str], n_items: int, dim: int) -> None:
        super().__init__()
        for kind in kinds:
            self.register_buffer(kind, torch.zeros(n_items, N_VALUES[kind], dtype=torch.uint8))  # (I, S), see FEATURES
        self.vectors = nn.ParameterDict({kind: nn.Parameter(torch.zeros(N_VALUES[kind], dim)) for kind in kinds})

    def set_features(self, train: Dataset) -> None:
        """Set the buffers from the training data."""
        for kind in self.vectors:
            getattr(self, kind).copy_(torch.from_numpy(FEATURES[kind](train)))

    def forward(self) -> Tensor:
        """Return the sum over the kinds of the mean of the vectors of an item's values, (I, D)."""
        means = []
        for kind, vectors in self.vectors.items():  # (S, D)
            values = getattr(self, kind)  # (I, S)
            means.append((values.float() / values.sum(1, keepdim=True).clamp(min=1)) @ vectors)
        return torch.stack(means).sum(0)


class IdVectors(nn.Module):
    """A vector for each id from 1 on. The id UNKNOWN has a zero vector."""

    def __init__(self, n_vectors: int, dim: int) -> None:
        super().__init__()
        self.vectors = nn.Parameter(torch.zeros(n_vectors, dim))

    def forward(self, ids: Tensor) -> Tensor:
        """Return the vectors (…, D) of ids (…)."""
        return F.embedding(ids, F.pad(self.vectors, (0, 0, 1, 0)))


class PersonVectors(IdVectors):
    """A vector for each gender, age group and occupation."""

    attribute_keys: Tensor  # (MAX_ATTRIBUTES,) hash of the attribute of each vector, see `_keys`; 0: unused vector

    def __init__(self, dim: int) -> None:
        super().__init__(MAX_ATTRIBUTES, dim)
        self.register_buffer("attribute_keys", torch.zeros(MAX_ATTRIBUTES, dtype=torch.int64))

    def set_features(self, train: Dataset) -> None:
        """Give a vector to each attribute of the users, at most to the MAX_ATTRIBUTES most frequent."""
        if train.user_profiles is not None:
            counts = Counter(key for keys in _keys(train.user_profiles) for key in keys if key)
            frequent = [key for key, _ in counts.most_common(MAX_ATTRIBUTES)]
            self.attribute_keys[: len(frequent)] = torch.tensor(frequent)

    def attribute_ids(self, people: pd.DataFrame) -> np.ndarray:
        """Return the ids of the attributes, (P, 3), 1 … MAX_ATTRIBUTES; UNKNOWN if missing or not in the training data.

        `people` has the columns PROFILE_COLUMNS.
        """
        ids = {key: i for i, key in enumerate(self.attribute_keys.tolist(), start=1) if key}
        return np.array([[ids.get(key, UNKNOWN) for key in keys] for keys in _keys(people)], np.int64).reshape(-1, 3)


def _keys(people: pd.DataFrame) -> list[tuple[int, ...]]:
    """Return (P, 3) hashes, one per person and column, the same on every machine; 0 for a missing attribute."""
    columns = [
        [zlib.crc32(f"{name} {value}".encode()) if value else 0 for value in people[name]] for name in PROFILE_COLUMNS
    ]
    return list(zip(*columns, strict=True))


class SideEncoder(SequenceEncoder):
    """Mixin that adds side information: `class Encoder(SideEncoder, Bert4RecEncoder)`. `super()` is Bert4RecEncoder."""

    def __init__(self, config: Any, n_items: int) -> None:
        super().__init__(config, n_items)
        kinds = [kind for kind in FEATURES if getattr(config, kind)]
        self.details = ItemDetails(kinds, n_items, config.dim) if kinds else None
        self.star_vectors = IdVectors(N_RATINGS, config.dim) if config.stars else None
        self.person_vectors = PersonVectors(config.dim) if config.person else None
        self.cached_embeddings: Tensor | None = None  # `item_vectors` outside training

    def train(self, mode: bool = True) -> Self:
        """Set training mode. Outside training, the item vectors are computed once."""
        super().train(mode)
        with torch.no_grad():
            self.cached_embeddings = None if mode or self.details is None else self._add_details()
        return self

    def item_vectors(self) -> Tensor:
        """Return the embedding of each token, (I + 2, D), with the vectors of the features."""
        if self.cached_embeddings is not None and not torch.is_grad_enabled():
            return self.cached_embeddings
        return self._add_details()

    def _add_details(self) -> Tensor:
        return self.items.weight if self.details is None else self.items.weight + F.pad(self.details(), (0, 0, 0, 2))

    def token_embeddings(
        self, tokens: Tensor, rating_ids: Tensor | None = None, attribute_ids: Tensor | None = None
    ) -> Tensor:
        """Return the sums (B, T, D) of the vectors of tokens (B, T), `rating_ids` (B, T) and `attribute_ids` (B, 3)."""
        x = super().token_embeddings(tokens)
        if self.star_vectors is not None and rating_ids is not None:
            x = x + self.star_vectors(rating_ids)
        if self.person_vectors is not None and attribute_ids is not None:
            x = x + self.person_vectors(attribute_ids).sum(1)[:, None]
        return x


class SideModel(SequenceModel):
    """Mixin that adds side information: `class Model(SideModel, Bert4Rec)`. `super()` is Bert4Rec."""

    module: Any  # a SideEncoder

    def __init__(self, config: Any = None, title: str = "") -> None:
        super().__init__(config, title)
        self.uses_query_ratings = self.config.stars
        self.uses_times_or_ratings = self.config.stars or self.config.redraw

    def initialise(self, module: Any, train: Dataset, seed: int) -> None:
        """Set the item features, the attributes with a vector, and the weights that depend on the training data.

        Raises:
            DataError: If the config asks for people and the data set has none.
        """
        if self.config.person and train.user_profiles is None:
            raise DataError("{name} contains no gender, age or occupation; train without --person", name=train.name)
        for side in (module.details, module.person_vectors):
            if side is not None:
                side.set_features(train)
        super().initialise(module, train, seed)

    def samples(self, train: Dataset) -> Queries:
        """Return the non-empty histories with their users. `Queries.ratings` are rating ids here, not stars."""
        ratings = None
        if self.config.stars:
            ratings = np.split(to_rating_ids(np.asarray(train.interactions.rating)), train.offsets[1:-1])
        users = Queries(train.histories, ratings=ratings, user_profiles=train.user_profiles)
        return users[np.flatnonzero(np.diff(train.offsets))]

    def batch_of(self, samples: Queries, rows: np.ndarray, n_items: int, rng: CounterRNG) -> Batch:
        """Return the training batch of the samples `rows` (B,). A target's rating is no input of its prediction."""
        batch = super().batch_of(samples, rows, n_items, rng)
        if samples.ratings is not None:
            # the same rows and rng as for the items, so the ratings are cropped at the same places
            inputs = [self.input_rating_ids(sequence) for sequence in self.sequences(samples.ratings, rows, rng)]
            ids = token_rating_ids(batch.tokens.numpy(), inputs, n_items)  # (B, T)
            ids[rng.uniform(Stream.NO_RATINGS, rows) < DROP_SHARE] = UNKNOWN
            batch = replace(batch, rating_ids=torch.from_numpy(ids))
        if self.config.person and samples.user_profiles is not None:
            ids = self.module.person_vectors.attribute_ids(samples.user_profiles.iloc[rows])  # (B, 3)
            ids[rng.uniform(Stream.NO_PERSON, rows) < DROP_SHARE] = UNKNOWN
            batch = replace(batch, attribute_ids=torch.from_numpy(ids))
        return batch

    def side_inputs(
        self, module: Any, queries: Queries, rows: np.ndarray, tokens: np.ndarray
    ) -> tuple[Tensor | None, ...]:
        """Return rating ids (b, T) and attribute ids (b, 3) of the queries `rows` (b,). None: unknown or not used."""
        device = module.bias.device
        ratings = attributes = None
        if self.config.stars and queries.ratings is not None:
            inputs = [self.query_rating_ids(to_rating_ids(queries.ratings[row])) for row in rows]
            ratings = token_rating_ids(tokens, inputs, module.n_items)
        if self.config.person and queries.user_profiles is not None:
            attributes = module.person_vectors.attribute_ids(queries.user_profiles.iloc[rows])
        return tuple(None if array is None else torch.from_numpy(array).to(device) for array in (ratings, attributes))

    def input_rating_ids(self, item_ratings: np.ndarray) -> np.ndarray:
        """Return the rating ids of the input tokens of a training sequence, given the rating ids of all its items."""
        return item_ratings

    def query_rating_ids(self, item_ratings: np.ndarray) -> np.ndarray:
        """Return the rating ids of the input tokens of a history, given the rating ids of its items."""
        return item_ratings


def token_rating_ids(tokens: np.ndarray, ratings: Sequence[np.ndarray], n_items: int) -> np.ndarray:
    """Return the rating id of each token, (B, T) int64, UNKNOWN for tokens that are not items.

    Args:
        tokens: Padded tokens, (B, T).
        ratings: The rating ids of each row, aligned at the end: the last id belongs to the last token before padding.
        n_items: I. Token I is padding.
    """
    ids = np.full(tokens.shape, UNKNOWN, np.int64)
    for row, length, row_ratings in zip(ids, (tokens != n_items).sum(1), ratings, strict=True):
        newest = row_ratings[-length:]
        row[length - len(newest) : length] = newest
    ids[tokens >= n_items] = UNKNOWN
    return ids


@config_class
class Bert4RecSideConfig(Bert4RecConfig, SideConfig):
    """Settings of BERT4Rec with side information."""


class Bert4RecSideEncoder(SideEncoder, Bert4RecEncoder):
    """The encoder of BERT4Rec with side information."""


class Bert4RecSide(SideModel, Bert4Rec):
    """BERT4Rec with side information."""

    Config: ClassVar[type] = Bert4RecSideConfig
    Encoder: ClassVar[type] = Bert4RecSideEncoder

    def query_rating_ids(self, item_ratings: np.ndarray) -> np.ndarray:
        """Return the rating ids of the items and UNKNOWN for the [mask] after them."""
        return np.append(item_ratings, UNKNOWN)


@config_class
class SasRecSideConfig(SasRecConfig, SideConfig):
    """Settings of SASRec with side information."""


class SasRecSideEncoder(SideEncoder, SasRecEncoder):
    """The encoder of SASRec with side information."""


class SasRecSide(SideModel, SasRec):
    """SASRec with side information."""

    Config: ClassVar[type] = SasRecSideConfig
    Encoder: ClassVar[type] = SasRecSideEncoder

    def input_rating_ids(self, item_ratings: np.ndarray) -> np.ndarray:
        """Return the rating ids without the last one, because the last item is only a target."""
        return item_ratings[:-1]


def to_rating_ids(ratings: np.ndarray) -> np.ndarray:
    """Return the number of half stars of each rating, clipped to 1 … N_RATINGS; UNKNOWN for NaN. int64, same shape."""
    halves = np.clip(np.rint(2 * np.nan_to_num(ratings)), 1, N_RATINGS)
    return np.where(np.isnan(ratings), UNKNOWN, halves).astype(np.int64)


def _genres(train: Dataset) -> np.ndarray:
    """Return the genres of the items, (I, S) uint8. If there are more than S, the most frequent are used."""
    table = genre_matrix(train.catalog)[0]
    n_values = N_VALUES["genres"]
    frequent = np.argsort(-table.sum(0), kind="stable")[:n_values]
    return np.pad(table[:, frequent].astype(np.uint8), [(0, 0), (0, n_values - len(frequent))])


def _decade(train: Dataset) -> np.ndarray:
    """Return the decade of each item, one-hot, (I, S) uint8; the first includes all years before 1880.

    A row of zeros means an unknown year.
    """
    years = train.catalog.movies["year"].to_numpy(float, na_value=np.nan)
    return _one_hot((years - 1870) // 10, N_VALUES["decade"])


def _popularity(train: Dataset) -> np.ndarray:
    """Return ⌊log₂(1 + number of training interactions)⌋ of each item, one-hot, (I, S) uint8."""
    return _one_hot(np.log2(1 + train.counts), N_VALUES["popularity"])


def _one_hot(values: np.ndarray, n_values: int) -> np.ndarray:
    """Return one-hot rows (I, S) uint8 of values (I,), rounded down and clipped. NaN gives a row of zeros."""
    return (np.arange(n_values) == np.clip(np.floor(values), 0, n_values - 1)[:, None]).astype(np.uint8)


FEATURES: dict[str, Callable[[Dataset], np.ndarray]] = {"genres": _genres, "decade": _decade, "popularity": _popularity}
N_VALUES = {"genres": 32, "decade": 20, "popularity": 24}  # the same for every data set; MovieLens has 20 genres
