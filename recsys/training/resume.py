"""The state of an unfinished run on disk, so that a killed run goes on as if nothing had happened."""

import io
from pathlib import Path
from typing import Any

import torch

from recsys import files
from recsys.data.schema import DataError

FILE = "resume.pt"


class ResumeError(DataError):
    """A kept state that cannot be used."""


def save(folder: Path, state: dict[str, Any]) -> None:
    """Replace the kept state; at any moment either the old or the new one is whole."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    files.write(folder / FILE, buffer.getvalue())


def load(folder: Path, matches: dict[str, Any]) -> dict[str, Any] | None:
    """The kept state, or None when there is none.

    Raises ResumeError when it is damaged, or when its "run" part is not `matches` (other settings or data).
    """
    path = folder / FILE
    if not path.exists():
        return None
    try:
        state = torch.load(path, weights_only=True, map_location="cpu")
    except Exception as error:  # torch raises many kinds for a damaged file
        raise ResumeError(f"{path} is damaged; delete it, or train without --resume") from error
    if state["run"] != matches:
        raise ResumeError(f"{path} belongs to a run with other settings or data; train without --resume to begin anew")
    return state


def clear(folder: Path) -> None:
    """Forget the kept state: what the run has learnt is kept elsewhere."""
    (folder / FILE).unlink(missing_ok=True)
