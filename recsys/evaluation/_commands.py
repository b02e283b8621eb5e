"""`python -m recsys evaluate`, as seen in a terminal."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from tqdm import tqdm

from recsys import store
from recsys.data import movielens
from recsys.data.schema import DataError
from recsys.evaluation import protocols, results, run
from recsys.evaluation.metrics import ScoreError
from recsys.training import device as devices
from recsys.training import distributed

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
    part: Literal["test", "valid"] = "test",
) -> int:
    """Measure a model with a progress bar and print its table; returns the exit code, 1 after a one-line error."""
    try:
        dataset = movielens.load(dataset_name)
        with distributed.group(devices.choose("auto")), _progress(f"{variant} on {dataset_name}") as report:
            document = run.evaluate(variant, dataset, protocol, seeds, part, ship, report)
            if distributed.rank():
                return 0
    except READABLE as error:
        print(error.args[0], file=sys.stderr)
        return 1
    print(table(document, part))
    return 0


def table(document: dict[str, Any], part: str = "test") -> str:
    """A result as text: one line per metric with the mean, the spread where there are several seeds, and each seed."""
    seeds = document["seeds"]
    lines = [
        f"{document['title']} · {document['dataset']} · {document['protocol']['name']} · {part}",
        f"{'':8}{'mean':>9}{'± std':>9}" + "".join(f"{'seed ' + str(run['seed']):>9}" for run in seeds),
    ]
    for name in results.METRICS:
        spread = f"{document['std'][name]:9.4f}" if document["std"] else f"{'':9}"
        each = "".join(f"{run['metrics'][name]:9.4f}" for run in seeds)
        lines.append(f"{name:8}{document['mean'][name]:9.4f}{spread}{each}")
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
