"""Compute the values inside BERT4Rec for one sequence: masks, embeddings, attention, layer outputs and predictions.

The lesson of the app shows them.

Shapes: L layers, H heads, T tokens, D dimensions, I items, Q masks.
"""

import math
from dataclasses import dataclass
from typing import cast

import numpy as np
import pandas as pd
import torch

from recsys.data.dataset import Dataset
from recsys.errors import Message
from recsys.models.bert4rec import Bert4Rec
from recsys.ranking.ranking import Ranking, log_sum_exp
from recsys.serving.insight.attention import Attention, read_attention, token_labels
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import FilmNumbers, ServingError

MAX_EXAMPLE_FILMS = 12  # newest films in the training example, so that it stays readable


@dataclass(frozen=True)
class LayerOutputs:
    """The values of one forward pass. The last token is a mask at the position of the next film."""

    scaled_dot_product: np.ndarray  # (L, H, T, T) q·k/√(D/H), row: query, column: key
    bias: np.ndarray | None  # (L, H, T, T) relative position bias, added before the softmax; None: the model has none
    slopes: np.ndarray | None  # (L, H, 2) slopes of the bias by distance, for keys before and after the query
    states: np.ndarray  # (L + 1, T, D) input of the first block, then the output of each block
    # (L + 1, I) scores of all items if the output head reads the state of the last token after 0…L blocks. The last row
    # is the prediction of the network. Films of the sequence have -inf if the loss of the model excludes them.
    logit_lens: np.ndarray


def as_bert4rec(predictor: Predictor) -> Bert4Rec:
    """Return the model of a predictor. Raises ServingError if it is not BERT4Rec."""
    model = predictor.model
    if not (model.can_fill_masks and model.has_attention):
        raise ServingError(
            "the lesson explains BERT4Rec, and {title} works differently; choose BERT4Rec",
            title=Message(predictor.title),
        )
    return cast(Bert4Rec, model)


@torch.inference_mode()
def run_layers(predictor: Predictor, tokens: np.ndarray) -> LayerOutputs:
    """Run the network on the tokens of a sequence, (T,). Raises ServingError if the model is not BERT4Rec."""
    model = as_bert4rec(predictor)
    module = model.module
    x, attention_mask = module.embed(torch.from_numpy(tokens.astype(np.int64))[None].to(model.device))
    positions = torch.arange(len(tokens), device=model.device)[None]
    products, biases, slopes, states = [], [], [], [x]
    for block in module.blocks:
        q, k, _ = map(block.split_heads, block.qkv(block.attention_input(x)).chunk(3, -1))  # (1, H, T, D/H)
        products.append((q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5)[0])
        if (bias := block.relative_bias) is not None:
            biases.append(bias(positions, len(tokens))[0])
            slopes.append(torch.stack([bias.slopes, bias.slopes_after], -1))
        x = block(x, attention_mask)
        states.append(x)
    scores = torch.stack([module.logits(module.final_layer(state[0, -1])) for state in states]).float().cpu().numpy()
    if model.only_unseen:
        scores[:, tokens[tokens < module.n_items]] = -np.inf
    return LayerOutputs(
        scaled_dot_product=torch.stack(products).float().cpu().numpy(),
        bias=torch.stack(biases).float().cpu().numpy() if biases else None,
        slopes=torch.stack(slopes).float().cpu().numpy() if slopes else None,
        states=torch.stack(states)[:, 0].float().cpu().numpy(),
        logit_lens=scores,
    )


def paper_differences(predictor: Predictor) -> list[str]:
    """Return the names of the differences between this network and the paper (arXiv:1904.06690).

    Raises ServingError if the model is not BERT4Rec.
    """
    model = as_bert4rec(predictor)
    config, has_other_architecture = model.config, not model.has_paper_architecture
    has_difference = {  # name → whether the network differs from the paper in this respect
        "relative_bias": has_other_architecture,  # a bias of the attention replaces position embeddings
        "pre_norm": has_other_architecture,  # blocks normalise before each part
        "projection": has_other_architecture,  # there is no projection before the output
        "pmi_init": config.pmi_init,  # embeddings start from co-occurrence (PMI)
        "last_only": config.last_item_mask_prob > 0,  # in some training samples, only the last film is masked
        "average": config.schedule.ema_decay > 0,  # the weights are a moving average over training
        "only_unseen": config.only_unseen,  # the softmax excludes the films of the sequence
        "redraw": config.redraw,  # films with equal timestamps are shuffled
        "memory": config.memory,  # counts are added to the scores
    }
    return [name for name in has_difference if has_difference[name]]


@dataclass(frozen=True)
class NetworkValues:
    """All values that the network computes from a sequence, and the loss of a training example."""

    # training example: the newest films of the sequence, some of them masked
    training_labels: list[str]  # label of each token
    masked_labels: list[str]  # label of each masked film, in the order of the sequence
    masked_films: pd.DataFrame  # see `_masked_film_table`
    # prediction
    token_embeddings: np.ndarray  # (T, D)
    position_embeddings: np.ndarray | None  # (T, D); None: the attention has a relative bias instead
    attention: Attention
    layers: LayerOutputs
    calibration_factor: float  # factor of the scores before the softmax; 1: the network is not calibrated
    predictions: pd.DataFrame  # a row per predicted film, see `_prediction_table`
    n_items: int


def compute_values(predictor: Predictor, films: FilmNumbers, k: int = 10) -> NetworkValues:
    """Compute the values for a sequence of at least one item, oldest first. Predict the k best films.

    Films of the sequence can be predicted, unless the model's loss excludes them (`only_unseen`).

    Raises:
        ServingError: If the model is not BERT4Rec, or if an item is not in the catalogue.
    """
    dataset, model = predictor.dataset, as_bert4rec(predictor)
    attention = read_attention(predictor, films)
    tokens = attention.tokens
    film_tokens, mask_token = tokens[:-1], tokens[-1]
    example = film_tokens[-MAX_EXAMPLE_FILMS:]
    masked_positions = sample_masked_positions(model, example)
    masked_items = example[masked_positions]
    masked_example = example.copy()
    masked_example[masked_positions] = mask_token
    token_embeddings, position_embeddings = model.embed_tokens(tokens)
    layers = run_layers(predictor, tokens)
    calibration_factor = model.calibration_factor(np.array(films))
    ranking = Ranking.from_scores(layers.logit_lens[-1] * calibration_factor, None, model.log_probabilities)
    return NetworkValues(
        training_labels=token_labels(dataset, masked_example),
        masked_labels=token_labels(dataset, masked_items),
        masked_films=_masked_film_table(dataset, model, masked_example, masked_positions, masked_items),
        token_embeddings=token_embeddings,
        position_embeddings=position_embeddings,
        attention=attention,
        layers=layers,
        calibration_factor=calibration_factor,
        predictions=_prediction_table(dataset, ranking, k),
        n_items=dataset.n_items,
    )


def sample_masked_positions(model: Bert4Rec, example: np.ndarray) -> np.ndarray:
    """Return the positions (Q,) of the masks in a training example (T,). They are sampled as in training.

    Masks at the two ends are dropped, so that each mask has films on both sides. If no mask is left, the middle film is
    masked. With fewer than three films, masks at the ends are kept.
    """
    positions = np.flatnonzero(model.training_example(example) != example)
    inner_positions = positions[(positions > 0) & (positions < len(example) - 1)]
    if len(inner_positions):
        return inner_positions
    return np.array([len(example) // 2]) if len(example) > 2 else positions


def layer_predictions(predictor: Predictor, values: NetworkValues, k: int) -> list[pd.DataFrame]:
    """Return L + 1 tables of the k best films, for the rows of `logit_lens`. See `_prediction_table`."""
    model = as_bert4rec(predictor)
    scores_by_layer = values.layers.logit_lens * values.calibration_factor
    rankings = (Ranking.from_scores(scores, None, model.log_probabilities) for scores in scores_by_layer)
    return [_prediction_table(predictor.dataset, ranking, k) for ranking in rankings]


def _masked_film_table(
    dataset: Dataset, model: Bert4Rec, masked_example: np.ndarray, positions: np.ndarray, items: np.ndarray
) -> pd.DataFrame:
    """Return a row per masked film: item, title, rank, probability by softmax, and loss (-log of the probability).

    `masked_example` (T,) are the tokens of a training example, in which masks at `positions` (Q,) replace `items` (Q,).
    """
    logits = model.fill(masked_example, positions)  # (Q, I)
    if model.only_unseen:
        logits[:, np.delete(masked_example, positions)] = -np.inf  # as in the loss
    rows = []
    for scores, item in zip(logits, items.tolist(), strict=True):
        loss = log_sum_exp(scores) - float(scores[item])
        title, rank = dataset.catalog.films[item].label, Ranking.from_scores(scores).rank(item)
        rows.append({"item": item, "title": title, "rank": rank, "probability": math.exp(-loss), "loss": loss})
    return pd.DataFrame(rows)


def _prediction_table(dataset: Dataset, ranking: Ranking, k: int) -> pd.DataFrame:
    """Return the k best films with the steps of the softmax: item, title, score, weight, probability.

    The score is the calibrated logit. The weight is exp(score - best score), which cannot overflow. The probability is
    the weight divided by the sum of the weights of all films.
    """
    best = ranking.top(k)
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
