"""BERT4Rec and SASRec without one of their parts, and BERT4Rec with BERT's masking rule, for `recsys.studies`.

`bert4rec-ablated` and `sasrec-ablated` are recommenders that no menu or leaderboard lists:
`python -m recsys train bert4rec-ablated --without norms`.

Shapes: B sequences, E items of all sequences, T positions, I items, D dimensions.
"""

from typing import Any, ClassVar, Literal

import numpy as np
from torch import Tensor, nn

from recsys.config import added_later, config_class
from recsys.models.bert4rec import IGNORE_INDEX, Bert4Rec, Bert4RecConfig, Bert4RecEncoder, positions_of
from recsys.models.bert4rec_paper import positions_from_oldest
from recsys.models.layers import gather_positions
from recsys.models.sasrec import SasRec, SasRecConfig, SasRecEncoder
from recsys.models.sasrec_paper import positions_from_newest
from recsys.models.sequence_model import SequenceEncoder
from recsys.models.transformer import Block
from recsys.training.batches import CounterRNG, Stream

Part = Literal["nothing", "relative bias", "order", "feed-forward", "norms", "residual", "tied output"]


@config_class
class WithoutConfig:
    """The setting that selects the part to leave out.

    Without "relative bias", the network has position embeddings. Without "order", it has neither a bias nor position
    embeddings, but SASRec keeps its causal mask. Without "tied output", it has separate output weights.
    """

    without: Part = added_later("nothing")  # part of the network that is left out


class NoFeedForwardBlock(Block):
    """A block with attention only."""

    def make_feed_forward(self, dim: int, width: int) -> None:
        """Create no layers, and remove the weights of the unused normalisation."""
        self.norm_forward = nn.Identity()

    def forward(self, x: Tensor, attention_mask: Tensor | None, positions: Tensor | None = None) -> Tensor:
        """Return x + Dropout(attention(LN(x))), see `Block.forward`."""
        return self.residual(
            gather_positions(x, positions), self.attend(self.attention_input(x), attention_mask, positions)
        )


class NoNormBlock(Block):
    """A block without layer normalisation."""

    Norm = nn.Identity


class NoResidualBlock(Block):
    """A block without residual connections."""

    def residual(self, x: Tensor, update: Tensor) -> Tensor:
        """Return Dropout(update)."""
        return self.dropout(update)


BLOCKS = {"feed-forward": NoFeedForwardBlock, "norms": NoNormBlock, "residual": NoResidualBlock}


class AblatedEncoder(SequenceEncoder):
    """Mixin that leaves a part out: `class Encoder(AblatedEncoder, Bert4RecEncoder)`. `super()` is Bert4RecEncoder."""

    causal: ClassVar[bool]

    def __init__(self, config: Any, n_items: int) -> None:
        self.config = config  # read by the methods below, which the constructor calls
        super().__init__(config, n_items)

    def make_block(self, config: Any) -> Block:
        """Return a block without the part."""
        block_class = BLOCKS.get(config.without, Block)
        has_bias = config.without not in ("relative bias", "order")
        return block_class(config.dim, config.heads, config.dropout, causal=self.causal, relative_bias=has_bias)

    def make_norm(self, config: Any) -> nn.Module:
        """Return a normalisation, or the identity without norms."""
        return nn.Identity() if config.without == "norms" else nn.LayerNorm(config.dim)

    def make_output(self, dim: int) -> nn.Embedding | None:
        """Return separate output weights (I, D) without a tied output."""
        return nn.Embedding(self.n_items, dim) if self.config.without == "tied output" else None

    def make_positions(self, dim: int) -> nn.Embedding | None:
        """Return position embeddings (`length`, D) if they replace the relative bias, else None."""
        return nn.Embedding(self.config.length, dim) if self.config.without == "relative bias" else None


@config_class
class Bert4RecAblatedConfig(Bert4RecConfig, WithoutConfig):
    """Settings of BERT4Rec without one of its parts."""

    masking: Literal["mask", "80-10-10"] = added_later("mask")  # 80-10-10: 80 % [mask], 10 % random, 10 % unchanged


class Bert4RecAblatedEncoder(AblatedEncoder, Bert4RecEncoder):
    """The encoder of BERT4Rec without a part."""

    causal = False

    def position_ids(self, tokens: Tensor) -> Tensor:
        """Return 0 for the oldest item, 1 for the next one, and so on, (T,)."""
        return positions_from_oldest(tokens, self.config.length)


class Bert4RecAblated(Bert4Rec):
    """BERT4Rec without one of its parts, or with BERT's masking rule."""

    Config: ClassVar[type] = Bert4RecAblatedConfig
    Encoder: ClassVar[type] = Bert4RecAblatedEncoder
    config: Bert4RecAblatedConfig

    def mask_items(
        self, items: np.ndarray, lengths: np.ndarray, rows: np.ndarray, n_items: int, rng: CounterRNG
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return tokens and targets (E,), see `Bert4Rec.mask_items`. `config.masking` is the rule."""
        tokens, targets = super().mask_items(items, lengths, rows, n_items, rng)
        if self.config.masking == "mask":
            return tokens, targets
        masked = targets != IGNORE_INDEX  # (E,)
        row, position = np.repeat(rows, lengths), positions_of(lengths)  # (E,) each
        draws = rng.uniform(Stream.REPLACE_OR_KEEP, row, position)
        random_items = rng.integers(Stream.RANDOM_ITEM, np.full(len(items), n_items), row, position)
        tokens = np.where(masked & (draws < 0.8), n_items + 1, items.astype(np.int64))
        return np.where(masked & (draws >= 0.9), random_items, tokens), targets


@config_class
class SasRecAblatedConfig(SasRecConfig, WithoutConfig):
    """Settings of SASRec without one of its parts."""


class SasRecAblatedEncoder(AblatedEncoder, SasRecEncoder):
    """The encoder of SASRec without a part."""

    causal = True

    def position_ids(self, tokens: Tensor) -> Tensor:
        """Return 0 for the newest item, 1 for the item before it, and so on, (B, T)."""
        return positions_from_newest(tokens, self.padding)


class SasRecAblated(SasRec):
    """SASRec without one of its parts."""

    Config: ClassVar[type] = SasRecAblatedConfig
    Encoder: ClassVar[type] = SasRecAblatedEncoder
