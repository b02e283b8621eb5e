"""A folder that takes no writes, for tests that may run as root, whom permissions do not stop."""

import builtins
import errno
import io
import os
from pathlib import Path


def make(folder, monkeypatch):
    """From here on every attempt to write under `folder` fails as on a disk that is mounted read-only."""

    def refuse(path):
        if Path(os.fsdecode(path)).is_relative_to(folder):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    def guarded(call, writes=lambda *more, **options: True):
        def instead(path, *more, **options):
            if not isinstance(path, int) and writes(*more, **options):
                if call is os.mkdir and os.path.exists(path):
                    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
                refuse(folder if options.get("dir_fd") is not None else path)
            return call(path, *more, **options)

        return instead

    def to_write(mode="r", *more, **options):
        return set(mode) & set("wax+")

    def flags_to_write(flags, *more, **options):
        return flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)

    for name in ("mkdir", "unlink", "rmdir", "rename", "replace"):
        monkeypatch.setattr(os, name, guarded(getattr(os, name)))
    monkeypatch.setattr(os, "open", guarded(os.open, flags_to_write))
    opened = guarded(io.open, to_write)
    monkeypatch.setattr(io, "open", opened)
    monkeypatch.setattr(builtins, "open", opened)
