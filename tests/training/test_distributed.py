import json
import os
import subprocess
import sys

import numpy as np
import pytest

from recsys import checkpoints, paths
from recsys.data import prepared
from recsys.training.trainer import RunFolder
from tests import toys
from tests.artifacts import payload

pytestmark = pytest.mark.slow

SETTINGS = {"dim": 8, "length": 12, "epochs": 3, "batch-size": 8, "warmup-steps": 5, "validate-every": 1, "dropout": 0}
TRAIN = ["-m", "recsys", "train", "bert4rec", "--dataset", "cycle", "--device", "cpu", "--precision", "fp32"]
TOGETHER = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The same training by one process and by two: the homes that each has written to, by number of processes."""
    homes = {}
    for processes, launcher in ((1, []), (2, TOGETHER)):
        homes[processes] = home = tmp_path_factory.mktemp(f"home-{processes}")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("RECSYS_HOME", str(home))
            prepared.save(toys.cycle(n_items=8, n_users=41, length=8), {})  # 41: the last batch has a single sequence
        run(home, [*launcher, *TRAIN, *(f"--{name}={value}" for name, value in SETTINGS.items())])
    return homes


def start(home, command):
    environment = os.environ | {"RECSYS_HOME": str(home), "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    environment["PYTHONPATH"] = str(paths.REPOSITORY)
    return subprocess.run(
        [sys.executable, *command], env=environment, cwd=paths.REPOSITORY, capture_output=True, text=True, timeout=120
    )


def run(home, command):
    done = start(home, command)
    assert done.returncode == 0, done.stderr
    return done.stdout


def checkpoint(home):
    return home / "checkpoints" / "cycle" / "leave-one-out" / "bert4rec" / "seed-0"


def log(home):
    return [json.loads(line) for line in (checkpoint(home) / paths.LOG).read_text("utf-8").splitlines()]


def test_two_processes_learn_what_one_learns(runs):
    alone, together = log(runs[1]), log(runs[2])
    assert [event["epoch"] for event in together] == [1, 2, 3]
    for name in ("loss", "ndcg@10", "hr@1"):
        np.testing.assert_allclose([e[name] for e in together], [e[name] for e in alone], atol=1e-5)


def test_two_processes_end_with_the_weights_of_one(runs, monkeypatch):
    states = []
    for home in runs.values():
        monkeypatch.setenv("RECSYS_HOME", str(home))
        states.append(checkpoints.load(checkpoints.find("bert4rec", "cycle"), prepared.load("cycle")).state())
    for name, weights in states[0].items():
        np.testing.assert_allclose(states[1][name], weights, atol=1e-5)


def test_evaluation_by_two_processes_gives_the_same(runs):
    alone = run(runs[1], ["-m", "recsys", "evaluate", "bert4rec", "--dataset", "cycle"])
    together = run(runs[2], [*TOGETHER, "-m", "recsys", "evaluate", "bert4rec", "--dataset", "cycle"])
    assert together == alone  # one table, printed by one process


INTERRUPTED = """
import os, pathlib, signal, sys
from recsys.cli.main import main
from recsys.training.trainer import Trainer

update, run_epochs, rank = Trainer.update, Trainer.run_epochs, os.environ["RANK"]

def update_then_signal(self, batch):
    update(self, batch)
    if rank == "1" and self.step == 3:
        os.kill(os.getpid(), signal.SIGTERM)

def run_then_record(self):
    try:
        run_epochs(self)
    finally:
        pathlib.Path(os.environ["RECSYS_HOME"], f"stopped-{rank}").write_text(str(self.step))

Trainer.update, Trainer.run_epochs = update_then_signal, run_then_record
sys.exit(main(sys.argv[1:]))
"""


def test_a_signal_to_one_process_stops_both_at_the_same_step_and_the_run_resumes_bit_for_bit(
    runs, tmp_path, monkeypatch
):
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path))
    prepared.save(toys.cycle(n_items=8, n_users=41, length=8), {})
    program = tmp_path / "interrupted.py"
    program.write_text(INTERRUPTED)
    settings = [f"--{name}={value}" for name, value in SETTINGS.items()]
    interrupted = start(tmp_path, [*TOGETHER, str(program), *TRAIN[2:], *settings])
    assert interrupted.returncode != 0
    assert [(tmp_path / f"stopped-{rank}").read_text() for rank in (0, 1)] == ["4", "4"], interrupted.stderr
    assert RunFolder(checkpoint(tmp_path)).load()["step"] == 4
    run(tmp_path, [*TOGETHER, *TRAIN, *settings, "--resume"])
    weights = [
        payload(checkpoint(home) / checkpoints.META, checkpoints.WEIGHTS).read_bytes() for home in (tmp_path, runs[2])
    ]
    assert weights[0] == weights[1]


def test_all_processes_end_if_another_training_holds_the_lock(tmp_path, monkeypatch):
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path))
    prepared.save(toys.cycle(n_items=8, n_users=41, length=8), {})
    with RunFolder(checkpoint(tmp_path)).lock():
        refused = start(tmp_path, [*TOGETHER, *TRAIN, *(f"--{name}={value}" for name, value in SETTINGS.items())])
    assert refused.returncode != 0
    assert refused.stderr.count(f"process {os.getpid()} is training in") == 2
