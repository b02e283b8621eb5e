"""Add the app to the menu of programs on Linux, or remove it: a desktop entry and its icon.

Reference: https://specifications.freedesktop.org/desktop-entry-spec/latest/ and …/icon-theme-spec/latest/
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import which

from recsys import paths, storage
from recsys.errors import RecsysError, recsys_command

NAME = "nextreel"
ENTRY = """[Desktop Entry]
Type=Application
Version=1.0
Name=NextReel
GenericName=Movie recommendations
Comment=See what you will want to watch next
Exec={command}
Path={folder}
Icon={icon}
Terminal=false
Categories=AudioVideo;
Keywords=movie;film;recommendation;
StartupWMClass={name}
"""


def install() -> Path:
    """Write the desktop entry and its icon, and return the path of the entry. Raises RecsysError unless on Linux."""
    entry, icon = _paths()
    command = " ".join(_quote(word) for word in (sys.executable, "-m", "recsys", "app"))
    text = ENTRY.format(command=command, folder=_escape(str(paths.REPOSITORY)), icon=_escape(str(icon)), name=NAME)
    for path, content in ((icon, (paths.ASSETS / "style" / "mark.svg").read_bytes()), (entry, text.encode())):
        storage.replace_file(path, content)
    _refresh(entry.parent)
    return entry


def remove() -> list[Path]:
    """Delete the files of `install` and return the deleted files. Raises RecsysError unless on Linux."""
    removed = [path for path in _paths() if path.exists()]
    for path in removed:
        path.unlink()
    _refresh(_paths()[0].parent)
    return removed


def _paths() -> tuple[Path, Path]:
    """Return the paths of the desktop entry and the icon in the home folder."""
    if not sys.platform.startswith("linux"):
        text = "the menu of programs is supported on Linux only; elsewhere create a shortcut to: {command}"
        raise RecsysError(text, command=recsys_command("app"))
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return data / "applications" / f"{NAME}.desktop", data / "icons/hicolor/scalable/apps" / f"{NAME}.svg"


def _quote(word: str) -> str:
    """Return a word of the command `Exec` of the desktop entry, quoted if the specification requires it."""
    if not re.fullmatch(r"[\w./+-]+", word):
        word = '"' + re.sub(r'(["`$\\])', r"\\\1", word) + '"'
    return _escape(word.replace("%", "%%"))


def _escape(value: str) -> str:
    """Escape backslashes and line breaks in a value of the desktop entry."""
    return value.replace("\\", "\\\\").replace("\n", "\\n")


def _refresh(folder: Path) -> None:
    """Update the menu of programs now if `update-desktop-database` is installed. Otherwise the system does it later."""
    if tool := which("update-desktop-database"):
        subprocess.run([tool, str(folder)], check=False, capture_output=True)
