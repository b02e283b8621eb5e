"""What a model can show of itself: its attention, its guesses for blanks, its vectors of films."""

from functools import cache
from typing import Any, Protocol, runtime_checkable

import numpy as np

from recsys.models import registry
from recsys.models.base import Recommender
from recsys.serving.models import Variant, variants
from recsys.serving.recommend import ServingError


@runtime_checkable
class Attends(Protocol):
    """A model of attention blocks. Shapes: T tokens, L layers, H heads, I films."""

    title: Any
    config: Any  # with its `length`: the tokens that it reads

    def prompt(self, history: np.ndarray) -> np.ndarray:
        """The tokens (T,) that ask for the film after a history; what is no item is `[mask]` or the start."""
        ...

    def attention(self, tokens: np.ndarray) -> np.ndarray:
        """How much each token looks at each other, (L, H, T, T); rows sum to 1."""
        ...


@runtime_checkable
class FillsBlanks(Attends, Protocol):
    """A model that guesses a film from both of its sides."""

    softmax: bool
    module: Any

    def fill(self, tokens: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Logits (Q, I) of the films at some places (Q,) of a sequence of tokens (T,)."""
        ...


@runtime_checkable
class HasVectors(Protocol):
    """A model with a vector for every film."""

    def film_vectors(self) -> np.ndarray | None:
        """(I, D); None when this one, as it was fitted, has none."""
        ...


@cache
def offering(method: str) -> tuple[Variant, ...]:
    """The recommenders that have a method of the protocols above: "attention", "fill" or "film_vectors"."""
    return tuple(variant for variant in variants() if hasattr(registry.get(variant.name), method))


def attending(model: Recommender) -> Attends:
    """The model as one that attends; raises ServingError for another."""
    if not isinstance(model, Attends):
        raise ServingError(f"{model.title} has no attention to look at; choose BERT4Rec")
    return model


def filling(model: Recommender) -> FillsBlanks:
    """The model as one that fills blanks; raises ServingError for another."""
    if not isinstance(model, FillsBlanks):
        raise ServingError(
            f"{model.title} reads from the first film to the last, so it cannot fill a blank; choose BERT4Rec"
        )
    return model


def vectors(model: Recommender) -> np.ndarray:
    """A model's film vectors (I, D); raises ServingError where it has none."""
    found = model.film_vectors() if isinstance(model, HasVectors) else None
    if found is None:
        raise ServingError(f"{model.title} has no vector for every film; choose another recommender")
    return found
