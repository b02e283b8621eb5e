"""BERT4Rec and SASRec with side information: item features, ratings of the user, and user attributes.

The embedding of each input item is the sum of

- its item embedding,
- for each kind of feature (genres, decade, popularity), the mean of the vectors of its values,
- the vector of the rating that the user gave it,
- the vectors of the user's gender, age group and occupation.

The output weights are the item embeddings plus the means of the vectors of the features. All vectors except the item
embeddings start at zero, so at the start of training, side information has no effect. A tenth of the training samples
is read without ratings, and independently a tenth without user attributes, because visitors of the app may give
neither. The methods `attention`, `fill` and `training_example` use neither ratings nor attributes.

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
from recsys.models.transformer import TransformerEncoder, TransformerModel
from recsys.text.films import genre_matrix
from recsys.training.batches import Batch, CounterRNG, Stream, pad

UNKNOWN = 0  # the id of a missing rating or attribute
N_RATINGS = 10  # ½, 1, 1½ … 5 stars have the ids 1 … 10
MAX_ATTRIBUTES = 64  # number of vectors of user attributes; ML-1M has 2 genders, 7 age groups and 21 occupations
N_VALUES = {"genres": 32, "decade": 20, "popularity": 24}  # S of each kind, for every data set; MovieLens has 20 genres
DROP_SHARE = 0.1  # share of the samples without ratings, and share without user attributes


@config_class
class SideConfig:
    """The side information that a model uses. `stars` are the ratings, `person` the user attributes."""

    genres: bool = added_later(False)  # the mean of the vectors of an item's genres is added to its embedding
    decade: bool = added_later(False)  # the vector of an item's decade is added to its embedding
    popularity: bool = added_later(False)  # the vector of an item's popularity bucket is added to its embedding
    stars: bool = added_later(False)  # the vector of the user's rating is added to each item of the history
    person: bool = added_later(False)  # vectors of gender, age and occupation, if available, are added at each position


class ItemFeatures(nn.Module):
    """A vector for every genre, decade and popularity bucket. The values of each item are stored with the weights."""

    def __init__(self, kinds: Sequence[str], n_items: int, dim: int) -> None:
        super().__init__()
        for kind in kinds:
            self.register_buffer(kind, torch.zeros(n_items, N_VALUES[kind], dtype=torch.uint8))  # (I, S), see FEATURES
        self.vectors = nn.ParameterDict({kind: nn.Parameter(torch.zeros(N_VALUES[kind], dim)) for kind in kinds})

    def set_features(self, train: Dataset) -> None:
        """Set the values of each item, 0 or 1."""
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

    attribute_keys: Tensor  # (MAX_ATTRIBUTES,) `_hash_attributes` of the attribute of each vector; 0: unused vector

    def __init__(self, dim: int) -> None:
        super().__init__(MAX_ATTRIBUTES, dim)
        self.register_buffer("attribute_keys", torch.zeros(MAX_ATTRIBUTES, dtype=torch.int64))

    def set_features(self, train: Dataset) -> None:
        """Give a vector to each attribute of the users, at most to the MAX_ATTRIBUTES most frequent."""
        hashes = _hash_attributes(train.user_profiles)
        frequent = [key for key, _ in Counter(hashes[hashes != 0].tolist()).most_common(MAX_ATTRIBUTES)]
        self.attribute_keys[: len(frequent)] = torch.tensor(frequent)

    def attribute_ids(self, people: pd.DataFrame) -> np.ndarray:
        """Return the ids of the PROFILE_COLUMNS of P people, (P, 3), UNKNOWN if missing or without a vector."""
        ids = {key: i for i, key in enumerate(self.attribute_keys.tolist(), start=1) if key}
        hashes = _hash_attributes(people)
        return np.array([ids.get(key, UNKNOWN) for key in hashes.ravel().tolist()], np.int64).reshape(hashes.shape)


def _hash_attributes(people: pd.DataFrame) -> np.ndarray:
    """Return a hash of each of the PROFILE_COLUMNS, (P, 3) int64: 0 if missing, else equal on every machine."""
    hashes = np.zeros((len(people), len(PROFILE_COLUMNS)), np.int64)
    for column, name in enumerate(PROFILE_COLUMNS):
        hashes[:, column] = [zlib.crc32(f"{name} {value}".encode()) if value else 0 for value in people[name]]
    return hashes


class SideEncoder(TransformerEncoder):
    """Mixin that adds side information: `class Encoder(SideEncoder, Bert4RecEncoder)`. `super()` is Bert4RecEncoder."""

    def __init__(self, config: Any, n_items: int) -> None:
        super().__init__(config, n_items)
        kinds = [kind for kind in FEATURES if getattr(config, kind)]
        self.details = ItemFeatures(kinds, n_items, config.dim) if kinds else None
        self.star_vectors = IdVectors(N_RATINGS, config.dim) if config.stars else None
        self.person_vectors = PersonVectors(config.dim) if config.person else None
        self.cached_item_vectors: Tensor | None = None  # None in training

    def train(self, mode: bool = True) -> Self:
        """Set training mode. Outside training, the item vectors are computed only once, here."""
        super().train(mode)
        with torch.no_grad():
            self.cached_item_vectors = None if mode or self.details is None else self._sum_with_features()
        return self

    def item_vectors(self) -> Tensor:
        """See `SequenceEncoder.item_vectors`. The means of the vectors of the features are added."""
        if self.cached_item_vectors is not None and not torch.is_grad_enabled():
            return self.cached_item_vectors
        return self._sum_with_features()

    def _sum_with_features(self) -> Tensor:
        """Compute `item_vectors`."""
        if self.details is None:
            return self.items.weight
        return self.items.weight + F.pad(self.details(), (0, 0, 0, 2))  # zero rows for padding and [mask]

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


class SideModel(TransformerModel):
    """Mixin that adds side information: `class Model(SideModel, Bert4Rec)`. `super()` is Bert4Rec."""

    config: Any  # a SideConfig
    module: Any  # a SideEncoder

    def __init__(self, config: Any = None, title: str = "") -> None:
        super().__init__(config, title)
        self.uses_query_ratings = self.config.stars
        self.uses_times_or_ratings = self.config.stars or self.config.redraw

    def initialise(self, module: Any, train: Dataset, seed: int) -> None:
        """See `SequenceModel.initialise`. Raises DataError if the config asks for people and the data set has none."""
        if self.config.person and train.user_profiles is None:
            raise DataError("{name} contains no gender, age or occupation; train without --person", name=train.name)
        for vectors in (module.details, module.person_vectors):
            if vectors is not None:
                vectors.set_features(train)
        super().initialise(module, train, seed)

    def samples(self, train: Dataset) -> Queries:
        """Return the non-empty histories with their users. `Queries.ratings` are rating ids here, not stars."""
        ratings = None
        if self.config.stars:
            ratings = np.split(to_rating_ids(np.asarray(train.interactions.rating)), train.offsets[1:-1])
        queries = Queries(train.histories, ratings=ratings, user_profiles=train.user_profiles)
        lengths = np.diff(train.offsets)
        return queries[np.flatnonzero(lengths)]

    def batch_of(self, samples: Queries, rows: np.ndarray, n_items: int, rng: CounterRNG) -> Batch:
        """See `SequenceModel.batch_of`. A target's rating is no input of its prediction."""
        batch = super().batch_of(samples, rows, n_items, rng)
        if samples.ratings is not None:
            # The ids are cut like items. Values at start and [mask] tokens are ignored, see `token_rating_ids`.
            ratings = [self.training_inputs(sequence) for sequence in self.sequences(samples.ratings, rows, rng)]
            rating_ids = token_rating_ids(batch.tokens.numpy(), ratings, n_items)  # (B, T)
            rating_ids[rng.uniform(Stream.NO_RATINGS, rows) < DROP_SHARE] = UNKNOWN
            batch = replace(batch, rating_ids=torch.from_numpy(rating_ids))
        if self.config.person and samples.user_profiles is not None:
            attribute_ids = self.module.person_vectors.attribute_ids(samples.user_profiles.iloc[rows])  # (B, 3)
            attribute_ids[rng.uniform(Stream.NO_PERSON, rows) < DROP_SHARE] = UNKNOWN
            batch = replace(batch, attribute_ids=torch.from_numpy(attribute_ids))
        return batch

    def training_inputs(self, sequence: np.ndarray) -> np.ndarray:
        """Return the inputs of a training sequence of items or rating ids, whose last element is only a target."""
        return self.input_tokens(sequence[:-1], is_whole=True)

    def side_inputs(
        self, module: Any, queries: Queries, rows: np.ndarray, tokens: np.ndarray
    ) -> tuple[Tensor | None, ...]:
        """Return rating ids (b, T) and attribute ids (b, 3) of the queries `rows` (b,). None: unknown or not used."""
        rating_ids = attribute_ids = None
        if self.config.stars and queries.ratings is not None:
            # cut like items, see `batch_of`
            ratings = [self.input_tokens(to_rating_ids(queries.ratings[row]), queries.are_whole) for row in rows]
            rating_ids = torch.from_numpy(token_rating_ids(tokens, ratings, module.n_items)).to(self.device)
        if self.config.person and queries.user_profiles is not None:
            ids = module.person_vectors.attribute_ids(queries.user_profiles.iloc[rows])
            attribute_ids = torch.from_numpy(ids).to(self.device)
        return rating_ids, attribute_ids


def token_rating_ids(tokens: np.ndarray, ratings: Sequence[np.ndarray], n_items: int) -> np.ndarray:
    """Return the rating id of each of the tokens (B, T), UNKNOWN for tokens that are not items.

    Row b of `ratings` has a value for each token of row b before its padding: if the token is an item, its rating id.
    Values of other tokens are ignored.
    """
    ids = pad(np.concatenate(ratings), np.array([len(row) for row in ratings]), UNKNOWN)
    ids = ids[:, : tokens.shape[1]]  # tokens of a single query are not padded, but `pad` rounds the width up
    return np.where(tokens < n_items, ids, UNKNOWN)


@config_class
class Bert4RecSideConfig(Bert4RecConfig, SideConfig):
    """Settings of BERT4Rec with side information."""


class Bert4RecSideEncoder(SideEncoder, Bert4RecEncoder):
    """The encoder of BERT4Rec with side information."""


class Bert4RecSide(SideModel, Bert4Rec):
    """BERT4Rec with side information."""

    Config: ClassVar[type] = Bert4RecSideConfig
    Encoder: ClassVar[type] = Bert4RecSideEncoder

    def training_inputs(self, sequence: np.ndarray) -> np.ndarray:
        """Return the whole sequence, because each item may be an input."""
        return sequence


@config_class
class SasRecSideConfig(SasRecConfig, SideConfig):
    """Settings of SASRec with side information."""


class SasRecSideEncoder(SideEncoder, SasRecEncoder):
    """The encoder of SASRec with side information."""


class SasRecSide(SideModel, SasRec):
    """SASRec with side information."""

    Config: ClassVar[type] = SasRecSideConfig
    Encoder: ClassVar[type] = SasRecSideEncoder


def to_rating_ids(ratings: np.ndarray) -> np.ndarray:
    """Return the number of half stars of each rating, clipped to 1 … N_RATINGS; UNKNOWN for NaN. int64, same shape."""
    halves = np.clip(np.rint(2 * np.nan_to_num(ratings)), 1, N_RATINGS)
    return np.where(np.isnan(ratings), UNKNOWN, halves).astype(np.int64)


def _genres(train: Dataset) -> np.ndarray:
    """Return the genres of each item, (I, S) uint8. If there are more than S genres, the most frequent are used."""
    table = genre_matrix(train.catalog)[0]
    n_values = N_VALUES["genres"]
    frequent = np.argsort(-table.sum(0), kind="stable")[:n_values]
    return np.pad(table[:, frequent].astype(np.uint8), [(0, 0), (0, n_values - len(frequent))])


def _decade(train: Dataset) -> np.ndarray:
    """Return the decade of each item, one-hot, (I, S) uint8. The first "decade" includes all years before 1880.

    A film of an unknown year has a row of zeros.
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
