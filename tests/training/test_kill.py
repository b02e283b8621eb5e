import os
import signal
import subprocess
import sys

import pytest

from recsys import paths, progress
from recsys.data import prepared
from recsys.training.trainer import RunFolder
from tests import toys
from tests.artifacts import payload

pytestmark = pytest.mark.slow

TRAIN = (
    sys.executable,
    "-m",
    "recsys",
    "train",
    "bert4rec",
    "--dataset",
    "cycle",
    "--resume",
    "--device",
    "cpu",
    "--json",
)
SETTINGS = {
    "save-every": 0,
    "dim": 8,
    "length": 12,
    "epochs": 40,
    "batch-size": 16,
    "warmup-steps": 5,
    "validate-every": 5,
}


def start(home):
    environment = os.environ | {"RECSYS_HOME": str(home), "OMP_NUM_THREADS": "1"}
    flags = [f"--{name}={value}" for name, value in SETTINGS.items()]
    return subprocess.Popen([*TRAIN, *flags], env=environment, cwd=paths.REPOSITORY, stdout=subprocess.PIPE, text=True)


def test_a_run_killed_again_and_again_ends_with_the_weights_of_one_left_alone(tmp_path, monkeypatch):
    for name in ("alone", "killed"):
        monkeypatch.setenv("RECSYS_HOME", str(tmp_path / name))
        prepared.save(toys.cycle(n_items=8, n_users=64, length=8), {})
    folder = paths.checkpoint("cycle", "leave-one-out", "bert4rec", 0)  # of the one that is killed
    for epochs in (1, 4, 2):
        with start(tmp_path / "killed") as training:
            for _ in range(epochs):  # a line each; the kill then falls somewhere into the next epoch
                training.stdout.readline()
            training.send_signal(signal.SIGKILL)
        assert training.returncode == -signal.SIGKILL
        assert (folder / RunFolder.STATE).exists()
    for name in ("killed", "alone"):
        with start(tmp_path / name) as training:
            training.communicate()
        assert training.returncode == 0

    alone = tmp_path / "alone" / folder.relative_to(tmp_path / "killed")
    weights = [payload(path / "meta.json", "weights.safetensors") for path in (folder, alone)]
    assert weights[0].read_bytes() == weights[1].read_bytes()
    losses = [[event["loss"] for event in progress.read(path / paths.LOG)] for path in (folder, alone)]
    assert losses[0] == losses[1]
    assert not (folder / RunFolder.STATE).exists()  # its work is done
