import os
import random
import signal
import subprocess
import sys
import time

from recsys import paths
from recsys.data import prepared
from recsys.training import resume
from recsys.training.loop import read_log
from tests import toys

TRAIN = (sys.executable, "-m", "recsys", "train", "bert4rec", "--dataset", "cycle", "--resume", "--device", "cpu")
SETTINGS = {"save-every": 0, "dim": 8, "length": 12, "epochs": 40, "batch-size": 16, "warmup": 5, "validate-every": 5}


def start(home):
    environment = os.environ | {"RECSYS_HOME": str(home), "OMP_NUM_THREADS": "1"}
    flags = [f"--{name}={value}" for name, value in SETTINGS.items()]
    return subprocess.Popen([*TRAIN, *flags], env=environment, cwd=paths.REPOSITORY, stdout=subprocess.DEVNULL)


def test_a_run_killed_again_and_again_ends_with_the_weights_of_one_left_alone(tmp_path, monkeypatch):
    moment, progress = random.Random(0), []
    for name in ("alone", "killed"):
        monkeypatch.setenv("RECSYS_HOME", str(tmp_path / name))
        prepared.save(toys.cycle(n_items=8, n_users=64, length=8), {})
    folder = paths.checkpoint("cycle", "bert4rec", 0)  # of the one that is killed
    for _ in range(3):
        training = start(tmp_path / "killed")
        while training.poll() is None and len(read_log(folder)) <= sum(progress[-1:]):
            time.sleep(0.01)
        time.sleep(moment.uniform(0, 0.2))
        training.send_signal(signal.SIGKILL)
        training.wait()
        progress.append(len(read_log(folder)))
        assert (folder / resume.FILE).exists() or (folder / "meta.json").exists()
    assert start(tmp_path / "killed").wait() == 0
    assert start(tmp_path / "alone").wait() == 0

    alone = tmp_path / "alone" / folder.relative_to(tmp_path / "killed")
    assert (folder / "weights.safetensors").read_bytes() == (alone / "weights.safetensors").read_bytes()
    assert [event["loss"] for event in read_log(folder)] == [event["loss"] for event in read_log(alone)]
    assert not (folder / resume.FILE).exists()  # its work is done
