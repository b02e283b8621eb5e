"""item2vec: items as words, histories as sentences (arXiv:1603.04259), after word2vec (arXiv:1301.3781 and 1310.4546).

Variants: `item2vec-skipgram` predicts each neighbour of an item from that item, `item2vec-cbow` an item from the mean
of its neighbours; both by negative sampling. A user is the mean of the vectors of their items, with weights that decay
with age, and an item's score is the product of that mean and its context vector. CBOW, which learns an item from both
sides, fills blanks too: BERT4Rec's paper calls it BERT4Rec with one layer of fixed attention (arXiv:1904.06690, section
3.7). Departures from the papers: neighbours stand within a window, as in word2vec, while item2vec takes the whole set;
the batch shares its negatives; items have biases, and the loss subtracts from each score the log of how often the item
is drawn, because word2vec's own scores leave popularity out; scores are products with context vectors, not cosines of
two item vectors, which find similar items rather than the next; a start token is the neighbour of everybody's first
items and answers for an empty history.

Shapes: B bags of W items, T positions, Q positions per sequence, M pairs, K negatives, D dimensions, I items, E items
of a batch.
"""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from recsys.config import Length, NonNegative, Positive, Rate, Size, config_class
from recsys.data.schema import Dataset
from recsys.models.layers import init_weights
from recsys.models.sequence_model import SequenceEncoder, SequenceModel
from recsys.training.batches import Batch, CounterRNG
from recsys.training.losses import Loss, Sampler, gather_weights, sampling_distribution
from recsys.training.options import TrainConfig

DRAWN = 64  # negatives that a batch shares; they are weighted as if there were `negatives` of them
KEEP, WINDOW = 1, 2  # purposes of random numbers


@config_class
class Item2VecConfig:
    """Settings of item2vec, tuned on ML-1M."""

    # the learning rate is higher than that of networks: tables of vectors stand more
    schedule: TrainConfig = TrainConfig(epochs=15, lr=1e-2, validate_every=5)
    cbow: bool = False  # the neighbours together predict the item between them; else: an item predicts each neighbour
    dim: Size = 64  # width of a vector
    length: Length = 200  # positions: the newest items of a history that are read
    window: Size = 3  # items to either side that are neighbours; each position draws its own window from 1 to this
    negatives: Positive = 5.0  # items that a pair is compared with
    sampling_power: NonNegative = 0.75  # they are drawn by popularity to this power
    subsample: Rate = 1.0  # items with a greater share of all views are left out at random; 1: never
    half_life: Positive = 3.0  # in scoring, an item weighs half as much as one watched so many items later
    init: Positive = 0.05  # standard deviation of the first vectors


def negative_sampling(
    hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, drawn: Tensor, negatives: float
) -> Tensor:
    """Sum over M pairs of -log σ(s⁺) - negatives · mean log σ(-s⁻): equation 4 of arXiv:1310.4546.

    s = hidden (M, D) · weight (I, D) + bias (I,), s⁺ of the targets (M,), s⁻ of the items drawn (K,), which all pairs
    share. Where one is the target it counts all the same, as in the paper.
    """
    w_target, b_target, w, b = gather_weights(weight, bias, targets, drawn)
    positive = ((hidden * w_target).sum(1) + b_target).float()  # (M,)
    negative = (hidden @ w.T + b).float()  # (M, K)
    return -F.logsigmoid(positive).sum() - negatives * F.logsigmoid(-negative).mean(1).sum()


class NegativeSampling:
    """`negative_sampling` against DRAWN items, drawn from q (I,) again at each call.

    log k q is subtracted from each score s, with k negatives: with σ(s - log k q) as the probability that an item was
    watched, and not drawn, the loss is lowest where scores are log-probabilities (noise-contrastive estimation, Mnih
    and Teh, arXiv:1206.6426).
    """

    def __init__(self, negatives: float, q: np.ndarray) -> None:
        self.negatives, self.drawing = negatives, Sampler(q)
        self.log_kq = torch.from_numpy(np.log(negatives * q)).float()

    def __call__(self, hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        """Sum of the losses, ()."""
        self.log_kq = self.log_kq.to(hidden.device)
        drawn = self.drawing(DRAWN, hidden.device)
        return negative_sampling(hidden, weight, bias - self.log_kq, targets, drawn, self.negatives)


class Item2VecModule(SequenceEncoder):
    """A vector per item (`items`) and one per item as context."""

    def __init__(self, config: Item2VecConfig, n_items: int) -> None:
        super().__init__(n_items, config.dim)
        self.contexts = nn.Embedding(n_items, config.dim)
        self.half_life = config.half_life
        init_weights(self, config.init)

    def mean(self, bags: Tensor) -> Tensor:
        """Bags (B, W) of items and padding → the mean of their vectors, (B, D)."""
        present = (bags != self.padding).float()  # (B, W)
        return (present[:, None] @ self.items(bags))[:, 0] / present.sum(1, keepdim=True).clamp(min=1)

    def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        """Tokens (B, T) → the user as of each position (B, T, D), or of `positions` (B, Q): (B, Q, D)."""
        times = torch.arange(tokens.shape[1], device=tokens.device)  # (T,)
        now = times.expand(len(tokens), -1) if positions is None else positions  # (B, Q)
        ages = now[:, :, None] - times  # (B, Q, T), below 0: not yet watched
        weights = (0.5 ** (ages / self.half_life)).masked_fill(ages < 0, 0)
        return (weights / weights.sum(2, keepdim=True)) @ self.items(tokens)

    @property
    def output(self) -> Tensor:
        """Output weights, (I, D)."""
        return self.contexts.weight


class Item2Vec(SequenceModel):
    """Trained on pairs of neighbours; the decayed mean of a history's vectors predicts the next item."""

    Config: ClassVar[type] = Item2VecConfig
    Module: ClassVar[type] = Item2VecModule
    config: Item2VecConfig
    module: Item2VecModule
    keep_probability: np.ndarray  # (I + 2,) that an item of a history takes part in an epoch

    def __init__(self, config: Any = None, title: str = "") -> None:
        super().__init__(config, title)
        self.can_fill_masks = self.config.cbow

    @property
    def loss_name(self) -> str:
        """A loss of its own."""
        return ""

    def initialise(self, module: Item2VecModule, train: Dataset, seed: int) -> None:
        """Biases start as log popularity; items are kept with probability √(ρ / f), f being their share of all views.

        ρ is `subsample` (arXiv:1310.4546, equation 5). The start token is always kept.
        """
        with torch.no_grad():
            module.bias.copy_(torch.from_numpy(np.log(sampling_distribution(train.counts, self.config.sampling_power))))
        share = train.counts / train.counts.sum()
        self.keep_probability = np.append(np.sqrt(self.config.subsample / np.maximum(share, 1e-12)), [0.0, 1.0])

    def make_loss(self, train: Dataset) -> Loss:
        """Negative sampling."""
        return NegativeSampling(self.config.negatives, sampling_distribution(train.counts, self.config.sampling_power))

    def collate(self, histories: Sequence[np.ndarray], rows: np.ndarray, n_items: int, draws: CounterRNG) -> Batch:
        """Items and their neighbours, as bags and targets."""
        sequences = [np.append(self.module.start, histories[row][-self.config.length :]) for row in rows]
        items = np.concatenate(sequences).astype(np.int64)  # (E,)
        lengths = [len(sequence) for sequence in sequences]
        row = np.repeat(rows, lengths)
        position = np.concatenate([np.arange(length) for length in lengths])
        kept = draws.uniform(KEEP, row, position) < self.keep_probability[items]
        items, row, position = items[kept], row[kept], position[kept]
        window = 1 + draws.integers(WINDOW, np.full(len(row), self.config.window), row, position)
        if self.config.cbow:
            bags, targets = cbow(items, row, window, n_items, 2 * self.config.window)
        else:
            bags, targets = skip_gram(items, row, window, n_items)
        return Batch(torch.from_numpy(bags), None, torch.arange(len(targets)), torch.from_numpy(targets))

    @torch.inference_mode()
    def fill(self, history: np.ndarray, blanks: np.ndarray) -> np.ndarray:
        """Scores (Q, I) float32 of the items at some positions `blanks` (Q,) of a history (T,), T ≤ `length`.

        Each blank is predicted from the mean of the K tokens that are none, on both sides, with weights that decay with
        distance; at the end of a history that is the prediction of the next item.
        """
        if not self.can_fill_masks:
            return super().fill(history, blanks)
        tokens = np.append(self.module.start, history)  # (1 + T,)
        known = np.delete(np.arange(len(tokens)), blanks + 1)  # (K,) positions, the start among them
        distances = np.abs(blanks[:, None] + 1 - known)  # (Q, K)
        weights = 0.5 ** ((distances - distances.min(1, keepdims=True)) / self.config.half_life)
        shares = torch.from_numpy(weights / weights.sum(1, keepdims=True)).float().to(self.device)
        return self.module.logits(shares @ self.module.items(self._batch_of_one(tokens[known])[0])).cpu().numpy()

    def loss(self, module: Any, batch: Batch) -> Tensor:
        """The sum of the losses of a batch, ()."""
        hidden = module.mean(batch.tokens[batch.loss_index])
        return self.item_loss(hidden, module.output, module.bias, batch.targets)


def skip_gram(items: np.ndarray, row: np.ndarray, window: np.ndarray, n_items: int) -> tuple[np.ndarray, np.ndarray]:
    """Bags (B, 1) of an item and targets (B,), a neighbour of it; all (E,): items, their sequences and windows."""
    pairs = [(items[centre], items[neighbour]) for centre, neighbour in neighbours(row, window)]
    centres = np.concatenate([centre for centre, _ in pairs])
    targets = np.concatenate([target for _, target in pairs])
    real = targets < n_items  # the start token is no target
    return centres[real][:, None], targets[real]


def cbow(
    items: np.ndarray, row: np.ndarray, window: np.ndarray, n_items: int, width: int
) -> tuple[np.ndarray, np.ndarray]:
    """Bags (B, W = width) of an item's neighbours, filled up with padding, and targets (B,), the item between them."""
    bags = np.full((len(items), width), n_items)
    for column, (centre, neighbour) in enumerate(neighbours(row, window)):
        bags[centre, column] = items[neighbour]
    real = (items < n_items) & (bags != n_items).any(1)
    return bags[real], items[real]


def neighbours(row: np.ndarray, window: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Indices of items and of a neighbour of each, within the same row; one distance after another, either side."""
    for distance in range(1, window.max(initial=0) + 1):
        earlier = np.flatnonzero(row[distance:] == row[:-distance])
        for centre, neighbour in ((earlier, earlier + distance), (earlier + distance, earlier)):
            within = window[centre] >= distance
            yield centre[within], neighbour[within]
