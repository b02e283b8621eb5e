"""The commands `evaluate` and `report`."""

import sys
from itertools import product
from typing import Any, Literal

from recsys import DEFAULT_DATASET
from recsys.cli.options import ALL, ProtocolName, ProtocolOrAll, command, conf
from recsys.config import Seed
from recsys.errors import RecsysError

# baseline of `evaluation.rating_errors` → title
BASELINE_TITLES = {"mean": "mean of all ratings", "film and person": "film mean and user bias"}


@command("evaluate")
def evaluate(
    model: conf.Positional[str],
    dataset: str = DEFAULT_DATASET,
    protocol: ProtocolOrAll = "full",
    seeds: tuple[Seed, ...] = (),
    part: Literal["test", "valid"] = "test",
    device: str = "auto",
    add: bool = False,
    ship: bool = False,
) -> int:
    """Measure a recommender and store the result.

    Args:
        model: A recommender, or all. With all, recommenders that cannot be measured are skipped.
        dataset: A data set on this computer.
        protocol: An evaluation protocol, or all.
        seeds: Seeds of the trainings to measure. Without any, all seeds trained on this computer, else the seed of the
            shipped model.
        part: test items, or validation items for choosing settings. valid writes no file and refuses models that were
            fitted on these items.
        device: auto (a GPU if available), cpu, cuda, cuda:1 …
        add: Add the seeds to the stored result, which must have the same settings and data.
        ship: Also copy the result into assets/.
    """
    from recsys.data.datasets import ensure
    from recsys.evaluation.evaluate import evaluate as measure
    from recsys.evaluation.protocols import PROTOCOLS
    from recsys.models import registry
    from recsys.progress import TerminalProgress, no_progress
    from recsys.training import device as devices
    from recsys.training import distributed

    protocols = list(PROTOCOLS) if protocol == ALL else [protocol]
    recommenders = registry.names() if model == ALL else [model]
    is_single = ALL not in (model, protocol)
    n_measured = 0
    with TerminalProgress() as progress:
        data = ensure(dataset, progress)
    with devices.default_device(device), distributed.process_group(devices.choose(device)):
        is_main_process = distributed.rank() == 0
        for protocol_name, recommender in product(protocols, recommenders):
            stream = sys.stdout
            try:
                with TerminalProgress(f"{recommender} on {dataset}, {protocol_name}") as progress:
                    callback = progress if is_main_process else no_progress
                    document = measure(recommender, data, protocol_name, seeds, part, ship, callback, add)
                text = format_table(document, part) if is_single else format_line(document)
                n_measured += 1
            except RecsysError as error:
                if is_single:
                    raise
                text = f"skipped {recommender}, {protocol_name}: {error}"
                stream = sys.stderr
            if is_main_process:
                print(text, file=stream, flush=True)
    return 0 if n_measured else 1


@command("report")
def report(
    dataset: tuple[str, ...] = (),
    protocol: tuple[ProtocolName, ...] = (),
    brief: bool = False,
    beside: ProtocolName | None = None,
) -> None:
    """Print all results as Markdown, with published results for comparison.

    Args:
        dataset: Data sets. Without any, all data sets with results.
        protocol: Evaluation protocols. Without any, all.
        brief: Print the leaderboards only.
        beside: Another protocol. Each leaderboard gets a column with its NDCG@10.
    """
    from recsys.evaluation.report import format_report

    print(format_report(dataset, protocol, brief, other_protocol=beside or ""))


def format_line(document: dict[str, Any]) -> str:
    """Return a result in one line: recommender, protocol, number of seeds, NDCG@10 with its 95 % interval, HR@10."""
    mean, (low, high) = document["mean"], document["interval"]["ndcg@10"]
    return (
        f"{document['variant']:20} {document['protocol']['name']:15} seeds {len(document['seeds'])}  "
        f"NDCG@10 {mean['ndcg@10']:.4f} ({low:.4f}–{high:.4f})  HR@10 {mean['hr@10']:.4f}"
    )


def format_table(document: dict[str, Any], part: str = "test") -> str:
    """Return a result as a table of metrics. The interval is over users, the standard deviation over seeds."""
    seed_rows = document["seeds"]
    header = f"{'':8}{'mean':>9}{'95 % from':>11}{'to':>9}{'± std':>9}"
    lines = [
        f"{document['title']} · {document['dataset']} · {document['protocol']['name']} · {part}",
        header + "".join(f"{'seed ' + str(row['seed']):>9}" for row in seed_rows),
    ]
    for name in document["mean"]:
        spread = f"{document['std'][name]:9.4f}" if document["std"] else f"{'':9}"
        values = "".join(f"{row['metrics'][name]:9.4f}" for row in seed_rows)
        low, high = document["interval"][name]
        lines.append(f"{name:8}{document['mean'][name]:9.4f}{low:11.4f}{high:9.4f}{spread}{values}")
    if "stars" in document:
        errors = document["stars"]  # see `rating_errors.summary`
        header = "".join(f"{metric:>9}{'95 % from':>11}{'to':>9}" for metric in ("RMSE", "MAE"))
        lines.append(f"{'rating of the held-out film':34}{header}")
        rows = {document["title"]: errors} | {BASELINE_TITLES[name]: row for name, row in errors["baselines"].items()}
        for title, row in rows.items():
            cells = [(row[metric], *row["interval"][metric]) for metric in ("rmse", "mae")]
            lines.append(f"{title:34}" + "".join(f"{value:9.4f}{low:11.4f}{high:9.4f}" for value, low, high in cells))
    return "\n".join(lines)
