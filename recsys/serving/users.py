"""Recommend films to the users of a data set, and write the recommendations to a table.

A user is identified by a row 0…U-1, which `user_row` finds by id or name.

Shapes: U users.
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

BATCH_USERS = 2048  # users between two progress events
COLUMNS = ("user_id", "rank", "movie_id", "title", "year", "score", "probability")
FORMATS = (".csv", ".parquet")  # endings of the names of files that `write_table` can write


def user_row(dataset: Dataset, user_id: int | str) -> int:
    """Return the row of the user with an id or, in a data set with `user_names`, with a name.

    Raises:
        ServingError: If the ratings file has no such user.
    """
    if dataset.user_names is not None:
        rows = np.flatnonzero(dataset.user_names == str(user_id))
        if len(rows):
            return int(rows[0])
        raise ServingError(
            "{name} has no person {user_id}; its {n_users:,} people have names such as {examples}",
            name=dataset.name,
            user_id=user_id,
            n_users=dataset.n_users,
            examples=", ".join(dataset.user_names[:3]),
        )
    if not str(user_id).removeprefix("-").isdecimal():
        raise ServingError(
            "{name} has no person {user_id}: the IDs of its people are numbers", name=dataset.name, user_id=user_id
        )
    user_id = int(user_id)
    row = int(np.searchsorted(dataset.user_ids, user_id))  # `user_ids` is ascending
    if row < dataset.n_users and dataset.user_ids[row] == user_id:
        return row
    low, high = dataset.user_ids[[0, -1]]
    raise ServingError(
        "{name} has no person {user_id}; its {n_users:,} IDs range from {low} to {high}",
        name=dataset.name,
        user_id=user_id,
        n_users=dataset.n_users,
        low=low,
        high=high,
    )


def user_request(predictor: Predictor, row: int, k: int, filters: Filters) -> Request:
    """Return a request for k films with the whole history of a user, and with the ratings if the model reads them."""
    dataset = predictor.dataset
    history = tuple(dataset.history(row).tolist())
    if not predictor.model.uses_query_ratings:
        return Request(history, k, filters)
    start, end = dataset.offsets[row : row + 2]
    stars = dataset.interactions.rating[start:end].tolist()
    last_stars = dict(zip(history, stars, strict=True))  # if a film has several ratings, the last rating
    return Request(history, k, filters, ratings=tuple(last_stars.items()))


def recommend_for_users(
    predictor: Predictor, k: int, filters: Filters, report: ProgressCallback = no_progress, rows: range | None = None
) -> pd.DataFrame:
    """Return the k best films of each user as a table with COLUMNS and a row per user and film.

    `rows` are the rows of the users, None for all. `report` receives {"stage": "rank", "done": users, "total": users}.
    """
    dataset, records = predictor.dataset, []
    rows = range(dataset.n_users) if rows is None else rows
    for start in range(0, len(rows), BATCH_USERS):
        batch = rows[start : start + BATCH_USERS]
        lists = recommend_many(predictor, [user_request(predictor, row, k, filters) for row in batch])
        for row, recommendations in zip(batch, lists, strict=True):
            user_id = dataset.user_ids[row] if dataset.user_names is None else dataset.user_names[row]
            for pick in recommendations:
                film = pick.film
                records.append((user_id, pick.rank, film.movie_id, film.title, film.year, pick.score, pick.probability))
        report({"stage": "rank", "done": start + len(batch), "total": len(rows)})
    table = pd.DataFrame(records, columns=list(COLUMNS))
    return table.astype({"year": "Int64", "score": "float32", "probability": "float32"})


def check_format(path: Path) -> None:
    """Raise RecsysError if `write_table` does not support the ending of a file name."""
    if path.suffix not in FORMATS:
        raise RecsysError("{name}: the file name must end in {formats}", name=path.name, formats=" or ".join(FORMATS))


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table to .csv (UTF-8, with escaped formulas) or .parquet. An existing file is replaced atomically.

    Raises:
        RecsysError: If the ending is not supported, or if pyarrow is missing.
        OSError: If the file cannot be written.
    """
    check_format(path)
    try:
        content = escape_table(table).to_csv(index=False).encode() if path.suffix == ".csv" else table.to_parquet()
    except ImportError as error:
        text = (
            "parquet needs pyarrow, which is missing; choose a file name that ends in .csv, or run: pip install "
            "pyarrow ({error})"
        )
        raise RecsysError(text, error=error) from error
    storage.replace_file(path, content)
