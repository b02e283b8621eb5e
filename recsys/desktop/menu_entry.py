"""The app in the menu of programs on Linux: a starter entry and its icon, as freedesktop.org specifies them.

https://specifications.freedesktop.org/desktop-entry-spec/latest/ and …/icon-theme-spec/latest/
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import which

from recsys import paths, storage
from recsys.errors import RecsysError

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


class EntryError(RecsysError):
    """There is no menu of programs that an entry could be put into."""


def install() -> Path:
    """Write the entry and its icon; returns where the entry is. Raises EntryError on other systems than Linux."""
    entry, icon = _places()
    command = " ".join(_quoted(word) for word in (sys.executable, "-m", "recsys", "app"))
    text = ENTRY.format(command=command, folder=_escaped(str(paths.REPOSITORY)), icon=_escaped(str(icon)), name=NAME)
    for path, content in ((icon, (paths.ASSETS / "style" / "mark.svg").read_bytes()), (entry, text.encode())):
        path.parent.mkdir(parents=True, exist_ok=True)
        storage.replace_file(path, content)
    _refresh(entry.parent)
    return entry


def remove() -> list[Path]:
    """Delete what `install` wrote; returns what was there. Raises EntryError on other systems than Linux."""
    found = [path for path in _places() if path.exists()]
    for path in found:
        path.unlink()
    _refresh(_places()[0].parent)
    return found


def _places() -> tuple[Path, Path]:
    """The entry and the icon of this user."""
    if not sys.platform.startswith("linux"):
        raise EntryError("a starter entry can be made on Linux only; elsewhere make a shortcut to: recsys app")
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return data / "applications" / f"{NAME}.desktop", data / "icons/hicolor/scalable/apps" / f"{NAME}.svg"


def _quoted(word: str) -> str:
    """A word of Exec: quoted where the specification asks for it, and a value of the file on top of that."""
    if not re.fullmatch(r"[\w./+-]+", word):
        word = '"' + re.sub(r'(["`$\\])', r"\\\1", word) + '"'
    return _escaped(word.replace("%", "%%"))


def _escaped(value: str) -> str:
    """A value of the file."""
    return value.replace("\\", "\\\\").replace("\n", "\\n")


def _refresh(folder: Path) -> None:
    """Tell the desktop, where it has the tool for that; it also looks by itself, later."""
    if tool := which("update-desktop-database"):
        subprocess.run([tool, str(folder)], check=False, capture_output=True)
