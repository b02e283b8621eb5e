"""Fit and evaluate every recommender on a small generated data set: python -m tests.reliability.fits FILE USERS.

It is a program because the hash seed and the number of threads are set before Python starts.
"""

import json
import sys
from pathlib import Path

import numpy as np

from recsys import checkpoints
from recsys.data import prepared
from recsys.data.split import LEAVE_ONE_OUT
from recsys.evaluation import results
from recsys.evaluation.evaluate import evaluate
from recsys.models import registry
from recsys.storage import sha256
from recsys.text import encoder
from recsys.training.options import RunOptions
from tests import toys
from tests.models.configs import TOY_CONFIGS, changed
from tests.models.conftest import words_as_vectors

N_FILMS, LENGTH = 120, 20


def world(n_users):
    """Return a data set whose users start at a random film and go on by random steps of 1 to 5."""
    rng = np.random.default_rng(0)
    steps = rng.integers(1, 6, (n_users, LENGTH)).cumsum(1) + rng.integers(N_FILMS, size=(n_users, 1))
    return toys.dataset((steps % N_FILMS).tolist(), N_FILMS, "made-up")


def measure(name, dataset):
    """Fit a recommender with its toy settings, store and evaluate it. Return hashes and metrics of its result."""
    variant, split = registry.get(name), LEAVE_ONE_OUT(dataset)
    model = variant.model(changed(variant.preset(dataset.name), **TOY_CONFIGS[name]))
    checkpoints.attach_members(model, dataset, 0)
    model.fit(split.train, split.valid, RunOptions(seed=0, device="cpu"))
    checkpoints.save(name, model, dataset, 0)
    document = evaluate(name, dataset, "full", [0])
    reproducible = {key: value for key, value in document.items() if key != "run"}
    ranks = results.ranks(dataset.name, "full", name)
    return {
        "result": sha256(json.dumps(reproducible, sort_keys=True).encode()),
        "ranks": sha256(np.ascontiguousarray(ranks).tobytes()),
        "mean": document["mean"],
    }


def main():
    """Measure ensembles last, because they need their members."""
    encoder.encode = words_as_vectors
    dataset = world(int(sys.argv[2]))
    prepared.save(dataset, {})
    names = sorted(registry.names(), key=lambda name: bool(registry.get(name).members(dataset.name)))
    Path(sys.argv[1]).write_text(json.dumps({name: measure(name, dataset) for name in names}))


if __name__ == "__main__":
    main()
