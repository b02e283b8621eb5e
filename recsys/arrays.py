"""Store computed arrays, so that they need not be computed again.

An array is the payload of a document. The document has the fingerprint of the data from which the array was computed.
"""

import warnings
from pathlib import Path

import numpy as np

from recsys import storage
from recsys.errors import RecsysError, disk_errors

INPUT_FINGERPRINT = "made_of"  # key of the fingerprint in the document


def read(path: Path, name: str, fingerprint: str) -> np.ndarray | None:
    """Return the array `name` of the document at `path`.

    Returns None if it was computed from data with another fingerprint, or if a file is missing or damaged.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        document, (data,) = storage.read_payloads(path)
        return load(data)[name] if document.get(INPUT_FINGERPRINT) == fingerprint else None
    except (OSError, storage.DamagedFileError, SafetensorError, LookupError, ValueError):
        return None


def write(path: Path, name: str, array: np.ndarray, fingerprint: str) -> None:
    """Write an array and the fingerprint of its input data. Raises OSError."""
    from safetensors.numpy import save

    storage.write_document(path, {INPUT_FINGERPRINT: fingerprint}, {f"{path.stem}.safetensors": save({name: array})})


def write_or_warn(path: Path, name: str, array: np.ndarray, fingerprint: str) -> None:
    """Write an array. If writing fails, only warn, because the array in memory can still be used."""
    try:
        with disk_errors(path):
            write(path, name, array, fingerprint)
    except RecsysError as error:
        warnings.warn(f"{error}; without this file, the array is computed again next time", stacklevel=3)
