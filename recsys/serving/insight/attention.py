"""Read the attention of a model while it predicts the next film, and average it over users.

Attention is not influence: it shows what a layer reads, not what the prediction would be without it.

The mean attention by position is figure 4 of SASRec (arXiv:1808.09781) and figure 2 of BERT4Rec (arXiv:1904.06690).

Figure 5 of SASRec is the mean attention between films of two genres. This mean is misleading. With a relative position
bias, it mainly depends on how close films of the two genres are in histories. It also depends on the length of the
histories, because the weights of a row sum to 1. Therefore `GenreAttention` divides the attention from film i to film j
by the attention that position alone explains:

    expected_ij = r_i · c_d,   d = i - j

The factor r_i of each attending film and the factor c_d of each distance are fitted so that the sums over each
attending film and over each distance equal the observed sums. A softmax whose logits depend only on distance has
exactly this form, so a ratio of 1 means that genres have no effect. Ratios tend to be too close to 1, for two reasons:
an effect that genre and distance explain equally well is attributed to distance, and in short histories, a film has few
other films to attend to. The attention of a film to itself, and from or to tokens that are not films, is left out. A
film with several genres counts towards each of them.

Shapes: P users, L layers, H heads, T tokens, D = MAX_DISTANCE, W stored tokens per user, N averaged tokens, G genres,
I items.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from recsys.data.dataset import Catalog, Dataset
from recsys.data.datasets import serving_splitting
from recsys.errors import Message
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import FilmNumbers, ServingError, check_items
from recsys.text.films import genre_matrix

MAX_DISTANCE = 30  # from the predicted film; the newest film of the history has distance 1
MASK_LABEL = "[mask]"  # the last token of models that can fill masks
START_LABEL = "start"  # the only token of other models if the history is empty
MAX_USERS = 256  # users whose attention is averaged
MAX_TOKENS = 15  # averaged tokens, as in both papers
MAX_STORED_TOKENS = 50  # newest tokens of each user
PAD = -1  # fills the positions before the oldest token of a short history
MIN_USERS = 20  # users with films of both genres; with fewer, the ratio is NaN
N_ROUNDS = 30  # alternating fits of r and c
N_BOOTSTRAP = 400  # samples of users for an interval
BOOTSTRAP_SEED = 0
GENRE_COLUMNS = ["from", "to", "ratio", "low", "high", "people", "pairs"]  # see `GenreAttention.table`


@dataclass(frozen=True)
class Attention:
    """The attention in one sequence. The model predicts the next film from the last token."""

    tokens: np.ndarray  # (T,) items; I or more: the start token or the mask token
    is_film: np.ndarray  # (T,) bool, True for items
    labels: list[str]  # T labels, see `token_labels`
    weights: np.ndarray  # (L, H, T, T) row: attending token, column: attended token; rows sum to 1
    ends_with_mask: bool  # False: the last token is the newest film

    def mean_weights(self, layer: int | None = None, head: int | None = None) -> np.ndarray:
        """Return the weights of a layer and a head, both from 0, (T, T). None: the mean over all layers or heads."""
        return _select_mean(self.weights, layer, head)


@dataclass(frozen=True)
class DistanceAttention:
    """The attention of the last token by distance. Column n - 1 belongs to the n-th film before the predicted film."""

    sums: np.ndarray  # (L, H, D) sums over users
    n_users: np.ndarray  # (D,) users whose history has a film at this distance

    def table(self, layer: int | None = None, head: int | None = None) -> pd.DataFrame:
        """Return the mean attention and the number of users by distance (1: the newest film).

        Distances without users are left out.
        """
        has_users = self.n_users > 0
        mean = _select_mean(self.sums, layer, head)[has_users] / self.n_users[has_users]
        return pd.DataFrame(
            {"distance": np.flatnonzero(has_users) + 1, "attention": mean, "people": self.n_users[has_users]}
        )


def read_attention(predictor: Predictor, films: FilmNumbers) -> Attention:
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


def token_labels(dataset: Dataset, tokens: np.ndarray, other_label: str = MASK_LABEL) -> list[str]:
    """Return the label of each token: title and year of a film, or `other_label` for a token that is not a film."""
    films = dataset.catalog.films
    return [films[token].label if token < dataset.n_items else other_label for token in tokens.tolist()]


def attention_by_distance(predictor: Predictor, histories: Sequence[np.ndarray]) -> DistanceAttention:
    """Return the attention of the last token to the films up to MAX_DISTANCE, summed over histories.

    Raises:
        ServingError: If there is no history, or as `read_attention` does.
    """
    if not len(histories):
        raise ServingError("nobody has watched anything here; choose a data set with ratings")
    padded_weights, lengths = [], []
    for history in histories:
        attention = read_attention(predictor, history)
        oldest_first = attention.weights[:, :, -1, attention.is_film]  # attention of the last token to films
        weights = oldest_first[:, :, ::-1][:, :, :MAX_DISTANCE]  # (L, H, n), newest first
        padded_weights.append(np.pad(weights, ((0, 0), (0, 0), (0, MAX_DISTANCE - weights.shape[-1]))))
        lengths.append(weights.shape[-1])
    n_users = (np.array(lengths) > np.arange(MAX_DISTANCE)[:, None]).sum(1)
    return DistanceAttention(np.sum(padded_weights, axis=0), n_users)


def sample_histories(dataset: Dataset, n: int) -> list[np.ndarray]:
    """Return the histories of n random users, or of all users if there are fewer. Empty histories are left out."""
    users = np.random.default_rng(0).permutation(dataset.n_users)[:n]
    return [history for history in map(dataset.history, users.tolist()) if len(history)]


def most_attended(
    attention: Attention, layer: int | None = None, head: int | None = None, k: int = 10
) -> list[tuple[int, float]]:
    """Return the k films that the last token attends to most, as (position in T, weight), largest weight first."""
    weights = attention.mean_weights(layer, head)[-1]
    order = np.argsort(-weights, kind="stable")
    return [(int(position), float(weights[position])) for position in order if attention.is_film[position]][:k]


@dataclass(frozen=True, eq=False)
class AttentionBatch:
    """The attention among the newest tokens of several users. Attention to older tokens is not included."""

    tokens: np.ndarray  # (P, W) items, newest last; PAD before the oldest; I or more: the mask or start token
    weights: np.ndarray  # (P, L, H, W, W) float32, row: attending token, column: attended token; 0 for PAD
    n_tokens: int  # N, newest tokens that `mean_attention` averages; all users have them
    ends_with_mask: bool  # False: the last token is the newest film


@dataclass(frozen=True, eq=False)
class MeanAttention:
    """The mean attention among the N newest tokens. Rows can sum to less than 1, because older tokens get attention."""

    weights: np.ndarray  # (L, H, N, N) row: attending position, column: attended position
    n_users: int
    ends_with_mask: bool

    @property
    def n_tokens(self) -> int:
        """The number N of averaged tokens."""
        return self.weights.shape[-1]

    @property
    def labels(self) -> list[str]:
        """The distance of each film to the predicted film, down to 1. A mask at the end has the label [mask]."""
        n_films = self.n_tokens - 1 if self.ends_with_mask else self.n_tokens
        distances = [str(distance) for distance in range(n_films, 0, -1)]
        return [*distances, MASK_LABEL] if self.ends_with_mask else distances

    def table(self) -> pd.DataFrame:
        """Return a row per weight: layer and head from 1, labels of attending and attended token, weight, users."""
        layer, head, row, column = (index.ravel() for index in np.indices(self.weights.shape))
        labels = np.array(self.labels, object)
        return pd.DataFrame(
            {
                "layer": layer + 1,
                "head": head + 1,
                "attends": labels[row],
                "attended to": labels[column],
                "weight": self.weights.ravel(),
                "people": self.n_users,
            }
        )


def collect_attention(predictor: Predictor) -> AttentionBatch:
    """Return the attention in the test histories of at most MAX_USERS random users with N films or more.

    N is MAX_TOKENS or, if less, the `max_length` of the model. So the N newest tokens are films, except for a final
    mask. The splitting is the one that recommenders in the app are trained with.

    Raises:
        ServingError: If the model has no attention, or if no history has enough films.
        DataError: If no film can be held out.
    """
    n_tokens = min(MAX_TOKENS, predictor.model.max_length or MAX_TOKENS)
    dataset = predictor.dataset
    histories = serving_splitting(dataset.name)(dataset).test.queries.histories
    rows = np.flatnonzero([len(history) >= n_tokens for history in histories])
    if not len(rows):
        raise ServingError(
            "nobody in {name} has watched {newest} films; choose a data set with more ratings",
            name=dataset.name,
            newest=n_tokens,
        )
    sample = np.random.default_rng(0).permutation(rows)[:MAX_USERS]
    attentions = [read_attention(predictor, histories[row]) for row in sample]
    width = min(MAX_STORED_TOKENS, max(len(attention.tokens) for attention in attentions))
    n_layers, n_heads = attentions[0].weights.shape[:2]
    tokens = np.full((len(attentions), width), PAD)
    weights = np.zeros((len(attentions), n_layers, n_heads, width, width), np.float32)
    for user, attention in enumerate(attentions):
        length = min(width, len(attention.tokens))
        tokens[user, -length:] = attention.tokens[-length:]
        weights[user, :, :, -length:, -length:] = attention.weights[:, :, -length:, -length:]
    return AttentionBatch(tokens, weights, n_tokens, attentions[0].ends_with_mask)


def mean_attention(batch: AttentionBatch) -> MeanAttention:
    """Return the mean over users of the attention among the N newest tokens."""
    n = batch.n_tokens
    window = batch.weights[..., -n:, -n:]
    return MeanAttention(window.mean(0, dtype=np.float64), len(window), batch.ends_with_mask)


@dataclass(frozen=True, eq=False)
class GenreAttention:
    """The attention from films of one genre (row) to films of another (column), summed for each user."""

    genres: tuple[str, ...]
    observed: np.ndarray  # (P, L, H, G, G)
    expected: np.ndarray  # (P, L, H, G, G) the attention that position alone explains
    pairs: np.ndarray  # (P, G, G) number of pairs (film, other film that it can attend to)

    def table(self, genres: list[str], layer: int | None = None, head: int | None = None) -> pd.DataFrame:
        """Return a row per pair of `genres`, with GENRE_COLUMNS.

        "ratio" is the attention divided by the expected attention. "low" and "high" are its 95% interval over users, by
        the bootstrap. All three are NaN with fewer than MIN_USERS users ("people"). `layer` and `head` count from 0.
        None: the attention of all layers or heads is summed.
        """
        genre_numbers = [self.genres.index(genre) for genre in genres]
        rows, columns = np.ix_(genre_numbers, genre_numbers)
        observed, expected = (
            sums[:, _as_slice(layer), _as_slice(head)][..., rows, columns].sum((1, 2))
            for sums in (self.observed, self.expected)
        )
        pairs = self.pairs[..., rows, columns]
        n_users = (pairs > 0).sum(0)
        ratios = np.where(n_users >= MIN_USERS, _ratio_with_interval(observed, expected), np.nan)  # (3, n, n)
        names, n = np.array(genres, object), len(genres)
        values = [np.repeat(names, n), np.tile(names, n), *ratios.reshape(3, -1), n_users.ravel(), pairs.sum(0).ravel()]
        return pd.DataFrame(dict(zip(GENRE_COLUMNS, values, strict=True)))


def genre_attention(batch: AttentionBatch, catalog: Catalog) -> GenreAttention:
    """Return the attention between different films by their genres."""
    matrix, genres = genre_matrix(catalog)  # (I, G)
    is_film = (batch.tokens >= 0) & (batch.tokens < len(matrix))  # (P, W)
    items = np.where(is_film, batch.tokens, 0)
    film_genres = (matrix[items] & is_film[..., None]).astype(np.float32)  # (P, W, G)
    # True for pairs of different films, (P, W, W)
    is_pair = is_film[:, :, None] & is_film[:, None] & ~np.eye(is_film.shape[1], dtype=bool)
    weights = np.where(is_pair[:, None, None], batch.weights, 0)
    expected_weights = np.zeros_like(weights)
    for layer, head in np.ndindex(weights.shape[1:3]):
        expected_weights[:, layer, head] = expected_by_position(weights[:, layer, head], is_pair)
    pairs = is_pair & (expected_weights > 0).any((1, 2))  # in a causal model, a film does not attend to later films
    observed, expected = (_sum_by_genre(film_genres[:, None, None], values) for values in (weights, expected_weights))
    return GenreAttention(genres, observed, expected, _sum_by_genre(film_genres, pairs).astype(np.int64))


def expected_by_position(weights: np.ndarray, is_pair: np.ndarray) -> np.ndarray:
    """Return the attention that position alone explains: r_i · c_d in the docstring of the module, (P, W, W).

    `weights` (P, W, W) are the attention of one layer and head. `is_pair` (P, W, W) is True for pairs of different
    films. The weights of all other pairs must be 0, and stay 0 in the result.
    """
    width = weights.shape[-1]
    distance = np.subtract.outer(np.arange(width), np.arange(width)) + width - 1  # (W, W), shifted to 0…2W - 2
    row_sums = weights.sum(2, dtype=np.float64)
    distance_sums = _sum_by_distance(distance, weights.sum(0, dtype=np.float64))
    pair_indicator = is_pair.astype(np.float32)
    film_factor = np.ones(weights.shape[:2])  # r, (P, W)
    distance_factor = np.ones(2 * width - 1)  # c
    for _ in range(N_ROUNDS):
        film_factor_sums = _sum_by_distance(distance, np.einsum("pi,pij->ij", film_factor, pair_indicator))
        distance_factor = _ratio(distance_sums, film_factor_sums)
        film_factor = _ratio(row_sums, np.einsum("ij,pij->pi", distance_factor[distance], pair_indicator))
    return film_factor[:, :, None] * distance_factor[distance] * is_pair


def _sum_by_distance(distance: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Return the sum of a table (W, W) over the entries of each distance, (2W - 1,)."""
    return np.bincount(distance.ravel(), table.ravel(), 2 * len(table) - 1)


def _sum_by_genre(film_genres: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the sums of weights (…, W, W) over pairs of genres, (…, G, G), for film genres (…, W, G)."""
    return np.swapaxes(film_genres, -1, -2) @ (weights.astype(np.float32) @ film_genres)


def _ratio_with_interval(observed: np.ndarray, expected: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the ratio of two arrays (P, G, G) after summation over users, and the bounds of its 95% interval."""
    n = len(observed)
    # how often each sample has each user, (N_BOOTSTRAP, P)
    counts = np.random.default_rng(BOOTSTRAP_SEED).multinomial(n, np.full(n, 1 / n), N_BOOTSTRAP)
    sample_ratios = _ratio(np.tensordot(counts, observed, 1), np.tensordot(counts, expected, 1))
    low, high = np.quantile(sample_ratios, [0.025, 0.975], axis=0)
    return _ratio(observed.sum(0), expected.sum(0)), low, high


def _ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Return the ratio, 0 if the denominator is not positive."""
    return np.divide(numerator, denominator, out=np.zeros(np.shape(numerator), np.float64), where=denominator > 0)


def _select_mean(weights: np.ndarray, layer: int | None, head: int | None) -> np.ndarray:
    """Return the weights (L, H, …) of a layer and a head, (…). None: the mean over all layers or heads."""
    return weights[_as_slice(layer), _as_slice(head)].mean((0, 1))


def _as_slice(index: int | None) -> slice:
    """Return the slice of a layer or head, or of all if the index is None."""
    return slice(None) if index is None else slice(index, index + 1)
