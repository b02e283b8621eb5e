"""The table of recommenders, in the order of the menus. Loads no torch: a model's file is imported on its first use.

A model is a class. A recommender is a model with a name, a title and settings. To add one, write the model's file and
a row here; settings tuned for a data set go to `presets.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from recsys.config import replace_settings
from recsys.data import prepared
from recsys.errors import RecsysError
from recsys.models import presets
from recsys.models.presets import DataSize

if TYPE_CHECKING:
    from recsys.models.base import Model
    from recsys.models.count_memory import CountConfigs

TRANSFORMERS = "Transformers"
RECURRENT = "Recurrent"
CONVOLUTIONAL = "Convolutional"
ATTENTION = "Attention"
AUTOENCODERS = "Autoencoders"
MIXTURES = "Hybrid"
SIMPLE = "No learning"
NEIGHBOURS = "Neighbours"
FACTORISATION = "Factorisation"
CONTENT = "Content"
FACTORISED_MARKOV = "Markov with factors"
EMBEDDINGS = "Film embeddings"


class UnknownModelError(RecsysError):
    """A name that no recommender has."""


@dataclass(frozen=True)
class Recommender:
    """A recommender: a model class with settings, a name and a title."""

    name: str  # as on the command line: "sasrec-bce"
    title: str  # as on screen: "SASRec (BCE)"
    family: str  # heading of its group in menus and tables
    model_path: str  # the module and class of the model: "recsys.models.sasrec:SasRec"
    paper: str = ""  # "arXiv:1808.09781"
    needs_training: bool = False  # `train` makes it; the others are fitted on first use
    settings: Mapping[str, Any] = field(default_factory=dict)  # changes to the defaults of the model's Config
    listed: bool = True  # in menus and leaderboards; False: for studies only, found by name

    @cached_property
    def model_class(self) -> "type[Model]":
        """The model class."""
        module, name = self.model_path.split(":")
        return getattr(import_module(module), name)

    def preset(self, dataset: str) -> Any:
        """Return the settings for a data set: tuned for it, or derived from its size; "" gives the defaults."""
        default = replace_settings(self.model_class.Config(), self.settings)
        size = None if not dataset or self.is_tuned_for(dataset) else size_of(dataset)
        if size is None:
            return replace_settings(default, presets.changes_for(self.name, dataset))
        nearest = presets.nearest_tuned(size, self.needs_training)
        return presets.scale_to(replace_settings(default, presets.changes_for(self.name, nearest)), size)

    def is_tuned_for(self, dataset: str) -> bool:
        """Whether the settings of `preset` were tuned on this very data set."""
        return presets.is_tuned(self.name, dataset)

    def model(self, config: Any = None) -> "Model":
        """Return an unfitted model; without a config it has the recommender's defaults."""
        return self.model_class(self.preset("") if config is None else config, self.title)

    def members(self, dataset: str) -> tuple[str, ...]:
        """Return the names of the recommenders that it combines, with its settings for a data set."""
        return self.model(self.preset(dataset)).members


def size_of(dataset: str) -> DataSize | None:
    """Return the size of a prepared data set without reading it, None if it is unknown."""
    facts = prepared.about(dataset)
    return DataSize(facts["people"], facts["items"], facts["ratings"]) if "people" in facts else None


def names() -> list[str]:
    """Return the names of the listed recommenders in the order of the menus."""
    return [row.name for row in RECOMMENDERS.values() if row.listed]


def is_listed(name: str) -> bool:
    """Return whether leaderboards may contain the recommender; also true of names without a row."""
    return name not in RECOMMENDERS or RECOMMENDERS[name].listed


def get(name: str) -> Recommender:
    """Return the recommender of that name, listed or not.

    Raises:
        UnknownModelError: If there is none; the message lists the names of the listed ones.
    """
    if name not in RECOMMENDERS:
        raise UnknownModelError(f"no model is called {name}; there are: {', '.join(sorted(names()))}")
    return RECOMMENDERS[name]


def count_configs(config: Any, dataset: str) -> "CountConfigs | None":
    """Return the settings of a network's count memory for a data set, None if its config has no memory.

    They are those of the recommenders `markov` and `ease`.
    """
    if not getattr(config, "memory", False):
        return None
    from recsys.models.count_memory import CountConfigs  # imports SciPy

    return CountConfigs(get("markov").preset(dataset), get("ease").preset(dataset))


def siblings(name: str) -> list[str]:
    """Return the recommenders with the same model, the given one first."""
    model_path = get(name).model_path
    return sorted(
        (row.name for row in RECOMMENDERS.values() if row.model_path == model_path), key=lambda row: row != name
    )


BERT4REC = "recsys.models.bert4rec:Bert4Rec"
SASREC = "recsys.models.sasrec:SasRec"
GRU4REC = "recsys.models.gru4rec:Gru4Rec"
POOL = "recsys.models.pool:Pool"
CONTENT_MODEL = "recsys.models.content:Content"
EASE = "recsys.models.ease:Ease"
ITEM2VEC = "recsys.models.item2vec:Item2Vec"
MEMORY: Mapping[str, Any] = {"only_unseen": True, "redraw": True, "memory": True}

BERT4REC_PAPER = {
    # Section 4.3: rate 1e-4, weight decay .01, linear decay, batches of 256; in the authors' code 400,000 of them.
    # Validation does not improve for many epochs at first: hence the patience.
    "epochs": 200,
    "lr": 1e-4,
    "warmup_steps": 100,
    "weight_decay": 0.01,
    "ema_decay": 0.0,
    "validate_every": 5,
    "patience": 20,
    "dropout": 0.2,
    "last_item_mask_prob": 1 / 11,
    "relative_bias": False,
    "pre_norm": False,
    "projection": True,
    "init": 0.01,  # truncated at two standard deviations: the paper's range
    "pmi_init": False,
}
SASREC_PAPER = {
    # Adam's rate of .001 and batches of 128 are the paper's, 200 epochs the authors' code's
    "epochs": 200,
    "batch_size": 128,
    "lr": 1e-3,
    "warmup_steps": 0,
    "ema_decay": 0.0,
    "validate_every": 10,
    "dim": 50,
    "heads": 1,
    "relative_bias": False,
    "pmi_init": False,
    "loss": "bce",
    "negatives": 1,
    "widening": 1,
    "relu": True,
    "item_bias": False,
}
SASREC_BCE = {"epochs": 60, "loss": "gbce", "negatives": 1, "gbce_t": 0.0}  # gBCE with t = 0 is BCE
GRU4REC_BPR = {"epochs": 30, "loss": "bpr", "sampling_power": 0.0}
GRU4REC_TOP1 = {"epochs": 30, "loss": "top1", "sampling_power": 0.0}
# The paper draws 2,048 more negatives by popularity to a power that it tunes for each data set.
GRU4REC_PLUS = {"epochs": 30, "loss": "bpr-max", "negatives": 512, "sampling_power": 0.0}
FEW_FILMS = {"members": ("sasrec-softmax", "bert4rec", "markov", "content-tfidf")}
VISITORS = {"members": presets.POOL_MEMBERS, "edges": (2, 3, 5, 10, 50)}  # chosen on validation, assets/experiments.md
NETWORKS = {"members": ("sasrec-memory", "bert4rec-memory", "gru4rec-memory")}

RECOMMENDERS: dict[str, Recommender] = {
    row.name: row
    for row in (
        Recommender("bert4rec", "BERT4Rec", TRANSFORMERS, BERT4REC, "arXiv:1904.06690", True),
        Recommender("bert4rec-memory", "BERT4Rec with memory", TRANSFORMERS, BERT4REC, "", True, MEMORY),
        Recommender("sasrec-memory", "SASRec with memory", TRANSFORMERS, SASREC, "", True, MEMORY),
        Recommender("sasrec-bce", "SASRec (BCE)", TRANSFORMERS, SASREC, "arXiv:1808.09781", True, SASREC_BCE),
        Recommender("sasrec-softmax", "SASRec (softmax)", TRANSFORMERS, SASREC, "arXiv:2309.07602", True),
        Recommender(
            "bert4rec-paper", "BERT4Rec (paper)", TRANSFORMERS, BERT4REC, "arXiv:1904.06690", True, BERT4REC_PAPER
        ),
        Recommender(
            "bert4rec-side",
            "BERT4Rec with details",
            TRANSFORMERS,
            BERT4REC,
            "arXiv:1904.06690",
            True,
            {"genres": True, "decade": True, "popularity": True},
        ),
        Recommender("sasrec-paper", "SASRec (paper)", TRANSFORMERS, SASREC, "arXiv:1808.09781", True, SASREC_PAPER),
        Recommender(
            "gsasrec", "gSASRec", TRANSFORMERS, SASREC, "arXiv:2308.07192", True, {"epochs": 60, "loss": "gbce"}
        ),
        Recommender("gru4rec-ce", "GRU4Rec (softmax)", RECURRENT, GRU4REC, "arXiv:1511.06939", True),
        Recommender("gru4rec-plus", "GRU4Rec+", RECURRENT, GRU4REC, "arXiv:1706.03847", True, GRU4REC_PLUS),
        Recommender("gru4rec-bpr", "GRU4Rec (BPR)", RECURRENT, GRU4REC, "arXiv:1511.06939", True, GRU4REC_BPR),
        Recommender("gru4rec-top1", "GRU4Rec (TOP1)", RECURRENT, GRU4REC, "arXiv:1511.06939", True, GRU4REC_TOP1),
        Recommender("gru4rec-memory", "GRU4Rec with memory", RECURRENT, GRU4REC, "", True, MEMORY),
        Recommender("lstm", "LSTM (softmax)", RECURRENT, GRU4REC, "arXiv:1511.06939", True, {"cell": "lstm"}),
        Recommender("rnn", "RNN (softmax)", RECURRENT, GRU4REC, "arXiv:1511.06939", True, {"cell": "rnn"}),
        Recommender("narm", "NARM", RECURRENT, "recsys.models.narm:Narm", "arXiv:1711.04725", True),
        Recommender("stamp", "STAMP", ATTENTION, "recsys.models.stamp:Stamp", "doi:10.1145/3219819.3219950", True),
        Recommender("pool", "Pool", MIXTURES, "recsys.models.pool:VisitorPool", settings=VISITORS),
        Recommender("hybrid", "Hybrid", MIXTURES, POOL),
        Recommender("ensemble", "Ensemble", MIXTURES, POOL, settings=NETWORKS),
        Recommender("hybrid-few", "Hybrid (few films)", MIXTURES, POOL, settings=FEW_FILMS),
        Recommender("lift", "SASRec by lift", MIXTURES, "recsys.models.lift:Lift", listed=False),
        Recommender("markov", "Markov chain", SIMPLE, "recsys.models.markov:Markov"),
        Recommender("popular", "Most popular", SIMPLE, "recsys.models.popular:Popular"),
        Recommender(
            "markov-both",
            "Markov chain (both directions)",
            SIMPLE,
            "recsys.models.markov:Markov",
            settings={"both_directions": True},
        ),
        Recommender(
            "session-popular",
            "Popular in the session",
            SIMPLE,
            "recsys.models.popular:SessionPopular",
            "arXiv:1511.06939",
        ),
        Recommender("popular-recent", "Popular lately", SIMPLE, "recsys.models.popular:PopularRecent"),
        Recommender(
            "item-knn", "Item kNN", NEIGHBOURS, "recsys.models.neighbours:ItemKnn", "doi:10.1145/963770.963776"
        ),
        Recommender("user-knn", "User kNN", NEIGHBOURS, "recsys.models.neighbours:UserKnn"),
        Recommender(
            "user-knn-centred",
            "User kNN (centred)",
            NEIGHBOURS,
            "recsys.models.neighbours:UserKnn",
            settings={"centred": True},
        ),
        Recommender("ials", "ALS", FACTORISATION, "recsys.models.mf:Als", "doi:10.1109/ICDM.2008.22"),
        Recommender("bpr-mf", "BPR-MF", FACTORISATION, "recsys.models.mf:BprMf", "arXiv:1205.2618"),
        Recommender("ease", "EASE", FACTORISATION, EASE, "arXiv:1905.03375"),
        Recommender("ncf", "NCF (NeuMF)", FACTORISATION, "recsys.models.ncf:Ncf", "arXiv:1708.05031", True),
        Recommender(
            "ease-low-rank", "EASE (low rank)", FACTORISATION, EASE, "arXiv:1905.03375", settings={"rank": 128}
        ),
        Recommender(
            "mf-explicit",
            "MF on ratings",
            FACTORISATION,
            "recsys.models.mf_explicit:MfExplicit",
            "doi:10.1109/MC.2009.263",
        ),
        Recommender("content-tfidf", "Content (TF-IDF)", CONTENT, CONTENT_MODEL, settings={"vectors": "tf-idf"}),
        Recommender("content-genre", "Content (genres)", CONTENT, CONTENT_MODEL, settings={"vectors": "genres"}),
        Recommender("content-sentence", "Content (sentences)", CONTENT, CONTENT_MODEL, "arXiv:1908.10084"),
        Recommender("fpmc", "FPMC", FACTORISED_MARKOV, "recsys.models.fpmc:Fpmc", "doi:10.1145/1772690.1772773", True),
        Recommender(
            "fmc",
            "FMC",
            FACTORISED_MARKOV,
            "recsys.models.fpmc:Fpmc",
            "doi:10.1145/1772690.1772773",
            True,
            {"personal": False},
        ),
        Recommender(
            "transrec", "TransRec", FACTORISED_MARKOV, "recsys.models.transrec:TransRec", "arXiv:1707.02410", True
        ),
        Recommender("item2vec-skipgram", "item2vec (skip-gram)", EMBEDDINGS, ITEM2VEC, "arXiv:1603.04259", True),
        Recommender("item2vec-cbow", "item2vec (CBOW)", EMBEDDINGS, ITEM2VEC, "arXiv:1603.04259", True, {"cbow": True}),
        Recommender("mult-vae", "Mult-VAE", AUTOENCODERS, "recsys.models.multvae:MultVae", "arXiv:1802.05814", True),
        Recommender("caser", "Caser", CONVOLUTIONAL, "recsys.models.caser:Caser", "arXiv:1809.07426", True),
    )
}
