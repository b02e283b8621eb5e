"""How sure a recommender is of each place of a list, and how often the next item stands there: figure 1 of gSASRec
(arXiv:2308.07192).

Shapes: S seeds, B users, K ranks.
"""

import numpy as np
import pandas as pd

from recsys.data.dataset import Queries
from recsys.data.datasets import serving_split
from recsys.evaluation.protocols import PROTOCOLS, Protocol
from recsys.models.base import Model
from recsys.ranking.ranking import Ranking

RANKS = 100  # K, as in the figure
BINS = 12  # of ranks, about equally wide on a logarithmic axis


def of_list(model: Model, query: Queries, k: int = RANKS) -> pd.DataFrame:
    """The first k items for a query of one, seen ones left out: rank, item, probability; no rows without probabilities.

    A softmax gives the probability that an item is the next, of those not seen; a σ(score) is of one item by itself.
    """
    ranking = Ranking.from_scores(model.score(query)[0], query.histories[0], model.log_probabilities)
    items = ranking.top(k)
    found = ranking.probabilities(items)
    if found is None:
        items = found = items[:0]
    return pd.DataFrame({"rank": np.arange(1, len(items) + 1), "item": items, "probability": found})


def observed(ranks: np.ndarray, k: int = RANKS) -> pd.DataFrame:
    """The share of users whose hidden item stood at a rank, of ranks (S, B): a row for each bin of the ranks 1…k.

    first, last: the bin's ranks; rank: its middle on a logarithmic axis; share: of users, for one rank of it.
    """
    edges = np.unique(np.geomspace(1, k + 1, BINS + 1).round().astype(int))
    first, last = edges[:-1], edges[1:] - 1
    inside = [np.mean((ranks >= low) & (ranks <= high)) for low, high in zip(first, last, strict=True)]
    table = pd.DataFrame({"rank": np.sqrt(first * last), "first": first, "last": last})
    return table.assign(share=inside / (last - first + 1))


def protocol_of(dataset_name: str) -> Protocol:
    """The protocol that measures the very recommenders that the app serves for a data set, over all items."""
    splitting = serving_split(dataset_name)
    return next(one for one in PROTOCOLS.values() if one.splitting == splitting and not one.sampled)
