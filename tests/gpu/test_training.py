"""What only a real GPU shows. Skipped elsewhere."""

import numpy as np
import pytest
import torch

from recsys.data.dataset import Queries
from recsys.data.split import leave_one_out
from recsys.models import registry
from recsys.training.device import default_device
from recsys.training.options import RunOptions
from recsys.training.trainer import Trainer, TrainingError
from tests import toys
from tests.models.configs import changed

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")

SMALL = {"dim": 16, "length": 16, "epochs": 2, "negatives": 8, "batch_size": 16, "warmup_steps": 5}
SPLIT = leave_one_out(toys.cycle(n_items=20, n_users=61, length=8))
HISTORIES = [np.array([3, 4, 5]), np.array([], np.int64), np.arange(40) % 20]
NETWORKS = [
    *("bert4rec", "bert4rec-paper", "bert4rec-memory", "sasrec-softmax", "sasrec-paper", "sasrec-bce", "gsasrec"),
    *("gru4rec-ce", "gru4rec-plus", "lstm", "caser", "fpmc", "transrec", "ncf"),
]


def fit(name, device="cuda", **options):
    recommender = registry.get(name)
    model = recommender.model(changed(recommender.preset(""), **SMALL))
    return model.fit(SPLIT.train, SPLIT.valid, RunOptions(seed=3, device=device, **options))


@pytest.mark.parametrize("name", NETWORKS)
def test_two_trainings_give_the_same_weights_and_a_cpu_the_same_scores(name):
    model = fit(name)
    for key, array in fit(name).state().items():
        np.testing.assert_array_equal(array, model.state()[key])
    recommender = registry.get(name)
    loaded = recommender.model(model.config)
    with default_device("cpu"):
        loaded.load_state(model.state(), SPLIT.train.n_items)
    assert loaded.device == "cpu"
    np.testing.assert_allclose(loaded.score(Queries(HISTORIES)), model.score(Queries(HISTORIES)), atol=1e-3)


@pytest.mark.parametrize("name", ["bert4rec", "sasrec-memory", "gru4rec-ce", "sasrec-bce"])
def test_no_step_waits_for_the_gpu(name, monkeypatch):
    update = Trainer.update

    def update_without_waiting(self, batch):
        if self.step < 3:  # the first steps initialise libraries
            return update(self, batch)
        torch.cuda.set_sync_debug_mode("error")
        try:
            return update(self, batch)
        finally:
            torch.cuda.set_sync_debug_mode("default")

    monkeypatch.setattr(Trainer, "update", update_without_waiting)
    fit(name)


def test_a_run_resumes_on_a_cpu_with_its_precision(tmp_path):
    class StopError(Exception):
        pass

    def report(event):
        raise StopError

    with pytest.raises(StopError):
        fit("bert4rec", folder=tmp_path, report=report, save_every=0, precision="bf16")
    with pytest.raises(TrainingError, match="--precision bf16"):
        fit("bert4rec", "cpu", folder=tmp_path, resume=True, precision="fp32")
    assert fit("bert4rec", "cpu", folder=tmp_path, resume=True, precision="bf16").training_summary.epochs == 2


def test_weights_of_a_recurrent_layer_are_one_block_of_memory(recwarn):
    fit("gru4rec-ce")
    assert not [warning for warning in recwarn if "contiguous" in str(warning.message)]
