"""A small world on disk for tests of the app: generated histories over the films of the ready-made lists.

Everybody watches the films in the order of `TITLES`, round and round, so the film after TITLES[i] is TITLES[i + 1].
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from recsys import checkpoints, paths
from recsys.data import datasets, prepared
from recsys.data.dataset import Catalog, Dataset
from recsys.data.split import LEAVE_ONE_OUT
from recsys.models import registry
from recsys.models.bert4rec import Bert4RecConfig
from recsys.training.options import TrainConfig
from tests import toys
from tests.models.configs import changed

TITLES = [  # three ready-made lists that older sets have, too
    *("Star Wars (1977)", "Star Wars: Episode IV - A New Hope (1977)", "Blade Runner (1982)", "Alien (1979)"),
    *("The Terminator (1984)", "Back to the Future (1985)", "Twelve Monkeys (1995)"),
    *("Aladdin (1992)", "The Lion King (1994)", "Beauty and the Beast (1991)", "Pinocchio (1940)", "Toy Story (1995)"),
    *("GoodFellas (1990)", "Reservoir Dogs (1992)", "Pulp Fiction (1994)", "Seven (1995)", "Heat (1995)"),
    "Fargo (1996)",
]
TITLES += [f"Film {number} (2000)" for number in range(len(TITLES), 30)]
RARE = "Rare Bird (1999)"
SIZES = Bert4RecConfig(
    schedule=TrainConfig(epochs=30, batch_size=32, lr=1e-2, warmup_steps=20),
    dim=32,
    heads=2,
    layers=1,
    length=24,
    dropout=0.0,
    last_item_mask_prob=0.7,
)


def build(name: str = "ml-latest-sample", titles: list[str] = TITLES, first_id: int = 1) -> Dataset:
    """The data set, unsaved; film i has the id `first_id + i`, and the one that training left out comes last."""
    cycle = toys.cycle(len(titles))
    return replace(cycle, name=name, catalog=Catalog(films(titles, first_id), films([RARE], first_id + len(titles))))


def films(titles: list[str], first_id: int) -> pd.DataFrame:
    """Rows of a film table."""
    table = toys.catalog(len(titles)).movies.assign(movie_id=np.arange(len(titles)) + first_id)
    table["title"] = [title[:-7] for title in titles]
    table["year"] = pd.array([int(re.search(r"\((\d+)\)$", title)[1]) for title in titles], dtype="Int64")
    return table


def furnish(home: Path) -> None:
    """Put the data set and a BERT4Rec that knows it into a home folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECSYS_HOME", str(home))
        dataset = build()
        save(dataset)
        train(dataset)


def save(dataset: Dataset) -> None:
    """Put a data set where the app looks for it."""
    prepared.save(dataset, toys.ARCHIVE)


def train(dataset: Dataset, config: Any = SIZES, name: str = "bert4rec") -> None:
    """Keep a small network that has learnt something of the order of the films."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # so small a model only waits for more of them
    model = registry.get(name).model(config).fit(LEAVE_ONE_OUT(dataset).train)
    torch.set_num_threads(threads)
    checkpoints.save(name, model, dataset, seed=0)


def train_best() -> None:
    """Keep a small one of what the app begins with: else the one in assets/ is found, which knows other films."""
    quick = {"epochs": 20, "lr": 1e-2, "warmup_steps": 20, "ema_decay": 0.9}
    settings = changed(registry.get("sasrec-memory").preset(""), dim=16, length=24, **quick)
    train(datasets.load("ml-latest-sample"), settings, "sasrec-memory")


def untrain() -> None:
    """Take the BERT4Rec away again."""
    (paths.checkpoint("ml-latest-sample", LEAVE_ONE_OUT.name, "bert4rec", 0) / checkpoints.META).unlink()
