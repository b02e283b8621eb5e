"""Arrays that can be computed again. The document of an array names what it was computed from."""

import warnings
from pathlib import Path

import numpy as np

from recsys import storage
from recsys.errors import RecsysError, disk_errors


def read(path: Path, name: str, made_of: str) -> np.ndarray | None:
    """Return an array.

    Args:
        path: The document, NAME.json.
        name: Name of the array in the payload.
        made_of: Fingerprint of what it was computed from.

    Returns:
        The array, or None if the files are missing or damaged, or if it was computed from something else.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        document, data = storage.read_payload(path)
        return load(data)[name] if document.get("made_of") == made_of else None
    except (OSError, storage.DamagedFileError, SafetensorError, LookupError):
        return None


def write(path: Path, name: str, array: np.ndarray, made_of: str) -> None:
    """Write an array, with the arguments of `read`. Raises OSError."""
    from safetensors.numpy import save

    storage.write_document(path, {"made_of": made_of}, {f"{path.stem}.safetensors": save({name: array})})


def keep(path: Path, name: str, array: np.ndarray, made_of: str) -> None:
    """Write an array, and warn if that fails, because the array in memory can still be used."""
    try:
        with disk_errors(path):
            write(path, name, array, made_of)
    except RecsysError as error:
        warnings.warn(f"{error}, or it is computed again next time", stacklevel=3)
