"""What an embedding table may start from, so that training need not discover it step by step.

Shapes: I items, D dimensions, E events.
"""

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.linalg import svds
from torch import nn

from recsys.data.schema import Dataset

WINDOW = 3  # films to either side that count as neighbours


@torch.no_grad()
def head_start(items: nn.Embedding, positions: nn.Embedding | None, train: Dataset, std: float, seed: int) -> None:
    """Put films that are watched together near each other, and neighbouring positions a fixed turn apart."""
    dim = items.embedding_dim
    vectors = neighbour_vectors(train, dim, std, np.random.default_rng(seed))
    items.weight[: train.n_items] = torch.from_numpy(vectors)
    if positions is not None:
        waves = sinusoids(len(positions.weight), dim)
        positions.weight.copy_(torch.from_numpy(waves * (std / waves.std())))


def neighbour_vectors(train: Dataset, dim: int, std: float, rng: np.random.Generator) -> np.ndarray:
    """(I, D) float32 item vectors from who is watched beside whom.

    A truncated SVD of positive pointwise mutual information, which is what skip-gram with negative sampling factorises
    (Levy and Goldberg, NeurIPS 2014); a neighbour k places away counts 1/k. The vectors are turned at random, so that
    no attention head gets the strongest directions alone, and scaled to standard deviation `std`; films without
    neighbours start at random.
    """
    pmi = _positive_pmi(_neighbour_counts(train))
    rank = min(dim, train.n_items - 1)
    left, strength, _ = svds(pmi, rank, v0=rng.random(train.n_items))
    vectors = np.zeros((train.n_items, dim))
    vectors[:, :rank] = left * np.sqrt(strength)
    vectors = vectors @ np.linalg.qr(rng.normal(size=(dim, dim)))[0]
    vectors *= std / max(float(vectors.std()), np.finfo(float).tiny)
    lonely = ~vectors.any(1)
    vectors[lonely] = rng.normal(scale=std, size=(lonely.sum(), dim))
    return vectors.astype(np.float32)


def _neighbour_counts(train: Dataset) -> sp.csr_array:
    """(I, I) symmetric: how often two items stand within WINDOW places of each other."""
    user, item = train.interactions.user, train.interactions.item
    shape = (train.n_items, train.n_items)
    counts = sp.csr_array(shape)
    for distance in range(1, WINDOW + 1):
        same_user = user[distance:] == user[:-distance]
        pairs = (item[:-distance][same_user], item[distance:][same_user])
        counts += sp.csr_array((np.full(len(pairs[0]), 1 / distance), pairs), shape)
    return counts + counts.T


def _positive_pmi(counts: sp.csr_array) -> sp.csr_array:
    """max(0, log p(i, j) / (p(i) p(j))) where items i and j are neighbours, else 0."""
    counts = counts.tocoo()
    marginal = counts.sum(0)
    rows, columns = counts.coords
    pmi = np.log(counts.data * counts.sum() / (marginal[rows] * marginal[columns]))
    return sp.csr_array((np.maximum(pmi, 0), (rows, columns)), counts.shape)


def sinusoids(length: int, dim: int) -> np.ndarray:
    """(length, D) float32 position vectors of the Transformer paper (arXiv:1706.03762, section 3.5), values in [-1, 1].

    A shift by k places is the same turn everywhere: attention to "the film before" is learnt once for all positions.
    """
    angles = np.arange(length)[:, None] * 10_000.0 ** (-np.arange(0, dim, 2) / dim)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)[:, :dim].astype(np.float32)
