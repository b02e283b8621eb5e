"""People of a data set, by the ids of its ratings file: what to recommend to one of them, or to all.

Shapes: U users, K films of a list.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from recsys import storage
from recsys.data.dataset import Dataset
from recsys.errors import RecsysError
from recsys.progress import ProgressCallback, no_progress
from recsys.serving.export import escape_table
from recsys.serving.filters import Filters
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import Request, ServingError, recommend_many

BATCH_USERS = 2048  # people whose lists are made between two reports
COLUMNS = ("user_id", "rank", "movie_id", "title", "year", "score", "probability")
FORMATS = (".csv", ".parquet")


def user_row(dataset: Dataset, user_id: int | str) -> int:
    """The row 0…U-1 of a person; raises ServingError for an id, or a name, that the ratings file does not have."""
    if dataset.user_names is not None:
        found = np.flatnonzero(dataset.user_names == str(user_id))
        if len(found):
            return int(found[0])
        examples = ", ".join(dataset.user_names[:3])
        raise ServingError(
            "{name} has no person {user_id}; its {n_users:,} are called {examples} …",
            name=dataset.name,
            user_id=user_id,
            n_users=dataset.n_users,
            examples=examples,
        )
    if not str(user_id).removeprefix("-").isdecimal():
        raise ServingError(
            "{name} has no person {user_id}: its people have numbers", name=dataset.name, user_id=user_id
        )
    user_id = int(user_id)
    row = int(np.searchsorted(dataset.user_ids, user_id))  # ids ascend
    if row < dataset.n_users and dataset.user_ids[row] == user_id:
        return row
    first, last = dataset.user_ids[[0, -1]]
    raise ServingError(
        "{name} has no person {user_id}; its {n_users:,} ids lie from {low} to {high}",
        name=dataset.name,
        user_id=user_id,
        n_users=dataset.n_users,
        low=first,
        high=last,
    )


def user_request(predictor: Predictor, row: int, k: int, filters: Filters) -> Request:
    """What a person would ask for: films after all that they watched, with their ratings where the model reads them."""
    dataset, own = predictor.dataset, slice(*predictor.dataset.offsets[row : row + 2].tolist())
    history = tuple(dataset.history(row).tolist())
    if not predictor.model.uses_query_ratings:
        return Request(history, k, filters)
    given = dict(zip(history, dataset.interactions.rating[own].tolist(), strict=True))  # of several, the last one
    return Request(history, k, filters, ratings=tuple(given.items()))


def recommend_for_all(
    predictor: Predictor, k: int, filters: Filters, report: ProgressCallback = no_progress, rows: range | None = None
) -> pd.DataFrame:
    """A row for each of the K best films of each of the U people: COLUMNS; probability is NaN where there is none.

    rows: of the people, where it is not all. Reports {"stage": "rank", "done", "total"} in people.
    """
    dataset, lines = predictor.dataset, []
    wanted = range(dataset.n_users) if rows is None else rows
    for start in range(0, len(wanted), BATCH_USERS):
        people = wanted[start : start + BATCH_USERS]
        lists = recommend_many(predictor, [user_request(predictor, row, k, filters) for row in people])
        lines += [
            (
                dataset.user_ids[row] if dataset.user_names is None else dataset.user_names[row],
                one.rank,
                one.film.movie_id,
                one.film.title,
                one.film.year,
                one.score,
                one.probability,
            )
            for row, found in zip(people, lists, strict=True)
            for one in found
        ]
        report({"stage": "rank", "done": start + len(people), "total": len(wanted)})
    table = pd.DataFrame(lines, columns=list(COLUMNS))
    return table.astype({"year": "Int64", "score": "float32", "probability": "float32"})


def check_format(path: Path) -> None:
    """Raise RecsysError where `write` would not know how to write a file of that name."""
    if path.suffix not in FORMATS:
        raise RecsysError("{name}: write a file that ends in {formats}", name=path.name, formats=" or ".join(FORMATS))


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Keep a table as .csv (UTF-8, cells that no spreadsheet takes for a formula) or .parquet, whole or not at all.

    Raises RecsysError for another ending (`check`), and where pyarrow is missing; OSError when the disk refuses.
    """
    check_format(path)
    try:
        data = escape_table(table).to_csv(index=False).encode() if path.suffix == ".csv" else table.to_parquet()
    except ImportError as error:
        raise RecsysError(
            "parquet needs pyarrow, which is missing; name a .csv, or: pip install pyarrow ({error})", error=error
        ) from error
    storage.replace_file(path, data)
