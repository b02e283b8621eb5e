"""Compare RecTools' and RecBole's SASRec and BERT4Rec with ours: equal histories, equal CPU time on one thread.

    python -m benchmarks.peers_quality --systems rectools-sasrec,rectools-bert4rec --json benchmarks/peers_quality.json

Films of one second are in random order (protocol `untied`, seed 0). Each peer has the settings that its authors
recommend. It trains for --minutes and ranks the test film of every user with the weights that were best on validation.
Our figures are the results in assets/, with the training times in the notes of the checkpoints. Rows of peers that are
not run stay in the JSON file. --ship writes the study of the Evaluation page. --systems none trains no peer.
"""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.generated_data import generate_dataset
from benchmarks.peers.task import Limits, QualityTask
from benchmarks.peers_speed import SMOKE_SHAPE, SYSTEMS, ensure_environment, run
from benchmarks.script import parser, write_json
from recsys import checkpoints, machine, paths
from recsys.data import datasets
from recsys.data.dataset import Dataset
from recsys.data.split import UNTIED
from recsys.errors import RecsysError, exit_on_error
from recsys.evaluation import results
from recsys.evaluation.protocols import UNTIED_FULL
from recsys.evaluation.report import format_metric
from recsys.evaluation.significance import intervals
from recsys.models import registry
from recsys.ranking.metrics import summary
from recsys.studies.run import INTERVAL_NOTE
from recsys.studies.run import write as write_study

PEERS = {system.name: system for system in SYSTEMS if system.installs}
PEER_MODELS = [f"{peer}-{model}" for peer in PEERS for model in ("sasrec", "bert4rec")]
OUR_RECOMMENDERS = ("sasrec-softmax", "bert4rec", "sasrec-memory", "bert4rec-memory")
# model of the peers → our recommender with the same loss. Peers have no counts, so `*-memory` has no counterpart
COUNTERPARTS = {"sasrec": "sasrec-softmax", "bert4rec": "bert4rec"}
TITLES = {"rectools": "RecTools", "recbole": "RecBole", "sasrec": "SASRec", "bert4rec": "BERT4Rec"}
COLUMNS = [
    {"name": "system", "title": "Recommender"},
    {"name": "epochs", "title": "Epochs", "digits": 0},
    {"name": "minutes", "title": "Minutes of training", "digits": 0},
    {"name": "ndcg", "title": "NDCG@10", "digits": 4},
    {"name": "low", "title": "From", "digits": 4},
    {"name": "high", "title": "To", "digits": 4},
    {"name": "hr", "title": "HR@10", "digits": 4},
]
SMOKE_LIMITS = Limits(minutes=0.05, validations=2, validation_users=50)


@exit_on_error()
def main(argv: Sequence[str] | None = None) -> None:
    """Train the named models of the peers, and print all rows."""
    arguments = parser(__doc__)
    arguments.add_argument("--dataset", default="ml-1m")
    arguments.add_argument("--systems", default=",".join(PEER_MODELS), help="systems to train, or none (default: all)")
    arguments.add_argument("--minutes", type=float, default=Limits.minutes, help="of training, each (120)")
    arguments.add_argument("--at-once", type=int, default=1, help="trainings at the same time, a core each (1)")
    arguments.add_argument("--envs", type=Path, metavar="DIR", help="environments of the peers ($RECSYS_HOME/peers)")
    arguments.add_argument("--ship", action="store_true", help="write the study into assets/")
    arguments.add_argument("--smoke", action="store_true", help="a small generated data set: seconds")
    options = arguments.parse_args(argv)
    limits = SMOKE_LIMITS if options.smoke else Limits(minutes=options.minutes)
    names = options.systems.split(",") if options.systems != "none" else []  # of PEER_MODELS
    if unknown := set(names) - set(PEER_MODELS):
        text = "no system is called {name}; there are: {names}"
        raise RecsysError(text, name=min(unknown), names=", ".join(PEER_MODELS))
    dataset = generate_dataset(*SMOKE_SHAPE) if options.smoke else datasets.load(options.dataset)
    earlier_rows = read_rows(options.json, dataset.name) if options.json and options.json.exists() else []
    folder = options.envs or paths.home() / "peers"
    peers = dict.fromkeys(name.split("-")[0] for name in names)  # without repeats, in order
    pythons = {peer: ensure_environment(PEERS[peer], folder) for peer in peers}
    task = make_task(dataset, limits)
    with ThreadPoolExecutor(options.at_once) as pool:
        new_rows = list(pool.map(lambda name: train(name, pythons[name.split("-")[0]], task), names))
    rows = merge(earlier_rows, new_rows) + our_rows(dataset.name)
    print("\n".join(map(format_row, rows)))
    write_json(options.json, {"dataset": dataset.name, "protocol": UNTIED_FULL.name, "rows": rows})
    if options.ship:
        write_study("peers", dataset.name, study(dataset.name, rows, limits), ship=True)


def read_rows(path: Path, dataset: str) -> list[dict[str, Any]]:
    """Return the rows of a JSON file of this script. Raises RecsysError if they are of another data set."""
    document = json.loads(path.read_text("utf-8"))
    if document["dataset"] != dataset:
        raise RecsysError("{path} has rows of {other}; choose another file", path=path, other=document["dataset"])
    return document["rows"]


def make_task(dataset: Dataset, limits: Limits) -> QualityTask:
    """Return the task for all users who have held-out films. Films of the same second are in random order."""
    split = UNTIED(dataset, limits.seed)
    all_histories = split.train.histories
    # validation and test have the same users in the same order
    histories = [all_histories[user] for user in split.test.queries.users]
    return QualityTask(limits, dataset.n_items, histories, np.array(split.valid.targets), np.array(split.test.targets))


def train(name: str, python_path: str, task: QualityTask) -> dict[str, Any]:
    """Train the model of a peer, named "PEER-MODEL", and return its row."""
    peer, model = name.split("-")
    row, ranks = run(peer, python_path, task, [model])
    assert ranks is not None
    return row | metrics(ranks[None]) | {"machine": machine.describe()}


def metrics(ranks: np.ndarray) -> dict[str, Any]:
    """Return the fields "test", "interval" and "seeds" of a row from ranks (S, B) of S seeds and B users.

    "test" has means over seeds, "interval" the 95 % interval of NDCG@10 over users, "seeds" the number of seeds.
    """
    low, high = intervals(ranks, ("ndcg@10",))["ndcg@10"]
    by_seed = [summary(seed_ranks) for seed_ranks in ranks]
    means = {name: round(float(np.mean([seed[name] for seed in by_seed])), 6) for name in ("ndcg@10", "hr@10", "mrr")}
    return {"test": means, "interval": [round(float(low), 6), round(float(high), 6)], "seeds": len(ranks)}


def our_rows(dataset: str) -> list[dict[str, Any]]:
    """Return a row for each of OUR_RECOMMENDERS with results. The training time is from the notes of its checkpoint."""
    rows = []
    for variant in OUR_RECOMMENDERS:
        try:
            ranks = results.comparable_ranks(dataset, UNTIED_FULL.name, variant)  # of seed 0, as for the peers
        except results.ResultError:
            continue
        notes = checkpoints.training_notes(variant, dataset, UNTIED_FULL.splitting, seed=0)
        training = {"epochs": notes["epochs"], "train_seconds": notes["seconds"]} if "seconds" in notes else {}
        rows.append({"system": f"ours {variant}", **training, **metrics(ranks)})
    return rows


def merge(earlier_rows: list[dict[str, Any]], new_rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of the peers in the order of PEER_MODELS. A new row replaces the earlier row of its model."""
    by_name = {row["system"].replace(" ", "-"): row for row in (*earlier_rows, *new_rows)}
    return [by_name[name] for name in PEER_MODELS if name in by_name]


def study(dataset: str, rows: list[dict[str, Any]], limits: Limits) -> dict[str, Any]:
    """Return the study of the Evaluation page, in the form of `recsys.evaluation.studies`, best row first.

    Raises:
        RecsysError: No model has been trained and evaluated both here and by a peer.
    """
    rows = sorted(rows, key=lambda row: -row["test"]["ndcg@10"])
    peer_rows = [row for row in rows if not row["system"].startswith("ours ")]
    comparisons = []
    for model, variant in COUNTERPARTS.items():
        our_row = next((row for row in rows if row["system"] == f"ours {variant}" and "train_seconds" in row), None)
        best_peer_row = next((row for row in peer_rows if row["system"].endswith(f" {model}")), None)
        if our_row and best_peer_row:
            comparisons.append(_comparison(model, our_row, best_peer_row))
    if not comparisons:
        raise RecsysError("no model has been trained on {dataset} by us and by others yet", dataset=dataset)
    training_minutes = [round(row["train_seconds"] / 60, 1) if "train_seconds" in row else None for row in rows]
    peer_minutes = sorted({round(row["train_seconds"] / 60) for row in peer_rows})
    computer, dates = peer_rows[0]["machine"], sorted({row["machine"]["date"][:10] for row in peer_rows})
    versions = "; ".join(f"{TITLES[name]} {peer.version}" for name, peer in PEERS.items())
    return {
        "title": "Other libraries",
        "dataset": dataset,
        "question": "How well do SASRec and BERT4Rec from other libraries do on the same histories, with the "
        "settings that their authors recommend, when each is trained for the same length of time?",
        "papers": "Petrov and Macdonald (RecSys 2022) compare implementations of BERT4Rec: with their usual settings "
        "most fall short of the published figures, and some reach them when trained many times longer.",
        "answer": " ".join(comparisons),
        "how": f"{datasets.title(dataset)}, protocol “{UNTIED_FULL.title}”, test NDCG@10, 1 seed per row; the others "
        f"were trained for {' or '.join(map(str, peer_minutes))} minutes on one thread, and the weights that were best "
        f"on validation ({limits.validation_users:,} people) were kept; {versions}; ours are the models that come with "
        f"the app, tuned on the validation part of this set, with the training times from their logs; {INTERVAL_NOTE}; "
        f"{computer['cpu']}, {', '.join(dates)}, commit {computer['commit']}.",
        "columns": COLUMNS,
        "rows": [
            [title(row), row.get("epochs"), minutes, row["test"]["ndcg@10"], *row["interval"], row["test"]["hr@10"]]
            for row, minutes in zip(rows, training_minutes, strict=True)
        ],
        "chart": {"kind": "rows", "x": "system", "y": "ndcg", "low": "low", "high": "high"},
    }


def _comparison(model: str, our_row: dict[str, Any], peer_row: dict[str, Any]) -> str:
    """Compare our row with the best row of the peers, in two sentences of the study."""
    library = TITLES[peer_row["system"].split(" ")[0]]
    our_ndcg, peer_ndcg = (format_metric(row["test"]["ndcg@10"]) for row in (our_row, peer_row))
    our_minutes, peer_minutes = (f"{row['train_seconds'] / 60:.0f}" for row in (our_row, peer_row))
    return (
        f"{TITLES[model]} reaches {our_ndcg} in NextReel after {our_minutes} minutes of training. "
        f"The best other result is {peer_ndcg}, with {library} after {peer_minutes} minutes."
    )


def title(row: dict[str, Any]) -> str:
    """Return the library and the model of a row: "RecTools – SASRec"."""
    library, model = row["system"].split(" ")
    return f"NextReel – {registry.get(model).title}" if library == "ours" else f"{TITLES[library]} – {TITLES[model]}"


def format_row(row: dict[str, Any]) -> str:
    """Format a row for the terminal."""
    low, high = row["interval"]
    training = f"{row['epochs']:7.1f} epochs {row['train_seconds'] / 60:6.1f} min" if "epochs" in row else " " * 25
    return f"{row['system']:<22} {training}  NDCG@10 {row['test']['ndcg@10']:.4f} ({low:.4f}–{high:.4f})"


if __name__ == "__main__":
    main()
