"""Settings of each recommender by data set. Loads no torch.

`PRESETS` contains the tuned settings, except for the recommenders of `UNTUNED`. The data sets of the tuning are:

    ml-100k             943 users, 6 % of all pairs of user and item observed
    ml-latest-small     610 users, 1.5 %
    ml-latest-sample  2,745 users, 1.7 %
    ml-1m             6,040 users, 4.8 %

Any other data set gets the settings of the tuned data set with the most similar size, scaled to its size. The rules of
scaling were measured on the Beauty data of the BERT4Rec paper (40,226 users, 54,542 items, 9 events per user), see
docs/experiments.md. No setting was tuned on these data.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

Changes = Mapping[str, Any]  # setting → value; the settings of `schedule` are in the same mapping, not nested

TUNED = ("ml-100k", "ml-latest-small", "ml-latest-sample", "ml-1m")
SET_OF_DEFAULTS = "ml-1m"  # the data set for which the defaults of the models were tuned
UNTUNED = ("mult-vae", "narm", "stamp")  # recommenders for which few settings were tried
MAX_USERS_OF_SMALL = 1_500  # with fewer users: settings of ml-100k or ml-latest-small
MAX_USERS_OF_SAMPLE = 4_000  # with fewer users, if the data set is sparse: settings of ml-latest-sample
MIN_DENSITY = 0.03  # share of observed pairs of user and item; a data set with a lower share is sparse
MANY_ITEMS = 20_000  # for data sets with more items, models compute no (I, I) matrix and sample items in the loss
MANY_USERS = 20_000  # data sets with more users have larger batches
MIN_EVENTS_PER_ITEM = 20  # with fewer events, networks overfit their item embeddings unless dropout is higher
USERS_OF_ML_1M = 6_040  # a data set with more users has fewer epochs, so that the number of steps is similar
LARGE_SET_NEGATIVES = 256  # negatives of gBCE with more than MANY_ITEMS
LARGE_SET_BATCH_SIZE = 128  # smallest batch size with more than MANY_USERS
LARGE_SET_RANK = 256  # rank of EASE with more than MANY_ITEMS
SPARSE_SET_DROPOUT = 0.4  # lowest dropout with fewer than MIN_EVENTS_PER_ITEM
MIN_EPOCHS = 10  # of a scaled schedule
MAX_EPOCHS_FACTOR = 2  # a scaled schedule has at most twice the epochs
N_VALIDATIONS = 8  # of a scaled schedule


@dataclass(frozen=True)
class DataSize:
    """The size of a data set."""

    users: int
    items: int
    events: int

    @property
    def density(self) -> float:
        """The share of observed pairs of user and item."""
        return self.events / max(self.users * self.items, 1)


SMALL_SETS = ("ml-100k", "ml-latest-small")
SAMPLE = "ml-latest-sample"

SMALL_SET_SETTINGS = {"dropout": 0.3, "batch_size": 16, "ema_decay": 0.995, "validate_every": 5}
SEGMENTS = {"crop": "segments", "only_unseen": True, "redraw": True, "batch_size": 128, "lr": 4e-3}
SASREC_SEGMENTS = SEGMENTS | {"warmup_steps": 100, "ema_decay": 0.99}
# The next two are trained with --also ml-1m, which adds the users of ml-1m to the training data.
SASREC_ON_SAMPLE = SASREC_SEGMENTS | {"dim": 128, "dropout": 0.3, "epochs": 30, "validate_every": 3}
BERT4REC_ON_SAMPLE = SEGMENTS | {
    "dim": 128,
    "mask_prob": 0.3,
    "dropout": 0.2,
    "epochs": 80,
    "warmup_steps": 200,
    "ema_decay": 0.995,
    "validate_every": 8,
}
BERT4REC: dict[str, Changes] = {
    **dict.fromkeys(SMALL_SETS, SMALL_SET_SETTINGS | {"epochs": 60, "patience": 8}),
    SAMPLE: {"epochs": 60, "validate_every": 4},  # trained with --also ml-1m
}
SASREC: dict[str, Changes] = {
    **dict.fromkeys(SMALL_SETS, SMALL_SET_SETTINGS),
    SAMPLE: {"epochs": 24, "validate_every": 2},  # trained with --also ml-1m
}
GRU4REC: dict[str, Changes] = {
    **dict.fromkeys(SMALL_SETS, SMALL_SET_SETTINGS | {"epochs": 30, "warmup_steps": 100, "validate_every": 3}),
    SAMPLE: {"dropout": 0.3, "batch_size": 32, "epochs": 20, "validate_every": 2},
}
GRU4REC_ALSO_ML_1M = GRU4REC | {SAMPLE: {"epochs": 24, "validate_every": 2}}  # trained with --also ml-1m
CASER_ON_SMALL_SETS = SMALL_SET_SETTINGS | {"warmup_steps": 100, "validate_every": 4}
CASER: dict[str, Changes] = {
    **dict.fromkeys(SMALL_SETS, CASER_ON_SMALL_SETS),
    SAMPLE: CASER_ON_SMALL_SETS | {"batch_size": 32, "epochs": 20, "validate_every": 2},
}
SESSION_MODELS: dict[str, Changes] = {
    **{name: {"epochs": 12, "validate_every": 3, "batch_size": 16} for name in SMALL_SETS},
    SAMPLE: {"epochs": 12, "validate_every": 3},
}
FPMC = {name: {"batch_size": 16, "lr": 0.002, "ema_decay": 0.99, "epochs": 25} for name in ("ml-100k", SAMPLE)}
ITEM2VEC = {name: {"batch_size": 16, "ema_decay": 0.99} for name in ("ml-100k", SAMPLE)}
EASE: dict[str, Changes] = {
    **{name: {"regularization": 100.0} for name in (SAMPLE, "ml-100k")},
    "ml-latest-small": {"regularization": 50.0},
}
SIMPLE_MEMBERS = ("markov", "markov-both", "ease-low-rank", "content-fields", "content-sentence")
POOL_MEMBERS = ("bert4rec", "sasrec-softmax", *SIMPLE_MEMBERS)
FAVOURITES_MEMBERS = (  # chosen on validation users of the favourites protocols, docs/experiments.md
    "markov-both",
    "ease-low-rank",
    "content-fields",
    "user-knn-centred",
    "popular",
    "bpr-mf",
    "mult-vae",
)

PRESETS: dict[str, Mapping[str, Changes]] = {
    "bert4rec": BERT4REC | {SAMPLE: BERT4REC_ON_SAMPLE},
    "bert4rec-memory": BERT4REC,
    "bert4rec-side": BERT4REC,
    "bert4rec-paper": {
        **{name: {"batch_size": 16, "lr": 0.001, "epochs": 60, "patience": 8} for name in (*SMALL_SETS, SAMPLE)},
        "ml-1m": {"lr": 1e-3},
    },
    "bert4rec-ablated": BERT4REC | {SAMPLE: BERT4REC_ON_SAMPLE},
    "sasrec-softmax": SASREC | {SAMPLE: SASREC_ON_SAMPLE},
    "sasrec-segments": {
        **SASREC,
        SAMPLE: SASREC_ON_SAMPLE,
        "ml-1m": {**SASREC_SEGMENTS, "dropout": 0.2, "epochs": 60, "validate_every": 6},
    },
    "sasrec-ablated": SASREC | {SAMPLE: SASREC_ON_SAMPLE},
    "sasrec-side": SASREC,
    "sasrec-memory": SASREC | {SAMPLE: SASREC_ON_SAMPLE},
    "sasrec-bce": SASREC | {SAMPLE: {"dropout": 0.3, "epochs": 30, "validate_every": 3}},
    "gsasrec": SASREC | {SAMPLE: {"epochs": 20, "validate_every": 4}},  # trained with --also ml-1m
    "sasrec-paper": {name: {"batch_size": 16, "epochs": 100} for name in (*SMALL_SETS, SAMPLE)},
    "gru4rec-ce": GRU4REC_ALSO_ML_1M,
    "gru4rec-memory": GRU4REC_ALSO_ML_1M,
    "gru4rec-bpr": GRU4REC,
    "gru4rec-top1": GRU4REC,
    "gru4rec-plus": GRU4REC,
    "lstm": GRU4REC,
    "rnn": GRU4REC,
    "caser": CASER,
    "narm": SESSION_MODELS,
    "stamp": SESSION_MODELS,
    "mult-vae": {name: {"batch_size": 16} for name in SMALL_SETS},
    "fpmc": FPMC,
    "fmc": FPMC,
    "transrec": {"ml-100k": {"epochs": 20, "batch_size": 16, "lr": 1e-2, "ema_decay": 0.99, "validate_every": 5}},
    "item2vec-cbow": ITEM2VEC,
    "item2vec-skipgram": ITEM2VEC,
    "ncf": {"ml-100k": {"epochs": 10, "batch_size": 16, "lr": 1e-2, "ema_decay": 0.99, "validate_every": 3}},
    # On ML-1M, `sasrec-memory` without its memory and `gru4rec-ce` are better members than `sasrec-softmax`.
    "pool": {"ml-1m": {"members": ("bert4rec", "gru4rec-ce", "sasrec-memory", *SIMPLE_MEMBERS)}},
    "ensemble": {SAMPLE: {"members": ("sasrec-memory", "bert4rec-memory", "gru4rec-ce")}},  # the shipped networks
    "markov": {
        SAMPLE: {"window": 40},
        "ml-100k": {"decay": 0.3, "normalisation": 0.5},
        "ml-latest-small": {"window": 20, "decay": 0.3, "recent": 20, "history_decay": 0.7},
    },
    "markov-both": {SAMPLE: {"window": 40}},
    "ease": EASE,
    "ease-low-rank": EASE,
    "ials": {
        "ml-100k": {"factors": 32, "regularization": 1.0},
        "ml-latest-small": {"factors": 64, "regularization": 70.0, "alpha": 12.0},
    },
    "bpr-mf": {
        "ml-100k": {"factors": 32, "lr": 0.02, "regularization": 0.01, "epochs": 50, "fold_in": 0.01},
        "ml-latest-small": {"factors": 128, "regularization": 0.01, "epochs": 50, "fold_in": 0.2},
    },
    "item-knn": {SAMPLE: {"neighbours": 200}, "ml-100k": {"neighbours": 400}},
    "user-knn": {SAMPLE: {"neighbours": 20}, "ml-100k": {"neighbours": 20, "shrink": 1000.0}},
    "user-knn-centred": {
        **{name: {"shrink": 1000.0} for name in ("ml-1m", SAMPLE)},
        "ml-100k": {"neighbours": 20, "shrink": 1000.0},
    },
    "content-tfidf": {SAMPLE: {"half_life": 3.0}, **{name: {"half_life": 2.0} for name in ("ml-1m", "ml-100k")}},
    "content-genre": {"ml-1m": {"half_life": 1.0}, "ml-100k": {"half_life": 3.0}},
    "popular-recent": {"ml-100k": {"half_life": 7.0}},
    "session-popular": {SAMPLE: {"gap": 0.1}, "ml-100k": {"gap": 0.1, "recent": 10}},
}


def nearest_tuned(size: DataSize, needs_training: bool) -> str:
    """Return the tuned data set with the most similar size.

    A network never gets the settings of ml-latest-sample, because many of them were tuned with --also ml-1m.
    """
    if size.users < MAX_USERS_OF_SMALL:
        return "ml-100k" if size.density >= MIN_DENSITY else "ml-latest-small"
    is_like_sample = size.users < MAX_USERS_OF_SAMPLE and size.density < MIN_DENSITY
    return SAMPLE if is_like_sample and not needs_training else "ml-1m"


def scale_to(settings: Any, size: DataSize) -> Any:
    """Return a config adapted to a data set that is much larger or sparser than the data set of its tuning."""
    changes: dict[str, Any] = {}
    if size.items > MANY_ITEMS and getattr(settings, "rank", None) == 0:  # EASE of full rank
        changes["rank"] = LARGE_SET_RANK
    if not hasattr(settings, "schedule") or size.users < MAX_USERS_OF_SMALL:
        return replace(settings, **changes)
    if size.items > MANY_ITEMS and getattr(settings, "loss", "") == "softmax":
        changes |= {"loss": "gbce", "negatives": LARGE_SET_NEGATIVES}
        if getattr(settings, "only_unseen", False):
            changes["only_unseen"] = False  # it needs the softmax over all items
    if size.events < MIN_EVENTS_PER_ITEM * size.items and hasattr(settings, "dropout"):
        changes["dropout"] = max(settings.dropout, SPARSE_SET_DROPOUT)
    return replace(settings, schedule=_scale_schedule(settings.schedule, size), **changes)


def _scale_schedule(schedule: Any, size: DataSize) -> Any:
    """Return a schedule with about as many steps as on ml-1m. Data sets of more than MANY_USERS get larger batches."""
    batch_size = schedule.batch_size
    if size.users > MANY_USERS:
        batch_size = max(batch_size, LARGE_SET_BATCH_SIZE)
    epochs = schedule.epochs * (USERS_OF_ML_1M / size.users) * (batch_size / schedule.batch_size)
    epochs = round(min(max(epochs, MIN_EPOCHS), MAX_EPOCHS_FACTOR * schedule.epochs))
    return replace(schedule, epochs=epochs, batch_size=batch_size, validate_every=max(1, epochs // N_VALIDATIONS))
