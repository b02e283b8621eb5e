"""The base of STAMP and NARM, which were published for short sessions.

Shapes: B sequences, T positions, Q positions per sequence, D dimensions of queries and keys, H dimensions of values.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from recsys.config import DropoutRate, Length, Size, config_class
from recsys.models.layers import gather_positions
from recsys.models.sequence_config import PmiConfig
from recsys.models.sequence_model import SequenceModel
from recsys.training.batches import CounterRNG
from recsys.training.losses import LossName
from recsys.training.options import TrainConfig


@config_class
class SessionConfig(PmiConfig):
    """Settings of STAMP and NARM. The schedule, short with large batches, was chosen on ml-latest-sample."""

    schedule: TrainConfig = TrainConfig(
        epochs=10, batch_size=64, lr=5e-3, warmup_steps=50, ema_decay=0.98, validate_every=2
    )
    length: Length = 50  # positions: the newest items of a history that are read
    dropout: DropoutRate = 0.2  # share of the values set to zero
    loss: LossName = "sampled-softmax"  # softmax: over all items; the others sample negatives
    negatives: Size = 512  # sampled negatives, see `SequenceConfig.negatives`


class SessionModel(SequenceModel):
    """A model that is trained on windows of histories, because histories of MovieLens are longer than sessions."""

    def sequences(self, histories: Sequence[np.ndarray], rows: np.ndarray, rng: CounterRNG) -> list[np.ndarray]:
        """See `SequenceModel.sequences`. Each has at most `length` inputs and the target of the last input."""
        return rng.crop(histories, rows, self.config.length + 1, "windows")


class AdditiveAttention(nn.Module):
    """Σ_j α_j values_j over the positions j ≤ t, with α_j = v · σ(query_t + key_j).

    There is no softmax: the weights α may be negative, and their sum grows with the history.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.v = nn.Linear(dim, 1, bias=False)  # product with the vector v

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor, positions: Tensor | None = None) -> Tensor:
        """Attend from each position t of `positions` (B, Q; None: all T) to the positions up to t.

        Queries and keys are (B, T, D), values (B, T, H). The result is the weighted sums of the values, (B, Q, H).
        """
        indices = torch.arange(keys.shape[1], device=keys.device)  # (T,)
        ends = indices[:, None] if positions is None else positions[..., None]  # (T, 1) or (B, Q, 1)
        queries = gather_positions(queries, positions)
        weights = self.v(torch.sigmoid(queries[:, :, None] + keys[:, None]))[..., 0]  # (B, Q, T)
        return weights.masked_fill(indices > ends, 0.0) @ values
