"""What shipped weights mean must not change: scores of untrained networks, written down before there were others."""

import numpy as np
import pytest
import torch

from recsys.data.dataset import Queries
from recsys.models import registry
from tests.models.configs import changed

SASREC = [2.5062, 1.0584, 0.0650, 0.3355]
GRU4REC = [-2.7031, 1.4150, 3.4628, -2.7775]
SCORES = {  # of the first four of 30 items, after items 4, 8 and 15
    "bert4rec": [-0.1273, -2.1441, 0.8949, 0.3265],
    "sasrec-softmax": SASREC,
    "sasrec-bce": SASREC,
    "gsasrec": SASREC,
    "gru4rec-ce": GRU4REC,
    "gru4rec-plus": GRU4REC,
}


@pytest.mark.parametrize("variant", SCORES)
def test_our_own_variants_compute_what_they_always_did(variant):
    found = registry.get(variant)
    model = found.model(changed(found.preset("ml-1m"), dim=16, length=10, init=0.5))
    torch.manual_seed(0)
    model.module = model.build(30).eval()
    scores = model.score(Queries([np.array([4, 8, 15])], are_whole=True))[0]
    np.testing.assert_allclose(scores[:4], SCORES[variant], atol=1e-3)
