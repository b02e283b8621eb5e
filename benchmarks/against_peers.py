"""The same BERT4Rec on the same sequences, here and in RecTools and RecBole, in turn: speed, memory, loss, requests.

    python -m benchmarks.against_peers --json benchmarks/against_peers.json

Each peer gets an environment of its own under --envs (a few minutes and 2 GB at first, reused afterwards), every run a
fresh process. A twentieth of the users is kept out of training; the films hidden from them are the same for all.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bar import Bar
from benchmarks.peers import exchange
from recsys import machine, paths
from recsys.bench import shapes
from recsys.data import datasets
from recsys.data.dataset import Dataset
from recsys.data.split import LEAVE_ONE_OUT
from recsys.errors import RecsysError

HELD_OUT = 0.05  # share of the users that nobody trains on
TORCH = ("torch==2.13.0",)  # first, so that nothing else chooses another build


@dataclass(frozen=True)
class System:
    """One line of the table."""

    name: str
    script: str  # in benchmarks/peers
    flags: tuple[str, ...] = ()
    installs: tuple[tuple[str, ...], ...] = ()  # arguments of pip install, one call each; none: our own environment


_RECBOLE_NEEDS = (
    *("numpy<2", "pandas<2.3", "scipy", "tqdm", "colorlog==4.7.2", "colorama", "scikit-learn", "pyyaml"),
    *("tensorboard", "texttable", "psutil", "thop", "tabulate", "plotly", "setuptools<80"),
)
OURS = System("ours", "ours")
BIASED = System("ours, relative bias", "ours", ("--relative-bias",))
SYSTEMS = (
    OURS,
    System("ours, random start", "ours", ("--random-start",)),
    System("ours, bf16 if fast", "ours", ("--precision", "auto")),
    BIASED,
    System("rectools", "rectools", installs=(TORCH, ("rectools[torch]==0.19.0",))),
    # without its own pins: they want an old ray, which only tuning needs
    System("recbole", "recbole", installs=(TORCH, _RECBOLE_NEEDS, ("--no-deps", "recbole==1.2.1"))),
)
BARS = {name: Bar("times_the_speed", least, at_least=True) for name, least in (("rectools", 12), ("recbole", 8))}
BIASED_BARS = {name: Bar("times", least, at_least=True) for name, least in (("rectools", 15), ("recbole", 8))}
LATENCY_BAR = Bar("times_the_latency", 10, at_least=True)
SMOKE = exchange.Settings(layers=1, dim=16, length=40, batch_size=32, threads=1, requests=5)


def main(argv: Sequence[str] | None = None) -> None:
    """Prepare, run all in turn, print, write."""
    options = flags().parse_args(argv)
    settings = replace(SMOKE if options.smoke else exchange.Settings(), seed=options.seed)
    settings = replace(settings, **{name: value for name in TRIED if (value := getattr(options, name)) is not None})
    systems = [system for system in SYSTEMS if system.script in options.systems.split(",")]
    try:
        dataset = shapes.generated(300, 120, 30) if options.smoke else datasets.load(options.dataset)
        pythons = {system.name: environment(system, options.envs or paths.home() / "peers") for system in systems}
        task = make_task(dataset, settings)
    except RecsysError as error:
        raise SystemExit(str(error)) from error
    runs = []
    for turn in range(options.rounds):
        for system in systems:
            runs.append({"round": turn, "system": system.name, **run(system, pythons[system.name], task)})
            print(run_line(runs[-1]), flush=True)
    data = {"dataset": dataset.name, "sequences": len(task.train), "films_in_them": task.films, "films": task.n_items}
    data["held_out_sequences"], data["films_to_guess"] = len(task.held_out), int(np.concatenate(task.hidden).sum())
    result = {"data": data, "settings": asdict(settings), "summary": summary(runs), "runs": runs}
    print("\n".join([*summary_lines(result["summary"]), *biased_lines(runs)]))
    result["machine"] = machine.describe()
    print(machine.format_description(result["machine"]))
    if options.json:
        options.json.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", "utf-8")


TRIED = ("batch_size", "epochs", "threads", "requests")


def flags() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dataset", default="ml-1m")
    parser.add_argument("--rounds", type=int, default=3, help="times that everyone has a turn (3)")
    parser.add_argument("--systems", default="ours,rectools,recbole", help="who takes part")
    parser.add_argument("--envs", type=Path, metavar="DIR", help="the peers' environments ($RECSYS_HOME/peers)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything there too")
    parser.add_argument("--smoke", action="store_true", help="seconds instead of minutes: a small generated set")
    parser.add_argument("--seed", type=int, default=0)
    for name in TRIED:
        default = getattr(exchange.Settings, name)
        parser.add_argument("--" + name.replace("_", "-"), type=int, help=f"({default})")
    return parser


def environment(system: System, folder: Path) -> str:
    """The Python of a system, in an environment that is made when it is missing or incomplete. Raises RecsysError."""
    if not system.installs:
        return sys.executable
    home = (folder / system.script).resolve()
    python, done = home / "bin" / "python", home / "complete"
    if done.exists() or _works(python, system.script):
        return str(python)
    print(f"installing {system.name} into {home} …", flush=True)
    try:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        for packages in system.installs:
            subprocess.run([str(python), "-m", "pip", "install", "--quiet", *packages], check=True)
    except subprocess.CalledProcessError as error:
        raise RecsysError(f"{system.name} could not be installed; see above, or leave it out with --systems") from error
    done.touch()
    return str(python)


def _works(python: Path, package: str) -> bool:
    """Whether an environment has the package already."""
    if not python.exists():
        return False
    return (
        subprocess.run([str(python), "-c", f"import torch, {package}"], capture_output=True, check=False).returncode
        == 0
    )


def make_task(dataset: Dataset, settings: exchange.Settings) -> exchange.Task:
    """Training histories, the newest films of each; the catalogue is what occurs in those that anyone trains on."""
    rng = np.random.default_rng(settings.seed)
    histories = [history[-settings.length :] for history in LEAVE_ONE_OUT(dataset).train.histories if len(history) > 1]
    away = np.zeros(len(histories), bool)
    away[rng.choice(len(histories), round(HELD_OUT * len(histories)), replace=False)] = True
    train = [history for history, kept_out in zip(histories, away, strict=True) if not kept_out]
    known = np.unique(np.concatenate(train))
    held_out = [history[np.isin(history, known)] for history, kept_out in zip(histories, away, strict=True) if kept_out]
    held_out = [history for history in held_out if len(history) > 1]
    if not held_out:
        raise RecsysError(f"{dataset.name}: nobody can be kept out; choose a larger data set")
    hidden = [rng.random(len(history)) < settings.mask_prob for history in held_out]
    for row in hidden:
        row[rng.integers(len(row))] |= not row.any()
    numbered = [[np.searchsorted(known, history) for history in part] for part in (train, held_out)]
    return exchange.Task(settings, len(known), *numbered, hidden)


def run(system: System, python: str, task: exchange.Task) -> dict[str, Any]:
    """One system's turn, in a process and a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="nextreel-peers-") as home:
        folder, result = Path(home), Path(home) / "result.json"
        exchange.save(task, folder)
        threads = str(task.settings.threads)
        environ = os.environ | {
            "PYTHONPATH": str(paths.REPOSITORY),
            "OMP_NUM_THREADS": threads,
            "MKL_NUM_THREADS": threads,
        }
        command = [python, "-m", f"benchmarks.peers.{system.script}", str(folder), str(result), *system.flags]
        ended = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
        if ended.returncode:
            raise SystemExit(f"{system.name} failed:\n{ended.stderr[-3000:]}")
        return json.loads(result.read_text())


def summary(runs: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """By system: medians over its runs, and, of ours over it, the median of the ratios of one round each."""
    table = {}
    for name in dict.fromkeys(run["system"] for run in runs):
        own = [run for run in runs if run["system"] == name]
        first = [run for run in runs if run["system"] == OURS.name]
        median = {key: statistics.median(run[key] for run in own) for key in MEDIANS}
        median["latency_ms"] = statistics.median(run["latency_ms"]["p50"] for run in own)
        pairs = [] if name == OURS.name else of_one_round(first, own)
        if pairs:
            median["times_the_speed"] = times_the_speed(pairs)
            median["times_the_latency"] = statistics.median(
                b["latency_ms"]["p50"] / a["latency_ms"]["p50"] for a, b in pairs
            )
        table[name] = {key: round(value, 4) for key, value in median.items()}
    return table


def of_one_round(
    ours: list[dict[str, Any]], others: list[dict[str, Any]]
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Two systems' runs side by side: what the machine's neighbours do changes from round to round."""
    return [(a, b) for a in ours for b in others if a["round"] == b["round"]]


def times_the_speed(pairs: Sequence[tuple[dict[str, Any], dict[str, Any]]]) -> float:
    """The median of the ratios, which is no ratio of medians."""
    return statistics.median(a["sequences_per_second"] / b["sequences_per_second"] for a, b in pairs)


MEDIANS = ("sequences_per_second", "seconds", "fit_seconds", "memory_mb", "cloze_loss")


def run_line(run: dict[str, Any]) -> str:
    """One run for people."""
    return (
        f"{run['round'] + 1}. {run['system']:<19} {run['sequences_per_second']:8.1f} sequences/s"
        f"  {run['fit_seconds']:7.1f} s with all  {run['memory_mb']:6.0f} MB  held-out loss {run['cloze_loss']:.4f}"
        f"  request {run['latency_ms']['p50']:8.2f} ms"
    )


def summary_lines(table: dict[str, dict[str, Any]]) -> list[str]:
    """The medians, and each bar with whether it holds."""
    said = ["medians:"]
    for name, row in table.items():
        said.append(
            f"   {name:<19} {row['sequences_per_second']:8.1f} sequences/s  {row['memory_mb']:6.0f} MB"
            f"  held-out loss {row['cloze_loss']:.4f}  request {row['latency_ms']:8.2f} ms"
        )
    for name in table.keys() & BARS.keys() if OURS.name in table else ():
        row = table[name]
        said += [
            f"sequences/s, ours over {name}: {_times(row, BARS[name])}",
            f"requests, ours over {name}: {_times(row, LATENCY_BAR)}",
            f"held-out loss, ours over {name}: {table[OURS.name]['cloze_loss']:.4f}, bar "
            + Bar("cloze_loss", row["cloze_loss"]).verdict(table[OURS.name]["cloze_loss"]),
        ]
    return said


def biased_lines(runs: list[dict[str, Any]]) -> list[str]:
    """How many times the speed of each peer ours has with what the peers lack, a relative position bias."""
    ours, said = [run for run in runs if run["system"] == BIASED.name], []
    for name, bar in BIASED_BARS.items():
        pairs = of_one_round(ours, [run for run in runs if run["system"] == name])
        if pairs:
            times = times_the_speed(pairs)
            said.append(f"sequences/s, {BIASED.name}, over {name}: {times:.1f} times, bar {bar.verdict(times)}")
    return said


def _times(row: dict[str, Any], bar: Bar) -> str:
    """`7.5 times, bar ≥ 8: missed`."""
    return f"{row[bar.figure]:.1f} times, bar {bar.verdict(row[bar.figure])}"


if __name__ == "__main__":
    main()
