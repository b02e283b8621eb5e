"""GRU4Rec: one recurrent layer reads a history film by film (Hidasi et al., ICLR 2016, arXiv:1511.06939).

Variants differ in the loss: the softmax over all films (gru4rec-ce), the first paper's BPR and TOP1 (gru4rec-bpr,
gru4rec-top1), BPR-max against extra films drawn by popularity (gru4rec-plus, CIKM 2018, arXiv:1706.03847). Unlike the
papers: a history is one sequence, learnt from as a whole, not cut into sessions that run in parallel; negatives are
drawn films, not the targets of the rest of the batch; the output shares its weights with the input embeddings (the
second paper's "constrained embeddings"), behind a linear map and a LayerNorm; scores are not squashed by tanh or ELU;
torch's cell resets the product of the state, not the state; a start token answers for an empty history; AdamW with a
rate that falls linearly, and averaged weights. What each choice brought is written down in assets/experiments.md.

Shapes: B sequences, T positions, Q of them asked for, D dimensions, H units of the recurrent layer.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from torch import Tensor, nn

from recsys.data.schema import Dataset
from recsys.models._sequence import SequenceConfig, SequenceModule, SequenceRecommender, initialise
from recsys.models._start import head_start
from recsys.models._transformer import Dropout, pick


@dataclass(frozen=True)
class Gru4RecConfig(SequenceConfig):
    """Sizes and choices of GRU4Rec."""

    epochs: int = 50
    batch_size: int = 64  # a GRU goes from film to film: a larger batch costs it little more
    validate_every: int = 5
    hidden: int = 128  # units of the recurrent layer
    init: float = 0.05  # standard deviation of the first weights of the embeddings
    head_start: bool = True  # begin with neighbours' vectors (_start.py), not with random embeddings


@dataclass(frozen=True)
class BprConfig(Gru4RecConfig):
    """The pair: the target is to score above each of the films drawn."""

    epochs: int = 30
    loss: str = "bpr"
    popularity: float = 0.0


@dataclass(frozen=True)
class Top1Config(Gru4RecConfig):
    """The first paper's own loss."""

    epochs: int = 30
    loss: str = "top1"
    popularity: float = 0.0


@dataclass(frozen=True)
class PlusConfig(Gru4RecConfig):
    """The second paper's loss; it draws 2,048 extra films, by popularity to a power that it tunes for each data set."""

    epochs: int = 30
    loss: str = "bpr-max"
    negatives: int = 512
    popularity: float = 0.0


def for_few_users(variant: str, config: Gru4RecConfig) -> dict[tuple[str, str], Any]:
    """Presets for the sets of some hundred users."""
    few = replace(config, batch_size=16, dropout=0.3, epochs=30, averaging=0.995, warmup=100, validate_every=3)
    return {(variant, name): few for name in ("ml-100k", "ml-latest-small")}


class Gru4RecModule(SequenceModule):
    """Item embeddings, one GRU layer, a linear map back to the width of an embedding."""

    def __init__(self, config: Gru4RecConfig, n_items: int) -> None:
        super().__init__(n_items, config.dim)
        self.dropout = Dropout(config.dropout)
        self.gru = nn.GRU(config.dim, config.hidden, batch_first=True)
        self.project = nn.Linear(config.hidden, config.dim)
        self.norm = nn.LayerNorm(config.dim)
        initialise(self, config.init)

    def forward(self, tokens: Tensor, at: Tensor | None = None) -> Tensor:
        """Tokens (B, T) → states (B, T, D), or those at the positions `at` (B, Q) only: (B, Q, D).

        Padding stands at the end, and what comes out there is nobody's state.
        """
        states = self.gru(self.dropout(self.items(tokens)))[0]  # (B, T, H)
        return self.norm(self.project(self.dropout(pick(states, at))))


class Gru4RecCe(SequenceRecommender):
    """The state after the newest film asks for the next one; the loss is the softmax over all films."""

    title: ClassVar[str] = "GRU4Rec, softmax"
    paper: ClassVar[str] = "arXiv:1511.06939"
    family: ClassVar[str] = "Recurrent"
    Config: ClassVar[type] = Gru4RecConfig  # its defaults are for ML-1M
    presets: ClassVar[dict[tuple[str, str], Any]] = for_few_users("gru4rec-ce", Gru4RecConfig())
    config: Gru4RecConfig
    module: Gru4RecModule

    def build(self, n_items: int) -> Gru4RecModule:
        """A fresh module."""
        return Gru4RecModule(self.config, n_items)

    def begin(self, module: Gru4RecModule, train: Dataset, seed: int) -> None:
        """The head start, unless it is switched off."""
        if self.config.head_start:
            head_start(module.items, None, train, self.config.init, seed)


class Gru4RecBpr(Gru4RecCe):
    """With the loss of factorisation, the first of two in the first paper."""

    title: ClassVar[str] = "GRU4Rec, BPR"
    Config: ClassVar[type] = BprConfig
    presets: ClassVar[dict[tuple[str, str], Any]] = for_few_users("gru4rec-bpr", BprConfig())


class Gru4RecTop1(Gru4RecCe):
    """With the loss that the first paper devised."""

    title: ClassVar[str] = "GRU4Rec, TOP1"
    Config: ClassVar[type] = Top1Config
    presets: ClassVar[dict[tuple[str, str], Any]] = for_few_users("gru4rec-top1", Top1Config())


class Gru4RecPlus(Gru4RecCe):
    """With the loss of the second paper: BPR-max against many films."""

    title: ClassVar[str] = "GRU4Rec+"
    paper: ClassVar[str] = "arXiv:1706.03847"
    Config: ClassVar[type] = PlusConfig
    presets: ClassVar[dict[tuple[str, str], Any]] = for_few_users("gru4rec-plus", PlusConfig())


VARIANTS = {
    "gru4rec-ce": Gru4RecCe,
    "gru4rec-bpr": Gru4RecBpr,
    "gru4rec-top1": Gru4RecTop1,
    "gru4rec-plus": Gru4RecPlus,
}
