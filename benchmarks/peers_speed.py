"""Compare the speed, memory, loss and latency of the same BERT4Rec in this project, in RecTools and in RecBole.

    python -m benchmarks.peers_speed --json benchmarks/peers_speed.json

Each peer gets its own environment under --envs (2 GB, reused). The systems take turns, each in a fresh process. The
sequences of 5 % of the users are held out. The loss is the cross-entropy of masked items in them.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.bench_targets import Target
from benchmarks.generated_data import generate_dataset
from benchmarks.peers.task import RANKS, Settings, SpeedTask, Task, save
from benchmarks.script import parser, write_json
from recsys import machine, paths
from recsys.data import datasets
from recsys.data.dataset import Dataset
from recsys.data.split import LEAVE_ONE_OUT
from recsys.errors import RecsysError, exit_on_error

HELD_OUT_SHARE = 0.05  # of the users
TORCH = ("torch==2.13.0",)  # installed before a peer, which would install another build
RECBOLE_PACKAGES = (
    *("numpy<2", "pandas<2.3", "scipy", "tqdm", "colorlog==4.7.2", "colorama", "scikit-learn", "pyyaml"),
    *("tensorboard", "texttable", "psutil", "thop", "tabulate", "plotly", "setuptools<80"),
)
SMOKE_SHAPE = (300, 120, 30)  # users, films, mean history length
SMOKE_SETTINGS = Settings(layers=1, dim=16, length=40, batch_size=32, threads=1, requests=5)
SETTING_FLAGS = ("batch_size", "epochs", "threads", "requests")  # fields of `Settings` that have a flag
MEDIAN_FIGURES = ("sequences_per_second", "seconds", "fit_seconds", "memory_mb", "cloze_loss")


@dataclass(frozen=True)
class System:
    """A system that is measured: this project with some flags, or a peer (another library)."""

    name: str
    script: str  # module in benchmarks/peers
    flags: tuple[str, ...] = ()  # of the script
    installs: tuple[tuple[str, ...], ...] = ()  # arguments of `pip install` calls; (): it runs in this environment

    @property
    def version(self) -> str:
        """The version of a peer, which is the last installed package."""
        return self.installs[-1][-1].partition("==")[2]


OURS = System("ours", "nextreel")
OURS_WITH_BIAS = System("ours, relative bias", "nextreel", ("--relative-bias",))
SYSTEMS = (
    OURS,
    System("ours, random start", "nextreel", ("--random-start",)),
    System("ours, bf16 if fast", "nextreel", ("--precision", "auto")),
    OURS_WITH_BIAS,
    System("rectools", "rectools", installs=(TORCH, ("rectools[torch]==0.19.0",))),
    # RecBole pins an old ray, which only tuning needs
    System("recbole", "recbole", installs=(TORCH, RECBOLE_PACKAGES, ("--no-deps", "recbole==1.2.1"))),
)
SPEED_TARGETS = {  # (our system, peer) → target of our speed divided by the speed of the peer
    (OURS.name, "rectools"): Target("times_the_speed", 12, is_minimum=True),
    (OURS.name, "recbole"): Target("times_the_speed", 8, is_minimum=True),
    (OURS_WITH_BIAS.name, "rectools"): Target("times_the_speed", 15, is_minimum=True),
    (OURS_WITH_BIAS.name, "recbole"): Target("times_the_speed", 8, is_minimum=True),
}
LATENCY_TARGET = Target("times_the_latency", 10, is_minimum=True)


@exit_on_error()
def main(argv: Sequence[str] | None = None) -> None:
    """Run all systems in turn and print their figures."""
    arguments = parser(__doc__)
    arguments.add_argument("--dataset", default="ml-1m")
    arguments.add_argument("--rounds", type=int, default=3, help="turns of each system (3)")
    arguments.add_argument("--systems", default="ours,rectools,recbole")
    arguments.add_argument("--envs", type=Path, metavar="DIR", help="environments of the peers ($RECSYS_HOME/peers)")
    arguments.add_argument("--smoke", action="store_true", help="a small generated data set: seconds")
    arguments.add_argument("--seed", type=int, default=0)
    for name in SETTING_FLAGS:
        arguments.add_argument("--" + name.replace("_", "-"), type=int, help=f"({getattr(Settings, name)})")
    options = arguments.parse_args(argv)
    changes = {name: value for name in SETTING_FLAGS if (value := getattr(options, name)) is not None}
    settings = replace(SMOKE_SETTINGS if options.smoke else Settings(), seed=options.seed, **changes)
    systems = [system for system in SYSTEMS if system.name.partition(",")[0] in options.systems.split(",")]
    dataset = generate_dataset(*SMOKE_SHAPE) if options.smoke else datasets.load(options.dataset)
    pythons = {system.name: ensure_environment(system, options.envs or paths.home() / "peers") for system in systems}
    task = make_task(dataset, settings)
    runs = []
    for turn in range(options.rounds):
        for system in systems:
            figures = run(system.script, pythons[system.name], task, system.flags)[0]
            runs.append({"round": turn, "system": system.name, **figures})
            print(f"{turn + 1}. {format_figures(system.name, figures, figures['latency_ms']['p50'])}", flush=True)
    data = {"dataset": dataset.name, "sequences": len(task.train), "films_in_them": task.n_interactions}
    data |= {"films": task.n_items, "held_out_sequences": len(task.held_out)}
    data["films_to_guess"] = int(np.concatenate(task.masks).sum())
    result = {"data": data, "settings": asdict(settings), "summary": summary(runs), "runs": runs}
    print("\n".join(summary_lines(result["summary"], runs)))
    result["machine"] = machine.describe()
    print(machine.format_description(result["machine"]))
    write_json(options.json, result)


def ensure_environment(system: System, folder: Path) -> str:
    """Return the path of the Python of a system. Make the environment of a peer if it is missing or incomplete."""
    if not system.installs:
        return sys.executable
    home = (folder / system.script).resolve()
    python, marker = home / "bin" / "python", home / "complete"  # the marker exists if the environment is complete
    if marker.exists():
        return str(python)
    print(f"installing {system.name} into {home} …", flush=True)
    try:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        for packages in system.installs:
            subprocess.run([str(python), "-m", "pip", "install", "--quiet", *packages], check=True)
    except subprocess.CalledProcessError as error:
        raise RecsysError(f"{system.name} could not be installed; see above, or leave it out with --systems") from error
    marker.touch()
    return str(python)


def make_task(dataset: Dataset, settings: Settings) -> SpeedTask:
    """Return the task: hold out HELD_OUT_SHARE of the users, and drop films that only held-out users have."""
    rng = np.random.default_rng(settings.seed)
    histories = [history[-settings.length :] for history in LEAVE_ONE_OUT(dataset).train.histories if len(history) > 1]
    n_held_out = round(HELD_OUT_SHARE * len(histories))
    held_out_rows = set(rng.choice(len(histories), n_held_out, replace=False).tolist())
    train = [history for row, history in enumerate(histories) if row not in held_out_rows]
    items = np.unique(np.concatenate(train))
    held_out = [history[np.isin(history, items)] for row, history in enumerate(histories) if row in held_out_rows]
    held_out = [history for history in held_out if len(history) > 1]
    if not held_out:
        raise RecsysError("{name}: no user can be held out; choose a larger data set", name=dataset.name)
    masks = [rng.random(len(history)) < settings.mask_prob for history in held_out]
    for mask in masks:
        position = rng.integers(len(mask))  # sampled for each mask, so that a seed always gives the same masks
        if not mask.any():  # at least one film is masked
            mask[position] = True
    train, held_out = ([np.searchsorted(items, history) for history in part] for part in (train, held_out))
    return SpeedTask(settings, len(items), train, held_out, masks)


def run(
    script: str, python: str, task: Task, arguments: Sequence[str] = ()
) -> tuple[dict[str, Any], np.ndarray | None]:
    """Run the script of a system in a fresh process. Return its figures, and the ranks that it wrote, if any."""
    settings = task.settings if isinstance(task, SpeedTask) else task.limits
    with tempfile.TemporaryDirectory(prefix="nextreel-peers-") as home:
        folder = Path(home)
        save(task, folder)
        threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(settings.threads))
        variables = os.environ | threads | {"PYTHONPATH": str(paths.REPOSITORY)}
        command = [python, "-m", f"benchmarks.peers.{script}", home, *arguments]
        process = subprocess.run(command, cwd=folder, env=variables, stderr=subprocess.PIPE, text=True, check=False)
        if process.returncode:
            raise SystemExit(f"{' '.join([script, *arguments])} failed:\n{process.stderr[-3000:]}")
        ranks = folder / RANKS
        return json.loads((folder / "result.json").read_text()), np.load(ranks) if ranks.exists() else None


def ratios(runs: list[dict[str, Any]], ours: str, peer: str) -> tuple[float, float]:
    """Return our speed divided by the peer's, and the peer's latency divided by ours. Above 1, our system is better.

    Both are medians over rounds, NaN if one of the systems was not run. A ratio compares two runs of the same round,
    because the load of the machine changes between rounds.
    """
    frame, names = pd.json_normalize(runs), ("sequences_per_second", "latency_ms.p50")
    speeds, latencies = (frame.pivot_table(index="round", columns="system", values=name) for name in names)
    if not {ours, peer} <= set(speeds):
        return float("nan"), float("nan")
    return (speeds[ours] / speeds[peer]).median(), (latencies[peer] / latencies[ours]).median()


def summary(runs: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return system → medians over its runs, and the `ratios` of OURS to the system if OURS was run."""
    frame = pd.json_normalize(runs).rename(columns={"latency_ms.p50": "latency_ms"})
    table = frame.groupby("system", sort=False)[[*MEDIAN_FIGURES, "latency_ms"]].median().round(4).to_dict("index")
    for name in set(table) - {OURS.name} if OURS.name in table else ():
        speed, latency = ratios(runs, OURS.name, name)
        table[name] |= {"times_the_speed": round(speed, 4), "times_the_latency": round(latency, 4)}
    return table


def format_figures(name: str, figures: dict[str, Any], latency_ms: float) -> str:
    """Format a run or the medians of a system."""
    return (
        f"{name:<19} {figures['sequences_per_second']:8.1f} sequences/s"
        f"  {figures['fit_seconds']:7.1f} s with preparation  {figures['memory_mb']:6.0f} MB"
        f"  held-out loss {figures['cloze_loss']:.4f}  request {latency_ms:8.2f} ms"
    )


def summary_lines(table: dict[str, dict[str, Any]], runs: list[dict[str, Any]]) -> list[str]:
    """Format the `summary` of the runs and the targets for the terminal."""
    lines = ["medians:", *(f"   {format_figures(name, row, row['latency_ms'])}" for name, row in table.items())]
    for (ours, peer), target in SPEED_TARGETS.items():
        speed, latency = ratios(runs, ours, peer)
        if np.isnan(speed):
            continue
        lines.append(f"sequences/s, {ours} over {peer}: {speed:.1f} times, target {target.verdict(speed)}")
        if ours == OURS.name:
            loss, target = table[ours]["cloze_loss"], Target("cloze_loss", table[peer]["cloze_loss"])
            lines.append(f"requests, ours over {peer}: {latency:.1f} times, target {LATENCY_TARGET.verdict(latency)}")
            lines.append(f"held-out loss, ours over {peer}: {loss:.4f}, target {target.verdict(loss)}")
    return lines


if __name__ == "__main__":
    main()
