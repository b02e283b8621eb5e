"""Our own BERT4Rec on a task: python -m benchmarks.peers.ours FOLDER RESULT.json."""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch

from benchmarks.peers import exchange
from recsys.bench.shapes import catalog
from recsys.data.dataset import Dataset, Interactions
from recsys.models import registry
from recsys.models.ablations import Bert4RecAblated, Bert4RecAblatedConfig
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import Request, recommend
from recsys.training.options import RunOptions, TrainConfig

LR, WARMUP = 4e-3, 10  # of a run of some fifty steps; RecTools and RecBole keep their defaults too: 1e-3, no warm-up


def main() -> None:
    """Train, measure, write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("result", type=Path)
    parser.add_argument("--random-start", action="store_true", help="no PMI initialisation")
    parser.add_argument("--relative-bias", action="store_true", help="in place of position embeddings, as shipped")
    parser.add_argument("--precision", default="fp32")
    options = parser.parse_args()
    task = exchange.load(options.folder)
    s = task.settings
    torch.set_num_threads(s.threads)
    config = Bert4RecAblatedConfig(
        schedule=TrainConfig(epochs=s.epochs, batch_size=s.batch_size, lr=LR, warmup_steps=WARMUP),
        **{name: getattr(s, name) for name in ("layers", "heads", "dim", "length", "mask_prob", "dropout")},
        last_item_mask_prob=0.0,
        without="nothing" if options.relative_bias else "relative bias",  # the peers have position embeddings
        pmi_init=not options.random_start,
    )
    events: list[dict] = []
    dataset = as_dataset(task)
    run = RunOptions(seed=s.seed, device="cpu", precision=options.precision, report=events.append)
    began = time.perf_counter()
    model = Bert4RecAblated(config).fit(dataset, None, run)
    fit_seconds = time.perf_counter() - began

    def score(sequences: list[np.ndarray]) -> np.ndarray:
        """Logits (M, I) of the hidden films."""
        module = model.module
        tokens = np.full((len(sequences), s.length), module.padding)
        for row, films in zip(tokens, sequences, strict=True):
            row[: len(films)] = np.where(films == exchange.HIDDEN, module.mask, films)
        x = torch.from_numpy(tokens)
        with torch.inference_mode():
            return module.logits(module(x)[x == module.mask]).numpy()

    def request() -> list[int]:
        """The top films after the task's history."""
        return [one.item for one in recommend(predictor, asked)]

    predictor = Predictor(dataset, registry.get("bert4rec"), model)
    asked = Request(tuple(task.query.tolist()), exchange.TOP)
    torch.set_num_threads(1)
    seconds = events[-1]["seconds"]
    options.result.write_text(json.dumps(exchange.measured(task, seconds, fit_seconds, score, request, "")))


def as_dataset(task: exchange.Task) -> Dataset:
    """The training sequences as a data set; the film ids are the items plus one."""
    lengths = [len(films) for films in task.train]
    item = np.concatenate(task.train).astype(np.int32)
    user = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    events = Interactions(user, item, np.ones(len(item), np.float32), np.arange(len(item)))
    return Dataset("task", catalog(task.n_items), events, np.arange(len(lengths)))


if __name__ == "__main__":
    main()
