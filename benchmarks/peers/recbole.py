"""Train models of RecBole, in its own environment.

    python -m benchmarks.peers.recbole FOLDER                    a speed task with BERT4Rec
    python -m benchmarks.peers.recbole FOLDER sasrec|bert4rec    a quality task

By default, RecBole makes a row for every prefix of a history. It does not change files named in `benchmark_filename`,
so their rows can have whole histories. BERT4Rec gets a row per history. SASRec has a loss only at the last item of a
row, so it gets a row per prefix. Sequences are padded on the right. Token 0 is padding, and the last token is the mask.

The learning rates of a quality task are the best of RecBole's own search on MovieLens 1M (benchmark/hyper/sequential).
All other settings are its defaults, with a cross-entropy over all items.

Shapes: I items, M masked items, D dimensions.
"""

import time
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import numpy as np
import torch
from recbole.config import Config
from recbole.data import create_dataset, data_preparation
from recbole.data.interaction import Interaction
from recbole.trainer import Trainer
from recbole.utils import get_model, init_seed

from benchmarks.peers.task import MASK, UNTRAINED_SCORE, K, QualityTask, SpeedTask, TimedTraining, main, speed_result

MODELS = {"sasrec": "SASRec", "bert4rec": "BERT4Rec"}
QUALITY_SETTINGS: dict[str, dict[str, Any]] = {
    "sasrec": {"learning_rate": 0.0005, "MAX_ITEM_LIST_LENGTH": 50, "train_batch_size": 2048},
    "bert4rec": {"learning_rate": 0.005, "MAX_ITEM_LIST_LENGTH": 200, "train_batch_size": 128, "ft_ratio": 0.0},
}
WHOLE_HISTORIES = {  # settings for files in which each row has a whole history
    "benchmark_filename": ["train", "valid", "test"],
    "load_col": {"inter": ["user_id", "item_id_list", "item_id"]},
    "alias_of_item_id": ["item_id_list"],
}
ALL_PREFIXES = {  # settings for a file with a row per event, from which RecBole makes a row per prefix of a history
    "load_col": {"inter": ["user_id", "item_id", "timestamp"]},
    "eval_args": {"split": {"LS": "valid_and_test"}, "order": "TO", "group_by": "user", "mode": "full"},
}


def configure(name: str, folder: Path, seed: int, threads: int, settings: dict[str, Any]) -> Config:
    """Set the number of threads and the seed, and return the config of a model."""
    common = {
        "data_path": str(folder),
        "loss_type": "CE",
        "train_neg_sample_args": None,
        "seed": seed,
        "use_gpu": False,
        "show_progress": False,
        "state": "ERROR",
        "checkpoint_dir": str(folder / "saved"),
    }
    config = Config(model=name, dataset="task", config_dict=common | settings)
    torch.set_num_threads(threads)
    init_seed(seed, reproducibility=False)
    return config


def prepare(config: Config) -> tuple[Any, Any, Any, Trainer]:
    """Return the data set, the training batches, the untrained model and the trainer of RecBole."""
    data = create_dataset(config)
    batches = data_preparation(config, data)[0]
    model = get_model(config["model"])(config, batches.dataset)
    return data, batches, model, Trainer(config, model)


def measure_speed(task: SpeedTask, folder: Path) -> dict[str, Any]:
    """Train BERT4Rec on a speed task and return the figures."""
    settings = task.settings
    write_rows(task.train, folder / "recbole" / "task")
    sizes = {
        "MAX_ITEM_LIST_LENGTH": settings.length,
        "n_layers": settings.layers,
        "n_heads": settings.heads,
        "hidden_size": settings.dim,
        "inner_size": 4 * settings.dim,
        "hidden_dropout_prob": settings.dropout,
        "attn_dropout_prob": settings.dropout,
        "mask_ratio": settings.mask_prob,
        "ft_ratio": 0.0,  # no batches in which only the last item is masked
        "train_batch_size": settings.batch_size,
        "epochs": settings.epochs,
    }
    config = configure("BERT4Rec", folder / "recbole", settings.seed, settings.threads, WHOLE_HISTORIES | sizes)
    start = time.perf_counter()
    data, batches, model, trainer = prepare(config)
    epochs_start = time.perf_counter()
    for epoch in range(settings.epochs):
        trainer._train_epoch(batches, epoch)
    seconds, fit_seconds = time.perf_counter() - epochs_start, time.perf_counter() - start
    n_interactions = int(batches._dataset.inter_feat["item_length"].sum())
    if (len(batches._dataset), n_interactions) != (len(task.train), task.n_interactions):
        raise ValueError(f"RecBole has not used the whole sequences: {n_interactions} items, not {task.n_interactions}")
    # (I,) tokens of RecBole, from 1
    token_of_item = data.token2id("item_id", [str(item) for item in range(task.n_items)])
    item_of_token = np.argsort(token_of_item)  # (I,) the item of token t is at index t - 1

    def score(sequences: list[np.ndarray]) -> np.ndarray:
        tokens = np.zeros((len(sequences), settings.length), np.int64)
        for row, items in zip(tokens, sequences, strict=True):
            row[: len(items)] = np.where(items == MASK, model.mask_token, token_of_item[items])
        token_tensor = torch.from_numpy(tokens)
        with torch.inference_mode():
            states = model.eval()(token_tensor)[token_tensor == model.mask_token]  # (M, D)
            logits = states @ model.item_embedding.weight[: model.n_items].T + model.output_bias
        return logits[:, token_of_item].numpy()

    def request() -> list[int]:
        history = token_of_item[task.query]
        tokens = np.zeros((1, settings.length), np.int64)
        tokens[0, : len(history)] = history
        query = Interaction({"item_id_list": torch.from_numpy(tokens), "item_length": torch.tensor([len(history)])})
        with torch.inference_mode():
            scores = model.full_sort_predict(query)[0]
            scores[0] = scores[torch.from_numpy(history)] = -torch.inf  # excludes padding and the history
            return item_of_token[scores.topk(K).indices.numpy() - 1].tolist()

    torch.set_num_threads(1)
    return speed_result(task, seconds, fit_seconds, score, request, "recbole")


def measure_quality(task: QualityTask, folder: Path, name: str) -> dict[str, Any]:
    """Train a model on a quality task, write the test ranks and return the figures."""
    model_settings = QUALITY_SETTINGS[name]
    width = model_settings["MAX_ITEM_LIST_LENGTH"]
    if name == "sasrec":
        write_events(task, folder / "recbole" / "task")
        file_settings = ALL_PREFIXES
    else:
        write_rows([items[-width:] for items in task.train], folder / "recbole" / "task")
        file_settings = WHOLE_HISTORIES
    limits = task.limits
    config = configure(MODELS[name], folder / "recbole", limits.seed, limits.threads, file_settings | model_settings)
    data, batches, model, trainer = prepare(config)
    trained_items = np.unique(np.concatenate(task.train))
    token_of_item = np.full(task.n_items, -1)  # (I,) tokens of RecBole, -1: not trained
    token_of_item[trained_items] = data.token2id("item_id", [str(item) for item in trained_items])

    def score(histories: list[np.ndarray]) -> np.ndarray:
        tokens = np.zeros((len(histories), width), np.int64)
        lengths = np.zeros(len(histories), np.int64)
        for row, items in enumerate(histories):
            history = token_of_item[items]
            history = history[history >= 0][-width:]
            tokens[row, : len(history)], lengths[row] = history, len(history)
        query = Interaction({"item_id_list": torch.from_numpy(tokens), "item_length": torch.from_numpy(lengths)})
        with torch.inference_mode():
            logits = model.eval().full_sort_predict(query).numpy()
        scores = np.full((len(histories), task.n_items), UNTRAINED_SCORE, np.float32)
        scores[:, trained_items] = logits[:, token_of_item[trained_items]]
        return scores

    training = TimedTraining(task, score, lambda: model)
    training.start()
    for batch in chain.from_iterable(repeat(batches)):  # as in `Trainer._train_epoch`, which only ends after an epoch
        model.train()
        trainer.optimizer.zero_grad()
        model.calculate_loss(batch).backward()
        trainer.optimizer.step()
        training.count_batch(len(batch))
        if training.is_over:
            break
    size_keys = ("hidden_size", "inner_size", "n_layers", "n_heads")
    keys = (*model_settings, *size_keys, "hidden_dropout_prob", "attn_dropout_prob", "loss_type")
    reported_settings = {key: config[key] for key in keys}
    return training.result(f"recbole {name}", len(batches._dataset), reported_settings, folder)


def write_events(task: QualityTask, folder: Path) -> None:
    """Write a row per event: user, item and a made-up time. RecBole itself holds out the last two items of a user."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["user_id:token\titem_id:token\ttimestamp:float\n"]
    for user, (train, valid, test) in enumerate(zip(task.train, task.valid, task.test, strict=True)):
        lines += [f"{user}\t{item}\t{timestamp}\n" for timestamp, item in enumerate([*train, valid, test])]
    (folder / "task.inter").write_text("".join(lines))


def write_rows(sequences: list[np.ndarray], folder: Path) -> None:
    """Write a row per user with the whole sequence.

    RecBole also requires a target, and files for validation and test. They are not used.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows = [f"{user}\t{' '.join(map(str, items))}\t{items[-1]}\n" for user, items in enumerate(sequences)]
    for name, part in (("train", rows), ("valid", rows[:1]), ("test", rows[:1])):
        text = "user_id:token\titem_id_list:token_seq\titem_id:token\n" + "".join(part)
        (folder / f"task.{name}.inter").write_text(text)


if __name__ == "__main__":
    main(measure_speed, measure_quality)
