"""One recommender, ready to answer for one data set; and which recommenders there are."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property

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
from recsys.serving.filters import Facts, facts
from recsys.training.options import RunOptions

# The default of a data set is the first of these that it has, best first.
DEFAULTS = ("pool", "sasrec-memory", "bert4rec-memory", "bert4rec", "sasrec-softmax", "item-knn")
FALLBACK = "popular"  # needs no training, so it can always answer


@dataclass(frozen=True, eq=False)
class Predictor:
    """A data set with a model that can score its films."""

    dataset: Dataset
    variant: Recommender
    model: Model
    key: str = ""  # another one when the data or the checkpoint change; for whoever keeps answers

    @property
    def title(self) -> str:
        """The recommender's name for people: "BERT4Rec"."""
        return self.variant.title

    @cached_property
    def facts(self) -> Facts:
        """What filters look at."""
        return facts(self.dataset)

    @property
    def is_current(self) -> bool:
        """Whether `load` would still give this one: nothing was trained since, nor is more known of the films."""
        return self.key == _key(self.variant.name, self.dataset, details=film_details.version(self.dataset.name))

    @property
    def log_probabilities(self) -> LogProbabilities | None:
        """Those of the model if they may be shown to people, else None."""
        return self.model.log_probabilities if self.model.has_probabilities else None


def load(variant_name: str, dataset: Dataset, report: ProgressCallback = no_progress) -> Predictor:
    """A recommender for a data set: loaded, or fitted on first use where that takes seconds.

    From here on NumPy and torch compute on one thread, see `hold_to_one_thread`. Raises StoreError, with the command,
    when it must be trained first, and UnknownModelError for a name that no recommender has.
    """
    hold_to_one_thread()
    variant = registry.get(variant_name)
    if variant.model().scores_cold_items:
        return _with_unrated(variant, dataset, report)
    stamp = _stamp(variant_name, dataset.name)  # before loading, so that what is written meanwhile counts as newer
    model = checkpoints.load_or_fit(variant_name, dataset, report=report, splitting=serving_split(dataset.name))
    return Predictor(dataset, variant, model, _key(variant_name, dataset, stamp))


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


def _with_unrated(variant: Recommender, dataset: Dataset, report: ProgressCallback) -> Predictor:
    """A model of descriptions, fitted to all films of the set: items of the others keep their numbers.

    It is not kept on disk, where the one lies that is measured, over the same items as its rivals.
    """
    catalog = dataset.catalog.complete
    train = replace(LEAVE_ONE_OUT(dataset).train, catalog=catalog)
    model = variant.model(variant.preset(dataset.name)).fit(train, run=RunOptions(report=report))
    return Predictor(replace(dataset, catalog=catalog), variant, model, _key(variant.name, dataset))


def _key(variant_name: str, dataset: Dataset, stamp: str = "", details: str | None = None) -> str:
    """What tells one predictor from another; the stamp is today's where there was no checkpoint before.

    details: the stamp of what is known of the films; None: that of the data set.
    """
    stamp = stamp or _stamp(variant_name, dataset.name)
    details = dataset.catalog.details.version if details is None else details
    return "/".join([dataset.name, variant_name, stamp, dataset.fingerprint, *filter(None, [details])])


def default(data: str) -> str:
    """Return the name of the recommender that answers where none is chosen: app, command line and Python API.

    It is the best one that does not have to be trained first. A mixture counts only if its weights are there, because
    fitting them takes longer than a visitor waits. Item kNN is fitted in seconds.
    """
    return next((name for name in DEFAULTS if _answers_soon(name, data)), FALLBACK)


def _answers_soon(name: str, data: str) -> bool:
    """Whether a recommender is trained for a data set or, without members, fitted on first use."""
    if registry.get(name).members(data):
        return has_fit(name, data) and not lacking(name, data)
    return not lacking(name, data)


def training_command(variant_name: str, data: str) -> str:
    """The line that trains a recommender, or those that it stands on and lacks, so that `load` finds it."""
    names = lacking(variant_name, data) or [variant_name]
    return " && ".join(checkpoints.training_command(name, data, serving_split(data).protocol) for name in names)


def lacking(variant_name: str, data: str) -> list[str]:
    """Which have to be trained before `load` can give this one: itself, or some that it stands on."""
    return checkpoints.untrained_members(variant_name, data, serving_split(data))


def _stamp(variant_name: str, data: str) -> str:
    return checkpoints.checkpoint_version(variant_name, data, serving_split(data))


def checkpoints_version(data: str) -> str:
    """Return a text that changes when any checkpoint of a data set is written or deleted."""
    return checkpoints.checkpoints_version(data, serving_split(data))


def hold_to_one_thread() -> None:
    """Let torch and NumPy compute on the calling thread.

    One history is too little work to divide, and the requests of an app already run on threads of their own.
    """
    import torch  # here, because the pages that show no films do without
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(1)
    threadpool_limits(1, "blas")


def names() -> list[str]:
    """Return the names of all recommenders in the order of the menus."""
    return registry.names()


@cache
def variants() -> tuple[Recommender, ...]:
    """Every recommender, those that `train` makes first, the fallback last. Imports the model files, hence torch."""
    found = [registry.get(name) for name in registry.names()]
    return tuple(sorted(found, key=lambda one: (one.name == FALLBACK, not one.needs_training, one.family, one.name)))


def variants_with(capability: Callable[[Model], bool]) -> tuple[Recommender, ...]:
    """The recommenders that can do something: variants_with(lambda model: model.has_attention)."""
    return tuple(variant for variant in variants() if capability(variant.model()))


def trained(dataset_name: str) -> list[Recommender]:
    """The recommenders whose weights for a data set are there: shipped, or made on this machine."""
    return [variant for variant in variants() if is_there(variant.name, dataset_name)]


def has_fit(variant_name: str, data: str) -> bool:
    """Whether there is a checkpoint of the present settings and members; a member may still have to be fitted."""
    return checkpoints.has_fit(variant_name, data, serving_split(data))


def is_there(variant_name: str, dataset_name: str) -> bool:
    """Whether a recommender can be loaded for a data set, without being fitted first."""
    return checkpoints.is_available(variant_name, dataset_name, serving_split(dataset_name))
