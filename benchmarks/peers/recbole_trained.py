"""RecBole's SASRec or BERT4Rec for a given time: python -m benchmarks.peers.recbole_trained FOLDER RESULT.json MODEL.

Learning rates: the best of RecBole's own search on MovieLens 1M (its benchmark/hyper/sequential); the rest is its
defaults, with a cross-entropy over all films. BERT4Rec gets each history whole, as one row, the newest 200 films of it.
SASRec has a loss at the last film alone: of whole rows it would learn one target a person, so it gets RecBole's own
rows, every beginning of a history, shuffled, the newest 50 films of each. Sequences are padded on the right.
"""

import json
import sys
import warnings
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import torch
from recbole.config import Config
from recbole.data import create_dataset, data_preparation
from recbole.data.interaction import Interaction
from recbole.trainer import Trainer
from recbole.utils import get_model, init_seed

from benchmarks.peers import course

NAMES = {"sasrec": "SASRec", "bert4rec": "BERT4Rec"}
OWN: dict[str, dict[str, Any]] = {
    "sasrec": {"learning_rate": 0.0005, "MAX_ITEM_LIST_LENGTH": 50, "train_batch_size": 2048},
    "bert4rec": {"learning_rate": 0.005, "MAX_ITEM_LIST_LENGTH": 200, "train_batch_size": 128, "ft_ratio": 0.0},
}
NEVER = -1e9  # the score of a film that nobody's training films hold


def main(folder: Path, result: Path, name: str) -> None:
    """Train, rank, write."""
    warnings.simplefilter("ignore")
    task = course.load(folder)
    home = folder / "recbole"
    sys.argv = sys.argv[:1]  # RecBole reads the command line too
    config = Config(model=NAMES[name], dataset="task", config_dict=settings(task, home, name))
    (write_histories if name == "sasrec" else write_rows)(task, home / "task")
    torch.set_num_threads(task.limits.threads)
    init_seed(task.limits.seed, reproducibility=False)
    data = create_dataset(config)
    batches = data_preparation(config, data)[0]
    model = get_model(NAMES[name])(config, batches.dataset)
    trainer = Trainer(config, model)
    known = np.unique(np.concatenate(task.train))
    internal = np.full(task.n_items, -1)
    internal[known] = data.token2id("item_id", [str(film) for film in known])
    width = OWN[name]["MAX_ITEM_LIST_LENGTH"]

    def score(histories: list[np.ndarray]) -> np.ndarray:
        """Scores (B, I) of what comes next."""
        tokens = np.zeros((len(histories), width), np.int64)
        lengths = np.zeros(len(histories), np.int64)
        for place, films in enumerate(histories):
            seen = internal[films]
            seen = seen[seen >= 0][-width:]
            tokens[place, : len(seen)], lengths[place] = seen, len(seen)
        asked = Interaction({"item_id_list": torch.from_numpy(tokens), "item_length": torch.from_numpy(lengths)})
        with torch.inference_mode():
            found = model.eval().full_sort_predict(asked).numpy()
        scores = np.full((len(histories), task.n_items), NEVER, np.float32)
        scores[:, known] = found[:, internal[known]]
        return scores

    ours = course.Course(task, score, lambda: deepcopy(model.state_dict()), lambda state: model.load_state_dict(state))
    ours.begin()
    over = False
    while not over:
        for batch in batches:  # as in `Trainer._train_epoch`, which ends with an epoch alone
            model.train()
            trainer.optimizer.zero_grad()
            model.calculate_loss(batch).backward()
            trainer.optimizer.step()
            over = ours.batch_done(len(batch))
            if over:
                break
    used = {key: config[key] for key in (*OWN[name], "hidden_size", "inner_size", "n_layers", "n_heads")}
    used |= {key: config[key] for key in ("hidden_dropout_prob", "attn_dropout_prob", "loss_type")}
    ended = ours.result(f"recbole {name}", len(batches._dataset), used, result.with_suffix(".npy"))
    result.write_text(json.dumps(ended))


def settings(task: course.Task, home: Path, name: str) -> dict[str, Any]:
    """What RecBole is told; what is not named here keeps its default."""
    told = {
        "data_path": str(home),
        "loss_type": "CE",
        "train_neg_sample_args": None,
        "seed": task.limits.seed,
        "use_gpu": False,
        "show_progress": False,
        "state": "ERROR",
        "checkpoint_dir": str(home / "saved"),
    }
    if name == "sasrec":
        told |= {
            "load_col": {"inter": ["user_id", "item_id", "timestamp"]},
            "eval_args": {"split": {"LS": "valid_and_test"}, "order": "TO", "group_by": "user", "mode": "full"},
        }
    else:
        told |= {
            "benchmark_filename": ["train", "valid", "test"],
            "load_col": {"inter": ["user_id", "item_id_list", "item_id"]},
            "alias_of_item_id": ["item_id_list"],
        }
    return told | OWN[name]


def write_histories(task: course.Task, folder: Path) -> None:
    """Every film watched, test film included: RecBole takes the last two away again."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["user_id:token\titem_id:token\ttimestamp:float\n"]
    for user, (train, valid, test) in enumerate(zip(task.train, task.valid, task.test, strict=True)):
        lines += [f"{user}\t{film}\t{when}\n" for when, film in enumerate([*train, valid, test])]
    (folder / "task.inter").write_text("".join(lines))


def write_rows(task: course.Task, folder: Path) -> None:
    """A row a person; validation and test, which RecBole insists on, repeat a row."""
    folder.mkdir(parents=True, exist_ok=True)
    newest = [films[-OWN["bert4rec"]["MAX_ITEM_LIST_LENGTH"] :] for films in task.train]
    rows = [f"{user}\t{' '.join(map(str, films))}\t{films[-1]}\n" for user, films in enumerate(newest)]
    for name, part in (("train", rows), ("valid", rows[:1]), ("test", rows[:1])):
        text = "user_id:token\titem_id_list:token_seq\titem_id:token\n" + "".join(part)
        (folder / f"task.{name}.inter").write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3])
