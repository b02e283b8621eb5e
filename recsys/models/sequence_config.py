"""Settings that several networks share. The config of a model is a subclass that adds fields and overrides defaults."""

from recsys.config import DropoutRate, Fraction, Length, NonNegative, Positive, Size, config_class
from recsys.training.losses import LossName
from recsys.training.options import TrainConfig


@config_class
class SequenceConfig:
    """Settings of a network that reads a history and is trained with a loss of `recsys.training.losses`."""

    schedule: TrainConfig = TrainConfig()
    dim: Size = 64  # width of an embedding
    length: Length = 200  # positions: the newest items of a history that are read
    dropout: DropoutRate = 0.1  # share of the values set to zero
    init: Positive = 0.05  # standard deviation of the initial weights, truncated at two of them
    loss: LossName = "softmax"  # softmax: over all items; the others sample negatives
    negatives: Size = 256  # sampled negatives: of each target for gbce and bce with 8 or fewer, else shared by a batch
    gbce_t: Fraction = 0.75  # gBCE's calibration t: at 1 the sigmoid is calibrated, at 0 it is too high
    sampling_power: NonNegative = 0.75  # negatives ∝ popularity ** power, 0: uniform; gbce and bce draw uniformly


@config_class
class PmiConfig(SequenceConfig):
    """Settings of a network whose embeddings can start from pointwise mutual information (PMI), see `pmi.py`."""

    pmi_init: bool = True  # item embeddings start from pointwise mutual information, positions from sinusoids
