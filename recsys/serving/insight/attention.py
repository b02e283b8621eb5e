"""Read the attention of a model while it predicts the next film.

Attention is not influence: it shows what a layer reads, not what the prediction would be without it.

Shapes: L layers, H heads, T tokens, N = MAX_DISTANCE, I items.
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

MAX_DISTANCE = 30  # from the predicted film; the newest film of the history has distance 1
MASK_LABEL = "[mask]"  # the last token of models that can fill masks
START_LABEL = "start"  # the only token of other models if the history is empty


@dataclass(frozen=True)
class Attention:
    """The attention in one sequence. The model predicts the next film from the last token."""

    tokens: np.ndarray  # (T,) items; I or more: the start token or the mask token
    is_film: np.ndarray  # (T,) bool
    labels: list[str]  # T
    weights: np.ndarray  # (L, H, T, T) row: attending token, column: attended token; rows sum to 1
    ends_with_mask: bool  # False: the last token is the newest film

    def view(self, layer: int | None = None, head: int | None = None) -> np.ndarray:
        """Return the weights of a layer and a head, both from 0, (T, T). None: the mean over all layers or heads."""
        return _select_mean(self.weights, layer, head)


@dataclass(frozen=True)
class DistanceAttention:
    """The attention of the last token by distance. Column n - 1 belongs to the n-th film before the predicted film."""

    sums: np.ndarray  # (L, H, N) sums over users
    n_users: np.ndarray  # (N,) users whose history has a film at this distance

    def __add__(self, other: "DistanceAttention") -> "DistanceAttention":
        return DistanceAttention(self.sums + other.sums, self.n_users + other.n_users)

    def table(self, layer: int | None = None, head: int | None = None) -> pd.DataFrame:
        """Return the mean attention and the number of users by distance (1: the newest film).

        Distances without users are left out.
        """
        has_users = self.n_users > 0
        mean = _select_mean(self.sums, layer, head)[has_users] / self.n_users[has_users]
        return pd.DataFrame(
            {"distance": np.flatnonzero(has_users) + 1, "attention": mean, "people": self.n_users[has_users]}
        )


def attention(predictor: Predictor, films: History) -> Attention:
    """Return the attention while the model predicts the film after `films` (items, oldest first).

    Raises:
        ServingError: If the model has no attention, or if an item is not in the catalogue.
    """
    dataset, model = predictor.dataset, predictor.model
    if not model.has_attention:
        raise ServingError("{title} has no attention weights; choose BERT4Rec", title=Message(predictor.title))
    tokens = model.input_tokens(check_items(dataset, films))
    labels = token_labels(dataset, tokens, MASK_LABEL if model.can_fill_masks else START_LABEL)
    return Attention(tokens, tokens < dataset.n_items, labels, model.attention(tokens), model.can_fill_masks)


def token_labels(dataset: Dataset, tokens: np.ndarray, other: str = MASK_LABEL) -> list[str]:
    """Return the label of each token: title and year of a film, or `other`."""
    films = dataset.catalog.films
    return [films[token].label if token < dataset.n_items else other for token in tokens.tolist()]


def attention_by_distance(predictor: Predictor, histories: Sequence[np.ndarray]) -> DistanceAttention:
    """Return the attention of the last token up to MAX_DISTANCE, summed over histories of items.

    Raises:
        ServingError: If there is no history, or as `attention` does.
    """
    if not len(histories):
        raise ServingError("nobody has watched anything here; choose a data set with ratings")
    padded_weights, lengths = [], []
    for history in histories:
        result = attention(predictor, history)
        oldest_first = result.weights[:, :, -1, result.is_film]  # attention of the last token to films
        weights = oldest_first[:, :, ::-1][:, :, :MAX_DISTANCE]  # (L, H, n), newest first
        padded_weights.append(np.pad(weights, ((0, 0), (0, 0), (0, MAX_DISTANCE - weights.shape[-1]))))
        lengths.append(weights.shape[-1])
    n_users = (np.array(lengths) > np.arange(MAX_DISTANCE)[:, None]).sum(1)
    return DistanceAttention(reduce(add, padded_weights), n_users)


def sample_histories(dataset: Dataset, n: int) -> list[np.ndarray]:
    """Return the non-empty histories of n random users, or of all users if there are fewer. The seed is fixed."""
    users = np.random.default_rng(0).permutation(dataset.n_users)[:n]
    return [history for history in map(dataset.history, users.tolist()) if len(history)]


def most_attended(
    result: Attention, layer: int | None = None, head: int | None = None, k: int = 10
) -> list[tuple[int, float]]:
    """Return the k films that the last token attends to most, as (position in T, weight), largest weight first."""
    weights = result.view(layer, head)[-1]
    order = np.argsort(-weights, kind="stable")
    return [(int(position), float(weights[position])) for position in order if result.is_film[position]][:k]


def _select_mean(weights: np.ndarray, layer: int | None, head: int | None) -> np.ndarray:
    """Return the weights (L, H, …) of a layer and a head, (…). None: the mean over all layers or heads."""
    if layer is not None:
        weights = weights[layer : layer + 1]
    if head is not None:
        weights = weights[:, head : head + 1]
    return weights.mean((0, 1))
