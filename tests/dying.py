"""Work that is killed at one of its disk calls, for tests of what is then left on disk."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path


def do_and_die(work: Callable[[], object], step: int) -> int:
    """Work in a child process that dies at its disk call number `step`; its exit code: 9, or 0 when it got through."""
    if (child := os.fork()) == 0:
        try:
            _die_at(step)
            work()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _die_at(step: int) -> None:
    """Patch this (child) process so that its disk call number `step` never happens."""
    left = [step]

    def dying(call):
        def instead(*arguments, **options):
            left[0] -= 1
            return os._exit(9) if left[0] < 0 else call(*arguments, **options)

        return instead

    os.rename, os.replace, os.fsync = dying(os.rename), dying(os.replace), dying(os.fsync)
    Path.unlink, shutil.rmtree = dying(Path.unlink), dying(shutil.rmtree)
