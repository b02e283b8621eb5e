"""Two recommenders mixed by hand, for whoever moves a slider between them."""

from recsys.models.hybrid import Hybrid
from recsys.models.registry import HYBRID, MIXTURES, Recommender
from recsys.serving.predictor import Predictor


def mixed(one: Predictor, other: Predictor, share: float) -> Predictor:
    """Two recommenders of a data set as one: the list of `one` at a share of 0, that of `other` at 1.

    Their scores are pooled as in `models.hybrid`, over the films that both know. It gives no probabilities, because
    nobody has found out how sure a mixture may be.
    """
    names = one.variant.name, other.variant.name
    dataset = min(one.dataset, other.dataset, key=lambda known: known.n_items)
    members = dict(zip(names, (one.model, other.model), strict=True))
    model = Hybrid.by_hand(dict(zip(names, (1 - share, share), strict=True)), members, dataset.n_items)
    variant = Recommender("+".join(names), f"{one.title} + {other.title}", MIXTURES, HYBRID)
    return Predictor(dataset, variant, model, f"{one.key}+{other.key}/{share}")
