"""The parsed form of a data set on disk: arrays as .npy, films as parquet.

The films are there as CSV too, for machines without pyarrow; the people as CSV, where the set describes them.

A set's folder holds about.json and, beside it, one folder of files, which about.json names, each with its SHA-256. To
replace a set, the new files are written to a folder of their own; about.json is then replaced in one step, which is the
moment from which they count. A kill leaves the old set or the new one, never half of either and never none.

Arrays are read into memory. The system ends a process (SIGBUS) that touches a mapped file after somebody else has
shortened that file in place, with `truncate`, an editor or a restored backup. Only arrays beyond MAX_ARRAY_BYTES are
mapped.

Every file that is read is checked, once per version of it and process: 7 ms for the first set, 0.3 s for 25 million
ratings.
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

from recsys import paths, storage
from recsys.data import film_details
from recsys.data.dataset import MORE_COLUMNS, MOVIE_COLUMNS, PEOPLE_COLUMNS, Catalog, DataError, Dataset, Interactions
from recsys.data.tags import Tags
from recsys.errors import recsys_command

FORMAT = 4  # raise it when the files below change; older folders then ask to be prepared again
ABOUT, PEOPLE, NAMES = "about.json", "people.csv", "user_names.json"
MAX_ARRAY_BYTES = 1 << 28  # of an array that is read into memory: 33 million times; MovieLens 32M has 32
SEPARATOR = "~"  # in names of working folders; no name of a set has it, so "ml" and "ml-1m" stay apart
_EVENTS = ("user", "item", "rating", "timestamp")
_TAGS = ("tag_movie", "tag_word", "tag_timestamp")
_in_memory: dict[Path, tuple[Dataset, dict[str, Any]]] = {}  # by the folder that the disk did not take


class MissingData(DataError):
    """A data set that is not on this machine, or not in a usable form."""


def names() -> list[str]:
    """The data sets that `load` can read, in alphabetical order."""
    folder = paths.prepared("x").parent
    kept = {about.parent.name for about in folder.glob(f"*/{ABOUT}")}
    return sorted(kept | {target.name for target in _in_memory if target.parent == folder})


def load(name: str) -> Dataset:
    """Read a prepared set; its arrays are read-only. Raises MissingData with the command."""
    target = paths.prepared(name)
    if target in _in_memory:
        return _in_memory[target][0]
    try:
        with storage.locked(target, shared=True):
            about = _about(target)
            if not about:
                raise _missing(name, "was prepared by another version")
            _check(target / about["folder"], about["files"])
            return _read(name, target / about["folder"], about)
    except FileNotFoundError:
        raise _missing(name, "is damaged" if (target / ABOUT).exists() else "is not on this machine") from None
    except (OSError, storage.DamagedFileError, ValueError, KeyError, TypeError, AttributeError, EOFError) as error:
        raise _missing(name, "is damaged") from error


def fingerprint(name: str) -> str | None:
    """`Dataset.fingerprint` of a prepared set, without reading it; None when the set is not here or not usable."""
    return about(name).get("fingerprint")


def about(name: str) -> dict[str, Any]:
    """What is known of a prepared set without reading it; empty where the set is not here or not usable.

    "people", "items", "left_out", "ratings", "noun", "archive".
    """
    target = paths.prepared(name)
    if target in _in_memory:
        return _in_memory[target][1]
    try:
        return _about(target)
    except (OSError, storage.DamagedFileError):
        return {}


def stamp(name: str) -> str:
    """Another text whenever a set, or what is known of its films, was replaced; "" where it is not here.

    It costs two looks at the disk, so it can be asked for with every click.
    """
    try:
        found = (paths.prepared(name) / ABOUT).stat()
    except OSError:
        return ""
    return f"{found.st_mtime_ns}-{found.st_ino}/{film_details.stamp(name)}"


def damage(name: str) -> list[str]:
    """What is wrong with the files of a prepared set, a line each, all of them read anew; none: it is sound."""
    target = paths.prepared(name)
    try:
        about = _about(target)
        if not about:
            return ["was prepared by another version"]
        found = ((target / about["folder"] / file, wanted) for file, wanted in about["files"].items())
        return [
            f"{path.relative_to(target)} is {'damaged' if path.is_file() else 'missing'}"
            for path, wanted in found
            if not path.is_file() or storage.digest(path, "sha256") != wanted
        ]
    except (OSError, storage.DamagedFileError):
        return [f"{ABOUT} is damaged"]


def keep_in_memory(dataset: Dataset, archive: dict[str, Any]) -> Dataset:
    """`save` for this process alone, where the disk takes nothing; returns the set."""
    _in_memory[paths.prepared(dataset.name)] = dataset, _described(dataset, archive)
    return dataset


def save(dataset: Dataset, archive: dict[str, Any]) -> None:
    """Keep a data set, with what is known about the archive it came from. Replaces an older form.

    Whoever has the older form in memory can go on using it.
    """
    target = paths.prepared(dataset.name)
    target.parent.mkdir(parents=True, exist_ok=True)
    prefix = f".{dataset.name}{SEPARATOR}"
    for stale in target.parent.glob(f"{prefix}*.part"):  # left by a killed process
        shutil.rmtree(stale, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=prefix, suffix=".part", dir=target.parent) as workplace:
        fresh = Path(workplace) / "new"
        fresh.mkdir()
        _write(dataset, fresh)
        about = _described(dataset, archive) | {
            "files": {path.name: storage.digest(path, "sha256") for path in fresh.iterdir()}
        }
        target.mkdir(exist_ok=True)
        try:
            with storage.locked(target):  # nobody reads about.json and then finds the files gone
                _replace(target, fresh, about)
        except BaseException:
            if not (target / ABOUT).exists():  # the first save of this set failed
                shutil.rmtree(target, ignore_errors=True)
            raise
    _in_memory.pop(target, None)


def _replace(target: Path, fresh: Path, about: dict[str, Any]) -> None:
    """Make a folder of files that of the set, and delete what was there before."""
    taken = [path.name for path in target.iterdir()]
    name = next(name for number in range(len(taken) + 1) if (name := f"v{number}") not in taken)
    os.rename(fresh, target / name)
    storage.replace_file(target / ABOUT, storage.sign_document(about | {"folder": name}))
    for path in target.iterdir():  # also what a killed run left, and the files of format 1
        if path.is_dir() and path.name != name:
            shutil.rmtree(path, ignore_errors=True)  # open maps stay valid; Windows keeps their files until next time
        elif not path.is_dir() and path.name != ABOUT:
            path.unlink(missing_ok=True)


def _described(dataset: Dataset, archive: dict[str, Any]) -> dict[str, Any]:
    """What about.json says, but for the files."""
    known = {"format": FORMAT, "name": dataset.name, "ratings": len(dataset.interactions), "ties": dataset.ties}
    counted = {"people": dataset.n_users, "items": dataset.n_items, "noun": dataset.noun}
    counted["left_out"] = len(dataset.catalog.infrequent)
    return known | counted | {"fingerprint": dataset.fingerprint, "archive": archive}


def _about(target: Path) -> dict[str, Any]:
    """about.json; {} for one that another version wrote. Raises OSError and DamagedFileError."""
    try:
        found = storage.read_document(target / ABOUT)
    except storage.DamagedFileError:
        if not _is_older(target / ABOUT):
            raise
        return {}
    return found if found.get("format") == FORMAT else {}


def _is_older(path: Path) -> bool:
    """Whether this is the document of a format before 4, which was not sealed."""
    with suppress(ValueError, RecursionError):
        document = json.loads(path.read_bytes())
        return isinstance(document, dict) and document.get("format") in (1, 2, 3)
    return False


def _check(folder: Path, wanted: dict[str, str]) -> None:
    """Raise FileNotFoundError or DamagedFileError unless all files are there and what was written."""
    for name, sha256 in wanted.items():
        storage.verify(folder / name, sha256)


def _read(name: str, folder: Path, about: dict[str, Any]) -> Dataset:
    """The set in a folder of files. Raises FileNotFoundError, OSError or ValueError when they are not all right."""
    events = [_read_array(folder, column) for column in _EVENTS]
    if any(len(column) != about["ratings"] for column in events):
        raise ValueError("arrays of different lengths")
    words = json.loads((folder / "tag_words.json").read_text("utf-8"))
    movie, word, timestamp = (_read_array(folder, column) for column in _TAGS)
    films = _read_films(folder)
    left_out = films.pop("left_out").to_numpy(bool)
    movies, others = (films[rows].reset_index(drop=True) for rows in (~left_out, left_out))
    catalog = Catalog(movies, others, Tags(movie, word, timestamp, tuple(words)), film_details.read(name))
    user_ids = _read_array(folder, "user_ids")
    people = _read_people(folder, len(user_ids)) if PEOPLE in about["files"] else None
    names = _read_names(folder, len(user_ids)) if NAMES in about["files"] else None
    return Dataset(name, catalog, Interactions(*events), user_ids, about["ties"], people, names, about["noun"])


def _write(dataset: Dataset, folder: Path) -> None:
    """All files of a set but about.json."""
    catalog, tags = dataset.catalog, dataset.catalog.tags
    arrays = {column: getattr(dataset.interactions, column) for column in _EVENTS}
    arrays |= dict(zip(_TAGS, (tags.movie, tags.word, tags.timestamp), strict=True))
    for column, array in (arrays | {"user_ids": dataset.user_ids}).items():
        np.save(folder / f"{column}.npy", array, allow_pickle=False)
    (folder / "tag_words.json").write_text(json.dumps(tags.words, ensure_ascii=False), "utf-8")
    films = pd.concat([catalog.movies.assign(left_out=False), catalog.infrequent.assign(left_out=True)])
    films.to_csv(folder / "films.csv", index=False)
    with suppress(ImportError):  # no pyarrow here; the CSV will do
        films.to_parquet(folder / "films.parquet", index=False)
    if dataset.user_profiles is not None:
        dataset.user_profiles.to_csv(folder / PEOPLE, index=False)
    if dataset.user_names is not None:
        (folder / NAMES).write_text(json.dumps(dataset.user_names.tolist(), ensure_ascii=False), "utf-8")
    for path in folder.iterdir():
        _to_disk(path)


def _read_array(folder: Path, column: str) -> np.ndarray:
    """Return a read-only array, mapped if it is larger than MAX_ARRAY_BYTES."""
    path = folder / f"{column}.npy"
    if path.stat().st_size > MAX_ARRAY_BYTES:
        return np.load(path, mmap_mode="r")
    array = np.load(path)
    array.flags.writeable = False
    return array


def _to_disk(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _read_films(folder: Path) -> pd.DataFrame:
    """(F, 8) MOVIE_COLUMNS and left_out; the same from parquet and from CSV."""
    try:
        return pd.read_parquet(folder / "films.parquet")
    except (ImportError, FileNotFoundError):
        kinds = dict.fromkeys((*MOVIE_COLUMNS, *MORE_COLUMNS), "str")
        kinds |= {"movie_id": "int64", "year": "Int64", "tmdb_id": "Int64", "left_out": "bool"}
        blank = {"year": [""], "tmdb_id": [""]}
        return pd.read_csv(folder / "films.csv", dtype=kinds, keep_default_na=False, na_values=blank)


def _read_people(folder: Path, n_users: int) -> pd.DataFrame:
    """(U, 3) PEOPLE_COLUMNS."""
    people = pd.read_csv(folder / PEOPLE, dtype="str", keep_default_na=False)
    if people.shape != (n_users, len(PEOPLE_COLUMNS)):
        raise ValueError("a table of other people")
    return people


def _read_names(folder: Path, n_users: int) -> np.ndarray:
    """(U,) what the file calls its users."""
    names = np.array(json.loads((folder / NAMES).read_text("utf-8")), object)
    if len(names) != n_users:
        raise ValueError("the names of other people")
    return names


def _missing(name: str, state: str) -> MissingData:
    return MissingData(f"{name} {state}", recsys_command("data", "get", name))
