"""The commands `data` and `prepare`."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from recsys import DEFAULT_DATASET
from recsys.cli.options import command, conf, group
from recsys.config import NonNegativeInt

Name = Annotated[str, conf.Positional, conf.arg(help="Name of a data set, as in `data list`.")]
Archive = Annotated[
    Path | None, conf.arg(name="from", metavar="FILE.zip", help="An archive to use instead of the download.")
]


def list_datasets() -> None:
    """List all data sets. A data set that is not on this computer has its published size."""
    from recsys.data import datasets

    print(f"{'name':<16}{'people':>9}{'items':>8}{'ratings':>12}{'MB':>6}  {'here':<5} licence")
    for row in datasets.summaries():
        megabytes = "" if row.megabytes is None else row.megabytes
        sizes = f"{row.users:>9,}{row.items:>8,}{row.ratings:>12,}{megabytes:>6}"
        print(f"{row.name:<16}{sizes}  {'yes' if row.is_present else 'no':<5} {row.licence}")


def get(name: Name, source: Archive = None) -> None:
    """Download and prepare a data set."""
    from recsys.data import datasets, prepared
    from recsys.progress import TerminalProgress

    with TerminalProgress() as report:
        dataset = datasets.get(name, source, report)
    catalog = dataset.catalog
    print(
        f"{name} is ready: {dataset.n_users:,} users, {len(catalog):,} films, {len(dataset.interactions):,} ratings "
        f"({len(catalog.infrequent):,} films have too few ratings to train on)"
    )
    published = datasets.PUBLISHED[name]
    is_official = prepared.metadata(name)["archive"].get("official")  # False for another archive, given by --from
    prefix = "" if is_official else f"of the published {published.title}, "
    print(f"licence: {prefix}{published.licence}")


def verify(name: Name = "") -> int:
    """Check the files, models and results of a data set, or all files. The exit code is 1 if a file is damaged."""
    from recsys import verify as verification

    n_damaged = n_files = 0
    for finding in verification.check_dataset(name) if name else verification.check_all():
        print(f"{'damaged' if finding.problem else 'sound':<9}{finding}", flush=True)
        n_files += 1
        n_damaged += bool(finding.problem)
    print(f"damaged: {n_damaged:,} of {n_files:,}" if n_damaged else f"all {n_files:,} are sound")
    return 1 if n_damaged else 0


def enrich(name: Name) -> None:
    """Get directors, actors and translated titles of the films from Wikidata."""
    from recsys.data.enrich import enrich as download_details
    from recsys.progress import TerminalProgress

    with TerminalProgress() as report:
        summary = download_details(name, report)
    print(
        f"{name} is enriched: Wikidata has data on {summary.films_with_details:,} of its {summary.films:,} films "
        f"({summary.films - summary.films_with_imdb_id:,} have no IMDb id)"
    )
    print("licence: CC0, free for any use; from wikidata.org")


def add(
    name: conf.Positional[str],
    interactions: Path,
    items: Path | None = None,
    user_col: str = "",
    item_col: str = "",
    time_col: str = "",
    rating_col: str = "",
    sep: str = "",
    min_ratings: NonNegativeInt = 0,
    noun: Literal["item", "film"] = "item",
    replace: bool = False,
    check: bool = False,
) -> None:
    """Add a data set of your own: CSV, TSV, JSON lines, parquet or pairs separated by spaces, gzipped or not.

    Args:
        name: A new name.
        interactions: A file with one row per event: user, item and, optionally, time and rating.
        items: A file with titles, years, genres, pictures and texts of the items.
        user_col: Column of the user, by name or position (1, 2 …). Usual names are detected.
        item_col: Column of the item.
        time_col: Column of the time. Without one, the order of the rows counts.
        rating_col: Column of the rating. Without one, there are no ratings.
        sep: Column separator, such as ';' or tab. Detected by default.
        min_ratings: Leave out items with fewer events.
        noun: The word for an item in the app.
        replace: Replace the data set of this name.
        check: Print a summary of the file and add nothing.
    """
    from recsys.data import own_data, tables
    from recsys.errors import recsys_command

    own_data.check_name(name)
    columns = {"user": user_col, "item": item_col, "time": time_col, "rating": rating_col}
    descriptions = tables.read(items) if items else None
    checked_file = own_data.check(tables.read(interactions, sep), descriptions, columns, noun)
    print("\n".join(map(str, checked_file.messages)))
    if check:
        return
    dataset = own_data.add(name, checked_file, interactions.name, min_ratings, replace)
    if dropped_text := own_data.describe_dropped(checked_file, dataset):
        print(dropped_text)
    print(f"{name} is ready; train on it: {recsys_command('train', 'bert4rec', '--dataset', name)}")


def remove(name: Name) -> None:
    """Delete a data set of your own and its models and results."""
    from recsys.data import own_data
    from recsys.jobs import queue

    queue.check_idle(name)
    own_data.remove(name)
    print(f"deleted {name} and its models and results")


data = group(
    "data", {"list": list_datasets, "get": get, "verify": verify, "enrich": enrich, "add": add, "remove": remove}
)


@command("prepare")
def prepare(datasets: conf.Positional[tuple[str, ...]] = (DEFAULT_DATASET,)) -> int:
    """Make a public server (NEXTREEL_PUBLIC) ready: download the sentence encoder and fit recommenders in advance.

    Visitors of a public server cannot start this work.

    Args:
        datasets: Data sets on this computer.
    """
    from recsys.data.datasets import ensure
    from recsys.errors import RecsysError
    from recsys.progress import TerminalProgress
    from recsys.serving import predictor, themes

    problems = []
    for name in datasets:
        with TerminalProgress() as report:
            dataset = ensure(name, report)
            steps: dict[str, Callable[[], object]] = {
                "the sentence encoder": partial(themes.fetch_encoder, report),
                "the search by theme": partial(themes.open_index, dataset, report),
            }
            for recommender in predictor.all_recommenders():
                if not recommender.needs_training and not predictor.recommenders_to_train(recommender.name, name):
                    steps[recommender.name] = partial(predictor.load, recommender.name, dataset, report)
            for title, step in steps.items():
                try:
                    step()
                    print(f"{name}: {title} is ready")
                except RecsysError as error:
                    problems.append(f"{name}: {title} is not ready: {error}")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0
