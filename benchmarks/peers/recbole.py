"""RecBole's BERT4Rec on a task: python -m benchmarks.peers.recbole FOLDER RESULT.json, in its own environment.

By default RecBole unrolls every history into all its beginnings; files named in `benchmark_filename` it takes row by
row, so that a row holds a whole sequence, as ours does. Sequences are padded on the right; item 0 is padding, the item
after the last is the mask. The target that a row needs besides is its newest film; the Cloze loss does not use it.
"""

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from recbole.config import Config
from recbole.data import create_dataset, data_preparation
from recbole.data.interaction import Interaction
from recbole.trainer import Trainer
from recbole.utils import get_model, init_seed

from benchmarks.peers import exchange


def main(folder: Path, result: Path) -> None:
    """Train, measure, write."""
    warnings.simplefilter("ignore")
    task = exchange.load(folder)
    s = task.settings
    write_files(task, folder / "recbole" / "task")
    sys.argv = sys.argv[:1]  # RecBole reads the command line too
    config = Config(model="BERT4Rec", dataset="task", config_dict=settings(task, folder / "recbole"))
    torch.set_num_threads(s.threads)
    init_seed(s.seed, reproducibility=False)
    began = time.perf_counter()
    data = create_dataset(config)
    batches = data_preparation(config, data)[0]
    model = get_model("BERT4Rec")(config, batches.dataset)
    trainer = Trainer(config, model)
    began_epochs = time.perf_counter()
    for epoch in range(s.epochs):
        trainer._train_epoch(batches, epoch)
    seconds = time.perf_counter() - began_epochs
    fit_seconds = time.perf_counter() - began
    taken = int(batches._dataset.inter_feat["item_length"].sum())
    if (len(batches._dataset), taken) != (len(task.train), task.films):
        raise ValueError(f"RecBole has not taken the sequences whole: {taken} films, not {task.films}")
    internal = data.token2id("item_id", [str(film) for film in range(task.n_items)])  # (I,)

    def score(sequences: list[np.ndarray]) -> np.ndarray:
        """Logits (M, I) of the hidden films."""
        tokens = np.zeros((len(sequences), s.length), np.int64)
        for row, films in zip(tokens, sequences, strict=True):
            row[: len(films)] = np.where(films == exchange.HIDDEN, model.mask_token, internal[films])
        x = torch.from_numpy(tokens)
        with torch.inference_mode():
            states = model.eval()(x)[x == model.mask_token]  # (M, D)
            logits = states @ model.item_embedding.weight[: model.n_items].T + model.output_bias
        return logits[:, internal].numpy()

    external = np.argsort(internal)  # RecBole's item i + 1 is film external[i]

    def request() -> list[int]:
        """The top films after the task's history."""
        tokens = np.zeros((1, s.length), np.int64)
        tokens[0, : len(task.query)] = seen = internal[task.query]
        asked = Interaction({"item_id_list": torch.from_numpy(tokens), "item_length": torch.tensor([len(seen)])})
        with torch.inference_mode():
            scores = model.full_sort_predict(asked)[0]
            scores[0] = scores[torch.from_numpy(seen)] = -torch.inf
            return external[scores.topk(exchange.TOP).indices.numpy() - 1].tolist()

    torch.set_num_threads(1)
    measured = exchange.measured(task, seconds, fit_seconds, score, request, "recbole")
    result.write_text(json.dumps(measured))


def settings(task: exchange.Task, folder: Path) -> dict[str, Any]:
    """The task's settings in RecBole's words; what is not named here keeps its default."""
    s = task.settings
    return {
        "data_path": str(folder),
        "benchmark_filename": ["train", "valid", "test"],
        "load_col": {"inter": ["user_id", "item_id_list", "item_id"]},
        "alias_of_item_id": ["item_id_list"],
        "MAX_ITEM_LIST_LENGTH": s.length,
        "n_layers": s.layers,
        "n_heads": s.heads,
        "hidden_size": s.dim,
        "inner_size": 4 * s.dim,
        "hidden_dropout_prob": s.dropout,
        "attn_dropout_prob": s.dropout,
        "mask_ratio": s.mask_prob,
        "ft_ratio": 0.0,  # no batches that hide the last film only
        "loss_type": "CE",
        "train_neg_sample_args": None,
        "train_batch_size": s.batch_size,
        "epochs": s.epochs,
        "seed": s.seed,
        "use_gpu": False,
        "show_progress": False,
        "state": "ERROR",
        "checkpoint_dir": str(folder / "saved"),
    }


def write_files(task: exchange.Task, folder: Path) -> None:
    """The sequences as RecBole's files; validation and test, which it insists on, repeat a row."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [f"{user}\t{' '.join(map(str, films))}\t{films[-1]}\n" for user, films in enumerate(task.train)]
    for name, part in (("train", rows), ("valid", rows[:1]), ("test", rows[:1])):
        text = "user_id:token\titem_id_list:token_seq\titem_id:token\n" + "".join(part)
        (folder / f"task.{name}.inter").write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
