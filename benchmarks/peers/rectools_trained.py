"""RecTools' SASRec or BERT4Rec for a given time: python -m benchmarks.peers.rectools_trained FOLDER RESULT.json MODEL.

Settings: those of RecTools' own benchmark on MovieLens 1M (github.com/blondered/bert4rec_repro): 256 dimensions, four
heads, two blocks, the newest 100 films, Adam at 1e-3, softmax. Sequences are padded on the left.
"""

import json
import sys
import warnings
from copy import deepcopy
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from pytorch_lightning import Callback, Trainer, seed_everything
from rectools.dataset import Dataset
from rectools.models import BERT4RecModel, SASRecModel

from benchmarks.peers import course

SETTINGS = {"n_factors": 256, "n_heads": 4, "n_blocks": 2, "session_max_len": 100, "lr": 0.001, "loss": "softmax"}
MODELS = {"sasrec": (SASRecModel, {}), "bert4rec": (BERT4RecModel, {"mask_prob": 0.15})}
FOREVER = 100_000  # epochs; the clock ends the training
NEVER = -1e9  # the score of a film that nobody's training films hold


class Clock(Callback):
    """Tells the course of each batch and ends the training; class-wide, for RecTools trains with a copy of it."""

    course: course.Course

    def on_train_start(self, *_: object) -> None:
        """Training begins."""
        Clock.course.begin()

    def on_train_batch_end(self, trainer: Trainer, module: torch.nn.Module, outputs: object, batch: dict, *_) -> None:
        """A batch is done."""
        if Clock.course.batch_done(len(batch["x"])):
            trainer.should_stop = True
        module.train()


def main(folder: Path, result: Path, name: str) -> None:
    """Train, rank, write."""
    warnings.simplefilter("ignore")
    task = course.load(folder)
    torch.set_num_threads(task.limits.threads)
    seed_everything(task.limits.seed, verbose=False)
    architecture, own = MODELS[name]
    plain = {"enable_progress_bar": False, "logger": False, "enable_checkpointing": False}
    plain["enable_model_summary"] = False
    model = architecture(
        **SETTINGS,
        **own,
        epochs=FOREVER,
        get_trainer_func=lambda **_: Trainer(
            max_epochs=FOREVER, min_epochs=0, accelerator="cpu", callbacks=[Clock()], **plain
        ),
    )

    def network() -> torch.nn.Module:
        return model.lightning_model.torch_model

    def score(histories: list[np.ndarray]) -> np.ndarray:
        """Scores (B, I) of what comes next."""
        preparator = model.data_preparator
        known = preparator.get_known_item_ids().astype(np.int64)  # not those of people with a single film
        internal = np.full(task.n_items, -1)
        internal[known] = preparator.item_id_map.convert_to_internal(known)
        width = SETTINGS["session_max_len"]
        tokens = np.zeros((len(histories), width), np.int64)
        for row, films in zip(tokens, histories, strict=True):
            seen = internal[films]
            seen = seen[seen >= 0]
            if name == "bert4rec":
                seen = np.append(seen, preparator.extra_token_ids["MASK"])
            row[width - min(len(seen), width) :] = seen[-width:]
        with torch.inference_mode():
            logits = network().eval()({"x": torch.from_numpy(tokens)})[:, -1].numpy()
        scores = np.full((len(histories), task.n_items), NEVER, np.float32)
        scores[:, known] = logits[:, internal[known]]
        return scores

    Clock.course = course.Course(
        task, score, lambda: deepcopy(network().state_dict()), lambda state: network().load_state_dict(state)
    )
    model.fit(as_dataset(task))
    used = SETTINGS | own | {"batch_size": model.batch_size, "dropout_rate": model.dropout_rate}
    ended = Clock.course.result(f"rectools {name}", len(task.train), used, result.with_suffix(".npy"))
    result.write_text(json.dumps(ended))


def as_dataset(task: course.Task) -> Dataset:
    """The training films as RecTools wants them; days keep the order."""
    lengths = [len(films) for films in task.train]
    item = np.concatenate(task.train)
    frame = pd.DataFrame({"user_id": np.repeat(np.arange(len(lengths)), lengths), "item_id": item, "weight": 1})
    frame["datetime"] = pd.Timestamp("2000-01-01") + pd.to_timedelta(np.arange(len(item)), unit="s")
    return Dataset.construct(frame)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3])
