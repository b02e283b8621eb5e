"""Prepared data sets: parsed data sets on disk. Each is an artifact of about.json, .npy arrays, CSV and JSON files.

Large arrays are memory-mapped, others are read into memory. If another program shortens a mapped file in place (such as
`truncate` or an editor), the system kills a process that reads it (SIGBUS).
"""

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, Literal, NotRequired

import numpy as np
import pandas as pd
from pydantic import ConfigDict, TypeAdapter, with_config
from typing_extensions import TypedDict

from recsys import paths, storage
from recsys.data import film_details, film_tables
from recsys.data.dataset import (
    MOVIE_COLUMNS,
    OPTIONAL_MOVIE_COLUMNS,
    PROFILE_COLUMNS,
    Catalog,
    DataError,
    Dataset,
    Interactions,
)
from recsys.data.tags import Tags
from recsys.errors import recsys_command

FORMAT = 5  # increase it when the format of the files changes
READABLE_FORMATS = (4, FORMAT)  # format 4 has the files in a subfolder. Data in older formats must be prepared again
ABOUT = "about.json"
MAX_ARRAY_BYTES = 1 << 28  # larger arrays are memory-mapped; all arrays of MovieLens 32M are smaller
EVENT_COLUMNS = ("user", "item", "rating", "timestamp")
TAG_COLUMNS = ("tag_movie", "tag_word", "tag_timestamp")
_in_memory: dict[Path, tuple[Dataset, dict[str, Any]]] = {}  # folder → (data set that could not be written, `metadata`)


class MissingData(DataError):
    """A data set is not on this machine, is damaged, or has an old format."""


@with_config(ConfigDict(strict=True))
class PreparedMeta(TypedDict):
    """Content of about.json, without its own hash."""

    format: int
    name: str
    people: int  # users
    items: int
    left_out: int  # infrequent films
    ratings: int
    ties: Literal["file", "drawn", "rows"]  # order of events of the same second, see `recsys.data.dataset.Ties`
    noun: Literal["film", "item"]  # `Dataset.noun`
    fingerprint: str
    archive: dict[str, Any]  # provenance: name, hash and so on of the file from which the data set was parsed
    files: NotRequired[dict[str, str]]  # payload → SHA-256
    folder: NotRequired[str]  # only in format 4


_META = TypeAdapter(PreparedMeta)


def names() -> list[str]:
    """Return the names of the data sets on this machine, in alphabetical order."""
    root = paths.prepared("any").parent  # contains the folders of all data sets
    stored = {path.parent.name for path in root.glob(f"*/{ABOUT}")}
    return sorted(stored | {folder.name for folder in _in_memory if folder.parent == root})


def load(name: str) -> Dataset:
    """Read a data set. Its arrays are read-only. Raises MissingData with the command that prepares it."""
    folder = paths.prepared(name)
    if folder in _in_memory:
        return _in_memory[folder][0]
    command = recsys_command("data", "get", name)
    try:
        _read_about(name)  # checks the format
        return storage.read_artifact(folder / ABOUT, partial(_read, name))
    except FileNotFoundError:
        raise MissingData("{name} is not on this computer", command, name=name) from None
    except (OSError, storage.DamagedFileError, ValueError, LookupError, TypeError, AttributeError, EOFError) as error:
        raise MissingData("{name} is damaged", command, name=name) from error


def fingerprint(name: str) -> str | None:
    """Return `Dataset.fingerprint` without reading the data set, or None if it is missing or unusable."""
    return metadata(name).get("fingerprint")


def metadata(name: str) -> dict[str, Any]:
    """Return `PreparedMeta` without reading the data set, or {} if it is missing or unusable."""
    folder = paths.prepared(name)
    if folder in _in_memory:
        return _in_memory[folder][1]
    try:
        return dict(_META.validate_python(_read_about(name)))
    except (OSError, MissingData, storage.DamagedFileError, ValueError):
        return {}


def version(name: str) -> str:
    """Return a text that changes when a data set or its film details are replaced, "" if it is not on this machine."""
    document = paths.prepared(name) / ABOUT
    return storage.version(document, paths.details(name)) if document.exists() else ""


def check(name: str) -> None:
    """Raise MissingData or DamagedFileError if a file of a data set cannot be used. All files are read."""
    _read_about(name)
    storage.check(paths.prepared(name) / ABOUT)


def keep_in_memory(dataset: Dataset, provenance: dict[str, Any]) -> Dataset:
    """Keep a data set that could not be written to disk, for `load` in this process. Return the data set."""
    _in_memory[paths.prepared(dataset.name)] = dataset, dict(_describe(dataset, provenance))
    return dataset


def save(dataset: Dataset, provenance: dict[str, Any]) -> None:
    """Write a data set with its provenance, see `PreparedMeta`. Raises OSError."""
    folder = paths.prepared(dataset.name)
    try:
        storage.write_document(folder / ABOUT, dict(_describe(dataset, provenance)), _files(dataset))
    finally:
        if folder.is_dir() and not any(folder.iterdir()):  # nothing could be written
            folder.rmdir()
    format_4_folders = (*folder.glob("*/"), *folder.parent.glob(f".{dataset.name}~*.part"))
    for old_folder in format_4_folders:
        shutil.rmtree(old_folder, ignore_errors=True)
    _in_memory.pop(folder, None)


def _read_about(name: str) -> dict[str, Any]:
    """Return the content of about.json. Raises OSError, DamagedFileError, or MissingData for an unreadable format."""
    document = storage.read_document(paths.prepared(name) / ABOUT)
    if document.get("format") not in READABLE_FORMATS:
        raise MissingData("{name} was prepared by another version", recsys_command("data", "get", name), name=name)
    return document


def _describe(dataset: Dataset, provenance: dict[str, Any]) -> PreparedMeta:
    """Return the new content of about.json."""
    return {
        "format": FORMAT,
        "name": dataset.name,
        "people": dataset.n_users,
        "items": dataset.n_items,
        "left_out": len(dataset.catalog.infrequent),
        "ratings": len(dataset.interactions),
        "ties": dataset.ties,
        "noun": dataset.noun,
        "fingerprint": dataset.fingerprint,
        "archive": provenance,
    }


def _files(dataset: Dataset) -> Mapping[str, storage.Content]:
    """Return payload name → content."""
    catalog, tags = dataset.catalog, dataset.catalog.tags
    arrays = {column: getattr(dataset.interactions, column) for column in EVENT_COLUMNS}
    arrays |= dict(zip(TAG_COLUMNS, (tags.movie, tags.tag_index, tags.timestamp), strict=True))
    arrays["user_ids"] = dataset.user_ids
    films = pd.concat([catalog.movies.assign(left_out=False), catalog.infrequent.assign(left_out=True)])
    files: dict[str, storage.Content] = {
        f"{column}.npy": partial(_write_array, array) for column, array in arrays.items()
    }
    files |= {"tag_words.json": _json(tags.texts), "films.csv": _csv(films)}
    if dataset.user_profiles is not None:
        files["people.csv"] = _csv(dataset.user_profiles)
    if dataset.user_names is not None:
        files["user_names.json"] = _json(dataset.user_names.tolist())
    return files


def _write_array(array: np.ndarray, file: IO[bytes]) -> None:
    """Write an array as .npy. On a full disk, NumPy's own write to a file would raise an OSError without errno."""
    stream: Any = SimpleNamespace(write=file.write)  # NumPy writes chunks to objects that are not files
    np.save(stream, array, allow_pickle=False)


def _read(name: str, document: dict[str, Any], files: Mapping[str, Path]) -> Dataset:
    """Read the data set in `files`: payload name → path. Raises OSError, ValueError or KeyError for invalid files."""
    meta = _META.validate_python(document)
    events = [_read_array(files[f"{column}.npy"]) for column in EVENT_COLUMNS]
    if any(len(column) != meta["ratings"] for column in events):
        raise ValueError("arrays of different lengths")
    movie, tag_index, timestamp = (_read_array(files[f"{column}.npy"]) for column in TAG_COLUMNS)
    tags = Tags(movie, tag_index, timestamp, tuple(_read_json(files["tag_words.json"])))
    films = _read_films(files["films.csv"])
    is_infrequent = films.pop("left_out").to_numpy(bool)
    movies, infrequent = (films[rows].reset_index(drop=True) for rows in (~is_infrequent, is_infrequent))
    details = replace(film_details.read(name), read_directors=partial(film_tables.directors, name))
    catalog = Catalog(movies, infrequent, tags, details)
    user_ids = _read_array(files["user_ids.npy"])
    profiles = pd.read_csv(files["people.csv"], dtype="str", keep_default_na=False) if "people.csv" in files else None
    user_names = np.array(_read_json(files["user_names.json"]), object) if "user_names.json" in files else None
    if profiles is not None and profiles.shape != (len(user_ids), len(PROFILE_COLUMNS)):
        raise ValueError("people.csv does not fit the users")
    if user_names is not None and len(user_names) != len(user_ids):
        raise ValueError("user_names.json does not fit the users")
    return Dataset(name, catalog, Interactions(*events), user_ids, meta["ties"], profiles, user_names, meta["noun"])


def _read_array(path: Path) -> np.ndarray:
    """Return a read-only array, memory-mapped if it is larger than MAX_ARRAY_BYTES."""
    if path.stat().st_size > MAX_ARRAY_BYTES:
        return np.load(path, mmap_mode="r")
    array = np.load(path)
    array.flags.writeable = False
    return array


def _read_films(path: Path) -> pd.DataFrame:
    """Return all films, (F, 8 to 11): MOVIE_COLUMNS, the OPTIONAL_MOVIE_COLUMNS in the file, and left_out."""
    dtypes = dict.fromkeys((*MOVIE_COLUMNS, *OPTIONAL_MOVIE_COLUMNS), "str")
    dtypes |= {"movie_id": "int64", "year": "Int64", "tmdb_id": "Int64", "left_out": "bool"}
    return pd.read_csv(path, dtype=dtypes, keep_default_na=False, na_values={"year": [""], "tmdb_id": [""]})


def _csv(table: pd.DataFrame) -> bytes:
    """Return a table as CSV. With this line terminator, pandas quotes a title that contains a carriage return."""
    return table.to_csv(index=False, lineterminator="\r\n").encode()


def _read_json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def _json(values: Any) -> bytes:
    return json.dumps(values, ensure_ascii=False).encode()
