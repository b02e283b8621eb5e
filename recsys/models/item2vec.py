"""item2vec: films as words, histories as sentences (arXiv:1603.04259), after word2vec (arXiv:1301.3781 and 1310.4546).

Variants: `item2vec-skipgram` foresees each neighbour of a film from that film, `item2vec-cbow` a film from the mean of
its neighbours; both by negative sampling. A visitor is the mean of the vectors of the last films, older ones fading,
and a film's score is what its context vector makes of that. Unlike the papers: neighbours stand within a window, as in
word2vec, while item2vec takes the whole set; the batch shares its negatives; films have biases, and scores count
from the log of how often a film is drawn, for word2vec's own leave popularity out; they are products with the context
vectors, not cosines of two films' vectors, which find the alike rather than the next; a start token is the neighbour of
everybody's first films and answers for an empty history.

Shapes: B bags of W films, T positions, Q of them asked for, D dimensions, I items, E films of a batch.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from recsys.data.schema import Dataset
from recsys.models._sequence import SequenceModule, SequenceRecommender, Sizes, initialise
from recsys.training.batches import Batch, Draws
from recsys.training.losses import Loss
from recsys.training.negatives import Drawing, by_popularity, fetch

DRAWN = 64  # negatives that a batch shares; each film weighs so much that they count as `negatives`
KEEP, WINDOW = 1, 2  # purposes of random numbers


@dataclass(frozen=True)
class Item2VecConfig(Sizes):
    """Sizes and choices; defaults are those tuned on ML-1M."""

    window: int = 3  # films to either side that are neighbours; each place draws its own from 1 to this
    negatives: float = 5.0  # films that a pair is compared with
    popularity: float = 0.75  # they are drawn by popularity to this power
    subsample: float = 1.0  # films that make up a greater share of all views are left out now and then; 1: never
    half_life: float = 3.0  # a visitor's film counts half as much as one that was watched so many films later
    init: float = 0.05  # standard deviation of the first vectors
    lr: float = 1e-2  # highest learning rate of AdamW: tables of vectors stand more than networks
    epochs: int = 15
    validate_every: int = 5


SMALL_SET = Item2VecConfig(batch_size=16, averaging=0.99)  # for some hundred people


def negative_sampling(
    hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, drawn: Tensor, negatives: float
) -> Tensor:
    """Sum over M pairs of -log σ(s⁺) - negatives · mean log σ(-s⁻): equation 4 of arXiv:1310.4546.

    s = hidden (M, D) · weight (I, D) + bias (I,), s⁺ of the targets (M,), s⁻ of the films drawn (K,), which all pairs
    share. Where one is the target it counts all the same, as in the paper.
    """
    w_target, b_target, w, b = fetch(weight, bias, targets, drawn)
    positive = ((hidden * w_target).sum(1) + b_target).float()  # (M,)
    negative = (hidden @ w.T + b).float()  # (M, K)
    return -F.logsigmoid(positive).sum() - negatives * F.logsigmoid(-negative).mean(1).sum()


class NegativeSampling:
    """`negative_sampling` against DRAWN films, drawn anew at each call from q.

    Scores s count from log k q: with σ(s - log k q) as the probability that a film was watched, and not drawn, the
    scores of least loss are log-probabilities (Mnih and Teh, arXiv:1206.6426: noise-contrastive estimation).
    """

    def __init__(self, negatives: float, q: np.ndarray) -> None:
        self.negatives, self.drawing = negatives, Drawing(q)
        self.log_kq = torch.from_numpy(np.log(negatives * q)).float()

    def __call__(self, hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        """Sum of the losses, ()."""
        self.log_kq = self.log_kq.to(hidden.device)
        drawn = self.drawing(DRAWN, hidden.device)
        return negative_sampling(hidden, weight, bias - self.log_kq, targets, drawn, self.negatives)


class Item2VecModule(SequenceModule):
    """A vector per film (`items`) and one per film as context."""

    def __init__(self, config: Item2VecConfig, n_items: int) -> None:
        super().__init__(n_items, config.dim)
        self.contexts = nn.Embedding(n_items, config.dim)
        self.half_life = config.half_life
        initialise(self, config.init)

    def mean(self, bags: Tensor) -> Tensor:
        """Bags (B, W) of films and padding → the mean of their vectors, (B, D)."""
        there = (bags != self.padding).float()  # (B, W)
        return (there[:, None] @ self.items(bags))[:, 0] / there.sum(1, keepdim=True).clamp(min=1)

    def forward(self, tokens: Tensor, at: Tensor | None = None) -> Tensor:
        """Tokens (B, T) → the visitor as of each position (B, T, D), or of the positions `at` (B, Q): (B, Q, D)."""
        places = torch.arange(tokens.shape[1], device=tokens.device)  # (T,)
        at = places.expand(len(tokens), -1) if at is None else at
        ages = at[:, :, None] - places  # (B, Q, T), below 0: not yet watched
        weights = (0.5 ** (ages / self.half_life)).masked_fill(ages < 0, 0)
        return (weights / weights.sum(2, keepdim=True)) @ self.items(tokens)

    @property
    def output(self) -> Tensor:
        """Output weights, (I, D)."""
        return self.contexts.weight


class SkipGram(SequenceRecommender):
    """Each film foresees each of its neighbours."""

    title: ClassVar[str] = "item2vec, skip-gram"
    paper: ClassVar[str] = "arXiv:1603.04259"
    family: ClassVar[str] = "Film embeddings"
    Config: ClassVar[type] = Item2VecConfig
    presets: ClassVar[dict[tuple[str, str], Item2VecConfig]] = {
        (variant, "ml-100k"): SMALL_SET for variant in ("item2vec-cbow", "item2vec-skipgram")
    }
    config: Item2VecConfig
    module: Item2VecModule

    def build(self, n_items: int) -> Item2VecModule:
        """A fresh module."""
        return Item2VecModule(self.config, n_items)

    def begin(self, module: Item2VecModule, train: Dataset, seed: int) -> None:
        """Begin with popularity, and note how often a film is kept.

        That is √(ρ / f) of the time, where f is its share of all views (arXiv:1310.4546, equation 5).
        """
        with torch.no_grad():
            module.bias.copy_(torch.from_numpy(np.log(by_popularity(train.counts, self.config.popularity))))
        share = train.counts / train.counts.sum()
        self.kept = np.append(np.sqrt(self.config.subsample / np.maximum(share, 1e-12)), [0.0, 1.0])  # start: always

    def objective(self, train: Dataset) -> Loss:
        """Negative sampling."""
        return NegativeSampling(self.config.negatives, by_popularity(train.counts, self.config.popularity))

    def sample(self, histories: list[np.ndarray], rows: np.ndarray, n_items: int, draws: Draws) -> Batch:
        """Films and their neighbours, as bags and targets."""
        stretches = [np.append(self.module.start, histories[row][-self.config.length :]) for row in rows]
        films = np.concatenate(stretches).astype(np.int64)  # (E,)
        lengths = [len(stretch) for stretch in stretches]
        row = np.repeat(rows, lengths)
        place = np.concatenate([np.arange(length) for length in lengths])
        kept = draws.uniform(KEEP, row, place) < self.kept[films]
        films, row, place = films[kept], row[kept], place[kept]
        window = 1 + draws.integers(WINDOW, np.full(len(row), self.config.window), row, place)
        bags, targets = self.bags(films, row, window, n_items)
        return Batch(torch.from_numpy(bags), None, torch.arange(len(targets)), torch.from_numpy(targets))

    def bags(
        self, films: np.ndarray, row: np.ndarray, window: np.ndarray, n_items: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """What foresees, (B, W), and what is foreseen, (B,); `row` (E,) says whose the films (E,) are."""
        pairs = [(films[centre], films[neighbour]) for centre, neighbour in neighbours(row, window)]
        centres = np.concatenate([centre for centre, _ in pairs])
        targets = np.concatenate([target for _, target in pairs])
        real = targets < n_items
        return centres[real][:, None], targets[real]

    def loss(self, module: Any, batch: Batch) -> Tensor:
        """The sum of the losses of a batch, ()."""
        hidden = module.mean(batch.tokens[batch.picked])
        return self.item_loss(hidden, module.output, module.bias, batch.targets)


class Cbow(SkipGram):
    """The neighbours together foresee the film between them."""

    title: ClassVar[str] = "item2vec, CBOW"

    def bags(
        self, films: np.ndarray, row: np.ndarray, window: np.ndarray, n_items: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """What foresees, (B, W), and what is foreseen, (B,); `row` (E,) says whose the films (E,) are."""
        bags = np.full((len(films), 2 * self.config.window), n_items)
        for column, (centre, neighbour) in enumerate(neighbours(row, window)):
            bags[centre, column] = films[neighbour]
        real = (films < n_items) & (bags != n_items).any(1)
        return bags[real], films[real]


def neighbours(row: np.ndarray, window: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Places of films and of a neighbour each, one distance after another, to either side; all in the same row."""
    for distance in range(1, window.max(initial=0) + 1):
        earlier = np.flatnonzero(row[distance:] == row[:-distance])
        for centre, neighbour in ((earlier, earlier + distance), (earlier + distance, earlier)):
            within = window[centre] >= distance
            yield centre[within], neighbour[within]


VARIANTS = {"item2vec-cbow": Cbow, "item2vec-skipgram": SkipGram}
