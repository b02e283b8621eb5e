"""`data remove` while a training of the same data set goes on in another process."""

import os
import subprocess
import sys

import pytest

from recsys import paths
from recsys.cli.main import main
from recsys.data import own_data, tables

ROWS = "".join(f"{person},{(person + step) % 8},{step}\n" for person in range(64) for step in range(8))
TRAIN = "train bert4rec --dataset shop --device cpu --json --dim 8 --length 12 --epochs 100000 --batch-size 16"


@pytest.mark.slow
def test_a_data_set_is_not_deleted_while_the_command_line_trains_on_it(home, capsys):
    own_data.add("shop", own_data.check(tables.parse("shop.csv", f"user,item,time\n{ROWS}".encode())), "shop.csv")
    command = [sys.executable, "-m", "recsys", *TRAIN.split()]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, env=environment, cwd=paths.REPOSITORY, stdout=subprocess.PIPE) as training:
        try:
            assert training.stdout.readline()  # it has begun
            assert main(["data", "remove", "shop"]) == 1
            assert "is being trained for shop" in capsys.readouterr().err
            assert paths.prepared("shop").is_dir()
        finally:
            training.kill()
    assert main(["data", "remove", "shop"]) == 0
    assert not paths.prepared("shop").exists()
