"""BERT4Rec as published (Sun et al., CIKM 2019, arXiv:1904.06690, equations 1 to 7).

Hyperparameters that the paper does not give are from the authors' code: dropout .2, a warm-up of 100 steps, and one
sample in eleven that masks only the last item (`BERT4REC_ORIGINAL` in registry.py). Position 0 is the oldest item.
Layers and augmentation that only the authors' code has are left out: LayerNorm and dropout on the embeddings, LayerNorm
after the GELU, and windows that slide over long histories. Weights are initialised from a normal distribution truncated
at ±.02.

Departures:

- No dropout on attention weights.
- Each item is masked with probability ρ. The paper masks a share ρ of each history.
- Weight decay also applies to biases and LayerNorm weights. Gradients are not clipped at 5.
- Smaller batches and fewer samples (`BERT4REC_ORIGINAL`, and presets.py per data set).

Shapes: B sequences, T positions, Q positions per sequence, D dimensions.
"""

from typing import ClassVar

import torch
from torch import Tensor, nn

from recsys.models.bert4rec import FORMER_SETTINGS, Bert4Rec, Bert4RecConfig
from recsys.models.layers import init_weights
from recsys.models.transformer import Block, PostNormBlock, TransformerEncoder, padding_mask


class OldestFirstPositions(nn.Embedding):
    """Position embeddings of which the first is for the oldest item."""

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the embeddings of tokens (B, T), (T, D). Padding after the last position gets the last one."""
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        return super().forward(positions.clamp(max=self.num_embeddings - 1))


class Bert4RecPaperEncoder(TransformerEncoder):
    """Item and position embeddings, L post-norm blocks, a GELU layer, output tied to the embeddings."""

    def __init__(self, config: Bert4RecConfig, n_items: int) -> None:
        super().__init__(config, n_items)
        self.blocks = nn.ModuleList(self.make_block(config) for _ in range(config.layers))
        self.project = nn.Sequential(nn.Linear(config.dim, config.dim), nn.GELU())
        init_weights(self, config.init)

    def make_positions(self, config: Bert4RecConfig) -> nn.Embedding:
        """Return the vectors p of the positions."""
        return OldestFirstPositions(config.length, config.dim)

    def make_block(self, config: Bert4RecConfig) -> Block:
        """Return a post-norm block without a relative position bias."""
        return PostNormBlock(config.dim, config.heads, config.dropout, relative_bias=False)

    def embed(self, tokens: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return h⁰ = v + p (B, T, D) and the attention mask of the blocks, see `padding_mask`."""
        return self.token_embeddings(tokens), padding_mask(tokens, self.padding)

    def head(self, x: Tensor) -> Tensor:
        """Return GELU(xW + b) of equation 7, (…, D)."""
        return self.project(x)


class Bert4RecPaper(Bert4Rec):
    """BERT4Rec with the published architecture."""

    Encoder: ClassVar[type] = Bert4RecPaperEncoder
    architecture_departures = ()
    former_settings = FORMER_SETTINGS | {"relative_bias": False, "pre_norm": False, "projection": True}
