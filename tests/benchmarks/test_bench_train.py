from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import bench_train as train
from benchmarks.bench_train import Options
from benchmarks.generated_data import generate_dataset
from recsys.errors import RecsysError
from recsys.models import registry
from recsys.training.options import RunOptions

SMALL = Options(users=40, films=30, mean_length=10, device="cpu", dim=8, length=12, batch_size=16)


class Scripted:
    """A model that reports the events in its config."""

    device = "cuda:0"

    def __init__(self, config):
        self.config = config

    def fit(self, train, valid, run):
        for event in self.config:
            run.report(event)
        return self


def scripted(monkeypatch, seconds, speeds):
    events = [
        {"epoch": n, "loss": 9.0 - n, "sequences_per_second": speed, "seconds": end, "memory_mb": 100.0 * n}
        for n, (end, speed) in enumerate(zip(seconds, speeds, strict=True), start=1)
    ]
    monkeypatch.setattr(registry, "get", lambda variant: SimpleNamespace(model=Scripted))
    return train.time_training("scripted", events, generate_dataset(3, 3, 3), RunOptions())


def test_a_speed_is_the_median_after_the_first_epoch_and_the_first_is_counted_apart(monkeypatch):
    speed = scripted(monkeypatch, seconds=[9.0, 11.0, 14.0, 18.0], speeds=[1.0, 30.0, 20.0, 10.0])
    assert speed["seconds_per_epoch"] == 3.0  # of 2, 3, 4
    assert speed["first_epoch_extra_seconds"] == 6.0
    assert speed["sequences_per_second"] == 20.0
    assert speed["losses"] == [8.0, 7.0, 6.0, 5.0]
    assert speed["gpu_memory_mb"] == 400.0


def test_the_speed_of_a_single_epoch_includes_the_warm_up(monkeypatch):
    speed = scripted(monkeypatch, seconds=[2.0], speeds=[5.0])
    assert (speed["seconds_per_epoch"], speed["first_epoch_extra_seconds"]) == (2.0, 0.0)


@pytest.mark.slow
def test_a_generated_set_is_trained_on_and_described():
    result = train.measure(SMALL)
    assert (result["users"], result["films"]) == (40, 30)
    assert result["settings"]["dim"] == 8
    assert len(result["losses"]) == 2
    assert min(result["sequences_per_second"], result["seconds_per_epoch"]) > 0
    assert result["gpu_memory_mb"] is None
    described = "\n".join(train.format_lines(result))
    assert "40 users, 30 films" in described
    assert "sequences/s" in described


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (Options(users=40), "all of --users, --films and --mean-length"),
        (replace(SMALL, model="popular"), "try --model bert4rec"),
    ],
)
def test_options_that_cannot_be_measured_are_refused(options, sentence):
    with pytest.raises(RecsysError, match=sentence):
        train.measure(options)


def test_generated_data_has_the_shape_that_was_asked_for():
    data = generate_dataset(2_000, 500, 60, seed=3)
    lengths = np.diff(data.offsets)
    assert (data.n_users, data.n_items) == (2_000, 500)
    assert lengths.mean() == pytest.approx(60, rel=0.01)
    assert lengths.min() >= 20
    assert np.median(lengths) < 0.8 * lengths.mean()  # a long tail of busy users …
    assert np.sort(data.counts)[-50:].sum() > 0.6 * data.counts.sum()  # … and of films that few watch
    assert (np.diff(data.interactions.user) >= 0).all()
    assert len(data.catalog.films) == 500


def test_generated_data_is_the_same_for_the_same_seed_and_can_be_even():
    data, again, other = (generate_dataset(50, 20, 10, seed=seed) for seed in (1, 1, 2))
    assert data.fingerprint == again.fingerprint != other.fingerprint
    assert set(np.diff(generate_dataset(9, 20, 50, length_sigma=0).offsets)) == {50}
