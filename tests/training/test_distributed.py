import json
import os
import subprocess
import sys

import numpy as np
import pytest

from recsys import paths, store
from recsys.data import prepared
from tests import toys

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


def run(home, command):
    environment = os.environ | {"RECSYS_HOME": str(home), "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    done = subprocess.run(
        [sys.executable, *command], env=environment, cwd=paths.REPOSITORY, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def log(home):
    path = home / "checkpoints" / "cycle" / "leave-one-out" / "bert4rec" / "seed-0" / paths.LOG
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_two_processes_learn_what_one_learns(runs):
    alone, together = log(runs[1]), log(runs[2])
    assert [event["epoch"] for event in together] == [1, 2, 3]
    for name in ("loss", "ndcg@10", "hr@1"):
        np.testing.assert_allclose([e[name] for e in together], [e[name] for e in alone], atol=1e-5)


def test_two_processes_end_with_the_weights_of_one(runs, monkeypatch):
    states = []
    for home in runs.values():
        monkeypatch.setenv("RECSYS_HOME", str(home))
        states.append(store.load(store.find("bert4rec", "cycle"), prepared.load("cycle")).state())
    for name, weights in states[0].items():
        np.testing.assert_allclose(states[1][name], weights, atol=1e-5)


def test_evaluation_by_two_processes_gives_the_same(runs):
    alone = run(runs[1], ["-m", "recsys", "evaluate", "bert4rec", "--dataset", "cycle"])
    together = run(runs[2], [*TOGETHER, "-m", "recsys", "evaluate", "bert4rec", "--dataset", "cycle"])
    assert together == alone  # one table, printed by one process
