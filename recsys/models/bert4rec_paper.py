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

from torch import Tensor, nn

from recsys.models.bert4rec import Bert4Rec, Bert4RecConfig
from recsys.models.layers import init_weights
from recsys.models.sequence_model import SequenceEncoder
from recsys.models.transformer import PositionEmbedding, PostNormBlock, TransformerEncoder, padding_mask


class Bert4RecPaperEncoder(TransformerEncoder):
    """Item and position embeddings, L post-norm blocks, a GELU layer, output tied to the embeddings."""

    def __init__(self, config: Bert4RecConfig, n_items: int) -> None:
        # `TransformerEncoder.__init__` would create other parts. Its methods use `blocks`, `embed` and `final_layer`.
        SequenceEncoder.__init__(self, n_items, config.dim)
        self.positions = PositionEmbedding(config.length, config.dim, self.padding, newest_first=False)
        self.blocks = nn.ModuleList(
            PostNormBlock(config.dim, config.heads, config.dropout, relative_bias=False) for _ in range(config.layers)
        )
        self.project = nn.Sequential(nn.Linear(config.dim, config.dim), nn.GELU())
        init_weights(self, config.init)

    def embed(self, tokens: Tensor, *side: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Return h⁰ = v + p (B, T, D) and the attention mask of the blocks, see `padding_mask`."""
        return self.token_embeddings(tokens), padding_mask(tokens, self.padding)

    def final_layer(self, x: Tensor) -> Tensor:
        """Return GELU(xW + b) of equation 7, (B, Q, D)."""
        return self.project(x)


class Bert4RecPaper(Bert4Rec):
    """BERT4Rec with the published architecture."""

    Encoder = Bert4RecPaperEncoder
    has_paper_architecture = True
    # of stored documents, see `Model.former_settings`
    former_settings = Bert4Rec.former_settings | {"relative_bias": False, "pre_norm": False, "projection": True}
