"""What BERT4Rec does with one sequence, step by step: masking, embedding, attention, softmax.

Shapes: T tokens, D dimensions, I films.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from recsys.data.schema import Dataset
from recsys.models.base import Recommender
from recsys.models.bert4rec import Bert4Rec, cloze
from recsys.serving.attention import Attention, attention, names
from recsys.serving.recommend import History, ServingError, log_sum_exp, top
from recsys.training.batches import Draws


@dataclass(frozen=True)
class Steps:
    """The numbers between a sequence and its answer."""

    training: list[str]  # the sequence as training might show it: some films hidden
    hidden: list[str]  # those films, in order
    asked: list[str]  # the sequence as the question shows it: all films, `[mask]` behind them
    embeddings: np.ndarray  # (T, D) of the films and the mask
    positions: np.ndarray | None  # (T, D) of their places, to be added; None: distance counts in the attention instead
    attention: Attention
    answers: pd.DataFrame  # the best films: item, title, score (the logit), weight (its exponential), probability
    n_items: int

    @property
    def entered(self) -> np.ndarray:
        """(T, D) what the network is given."""
        return self.embeddings if self.positions is None else self.embeddings + self.positions


def steps(dataset: Dataset, model: Recommender, films: History, k: int = 10) -> Steps:
    """All four steps for a sequence of items, oldest first, that is not empty; what is already in it can be answered.

    Raises ServingError for models other than BERT4Rec and for items outside the catalogue.
    """
    if not isinstance(model, Bert4Rec):
        raise ServingError(f"these are the steps of BERT4Rec, and {model.title} takes others; choose BERT4Rec")
    seen = attention(dataset, model, films)
    training, hidden = _as_in_training(model, seen.tokens[:-1])
    module, n = model.module, len(seen.tokens)
    places = None if module.positions is None else module.positions.weight.detach().cpu().numpy()[:n]
    return Steps(
        names(dataset, training),
        names(dataset, hidden),
        seen.labels,
        module.items.weight.detach().cpu().numpy()[seen.tokens],
        places,
        seen,
        _answers(dataset, model.fill(seen.tokens, np.array([n - 1]))[0], k),
        dataset.n_items,
    )


def _as_in_training(model: Bert4Rec, films: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Tokens (T,) as the Cloze task of training would show them the first time, and the films that it hides."""
    config = replace(model.config, last_share=0.0, keep_some=False)
    lengths, first = np.array([len(films)]), np.array([0])
    tokens, _ = cloze(films, lengths, first, model.module.n_items, config, Draws(seed=0, epoch=0))
    return tokens, films[tokens == model.module.mask]


def _answers(dataset: Dataset, scores: np.ndarray, k: int) -> pd.DataFrame:
    """The k best of a score row (I,), with what the softmax makes of them, step by step.

    weight: exp(score - best score), so that nothing overflows; probability: weight over the weights of all films.
    """
    best = top(scores, np.zeros(0, np.int64), k)
    shown = scores[best].astype(np.float64)
    return pd.DataFrame(
        {
            "item": best,
            "title": [dataset.catalog.films[item].label for item in best.tolist()],
            "score": shown,
            "weight": np.exp(shown - shown.max(initial=-np.inf)),
            "probability": np.exp(shown - log_sum_exp(scores)),
        }
    )
