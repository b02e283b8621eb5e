"""SASRec: each item of a history is predicted from the items before it (Kang and McAuley, ICDM 2018, arXiv:1808.09781).

The recommenders of the registry differ in the loss: binary cross-entropy with one negative (`sasrec-bce`), softmax over
all items (`sasrec-softmax`, arXiv:2309.07602), gBCE with many negatives (`gsasrec`, arXiv:2308.07192).

Unlike in the paper of gBCE, the loss "gbce" subtracts log I from the scores of the I items, see `losses.py`. The loss
of `sasrec-bce` is "gbce" with t = 0: binary cross-entropy after this subtraction. The loss "bce" has no subtraction.

Departures from the papers, besides those of docs/models.md (docs/experiments.md has the effect of each;
`sasrec_paper.py` avoids most of them):

- With the crop "segments", only an empty history has a start token.
- A learnt relative position bias in place of position embeddings.
- Two heads, a feed-forward network four times as wide as an embedding, and GELU.
- No dropout on attention weights.

Shapes: B sequences, T positions.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from recsys.config import DropoutRate, config_class
from recsys.models.sequence_config import TransformerConfig
from recsys.models.transformer import TransformerEncoder, TransformerModel
from recsys.training.batches import CounterRNG
from recsys.training.options import TrainConfig


@config_class
class SasRecConfig(TransformerConfig):
    """Settings of SASRec, tuned on ML-1M. `layers`, `length` and `dropout` are as in the paper, whose `dim` is 50."""

    schedule: TrainConfig = TrainConfig(epochs=40, validate_every=4)
    dropout: DropoutRate = 0.2  # share of the values set to zero


class SasRecEncoder(TransformerEncoder):
    """A causal Transformer."""

    causal = True


class SasRec(TransformerModel):
    """The model. The hidden state of the newest item predicts the next item."""

    Config: ClassVar[type] = SasRecConfig
    Encoder: ClassVar[type] = SasRecEncoder
    former_settings: ClassVar[Mapping[str, Any]] = {"relative_bias": True}  # see `Model.former_settings`
    config: SasRecConfig
    module: SasRecEncoder

    def input_tokens(self, history: np.ndarray, is_whole: bool = False) -> np.ndarray:
        """See `SequenceModel.input_tokens`. With the crop "segments", only an empty history gets the start token."""
        return super().input_tokens(history, is_whole and self.config.crop != "segments")

    def sequences(self, histories: Sequence[np.ndarray], rows: np.ndarray, rng: CounterRNG) -> list[np.ndarray]:
        """See `SequenceModel.sequences`. Each has at most `length` inputs and the target of the last input."""
        return rng.crop(histories, rows, self.config.length + 1, self.config.crop)
