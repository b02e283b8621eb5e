"""The base of all neural models: training on the common loop, scoring in batches, storing the weights.

Departures from the papers that most models share, such as the start token, are listed in docs/models.md.

Shapes: B sequences, b sequences scored at once, T tokens of a sequence, Q positions of a sequence whose hidden states
are returned, M targets, each with a loss, D dimensions, I items, W ranges of history lengths.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import torch
import torch.nn.functional as F
from scipy.special import log_expit
from torch import Tensor, nn

from recsys.config import to_document
from recsys.data.dataset import DataError, Dataset, HeldOut, Queries
from recsys.data.tie_breaking import reshuffle_ties
from recsys.models.base import Model
from recsys.models.count_memory import MEMORY_PREFIX, CountMemory
from recsys.models.length_weights import LengthWeights, histories_cut_to_each_range
from recsys.models.pmi import initialise_from_pmi
from recsys.ranking import metrics
from recsys.training import device as devices
from recsys.training import distributed, trainer
from recsys.training.batches import NEVER_EXCLUDED, Batch, CounterRNG, Stream, bucketed_batches, by_length, pad
from recsys.training.losses import Loss, make_item_loss
from recsys.training.options import RunOptions

WEIGHT_COPIES = 6  # in memory during training: weights, gradients, two moments of AdamW, average, best so far
SCORE_BATCH = 32  # histories scored at once on a CPU, limited by its caches; a GPU scores eight times as many
SOFTMAX_LOSSES = ("softmax", "sampled-softmax")  # with them, scores are log-probabilities plus a constant
CALIBRATION_EDGES = (2, 3, 5, 10, 50)  # lowest history lengths of the second and each later range, in items
MIN_CALIBRATION_FACTOR = 0.05  # for a network no better than chance the fit gives 0, and all scores would be equal
CALIBRATION_KEY = "inverse_temperatures"  # name of the factors in the state of a network


class SequenceEncoder(nn.Module):
    """The base of the encoders of token sequences. The output weights are the item embeddings, unless overridden.

    Tokens 0…I-1 are items, I is padding, I+1 is [mask], or the start of a history for models that read from left to
    right. Only items have output weights, so padding and [mask] are never recommended.
    """

    logits_are_products: ClassVar[bool] = True  # hidden · output + bias; False if `logits` computes something else

    def __init__(self, n_items: int, dim: int) -> None:
        super().__init__()
        self.n_items, self.padding, self.mask = n_items, n_items, n_items + 1
        self.start = self.mask
        self.items = nn.Embedding(n_items + 2, dim)
        self.bias = nn.Parameter(torch.zeros(n_items))
        self.own_output: nn.Embedding | None = None  # separate output weights, (I, D)
        self.positions: nn.Embedding | None = None  # a `PositionEmbedding`, called with tokens; stored by this name

    def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        """Return the hidden states of tokens (B, T) at `positions` (B, Q; None: all T), (B, Q, D).

        Padding is at the end of a row and must not change the states of other positions.
        """
        raise NotImplementedError

    def item_vectors(self) -> Tensor:
        """Return the embeddings of all tokens: items, padding, and [mask] or start, (I + 2, D)."""
        return self.items.weight

    def token_embeddings(self, tokens: Tensor) -> Tensor:
        """Return the embeddings of tokens (B, T) plus their position embeddings, if any, (B, T, D)."""
        x = F.embedding(tokens, self.item_vectors())
        return x if self.positions is None else x + self.positions(tokens)

    @property
    def output(self) -> Tensor:
        """The output weights, (I, D)."""
        return self.item_vectors()[: self.n_items] if self.own_output is None else self.own_output.weight

    def logits(self, hidden: Tensor) -> Tensor:
        """Return a score for every item, (…, I), from hidden states (…, D)."""
        return hidden @ self.output.T + self.bias


class SequenceModel(Model):
    """A model that scores items by the hidden state of a `SequenceEncoder` at the last position of a history.

    A new model declares `Config`, mostly a subclass of `SequenceConfig` (`schedule` and `length` are required), and
    `Encoder`, a subclass of `SequenceEncoder`. A model whose loss is not in `recsys.training.losses` has no setting
    `loss` and overrides `make_loss` or `loss`.
    """

    Encoder: ClassVar[type]  # constructed from a Config and the number of items
    needs_training: ClassVar[bool] = True
    has_item_embeddings: bool = True
    module: SequenceEncoder
    item_loss: Loss  # the result of `make_loss`
    count_memory: CountMemory | None = None  # Markov chain and EASE, whose scores are added to the network's scores
    calibration: LengthWeights | None = None  # factors of the logits by the length of the history, see `calibrate`

    def __init__(self, config: Any = None, title: str = "") -> None:
        super().__init__(config, title)
        # settings that some configs lack
        self.loss_name = getattr(self.config, "loss", "")  # "": the model overrides `make_loss` or `loss`
        self.only_unseen = getattr(self.config, "only_unseen", False)
        self.uses_count_memory = getattr(self.config, "memory", False)
        self.redraws_ties = getattr(self.config, "redraw", False)
        self.uses_times_or_ratings = self.redraws_ties

    @property
    def is_fitted_on_validation(self) -> bool:  # type: ignore[override]  # other models have a constant
        """Whether a count memory with fitted weights changes the ranking. `calibrate` never changes it."""
        return self.count_memory is not None and self.count_memory.has_fitted_weights

    @property
    def has_probabilities(self) -> bool:  # type: ignore[override]
        """Whether the loss is a softmax. With a fitted count memory, any loss gives probabilities."""
        return self.is_fitted_on_validation or self.loss_name in SOFTMAX_LOSSES

    def build(self, n_items: int) -> Any:
        """Return a new encoder with random weights from torch's global generator."""
        return self.Encoder(self.config, n_items)

    def fit_memory_bytes(self, n_users: int, n_items: int) -> int:
        """See `Model.fit_memory_bytes`. It counts the copies of the weights and the (B, I) arrays of excluded items."""
        with torch.device("meta"):  # allocates nothing
            n_weights = sum(weights.numel() for weights in self.build(n_items).parameters())
        n_cells = n_items * self.config.schedule.batch_size if self.only_unseen else 0
        return 4 * WEIGHT_COPIES * n_weights + 3 * n_cells  # a float32 has 4 bytes, an int16 and a bool 3 together

    def initialise(self, module: Any, train: Dataset, seed: int) -> None:
        """Set the initial weights that depend on the training data. Separate output weights start as the embeddings."""
        if getattr(self.config, "pmi_init", False):
            initialise_from_pmi(module.items, module.positions, train, self.config.init, seed)
        if module.own_output is not None:
            with torch.no_grad():
                module.own_output.weight.copy_(module.items.weight[: module.n_items])

    def make_loss(self, train: Dataset) -> Loss:
        """Return the loss of the config."""
        config = self.config
        return make_item_loss(config.loss, config.negatives, config.gbce_t, train.counts, config.sampling_power)

    def collate(self, histories: Sequence[np.ndarray], rows: np.ndarray, n_items: int, rng: CounterRNG) -> Batch:
        """Return a training batch of `histories[rows]` (B,), without `Batch.excluded_from`.

        By default, each of the newest `length` items is a target, which is predicted from the items before it.
        """
        sequences = self.sequences(histories, rows, rng)
        inputs = [self.input_tokens(sequence[:-1], is_whole=True) for sequence in sequences]
        lengths = np.array([len(tokens) for tokens in inputs])
        # each token is the input for one target
        targets = [sequence[-n:].astype(np.int64) for sequence, n in zip(sequences, lengths, strict=True)]
        tokens = pad(np.concatenate(inputs), lengths, n_items)  # (B, T)
        return Batch.from_numpy(tokens, positions=None, n_targets=lengths, targets=np.concatenate(targets))

    def sequences(self, histories: Sequence[np.ndarray], rows: np.ndarray, rng: CounterRNG) -> list[np.ndarray]:
        """Return the part of each of `histories[rows]` (B,) for a batch. By default, the whole history."""
        return [histories[row] for row in rows]

    def first_excluded_column(
        self, batch: Batch, histories: Sequence[np.ndarray], rows: np.ndarray, n_items: int
    ) -> np.ndarray:
        """Return the first of the Q columns at which each item is excluded, `Batch.excluded_from` (B, I).

        The batch was made of `histories[rows]` (B,). By default, a target is excluded after the column that predicts
        it. Other items of the history are excluded at all columns.
        """
        excluded_from = exclude_histories(histories, rows, n_items)
        # A repeated target is excluded after its first column. NumPy keeps the last write, so all arrays are reversed.
        row, column, target = (array.numpy()[::-1] for array in (*batch.loss_cells, batch.targets))
        excluded_from[row, target] = column + 1
        return excluded_from

    def input_tokens(self, history: np.ndarray, is_whole: bool = False) -> np.ndarray:
        """Return the newest `length` tokens of a history, (T,). A whole or empty history begins with the start token.

        After the start token, networks expect films that people rate when they sign up. So a visitor's list has no
        start token. On ML-1M with one film, NDCG@10 of `sasrec-softmax` is .011 with the start token and .076 without
        it (docs/experiments.md).
        """
        tokens = np.append(self.module.start, history) if is_whole or not len(history) else history
        return tokens[-self.config.length :].astype(np.int64)

    def fit(self, train: Dataset, valid: HeldOut | None = None, run: RunOptions | None = None) -> Self:
        """Train on `train` and stop early on `valid`.

        Raises DataError if `train` is empty or the memory does not suffice, and TrainingError if the training fails.
        """
        run = run or RunOptions()
        if not len(train.interactions):
            raise DataError("{name} has no films to train on; choose a data set with more ratings", name=train.name)
        self.check_memory(train, devices.free_gpu_bytes(devices.choose(run.device)))
        torch.manual_seed(run.seed)
        self.module = self.build(train.n_items)
        self.initialise(self.module, train, run.seed)
        self.item_loss = self.make_loss(train)
        self.training_summary = trainer.train(self._task(train, valid, run), self.config.schedule, run)
        self.module.eval()
        if self.uses_count_memory:
            count_data = train if run.count_data is None else run.count_data
            self.count_memory = CountMemory(run.count_configs).fit(count_data, valid, self.network_scores, run)
        elif self.has_probabilities and valid:
            self.calibrate(valid, run.seed)
        return self

    def calibrate(self, valid: HeldOut, seed: int = 0) -> None:
        """Fit a factor of the logits for each range of history lengths. It changes probabilities but not the ranking.

        Without the factor, probabilities are too high, especially for short histories. On the built-in set with
        histories of one film, BERT4Rec gave its top film a mean probability of 19 %. This film was watched next in
        2.7 % of the cases.

        Reference: temperature scaling, Guo et al. (ICML 2017, arXiv:1706.04599). The factor is 1 / temperature.
        """
        self.calibration = LengthWeights(n_members=1, edges=CALIBRATION_EDGES)  # the member is the network
        run = RunOptions(seed=seed)  # without progress: it takes seconds
        self.calibration.fit(lambda queries: [self.network_scores(queries)], valid, run, histories_cut_to_each_range)
        self.calibration.set_weights(np.maximum(self.calibration.weights, np.float32(MIN_CALIBRATION_FACTOR)))

    def calibration_factor(self, history: np.ndarray) -> float:
        """Return the factor that `calibrate` fitted for histories of this length, or 1 without a calibration."""
        if self.calibration is None:
            return 1.0
        return float(self.calibration.weights[self.calibration.range_indices(Queries([history]))[0], 0])

    def _task(self, train: Dataset, valid: HeldOut | None, run: RunOptions) -> trainer.Task:
        """Return the input of the training loop: the module, its batches, the loss and the validation."""
        samples = self.samples(train)

        def epoch_batches(epoch: int) -> Iterator[Batch]:
            rng = CounterRNG(run.seed, epoch)
            epoch_samples = samples
            if self.redraws_ties and train.ties == "drawn":  # the order of ties is random
                epoch_samples = self.samples(reshuffle_ties(train, rng.key(Stream.TIE_ORDER)))
            return self.batches(epoch_samples, train.n_items, rng)

        return trainer.Task(
            module=self.module,
            steps=math.ceil(len(samples) / self.config.schedule.batch_size),
            batches=epoch_batches,
            loss=self.loss,
            validate=(lambda module: self._validate(module, valid)) if valid else None,
            identity={
                "config": to_document(self.config),
                "data": train.full_fingerprint if self.uses_times_or_ratings else train.fingerprint,
            },
        )

    def samples(self, train: Dataset) -> Queries:
        """Return the histories that are not empty."""
        return Queries([history for history in train.histories if len(history)])

    def batches(self, samples: Queries, n_items: int, rng: CounterRNG) -> Iterator[Batch]:
        """Yield this process's share of each batch of an epoch."""
        # Not the lengths of the crops: with batches of similar crops, NDCG@10 was lower (docs/experiments.md), because
        # the mean loss of a batch of short crops has few targets, which then weigh more.
        lengths = np.array([min(len(history), self.config.length) for history in samples.histories])
        shuffle_rng = np.random.default_rng([rng.seed, rng.epoch])
        for rows in bucketed_batches(lengths, self.config.schedule.batch_size, shuffle_rng):
            shard = distributed.shard(rows)
            if len(shard):
                yield self.batch_of(samples, shard, n_items, rng)
            else:  # every process must take part in each step
                yield self.batch_of(samples, rows[:1], n_items, rng).without_targets()

    def batch_of(self, samples: Queries, rows: np.ndarray, n_items: int, rng: CounterRNG) -> Batch:
        """Return the training batch of the samples in `rows` (B,), with `excluded_from` if `only_unseen`."""
        batch = self.collate(samples.histories, rows, n_items, rng)
        if not self.only_unseen:
            return batch
        excluded_from = self.first_excluded_column(batch, samples.histories, rows, n_items)
        return replace(batch, excluded_from=torch.from_numpy(excluded_from))

    def loss(self, module: Any, batch: Batch) -> Tensor:
        """Return the sum of the losses of a batch, ()."""
        hidden = module(*batch.inputs).flatten(0, 1)[batch.loss_index]  # (M, D)
        excluded = () if batch.excluded_from is None else (batch.excluded_items,)
        return self.item_loss(hidden.float(), module.output, module.bias, batch.targets, *excluded)

    def _validate(self, module: SequenceEncoder, valid: HeldOut) -> dict[str, float]:
        """Return the metrics of the validation targets among all unseen items. Each process ranks its share."""
        ranks = np.zeros(len(valid), np.int64)
        shard = distributed.shard(np.arange(len(valid)))
        for rows_of_shard, scores in self._score_batches(module, valid.queries[shard]):
            rows = shard[rows_of_shard]
            excluded = [valid.queries.histories[row] for row in rows]
            ranks[rows] = metrics.target_ranks(scores, valid.targets[rows], excluded)
        ranks = distributed.all_reduce_array(ranks)
        return {name: round(value, 6) for name, value in metrics.summary(ranks).items()}

    def score(self, queries: Queries) -> np.ndarray:
        """Return the scores of the next item (B, I) float32: calibrated logits, or logits combined with the memory."""
        scores = self.network_scores(queries)
        if self.count_memory is not None:
            return self.count_memory.combine(scores, queries)
        return scores if self.calibration is None else self.calibration.combine([scores], queries)

    def remove_count_memory(self) -> None:
        """Remove the count memory, if any. After that, the scores come from the network alone."""
        self.count_memory = None

    def network_scores(self, queries: Queries) -> np.ndarray:
        """Return the logits of the network, (B, I) float32."""
        if len(queries) == 1 and self.device == "cpu" and self.module.logits_are_products:
            return self._score_one(queries)
        scores = np.empty((len(queries), self.module.n_items), np.float32)
        for rows, batch_scores in self._score_batches(self.module, queries):
            scores[rows] = batch_scores
        return scores

    @torch.inference_mode()
    def _score_one(self, queries: Queries) -> np.ndarray:
        """Return the scores (1, I) of one query. NumPy multiplies by one vector up to 3 times as fast as PyTorch."""
        tokens = self.input_tokens(queries.histories[0], queries.are_whole)[None]  # (1, T)
        last_position = torch.tensor([[tokens.shape[1] - 1]])
        side = self.side_inputs(self.module, queries, np.array([0]), tokens)
        hidden = self.module(torch.from_numpy(tokens), last_position, *side).flatten()  # (D,)
        scores = self.module.output.detach().numpy() @ hidden.numpy()  # (I,)
        scores += self.module.bias.detach().numpy()
        return scores[None]

    @torch.inference_mode()
    def _score_batches(self, module: SequenceEncoder, queries: Queries) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield rows of the queries (b,) and their scores (b, I), a batch of similar length at a time."""
        module.eval()
        inputs = [self.input_tokens(history, queries.are_whole) for history in queries.histories]
        device = module.bias.device
        batch_size = SCORE_BATCH if device.type == "cpu" else 8 * SCORE_BATCH
        for rows in by_length(np.array([len(tokens) for tokens in inputs], int), batch_size):
            lengths = np.array([len(inputs[row]) for row in rows])
            tokens = pad(np.concatenate([inputs[row] for row in rows]), lengths, module.padding)  # (b, T)
            last_positions = torch.from_numpy(lengths[:, None] - 1).to(device)  # (b, 1)
            side = self.side_inputs(module, queries, rows, tokens)
            hidden = module(torch.from_numpy(tokens).to(device), last_positions, *side)[:, 0]  # (b, D)
            yield rows, module.logits(hidden).float().cpu().numpy()

    def side_inputs(
        self, module: SequenceEncoder, queries: Queries, rows: np.ndarray, tokens: np.ndarray
    ) -> tuple[Tensor | None, ...]:
        """Return the last arguments of the module: side information of the queries in `rows` (b,). By default, none."""
        return ()

    def _batch_of_one(self, tokens: np.ndarray) -> Tensor:
        """Return tokens (T,) as a batch (1, T) on the device of the module."""
        return torch.from_numpy(tokens.astype(np.int64))[None].to(self.device)

    def log_probabilities(self, scores: np.ndarray, items: np.ndarray) -> np.ndarray | None:
        """Return log p(next item), see `Model.log_probabilities`.

        Without `has_probabilities`, BCE gives log σ(score), and gBCE (arXiv:2308.07192) log σ(score - log I), because
        our loss, unlike the paper's, subtracts log I. The sigmoids do not sum to 1. Pairwise losses give None.
        """
        if self.has_probabilities or self.loss_name not in ("gbce", "bce"):
            return super().log_probabilities(scores, items)
        shift = math.log(len(scores)) if self.loss_name == "gbce" else 0.0
        return log_expit(scores[items].astype(np.float64) - shift)

    def item_embeddings(self) -> np.ndarray:
        """Return the output weights, (I, D) float32."""
        return self.module.output.detach().float().cpu().numpy()

    @property
    def max_length(self) -> int:
        """The number of newest tokens that the network reads. A count memory reads all items."""
        return self.config.length

    @property
    def device(self) -> str:
        """See `Model.device`."""
        return str(self.module.bias.device)

    def state(self) -> dict[str, np.ndarray]:
        """Return the weights of the module, the arrays of the memory, and the factors of the calibration (W, 1)."""
        state = {name: value.detach().cpu().numpy() for name, value in self.module.state_dict().items()}
        if self.count_memory is not None:
            state |= self.count_memory.state()
        if self.calibration is not None:
            state[CALIBRATION_KEY] = self.calibration.weights
        return state

    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """See `Model.load_state`. The module is built on the GPU, if there is one."""
        if CALIBRATION_KEY in state:  # older checkpoints have none
            self.calibration = LengthWeights(n_members=1, edges=CALIBRATION_EDGES)
            self.calibration.set_weights(state[CALIBRATION_KEY])
        if self.uses_count_memory:
            self.count_memory = CountMemory()
            self.count_memory.load_state(state, n_items)
        weights = {
            name: torch.from_numpy(np.array(value))
            for name, value in state.items()
            if not name.startswith(MEMORY_PREFIX) and name != CALIBRATION_KEY
        }
        self.module = self.build(n_items).to(devices.choose("auto"))
        try:
            self.module.load_state_dict(weights)
        except RuntimeError as error:
            raise ValueError(f"the weights do not fit the configuration {self.config}") from error
        self.module.eval()


def exclude_histories(histories: Sequence[np.ndarray], rows: np.ndarray, n_items: int) -> np.ndarray:
    """Return `Batch.excluded_from` (B, I) that excludes all items of `histories[rows]` (B,) at every column."""
    excluded_from = np.full((len(rows), n_items), NEVER_EXCLUDED, np.int16)
    for excluded_row, row in zip(excluded_from, rows, strict=True):
        excluded_row[histories[row]] = 0
    return excluded_from
