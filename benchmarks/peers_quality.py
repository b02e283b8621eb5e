"""RecTools' and RecBole's own SASRec and BERT4Rec beside ours: the same histories, the same time on one thread.

    python -m benchmarks.peers_quality --systems rectools-sasrec,rectools-bert4rec --json benchmarks/peers_quality.json

Films of one second stand in a drawn order (protocol `untied`, seed 0), so nobody learns the order of a file. Each
system has the settings that its own authors recommend, trains for --minutes and ranks everybody's test film with the
weights that were best on validation; ranks are taken here, alike for all. Rows of systems that do not take part are
kept. Ours are the results that lie in assets/, with the seconds of their logs. --ship writes the study that the app's
Evaluation page shows; --systems none only writes anew what was measured before.
"""

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.against_peers import SYSTEMS, environment
from benchmarks.peers import course
from recsys import checkpoints, machine, paths
from recsys.bench import shapes
from recsys.data import datasets
from recsys.data.dataset import Dataset
from recsys.data.split import UNTIED
from recsys.errors import RecsysError, python
from recsys.evaluation import report, results
from recsys.evaluation.protocols import UNTIED_FULL
from recsys.evaluation.report import short
from recsys.evaluation.significance import intervals
from recsys.models import registry
from recsys.ranking.metrics import summary
from recsys.studies.run import write as write_study

PEERS = {system.name: system for system in SYSTEMS if system.installs}
TRAINED = [f"{peer}-{model}" for peer in PEERS for model in ("sasrec", "bert4rec")]
OURS = ("sasrec-softmax", "bert4rec", "sasrec-memory", "bert4rec-memory")
SAME = {"sasrec": "sasrec-softmax", "bert4rec": "bert4rec"}  # as in the peers: softmax over all films, no memory
TITLES = {"rectools": "RecTools", "recbole": "RecBole", "sasrec": "SASRec", "bert4rec": "BERT4Rec"}
NONE = "none"
SMOKE = course.Limits(minutes=0.05, looks=2, asked=50)


def main(argv: Sequence[str] | None = None) -> None:
    """Prepare, train, print, write."""
    options = flags().parse_args(argv)
    limits = SMOKE if options.smoke else course.Limits(minutes=options.minutes)
    names = options.systems.split(",") if options.systems != NONE else []
    try:
        if unknown := set(names) - set(TRAINED):
            raise RecsysError(f"no system is called {min(unknown)}; there are: {', '.join(TRAINED)}")
        dataset = shapes.generated(300, 120, 30) if options.smoke else datasets.load(options.dataset)
        folder = options.envs or paths.home() / "peers"
        pythons = {peer: environment(PEERS[peer], folder) for peer in dict.fromkeys(n.split("-")[0] for n in names)}
    except RecsysError as error:
        raise SystemExit(str(error)) from error
    task = make_task(dataset, limits)
    with ThreadPoolExecutor(options.at_once) as pool:
        rows = list(pool.map(lambda name: run(name, pythons[name.split("-")[0]], task), names))
    rows = merged(_before(options.json), rows) + ours(dataset.name)
    print("\n".join(map(line, rows)))
    if options.json:
        document = {"dataset": dataset.name, "protocol": UNTIED_FULL.name, "rows": rows}
        options.json.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", "utf-8")
    if options.ship:
        try:
            write_study("peers", dataset.name, study(dataset.name, rows, limits), ship=True)
        except RecsysError as error:
            raise SystemExit(str(error)) from error


def flags() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dataset", default="ml-1m")
    parser.add_argument("--systems", default=",".join(TRAINED), help="who is trained: all four; or none")
    parser.add_argument("--minutes", type=float, default=course.Limits.minutes, help="of training, each (120)")
    parser.add_argument("--at-once", type=int, default=1, help="trainings side by side, a core each (1)")
    parser.add_argument("--envs", type=Path, metavar="DIR", help="the peers' environments ($RECSYS_HOME/peers)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything there, beside what is there")
    parser.add_argument("--ship", action="store_true", help="write the study into assets/, for the Evaluation page")
    parser.add_argument("--smoke", action="store_true", help="seconds instead of hours: a small generated set")
    return parser


def make_task(dataset: Dataset, limits: course.Limits) -> course.Task:
    """The untied histories of one seed, of everybody who has a film hidden."""
    split = UNTIED(dataset, limits.seed)
    histories = split.train.histories
    train = [histories[user] for user in split.test.queries.users]
    return course.Task(limits, dataset.n_items, train, np.array(split.valid.targets), np.array(split.test.targets))


def run(name: str, python: str, task: course.Task) -> dict[str, Any]:
    """One system's training, in a process and a folder of its own."""
    peer, model = name.split("-")
    with tempfile.TemporaryDirectory(prefix="nextreel-peers-") as home:
        folder, result = Path(home), Path(home) / "result.json"
        course.save(task, folder)
        threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(task.limits.threads))
        environ = os.environ | threads | {"PYTHONPATH": str(paths.REPOSITORY)}
        command = [python, "-m", f"benchmarks.peers.{peer}_trained", str(folder), str(result), model]
        ended = subprocess.run(command, cwd=folder, env=environ, stderr=subprocess.PIPE, text=True, check=False)
        if ended.returncode:
            raise SystemExit(f"{name} failed:\n{ended.stderr[-3000:]}")
        row = json.loads(result.read_text())
        return row | measured(np.load(result.with_suffix(".npy"))[None]) | {"machine": machine.describe()}


def measured(ranks: np.ndarray) -> dict[str, Any]:
    """Metrics of ranks (S, B), means over seeds, and the interval of NDCG@10 over people."""
    low, high = intervals(ranks, ("ndcg@10",))["ndcg@10"]
    each = [summary(own) for own in ranks]
    means = {name: round(float(np.mean([own[name] for own in each])), 6) for name in ("ndcg@10", "hr@10", "mrr")}
    return {"test": means, "interval": [round(float(low), 6), round(float(high), 6)], "seeds": len(ranks)}


def ours(dataset: str) -> list[dict[str, Any]]:
    """Rows of our own networks, from their results and what their checkpoints note; none where there are no results."""
    rows = []
    for variant in OURS:
        try:
            ranks = results.comparable_ranks(dataset, UNTIED_FULL.name, variant)  # on the drawing that the others get
        except results.ResultError:
            continue
        notes = checkpoints.notes(variant, dataset, UNTIED_FULL.splitting, seed=0)
        trained = {"epochs": notes["epochs"], "train_seconds": notes["seconds"]} if "seconds" in notes else {}
        rows.append({"system": f"ours {variant}", **trained, **measured(ranks)})
    return rows


def merged(before: list[dict[str, Any]], now: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows by system, in the order of TRAINED; those of now take the place of earlier ones."""
    by_name = {row["system"].replace(" ", "-"): row for row in (*before, *now)}
    return [by_name[name] for name in TRAINED if name in by_name]


def study(dataset: str, rows: list[dict[str, Any]], limits: course.Limits) -> dict[str, Any]:
    """What the Evaluation page shows of it, in the form of `recsys.evaluation.studies`, the best first.

    Raises RecsysError where no model has been trained and measured on both sides.
    """
    rows = sorted(rows, key=lambda row: -row["test"]["ndcg@10"])
    theirs = [row for row in rows if "machine" in row]
    pairs = [
        (model, own, best)
        for model, variant in SAME.items()
        if (own := next((row for row in rows if row["system"] == f"ours {variant}" and "train_seconds" in row), None))
        and (best := next((row for row in theirs if row["system"].endswith(f" {model}")), None))
    ]
    if not pairs:
        raise RecsysError(f"no model has been trained on {dataset} by us and by others yet", _next(dataset, theirs))
    where, dates = theirs[0]["machine"]["cpu"], sorted({row["machine"]["date"][:10] for row in theirs})
    libraries = "; ".join(f"{TITLES[name]} {one.installs[-1][-1].partition('==')[2]}" for name, one in PEERS.items())
    return {
        "title": "Other libraries",
        "dataset": dataset,
        "question": "What do other libraries' SASRec and BERT4Rec reach on the same histories, with the settings that "
        "their authors recommend, when each is trained for the same time?",
        "papers": "Petrov and Macdonald (RecSys 2022) compare implementations of BERT4Rec: with their usual settings "
        "most fall short of the published figures, and some reach them when trained many times longer.",
        "answer": f"Here {'; '.join(_compared(*pair) for pair in pairs)}.",
        "how": f"{dataset}, protocol “{UNTIED_FULL.title}”, test NDCG@10, 1 seed a row; the others trained "
        f"{limits.minutes:.0f} minutes on one thread and kept the weights that were best on validation "
        f"({limits.asked:,} people); {libraries}; ours as they ship, tuned on the validation part of this set, with "
        f"the minutes of their logs; from and to are a 95 % interval over people (bootstrap); {where}, "
        f"{', '.join(dates)}, commit {theirs[0]['machine']['commit']}.",
        "columns": [
            {"name": "system", "title": "Recommender"},
            {"name": "epochs", "title": "Epochs", "digits": 0},
            {"name": "minutes", "title": "Minutes of training", "digits": 0},
            {"name": "ndcg", "title": "NDCG@10", "digits": 4},
            {"name": "low", "title": "From", "digits": 4},
            {"name": "high", "title": "To", "digits": 4},
            {"name": "hr", "title": "HR@10", "digits": 4},
        ],
        "rows": [
            [
                title(row),
                row.get("epochs"),
                round(row["train_seconds"] / 60, 1) if "epochs" in row else None,
                row["test"]["ndcg@10"],
                *row["interval"],
                row["test"]["hr@10"],
            ]
            for row in rows
        ],
        "chart": {"kind": "rows", "x": "system", "y": "ndcg", "low": "low", "high": "high"},
    }


def _next(dataset: str, theirs: list[dict[str, Any]]) -> str:
    """What to run so that a study can be made: the others, where there are none, else ours of the same name."""
    if not theirs:
        return f"{python()} -m benchmarks.peers_quality --dataset {dataset} --json benchmarks/peers_quality.json --ship"
    variant = SAME[theirs[0]["system"].split(" ")[1]]
    missing = report.Missing(variant, variant, trained=True)
    return " && ".join(report.commands_for(missing, dataset, UNTIED_FULL.name))


def _compared(model: str, own: dict[str, Any], best: dict[str, Any]) -> str:
    """Ours and the best of theirs."""
    library = TITLES[best["system"].split(" ")[0]]
    mine, other = (short(row["test"]["ndcg@10"]) for row in (own, best))
    minutes, longer = (f"{row['train_seconds'] / 60:.0f}" for row in (own, best))
    return (
        f"{TITLES[model]} has {mine} in NextReel after {minutes} minutes of training "
        f"and at best {other} elsewhere, in {library} after {longer}"
    )


def title(row: dict[str, Any]) -> str:
    """`RecTools – SASRec`."""
    library, model = row["system"].split(" ")
    return f"NextReel – {registry.get(model).title}" if library == "ours" else f"{TITLES[library]} – {TITLES[model]}"


def line(row: dict[str, Any]) -> str:
    """A row for people."""
    low, high = row["interval"]
    trained = f"{row['epochs']:7.1f} epochs {row['train_seconds'] / 60:6.1f} min" if "epochs" in row else " " * 25
    return f"{row['system']:<22} {trained}  NDCG@10 {row['test']['ndcg@10']:.4f} ({low:.4f}–{high:.4f})"


def _before(path: Path | None) -> list[dict[str, Any]]:
    """The rows of an earlier run."""
    return json.loads(path.read_text("utf-8"))["rows"] if path and path.exists() else []


if __name__ == "__main__":
    main()
