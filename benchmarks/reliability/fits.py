"""Every recommender fitted and measured on a small made-up set: what the bars of determinism compare.

    python -m benchmarks.reliability.fits FILE PEOPLE    fit, measure, write FILE

A process of its own with a home of its own, because hash seed and threads are set before Python starts.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from recsys import checkpoints, paths, storage
from recsys.data import prepared
from recsys.data.dataset import Dataset
from recsys.data.split import LEAVE_ONE_OUT
from recsys.evaluation.evaluate import evaluate
from recsys.models import registry
from recsys.models.base import Model
from recsys.ranking.ranking import Ranking
from recsys.text import encoder
from recsys.training.options import RunOptions
from tests import toys
from tests.models.configs import TOY_CONFIGS, changed
from tests.models.conftest import words_as_vectors

PEOPLE, FILMS, LENGTH = 300, 120, 20
K = 10


def world(people: int) -> Dataset:
    """Everybody walks through the films by steps of one to five, from somewhere."""
    rng = np.random.default_rng(0)
    steps = rng.integers(1, 6, (people, LENGTH)).cumsum(1) + rng.integers(FILMS, size=(people, 1))
    return toys.dataset((steps % FILMS).tolist(), FILMS, "made-up")


def fitted(name: str, dataset: Dataset) -> Model:
    """A recommender with the settings of the tests, its members fitted before it, kept as `train` would keep it."""
    variant, split = registry.get(name), LEAVE_ONE_OUT(dataset)
    model = variant.model(changed(variant.preset(dataset.name), **TOY_CONFIGS[name]))
    checkpoints.attach_members(model, dataset, 0)
    model.fit(split.train, split.valid, RunOptions(seed=0, device="cpu"))
    checkpoints.save(name, model, dataset, 0)
    return model


def lists(model: Model, dataset: Dataset) -> list[list[int]]:
    """The best films of each user."""
    queries = LEAVE_ONE_OUT(dataset).test.queries
    return [Ranking(row).top(K).tolist() for row in model.score(queries)]


def measured(name: str, dataset: Dataset) -> dict[str, Any]:
    """What came out for one recommender."""
    model = fitted(name, dataset)
    loaded = checkpoints.load(paths.checkpoint(dataset.name, LEAVE_ONE_OUT.name, name, 0), dataset)
    document = evaluate(name, dataset, "full", [0])
    place = paths.results(paths.home(), dataset.name, "full") / name
    bare = {key: value for key, value in document.items() if key != "run"}
    written = json.loads(place.with_suffix(".json").read_text("utf-8"))
    return {
        "result": storage.sha256(json.dumps(bare, sort_keys=True).encode()),
        "ranks": list(written["files"].values()),
        "mean": document["mean"],
        "same lists": lists(model, dataset) == lists(loaded, dataset),
        "seed": document["seeds"][0].get("seed"),
        "data": document.get("fingerprint"),
        "threads": document["run"].get("threads"),
        "versions": sorted(document["run"].get("versions", {})),
    }


def all_of_them(threads: str = "1", hash_seed: str = "0", people: int = PEOPLE) -> dict[str, dict[str, Any]]:
    """Recommender → what came out, in a new process; kept for the bars that ask for the same."""
    kept = paths.home() / f"fits-{threads}-{hash_seed}-{people}.json"
    if not kept.exists():
        with tempfile.TemporaryDirectory() as home:
            settings = {"OMP_NUM_THREADS": threads, "PYTHONHASHSEED": hash_seed, "RECSYS_HOME": home}
            command = [sys.executable, "-m", "benchmarks.reliability.fits", str(kept), str(people)]
            subprocess.run(command, cwd=paths.REPOSITORY, env=os.environ | settings, check=True)
    return json.loads(kept.read_text("utf-8"))


def main() -> None:
    """Fit and measure all of them; those that stand on others come last."""
    encoder.encode = words_as_vectors
    dataset = world(int(sys.argv[2]))
    prepared.save(dataset, {})
    names = sorted(registry.names(), key=lambda name: bool(registry.get(name).members(dataset.name)))
    found = {name: measured(name, dataset) for name in names}
    storage.replace_file(Path(sys.argv[1]), json.dumps(found).encode())


if __name__ == "__main__":
    main()
