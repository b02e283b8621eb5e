"""Equal inputs give equal results, in other processes and with another number of threads."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from recsys.data import datasets
from recsys.paths import REPOSITORY
from recsys.serving import predictor
from recsys.serving.recommend import Request, recommend
from tests.artifacts import available_names

pytestmark = pytest.mark.reliability

MAX_DIFFERENCE = 1e-3  # of a metric
N_THREADS, N_REQUESTS = 8, 200


@pytest.fixture
def fits(tmp_path):
    """Fit every recommender in a new process, and return the results by name."""

    def run(n_users, threads="1", hash_seed="0"):
        file, home = tmp_path / "results.json", tmp_path / f"home-{threads}-{hash_seed}"
        settings = {"OMP_NUM_THREADS": threads, "PYTHONHASHSEED": hash_seed, "RECSYS_HOME": str(home)}
        command = [sys.executable, "-m", "tests.reliability.fits", str(file), str(n_users)]
        subprocess.run(command, cwd=REPOSITORY, env=os.environ | settings, check=True)
        return json.loads(file.read_text())

    return run


def test_the_hash_seed_of_python_changes_no_result(fits, record_property):
    expected = fits(n_users=300)
    record_property("figure", f"{len(expected)} recommenders")
    for hash_seed in ("1", "random"):
        assert fits(n_users=300, hash_seed=hash_seed) == expected


def test_the_number_of_threads_changes_metrics_little(fits, record_property):
    """With 3,000 users, a changed rank of one user moves a metric by at most a third of the tolerance."""
    serial, parallel = (fits(n_users=3_000, threads=threads) for threads in ("1", "2"))
    differences = {
        name: max(abs(value - parallel[name]["mean"][metric]) for metric, value in result["mean"].items())
        for name, result in serial.items()
    }
    worst = max(differences, key=differences.__getitem__)
    record_property("figure", f"{len(differences)} recommenders, largest difference {differences[worst]:.1e} ({worst})")
    assert {name: value for name, value in differences.items() if value > MAX_DIFFERENCE + 1e-9} == {}


def test_eight_threads_get_the_answers_of_a_single_thread(sample_home, record_property):
    dataset = datasets.load(datasets.DEFAULT_DATASET)
    requests = [Request(tuple(history.tolist())) for history in dataset.histories[:N_REQUESTS]]
    names = [
        *available_names(dataset.name),
        predictor.FALLBACK,
        "markov",
    ]
    record_property("figure", f"{len(names) * N_THREADS * N_REQUESTS:,} answers of {len(names)} recommenders")
    for name in names:
        ready = predictor.load(name, dataset)
        expected = [recommend(ready, request) for request in requests]

        def differing(shift, ready=ready, expected=expected):
            """Answer all requests, beginning with another one in each thread."""
            order = np.roll(np.arange(len(requests)), -shift).tolist()
            return [row for row in order if recommend(ready, requests[row]) != expected[row]]

        with ThreadPoolExecutor(N_THREADS) as threads:
            shifts = range(0, len(requests), len(requests) // N_THREADS)
            assert [row for rows in threads.map(differing, shifts) for row in rows] == [], name
