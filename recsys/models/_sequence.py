"""What all neural sequence models share: how they are trained on the one loop, asked in batches, and kept.

Shapes: B sequences, T positions, Q positions asked for, M positions with a loss, D dimensions, I items.
"""

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor, nn

from recsys.data.schema import DataError, Dataset, HeldOut, Queries
from recsys.evaluation import metrics
from recsys.models.base import Recommender
from recsys.training import device as devices
from recsys.training import distributed, loop
from recsys.training.batches import Batch, Draws, buckets, by_length, pad
from recsys.training.losses import Loss, item_loss
from recsys.training.run import Run

SCORE_BATCH = 32  # histories scored at once on a CPU, whose caches hold no more; on a GPU eight times as many


@dataclass(frozen=True)
class Sizes(loop.Schedule):
    """What every model has that reads histories, whatever its loss."""

    dim: int = 64  # width of an embedding
    length: int = 200  # positions: films kept per history, newest last


@dataclass(frozen=True)
class SequenceConfig(Sizes):
    """Sizes and the loss of a model whose scores are hidden state · item embedding + bias."""

    dropout: float = 0.1  # share of the values zeroed
    loss: str = "softmax"  # over all films; against some: sampled-softmax, gbce, bpr, top1, bpr-max
    negatives: int = 256  # films that a sampled loss draws; each position has its own where gBCE draws 8 or fewer
    calibration: float = 0.75  # gBCE's t: 0 is over-confident, 1 gives probabilities
    popularity: float = 0.75  # films are drawn by popularity to this power; gBCE draws uniformly


class SequenceRecommender(Recommender):
    """A recommender whose scores are hidden state · item embedding + bias at the last position of a history."""

    shipped: ClassVar[bool] = True
    module: "SequenceModule"
    item_loss: Loss

    def __init__(self, config: Any = None) -> None:
        super().__init__(config)
        self.softmax = getattr(self.config, "loss", "") in ("softmax", "sampled-softmax")

    @abstractmethod
    def build(self, n_items: int) -> "SequenceModule":
        """A fresh module with random weights."""

    def begin(self, module: Any, train: Dataset, seed: int) -> None:
        """Whatever a module may know of the training data before the first step: nothing, unless overridden."""

    def objective(self, train: Dataset) -> Loss:
        """The loss that the configuration names; a model that has only one of its own overrides this."""
        config = self.config
        return item_loss(config.loss, config.negatives, config.calibration, train.counts, config.popularity)

    def sample(self, histories: list[np.ndarray], rows: np.ndarray, n_items: int, draws: Draws) -> Batch:
        """What the histories with the numbers `rows` (B,) train on this time; random only by `draws`.

        Unless overridden, each of their newest films, to be foreseen from those before it.
        """
        before = [self.prompt(histories[row][:-1]) for row in rows]
        targets = [histories[row][-self.config.length :].astype(np.int64) for row in rows]
        lengths = np.array([len(films) for films in targets])
        tokens = pad(np.concatenate(before), lengths, n_items)  # (B, T)
        picked = np.flatnonzero(np.arange(tokens.shape[1]) < lengths[:, None])
        return Batch(
            torch.from_numpy(tokens), None, torch.from_numpy(picked), torch.from_numpy(np.concatenate(targets))
        )

    def prompt(self, history: np.ndarray) -> np.ndarray:
        """The tokens that make the last position predict what follows a history: the start token and its films."""
        return np.append(self.module.start, history)[-self.config.length :]

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: Run | None = None) -> Self:
        """Train on `train`, stop early on `valid`. Raises DataError for data, a setting or a run that leads nowhere."""
        run = run or Run()
        histories = [history for history in train.histories if len(history)]
        if not histories:
            raise DataError(f"{train.name} has no films to train on; take a set with more ratings")
        torch.manual_seed(run.seed)
        self.module = self.build(train.n_items)
        self.begin(self.module, train, run.seed)
        self.item_loss = self.objective(train)
        task = loop.Task(
            self.module,
            math.ceil(len(histories) / self.config.batch_size),
            lambda epoch: self.batches(histories, train.n_items, Draws(run.seed, epoch)),
            self.loss,
            (lambda module: self._validate(module, valid)) if valid else None,
            {"config": asdict(self.config), "data": train.fingerprint},
        )
        loop.train(task, self.config, run)
        self.module.eval()
        return self

    def batches(self, histories: list[np.ndarray], n_items: int, draws: Draws) -> Iterator[Batch]:
        """One epoch, this process's share of each batch."""
        lengths = np.array([min(len(history), self.config.length) for history in histories])
        rng = np.random.default_rng([draws.seed, draws.epoch])
        for rows in buckets(lengths, self.config.batch_size, rng):
            mine = distributed.share(rows)
            if len(mine):
                yield self.sample(histories, mine, n_items, draws)
            else:  # fewer sequences than processes; this one must take part in the step all the same
                yield self.sample(histories, rows[:1], n_items, draws).without_loss()

    def loss(self, module: Any, batch: Batch) -> Tensor:
        """The sum of the losses of a batch, ()."""
        hidden = module(batch.tokens, batch.at).flatten(0, 1)[batch.picked]  # (M, D): only these get logits
        return self.item_loss(hidden.float(), module.output, module.bias, batch.targets)

    def _validate(self, module: "SequenceModule", valid: HeldOut) -> dict[str, float]:
        """Full-ranking metrics over the validation films, films already seen hidden; each process ranks its share."""
        ranks = np.zeros(len(valid), np.int64)
        mine = distributed.share(np.arange(len(valid)))
        histories = [valid.queries.histories[row] for row in mine]
        for rows, scores in self._scores(module, Queries(histories)):
            seen = [histories[row] for row in rows]
            ranks[mine[rows]] = metrics.target_ranks(scores, valid.targets[mine[rows]], seen)
        ranks = distributed.combined(ranks)
        return {name: round(value, 6) for name, value in metrics.summary(ranks).items()}

    def score(self, queries: Queries) -> np.ndarray:
        """(B, I) float32 logits of the film that comes next."""
        if len(queries) == 1 and self.device.type == "cpu":
            return self._score_one(queries.histories[0])
        scores = np.empty((len(queries), self.module.n_items), np.float32)
        for rows, part in self._scores(self.module, queries):
            scores[rows] = part
        return scores

    @torch.inference_mode()
    def _score_one(self, history: np.ndarray) -> np.ndarray:
        """(1, I), by NumPy: torch's product of a catalogue and one vector takes up to three times as long on a CPU."""
        tokens = torch.from_numpy(self.prompt(history))[None]  # (1, T)
        hidden = self.module(tokens, torch.tensor([[tokens.shape[1] - 1]])).flatten()  # (D,)
        scores = self.module.output.detach().numpy() @ hidden.numpy()  # (I,)
        scores += self.module.bias.detach().numpy()
        return scores[None]

    @torch.inference_mode()
    def _scores(self, module: "SequenceModule", queries: Queries) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Rows of the queries and their scores, a batch of similar length at a time."""
        module.eval()
        prompts = [self.prompt(history) for history in queries.histories]
        device = module.bias.device
        at_once = SCORE_BATCH if device.type == "cpu" else 8 * SCORE_BATCH
        for rows in by_length(np.array([len(prompt) for prompt in prompts], int), at_once):
            batch = [prompts[row] for row in rows]
            lengths = np.array([len(prompt) for prompt in batch])
            tokens = torch.from_numpy(pad(np.concatenate(batch), lengths, module.padding)).to(device)  # (B, T)
            last = torch.from_numpy(lengths - 1)[:, None].to(device)  # (B, 1)
            yield rows, module.logits(module(tokens, last)[:, 0]).float().cpu().numpy()

    def film_vectors(self) -> np.ndarray:
        """(I, D) float32: what the scores compare a state with, film by film."""
        return self.module.output.detach().float().cpu().numpy()

    @property
    def device(self) -> torch.device:
        """Where the module computes."""
        return self.module.bias.device

    def state(self) -> dict[str, np.ndarray]:
        """The module's weights."""
        return {name: value.detach().cpu().numpy() for name, value in self.module.state_dict().items()}

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Rebuild the module, on a GPU if there is one; raises ValueError when the weights do not fit the settings."""
        self.module = self.build(n_items).to(devices.choose("auto"))
        try:
            self.module.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in state.items()})
        except RuntimeError as error:
            raise ValueError(f"the weights do not fit the configuration {self.config}") from error
        self.module.eval()


class SequenceModule(nn.Module):
    """An encoder of token sequences with item embeddings tied to its output (equation 7 of BERT4Rec).

    Tokens 0…I-1 are items, I is padding, I+1 `[mask]` or, for models that read from left to right, the start of a
    history; output weights are the first I rows, so that neither of the two can be recommended.
    """

    def __init__(self, n_items: int, dim: int) -> None:
        super().__init__()
        self.n_items, self.padding, self.mask = n_items, n_items, n_items + 1
        self.start = self.mask
        self.items = nn.Embedding(n_items + 2, dim)
        self.bias = nn.Parameter(torch.zeros(n_items))

    def forward(self, tokens: Tensor, at: Tensor | None = None) -> Tensor:
        """Tokens (B, T) → hidden states (B, T, D), or those at the positions `at` (B, Q) only: (B, Q, D)."""
        raise NotImplementedError

    @property
    def output(self) -> Tensor:
        """Output weights, (I, D)."""
        return self.items.weight[: self.n_items]

    def logits(self, hidden: Tensor) -> Tensor:
        """Hidden states (…, D) → a score for every film (…, I)."""
        return hidden @ self.output.T + self.bias


def initialise(module: nn.Module, std: float) -> None:
    """Truncated normal weights and zero biases, as BERT does."""
    for part in module.modules():
        if isinstance(part, nn.Linear | nn.Embedding):
            nn.init.trunc_normal_(part.weight, std=std, a=-2 * std, b=2 * std)
        if isinstance(part, nn.Linear) and part.bias is not None:
            nn.init.zeros_(part.bias)
