"""What BERT4Rec does with one sequence, step by step: from hiding films to probabilities, and how it learns from them.

Shapes: T tokens, D dimensions, I films.
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from recsys.data.dataset import Dataset
from recsys.models.bert4rec import Bert4Rec
from recsys.ranking.ranking import Ranking, log_sum_exp
from recsys.serving.insight.attention import Attention, attention, names
from recsys.serving.insight.layers import Layers, layers, model_of
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import History

EXAMPLE = 12  # films of the training example, the newest: as many as can be read at a glance


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
    layers: Layers
    answers: pd.DataFrame  # the best films: item, title, score (the logit), weight (its exponential), probability
    n_items: int

    @property
    def input(self) -> np.ndarray:
        """(T, D) what the network is given."""
        return self.embeddings if self.positions is None else self.embeddings + self.positions


def steps(predictor: Predictor, films: History, k: int = 10) -> Steps:
    """All steps for a sequence of items, oldest first, that is not empty; its own films may be predicted too.

    Raises ServingError for models other than BERT4Rec and for items outside the catalogue.
    """
    dataset, model = predictor.dataset, model_of(predictor)
    seen = attention(predictor, films)
    example = seen.tokens[:-1][-EXAMPLE:]
    covered = to_cover(model, example)
    training = example.copy()
    training[covered] = seen.tokens[-1]
    embeddings, positions = model.embed_tokens(seen.tokens)
    found = layers(predictor, seen.tokens)
    return Steps(
        names(dataset, training),
        names(dataset, example[covered]),
        _learning(dataset, model, training, covered, example[covered]),
        seen.labels,
        embeddings,
        positions,
        seen,
        found,
        _answers(dataset, Ranking.from_scores(found.read[-1], None, model.log_probabilities), k),
        dataset.n_items,
    )


def to_cover(model: Bert4Rec, example: np.ndarray) -> np.ndarray:
    """Positions of a training example (T,) to hide: those that training draws first and that have films on both sides.

    Where it draws none such, the film in the middle; fewer than three films have none with films on both sides.
    """
    drawn = np.flatnonzero(model.training_example(example) != example)
    between = drawn[(drawn > 0) & (drawn < len(example) - 1)]
    if len(between):
        return between
    return np.array([len(example) // 2]) if len(example) > 2 else drawn


def readings(predictor: Predictor, found: Layers, k: int = 5) -> list[pd.DataFrame]:
    """The k best films if the mask were read before the first layer, after it, after the second, and so on."""
    model = model_of(predictor)
    ranked = (Ranking.from_scores(scores, None, model.log_probabilities) for scores in found.read)
    return [_answers(predictor.dataset, ranking, k) for ranking in ranked]


def _learning(
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


def _answers(dataset: Dataset, ranking: Ranking, k: int) -> pd.DataFrame:
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
