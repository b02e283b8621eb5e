import os
import subprocess
import sys
from pathlib import Path

import pytest

from recsys.errors import MissingLibraryError, RecsysError, python, recsys_command

BIN = Path(sys.executable).parent
ACTIVE, INACTIVE = f"{BIN}:/usr/bin:/bin", "/usr/bin:/bin"


def run(command, path, cwd=None):
    """What a terminal prints in which `path` is the search path."""
    result = subprocess.run(
        command, shell=True, executable="/bin/sh", cwd=cwd, env={**os.environ, "PATH": path}, capture_output=True
    )
    assert result.returncode == 0, result.stderr.decode()
    return result.stdout.decode()


@pytest.mark.parametrize("path", [ACTIVE, INACTIVE])
def test_a_command_that_is_shown_works_when_pasted(path, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", path)
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path))
    assert "ml-latest-sample" in run(recsys_command("data", "list"), path)


@pytest.mark.parametrize("path", [ACTIVE, INACTIVE])
def test_the_python_that_is_named_is_the_one_that_runs(path, monkeypatch):
    monkeypatch.setenv("PATH", path)
    command = f'{python()} -c "import sys; print(sys.executable)"'
    assert Path(run(command, path).strip()).samefile(sys.executable)


def test_an_active_environment_gives_the_short_command(monkeypatch):
    monkeypatch.setenv("PATH", ACTIVE)
    assert recsys_command("data", "get", "ml-1m") == "python -m recsys data get ml-1m"


def test_another_python_in_front_of_ours_is_not_taken_for_it(monkeypatch, tmp_path):
    (tmp_path / "python").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "python").chmod(0o755)
    path = f"{tmp_path}:{ACTIVE}"
    monkeypatch.setenv("PATH", path)
    assert run(f"{python()} -c 'print(1)'", path) == "1\n"


def test_an_environment_in_a_folder_with_blanks_works_too(monkeypatch, tmp_path):
    spaced = tmp_path / "my films" / "bin"
    spaced.mkdir(parents=True)
    (spaced / "python").write_text("#!/bin/sh\necho ours\n")
    (spaced / "python").chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(spaced / "python"))
    monkeypatch.setenv("PATH", INACTIVE)
    assert run(f"{python()} -m recsys", INACTIVE, cwd="/") == "ours\n"
    monkeypatch.chdir(tmp_path)
    assert python() == "'my films/bin/python'"
    assert run(f"{python()} -m recsys", INACTIVE) == "ours\n"
    monkeypatch.chdir(spaced)
    assert run(f"{python()} -m recsys", INACTIVE) == "ours\n"


def test_names_with_blanks_are_quoted():
    assert recsys_command("data", "add", "my films").endswith("-m recsys data add 'my films'")


def test_an_error_is_a_sentence_and_a_command_apart_from_it():
    error = RecsysError("no such set", "get it")
    assert (str(error.message), error.command, str(error)) == ("no such set", "get it", "no such set; run: get it")
    assert str(RecsysError("no such set")) == "no such set"


def test_a_missing_library_is_installed_by_the_command():
    error = MissingLibraryError("TF-IDF", "scikit-learn")
    assert str(error.message) == "TF-IDF needs the package scikit-learn"
    assert error.command == f"{python()} -m pip install scikit-learn"
