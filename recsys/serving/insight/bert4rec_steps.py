"""What BERT4Rec does with one sequence, step by step: from hiding films to probabilities, and how it learns from them.

Shapes: T tokens, D dimensions, I films.

Inside BERT4Rec while it predicts: what each head adds up, and what is known after each layer.

Shapes: L layers, H heads, T tokens, D dimensions, I films.
"""

import math
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
import torch

from recsys.data.dataset import Dataset
from recsys.errors import Message
from recsys.models.bert4rec import Bert4Rec
from recsys.ranking.ranking import Ranking, log_sum_exp
from recsys.serving.insight.attention import Attention, attention, token_labels
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import History, ServingError

PAPER_DIFFERENCES = (  # see `departures`
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
class LayerOutputs:
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


def as_bert4rec(predictor: Predictor) -> Bert4Rec:
    """The BERT4Rec of a predictor, told by what it can do; raises ServingError for other recommenders."""
    model = predictor.model
    if not (model.can_fill_masks and model.has_attention):
        raise ServingError(
            "these are the steps of BERT4Rec, and {title} takes others; choose BERT4Rec", title=Message(predictor.title)
        )
    return cast(Bert4Rec, model)


@torch.inference_mode()
def run_layers(predictor: Predictor, tokens: np.ndarray) -> LayerOutputs:
    """One pass over tokens (T,), as `Attention.tokens` has them; raises ServingError for other models."""
    model = as_bert4rec(predictor)
    module = model.module
    x, attention_mask = module.embed(torch.from_numpy(tokens.astype(np.int64))[None].to(model.device))
    match, bias, states = [], [], [x]
    for block in module.blocks:
        match.append(_scaled_dot_product(block, x))
        bias.append(_position_bias(block, len(tokens)))
        x = block(x, attention_mask)
        states.append(x)
    read = [module.logits(module.head(state[0, -1])) for state in states]
    scores = torch.stack(read).float().cpu().numpy()
    if model.only_unseen:
        scores[:, tokens[tokens < module.n_items]] = -np.inf
    return LayerOutputs(
        torch.stack(match).float().cpu().numpy(),
        _stack([part for part in bias if part is not None]),
        _stack([_slopes(block) for block in module.blocks if block.relative_bias is not None]),
        torch.stack(states)[:, 0].float().cpu().numpy(),
        scores,
    )


def _stack(parts: list[torch.Tensor]) -> np.ndarray | None:
    return torch.stack(parts).float().cpu().numpy() if parts else None


def _scaled_dot_product(block: Any, x: torch.Tensor) -> torch.Tensor:
    """(H, T, T) q·k/√(D/H) of a block with the input x (1, T, D)."""
    q, k, _ = map(block.split_heads, block.qkv(block.attention_input(x)).chunk(3, -1))
    return (q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5)[0]


def _position_bias(block: Any, length: int) -> torch.Tensor | None:
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


def paper_differences(predictor: Predictor) -> list[str]:
    """In what this network departs from the paper (arXiv:1904.06690), by its settings; names of `DEPARTURES`.

    relative_bias: a bias on attention takes the place of position embeddings · pre_norm: blocks normalise before each
    part · projection: none before the output · pmi_init: embeddings start from who is watched beside whom · last_only:
    in some samples the last film alone is hidden · average: the weights are a moving average over training ·
    only_unseen: the softmax leaves out the films of the sequence · redraw: films of one second change places · memory:
    counts are added to the scores.
    """
    model = as_bert4rec(predictor)
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
    return [name for name in PAPER_DIFFERENCES if there[name]]


MAX_EXAMPLE_FILMS = 12  # films of the training example, the newest: as many as can be read at a glance


@dataclass(frozen=True)
class Steps:
    """The numbers between a sequence and the films predicted from it."""

    training: list[str]  # the newest films as training may show them: some hidden
    hidden: list[str]  # those films, in order
    learning: pd.DataFrame  # what the network says of each hidden film: item, title, rank, probability, loss
    prediction: list[str]  # the sequence as prediction shows it: all films, `[mask]` after them
    embeddings: np.ndarray  # (T, D) of the films and the mask
    positions: np.ndarray | None  # (T, D) position embeddings to be added; None: attention has a relative bias instead
    attention: Attention
    layers: LayerOutputs
    answers: pd.DataFrame  # the best films: item, title, score (the logit), weight (its exponential), probability
    n_items: int

    @property
    def input(self) -> np.ndarray:
        """(T, D) what the network is given."""
        return self.embeddings if self.positions is None else self.embeddings + self.positions


def compute_steps(predictor: Predictor, films: History, k: int = 10) -> Steps:
    """All steps for a sequence of items, oldest first, that is not empty; its own films may be predicted too.

    Raises ServingError for models other than BERT4Rec and for items outside the catalogue.
    """
    dataset, model = predictor.dataset, as_bert4rec(predictor)
    seen = attention(predictor, films)
    example = seen.tokens[:-1][-MAX_EXAMPLE_FILMS:]
    covered = mask_positions(model, example)
    training = example.copy()
    training[covered] = seen.tokens[-1]
    embeddings, positions = model.embed_tokens(seen.tokens)
    found = run_layers(predictor, seen.tokens)
    return Steps(
        token_labels(dataset, training),
        token_labels(dataset, example[covered]),
        _masked_film_table(dataset, model, training, covered, example[covered]),
        seen.labels,
        embeddings,
        positions,
        seen,
        found,
        _answer_table(dataset, Ranking.from_scores(found.read[-1], None, model.log_probabilities), k),
        dataset.n_items,
    )


def mask_positions(model: Bert4Rec, example: np.ndarray) -> np.ndarray:
    """Positions of a training example (T,) to hide: those that training draws first and that have films on both sides.

    Where it draws none such, the film in the middle; fewer than three films have none with films on both sides.
    """
    drawn = np.flatnonzero(model.training_example(example) != example)
    between = drawn[(drawn > 0) & (drawn < len(example) - 1)]
    if len(between):
        return between
    return np.array([len(example) // 2]) if len(example) > 2 else drawn


def layer_predictions(predictor: Predictor, found: LayerOutputs, k: int = 5) -> list[pd.DataFrame]:
    """The k best films if the mask were read before the first layer, after it, after the second, and so on."""
    model = as_bert4rec(predictor)
    ranked = (Ranking.from_scores(scores, None, model.log_probabilities) for scores in found.read)
    return [_answer_table(predictor.dataset, ranking, k) for ranking in ranked]


def _masked_film_table(
    dataset: Dataset, model: Bert4Rec, training: np.ndarray, covered: np.ndarray, films: np.ndarray
) -> pd.DataFrame:
    """What the model says of the covered films: item, title, rank, probability by softmax, and loss, its -log."""
    rows, filled = [], model.fill(training, covered)  # (Q, I)
    if model.only_unseen:
        filled[:, np.delete(training, covered)] = -np.inf  # as training compares
    for scores, film in zip(filled, films.tolist(), strict=True):
        loss = log_sum_exp(scores) - float(scores[film])
        title, rank = dataset.catalog.films[film].label, Ranking.from_scores(scores).rank(film)
        rows.append({"item": film, "title": title, "rank": rank, "probability": math.exp(-loss), "loss": loss})
    return pd.DataFrame(rows)


def _answer_table(dataset: Dataset, ranking: Ranking, k: int) -> pd.DataFrame:
    """The k best films, with what the softmax makes of their scores, step by step.

    weight: exp(score - best score), so that nothing overflows; probability: weight over the weights of all films.
    """
    best = ranking.top(k)
    best = best[np.isfinite(ranking.scores[best])]
    scores = ranking.scores[best].astype(np.float64)
    return pd.DataFrame(
        {
            "item": best,
            "title": [dataset.catalog.films[item].label for item in best.tolist()],
            "score": scores,
            "weight": np.exp(scores - scores.max(initial=-np.inf)),
            "probability": ranking.probabilities(best),
        }
    )
