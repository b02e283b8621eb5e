"""One training at a time of one model, data set, protocol and seed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from recsys import files
from recsys.training import distributed
from recsys.training.loop import TrainingError
from recsys.training.resume import LOCK


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keep everybody else out of a checkpoint's folder, from the first step until the weights are kept there.

    The system lets go of the lock when the process ends, however it ends. Raises TrainingError, which names the process
    that is at it.
    """
    if distributed.rank():
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    lock = folder / LOCK
    with files.try_locked(lock) as alone:
        if not alone:
            who = _written_by(lock)
            raise TrainingError(f"{who} is training in {folder}; wait until it is over, or take another --seed")
        lock.write_text(str(os.getpid()))
        yield


def _written_by(lock: Path) -> str:
    """Who holds a lock."""
    number = ""
    with suppress(OSError, UnicodeDecodeError):
        number = lock.read_text()
    return f"process {number}" if number.isdecimal() else "another process"
