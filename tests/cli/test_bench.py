import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from recsys import machine, paths, runtime, storage
from recsys.cli import bench
from recsys.cli.main import main
from recsys.config import config_class


@config_class
class Counting:
    """Counts."""

    up_to: int = 3  # the last number


@pytest.fixture
def counting(monkeypatch):
    """A kind of measurement that counts up to a number."""
    kind = SimpleNamespace(
        Options=Counting,
        measure=lambda options: {"counted": options.up_to},
        format_lines=lambda result: [f"counted to {result['counted']}"],
    )
    monkeypatch.setattr(bench, "import_module", {"benchmarks.bench_serve": kind}.__getitem__)


def test_people_read_lines_and_the_machine(counting, capsys):
    assert main(["bench", "serve", "--up-to", "5"]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first == "counted to 5"
    assert f"numpy {np.__version__}" in last


def test_programs_read_one_document_with_the_machine(counting, capsys):
    assert main(["bench", "serve", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["bench"], document["counted"]) == ("serve", 3)
    assert document["machine"]["cores"] >= 1


def test_a_strange_flag_is_refused_with_those_of_the_kind(counting, capsys):
    with pytest.raises(SystemExit):
        main(["bench", "serve", "--down-to", "1"])
    usage = capsys.readouterr().err.splitlines()[-1]
    assert "-m recsys bench serve [-h] [--json] [--up-to INT]" in usage


@pytest.mark.parametrize("kind", ["train", "serve", "evaluate", "load"])
def test_every_kind_lists_its_flags(capsys, kind):
    with pytest.raises(SystemExit) as end:
        main(["bench", kind, "--help"])
    assert end.value.code == 0
    assert "--dataset STR" in capsys.readouterr().out


def test_an_archive_is_named_by_from(tmp_path, capsys):
    assert main(["bench", "load", "--from", str(tmp_path / "none.zip")]) == 1
    assert f"there is no file {tmp_path / 'none.zip'}" in capsys.readouterr().err


def test_the_peak_of_memory_is_of_this_process_and_in_megabytes():
    held = np.ones(50_000_000)  # 400 MB, which the child does not inherit
    code = "from recsys.runtime import peak_memory_mb as p; a = p(); b = bytearray(300_000_000); print(a, p())"
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=paths.REPOSITORY, check=True
    )
    before, after = map(float, said.stdout.split())
    assert before < held.nbytes / 2e6
    assert 290 < after - before < 320


def test_the_peak_of_memory_is_also_known_where_the_kernel_does_not_list_it(monkeypatch):
    monkeypatch.setattr(Path, "read_text", lambda path: "Name:\tpython\n")
    assert runtime.peak_memory_mb() > 10


def test_a_machine_without_a_gpu_or_a_repository_can_be_described(monkeypatch):
    monkeypatch.setitem(os.environ, "PATH", "/nowhere")
    described = machine.describe()
    assert described["gpu"] is None
    assert "commit unknown" in machine.format_description(described)


def test_a_commit_is_dirty_when_its_code_has_changed_not_when_results_were_shipped(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "REPOSITORY", root := tmp_path / "a b")
    assert machine.commit() == ""
    boards = [board(root / "assets", "cycle", "full") for board in (paths.results, paths.trials)]
    measured = [*boards, paths.studies(root / "assets") / "one.json"]
    for path in (code := root / "code.py", *measured):
        storage.replace_file(path, b"old")
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    for arguments in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "first"]):
        subprocess.run(["git", "-C", str(root), *arguments], check=True)
    clean = machine.commit()
    assert re.fullmatch("[0-9a-f]{12}", clean)
    for path in (*measured, root / "untracked.txt"):
        path.write_bytes(b"new")
    assert machine.commit() == clean
    code.write_bytes(b"new")
    assert machine.commit() == f"{clean}-dirty"
