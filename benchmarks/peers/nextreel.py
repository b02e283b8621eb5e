"""Train the BERT4Rec of this project on a speed task: python -m benchmarks.peers.nextreel FOLDER."""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch

from benchmarks.generated_data import generate_catalog
from benchmarks.peers.task import MASK, K, SpeedTask, load, speed_result
from recsys.data.dataset import Dataset, Interactions
from recsys.models import registry
from recsys.models.ablations import Bert4RecAblated, Bert4RecAblatedConfig
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import Request, recommend
from recsys.training.options import RunOptions, TrainConfig

LEARNING_RATE = 4e-3
WARM_UP_STEPS = 10  # of about fifty steps of a training


def main() -> None:
    """Train, measure and write the result."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--random-start", action="store_true", help="no PMI initialisation")
    parser.add_argument("--relative-bias", action="store_true", help="in place of position embeddings")
    parser.add_argument("--precision", default="fp32")
    options = parser.parse_args()
    task: SpeedTask = load(options.folder)
    settings = task.settings
    torch.set_num_threads(settings.threads)
    epochs, batch_size = settings.epochs, settings.batch_size
    config = Bert4RecAblatedConfig(
        schedule=TrainConfig(epochs=epochs, batch_size=batch_size, lr=LEARNING_RATE, warmup_steps=WARM_UP_STEPS),
        **{name: getattr(settings, name) for name in ("layers", "heads", "dim", "length", "mask_prob", "dropout")},
        last_item_mask_prob=0.0,
        without="nothing" if options.relative_bias else "relative bias",  # the peers have position embeddings
        pmi_init=not options.random_start,
    )
    events: list[dict] = []
    dataset = as_dataset(task)
    run = RunOptions(seed=settings.seed, device="cpu", precision=options.precision, report=events.append)
    start = time.perf_counter()
    model = Bert4RecAblated(config).fit(dataset, None, run)
    fit_seconds = time.perf_counter() - start
    predictor = Predictor(dataset, registry.get("bert4rec"), model)
    timed_request = Request(tuple(task.query.tolist()), K)

    def score(sequences: list[np.ndarray]) -> np.ndarray:
        module = model.module
        tokens = np.full((len(sequences), settings.length), module.padding)
        for row, items in zip(tokens, sequences, strict=True):
            row[: len(items)] = np.where(items == MASK, module.mask, items)
        token_tensor = torch.from_numpy(tokens)
        with torch.inference_mode():
            states = module(token_tensor)[token_tensor == module.mask]  # (M, D)
            return module.logits(states).numpy()

    def request() -> list[int]:
        return [recommendation.item for recommendation in recommend(predictor, timed_request)]

    torch.set_num_threads(1)
    result = speed_result(task, events[-1]["seconds"], fit_seconds, score, request)
    (options.folder / "result.json").write_text(json.dumps(result))


def as_dataset(task: SpeedTask) -> Dataset:
    """Return the training sequences as a data set. The movie id of an item is its number plus 1."""
    lengths = [len(items) for items in task.train]
    item = np.concatenate(task.train).astype(np.int32)
    user = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    events = Interactions(user, item, np.ones(len(item), np.float32), np.arange(len(item)))
    return Dataset("task", generate_catalog(task.n_items), events, np.arange(len(lengths)))


if __name__ == "__main__":
    main()
