"""The recommenders by name: which there are, and one of them ready to answer."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from recsys import store
from recsys.data.schema import Dataset
from recsys.models import registry
from recsys.models.base import Recommender
from recsys.store import StoreError
from recsys.training.run import ignore

__all__ = ["FALLBACK", "Recommender", "StoreError", "Variant", "load", "trained", "variants"]

FALLBACK = "popular"  # needs no training, so it can always answer


@dataclass(frozen=True)
class Variant:
    """A recommender as a person chooses it."""

    name: str  # "bert4rec", as on the command line
    title: str  # "BERT4Rec"
    family: str  # "Transformers"
    shipped: bool  # trained weights come with the project; the rest is fitted on first use


@cache
def variants() -> tuple[Variant, ...]:
    """Every recommender, those with trained weights first, the fallback last. Imports the model files, hence torch."""
    found = []
    for name in registry.names():
        model = registry.get(name)
        found.append(Variant(name, model.title, model.family, model.shipped))
    return tuple(
        sorted(found, key=lambda variant: (variant.name == FALLBACK, not variant.shipped, variant.family, variant.name))
    )


def trained(dataset_name: str) -> list[Variant]:
    """The recommenders whose weights for a data set are there: shipped, or trained on this machine."""
    return [variant for variant in variants() if store.find(variant.name, dataset_name) is not None]


def load(variant: str, dataset: Dataset, report: Callable[[dict[str, Any]], None] = ignore) -> Recommender:
    """A model that can score `dataset`: loaded, or fitted on first use where that takes seconds.

    Arithmetic is held to one thread from here on. Raises StoreError with the line to type when it must be trained
    first, LookupError for a strange name.
    """
    hold_to_one_thread()
    return store.ready(variant, dataset, report=report)


def hold_to_one_thread() -> None:
    """Let torch and NumPy compute on the thread that asks: one history is too little work to share out, and visitors
    are answered side by side.
    """
    import torch  # here, because the pages that show no films do without
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(1)
    threadpool_limits(1, "blas")
