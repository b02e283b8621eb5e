"""The interface of all models: histories in, a score for every item out.

Shapes: B queries, I items, T tokens, Q masked positions, L layers, H heads, D dimensions.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from recsys import machine
from recsys.config import config_class
from recsys.data.dataset import DataError, Dataset, HeldOut, Queries
from recsys.errors import N_, Message
from recsys.ranking.ranking import log_sum_exp
from recsys.training.options import RunOptions, TrainingSummary

if TYPE_CHECKING:
    from recsys.models.common_trait import CommonTrait

TOO_LITTLE_RAM = N_(
    "{wanted}, but only half of the {free:,.1f} GB that is free on this computer may be used; choose another "
    "recommender, such as item-knn"
)
TOO_LITTLE_GPU_MEMORY = N_(
    "{wanted}, but only half of the {free:,.1f} GB that is free on the GPU may be used; train with --device cpu, or "
    "choose another recommender, such as item-knn"
)


@config_class
class NoConfig:
    """The config of models without settings."""


class Model(ABC):
    """Scores every item for each query. Excluded items, top k and ties are handled in `recsys.ranking`.

    Abilities beyond scoring are declared here as attributes, so callers never check the type of a model. Attributes
    without ClassVar may depend on the config or on the members.
    """

    Config: ClassVar[type] = NoConfig  # declared with `config_class`
    needs_training: ClassVar[bool] = False  # with the command `train`; other models are fitted on first use
    state_has_histories: ClassVar[bool] = False  # the state contains user histories, so it is never published
    uses_times_or_ratings: bool = False  # `fit` uses times or ratings, not only the order of items
    uses_item_texts: ClassVar[bool] = False  # `fit` uses titles and tags
    uses_credits: bool = False  # `fit` uses directors, cast and subjects, if they were fetched with `data enrich`
    uses_field_vectors: bool = False  # `fit` uses the vectors of `recsys.text.fields`
    uses_query_ratings: bool = False  # ratings in a query change the scores
    ignores_order: bool = False  # treats a history as favourites in no order
    scores_cold_items: bool = False  # scores infrequent films too, from their descriptions
    has_probabilities: bool = False  # `log_probabilities` is a softmax over all items, shown to users
    is_fitted_on_validation: bool = False  # the ranking depends on weights that were fitted on validation items
    can_fill_masks: bool = False  # has `fill`
    has_attention: bool = False  # has `attention`
    has_item_embeddings: bool = False  # has `item_embeddings`
    predicts_ratings: bool = False  # has `predicted_ratings`
    training_summary: TrainingSummary | None = None  # None: the model was loaded or needs no training
    # removed settings → the value that is now fixed; stored documents may still have them
    former_settings: ClassVar[Mapping[str, Any]] = {}
    reads_infrequent_films: bool = False  # histories may have infrequent films, see `VisitorPool`; if not, only items
    members: tuple[str, ...] = ()  # names of the recommenders that are combined, see `checkpoints.attach_members`
    # name of the data set whose users were added to the training data, "" for none; a mixture joins names by ", "
    added_dataset: str = ""
    note: str = ""  # a sentence for users about the fit, "" for none

    def __init__(self, config: Any = None, title: str = "") -> None:
        """Create an unfitted model. Without a config it has the defaults."""
        self.config = config if config is not None else self.Config()
        self.title = title or type(self).__name__

    def set_members(self, members: "Mapping[str, Model]") -> None:
        """Set the fitted members by name. It is called before `fit`, and after `load_state`."""
        raise NotImplementedError(f"{self.title} has no members")

    def favours_content(self, history: np.ndarray) -> bool:
        """Return whether films like those of a history rank higher than usual, see `VisitorPool`."""
        return False

    def notable_common_trait(self, history: np.ndarray) -> "CommonTrait | None":
        """Return the common trait because of which similar films rank higher, or None, see `VisitorPool`."""
        return None

    def remove_count_memory(self) -> None:
        """Remove the counts that are combined with a network's scores, if any, see `count_memory.py`."""
        return

    @abstractmethod
    def fit(self, train: Dataset, valid: HeldOut | None = None, run: RunOptions | None = None) -> Self:
        """Train on `train` and stop early on `valid`, if given. Test data are never passed to a model."""

    @abstractmethod
    def score(self, queries: Queries) -> np.ndarray:
        """Return a score for every item, (B, I) float32. Higher is better. Histories may be empty or repeat items.

        If `scores_cold_items`, columns of infrequent films may follow, see `Catalog.infrequent`.
        """

    @abstractmethod
    def state(self) -> dict[str, np.ndarray]:
        """Return the results of `fit` as arrays by name. `checkpoints` writes them to disk."""

    @abstractmethod
    def load_state(self, state: dict[str, np.ndarray], n_items: int) -> None:
        """Restore the arrays of `state`.

        Raises KeyError if an array is missing, and ValueError if its shape does not fit the config or `n_items`.
        """

    def fit_memory_bytes(self, n_users: int, n_items: int) -> int:
        """Return the bytes that `fit` allocates in addition to the data. 0: negligible, a few megabytes at most."""
        return 0

    def check_memory(self, train: Dataset, free_gpu_bytes: int | None = None) -> None:
        """Raise DataError if `fit` needs more than half of the free memory: of the GPU, if given, else the RAM."""
        needed_bytes = self.fit_memory_bytes(train.n_users, train.n_items)
        free_bytes = machine.free_memory() if free_gpu_bytes is None else free_gpu_bytes
        if 2 * needed_bytes <= free_bytes:
            return
        for_items = N_("{title} needs {needed:,.1f} GB of memory for {n_items:,} items")
        for_films = N_("{title} needs {needed:,.1f} GB of memory for {n_items:,} films")
        template = for_films if train.noun == "film" else for_items
        wanted = Message(template, title=Message(self.title), needed=needed_bytes / 1e9, n_items=train.n_items)
        text = TOO_LITTLE_RAM if free_gpu_bytes is None else TOO_LITTLE_GPU_MEMORY
        raise DataError(text, wanted=wanted, free=free_bytes / 1e9)

    @property
    def max_length(self) -> int | None:
        """The number of newest items of a history that the model reads. None: all items."""
        return None

    @property
    def device(self) -> str:
        """The device of the model: "cpu", "cuda:0"."""
        return "cpu"

    def log_probabilities(self, scores: np.ndarray, items: np.ndarray) -> np.ndarray | None:
        """Return log p(next item) of `items` (n,), float64. None: the scores give no probabilities.

        `scores` is a row of `score`, (I,), in which excluded items are minus infinity. If `has_probabilities`, the
        result is the log-softmax of the scores.
        """
        return scores[items].astype(np.float64) - log_sum_exp(scores) if self.has_probabilities else None

    def predicted_ratings(self, queries: Queries) -> np.ndarray:
        """Return the predicted stars of every item, (B, I) float32, not clipped to the scale."""
        raise NotImplementedError(f"{self.title} predicts no ratings")

    def item_embeddings(self) -> np.ndarray:
        """Return one vector per item, (I, D) float32."""
        raise NotImplementedError(f"{self.title} has no item embeddings")

    def input_tokens(self, history: np.ndarray, is_whole: bool = False) -> np.ndarray:
        """Return the input tokens (T,) for a history. The last position predicts the next item.

        `is_whole`: whether the history begins with the first item of its user, see `Queries.are_whole`.
        """
        raise NotImplementedError(f"{self.title} reads no tokens")

    def attention(self, tokens: np.ndarray) -> np.ndarray:
        """Return the attention weights (L, H, T, T) float32 of tokens (T,). Rows sum to 1."""
        raise NotImplementedError(f"{self.title} has no attention")

    def fill(self, history: np.ndarray, masked_positions: np.ndarray) -> np.ndarray:
        """Return the scores (Q, I) of all items at masked positions (Q,) of a history (T,).

        The scores depend on the items on both sides. Items at masked positions are ignored. T is at most `max_length`.
        They must be multiplied by `calibration_factor` to agree with `score`.
        """
        raise NotImplementedError(f"{self.title} cannot fill a blank")

    def calibration_factor(self, history: np.ndarray) -> float:
        """Return the factor that calibrates the scores of `fill` for a history (T,). 1: they need none."""
        return 1.0
