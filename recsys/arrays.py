"""An array that took long to compute and can be computed again, kept beside the hash of what it was made of.

`NAME.safetensors` holds it, `NAME.json` says what it was made of: a pair, see `recsys.storage`.
"""

import warnings
from pathlib import Path

import numpy as np

from recsys import storage

SUFFIX = ".safetensors"


def read(path: Path, name: str, made_of: str) -> np.ndarray | None:
    """The array of that name; None where the file is missing, damaged, or made of something else."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        with storage.locked(path.parent, shared=True):
            document, data = storage.read_artifact(path.with_suffix(".json"), path)
        return load(data)[name] if document.get("made_of") == made_of else None
    except (OSError, storage.DamagedFileError, SafetensorError, KeyError):
        return None


def write(path: Path, name: str, array: np.ndarray, made_of: str) -> None:
    """Keep an array. Raises OSError, with what was kept before intact."""
    from safetensors.numpy import save

    path.parent.mkdir(parents=True, exist_ok=True)
    with storage.locked(path.parent):
        storage.write_artifact(path.with_suffix(".json"), {"made_of": made_of}, path, save({name: array}))


def keep(path: Path, name: str, array: np.ndarray, made_of: str) -> None:
    """`write`; where the disk refuses, a warning, since whoever has computed it can use it all the same."""
    try:
        write(path, name, array, made_of)
    except OSError as error:
        advice = "make room or set RECSYS_HOME to a folder elsewhere, or it is computed again next time"
        warnings.warn(f"cannot write {path}: {error.strerror}; {advice}", stacklevel=3)
