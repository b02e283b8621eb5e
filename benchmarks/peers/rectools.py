"""Train models of RecTools, in its own environment.

    python -m benchmarks.peers.rectools FOLDER                    a speed task with BERT4Rec
    python -m benchmarks.peers.rectools FOLDER sasrec|bert4rec    a quality task

Sequences are padded on the left, as in RecTools. A quality task uses the settings of RecTools' own benchmark on ML-1M
(github.com/blondered/bert4rec_repro). FOLDER holds a task that `benchmarks.peers.task.save` wrote.
"""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from pytorch_lightning import Callback, Trainer, seed_everything
from rectools.dataset import Dataset
from rectools.models import BERT4RecModel, SASRecModel

from benchmarks.peers.task import MASK, UNTRAINED_SCORE, K, QualityTask, SpeedTask, TimedTraining, main, speed_result

QUALITY_SETTINGS = {
    "n_factors": 256,
    "n_heads": 4,
    "n_blocks": 2,
    "session_max_len": 100,
    "lr": 0.001,
    "loss": "softmax",
}
MODELS = {"sasrec": (SASRecModel, {}), "bert4rec": (BERT4RecModel, {"mask_prob": 0.15})}
MAX_EPOCHS = 100_000  # never reached, because a quality task ends after a given CPU time
QUIET = {
    "enable_progress_bar": False,
    "logger": False,
    "enable_checkpointing": False,
    "enable_model_summary": False,
}


class EpochTimer(Callback):
    """Add up the seconds of training epochs. The sum is a class attribute, because RecTools copies its trainer."""

    seconds = 0.0

    def on_train_epoch_start(self, *_: object) -> None:
        """Start the clock."""
        self.start = time.perf_counter()

    def on_train_epoch_end(self, *_: object) -> None:
        """Add the time of the epoch."""
        EpochTimer.seconds += time.perf_counter() - self.start


class BatchCounter(Callback):
    """Report each batch to `training`, and stop when the training is over.

    `training` is a class attribute, because RecTools copies its trainer.
    """

    training: TimedTraining

    def on_train_start(self, *_: object) -> None:
        """Start the clock."""
        BatchCounter.training.start()

    def on_train_batch_end(self, trainer: Trainer, module: torch.nn.Module, outputs: object, batch: dict, *_) -> None:
        """Report the size of the batch."""
        BatchCounter.training.count_batch(len(batch["x"]))
        if BatchCounter.training.is_over:
            trainer.should_stop = True
        module.train()  # `count_batch` may have validated in eval mode


def measure_speed(task: SpeedTask, folder: Path) -> dict[str, Any]:
    """Train BERT4Rec on a speed task and return the figures."""
    settings = task.settings
    torch.set_num_threads(settings.threads)
    seed_everything(settings.seed)
    model = BERT4RecModel(
        n_blocks=settings.layers,
        n_heads=settings.heads,
        n_factors=settings.dim,
        session_max_len=settings.length,
        mask_prob=settings.mask_prob,
        dropout_rate=settings.dropout,
        batch_size=settings.batch_size,
        epochs=settings.epochs,
        loss="softmax",
        get_trainer_func=lambda **_: Trainer(
            max_epochs=settings.epochs, accelerator="cpu", callbacks=[EpochTimer()], **QUIET
        ),
    )
    start = time.perf_counter()
    model.fit(as_dataset(task.train, range(len(task.train))))
    fit_seconds = time.perf_counter() - start
    preparator = model.data_preparator
    if len(preparator.train_dataset.interactions.df) != task.n_interactions:
        raise ValueError("RecTools has not trained on all interactions")
    mask = int(preparator.extra_token_ids["MASK"])
    token_of_item = preparator.item_id_map.convert_to_internal(np.arange(task.n_items))  # (I,) tokens of RecTools

    def score(sequences: list[np.ndarray]) -> np.ndarray:
        """Return logits (M, I) of the masked items of all sequences."""
        tokens = np.zeros((len(sequences), settings.length), np.int64)
        for row, items in zip(tokens, sequences, strict=True):
            row[-len(items) :] = np.where(items == MASK, mask, token_of_item[items])
        token_tensor = torch.from_numpy(tokens)
        with torch.inference_mode():
            return model.torch_model.eval()({"x": token_tensor})[token_tensor == mask][:, token_of_item].numpy()

    single_user = as_dataset(task.train, [task.query_row])  # with fewer users, RecTools answers faster

    def request() -> list[int]:
        table = model.recommend(users=[task.query_row], dataset=single_user, k=K, filter_viewed=True)
        return table["item_id"].tolist()

    torch.set_num_threads(1)  # requests are timed on one core
    return speed_result(task, EpochTimer.seconds, fit_seconds, score, request, "rectools")


def measure_quality(task: QualityTask, folder: Path, name: str) -> dict[str, Any]:
    """Train a model on a quality task, write the test ranks and return the figures."""
    torch.set_num_threads(task.limits.threads)
    seed_everything(task.limits.seed, verbose=False)
    model_class, model_settings = MODELS[name]
    model = model_class(
        **QUALITY_SETTINGS,
        **model_settings,
        epochs=MAX_EPOCHS,
        get_trainer_func=lambda **_: Trainer(
            max_epochs=MAX_EPOCHS, min_epochs=0, accelerator="cpu", callbacks=[BatchCounter()], **QUIET
        ),
    )

    def network() -> torch.nn.Module:
        return model.lightning_model.torch_model

    def score(histories: list[np.ndarray]) -> np.ndarray:
        """Return scores (B, I) of the next items."""
        preparator = model.data_preparator
        # RecTools leaves out items that occur only in histories with a single item
        items_in_model = preparator.get_known_item_ids().astype(np.int64)
        token_of_item = np.full(task.n_items, -1)  # (I,) tokens of RecTools, -1: not in the model
        token_of_item[items_in_model] = preparator.item_id_map.convert_to_internal(items_in_model)
        width = QUALITY_SETTINGS["session_max_len"]
        tokens = np.zeros((len(histories), width), np.int64)
        for row, items in zip(tokens, histories, strict=True):
            history = token_of_item[items]
            history = history[history >= 0]
            if name == "bert4rec":
                history = np.append(history, preparator.extra_token_ids["MASK"])
            row[width - min(len(history), width) :] = history[-width:]
        with torch.inference_mode():
            logits = network().eval()({"x": torch.from_numpy(tokens)})[:, -1].numpy()
        scores = np.full((len(histories), task.n_items), UNTRAINED_SCORE, np.float32)
        scores[:, items_in_model] = logits[:, token_of_item[items_in_model]]
        return scores

    training = BatchCounter.training = TimedTraining(task, score, network)
    model.fit(as_dataset(task.train, range(len(task.train))))
    settings: dict[str, Any] = QUALITY_SETTINGS | model_settings
    settings |= {"batch_size": model.batch_size, "dropout_rate": model.dropout_rate}
    return training.result(f"rectools {name}", sequences_per_epoch=len(task.train), settings=settings, folder=folder)


def as_dataset(sequences: list[np.ndarray], rows: list[int] | range) -> Dataset:
    """Return some rows of the sequences as a data set of RecTools, with made-up times in the order of the items."""
    lengths = [len(sequences[row]) for row in rows]
    item = np.concatenate([sequences[row] for row in rows])
    frame = pd.DataFrame({"user_id": np.repeat(np.array(rows), lengths), "item_id": item, "weight": 1})
    frame["datetime"] = pd.Timestamp("2000-01-01") + pd.to_timedelta(np.arange(len(item)), unit="s")
    return Dataset.construct(frame)


if __name__ == "__main__":
    main(measure_speed, measure_quality)
