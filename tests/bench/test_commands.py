import json
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from recsys import machine, paths
from recsys.__main__ import main
from recsys.bench import _commands


@pytest.fixture
def counting(monkeypatch):
    """A kind of measurement that counts to what it is told."""
    kind = SimpleNamespace(
        __doc__="Counts.",
        add_flags=lambda parser: parser.add_argument("--up-to", type=int, default=3),
        measure=lambda options: {"counted": options.up_to},
        lines=lambda result: [f"counted to {result['counted']}"],
    )
    monkeypatch.setattr(_commands, "import_module", {"recsys.bench.serve": kind}.__getitem__)


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


def test_a_kind_that_does_not_exist_and_a_strange_flag_are_refused(counting, capsys):
    for wrong in (["sell"], ["serve", "--down-to", "1"]):
        with pytest.raises(SystemExit):
            main(["bench", *wrong])
    assert "usage: python -m recsys bench serve" in capsys.readouterr().err


def test_the_peak_of_memory_is_of_this_process_and_in_megabytes():
    held = np.ones(50_000_000)  # 400 MB, which the child does not inherit
    code = "from recsys.machine import peak_memory_mb as p; a = p(); b = bytearray(300_000_000); print(a, p())"
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=paths.REPOSITORY, check=True
    )
    before, after = map(float, said.stdout.split())
    assert before < held.nbytes / 2e6
    assert 290 < after - before < 320


def test_a_machine_without_a_gpu_or_a_repository_can_be_described(monkeypatch):
    monkeypatch.setitem(os.environ, "PATH", "/nowhere")
    described = machine.describe()
    assert described["gpu"] is None
    assert "commit unknown" in machine.line(described)
