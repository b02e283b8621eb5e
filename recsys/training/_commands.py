"""`python -m recsys train`: flags from the model's Config, progress for people or as JSON lines."""

import argparse
import dataclasses
import json
import platform
import time
from importlib.metadata import version
from typing import Any

from recsys import paths, store
from recsys.data import movielens
from recsys.data.split import split
from recsys.models import registry
from recsys.training import device as devices
from recsys.training import distributed, resume
from recsys.training.loop import METRIC, read_log
from recsys.training.run import Run


def train_command(variant: str, arguments: list[str]) -> int:
    """Train `variant` and keep it; returns the exit code."""
    cls = registry.get(variant)
    options = _parser(variant, cls.Config).parse_args(arguments)
    preset = cls.preset(variant, options.dataset)
    chosen = {field.name: getattr(options, field.name) for field in dataclasses.fields(cls.Config)}
    config = dataclasses.replace(preset, **{name: value for name, value in chosen.items() if value is not None})

    dataset = movielens.load(options.dataset)
    parts = split(dataset, options.protocol)
    kept_as = paths.training(options.dataset, options.protocol)
    folder = paths.checkpoint(kept_as, variant, options.seed)
    report = _print_json if options.json else _print_line
    with distributed.group(devices.choose(options.device)) as device:
        run = Run(
            seed=options.seed,
            device=str(device),
            folder=folder,
            resume=options.resume,
            report=report,
            save_every=options.save_every,
            precision=options.precision,
            compile=options.compile,
        )
        model = cls(config).fit(parts.train, parts.valid, run)
        if distributed.rank():
            return 0
    store.save(folder, variant, model, dataset, options.seed, _notes(read_log(folder)), options.protocol)
    resume.clear(folder)  # only now: a kill until here loses nothing
    if options.ship:
        store.ship(variant, kept_as, options.seed)
    if not options.json:
        measure = f"python -m recsys evaluate {variant} --dataset {options.dataset} --protocol {options.protocol}"
        print(f"kept in {folder}\nmeasure it: {measure}")
    return 0


def _notes(log: list[dict[str, Any]]) -> dict[str, Any]:
    """What the checkpoint remembers of its making; `log`: the whole run's events, none where nothing is trained."""
    if not log:
        return {}
    best = max(log, key=lambda event: event.get(METRIC, -1))
    return {
        "validation": {name: value for name, value in best.items() if "@" in name or name == "mrr"},
        "best_epoch": best["epoch"],
        "epochs": log[-1]["epoch"],
        "seconds": log[-1]["seconds"],
        "versions": {"python": platform.python_version(), "torch": version("torch")},
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }


def _print_json(event: dict[str, Any]) -> None:
    print(json.dumps(event), flush=True)


def _print_line(event: dict[str, Any]) -> None:
    """`epoch 12/100  loss 5.912  640 sequences/s  413 MB  NDCG@10 .0981 (best .0981)  12:30 left`."""
    if "epoch" not in event:
        return
    line = f"epoch {event['epoch']:>3}/{event['epochs']}  loss {event['loss']:.3f}"
    line += f"  {event['sequences_per_second']:,.0f} sequences/s  {event['memory_mb']:,.0f} MB"
    if "ndcg@10" in event:
        line += f"  NDCG@10 {event['ndcg@10']:.4f} (best {event['best']:.4f})"
    minutes, seconds = divmod(round(event["seconds_left"]), 60)
    print(f"{line}  {minutes}:{seconds:02d} left", flush=True)


def _parser(variant: str, config: type) -> argparse.ArgumentParser:
    """The settings of a run, and one flag for each field of the model's Config."""
    parser = argparse.ArgumentParser(prog=f"python -m recsys train {variant}")
    parser.add_argument("--dataset", default="ml-100k")
    parser.add_argument(
        "--protocol",
        choices=("full", "time"),
        default="full",
        help="what it is to be measured by: full (and the sampled ones), or time, which learns from what lies before",
    )
    parser.add_argument("--device", default="auto", help="auto (a GPU if there is one), cpu, cuda, cuda:1 …")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", action="store_true", help="go on where a stopped run of these settings was")
    parser.add_argument("--save-every", type=float, default=60, metavar="SECONDS", help="what a kill can cost (60)")
    parser.add_argument("--precision", choices=("auto", "fp32", "bf16"), default="auto", help="of matrix products")
    parser.add_argument("--compile", action="store_true", help="hand the encoder to torch.compile")
    parser.add_argument("--json", action="store_true", help="progress as JSON lines")
    parser.add_argument("--ship", action="store_true", help="copy the checkpoint into assets/")
    settings = parser.add_argument_group("settings of the model (default: tuned for the data set)")
    for field in dataclasses.fields(config):
        flag = "--" + field.name.replace("_", "-")
        if field.type in (bool, "bool"):
            settings.add_argument(flag, action=argparse.BooleanOptionalAction, default=None)
        else:
            kind = {"int": int, "float": float, "str": str}.get(str(field.type), field.type)
            settings.add_argument(flag, type=kind, default=None, metavar=str(field.default))
    return parser
