"""How long BERT4Rec takes from nothing to the quality that is published for it, on one GPU.

    python -m benchmarks.time_to_quality                      trains on ML-1M, eagerly
    python -m benchmarks.time_to_quality --both --json FILE   eagerly, then compiled, each in a process of its own
    python -m benchmarks.time_to_quality --epoch-of-ml20m     times an epoch of a generated set of ML-20M's shape
    python -m benchmarks.time_to_quality --smoke              the same steps on a tiny set: do they work here?

Needs ML-1M (python -m recsys data get ml-1m) and the packages torch, numpy, pandas, scipy, safetensors and tqdm.
Validation says when to stop and which weights to keep; the test films are looked at once, at the end, under the
standard protocol (README). Two clocks: *training* runs from the first batch to the last validation, a compiler's work
included; *everything* from the start of this script to the last test rank: imports, data, initialisation, training,
test. Settings are chosen with --no-test, by validation.
"""
# ruff: noqa: E402  (the clock starts before anything heavy is imported)

import time

BEGAN = time.perf_counter()

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from benchmarks.bar import Bar
from recsys import machine, paths, runtime
from recsys.bench.shapes import generated
from recsys.bench.train import time_training
from recsys.data import datasets
from recsys.data.dataset import Dataset
from recsys.data.split import LEAVE_ONE_OUT
from recsys.errors import RecsysError
from recsys.evaluation import protocols
from recsys.evaluation.rank import ranks
from recsys.models.ablations import Bert4RecAblated, Bert4RecAblatedConfig
from recsys.ranking.metrics import summary
from recsys.training.options import RunOptions, TrainConfig

# Launching a step costs a GPU some milliseconds, however small it is: hence few large ones, at a higher rate.
ML_1M = Bert4RecAblatedConfig(
    schedule=TrainConfig(
        epochs=60, batch_size=128, lr=4e-3, warmup_steps=100, ema_decay=0.997, validate_every=5, patience=4
    ),
    dropout=0.05,
    without="relative bias",  # tuned with the paper's position embeddings
)
ML_20M = Bert4RecAblatedConfig(
    schedule=TrainConfig(epochs=3, batch_size=256), dim=256, pmi_init=False, without="relative bias"
)
SMOKE = Bert4RecAblatedConfig(
    schedule=TrainConfig(epochs=3, batch_size=32, warmup_steps=5, ema_decay=0.9, validate_every=1),
    dim=16,
    length=20,
    pmi_init=False,
)
SCHEDULE_FLAGS = ("batch_size", "lr", "warmup_steps", "ema_decay", "epochs", "validate_every", "patience")
MODEL_FLAGS = ("dropout", "mask_prob")
ML_20M_SHAPE, SMOKE_SHAPE = (138_493, 26_744, 144), (200, 120, 20)  # users, films, mean films of a user


# What one H100 or H200 has to reach.
QUALITY_BARS = (Bar("test_ndcg@10", 0.1537, at_least=True), Bar("training_seconds", 30), Bar("everything_seconds", 90))
EPOCH_BARS = (Bar("seconds_per_epoch", 4), Bar("gpu_memory_mb", 10_000))


def main(argv: list[str] | None = None) -> int:
    """Measure, print, and write {machine, runs: […]} to the file of --json; returns the exit code."""
    argv = sys.argv[1:] if argv is None else argv
    options = parser().parse_args(argv)
    try:
        runs = both([flag for flag in argv if flag != "--both"]) if options.both else [measure(options)]
        if options.json:
            document = {"benchmark": "time_to_quality", "machine": machine.describe(), "runs": runs}
            options.json.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", "utf-8")
    except RecsysError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def parser() -> argparse.ArgumentParser:
    """The flags."""
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--dataset", default="ml-1m")
    flags.add_argument("--device", default="auto", help="auto (a GPU if there is one), cpu, cuda, cuda:1 …")
    flags.add_argument("--precision", choices=("auto", "fp32", "bf16"), default="auto")
    flags.add_argument("--seed", type=int, default=0)
    flags.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    flags.add_argument("--smoke", action="store_true", help="a tiny generated set and model instead")
    flags.add_argument("--epoch-of-ml20m", action="store_true", help="only time epochs, of ML-20M's shape")
    flags.add_argument("--no-test", action="store_true", help="leave the test films alone: for choosing settings")
    how = flags.add_mutually_exclusive_group()
    how.add_argument("--compile", action="store_true", help="hand the model to torch.compile")
    how.add_argument("--both", action="store_true", help="a run without, then one with compilation")
    for name, owner in [(name, ML_1M.schedule) for name in SCHEDULE_FLAGS] + [(name, ML_1M) for name in MODEL_FLAGS]:
        flags.add_argument("--" + name.replace("_", "-"), type=type(getattr(owner, name)), help="of the model")
    return flags


def both(flags: list[str]) -> list[dict[str, Any]]:
    """A run without and one with compilation, each from nothing: processes of their own."""
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.json"
        for extra in ([], ["--compile"]):
            command = [sys.executable, "-m", "benchmarks.time_to_quality", *flags, *extra, "--json", str(file)]
            if subprocess.run(command, cwd=paths.REPOSITORY, check=False).returncode:
                raise RecsysError(f"a run failed, its message is above; try it alone: {' '.join(command[1:-2])}")
            runs += json.loads(file.read_text("utf-8"))["runs"]
    return runs


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """One run in this process, reported in lines as it goes."""
    run = RunOptions(options.seed, options.device, precision=options.precision, compile=options.compile)
    config = chosen(options)
    if options.epoch_of_ml20m:
        result, bars = epochs(generated(*(SMOKE_SHAPE if options.smoke else ML_20M_SHAPE)), config, run), EPOCH_BARS
    else:
        dataset = generated(*SMOKE_SHAPE) if options.smoke else datasets.load(options.dataset)
        result, bars = time_to_quality(dataset, config, run, not options.no_test), QUALITY_BARS
    print(f"\n{result['dataset']} on {result['device']}, {'compiled' if run.compile else 'eager'}")
    print("\n".join(f"{name} {value}" for name, value in result.items() if name.endswith(("seconds", "epoch", "@10"))))
    if options.smoke or not result["device"].startswith("cuda"):
        print("the bars are for one GPU and the whole set: open")
    else:
        print(
            "\n".join(
                f"{bar.figure} {result.get(bar.figure)}, bar {bar.verdict(result.get(bar.figure))}" for bar in bars
            )
        )
    return result


def chosen(options: argparse.Namespace) -> Bert4RecAblatedConfig:
    """The settings of the run that was asked for, with those of the flags."""
    config = SMOKE if options.smoke else ML_20M if options.epoch_of_ml20m else ML_1M
    given = {name: value for name, value in vars(options).items() if value is not None}
    schedule = replace(config.schedule, **{name: given[name] for name in SCHEDULE_FLAGS if name in given})
    return replace(config, schedule=schedule, **{name: given[name] for name in MODEL_FLAGS if name in given})


def time_to_quality(
    dataset: Dataset, config: Bert4RecAblatedConfig, run: RunOptions, look_at_test: bool = True
) -> dict[str, Any]:
    """Train with early stopping, then rank the test films; the seconds of each part."""
    events: list[dict[str, Any]] = []
    split = LEAVE_ONE_OUT(dataset)
    loaded = time.perf_counter()
    model = Bert4RecAblated(config).fit(
        split.train, split.valid, replace(run, report=lambda e: events.append(e) or show(e))
    )
    fitted = time.perf_counter()
    test = summary(ranks(model, split.test, protocols.FULL, dataset)) if look_at_test else {}
    ended = time.perf_counter()
    validations = [event for event in events if "ndcg@10" in event]
    best = max(validations, key=lambda event: event["ndcg@10"])
    training = events[-1]["seconds"]
    return {
        **circumstances(dataset, config, run),
        "device": model.device,
        "epochs": len(events),
        "best_epoch": best["epoch"],
        **{f"valid_{name}": best[name] for name in test or ("ndcg@10", "hr@10")},
        **{f"test_{name}": round(value, 6) for name, value in test.items()},
        "load_seconds": round(loaded - BEGAN, 2),  # imports too
        "prepare_seconds": round(fitted - loaded - training, 2),  # module, PMI initialisation, best weights put back
        "training_seconds": round(training, 2),
        "first_epoch_seconds": round(events[0]["seconds"], 2),  # where a compiler works
        "test_seconds": round(ended - fitted, 2),
        "everything_seconds": round(ended - BEGAN, 2),
        "memory_mb": round(runtime.peak_memory_mb()),
        "gpu_memory_mb": max(event["memory_mb"] for event in events) if model.device.startswith("cuda") else None,
        "curve": [{name: event[name] for name in ("epoch", "seconds", "loss", "ndcg@10")} for event in validations],
    }


def epochs(dataset: Dataset, config: Bert4RecAblatedConfig, run: RunOptions) -> dict[str, Any]:
    """Seconds and memory of an epoch."""
    return circumstances(dataset, config, run) | time_training("bert4rec", config, dataset, run)


def circumstances(dataset: Dataset, config: Bert4RecAblatedConfig, run: RunOptions) -> dict[str, Any]:
    """What was trained, and how."""
    return {
        "dataset": dataset.name,
        "users": dataset.n_users,
        "films": dataset.n_items,
        "compiled": run.compile,
        "precision": run.precision,
        "seed": run.seed,
        "config": asdict(config),
    }


def show(event: dict[str, Any]) -> None:
    """`epoch 10  12.3 s  loss 5.912  NDCG@10 .1385`, after epochs with a validation."""
    if "ndcg@10" in event:
        line = f"epoch {event['epoch']}  {event['seconds']:.1f} s  loss {event['loss']:.3f}"
        print(f"{line}  validation NDCG@10 {event['ndcg@10']:.4f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
