"""The parsed form of a data set on disk: arrays as .npy, mapped into memory; films as parquet.

The films are there as CSV too, for machines without pyarrow.
Written as a whole folder beside the final one, then renamed: a crash never leaves half of one.
"""

import json
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from recsys import paths
from recsys.data.schema import MOVIE_COLUMNS, Catalog, DataError, Dataset, Interactions

FORMAT = 1  # raise it when the files below change; older folders then ask to be prepared again
_ARRAYS = ("user", "item", "rating", "timestamp")


class MissingData(DataError):
    """A data set that is not on this machine, or not in a usable form; the message holds the line to type."""


def names() -> list[str]:
    """The data sets that `load` can read, in alphabetical order."""
    return sorted(about.parent.name for about in paths.prepared("x").parent.glob("*/about.json"))


def load(name: str) -> Dataset:
    """Read a prepared set; its arrays stay on disk until they are touched. Raises MissingData."""
    folder = paths.prepared(name)
    try:
        about = json.loads((folder / "about.json").read_text("utf-8"))
        if about["format"] != FORMAT:
            raise _missing(name, "was prepared by another version")
        arrays = {array: np.load(folder / f"{array}.npy", mmap_mode="r") for array in (*_ARRAYS, "user_ids")}
        films = _read_films(folder)
    except FileNotFoundError:
        raise _missing(name, "is not on this machine") from None
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise error if isinstance(error, MissingData) else _missing(name, "is damaged") from error
    if any(len(arrays[array]) != about["ratings"] for array in _ARRAYS):
        raise _missing(name, "is damaged")
    left_out = films.pop("left_out").to_numpy(bool)
    catalog = Catalog(*(films[rows].reset_index(drop=True) for rows in (~left_out, left_out)))
    return Dataset(name, catalog, Interactions(*(arrays[array] for array in _ARRAYS)), arrays["user_ids"])


def save(dataset: Dataset, archive: dict[str, Any]) -> None:
    """Keep a data set, with what is known about the archive it came from. Replaces an older form."""
    target = paths.prepared(dataset.name)
    target.parent.mkdir(parents=True, exist_ok=True)
    for stale in target.parent.glob(f".{dataset.name}-*.part"):  # a killed run's
        shutil.rmtree(stale, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f".{dataset.name}-", suffix=".part", dir=target.parent) as workplace:
        fresh = Path(workplace) / "new"
        fresh.mkdir()
        _write(dataset, fresh, archive)
        if target.exists():
            os.rename(target, Path(workplace) / "old")  # deleted with the workplace; open maps of it stay valid
        os.rename(fresh, target)


def _write(dataset: Dataset, folder: Path, archive: dict[str, Any]) -> None:
    for name in _ARRAYS:
        np.save(folder / f"{name}.npy", getattr(dataset.interactions, name), allow_pickle=False)
    np.save(folder / "user_ids.npy", dataset.user_ids, allow_pickle=False)
    catalog = dataset.catalog
    films = pd.concat([catalog.movies.assign(left_out=False), catalog.left_out.assign(left_out=True)])
    films.to_csv(folder / "films.csv", index=False)
    with suppress(ImportError):  # no pyarrow here; the CSV will do
        films.to_parquet(folder / "films.parquet", index=False)
    about = {"format": FORMAT, "name": dataset.name, "ratings": len(dataset.interactions), "archive": archive}
    (folder / "about.json").write_text(json.dumps(about, indent=1), "utf-8")
    for path in folder.iterdir():
        _to_disk(path)


def _to_disk(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _read_films(folder: Path) -> pd.DataFrame:
    """(F, 8) MOVIE_COLUMNS and left_out; the same from parquet and from CSV."""
    try:
        return pd.read_parquet(folder / "films.parquet")
    except (ImportError, FileNotFoundError):
        kinds = dict.fromkeys(MOVIE_COLUMNS, "str")
        kinds |= {"movie_id": "int64", "year": "Int64", "tmdb_id": "Int64", "left_out": "bool"}
        blank = {"year": [""], "tmdb_id": [""]}
        return pd.read_csv(folder / "films.csv", dtype=kinds, keep_default_na=False, na_values=blank)


def _missing(name: str, state: str) -> MissingData:
    return MissingData(f"{name} {state}; run: python -m recsys data get {name}")
