"""Settings that several networks share. The config of a model is a subclass that adds fields and overrides defaults."""

from recsys.config import (
    ConfigError,
    Count,
    DropoutRate,
    Fraction,
    Layers,
    Length,
    NonNegative,
    Positive,
    Size,
    added_later,
    config_class,
)
from recsys.training.batches import Crop
from recsys.training.losses import LossName
from recsys.training.options import TrainConfig


@config_class
class SequenceConfig:
    """Settings of a network that reads a history and is trained with a loss of `recsys.training.losses`."""

    schedule: TrainConfig = TrainConfig()
    dim: Size = 64  # width of an embedding
    length: Length = 200  # positions: the newest items of a history that are read
    dropout: DropoutRate = 0.1  # share of the values set to zero
    init: Positive = 0.05  # standard deviation σ of the initial weights, which are truncated at ± 2σ
    loss: LossName = "softmax"  # softmax: over all items; the others sample negatives
    # sampled negatives, shared by all targets of a batch; if there are at most 8, gbce and bce draw them per target
    negatives: Size = 256
    gbce_t: Fraction = 0.75  # t of gBCE: with 1 the sigmoids are calibrated, with lower values they are too high
    sampling_power: NonNegative = 0.75  # negatives ∝ popularity ** power, 0: uniform; gbce and bce draw uniformly


@config_class
class PmiConfig(SequenceConfig):
    """Settings of a network whose embeddings can start from pointwise mutual information (PMI), see `pmi.py`."""

    pmi_init: bool = True  # item embeddings start from PMI, position embeddings from sinusoids


@config_class
class ExtrasConfig(PmiConfig):
    """The settings `only_unseen`, `redraw` and `memory`, which raise NDCG@10 and are in no paper.

    The recommenders named …-memory use all of them.
    """

    only_unseen: bool = added_later(False)  # the softmax excludes items of the history, as recommendations do
    redraw: bool = added_later(False)  # films with equal times, whose order is random, get a new order in each epoch
    memory: bool = added_later(False)  # a Markov chain and EASE are added to the trained logits, see `count_memory.py`

    def __post_init__(self) -> None:
        """Raise ConfigError if `only_unseen` is set and the loss is not the softmax over all items."""
        if self.only_unseen and self.loss != "softmax":
            raise ConfigError(
                "only_unseen needs the loss softmax, but loss is {loss}; leave one of the two out", loss=self.loss
            )


@config_class
class TransformerConfig(ExtrasConfig):
    """Settings of BERT4Rec and SASRec."""

    layers: Layers = 2  # Transformer blocks
    heads: Count = 2  # attention heads
    crop: Crop = added_later("newest")  # how a training sample is cut from a history, see `CounterRNG.crop`

    def __post_init__(self) -> None:
        """Raise ConfigError if `dim` is no multiple of `heads`, or `only_unseen` does not fit the loss."""
        super().__post_init__()
        if self.dim % self.heads:
            raise ConfigError(
                "dim is {dim} and heads is {heads}, but dim must be a multiple of heads", dim=self.dim, heads=self.heads
            )
