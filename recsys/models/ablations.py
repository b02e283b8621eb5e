"""BERT4Rec and SASRec without one of their parts, and BERT4Rec with BERT's masking rule, for `recsys.studies`.

`bert4rec-ablated` and `sasrec-ablated` are recommenders that no menu or leaderboard lists:
`python -m recsys train bert4rec-ablated --without norms`.

Shapes: B sequences, E items of all sequences, T positions, I items, D dimensions.
"""

from typing import Any, Literal

import numpy as np
from torch import Tensor, nn

from recsys.config import added_later, config_class
from recsys.models.bert4rec import IGNORE_INDEX, Bert4Rec, Bert4RecConfig, Bert4RecEncoder, positions_of
from recsys.models.layers import gather_positions
from recsys.models.sasrec import SasRec, SasRecConfig, SasRecEncoder
from recsys.models.transformer import Block, PositionEmbedding, TransformerEncoder
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
        """Create no layers. Remove the normalisation of their input, which `Block.__init__` has created."""
        del self.norm_forward

    def forward(self, x: Tensor, attention_mask: Tensor | None, positions: Tensor | None = None) -> Tensor:
        """Return x + Dropout(attention(LN(x))), see `Block.forward`."""
        inputs = gather_positions(x, positions)
        return self.residual(inputs, self.attend(self.attention_input(x), attention_mask, positions))


class NoResidualBlock(Block):
    """A block without residual connections."""

    def residual(self, x: Tensor, update: Tensor) -> Tensor:
        """Return Dropout(update)."""
        return self.dropout(update)


BLOCKS = {"feed-forward": NoFeedForwardBlock, "residual": NoResidualBlock}


class AblatedEncoder(TransformerEncoder):
    """Mixin that leaves out `config.without`. In `Bert4RecAblatedEncoder`, `super()` is Bert4RecEncoder."""

    def __init__(self, config: Any, n_items: int) -> None:
        super().__init__(config, n_items)
        if config.without == "norms":
            remove_norms(self)

    def make_block(self, config: Any) -> Block:
        """See `TransformerEncoder.make_block`."""
        block_class = BLOCKS.get(config.without, Block)
        has_bias = config.without not in ("relative bias", "order")
        return block_class(config.dim, config.heads, config.dropout, self.causal, has_bias)

    def make_output(self, config: Any) -> nn.Embedding | None:
        """See `TransformerEncoder.make_output`."""
        return nn.Embedding(self.n_items, config.dim) if config.without == "tied output" else None

    def make_positions(self, config: Any) -> PositionEmbedding | None:
        """Return position embeddings if they replace the relative bias."""
        if config.without != "relative bias":
            return None
        # newest first for SASRec, oldest first for BERT4Rec, as in sasrec_paper.py and bert4rec_paper.py
        return PositionEmbedding(config.length, config.dim, self.padding, newest_first=self.causal)


def remove_norms(module: nn.Module) -> None:
    """Replace each layer normalisation in a module by the identity."""
    for name, child in module.named_children():
        if isinstance(child, nn.LayerNorm):
            setattr(module, name, nn.Identity())
        else:
            remove_norms(child)


@config_class
class Bert4RecAblatedConfig(Bert4RecConfig, WithoutConfig):
    """Settings of BERT4Rec without one of its parts."""

    # what replaces a masked item: [mask], or (BERT's rule) 80 % [mask], 10 % a random item, 10 % the item itself
    masking: Literal["mask", "80-10-10"] = added_later("mask")


class Bert4RecAblatedEncoder(AblatedEncoder, Bert4RecEncoder):
    """The encoder of BERT4Rec without a part."""


class Bert4RecAblated(Bert4Rec):
    """BERT4Rec without one of its parts, or with BERT's masking rule."""

    Config = Bert4RecAblatedConfig
    Encoder = Bert4RecAblatedEncoder
    config: Bert4RecAblatedConfig

    def mask_items(
        self, items: np.ndarray, lengths: np.ndarray, rows: np.ndarray, n_items: int, rng: CounterRNG
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return tokens and targets (E,), see `Bert4Rec.mask_items`. `config.masking` is the rule."""
        tokens, targets = super().mask_items(items, lengths, rows, n_items, rng)
        if self.config.masking == "80-10-10":
            row, position = np.repeat(rows, lengths), positions_of(lengths)  # of each item, (E,)
            draws = rng.uniform(Stream.REPLACE_OR_KEEP, row, position)
            random_items = rng.integers(Stream.RANDOM_ITEM, np.full(len(items), n_items), row, position)
            # of a masked item: 80 % [mask], 10 % the item itself, 10 % a random item
            replacements = np.select([draws < 0.8, draws < 0.9], [tokens, targets], random_items)
            tokens = np.where(targets == IGNORE_INDEX, tokens, replacements)
        return tokens, targets


@config_class
class SasRecAblatedConfig(SasRecConfig, WithoutConfig):
    """Settings of SASRec without one of its parts."""


class SasRecAblatedEncoder(AblatedEncoder, SasRecEncoder):
    """The encoder of SASRec without a part."""


class SasRecAblated(SasRec):
    """SASRec without one of its parts."""

    Config = SasRecAblatedConfig
    Encoder = SasRecAblatedEncoder
