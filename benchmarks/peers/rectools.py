"""RecTools' BERT4Rec on a task: python -m benchmarks.peers.rectools FOLDER RESULT.json, in its own environment.

Sequences are padded on the left to N, as RecTools does; PAD and MASK are its first two items.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from pytorch_lightning import Callback, Trainer, seed_everything
from rectools.dataset import Dataset
from rectools.models import BERT4RecModel

from benchmarks.peers import exchange


class Clock(Callback):
    """Seconds spent in training epochs; kept by the class, because RecTools trains with a copy of its trainer."""

    seconds = 0.0

    def on_train_epoch_start(self, *_: object) -> None:
        """An epoch begins."""
        self.began = time.perf_counter()

    def on_train_epoch_end(self, *_: object) -> None:
        """An epoch has ended."""
        Clock.seconds += time.perf_counter() - self.began


def main(folder: Path, result: Path) -> None:
    """Train, measure, write."""
    warnings.simplefilter("ignore")
    task = exchange.load(folder)
    s = task.settings
    torch.set_num_threads(s.threads)
    seed_everything(s.seed)
    plain = {
        "enable_progress_bar": False,
        "logger": False,
        "enable_checkpointing": False,
        "enable_model_summary": False,
    }
    model = BERT4RecModel(
        n_blocks=s.layers,
        n_heads=s.heads,
        n_factors=s.dim,
        session_max_len=s.length,
        mask_prob=s.mask_prob,
        dropout_rate=s.dropout,
        batch_size=s.batch_size,
        epochs=s.epochs,
        loss="softmax",
        get_trainer_func=lambda **_: Trainer(max_epochs=s.epochs, accelerator="cpu", callbacks=[Clock()], **plain),
    )
    began = time.perf_counter()
    model.fit(as_dataset(task, range(len(task.train))))
    fit_seconds = time.perf_counter() - began
    preparator = model.data_preparator
    if len(preparator.train_dataset.interactions.df) != task.films:
        raise ValueError("RecTools has not taken the sequences whole")
    mask = int(preparator.extra_token_ids["MASK"])
    internal = preparator.item_id_map.convert_to_internal(np.arange(task.n_items))  # (I,)

    def score(sequences: list[np.ndarray]) -> np.ndarray:
        """Logits (M, I) of the hidden films."""
        tokens = np.zeros((len(sequences), s.length), np.int64)
        for row, films in zip(tokens, sequences, strict=True):
            row[-len(films) :] = np.where(films == exchange.HIDDEN, mask, internal[films])
        x = torch.from_numpy(tokens)
        with torch.inference_mode():
            return model.torch_model.eval()({"x": x})[x == mask][:, internal].numpy()

    one = as_dataset(task, [task.query_row])  # the fastest way: a data set of this user alone

    def request() -> list[int]:
        """The top films after the task's history."""
        found = model.recommend(users=[task.query_row], dataset=one, k=exchange.TOP, filter_viewed=True)
        return found["item_id"].tolist()

    torch.set_num_threads(1)
    measured = exchange.measured(task, Clock.seconds, fit_seconds, score, request, "rectools")
    result.write_text(json.dumps(measured))


def as_dataset(task: exchange.Task, rows: list[int] | range) -> Dataset:
    """Training sequences as RecTools wants them; days keep the order."""
    lengths = [len(task.train[row]) for row in rows]
    item = np.concatenate([task.train[row] for row in rows])
    frame = pd.DataFrame({"user_id": np.repeat(np.array(rows), lengths), "item_id": item, "weight": 1})
    frame["datetime"] = pd.Timestamp("2000-01-01") + pd.to_timedelta(np.arange(len(item)), unit="s")
    return Dataset.construct(frame)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
