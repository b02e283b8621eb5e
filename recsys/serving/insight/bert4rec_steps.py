"""Compute the steps of BERT4Rec for one sequence: masking, attention, the hidden states of each layer, the prediction.

Shapes: L layers, H heads, T tokens, D dimensions, I items, Q masked positions.
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

MAX_EXAMPLE_FILMS = 12  # newest films in the training example, so that it stays readable
PAPER_DIFFERENCES = (  # possible differences from the paper (arXiv:1904.06690)
    "relative_bias",  # a bias of the attention replaces position embeddings
    "pre_norm",  # blocks normalise before each part
    "projection",  # there is no projection before the output
    "pmi_init",  # embeddings start from co-occurrence (PMI)
    "last_only",  # in some training samples, only the last film is masked
    "average",  # the weights are a moving average over training
    "only_unseen",  # the softmax excludes the films of the sequence
    "redraw",  # films with equal timestamps are shuffled
    "memory",  # counts are added to the scores
)
ARCHITECTURE_DIFFERENCES = ("relative_bias", "pre_norm", "projection")  # listed in `Bert4Rec.departures`


@dataclass(frozen=True)
class LayerOutputs:
    """The values of one forward pass. The last token is the mask that stands for the next film."""

    scaled_dot_product: np.ndarray  # (L, H, T, T) q·k/√(D/H), row: query, column: key
    bias: np.ndarray | None  # (L, H, T, T) relative position bias; None: the model has none
    slopes: np.ndarray | None  # (L, H, 2) of the bias, for earlier and for later positions
    states: np.ndarray  # (L + 1, T, D) input of the first block, then the output of each block
    # (L + 1, I) scores of all items if the output head reads the mask's state after 0…L blocks. The last row is the
    # prediction of the network. Films of the sequence have -inf if the loss of the model excludes them.
    logit_lens: np.ndarray

    @property
    def weights(self) -> np.ndarray:
        """The attention, (L, H, T, T): softmax of scaled dot product plus bias."""
        logits = self.scaled_dot_product if self.bias is None else self.scaled_dot_product + self.bias
        exponentials = np.exp(logits - logits.max(-1, keepdims=True))
        return exponentials / exponentials.sum(-1, keepdims=True)


def as_bert4rec(predictor: Predictor) -> Bert4Rec:
    """Return the model of a predictor. Raises ServingError if it is not BERT4Rec."""
    model = predictor.model
    if not (model.can_fill_masks and model.has_attention):
        raise ServingError(
            "these are the steps of BERT4Rec, and {title} takes others; choose BERT4Rec", title=Message(predictor.title)
        )
    return cast(Bert4Rec, model)


@torch.inference_mode()
def run_layers(predictor: Predictor, tokens: np.ndarray) -> LayerOutputs:
    """Run the network on `Attention.tokens`, (T,). Raises ServingError if the model is not BERT4Rec."""
    model = as_bert4rec(predictor)
    module = model.module
    x, attention_mask = module.embed(torch.from_numpy(tokens.astype(np.int64))[None].to(model.device))
    products, bias, states = [], [], [x]
    for block in module.blocks:
        products.append(_scaled_dot_product(block, x))
        bias.append(_position_bias(block, len(tokens)))
        x = block(x, attention_mask)
        states.append(x)
    scores = torch.stack([module.logits(module.head(state[0, -1])) for state in states]).float().cpu().numpy()
    if model.only_unseen:
        scores[:, tokens[tokens < module.n_items]] = -np.inf
    return LayerOutputs(
        torch.stack(products).float().cpu().numpy(),
        _stack([part for part in bias if part is not None]),
        _stack([_slopes(block) for block in module.blocks if block.relative_bias is not None]),
        torch.stack(states)[:, 0].float().cpu().numpy(),
        scores,
    )


def _stack(parts: list[torch.Tensor]) -> np.ndarray | None:
    return torch.stack(parts).float().cpu().numpy() if parts else None


def _scaled_dot_product(block: Any, x: torch.Tensor) -> torch.Tensor:
    """Return q·k/√(D/H) of a block with the input x (1, T, D), (H, T, T)."""
    q, k, _ = map(block.split_heads, block.qkv(block.attention_input(x)).chunk(3, -1))
    return (q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5)[0]


def _position_bias(block: Any, length: int) -> torch.Tensor | None:
    """Return the relative position bias of a block, (H, T, T), or None if it has none."""
    if block.relative_bias is None:
        return None
    positions = torch.arange(length, device=block.qkv.weight.device)[None]
    return block.relative_bias(positions, length)[0]


def _slopes(block: Any) -> torch.Tensor:
    """Return the slopes of the bias of a block, (H, 2), for earlier and for later positions."""
    bias = block.relative_bias
    later_slopes = bias.slopes if bias.slopes_after is None else bias.slopes_after  # None: causal
    return torch.stack([bias.slopes, later_slopes], -1)


def paper_differences(predictor: Predictor) -> list[str]:
    """Return those of PAPER_DIFFERENCES that this network has. Raises ServingError if the model is not BERT4Rec."""
    model = as_bert4rec(predictor)
    config = model.config
    differs = {
        **{name: name in model.architecture_departures for name in ARCHITECTURE_DIFFERENCES},
        "pmi_init": config.pmi_init,
        "last_only": config.last_item_mask_prob > 0,
        "average": config.schedule.ema_decay > 0,
        "only_unseen": config.only_unseen,
        "redraw": config.redraw,
        "memory": config.memory,
    }
    return [name for name in PAPER_DIFFERENCES if differs[name]]


@dataclass(frozen=True)
class Steps:
    """The values between a sequence and the predicted films."""

    # training example
    training_labels: list[str]  # of the tokens: the newest films, some of them masked
    masked_labels: list[str]  # of the masked films, in order
    masked_films: pd.DataFrame  # see `_masked_film_table`
    # prediction
    prediction_labels: list[str]  # of the tokens: all films and the final mask
    embeddings: np.ndarray  # (T, D) of the tokens
    positions: np.ndarray | None  # (T, D) position embeddings; None: the attention has a relative bias instead
    attention: Attention
    layers: LayerOutputs
    predictions: pd.DataFrame  # a row per predicted film, see `_prediction_table`
    n_items: int

    @property
    def input(self) -> np.ndarray:
        """The input of the first block, (T, D)."""
        return self.embeddings if self.positions is None else self.embeddings + self.positions


def compute_steps(predictor: Predictor, films: History, k: int = 10) -> Steps:
    """Compute all steps for a sequence of at least one item, oldest first. Films of the sequence are not excluded.

    Raises:
        ServingError: If the model is not BERT4Rec, or if an item is not in the catalogue.
    """
    dataset, model = predictor.dataset, as_bert4rec(predictor)
    prediction = attention(predictor, films)
    *_, mask = prediction.tokens
    example = prediction.tokens[:-1][-MAX_EXAMPLE_FILMS:]
    masked_positions = mask_positions(model, example)
    masked_films = example[masked_positions]
    masked_example = example.copy()
    masked_example[masked_positions] = mask
    embeddings, positions = model.embed_tokens(prediction.tokens)
    layers = run_layers(predictor, prediction.tokens)
    ranking = Ranking.from_scores(layers.logit_lens[-1], None, model.log_probabilities)
    return Steps(
        training_labels=token_labels(dataset, masked_example),
        masked_labels=token_labels(dataset, masked_films),
        masked_films=_masked_film_table(dataset, model, masked_example, masked_positions, masked_films),
        prediction_labels=prediction.labels,
        embeddings=embeddings,
        positions=positions,
        attention=prediction,
        layers=layers,
        predictions=_prediction_table(dataset, ranking, k),
        n_items=dataset.n_items,
    )


def mask_positions(model: Bert4Rec, example: np.ndarray) -> np.ndarray:
    """Return the masked positions of a training example (T,), (Q,). They are sampled as in training.

    Positions at the ends are dropped, so that masks have films on both sides. If no position is left, the middle is
    masked. With fewer than three films, the positions of training are kept.
    """
    positions = np.flatnonzero(model.training_example(example) != example)
    inner_positions = positions[(positions > 0) & (positions < len(example) - 1)]
    if len(inner_positions):
        return inner_positions
    return np.array([len(example) // 2]) if len(example) > 2 else positions


def layer_predictions(predictor: Predictor, outputs: LayerOutputs, k: int = 5) -> list[pd.DataFrame]:
    """Return the k best films of each row of `logit_lens`: before the first layer, after the first layer, and so on."""
    model = as_bert4rec(predictor)
    rankings = (Ranking.from_scores(scores, None, model.log_probabilities) for scores in outputs.logit_lens)
    return [_prediction_table(predictor.dataset, ranking, k) for ranking in rankings]


def _masked_film_table(
    dataset: Dataset, model: Bert4Rec, example: np.ndarray, positions: np.ndarray, films: np.ndarray
) -> pd.DataFrame:
    """Return a row per masked film: item, title, rank, probability by softmax, and loss (-log of the probability).

    Args:
        dataset: The data set of the model.
        model: Fills the masks.
        example: Tokens of the training example with masks, (T,).
        positions: The positions of the masks, (Q,).
        films: The masked items, (Q,).
    """
    rows, logits = [], model.fill(example, positions)  # (Q, I)
    if model.only_unseen:
        logits[:, np.delete(example, positions)] = -np.inf  # as in the loss
    for scores, film in zip(logits, films.tolist(), strict=True):
        loss = log_sum_exp(scores) - float(scores[film])
        title, rank = dataset.catalog.films[film].label, Ranking.from_scores(scores).rank(film)
        rows.append({"item": film, "title": title, "rank": rank, "probability": math.exp(-loss), "loss": loss})
    return pd.DataFrame(rows)


def _prediction_table(dataset: Dataset, ranking: Ranking, k: int) -> pd.DataFrame:
    """Return the k best films with the steps of the softmax: item, title, score, weight, probability.

    The score is the logit. The weight is exp(score - best score), which cannot overflow. The probability is the weight
    divided by the sum of the weights of all films.
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
