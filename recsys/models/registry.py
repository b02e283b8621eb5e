"""The table of recommenders, in the order of the menus. Loads no torch: a model is imported on its first use.

A model is a class. A recommender is a model with a name, a title and settings. To add a recommender, write the file of
its model and add a row to `ROWS`. Settings that are tuned for a data set belong in `presets.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from recsys.config import from_document, replace_settings
from recsys.data import prepared
from recsys.errors import RecsysError
from recsys.models import presets
from recsys.models.presets import DataSize

if TYPE_CHECKING:
    from recsys.models.base import Model
    from recsys.models.count_memory import CountConfigs

# Families, the headings of menus and tables
TRANSFORMERS = "Transformers"
RECURRENT = "Recurrent"
CONVOLUTIONAL = "Convolutional"
ATTENTION = "Attention"
AUTOENCODERS = "Autoencoders"
MIXTURES = "Mixtures"
SIMPLE = "Counting"
NEIGHBOURS = "Neighbours"
FACTORISATION = "Factorisation"
CONTENT = "Content"
FACTORISED_MARKOV = "Markov with factors"
EMBEDDINGS = "Film embeddings"
# title or family in older stored results → title or family today
FORMER_TITLES = {
    "Pool": "Best guess",
    "Popular in the session": "Watched near the last two films",
    "Watched around the last two": "Watched near the last two films",
}
FORMER_FAMILIES = {"Hybrid": MIXTURES, "No learning": SIMPLE}


class UnknownModelError(RecsysError):
    """There is no recommender with this name."""


@dataclass(frozen=True)
class Recommender:
    """A recommender: a model class with settings, a name and a title."""

    name: str  # as on the command line: "sasrec-bce"
    title: str  # as on screen: "SASRec (BCE)"
    family: str  # heading in menus and tables
    model_path: str  # module and class of the model: ".sasrec:SasRec"; a leading dot means in this package
    paper: str = ""  # "arXiv:1808.09781" or "doi:10.1109/ICDM.2008.22"
    settings: Mapping[str, Any] = field(default_factory=dict)  # changes to the defaults of the model's Config
    needs_training: bool = False  # by the command `train`; other recommenders are fitted on first use
    listed: bool = True  # in menus and leaderboards; the others are for studies and are found by name

    @cached_property
    def model_class(self) -> "type[Model]":
        """The model class."""
        module, name = self.model_path.split(":")
        return getattr(import_module(module, __package__), name)

    def preset(self, dataset: str) -> Any:
        """Return settings for a data set: tuned, else scaled to its size. "" and unprepared sets get the defaults."""
        is_unscaled = dataset in ("", *presets.TUNED, *presets.PRESETS.get(self.name, ()))
        size = None if is_unscaled else size_of(dataset)
        if size is None:
            return self._tuned_for(dataset)
        nearest = presets.nearest_tuned(size, self.needs_training)
        return presets.scale_to(self._tuned_for(nearest), size)

    def _tuned_for(self, dataset: str) -> Any:
        """Return the settings tuned for a data set. If there are none, the recommender's defaults."""
        changes = presets.PRESETS.get(self.name, {}).get(dataset, {})
        return replace_settings(self.model_class.Config(), {**self.settings, **changes})

    def read_config(self, document: Mapping[str, Any]) -> Any:
        """Return the settings of a stored document. A removed setting is skipped if it has the value that is now fixed.

        Raises ValueError if a setting is unknown or a value is not allowed.
        """
        removed = self.model_class.former_settings.items()
        return from_document(self.model_class.Config, dict(item for item in document.items() if item not in removed))

    def has_tuned_preset(self, dataset: str) -> bool:
        """Return whether the settings of `preset` were tuned for this data set."""
        is_set_of_tuning = dataset == presets.SET_OF_DEFAULTS or dataset in presets.PRESETS.get(self.name, ())
        return is_set_of_tuning and self.name not in presets.UNTUNED

    def model(self, config: Any = None) -> "Model":
        """Return an unfitted model. Without a config it has the recommender's defaults."""
        return self.model_class(self.preset("") if config is None else config, self.title)

    def members(self, dataset: str) -> tuple[str, ...]:
        """Return the names of the recommenders that this recommender combines on a data set."""
        return self.model(self.preset(dataset)).members


def size_of(dataset: str) -> DataSize | None:
    """Return the size of a prepared data set without reading its events. None: it is not prepared."""
    counts = prepared.metadata(dataset)
    return DataSize(counts["people"], counts["items"], counts["ratings"]) if "people" in counts else None


def names() -> list[str]:
    """Return the names of the listed recommenders in the order of the menus."""
    return [row.name for row in RECOMMENDERS.values() if row.listed]


def with_current_names(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored record about a recommender, with the title and the family of today."""
    title, family = record["title"], record["family"]
    return {**record, "title": FORMER_TITLES.get(title, title), "family": FORMER_FAMILIES.get(family, family)}


def is_listed(name: str) -> bool:
    """Return whether leaderboards may contain the recommender: all names except those of rows with `listed=False`."""
    return name not in RECOMMENDERS or RECOMMENDERS[name].listed


def get(name: str) -> Recommender:
    """Return the recommender with this name, listed or not. Raises UnknownModelError if there is none."""
    if name not in RECOMMENDERS:
        raise UnknownModelError(
            "no recommender is called {name}; choose one of: {names}", name=name, names=", ".join(sorted(names()))
        )
    return RECOMMENDERS[name]


def count_configs(config: Any, dataset: str) -> "CountConfigs | None":
    """Return the presets of `markov` and `ease` for the count memory of a network. None: the network has none."""
    if not getattr(config, "memory", False):
        return None
    from recsys.models.count_memory import CountConfigs  # imports SciPy

    return CountConfigs(get("markov").preset(dataset), get("ease").preset(dataset))


def siblings(name: str) -> list[str]:
    """Return the names of the recommenders with the same model, the given name first."""
    model_path = get(name).model_path
    others = [row.name for row in RECOMMENDERS.values() if row.model_path == model_path and row.name != name]
    return [name, *others]


# Paths of models
BERT4REC = ".bert4rec:Bert4Rec"
BERT4REC_PAPER = ".bert4rec_paper:Bert4RecPaper"
SASREC = ".sasrec:SasRec"
SASREC_PAPER = ".sasrec_paper:SasRecPaper"
GRU4REC = ".gru4rec:Gru4Rec"
POOL = ".pool:Pool"
CONTENT_MODEL = ".content:Content"
MARKOV = ".markov:Markov"
USER_KNN = ".neighbours:UserKnn"

# Settings that differ from the defaults of a model's Config. The Config explains each setting.
# …_ORIGINAL: settings of the papers
MEMORY: Mapping[str, Any] = {"only_unseen": True, "redraw": True, "memory": True}
SIDE = {"genres": True, "decade": True, "popularity": True}
BERT4REC_ORIGINAL = {
    # Section 4.3: learning rate 1e-4 with linear decay, weight decay .01, batches of 256. The authors' code trains for
    # 400,000 batches. Our batches are smaller. The patience is long because validation does not improve in many of the
    # first epochs. Warm-up, dropout and `last_item_mask_prob` are from the authors' code.
    "epochs": 200,
    "lr": 1e-4,
    "warmup_steps": 100,
    "weight_decay": 0.01,
    "ema_decay": 0.0,
    "validate_every": 5,
    "patience": 20,
    "dropout": 0.2,
    "last_item_mask_prob": 1 / 11,
    "init": 0.01,  # truncated at two standard deviations, the paper's range
    "pmi_init": False,
}
SASREC_ORIGINAL = {
    # The learning rate of .001 and batches of 128 are in the paper, the 200 epochs in the authors' code.
    "epochs": 200,
    "batch_size": 128,
    "lr": 1e-3,
    "warmup_steps": 0,
    "ema_decay": 0.0,
    "validate_every": 10,
    "dim": 50,
    "heads": 1,
    "pmi_init": False,
    "loss": "bce",
    "negatives": 1,
}
# gBCE with t = 0 is binary cross-entropy. Our gBCE subtracts log I from the scores, see `losses.py`.
SASREC_BCE = {"epochs": 60, "loss": "gbce", "negatives": 1, "gbce_t": 0.0}
GSASREC = {"epochs": 60, "loss": "gbce"}  # with the 256 negatives and the t of `SequenceConfig`
GRU4REC_BPR = {"epochs": 30, "loss": "bpr", "sampling_power": 0.0}
GRU4REC_TOP1 = {"epochs": 30, "loss": "top1", "sampling_power": 0.0}
# The paper adds 2,048 negatives, drawn by popularity to a power that is tuned for each data set.
GRU4REC_PLUS = {"epochs": 30, "loss": "bpr-max", "negatives": 512, "sampling_power": 0.0}
FEW_FILMS = {"members": ("sasrec-softmax", "bert4rec", "markov", "content-tfidf")}  # for histories of few films
VISITORS = {"members": presets.POOL_MEMBERS, "edges": (2, 3, 5, 10, 50)}  # chosen on validation, docs/experiments.md
FAVOURITES = {"members": presets.FAVOURITES_MEMBERS, "edges": (2, 3, 5, 10, 50)}
FIELDS = {"vectors": "fields", "half_life": 5.0}  # chosen on validation, docs/experiments.md
ON_SEGMENTS = {"crop": "segments", "only_unseen": True, "redraw": True}
NETWORKS = {"members": ("sasrec-memory", "bert4rec-memory", "gru4rec-memory")}

# A row of a recommender that the command `train` trains
trained = partial(Recommender, needs_training=True)

ROWS = (
    trained("bert4rec", "BERT4Rec", TRANSFORMERS, BERT4REC, "arXiv:1904.06690"),
    trained("bert4rec-memory", "BERT4Rec with memory", TRANSFORMERS, BERT4REC, settings=MEMORY),
    trained("sasrec-memory", "SASRec with memory", TRANSFORMERS, SASREC, settings=MEMORY),
    trained("sasrec-bce", "SASRec (BCE)", TRANSFORMERS, SASREC, "arXiv:1808.09781", SASREC_BCE),
    trained("sasrec-softmax", "SASRec (softmax)", TRANSFORMERS, SASREC, "arXiv:2309.07602"),
    trained("sasrec-segments", "SASRec on segments", TRANSFORMERS, SASREC, "arXiv:2309.07602", ON_SEGMENTS),
    trained("bert4rec-paper", "BERT4Rec (paper)", TRANSFORMERS, BERT4REC_PAPER, "arXiv:1904.06690", BERT4REC_ORIGINAL),
    trained("bert4rec-side", "BERT4Rec with details", TRANSFORMERS, ".side:Bert4RecSide", "arXiv:1904.06690", SIDE),
    trained("sasrec-paper", "SASRec (paper)", TRANSFORMERS, SASREC_PAPER, "arXiv:1808.09781", SASREC_ORIGINAL),
    trained("gsasrec", "gSASRec", TRANSFORMERS, SASREC, "arXiv:2308.07192", GSASREC),
    trained("gru4rec-ce", "GRU4Rec (softmax)", RECURRENT, GRU4REC, "arXiv:1511.06939"),
    trained("gru4rec-plus", "GRU4Rec+", RECURRENT, GRU4REC, "arXiv:1706.03847", GRU4REC_PLUS),
    trained("gru4rec-bpr", "GRU4Rec (BPR)", RECURRENT, GRU4REC, "arXiv:1511.06939", GRU4REC_BPR),
    trained("gru4rec-top1", "GRU4Rec (TOP1)", RECURRENT, GRU4REC, "arXiv:1511.06939", GRU4REC_TOP1),
    trained("gru4rec-memory", "GRU4Rec with memory", RECURRENT, GRU4REC, settings=MEMORY),
    trained("lstm", "LSTM (softmax)", RECURRENT, GRU4REC, "arXiv:1511.06939", {"cell": "lstm"}),
    trained("rnn", "RNN (softmax)", RECURRENT, GRU4REC, "arXiv:1511.06939", {"cell": "rnn"}),
    trained("narm", "NARM", RECURRENT, ".narm:Narm", "arXiv:1711.04725"),
    trained("stamp", "STAMP", ATTENTION, ".stamp:Stamp", "doi:10.1145/3219819.3219950"),
    Recommender("pool", "Best guess", MIXTURES, ".visitor_pool:VisitorPool", settings=VISITORS),
    Recommender(
        "pool-favourites", "Best guess (favourites)", MIXTURES, ".visitor_pool:VisitorPool", settings=FAVOURITES
    ),
    Recommender("hybrid", "Hybrid", MIXTURES, POOL),
    Recommender("ensemble", "Ensemble", MIXTURES, POOL, settings=NETWORKS),
    Recommender("hybrid-few", "Hybrid (few films)", MIXTURES, POOL, settings=FEW_FILMS),
    Recommender("lift", "SASRec by lift", MIXTURES, ".lift:Lift", listed=False),
    Recommender("markov", "Markov chain", SIMPLE, MARKOV),
    Recommender("popular", "Most popular", SIMPLE, ".popular:Popular"),
    Recommender("markov-both", "Markov chain (both directions)", SIMPLE, MARKOV, settings={"both_directions": True}),
    Recommender(
        "session-popular", "Watched near the last two films", SIMPLE, ".popular:SessionPopular", "arXiv:1511.06939"
    ),
    Recommender("popular-recent", "Popular lately", SIMPLE, ".popular:PopularRecent"),
    Recommender("item-knn", "Item kNN", NEIGHBOURS, ".neighbours:ItemKnn", "doi:10.1145/963770.963776"),
    Recommender("user-knn", "User kNN", NEIGHBOURS, USER_KNN),
    Recommender("user-knn-centred", "User kNN (centred)", NEIGHBOURS, USER_KNN, settings={"centred": True}),
    Recommender("ials", "ALS", FACTORISATION, ".mf:Als", "doi:10.1109/ICDM.2008.22"),
    Recommender("bpr-mf", "BPR-MF", FACTORISATION, ".mf:BprMf", "arXiv:1205.2618"),
    Recommender("ease", "EASE", FACTORISATION, ".ease:Ease", "arXiv:1905.03375"),
    trained("ncf", "NCF (NeuMF)", FACTORISATION, ".ncf:Ncf", "arXiv:1708.05031"),
    Recommender("ease-low-rank", "EASE (low rank)", FACTORISATION, ".ease:Ease", "arXiv:1905.03375", {"rank": 128}),
    Recommender("mf-explicit", "MF on ratings", FACTORISATION, ".mf_explicit:MfExplicit", "doi:10.1109/MC.2009.263"),
    Recommender("content-tfidf", "Content (TF-IDF)", CONTENT, CONTENT_MODEL, settings={"vectors": "tf-idf"}),
    Recommender("content-fields", "Content (fields)", CONTENT, CONTENT_MODEL, settings=FIELDS),
    Recommender("content-genre", "Content (genres)", CONTENT, CONTENT_MODEL, settings={"vectors": "genres"}),
    Recommender("content-sentence", "Content (sentences)", CONTENT, CONTENT_MODEL, "arXiv:1908.10084"),
    trained("fpmc", "FPMC", FACTORISED_MARKOV, ".fpmc:Fpmc", "doi:10.1145/1772690.1772773"),
    trained("fmc", "FMC", FACTORISED_MARKOV, ".fpmc:Fpmc", "doi:10.1145/1772690.1772773", {"personal": False}),
    trained("transrec", "TransRec", FACTORISED_MARKOV, ".transrec:TransRec", "arXiv:1707.02410"),
    trained("item2vec-skipgram", "item2vec (skip-gram)", EMBEDDINGS, ".item2vec:Item2Vec", "arXiv:1603.04259"),
    trained("item2vec-cbow", "item2vec (CBOW)", EMBEDDINGS, ".item2vec:Item2Vec", "arXiv:1603.04259", {"cbow": True}),
    trained("mult-vae", "Mult-VAE", AUTOENCODERS, ".multvae:MultVae", "arXiv:1802.05814"),
    trained("caser", "Caser", CONVOLUTIONAL, ".caser:Caser", "arXiv:1809.07426"),
    trained("sasrec-side", "SASRec with details", TRANSFORMERS, ".side:SasRecSide", listed=False),
    trained("bert4rec-ablated", "BERT4Rec without a part", TRANSFORMERS, ".ablations:Bert4RecAblated", listed=False),
    trained("sasrec-ablated", "SASRec without a part", TRANSFORMERS, ".ablations:SasRecAblated", listed=False),
)
RECOMMENDERS = {row.name: row for row in ROWS}
