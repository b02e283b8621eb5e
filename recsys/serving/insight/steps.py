"""What BERT4Rec does with one sequence, step by step: masking, embedding, attention, softmax.

Shapes: T tokens, D dimensions, I films.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from recsys.data.schema import Dataset
from recsys.ranking.ranking import Ranking
from recsys.serving.insight.attention import Attention, attention, names
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import History, ServingError


@dataclass(frozen=True)
class Steps:
    """The numbers between a sequence and the films predicted from it."""

    training: list[str]  # the sequence as training may show it: some films hidden
    hidden: list[str]  # those films, in order
    prediction: list[str]  # the sequence as prediction shows it: all films, `[mask]` after them
    embeddings: np.ndarray  # (T, D) of the films and the mask
    positions: np.ndarray | None  # (T, D) position embeddings to be added; None: attention has a relative bias instead
    attention: Attention
    answers: pd.DataFrame  # the best films: item, title, score (the logit), weight (its exponential), probability
    n_items: int

    @property
    def input(self) -> np.ndarray:
        """(T, D) what the network is given."""
        return self.embeddings if self.positions is None else self.embeddings + self.positions


def steps(predictor: Predictor, films: History, k: int = 10) -> Steps:
    """All four steps for a sequence of items, oldest first, that is not empty; its own films may be predicted too.

    Raises ServingError for models other than BERT4Rec and for items outside the catalogue.
    """
    dataset, model = predictor.dataset, predictor.model
    if not (model.fills_blanks and model.has_attention):
        raise ServingError(f"these are the steps of BERT4Rec, and {predictor.title} takes others; choose BERT4Rec")
    seen = attention(predictor, films)
    watched = seen.tokens[:-1]
    training = model.training_example(watched)
    embeddings, positions = model.embed_tokens(seen.tokens)
    scores = model.fill(seen.tokens, np.array([len(watched)]))[0]
    hidden = watched[training >= dataset.n_items]
    return Steps(
        names(dataset, training),
        names(dataset, hidden),
        seen.labels,
        embeddings,
        positions,
        seen,
        _answers(dataset, Ranking.of(scores, None, model.log_probabilities), k),
        dataset.n_items,
    )


def _answers(dataset: Dataset, ranking: Ranking, k: int) -> pd.DataFrame:
    """The k best films, with what the softmax makes of their scores, step by step.

    weight: exp(score - best score), so that nothing overflows; probability: weight over the weights of all films.
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
