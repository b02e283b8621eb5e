"""Load a recommender for a data set, and list the recommenders."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from recsys import checkpoints
from recsys.data import film_details
from recsys.data.dataset import Dataset
from recsys.data.datasets import serving_splitting
from recsys.data.split import LEAVE_ONE_OUT
from recsys.models import registry
from recsys.models.base import Model
from recsys.models.common_trait import CommonTrait
from recsys.models.pool import Pool
from recsys.models.registry import MIXTURES, POOL, Recommender
from recsys.models.visitor_pool import VisitorPool
from recsys.progress import ProgressCallback, no_progress
from recsys.ranking.ranking import LogProbabilities
from recsys.serving import substitutes
from recsys.training.options import RunOptions

# best first; the default recommender of a data set is the first of them for which `_loads_soon` is true
DEFAULT_CANDIDATES = ("pool", "sasrec-memory", "bert4rec-memory", "bert4rec", "sasrec-softmax", "item-knn")
CONTENT = "content-fields"  # recommender that ranks films by their similarity to the films of the history
CONTENT_WEIGHT = 0.8  # of CONTENT in the mixture of `favour_similar_films`
FALLBACK = "popular"  # needs no training, so it can always recommend


@dataclass(frozen=True, eq=False)
class Predictor:
    """A data set with a model that can score its films."""

    dataset: Dataset
    recommender: Recommender
    model: Model  # fitted
    key: str = ""  # key for caches; changes with the data set, the checkpoint and the film details

    @property
    def title(self) -> str:
        """The displayed name, "BERT4Rec"."""
        return self.recommender.title

    def favours_content(self, films: Sequence[int]) -> bool:
        """Return the result of `Model.favours_content` for the film numbers of a history."""
        return self.model.favours_content(substitutes.replace_duplicates(self.dataset, np.array(films, np.int64)))

    def notable_common_trait(self, films: Sequence[int]) -> CommonTrait | None:
        """Return the result of `Model.notable_common_trait` for the film numbers of a history."""
        return self.model.notable_common_trait(substitutes.replace_duplicates(self.dataset, np.array(films, np.int64)))

    @property
    def is_current(self) -> bool:
        """Whether neither the checkpoint nor the film details have changed since `load`."""
        name, dataset = self.recommender.name, self.dataset
        checkpoint = _checkpoint_version(name, dataset.name)
        return self.key == _key(name, dataset, checkpoint, film_details.version(dataset.name))

    @property
    def log_probabilities(self) -> LogProbabilities | None:
        """`Model.log_probabilities` if the probabilities of the model can be displayed, else None."""
        return self.model.log_probabilities if self.model.has_probabilities else None


def load(name: str, dataset: Dataset, report: ProgressCallback = no_progress) -> Predictor:
    """Load a recommender for a data set. If it needs no training, it is fitted on first use.

    From this call on, NumPy and torch compute on one thread, see `use_one_thread`.

    Raises:
        CheckpointError: If the recommender must be trained first. The message has the command.
        UnknownModelError: If there is no recommender with this name.
    """
    use_one_thread()
    recommender = registry.get(name)
    # computed before the checkpoint is read, so that `is_current` is False if a training replaces it meanwhile
    checkpoint = _checkpoint_version(name, dataset.name)
    if recommender.model().scores_cold_items:
        model, dataset = _fit_on_all_films(recommender, dataset, report)
    else:
        model = checkpoints.load_or_fit(name, dataset, report=report, splitting=serving_splitting(dataset.name))
        if isinstance(model, VisitorPool):
            model.all_films = substitutes.AllDatasetFilms(dataset)
    if not checkpoint:  # `load_or_fit` may have written it
        checkpoint = _checkpoint_version(name, dataset.name)
    return Predictor(dataset, recommender, model, _key(name, dataset, checkpoint, dataset.catalog.details.version))


def mixture_of_two(left: Predictor, right: Predictor, right_weight: float) -> Predictor:
    """Return a mixture with the weights `right_weight` 0…1 and 1 - `right_weight`. It has no probabilities."""
    member_names = left.recommender.name, right.recommender.name
    dataset = min(left.dataset, right.dataset, key=lambda dataset: dataset.n_items)  # the films that both score
    weights = dict(zip(member_names, (1 - right_weight, right_weight), strict=True))
    members = dict(zip(member_names, (left.model, right.model), strict=True))
    model = Pool.with_fixed_weights(weights, members, dataset.n_items)
    recommender = Recommender("+".join(member_names), f"{left.title} + {right.title}", MIXTURES, POOL)
    return Predictor(dataset, recommender, model, f"{left.key}+{right.key}/{right_weight}")


def favour_similar_films(predictor: Predictor, load_content: Callable[[], Predictor]) -> Predictor:
    """Return a predictor that gives higher scores to films that are similar to the history.

    In `VisitorPool`, the content member gets a high weight. Any other model is mixed with the recommender CONTENT
    for the same data set, which `load_content` loads.
    """
    if isinstance(predictor.model, VisitorPool):
        return replace(predictor, model=predictor.model.for_taste(), key=f"{predictor.key}/taste")
    return mixture_of_two(predictor, load_content(), CONTENT_WEIGHT)


def for_unordered_list(predictor: Predictor) -> Predictor:
    """Return a predictor for favourites in no order. Only `VisitorPool` can ignore the order of a list.

    The predictor of another model is returned unchanged.
    """
    if not isinstance(predictor.model, VisitorPool):
        return predictor
    return replace(predictor, model=predictor.model.for_unordered_lists(), key=f"{predictor.key}/unordered")


def _fit_on_all_films(recommender: Recommender, dataset: Dataset, report: ProgressCallback) -> tuple[Model, Dataset]:
    """Fit a content model on a data set whose items include the infrequent films, and return the model and data set.

    The model is not stored, because a checkpoint must score the items that evaluations rank, and no other films.
    """
    catalog = dataset.catalog.complete
    train = replace(LEAVE_ONE_OUT(dataset).train, catalog=catalog)  # ratings are used only for an empty history
    model = recommender.model(recommender.preset(dataset.name)).fit(train, run=RunOptions(report=report))
    return model, replace(dataset, catalog=catalog)


def _key(name: str, dataset: Dataset, checkpoint: str, details: str) -> str:
    """Return `Predictor.key` from the versions of the checkpoint and the film details, "" if there are none."""
    key = f"{dataset.name}/{name}/{checkpoint}/{dataset.fingerprint}"
    return f"{key}/{details}" if details else key


def default_name(dataset_name: str) -> str:
    """Return the name of the default recommender of the app, the command line and the Python API."""
    return next((name for name in DEFAULT_CANDIDATES if _loads_soon(name, dataset_name)), FALLBACK)


def _loads_soon(name: str, dataset_name: str) -> bool:
    """Return whether `load` takes a few seconds at most. Fitting the weights of a mixture takes longer."""
    is_fast = not registry.get(name).members(dataset_name) or has_current_checkpoint(name, dataset_name)
    return is_fast and not recommenders_to_train(name, dataset_name)


def training_command(name: str, dataset_name: str) -> str:
    """Return the command that trains `recommenders_to_train` or, if there are none, the recommender again."""
    protocol = serving_splitting(dataset_name).protocol
    names_to_train = recommenders_to_train(name, dataset_name) or [name]
    return " && ".join(checkpoints.training_command(model, dataset_name, protocol) for model in names_to_train)


def recommenders_to_train(name: str, dataset_name: str) -> list[str]:
    """Return the recommenders that must be trained before `load` can load this one: its members, or itself."""
    return checkpoints.recommenders_to_train(name, dataset_name, serving_splitting(dataset_name))


def _checkpoint_version(name: str, dataset_name: str) -> str:
    """Return the version of the checkpoint that `load` reads, "" if there is no checkpoint."""
    return checkpoints.checkpoint_version(name, dataset_name, serving_splitting(dataset_name))


def all_checkpoints_version(dataset_name: str) -> str:
    """Return a text that changes when any checkpoint of a data set is written or deleted."""
    return checkpoints.all_checkpoints_version(dataset_name, serving_splitting(dataset_name))


def use_one_thread() -> None:
    """Let torch and NumPy compute on the calling thread only.

    Several threads are not faster for a single history, and the app answers each visitor in a separate thread.
    """
    import torch  # imported late: pages without recommendations do not need it
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(1)
    threadpool_limits(1, "blas")


def names() -> list[str]:
    """Return the names of all recommenders in the order of the menus. Pages do not import `recsys.models`."""
    return registry.names()


@cache
def all_recommenders() -> tuple[Recommender, ...]:
    """Return all recommenders. The recommenders that need training come first, FALLBACK comes last."""

    def sort_key(recommender: Recommender) -> tuple[bool, bool, str, str]:
        return recommender.name == FALLBACK, not recommender.needs_training, recommender.family, recommender.name

    return tuple(sorted(map(registry.get, registry.names()), key=sort_key))


def has_current_checkpoint(name: str, dataset_name: str) -> bool:
    """Return whether the stored checkpoint of a recommender is current, see `checkpoints.has_current_checkpoint`."""
    return checkpoints.has_current_checkpoint(name, dataset_name, serving_splitting(dataset_name))


def is_ready(name: str, dataset_name: str) -> bool:
    """Return whether neither the recommender nor any of its members must be trained or fitted before it can answer."""
    return checkpoints.is_ready(name, dataset_name, serving_splitting(dataset_name))
