"""Models that only count do not care in which order a file lists its ratings, as long as no two have the same time."""

import numpy as np
import pytest

from recsys.data.assemble import RawRatings, assemble
from recsys.data.split import leave_one_out
from recsys.evaluation import protocols
from recsys.evaluation.rank import rank_held_out
from recsys.models import registry
from recsys.ranking.metrics import summary
from tests import toys

COUNTING = {  # here, because other tests of this folder put fakes into the registry
    name: variant for name in registry.names() if (variant := registry.get(name)).family == registry.SIMPLE
}


def ratings(n_users=80, n_items=30, length=10):
    """As from a file: people walk through the films in steps of 1 to 3, and no two ratings have the same time."""
    rng = np.random.default_rng(0)
    user = np.repeat(np.arange(1, n_users + 1, dtype=np.int32), length)
    steps = rng.integers(1, 4, (n_users, length)).cumsum(1) + rng.integers(n_items, size=(n_users, 1))
    movie = (100 + steps.ravel() % n_items).astype(np.int32)
    timestamp = 1_000_000_000 + 600 * rng.permutation(len(user)).reshape(n_users, length)
    rating = rng.integers(1, 6, len(user)).astype(np.float32)
    return RawRatings(user, movie, rating, np.sort(timestamp).ravel(), toys.catalog(n_items).movies)


def shuffled(raw, seed):
    rows = np.random.default_rng(seed).permutation(len(raw.user))
    return RawRatings(raw.user[rows], raw.movie[rows], raw.rating[rows], raw.timestamp[rows], raw.films)


def metrics(name, dataset):
    split = leave_one_out(dataset)
    variant = COUNTING[name]
    model = variant.model(variant.preset(dataset.name)).fit(split.train, split.valid)
    return summary(rank_held_out(model, split.test, protocols.get("full"), dataset).ranks)


def test_there_are_models_that_only_count():
    assert {"popular", "popular-recent", "session-popular", "markov"} <= COUNTING.keys()


@pytest.mark.parametrize("variant", COUNTING)
def test_rows_shuffled_give_equal_metrics(variant):
    raw = ratings()
    assert len(np.unique(raw.timestamp)) == len(raw.timestamp)
    expected = metrics(variant, assemble("toy", raw))
    assert 0 < expected["mrr"] < 1
    for seed in (1, 2):
        assert metrics(variant, assemble("toy", shuffled(raw, seed))) == expected


def test_with_tied_times_the_file_order_does_decide():
    """The condition is needed: where all times are one, shuffling changes what is held out, and the metrics."""
    raw = ratings()
    tied = RawRatings(raw.user, raw.movie, raw.rating, np.full_like(raw.timestamp, 5), raw.films)
    assert metrics("markov", assemble("toy", shuffled(tied, 1))) != metrics("markov", assemble("toy", tied))
