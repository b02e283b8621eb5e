"""Check shipped text files by a list of checksums, because, unlike documents, they do not contain their own hash.

The list `assets/SHA256SUMS` has the format of `sha256sum`. `python -m recsys data verify` checks the files. After a
change to one of them, run `python -m recsys.checksums`.
"""

import os
from pathlib import Path

from recsys import paths, storage

TRANSLATIONS = ("uk", "uk@item", "en@item")  # names of .po files


def listed_files() -> list[Path]:
    """Return the files that the list must contain, in its order."""
    return [
        *map(paths.translation, TRANSLATIONS),
        paths.film_table("directors"),
        paths.film_table("languages"),
        paths.film_names(),
        paths.film_table("themes"),
        paths.sample_lists(),
        paths.published(),
    ]


def expected_content() -> bytes:
    """Return the content that `assets/SHA256SUMS` must have. Raises OSError."""
    return "".join(f"{_line(path)}\n" for path in listed_files()).encode()


def check(path: Path) -> None:
    """Raise DamagedFileError if the list has another checksum for a file or none, and OSError for unreadable files."""
    if _line(path).encode() not in paths.checksums().read_bytes().split(b"\n"):
        raise storage.DamagedFileError("{path} is damaged", path=path)


def check_list() -> None:
    """Raise DamagedFileError if the names in the list differ from `listed_files`, and OSError if it is unreadable."""
    names = [line.partition(b"  ")[2] for line in paths.checksums().read_bytes().split(b"\n")]
    if names != [*(_name(path).encode() for path in listed_files()), b""]:
        raise storage.DamagedFileError("{path} is damaged", path=paths.checksums())


def _line(path: Path) -> str:
    """Return the line of a file in the list: digest, two blanks, name."""
    return f"{storage.digest(path, 'sha256')}  {_name(path)}"


def _name(path: Path) -> str:
    """Return the path relative to assets/, which begins with ".." for a file in another folder."""
    return os.path.relpath(path, paths.ASSETS)


if __name__ == "__main__":
    storage.replace_file(paths.checksums(), expected_content())
