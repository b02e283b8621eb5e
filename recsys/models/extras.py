"""Three settings beyond the papers, which raise NDCG@10 of SASRec, BERT4Rec and GRU4Rec alike. Loads no torch."""

from dataclasses import dataclass, replace
from typing import TypeVar

from recsys.training.config import Settings, added


@dataclass(frozen=True, kw_only=True)
class Extras(Settings):
    """What `NeuralRecommender` trains otherwise, or adds to what was trained."""

    only_unseen: bool = added(False)  # the softmax leaves out what the history holds, which is never recommended
    redraw: bool = added(False)  # films of one second, whose order was drawn, stand in another order in each epoch
    memory: bool = added(False)  # counts of what follows and what goes together are added to the trained logits


Config = TypeVar("Config", bound=Extras)


def remembering(config: Config) -> Config:
    """The same settings with what has raised NDCG@10 on validation, on sets without an order of files to learn."""
    return replace(config, only_unseen=True, redraw=True, memory=True)
