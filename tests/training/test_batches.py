import numpy as np

from recsys.training.batches import POOL, buckets, by_length, pad


def test_every_sequence_is_in_exactly_one_batch():
    lengths = np.random.default_rng(0).integers(1, 50, 1003)
    batches = buckets(lengths, 32, np.random.default_rng(1))
    assert sorted(np.concatenate(batches)) == list(range(1003))
    assert max(map(len, batches)) == 32


def test_batches_hold_sequences_of_similar_length():
    lengths = np.random.default_rng(0).integers(1, 201, 32 * POOL)
    batches = buckets(lengths, 32, np.random.default_rng(1))
    padded = sum(len(rows) * lengths[rows].max() for rows in batches)
    assert lengths.sum() / padded > 0.93
    shuffled = np.split(np.random.default_rng(2).permutation(len(lengths)), POOL)
    assert lengths.sum() / sum(len(rows) * lengths[rows].max() for rows in shuffled) < 0.6  # what no buckets would cost


def test_padding_fills_the_end():
    assert pad([np.array([1, 2]), np.array([3]), np.array([], int)], 9).tolist() == [[1, 2], [3, 9], [9, 9]]


def test_by_length_goes_from_short_to_long_and_keeps_ties_in_order():
    assert np.concatenate(list(by_length(np.array([3, 1, 2, 1]), 2))).tolist() == [1, 3, 2, 0]
