"""`python -m recsys evaluate`, as seen in a terminal."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from tqdm import tqdm

from recsys import store
from recsys.data import movielens
from recsys.data.schema import DataError, Dataset
from recsys.evaluation import protocols, results, run
from recsys.evaluation.metrics import ScoreError
from recsys.models import registry
from recsys.training import device as devices
from recsys.training import distributed

ALL = "all"
Part = Literal["test", "valid"]
READABLE = (
    DataError,
    ScoreError,
    protocols.ProtocolError,
    results.ResultError,
    run.EvaluationError,
    store.StoreError,
)


def evaluate_command(
    variant: str,
    dataset_name: str,
    protocol: str = "full",
    seeds: Sequence[int] | None = None,
    ship: bool = False,
    part: Part = "test",
) -> int:
    """Measure a model with a progress bar and print its table; returns the exit code, 1 after a one-line error.

    `variant` and `protocol` may be "all": then each result is a line, and what cannot be measured is told and skipped.
    """
    try:
        dataset = movielens.load(dataset_name)
        with distributed.group(devices.choose("auto")):
            if ALL in (variant, protocol):
                return _evaluate_all(variant, dataset, protocol, seeds, ship, part)
            document = _evaluate_one(variant, dataset, protocol, seeds, ship, part)
            if distributed.rank():
                return 0
    except READABLE as error:
        print(error.args[0], file=sys.stderr)
        return 1
    print(table(document, part))
    return 0


def _evaluate_one(
    variant: str, dataset: Dataset, protocol: str, seeds: Sequence[int] | None, ship: bool, part: Part
) -> dict[str, Any]:
    with _progress(f"{variant} on {dataset.name}, {protocol}") as report:
        return run.evaluate(variant, dataset, protocol, seeds, part, ship, report)


def _evaluate_all(
    variant: str, dataset: Dataset, protocol: str, seeds: Sequence[int] | None, ship: bool, part: Part
) -> int:
    """Everything that can be measured; exit code 1 when that is nothing."""
    measured = 0
    for rules in protocols.PROTOCOLS if protocol == ALL else [protocol]:
        for name in registry.names() if variant == ALL else [variant]:
            try:
                document = _evaluate_one(name, dataset, rules, seeds, ship, part)
            except (*READABLE, ImportError) as error:  # a library that is not installed stops one model, not all
                if not distributed.rank():
                    print(f"skipped {name}, {rules}: {error.args[0]}", file=sys.stderr, flush=True)
                continue
            measured += 1
            if not distributed.rank():
                print(line(document), flush=True)
    return 0 if measured else 1


def line(document: dict[str, Any]) -> str:
    """A result in one line: variant, protocol, number of seeds, NDCG@10 with its 95 % interval, HR@10."""
    mean, (low, high) = document["mean"], document["interval"]["ndcg@10"]
    return (
        f"{document['variant']:20} {document['protocol']['name']:15} seeds {len(document['seeds'])}  "
        f"NDCG@10 {mean['ndcg@10']:.4f} ({low:.4f}–{high:.4f})  HR@10 {mean['hr@10']:.4f}"
    )


def table(document: dict[str, Any], part: str = "test") -> str:
    """A result as text: a line per metric with mean, interval over users, spread over seeds if several, and each."""
    seeds = document["seeds"]
    lines = [
        f"{document['title']} · {document['dataset']} · {document['protocol']['name']} · {part}",
        f"{'':8}{'mean':>9}{'95 % from':>11}{'to':>9}{'± std':>9}"
        + "".join(f"{'seed ' + str(run['seed']):>9}" for run in seeds),
    ]
    for name in results.METRICS:
        spread = f"{document['std'][name]:9.4f}" if document["std"] else f"{'':9}"
        each = "".join(f"{run['metrics'][name]:9.4f}" for run in seeds)
        low, high = document["interval"][name]
        lines.append(f"{name:8}{document['mean'][name]:9.4f}{low:11.4f}{high:9.4f}{spread}{each}")
    return "\n".join(lines)


@contextmanager
def _progress(title: str) -> Iterator[Callable[[dict[str, Any]], None]]:
    """A bar where somebody is watching; of several processes the first shows it."""
    with tqdm(desc=title, unit="user", disable=True if distributed.rank() else None) as bar:
        yield lambda event: _advance(bar, event)


def _advance(bar: tqdm, event: dict[str, Any]) -> None:
    """Show a ranking event; the next seed starts the bar anew."""
    if event.get("stage") == "rank":
        if event["done"] < bar.n:
            bar.reset()
        bar.total = event["total"]
        bar.update(event["done"] - bar.n)
