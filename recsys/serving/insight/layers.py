"""Inside BERT4Rec while it predicts: what each head adds up, and what is known after each layer.

Shapes: L layers, H heads, T tokens, D dimensions, I films.
"""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch

from recsys.errors import Message
from recsys.models.bert4rec import Bert4Rec
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import ServingError

DEPARTURES = (  # see `departures`
    "relative_bias",
    "pre_norm",
    "projection",
    "pmi_init",
    "last_only",
    "average",
    "only_unseen",
    "redraw",
    "memory",
)


@dataclass(frozen=True)
class Layers:
    """The numbers of one pass over a sequence; the last token is the `[mask]` that stands for the next film."""

    match: np.ndarray  # (L, H, T, T) q·k/√(D/H): how well what row i looks for fits what column j offers
    bias: np.ndarray | None  # (L, H, T, T) the relative position bias added to it; None: the model has none
    slopes: np.ndarray | None  # (L, H, 2) of that bias, towards earlier and towards later positions
    states: np.ndarray  # (L + 1, T, D) the vectors that go into the first block, and those that leave each block
    # (L + 1, I) scores of the films if the mask were read there and then; the last are the network's. Films of the
    # sequence have minus infinity where training compares none but others.
    read: np.ndarray

    @property
    def weights(self) -> np.ndarray:
        """(L, H, T, T) attention: the softmax of match and bias; rows sum to 1."""
        logits = self.match if self.bias is None else self.match + self.bias
        exponentials = np.exp(logits - logits.max(-1, keepdims=True))
        return exponentials / exponentials.sum(-1, keepdims=True)


def model_of(predictor: Predictor) -> Bert4Rec:
    """The BERT4Rec of a predictor, told by what it can do; raises ServingError for other recommenders."""
    model = predictor.model
    if not (model.can_fill_masks and model.has_attention):
        raise ServingError(
            "these are the steps of BERT4Rec, and {title} takes others; choose BERT4Rec", title=Message(predictor.title)
        )
    return cast(Bert4Rec, model)


@torch.inference_mode()
def layers(predictor: Predictor, tokens: np.ndarray) -> Layers:
    """One pass over tokens (T,), as `Attention.tokens` has them; raises ServingError for other models."""
    model = model_of(predictor)
    module = model.module
    x, attention_mask = module.embed(torch.from_numpy(tokens.astype(np.int64))[None].to(model.device))
    match, bias, states = [], [], [x]
    for block in module.blocks:
        match.append(_match(block, x))
        bias.append(_bias(block, len(tokens)))
        x = block(x, attention_mask)
        states.append(x)
    read = [module.logits(module.head(state[0, -1])) for state in states]
    scores = torch.stack(read).float().cpu().numpy()
    if model.only_unseen:
        scores[:, tokens[tokens < module.n_items]] = -np.inf
    return Layers(
        torch.stack(match).float().cpu().numpy(),
        _stacked([part for part in bias if part is not None]),
        _stacked([_slopes(block) for block in module.blocks if block.relative_bias is not None]),
        torch.stack(states)[:, 0].float().cpu().numpy(),
        scores,
    )


def _stacked(parts: list[torch.Tensor]) -> np.ndarray | None:
    return torch.stack(parts).float().cpu().numpy() if parts else None


def _match(block: Any, x: torch.Tensor) -> torch.Tensor:
    """(H, T, T) q·k/√(D/H) of a block with the input x (1, T, D)."""
    q, k, _ = map(block.split_heads, block.qkv(block.attention_input(x)).chunk(3, -1))
    return (q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5)[0]


def _bias(block: Any, length: int) -> torch.Tensor | None:
    """(H, T, T) the relative position bias of a block, if it has one."""
    if block.relative_bias is None:
        return None
    everywhere = torch.arange(length, device=block.qkv.weight.device)[None]
    return block.relative_bias(everywhere, length)[0]


def _slopes(block: Any) -> torch.Tensor:
    """(H, 2) the slopes of a block's bias, towards earlier and towards later positions."""
    bias = block.relative_bias
    after = bias.slopes if bias.slopes_after is None else bias.slopes_after
    return torch.stack([bias.slopes, after], -1)


def departures(predictor: Predictor) -> list[str]:
    """In what this network departs from the paper (arXiv:1904.06690), by its settings; names of `DEPARTURES`.

    relative_bias: a bias on attention takes the place of position embeddings · pre_norm: blocks normalise before each
    part · projection: none before the output · pmi_init: embeddings start from who is watched beside whom · last_only:
    in some samples the last film alone is hidden · average: the weights are a moving average over training ·
    only_unseen: the softmax leaves out the films of the sequence · redraw: films of one second change places · memory:
    counts are added to the scores.
    """
    model = model_of(predictor)
    config = model.config
    there = {
        **{name: name in model.departures for name in ("relative_bias", "pre_norm", "projection")},
        "pmi_init": config.pmi_init,
        "last_only": config.last_item_mask_prob > 0,
        "average": config.schedule.ema_decay > 0,
        "only_unseen": config.only_unseen,
        "redraw": config.redraw,
        "memory": config.memory,
    }
    return [name for name in DEPARTURES if there[name]]
