"""Measure how long BERT4Rec takes on one GPU from its start to its published quality.

    python -m benchmarks.time_to_quality               train on ML-1M (python -m recsys data get ml-1m)
    python -m benchmarks.time_to_quality --compile     with torch.compile
    python -m benchmarks.time_to_quality --smoke       a small generated data set

Validation decides when to stop and which weights to keep. The test films are ranked once, with the standard protocol.
"training_seconds" is the time from the first batch to the last validation, "total_seconds" from the start of this
script to the last test rank. Choose settings with --no-test. `python -m recsys bench train` measures the time of an
epoch.
"""
# ruff: noqa: E402  (the clock starts before the imports)

import time

START = time.perf_counter()

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from benchmarks.bench_targets import Target
from benchmarks.generated_data import generate_dataset
from benchmarks.script import parser, write_json
from recsys import machine, runtime
from recsys.config import replace_settings
from recsys.data import datasets
from recsys.data.dataset import Dataset
from recsys.data.split import LEAVE_ONE_OUT
from recsys.errors import exit_on_error
from recsys.evaluation import protocols
from recsys.evaluation.rank import rank_held_out
from recsys.models.ablations import Bert4RecAblated, Bert4RecAblatedConfig
from recsys.ranking.metrics import METRICS, summary
from recsys.training.options import RunOptions, TrainConfig

# On a GPU, even a step with a small batch takes milliseconds. So there are few steps with a high learning rate.
ML_1M = Bert4RecAblatedConfig(
    schedule=TrainConfig(
        epochs=60, batch_size=128, lr=4e-3, warmup_steps=100, ema_decay=0.997, validate_every=5, patience=4
    ),
    dropout=0.05,
    without="relative bias",  # the settings were tuned with position embeddings as in the paper
)
SMOKE_SCHEDULE = TrainConfig(epochs=3, batch_size=32, warmup_steps=5, ema_decay=0.9, validate_every=1)
SMOKE = Bert4RecAblatedConfig(schedule=SMOKE_SCHEDULE, dim=16, length=20, pmi_init=False)
SMOKE_SHAPE = (200, 120, 20)  # users, films, mean history length
SETTING_TYPES = {  # setting of the model or its schedule that has a flag → type
    **dict.fromkeys(("batch_size", "warmup_steps", "epochs", "validate_every", "patience"), int),
    **dict.fromkeys(("lr", "ema_decay", "dropout", "mask_prob"), float),
}
TARGETS_DATASET = "ml-1m"
TARGETS = (  # for TARGETS_DATASET on an H100 or H200
    Target("test_ndcg@10", 0.1537, is_minimum=True),
    Target("training_seconds", 30),
    Target("total_seconds", 90),
)


@exit_on_error()
def main(argv: Sequence[str] | None = None) -> None:
    """Measure, and print the figures and the targets."""
    arguments = parser(__doc__)
    arguments.add_argument("--dataset", default=TARGETS_DATASET)
    arguments.add_argument("--device", default="auto", help="auto (a GPU if there is one), cpu, cuda, cuda:1 …")
    arguments.add_argument("--precision", choices=("auto", "fp32", "bf16"), default="auto")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--smoke", action="store_true", help="a small generated data set and model")
    arguments.add_argument("--no-test", action="store_true", help="do not rank the test films")
    arguments.add_argument("--compile", action="store_true", help="use torch.compile")
    for name, value_type in SETTING_TYPES.items():
        arguments.add_argument("--" + name.replace("_", "-"), type=value_type, help="setting of the model")
    options = arguments.parse_args(argv)
    run = RunOptions(seed=options.seed, device=options.device, precision=options.precision, compile=options.compile)
    changes = {name: value for name in SETTING_TYPES if (value := getattr(options, name)) is not None}
    config = replace_settings(SMOKE if options.smoke else ML_1M, changes)
    dataset = generate_dataset(*SMOKE_SHAPE) if options.smoke else datasets.load(options.dataset)
    result = measure(dataset, config, run, not options.no_test)
    print(f"\n{result['dataset']} on {result['device']}, {'compiled' if run.compile else 'eager'}")
    print("\n".join(f"{name} {value}" for name, value in result.items() if name.endswith(("seconds", "epoch", "@10"))))
    if result["dataset"] == TARGETS_DATASET and result["device"].startswith("cuda"):
        values = ((target, result.get(target.figure)) for target in TARGETS)
        print("\n".join(f"{target.figure} {value}, target {target.verdict(value)}" for target, value in values))
    else:
        print(f"the targets were not checked, because they are for {TARGETS_DATASET} on one GPU")
    write_json(options.json, {"benchmark": "time_to_quality", "machine": machine.describe(), "runs": [result]})


def measure(dataset: Dataset, config: Bert4RecAblatedConfig, run: RunOptions, with_test: bool) -> dict[str, Any]:
    """Train with early stopping, rank the test films if `with_test`, and return metrics and the time of each part."""
    events: list[dict[str, Any]] = []

    def report(event: dict[str, Any]) -> None:
        events.append(event)
        if "ndcg@10" in event:
            line = f"epoch {event['epoch']}  {event['seconds']:.1f} s  loss {event['loss']:.3f}"
            print(f"{line}  validation NDCG@10 {event['ndcg@10']:.4f}", flush=True)

    split = LEAVE_ONE_OUT(dataset)
    load_end = time.perf_counter()
    model = Bert4RecAblated(config).fit(split.train, split.valid, replace(run, report=report))
    fit_end = time.perf_counter()
    test = {}
    if with_test:
        test = summary(rank_held_out(model, split.test, protocols.FULL, dataset, with_lists=False).ranks)
    end = time.perf_counter()
    validations = [event for event in events if "ndcg@10" in event]
    best = max(validations, key=lambda event: event["ndcg@10"])
    training_seconds = events[-1]["seconds"]  # since the first batch
    return {
        "dataset": dataset.name,
        "users": dataset.n_users,
        "films": dataset.n_items,
        "compiled": run.compile,
        "precision": run.precision,
        "seed": run.seed,
        "config": asdict(config),
        "device": model.device,
        "epochs": len(events),
        "best_epoch": best["epoch"],
        **{f"valid_{name}": best[name] for name in METRICS},
        **{f"test_{name}": round(value, 6) for name, value in test.items()},
        "load_seconds": round(load_end - START, 2),  # with imports
        # for building the module, its initialisation from PMI, and restoring the best weights
        "preparation_seconds": round(fit_end - load_end - training_seconds, 2),
        "training_seconds": round(training_seconds, 2),
        "first_epoch_seconds": round(events[0]["seconds"], 2),  # with the compilation
        "test_seconds": round(end - fit_end, 2),
        "total_seconds": round(end - START, 2),
        "memory_mb": round(runtime.peak_memory_mb()),
        "gpu_memory_mb": max(event["memory_mb"] for event in events) if model.device.startswith("cuda") else None,
        "curve": [{name: event[name] for name in ("epoch", "seconds", "loss", "ndcg@10")} for event in validations],
    }


if __name__ == "__main__":
    main()
