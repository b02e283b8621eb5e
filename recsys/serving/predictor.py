"""Load a recommender for a data set, and list the recommenders."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from recsys import checkpoints
from recsys.data import film_details
from recsys.data.dataset import Dataset
from recsys.data.datasets import serving_split
from recsys.data.split import LEAVE_ONE_OUT
from recsys.models import registry
from recsys.models.base import Model
from recsys.models.pool import Pool
from recsys.models.registry import MIXTURES, POOL, Recommender
from recsys.progress import ProgressCallback, no_progress
from recsys.ranking.ranking import LogProbabilities
from recsys.serving import substitutes
from recsys.serving.filters import FilmFeatures, film_features
from recsys.training.options import RunOptions

# Best first. The default of a data set is the first for which `_answers_soon` holds.
DEFAULT_CANDIDATES = ("pool", "sasrec-memory", "bert4rec-memory", "bert4rec", "sasrec-softmax", "item-knn")
FALLBACK = "popular"  # needs no training, so it can always answer


@dataclass(frozen=True, eq=False)
class Predictor:
    """A data set with a model that can score its films."""

    dataset: Dataset
    variant: Recommender
    model: Model
    key: str = ""  # for caches: changes with the data and the checkpoint

    @property
    def title(self) -> str:
        """The displayed name, "BERT4Rec"."""
        return self.variant.title

    @cached_property
    def features(self) -> FilmFeatures:
        """The features of films for filters."""
        return film_features(self.dataset)

    def favours_content(self, films: Sequence[int]) -> bool:
        """Return whether similar films count more than usual, because few users watched these films."""
        items = substitutes.replace_infrequent(self.dataset, np.array(films, np.int64))
        return self.model.favours_content(items)

    @property
    def is_current(self) -> bool:
        """Whether neither the checkpoint nor the film details have changed since `load`."""
        return self.key == _key(self.variant.name, self.dataset, details=film_details.version(self.dataset.name))

    @property
    def log_probabilities(self) -> LogProbabilities | None:
        """The log-probabilities of the model if they can be shown to users, else None."""
        return self.model.log_probabilities if self.model.has_probabilities else None


def load(variant_name: str, dataset: Dataset, report: ProgressCallback = no_progress) -> Predictor:
    """Load a recommender for a data set, or fit it on first use if that takes seconds.

    NumPy and torch then compute on one thread, see `use_one_thread`.

    Raises:
        StoreError: If the recommender must be trained first. The message has the command.
        UnknownModelError: If there is no recommender with this name.
    """
    use_one_thread()
    variant = registry.get(variant_name)
    if variant.model().scores_cold_items:
        return _load_content_model(variant, dataset, report)
    version = _checkpoint_version(variant_name, dataset.name)  # read first: a concurrent training is newer
    model = checkpoints.load_or_fit(variant_name, dataset, report=report, splitting=serving_split(dataset.name))
    return Predictor(dataset, variant, model, _key(variant_name, dataset, version))


def mixture(left: Predictor, right: Predictor, share: float) -> Predictor:
    """Return the pool of two recommenders of a data set, without probabilities.

    Args:
        left: Its list is the result at a share of 0.
        right: Its list is the result at a share of 1.
        share: The weight of `right`. The weight of `left` is 1 - share.
    """
    names = left.variant.name, right.variant.name
    dataset = min(left.dataset, right.dataset, key=lambda dataset: dataset.n_items)  # the films that both score
    weights = dict(zip(names, (1 - share, share), strict=True))
    members = dict(zip(names, (left.model, right.model), strict=True))
    model = Pool.with_fixed_weights(weights, members, dataset.n_items)
    row = Recommender("+".join(names), f"{left.title} + {right.title}", MIXTURES, POOL)
    return Predictor(dataset, row, model, f"{left.key}+{right.key}/{share}")


def _load_content_model(variant: Recommender, dataset: Dataset, report: ProgressCallback) -> Predictor:
    """Fit a content model on all films, infrequent films included. Item numbers stay the same.

    The model is not stored. The stored model only covers items, for the evaluation.
    """
    catalog = dataset.catalog.complete
    train = replace(LEAVE_ONE_OUT(dataset).train, catalog=catalog)
    model = variant.model(variant.preset(dataset.name)).fit(train, run=RunOptions(report=report))
    return Predictor(replace(dataset, catalog=catalog), variant, model, _key(variant.name, dataset))


def _key(variant_name: str, dataset: Dataset, version: str = "", details: str | None = None) -> str:
    """Return the key of a predictor.

    Args:
        variant_name: Of the recommender.
        dataset: The data set.
        version: Of the checkpoint; "": the current one.
        details: Version of the film details; None: that of the data set.
    """
    version = version or _checkpoint_version(variant_name, dataset.name)
    details = dataset.catalog.details.version if details is None else details
    return "/".join([dataset.name, variant_name, version, dataset.fingerprint, *filter(None, [details])])


def default(data: str) -> str:
    """Return the name of the recommender that answers where none is chosen: app, command line and Python API.

    It is the best one that does not have to be trained first. A mixture counts only if its weights are there, because
    fitting them takes longer than a visitor waits. Item kNN is fitted in seconds.
    """
    return next((name for name in DEFAULT_CANDIDATES if _answers_soon(name, data)), FALLBACK)


def _answers_soon(name: str, data: str) -> bool:
    """Return whether a recommender is trained or, without members, fitted on first use."""
    if registry.get(name).members(data):
        return has_fit(name, data) and not missing_models(name, data)
    return not missing_models(name, data)


def training_command(variant_name: str, data: str) -> str:
    """Return the command that trains a recommender or its missing members, so that `load` can load it."""
    names = missing_models(variant_name, data) or [variant_name]
    return " && ".join(checkpoints.training_command(name, data, serving_split(data).protocol) for name in names)


def missing_models(variant_name: str, data: str) -> list[str]:
    """Return the recommenders to train before `load` can load this one: itself, or members."""
    return checkpoints.untrained_members(variant_name, data, serving_split(data))


def _checkpoint_version(variant_name: str, data: str) -> str:
    return checkpoints.checkpoint_version(variant_name, data, serving_split(data))


def checkpoints_version(data: str) -> str:
    """Return a text that changes when any checkpoint of a data set is written or deleted."""
    return checkpoints.checkpoints_version(data, serving_split(data))


def use_one_thread() -> None:
    """Let torch and NumPy compute on the calling thread.

    One history is too little work to divide, and each request of the app has its own thread.
    """
    import torch  # imported late: pages without recommendations do not need it
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(1)
    threadpool_limits(1, "blas")


def names() -> list[str]:
    """Return the names of all listed recommenders in the order of the menus."""
    return registry.names()


@cache
def variants() -> tuple[Recommender, ...]:
    """Return all recommenders. Those that need training are first, the fallback is last. Imports torch."""
    rows = [registry.get(name) for name in registry.names()]
    return tuple(sorted(rows, key=lambda row: (row.name == FALLBACK, not row.needs_training, row.family, row.name)))


def variants_with(capability: Callable[[Model], bool]) -> tuple[Recommender, ...]:
    """Return the recommenders with a capability, such as `lambda model: model.has_attention`."""
    return tuple(variant for variant in variants() if capability(variant.model()))


def trained(dataset_name: str) -> list[Recommender]:
    """Return the recommenders with a shipped or local checkpoint for a data set."""
    return [variant for variant in variants() if is_available(variant.name, dataset_name)]


def has_fit(variant_name: str, data: str) -> bool:
    """Return whether there is a checkpoint of the current settings and members. A member may need a fit."""
    return checkpoints.has_fit(variant_name, data, serving_split(data))


def is_available(variant_name: str, dataset_name: str) -> bool:
    """Return whether a recommender can be loaded without a fit."""
    return checkpoints.is_available(variant_name, dataset_name, serving_split(dataset_name))
