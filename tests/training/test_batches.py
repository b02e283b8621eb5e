import numpy as np
import pytest

from recsys.training.batches import BUCKET_BATCHES, WIDTH_MULTIPLE, CounterRNG, bucketed_batches, by_length, pad


def test_every_sequence_is_in_exactly_one_batch():
    lengths = np.random.default_rng(0).integers(1, 50, 1003)
    batches = bucketed_batches(lengths, 32, np.random.default_rng(1))
    assert sorted(np.concatenate(batches)) == list(range(1003))
    assert max(map(len, batches)) == 32


def test_batches_hold_sequences_of_similar_length():
    lengths = np.random.default_rng(0).integers(1, 201, 32 * BUCKET_BATCHES)
    batches = bucketed_batches(lengths, 32, np.random.default_rng(1))
    padded = sum(len(rows) * lengths[rows].max() for rows in batches)
    assert lengths.sum() / padded > 0.93
    shuffled = np.split(np.random.default_rng(2).permutation(len(lengths)), BUCKET_BATCHES)
    assert lengths.sum() / sum(len(rows) * lengths[rows].max() for rows in shuffled) < 0.6  # what no buckets would cost


def test_batches_come_in_random_order():
    """Within a pool they are cut from short to long; that order must not reach training."""
    lengths = np.random.default_rng(0).integers(1, 201, 32 * BUCKET_BATCHES)
    means = [lengths[rows].mean() for rows in bucketed_batches(lengths, 32, np.random.default_rng(1))]
    assert abs(np.corrcoef(means, np.arange(BUCKET_BATCHES))[0, 1]) < 0.5
    again = [lengths[rows].mean() for rows in bucketed_batches(lengths, 32, np.random.default_rng(2))]
    assert abs(np.corrcoef(means, again)[0, 1]) < 0.5


def test_which_sequences_share_a_batch_is_random():
    batches = bucketed_batches(np.full(1000, 7), 10, np.random.default_rng(1))
    assert np.mean([np.ptp(rows) for rows in batches]) > 500  # neighbours in the data would be 9 apart
    other = bucketed_batches(np.full(1000, 7), 10, np.random.default_rng(2))
    assert not {frozenset(rows) for rows in batches} & {frozenset(rows) for rows in other}


def test_padding_fills_the_end():
    padded = pad(np.array([1, 2, 3]), np.array([2, 1, 0]), 9)
    assert padded[:, :3].tolist() == [[1, 2, 9], [3, 9, 9], [9, 9, 9]]
    assert (padded[:, 3:] == 9).all()
    assert (pad(np.array([], int), np.array([0]), 9) == 9).all()


def test_there_are_few_widths():
    widths = {pad(np.zeros(n), np.array([n]), 9).shape[1] for n in range(201)}
    assert widths == set(range(WIDTH_MULTIPLE, 201, WIDTH_MULTIPLE))


def test_draws_are_uniform_and_independent_of_their_neighbours():
    draws = CounterRNG(seed=0, epoch=0)
    grid = np.stack([draws.uniform(0, np.full(500, row), np.arange(500)) for row in range(200)])  # (200, 500)
    assert np.histogram(grid, 10, (0, 1))[0] == pytest.approx([10_000] * 10, rel=0.04)
    for other in (
        np.roll(grid, 1, 0),
        np.roll(grid, 1, 1),
        draws.uniform(1, np.arange(200)[:, None], np.arange(500)),
        CounterRNG(1, 0).uniform(0, np.arange(200)[:, None], np.arange(500)),
        CounterRNG(0, 1).uniform(0, np.arange(200)[:, None], np.arange(500)),
    ):
        assert abs(np.corrcoef(grid.ravel(), other.ravel())[0, 1]) < 0.015


def test_draws_depend_on_nothing_else():
    draws = CounterRNG(seed=5, epoch=7)
    rows = np.array([3, 9, 4])
    assert draws.uniform(0, rows, 2)[1] == draws.uniform(0, np.array([9]), np.array([2]))[0]
    assert set(draws.integers(0, np.full(1000, 3), np.arange(1000))) == {0, 1, 2}


def test_by_length_goes_from_short_to_long_and_keeps_ties_in_order():
    assert np.concatenate(list(by_length(np.array([3, 1, 2, 1]), 2))).tolist() == [1, 3, 2, 0]


def test_segments_lie_anywhere_and_short_ones_are_as_frequent_as_long_ones():
    rows = np.arange(4000)
    histories = [np.arange(64)] * len(rows)
    segments = CounterRNG(0, 0).crop(histories, rows, 50, "segments")
    newest = np.arange(14, 64)
    is_newest = np.array([len(segment) == 50 and (segment == newest).all() for segment in segments])
    assert 0.4 < is_newest.mean() < 0.6
    others = [segment for segment, whole in zip(segments, is_newest, strict=True) if not whole]
    assert all((np.diff(segment) == 1).all() for segment in others)
    assert {segment[-1] for segment in others} == set(range(64))
    sizes = np.array([len(segment) for segment in others])
    assert sizes.min() == 1
    assert sizes.max() <= 50
    # of segments that end late, the length has a log-uniform distribution
    late = sizes[[segment[-1] >= 48 for segment in others]]
    for low, high in ((1, 2), (2, 4), (4, 8), (8, 16), (16, 32)):
        assert 0.1 < ((late >= low) & (late < high)).mean() < 0.24
