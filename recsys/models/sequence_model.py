"""What all neural recommenders share: how they are trained on the one loop, score in batches, and keep their weights.

A module may read side information (`side.py`) beside the tokens: it is in the data sets and in the queries.
Shapes: B sequences, T positions, Q positions per sequence, M positions with a loss, D dimensions, I items.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import torch
import torch.nn.functional as F
from scipy.special import log_expit
from torch import Tensor, nn

from recsys.config import ConfigError, to_document
from recsys.data.schema import DataError, Dataset, HeldOut, Queries
from recsys.data.ties import redrawn
from recsys.models import memory
from recsys.models.base import Model
from recsys.models.memory import Memory
from recsys.models.pmi import initialise_from_pmi
from recsys.models.side import KINDS, UNKNOWN, UNRATED, ItemDetails, PersonVectors, StarVectors, rating_ids
from recsys.ranking import metrics
from recsys.ranking.ranking import log_sum_exp
from recsys.training import device as devices
from recsys.training import distributed, trainer
from recsys.training.batches import NOT_SEEN, Batch, CounterRNG, bucketed_batches, by_length, pad
from recsys.training.losses import Loss, item_loss
from recsys.training.options import RunOptions

COPIES = 6  # of the weights while a network learns: they, gradients, two of AdamW, their average, the best so far
SCORE_BATCH = 32  # histories scored at once on a CPU, whose caches hold no more; on a GPU eight times as many
SOFTMAX_LOSSES = ("softmax", "sampled-softmax")  # lowest where scores are log p(item) + a constant
WITHOUT = 0.1  # share of the samples that are shown without stars, and likewise without a person
NO_STARS, NO_PERSON, ORDER = 7, 8, 9  # what random numbers are drawn for, see `batches.END`
SMALL_SETS = ("ml-100k", "ml-latest-small")  # data sets of some hundred users


def check_heads(dim: int, heads: int) -> None:
    """Raises ConfigError where the heads cannot share the dimensions equally."""
    if dim % heads:
        raise ConfigError(f"dim is {dim} and heads is {heads}, but dim must be a multiple of heads")


def check_only_unseen(config: Any) -> None:
    """Raises ConfigError where items are to be left out of a loss that does not compare with all of them."""
    if config.only_unseen and config.loss != "softmax":
        raise ConfigError(f"only_unseen is for the softmax, and loss is {config.loss}; leave one of the two out")


def side_of(config: Any) -> tuple[str, ...]:
    """The kinds of side information that a config asks for."""
    return tuple(kind for kind in (*KINDS, "stars", "person") if getattr(config, kind))


class SequenceModel(Model):
    """A recommender whose scores are those of a `SequenceEncoder` at the last position of a history.

    A new model supplies `Config` and `Module`. `Config` is a subclass of `SequenceConfig` or `PmiConfig`. A model with
    its own loss overrides `make_loss` and `loss_name`. Its `Config` then needs only `schedule` and `length`.
    """

    Module: ClassVar[type]  # a SequenceEncoder, made of a Config and the number of items
    needs_training: ClassVar[bool] = True
    has_item_embeddings: bool = True
    module: "SequenceEncoder"
    item_loss: Loss
    memory: Memory | None = None  # what `score` adds to the network's own scores

    def __init__(self, config: Any = None, title: str = "") -> None:
        super().__init__(config, title)
        self.only_unseen = getattr(self.config, "only_unseen", False)
        self.remembers = getattr(self.config, "memory", False)
        self.redraws = getattr(self.config, "redraw", False)
        self.uses_query_ratings = getattr(self.config, "stars", False)
        self.uses_times_or_ratings = self.uses_query_ratings or self.redraws
        # with a memory whatever the loss: the weights make the validation items most likely
        self.has_probabilities = self.remembers or self.loss_name in SOFTMAX_LOSSES

    def build(self, n_items: int) -> Any:
        """A fresh module with random weights, drawn from torch's global generator."""
        return self.Module(self.config, n_items)

    def fit_memory_bytes(self, n_users: int, n_items: int) -> int:
        """COPIES of the weights, and what a batch has of each item where the loss leaves out what was seen."""
        with torch.device("meta"):  # which allocates nothing
            numbers = sum(weights.numel() for weights in self.build(n_items).parameters())
        seen = 3 * n_items * self.config.schedule.batch_size if self.only_unseen else 0  # (B, I) int16 and bool
        return 4 * COPIES * numbers + seen

    @property
    def loss_name(self) -> str:
        """The loss, one of LOSSES; "" for a loss of the model's own, whose scores are no probabilities."""
        return self.config.loss

    def initialise(self, module: Any, train: Dataset, seed: int) -> None:
        """Set the weights that depend on the training data, before the first step.

        These are the side information, the item and position embeddings if the config has `pmi_init`, and separate
        output weights, which start as a copy of the item embeddings.
        """
        for side in (module.details, module.person_vectors):
            if side is not None:
                side.describe(train)
        if getattr(self.config, "pmi_init", False):
            initialise_from_pmi(module.items, module.positions, train, self.config.init, seed)
        module.start_output()

    def make_loss(self, train: Dataset) -> Loss:
        """The loss that the configuration names."""
        config = self.config
        return item_loss(config.loss, config.negatives, config.gbce_t, train.counts, config.sampling_power)

    def collate(self, histories: list[np.ndarray], rows: np.ndarray, n_items: int, draws: CounterRNG) -> Batch:
        """The training batch of the histories `rows` (B,); whatever is random in it comes from `draws`.

        Unless overridden: the newest `length` items of each are targets, each predicted from the items before it.
        """
        sequences = self.sequences(histories, rows, draws)
        inputs = [self.input_tokens(sequence[:-1]) for sequence in sequences]
        targets = [sequence[-self.config.length :].astype(np.int64) for sequence in sequences]
        lengths = np.array([len(items) for items in targets])
        tokens = pad(np.concatenate(inputs), lengths, n_items)  # (B, T)
        loss_index = np.flatnonzero(np.arange(tokens.shape[1]) < lengths[:, None])
        return Batch(
            torch.from_numpy(tokens), None, torch.from_numpy(loss_index), torch.from_numpy(np.concatenate(targets))
        )

    def sequences(self, histories: list[np.ndarray], rows: np.ndarray, draws: CounterRNG) -> list[np.ndarray]:
        """What the samples are made of: the histories `rows` (B,), unless overridden."""
        return [histories[row] for row in rows]

    def first_excluded_position(
        self, batch: Batch, histories: list[np.ndarray], rows: np.ndarray, n_items: int
    ) -> np.ndarray:
        """Return the items that the loss of a batch of the histories `rows` (B,) excludes, (B, I): see `ExcludedItems`.

        Unless overridden: an item from the position on that follows the one where it is the target; all others of the
        same history everywhere, for they were watched before (or after, where a stretch of it was cut out).
        """
        excluded_from = unseen(histories, rows, n_items)
        row, position = batch.where
        order = slice(None, None, -1)  # so that of an item that comes twice the first position stays
        excluded_from[row.numpy()[order], batch.targets.numpy()[order]] = position.numpy()[order] + 1
        return excluded_from

    def input_tokens(self, history: np.ndarray) -> np.ndarray:
        """The newest `length` of: the start token and the items (T,) of a history. The last position predicts."""
        return np.append(self.module.start, history)[-self.config.length :]

    def input_stars(self, stars: np.ndarray) -> np.ndarray:
        """The stars (T,) of `input_tokens`, from those of a history."""
        return np.append(UNRATED, stars)[-self.config.length :]

    def stars_of_inputs(self, batch: Batch, sequences: list[np.ndarray]) -> list[np.ndarray]:
        """The stars of the tokens of each row of a batch, from those of what `sequences` gave to make it."""
        return [self.input_stars(sequence[:-1]) for sequence in sequences]

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: RunOptions | None = None) -> Self:
        """Train on `train`, stop early on `valid`.

        Raises DataError where there is nothing to train on, TrainingError for a run that cannot go on.
        """
        run = run or RunOptions()
        if not len(train.interactions):
            raise DataError(f"{train.name} has no films to train on; take a set with more ratings")
        self.check_memory(train, devices.free_gpu_bytes(devices.choose(run.device)))
        torch.manual_seed(run.seed)
        self.module = self.build(train.n_items)
        if self.module.person_vectors is not None and train.people is None:
            raise DataError(f"{train.name} contains no gender, age or occupation; train without --person")
        self.initialise(self.module, train, run.seed)
        self.item_loss = self.make_loss(train)
        self.training_summary = trainer.train(self._task(train, valid, run), self.config.schedule, run)
        self.module.eval()
        if self.remembers:
            self.memory = Memory.of(train, valid, self.network_scores, run)
        return self

    def _task(self, train: Dataset, valid: HeldOut | None, run: RunOptions) -> trainer.Task:
        """What the training loop needs to know of this model and its data."""
        learnt, about = _not_empty(train.histories), self._about(train)

        def epoch_of(number: int) -> Iterator[Batch]:
            draws = CounterRNG(run.seed, number)
            if not (self.redraws and train.ties == "drawn"):
                return self.batches(learnt, train.n_items, draws, about)
            drawn = redrawn(train, draws.key(ORDER))
            return self.batches(_not_empty(drawn.histories), train.n_items, draws, self._about(drawn))

        return trainer.Task(
            self.module,
            math.ceil(len(learnt) / self.config.schedule.batch_size),
            epoch_of,
            self.loss,
            (lambda module: self._validate(module, valid)) if valid else None,
            {
                "config": to_document(self.config),
                "data": train.details_fingerprint if self.uses_times_or_ratings else train.fingerprint,
            },
        )

    def _about(self, train: Dataset) -> "About":
        """Side information on the histories that are learnt from, which are those that are not empty."""
        if self.module.star_vectors is None and self.module.person_vectors is None:
            return About(None, None)
        ratings = np.split(np.asarray(train.interactions.rating), train.offsets[1:-1])
        everybody = Queries(train.histories, ratings=ratings, people=train.people)
        return About.of(self.module, everybody[np.flatnonzero(np.diff(train.offsets))])

    def batches(
        self, histories: list[np.ndarray], n_items: int, draws: CounterRNG, about: "About | None" = None
    ) -> Iterator[Batch]:
        """One epoch: this process's share of each batch."""
        lengths = np.array([min(len(history), self.config.length) for history in histories])
        rng = np.random.default_rng([draws.seed, draws.epoch])
        for rows in bucketed_batches(lengths, self.config.schedule.batch_size, rng):
            mine = distributed.shard(rows)
            own = mine if len(mine) else rows[:1]
            batch = self.collate(histories, own, n_items, draws)
            batch = self._with_side(batch, about, own, draws) if about else batch
            if self.only_unseen:
                excluded_from = self.first_excluded_position(batch, histories, own, n_items)
                batch = replace(batch, excluded_from=torch.from_numpy(excluded_from))
            # with fewer sequences than processes, this one must take part in the step all the same
            yield batch if len(mine) else batch.without_targets()

    def _with_side(self, batch: Batch, about: "About", rows: np.ndarray, draws: CounterRNG) -> Batch:
        """A batch, which `collate` made of the histories `rows` (B,), with side information; of targets no stars.

        Some samples go without stars, and some without a person, as the visitors of the app do.
        """
        if about.stars is not None:
            sequences = self.sequences(about.stars, rows, draws)  # cut as items are: draws depend on rows and lengths
            stars = _padded(self.stars_of_inputs(batch, sequences), UNRATED)
            stars[draws.uniform(NO_STARS, rows) < WITHOUT] = UNRATED
            batch = replace(batch, stars=torch.from_numpy(stars))
        if about.people is not None:
            people = about.people[rows]
            people[draws.uniform(NO_PERSON, rows) < WITHOUT] = UNKNOWN
            batch = replace(batch, person=torch.from_numpy(people))
        return batch

    def loss(self, module: Any, batch: Batch) -> Tensor:
        """The sum of the losses of a batch, ()."""
        hidden = module(*batch.inputs).flatten(0, 1)[batch.loss_index]  # (M, D): only these get logits
        excluded = batch.excluded
        scored = (hidden.float(), module.output, module.bias, batch.targets)
        return self.item_loss(*scored) if excluded is None else self.item_loss(*scored, excluded)

    def _validate(self, module: "SequenceEncoder", valid: HeldOut) -> dict[str, float]:
        """Full-ranking metrics of the validation items, seen items hidden; each process ranks its share."""
        ranks = np.zeros(len(valid), np.int64)
        mine = distributed.shard(np.arange(len(valid)))
        queries = valid.queries[mine]
        for rows, scores in self._scores(module, queries):
            seen = [queries.histories[row] for row in rows]
            ranks[mine[rows]] = metrics.target_ranks(scores, valid.targets[mine[rows]], seen)
        ranks = distributed.all_reduce_array(ranks)
        return {name: round(value, 6) for name, value in metrics.summary(ranks).items()}

    def score(self, queries: Queries) -> np.ndarray:
        """(B, I) float32 scores of the item that comes next: logits of the loss, and what a memory adds."""
        scores = self.network_scores(queries)
        return scores if self.memory is None else self.memory.beside(scores, queries)

    def drop_memory(self) -> None:
        """From now on the network answers alone, whose scores are those of its own loss."""
        self.memory, self.has_probabilities = None, self.loss_name in SOFTMAX_LOSSES

    def network_scores(self, queries: Queries) -> np.ndarray:
        """(B, I) float32: the logits of the network alone."""
        if len(queries) == 1 and self.device == "cpu" and self.module.logits_are_products:
            return self._score_one(queries)
        scores = np.empty((len(queries), self.module.n_items), np.float32)
        for rows, part in self._scores(self.module, queries):
            scores[rows] = part
        return scores

    @torch.inference_mode()
    def _score_one(self, queries: Queries) -> np.ndarray:
        """(1, I), by NumPy: torch's product of a catalogue and one vector takes up to three times as long on a CPU."""
        tokens, about = self.input_tokens(queries.histories[0]), About.of(self.module, queries)
        stars = None if about.stars is None else self.input_stars(about.stars[0])[None]
        inputs = _tensors(tokens[None], np.array([[len(tokens) - 1]]), stars, about.people)
        hidden = self.module(*inputs).flatten()  # (D,)
        scores = self.module.output.detach().numpy() @ hidden.numpy()  # (I,)
        scores += self.module.bias.detach().numpy()
        return scores[None]

    @torch.inference_mode()
    def _scores(self, module: "SequenceEncoder", queries: Queries) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Rows of the queries (b,) and their scores (b, I), a batch of similar length at a time."""
        module.eval()
        inputs, about = [self.input_tokens(history) for history in queries.histories], About.of(module, queries)
        stars = None if about.stars is None else [self.input_stars(own) for own in about.stars]
        device = module.bias.device
        at_once = SCORE_BATCH if device.type == "cpu" else 8 * SCORE_BATCH
        for rows in by_length(np.array([len(tokens) for tokens in inputs], int), at_once):
            tokens = _padded([inputs[row] for row in rows], module.padding)  # (B, T)
            last = np.array([[len(inputs[row]) - 1] for row in rows])  # (B, 1)
            given = None if stars is None else _padded([stars[row] for row in rows], UNRATED)  # (B, T)
            people = None if about.people is None else about.people[rows]  # (B, 3)
            hidden = module(*_tensors(tokens, last, given, people, device=device))[:, 0]  # (B, D)
            yield rows, module.logits(hidden).float().cpu().numpy()

    def _batch_of_one(self, tokens: np.ndarray) -> Tensor:
        """Tokens (T,) → (1, T) int64, where the module is."""
        return torch.from_numpy(tokens.astype(np.int64))[None].to(self.device)

    def log_probabilities(self, scores: np.ndarray, items: np.ndarray) -> np.ndarray | None:
        """log p that the next item is each of `items` (n,), by one row of scores (I,) → (n,) float64, or None.

        A softmax loss: log-softmax over the items that are listed, those above minus infinity. gBCE: log σ(score -
        log I), the σ(score) of its paper (arXiv:2308.07192), because our loss takes log I off every score first. BCE:
        log σ(score). These need not sum to 1. Losses that compare pairs give no probabilities.
        """
        if self.loss_name in SOFTMAX_LOSSES or self.memory is not None:
            return scores[items].astype(np.float64) - log_sum_exp(scores)
        if self.loss_name in ("gbce", "bce"):
            shift = math.log(len(scores)) if self.loss_name == "gbce" else 0.0
            return log_expit(scores[items].astype(np.float64) - shift)
        return None

    def item_embeddings(self) -> np.ndarray:
        """(I, D) float32: the output weights, whose products with a hidden state are the scores."""
        return self.module.output.detach().float().cpu().numpy()

    @property
    def max_length(self) -> int:
        """Positions, and so the most items that the network reads; a memory has read all of them."""
        return self.config.length

    @property
    def device(self) -> str:
        """Where the module computes."""
        return str(self.module.bias.device)

    def state(self) -> dict[str, np.ndarray]:
        """The module's weights, and the arrays of the memory."""
        weights = {name: value.detach().cpu().numpy() for name, value in self.module.state_dict().items()}
        return weights if self.memory is None else weights | self.memory.state()

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Rebuild the module, on a GPU if there is one; raises ValueError when the weights do not fit the settings.

        KeyError where a memory is missing.
        """
        if self.remembers:
            self.memory = Memory.from_state(state, n_items)
        weights = {name: value for name, value in state.items() if not name.startswith(memory.NAME)}
        self.module = self.build(n_items).to(devices.choose("auto"))
        try:
            self.module.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in weights.items()})
        except RuntimeError as error:
            raise ValueError(f"the weights do not fit the configuration {self.config}") from error
        self.module.eval()


@dataclass(frozen=True)
class About:
    """Side information on B histories, as a module reads it; None: it does not, or nothing is known."""

    stars: list[np.ndarray] | None  # `rating_ids` (T,) of each
    people: np.ndarray | None  # (B, 3) `PersonVectors.codes`

    @classmethod
    def of(cls, module: "SequenceEncoder", queries: Queries) -> Self:
        """What a module reads of what is known."""
        ratings = None if module.star_vectors is None else queries.ratings
        stars = None if ratings is None else [rating_ids(own) for own in ratings]
        people, vectors = queries.people, module.person_vectors
        return cls(stars, None if people is None or vectors is None else vectors.codes(people))


def _not_empty(histories: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Those that something can be learnt from."""
    return [history for history in histories if len(history)]


def unseen(histories: list[np.ndarray], rows: np.ndarray, n_items: int) -> np.ndarray:
    """Return 0 for the items of each of the histories `rows` (B,), else NOT_SEEN, (B, I): see `ExcludedItems`."""
    excluded_from = np.full((len(rows), n_items), NOT_SEEN, np.int16)
    for own, row in zip(excluded_from, rows, strict=True):
        own[histories[row]] = 0
    return excluded_from


def _tensors(*arrays: np.ndarray | None, device: torch.device | str = "cpu") -> list[Tensor | None]:
    """The arrays on a device, without the last ones that are None: modules without side information take no more."""
    number = max(place for place, array in enumerate(arrays, 1) if array is not None)
    return [None if array is None else torch.from_numpy(array).to(device) for array in arrays[:number]]


def _padded(sequences: list[np.ndarray], padding: int) -> np.ndarray:
    """(B, T) int64 of B sequences, see `pad`."""
    return pad(np.concatenate(sequences), np.array([len(sequence) for sequence in sequences]), padding)


class SequenceEncoder(nn.Module):
    """An encoder of token sequences whose output weights are its item embeddings (equation 7 of BERT4Rec) if `shared`.

    Tokens 0…I-1 are items, I is padding, I+1 is [mask] or, for models that read from left to right, the start of a
    history. Output weights are the first I rows, so that neither of the two can be recommended.
    """

    logits_are_products: ClassVar[bool] = True  # hidden · output + bias; False where `logits` computes something else

    def __init__(self, n_items: int, dim: int, shared: bool = True, side: Sequence[str] = ()) -> None:
        super().__init__()
        self.n_items, self.padding, self.mask = n_items, n_items, n_items + 1
        self.start = self.mask
        self.items = nn.Embedding(n_items + 2, dim)
        self.positions: nn.Embedding | None = None  # a subclass with position embeddings sets it
        self.bias = nn.Parameter(torch.zeros(n_items))
        self.own_output = None if shared else nn.Embedding(n_items, dim)
        details = [kind for kind in side if kind in KINDS]
        self.details = ItemDetails(details, n_items, dim) if details else None
        self.star_vectors = StarVectors(dim) if "stars" in side else None
        self.person_vectors = PersonVectors(dim) if "person" in side else None
        self.cached_embeddings: Tensor | None = None  # `item_vectors` while nothing is learnt

    def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        """Tokens (B, T) → hidden states (B, T, D), or those at `positions` (B, Q) only: (B, Q, D)."""
        raise NotImplementedError

    def train(self, mode: bool = True) -> Self:
        """As in torch, whose `eval` is train(False): from then on `item_vectors` are not added up each time."""
        super().train(mode)
        with torch.no_grad():
            self.cached_embeddings = None if mode or self.details is None else self._add_up()
        return self

    def item_vectors(self) -> Tensor:
        """(I + 2, D) the embedding of each token, and what is known of an item added to it."""
        known = (
            None if torch.is_grad_enabled() else self.cached_embeddings
        )  # a training step needs the weights themselves
        return self._add_up() if known is None else known

    def _add_up(self) -> Tensor:
        return self.items.weight if self.details is None else self.items.weight + F.pad(self.details(), (0, 0, 0, 2))

    def token_embeddings(self, tokens: Tensor, stars: Tensor | None = None, person: Tensor | None = None) -> Tensor:
        """What the network is given for tokens (B, T) → (B, T, D).

        stars (B, T) `rating_ids` of each, person (B, 3) `PersonVectors.codes`; None where they are not known or read.
        """
        x = F.embedding(tokens, self.item_vectors())
        if self.star_vectors is not None and stars is not None:
            x = x + self.star_vectors(stars)
        return x if self.person_vectors is None or person is None else x + self.person_vectors(person)[:, None]

    @torch.no_grad()
    def start_output(self) -> None:
        """Where it has output weights of its own, they start as the item embeddings do."""
        if self.own_output is not None:
            self.own_output.weight.copy_(self.items.weight[: self.n_items])

    @property
    def output(self) -> Tensor:
        """Output weights, (I, D)."""
        return self.item_vectors()[: self.n_items] if self.own_output is None else self.own_output.weight

    def logits(self, hidden: Tensor) -> Tensor:
        """Hidden states (…, D) → a score for every item (…, I)."""
        return hidden @ self.output.T + self.bias
