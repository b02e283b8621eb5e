"""The state of an unfinished run on disk: a killed run that is resumed ends with the same weights, bit for bit."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from recsys import files
from recsys.errors import RecsysError

FILE = "resume.pt"
LOCK = "train.lock"  # held by the run that uses the folder


class ResumeError(RecsysError):
    """A saved state that cannot be used."""


def save(folder: Path, state: dict[str, Any]) -> None:
    """Replace the saved state; whenever the run is killed, either the old or the new one is whole."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    files.write(folder / FILE, files.sealed_bytes(buffer.getvalue()))


def load(folder: Path, matches: dict[str, Any]) -> dict[str, Any] | None:
    """The saved state, or None when there is none.

    Raises ResumeError when a bit of it differs or another version wrote it, and when its "run" part is not `matches`
    (other settings or data).
    """
    path = folder / FILE
    if not path.exists():
        return None
    try:
        whole = io.BytesIO(files.read_sealed_bytes(path))
        state = torch.load(whole, weights_only=True, map_location="cpu")
    except Exception as error:  # torch raises many kinds for a file of another version
        raise ResumeError(f"{path} is damaged; delete it, or train without --resume") from error
    if not isinstance(state, dict) or state.get("run") != matches:
        raise ResumeError(f"{path} belongs to a run with other settings or data; train without --resume to begin anew")
    return state


@contextmanager
def taken_from(folder: Path) -> Iterator[None]:
    """Around what puts a state into a run: ResumeError where parts of it are missing, or of another shape or kind."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        path = folder / FILE
        raise ResumeError(f"{path} is of another version; delete it, or train without --resume") from error


def clear(folder: Path) -> None:
    """Delete the saved state, once the learnt weights are kept elsewhere."""
    (folder / FILE).unlink(missing_ok=True)
