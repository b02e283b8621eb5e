"""item2vec: word2vec with items as words and histories as sentences (Barkan and Koenigstein, arXiv:1603.04259).

Each item i has a vector v_i and, as a context, a vector c_i and a bias b_i, all learnt by negative sampling:

    skip-gram    item i predicts each item j of its window:        s = v_i · c_j + b_j
    CBOW         the neighbours N of item j predict it:            s = mean(v_i, i ∈ N) · c_j + b_j
    loss         -log σ(s_j - log k q_j) - Σ_n log σ(-(s_n - log k q_n))    for k negatives n with probability q
    score(j)     u · c_j + b_j, with the user u = Σ_i 0.5^(age_i / half_life) v_i / Σ_i 0.5^(age_i / half_life)

word2vec: arXiv:1301.3781 and arXiv:1310.4546. CBOW learns an item from both sides, so it can also fill masks. The
BERT4Rec paper (arXiv:1904.06690, section 3.7) calls it BERT4Rec with one layer of fixed attention.

Departures from the papers:
- Neighbours are in a window, as in word2vec. item2vec uses all pairs of a history.
- Items have biases, and log k q is subtracted from each score. Scores of word2vec do not contain popularity.
- The negatives are shared by a batch. There are `N_NEGATIVES` of them, weighted as if there were k.
- Scores are products with context vectors. item2vec uses cosines of item vectors, which give similar items and not the
  next item.
- A start token precedes each history. It is a neighbour of the first items and stands for an empty history.

Shapes: B sequences, T positions, Q positions per sequence, M samples of W items, K negatives, D dimensions, I items, E
items of a batch, N unmasked positions.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from recsys.config import Length, NonNegative, Positive, Size, config_class
from recsys.data.dataset import Dataset
from recsys.models.layers import init_weights
from recsys.models.sequence_model import SequenceEncoder, SequenceModel
from recsys.training.batches import Batch, CounterRNG
from recsys.training.losses import Loss, Sampler, compute_scores, sampling_distribution
from recsys.training.options import TrainConfig

N_NEGATIVES = 64  # negatives drawn for a batch and shared by its samples
WINDOW_STREAM = 2  # of `CounterRNG`: the window of a position; this model uses no stream of `batches.Stream`


@config_class
class Item2VecConfig:
    """Settings of item2vec, tuned on ML-1M."""

    # Embeddings allow a higher learning rate than networks.
    schedule: TrainConfig = TrainConfig(epochs=15, lr=1e-2, validate_every=5)
    cbow: bool = False  # all neighbours together predict the item between them; else an item predicts each neighbour
    dim: Size = 64  # width of a vector
    length: Length = 200  # positions: the newest items of a history that are read
    window: Size = 3  # items to either side that are neighbours; each position draws its own window from 1 to this
    negatives: Positive = 5.0  # k, the weight of the negatives
    sampling_power: NonNegative = 0.75  # negatives are drawn by popularity to this power
    half_life: Positive = 3.0  # items: in scores, an item has half the weight of an item watched this many items later
    init: Positive = 0.05  # standard deviation of the initial vectors


class NegativeSampling:
    """The sum over M samples of -log σ(s⁺) - k · mean log σ(-s⁻), equation 4 of arXiv:1310.4546.

    s is the score of an item minus log k q: s⁺ of the target, s⁻ of N_NEGATIVES negatives. The negatives are drawn in
    each call and shared by all samples. As in the paper, a negative that equals the target counts too. σ(s) is the
    probability that an item is a target and not a drawn negative. Where the loss is minimal, the scores are
    log-probabilities (noise-contrastive estimation, Mnih and Teh, arXiv:1206.6426).
    """

    def __init__(self, negatives: float, q: np.ndarray) -> None:
        self.negatives, self.sampler = negatives, Sampler(q)
        self.log_kq = torch.from_numpy(np.log(negatives * q)).float()

    def __call__(self, hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        """Return the sum of the losses, ()."""
        self.log_kq = self.log_kq.to(hidden.device)
        drawn = self.sampler(N_NEGATIVES, hidden.device)
        positive, negative = compute_scores(hidden, weight, bias - self.log_kq, targets, drawn)
        return -F.logsigmoid(positive).sum() - self.negatives * F.logsigmoid(-negative).mean(1).sum()


class Item2VecEncoder(SequenceEncoder):
    """The item vectors v (`items`), the context vectors c (`contexts`) and the biases b (`bias`)."""

    def __init__(self, config: Item2VecConfig, n_items: int) -> None:
        super().__init__(n_items, config.dim)
        self.contexts = nn.Embedding(n_items, config.dim)
        self.half_life = config.half_life
        init_weights(self, config.init)

    def mean(self, tokens: Tensor) -> Tensor:
        """Return the mean vector (M, D) of the tokens (M, W) of each sample, without padding."""
        is_item = (tokens != self.padding).float()  # (M, W), 0 or 1
        return (is_item[:, None] @ self.items(tokens))[:, 0] / is_item.sum(1, keepdim=True).clamp(min=1)

    def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        """Return the vectors u of tokens (B, T) at `positions` (B, Q; None: all T), (B, Q, D)."""
        indices = torch.arange(tokens.shape[1], device=tokens.device)  # (T,)
        ends = indices.expand(len(tokens), -1) if positions is None else positions  # (B, Q)
        ages = ends[:, :, None] - indices  # (B, Q, T), negative for later items
        weights = (0.5 ** (ages / self.half_life)).masked_fill(ages < 0, 0)
        return (weights / weights.sum(2, keepdim=True)) @ self.items(tokens)

    @property
    def output(self) -> Tensor:
        """The context vectors, (I, D)."""
        return self.contexts.weight


class Item2Vec(SequenceModel):
    """The model: trained on pairs of neighbours, scored by the user vector."""

    Config = Item2VecConfig
    Encoder = Item2VecEncoder
    config: Item2VecConfig
    module: Item2VecEncoder
    former_settings = {"subsample": 1.0}

    def __init__(self, config: Any = None, title: str = "") -> None:
        super().__init__(config, title)
        self.can_fill_masks = self.config.cbow

    def initialise(self, module: Item2VecEncoder, train: Dataset, seed: int) -> None:
        """Set biases to log q of the negatives."""
        with torch.no_grad():
            module.bias.copy_(torch.from_numpy(np.log(sampling_distribution(train.counts, self.config.sampling_power))))

    def make_loss(self, train: Dataset) -> Loss:
        """Return `NegativeSampling` with the settings of the config."""
        return NegativeSampling(self.config.negatives, sampling_distribution(train.counts, self.config.sampling_power))

    def collate(self, histories: Sequence[np.ndarray], rows: np.ndarray, n_items: int, rng: CounterRNG) -> Batch:
        """Return a batch with the M samples of `histories[rows]` (B,): `tokens` (M, W) and `targets` (M,)."""
        sequences = [np.append(self.module.start, histories[row][-self.config.length :]) for row in rows]
        items = np.concatenate(sequences).astype(np.int64)  # (E,)
        lengths = [len(sequence) for sequence in sequences]
        row = np.repeat(rows, lengths)  # (E,), in the training data
        position = np.concatenate([np.arange(length) for length in lengths])  # (E,)
        window = 1 + rng.integers(WINDOW_STREAM, np.full(len(row), self.config.window), row, position)
        context = neighbours(items, row, window, n_items, self.config.window)
        if self.config.cbow:
            is_sample = (items < n_items) & (context != n_items).any(1)
            tokens, targets = context[is_sample], items[is_sample]
        else:
            # Nearest neighbours first: the order of the samples affects the rounding of trained weights.
            neighbour, event = (context < n_items).T.nonzero()  # (M,) each, neither padding nor a start token
            tokens, targets = items[event][:, None], context[event, neighbour]
        loss_index = torch.arange(len(targets))  # sample m has target m; `Batch.without_targets` removes all
        return Batch(torch.from_numpy(tokens), None, loss_index, torch.from_numpy(targets))

    @torch.inference_mode()
    def fill(self, history: np.ndarray, masked_positions: np.ndarray) -> np.ndarray:
        """Return the scores of all items at masked positions (Q,), (Q, I) float32, see `Model.fill`.

        The prediction is the weighted mean of the other tokens on both sides. An item has half the weight of an item
        that is `half_life` positions nearer. At the end of a whole history the result equals `score`.
        """
        if not self.can_fill_masks:
            return super().fill(history, masked_positions)
        tokens = np.append(self.module.start, history)  # (1 + T,)
        unmasked = np.delete(np.arange(len(tokens)), masked_positions + 1)  # (N,) positions, with the start token
        distances = np.abs(masked_positions[:, None] + 1 - unmasked)  # (Q, N)
        # The nearest token has the weight 1, so the sum of the weights never underflows to 0.
        weights = 0.5 ** ((distances - distances.min(1, keepdims=True)) / self.config.half_life)
        weights = torch.from_numpy(weights / weights.sum(1, keepdims=True)).float().to(self.device)
        return self.module.logits(weights @ self.module.items(self._batch_of_one(tokens[unmasked])[0])).cpu().numpy()

    def loss(self, module: Any, batch: Batch) -> Tensor:
        """Return the sum of the losses of a batch, ()."""
        hidden = module.mean(batch.tokens[batch.loss_index])
        return self.item_loss(hidden, module.output, module.bias, batch.targets)


def neighbours(items: np.ndarray, row: np.ndarray, window: np.ndarray, n_items: int, max_window: int) -> np.ndarray:
    """Return the neighbours of each token in its history, (E, 2 · `max_window`), the nearest first. Padding is token I.

    `items`, `row` and `window` (E,) are the tokens of a batch, the history of each token, and its window.
    """
    distances = np.arange(1, max_window + 1)
    offsets = np.column_stack([distances, -distances]).ravel()  # 1, -1, 2, -2, …
    positions = np.arange(len(items))[:, None] + offsets
    clipped = positions.clip(0, len(items) - 1)
    is_neighbour = (positions == clipped) & (row[clipped] == row[:, None]) & (np.abs(offsets) <= window[:, None])
    return np.where(is_neighbour, items[clipped], n_items)
