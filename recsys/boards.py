"""Read and write boards. A board is an artifact with all results, or all trials, of a data set and protocol.

`<protocol>.json` contains the document of each recommender or trial, by name. An .npz file contains the ranks of the
held-out items, by the same names. `recsys.storage` describes artifacts.
"""

import io
import zipfile
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from recsys import errors, storage

Document = dict[str, Any]  # a result or a trial: a JSON object in the file of its board


def read(path: Path) -> dict[str, Document]:
    """Return the documents of a board by name, {} if the board does not exist. Callers must not change the documents.

    Raises OSError and DamagedFileError.
    """
    return dict(_read_documents(path, storage.version(path))) if path.exists() else {}


def read_ranks(path: Path, names: Iterable[str] | None = None) -> dict[str, np.ndarray]:
    """Return the ranks in a board by name. With `names`, only their ranks are returned.

    Callers must not change the arrays.

    Raises OSError, and DamagedFileError if ranks are damaged or missing.
    """
    payloads = path.parent.glob(f"{path.stem}-*.npz")  # part of the version, so that a deleted payload is noticed
    all_ranks = _read_ranks(path, storage.version(path, *payloads))
    try:
        return dict(all_ranks) if names is None else {name: all_ranks[name] for name in names}
    except KeyError as error:
        raise _no_ranks_error(path) from error


def update(
    path: Path, documents: Mapping[str, Document], ranks: Mapping[str, np.ndarray], command: str | None = None
) -> None:
    """Add documents and their ranks to a board. Entries with the same names are replaced. Other writers wait.

    If a file of the board is damaged, the old content is lost. A warning then contains `command`, the shell command
    that repeats the measurements. Raises OSError.
    """
    with storage.locked(path):
        old_documents: dict[str, Document] = {}
        old_ranks: dict[str, np.ndarray] = {}
        try:
            old_documents = read(path)
            old_ranks = read_ranks(path) if old_documents else {}
        except storage.DamagedFileError as error:
            text = "{reason}, so its content is lost"
            errors.warn(storage.DamagedFileError(text, command, reason=error.message))
        # with the smallest integer type that can store the ranks
        new_ranks = {name: array.astype(np.min_scalar_type(int(array.max(initial=0)))) for name, array in ranks.items()}
        buffer = io.BytesIO()
        np.savez_compressed(buffer, allow_pickle=False, **dict(sorted((old_ranks | new_ranks).items())))
        content = {"documents": old_documents | dict(documents)}
        storage.write_document(path, content, {f"{path.stem}.npz": buffer.getvalue()})


def check(path: Path) -> None:
    """Verify that the files of a board are intact and that each document has ranks. Raises as `read_ranks`."""
    storage.check(path)
    read_ranks(path, read(path))


@lru_cache(maxsize=4)  # a leaderboard calls `read_ranks` for each recommender
def _read_ranks(path: Path, version: str) -> dict[str, np.ndarray]:
    """Read the ranks of all names. `version` is only part of the cache key."""
    _, payloads = storage.read_payloads(path)
    try:
        (data,) = payloads
        return dict(np.load(io.BytesIO(data)))
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise _no_ranks_error(path) from error


def _no_ranks_error(path: Path) -> storage.DamagedFileError:
    """Return the error for missing or damaged ranks."""
    return storage.DamagedFileError("{path} holds no ranks", path=path.with_suffix(".npz"))


@lru_cache(maxsize=4)  # parsing the JSON file takes longer than reading the ranks of a recommender
def _read_documents(path: Path, version: str) -> dict[str, Document]:
    """Read the documents. `version` is only part of the cache key."""
    documents: dict[str, Document] = storage.read_document(path).get("documents", {})
    return documents
