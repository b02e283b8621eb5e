"""SASRec as published (Kang and McAuley, ICDM 2018, arXiv:1808.09781).

Learnt position embeddings, x + Dropout(sublayer(LN(x))), one head, a feed-forward network with ReLU and the width of an
embedding, binary cross-entropy with one negative, and no bias per item. The paper's sizes, learning rate and dropout
are in `SASREC_ORIGINAL` of registry.py. The paper pads at the front, so a position is a distance from the newest item.
Padding is at the end here. To keep this meaning, positions are counted from the newest item, which has position 0.

Departures:

- A start token, see docs/models.md.
- No dropout on attention weights.
- One more linear map follows the attention head. The paper needs none: with one head, the map of the values and a map
  after the head are together one linear map.
- A negative may be another item of the same user.
- The learning rate decays. β₂ of AdamW is .999, and .98 in the authors' code.
- A LayerNorm after the last block, as in the authors' code.

Where the authors' code differs from the text of the paper in other ways, this file follows the text. In the code, only
the queries are normalised, the residual connection adds these normalised queries in place of x, and item embeddings are
multiplied by √D.

Shapes: B sequences, T positions, D dimensions.
"""

import torch.nn.functional as F

from recsys.models.sasrec import SasRec, SasRecConfig, SasRecEncoder
from recsys.models.transformer import Block, PositionEmbedding


class SasRecPaperEncoder(SasRecEncoder):
    """Item and position embeddings, L causal blocks, output tied to the embeddings."""

    def __init__(self, config: SasRecConfig, n_items: int) -> None:
        super().__init__(config, n_items)
        self.bias.requires_grad_(False)  # stays zero

    def make_positions(self, config: SasRecConfig) -> PositionEmbedding:
        """Return the position embeddings."""
        return PositionEmbedding(config.length, config.dim, self.padding, newest_first=True)

    def make_block(self, config: SasRecConfig) -> Block:
        """Return a block with ReLU, without a relative position bias. Its feed-forward network has the width D."""
        dim, heads, dropout = config.dim, config.heads, config.dropout
        return Block(dim, heads, dropout, causal=True, relative_bias=False, widening=1, activation=F.relu)


class SasRecPaper(SasRec):
    """SASRec with the published architecture."""

    Encoder = SasRecPaperEncoder
    former_settings = {"relative_bias": False, "relu": True, "item_bias": False, "widening": 1}
