"""Commands that are stopped by a signal, or that write to a disk without room."""

import itertools
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from recsys import paths
from recsys.data import datasets
from recsys.storage import sha256
from recsys.training.trainer import RunFolder

pytestmark = pytest.mark.reliability

NAME = datasets.DEFAULT_DATASET
STOP_TIMEOUT_SECONDS = 60  # a busy machine is slow, not wrong
TRAIN = ["train", "bert4rec", "--device", "cpu", "--json", "--validate-every", "1", "--save-every", "3600"]
COMMANDS = {  # name: arguments, and the method whose first call is the moment of the signal
    "a training step": (TRAIN, "recsys.training.trainer.Trainer.update"),
    "a validation": (
        [*TRAIN, "--dim", "8", "--batch-size", "512"],
        "recsys.models.sequence_model.SequenceModel._validate",
    ),
    "a fit": (["train", "mf-explicit", "--iterations", "100000"], "recsys.models.registry.get"),
    "an evaluation": (["evaluate", "all"], "recsys.models.registry.get"),
}
ANNOUNCING = """
import sys
from pkgutil import resolve_name
from recsys.cli.main import main
owner, _, name = sys.argv[1].rpartition(".")
owner = resolve_name(owner)
function = getattr(owner, name)
def announcing(*args, **options):
    print("NOW", flush=True)
    return function(*args, **options)
setattr(owner, name, announcing)
sys.exit(main(sys.argv[2:]))
"""
WRITING = (["data", "get", NAME], ["evaluate", "popular"], ["train", "fmc", "--epochs", "1"])
FREE_BYTES = (0, 40 << 10, 400 << 10, 4 << 20)
LOGS = ("log.jsonl", "train.lock")  # starts of the names of files that a training starts anew


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("name", COMMANDS)
def test_an_interrupted_command_ends_soon_and_keeps_its_state(sample_home, name, number):
    arguments, moment = COMMANDS[name]
    state = paths.checkpoint(NAME, "leave-one-out", "bert4rec", 0) / RunFolder.STATE
    state.unlink(missing_ok=True)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": paths.REPOSITORY}
    with subprocess.Popen([sys.executable, "-c", ANNOUNCING, moment, *arguments], **pipes) as program:
        for line in program.stdout:
            if "NOW" in line:
                break
        program.send_signal(number)
        errors = program.communicate(timeout=STOP_TIMEOUT_SECONDS)[1]
    assert program.returncode in (143, -signal.SIGTERM, 130), errors
    assert "Traceback" not in errors
    if "bert4rec" in arguments:
        assert state.exists()


def run(home, arguments):
    command = [sys.executable, "-m", "recsys", *arguments]
    environment = os.environ | {"RECSYS_HOME": str(home)}
    return subprocess.run(command, cwd=paths.REPOSITORY, env=environment, capture_output=True, text=True)


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 60 MB in memory."""
    if not shutil.which("mount") or os.geteuid() != 0:
        pytest.skip("needs mount and root")
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=60m", "nextreel", str(folder)]
    if (mount := subprocess.run(command, capture_output=True, text=True)).returncode:
        pytest.skip(mount.stderr.strip())
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_one_line_and_keeps_the_old_files(small_disk, record_property):
    for arguments in WRITING:
        run(small_disk, arguments).check_returncode()
    refused = 0
    for free, arguments in itertools.product(FREE_BYTES, WRITING):
        paths_before = [p for p in small_disk.rglob("*.*") if p.is_file() and not p.name.startswith(LOGS)]
        files = {path: sha256(path.read_bytes()) for path in paths_before}
        with (small_disk / "filler").open("wb") as filler, suppress(OSError):
            os.posix_fallocate(filler.fileno(), 0, shutil.disk_usage(small_disk).free - free)
        process = run(small_disk, arguments)
        (small_disk / "filler").unlink()
        refused += process.returncode
        assert process.returncode in (0, 1)
        assert "Traceback" not in process.stderr
        assert list(small_disk.rglob("*.part")) == []
        if process.returncode:
            assert {path: sha256(path.read_bytes()) if path.exists() else "" for path in files} == files
    record_property("figure", f"{len(FREE_BYTES) * len(WRITING)} commands, {refused} refused")
