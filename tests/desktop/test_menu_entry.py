import configparser
import shlex
import sys

import pytest

from recsys import paths
from recsys.desktop import menu_entry
from recsys.errors import RecsysError


@pytest.fixture
def data(tmp_path, monkeypatch):
    """The folder of this user's programs and icons."""
    monkeypatch.setattr(menu_entry.sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path


def read(path):
    parser = configparser.RawConfigParser()
    parser.optionxform = str
    parser.read(path, "utf-8")
    return dict(parser["Desktop Entry"])


def test_the_entry_starts_this_app_with_this_python(data):
    found = read(menu_entry.install())
    assert shlex.split(found["Exec"]) == [sys.executable, "-m", "recsys", "app"]
    assert found["Path"] == str(paths.REPOSITORY)
    assert found["Name"] == "NextReel"


def test_the_icon_of_the_entry_is_there(data):
    icon = read(menu_entry.install())["Icon"]
    assert icon.startswith(str(data))
    assert (data / icon).read_text("utf-8").startswith("<svg")


def test_a_python_in_a_folder_with_blanks_and_signs_is_still_found(data, monkeypatch):
    monkeypatch.setattr(menu_entry.sys, "executable", '/my films/50% "new"/$HOME/python')
    command = read(menu_entry.install())["Exec"]
    # a value of the file doubles backslashes, Exec doubles percent signs, and quoted words escape four signs
    assert command == r'"/my films/50%% \\"new\\"/\\$HOME/python" -m recsys app'


def test_what_was_installed_is_removed_and_nothing_else(data):
    other = data / "applications" / "other.desktop"
    other.parent.mkdir()
    other.write_text("")
    menu_entry.install()
    assert len(menu_entry.remove()) == 2
    assert [path for path in data.rglob("*") if path.is_file() and path.name != "mimeinfo.cache"] == [other]
    assert menu_entry.remove() == []


def test_on_other_systems_it_is_said_that_there_is_no_such_menu(data, monkeypatch):
    monkeypatch.setattr(menu_entry.sys, "platform", "darwin")
    with pytest.raises(RecsysError, match="Linux only"):
        menu_entry.install()
