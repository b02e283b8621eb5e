"""Weights before the first step of training: at random, or from who is watched beside whom.

Shapes: I items, D dimensions, R rank of a factorisation.
"""

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.linalg import svds
from torch import nn

from recsys.data.schema import Dataset

WINDOW = 3  # items to either side that count as neighbours


@torch.no_grad()
def initialise_from_pmi(
    items: nn.Embedding, positions: nn.Embedding | None, train: Dataset, std: float, seed: int
) -> None:
    """Set item embeddings to `pmi_vectors` and position embeddings to sinusoids, both of standard deviation `std`.

    Rows of `items` beyond the catalogue (padding, [mask]) stay as they are.
    """
    dim = items.embedding_dim
    vectors = pmi_vectors(train, dim, std, np.random.default_rng(seed))
    items.weight[: train.n_items] = torch.from_numpy(vectors)
    if positions is not None:
        waves = sinusoids(len(positions.weight), dim)
        positions.weight.copy_(torch.from_numpy(waves * (std / waves.std())))


def pmi_vectors(train: Dataset, dim: int, std: float, rng: np.random.Generator) -> np.ndarray:
    """(I, D) float32 item vectors from a truncated SVD of positive pointwise mutual information (PMI).

    That is what skip-gram with negative sampling factorises (Levy and Goldberg, NeurIPS 2014); here a neighbour at
    distance k counts 1/k. A random rotation spreads the strongest directions over all attention heads. Values have
    standard deviation `std`; items without neighbours get random vectors.
    """
    left, strength = truncated_svd(_positive_pmi(_neighbour_counts(train)), min(dim, train.n_items - 1), rng)
    vectors = np.zeros((train.n_items, dim))
    vectors[:, : len(strength)] = left * np.sqrt(strength)
    vectors = vectors @ np.linalg.qr(rng.normal(size=(dim, dim)))[0]
    vectors *= std / max(float(vectors.std()), np.finfo(float).tiny)
    isolated = ~vectors.any(1)
    vectors[isolated] = rng.normal(scale=std, size=(isolated.sum(), dim))
    return vectors.astype(np.float32)


def truncated_svd(matrix: sp.csr_array, rank: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The largest singular values (R,) of a matrix (I, I), ascending, and their left singular vectors (I, R).

    A singular vector has no sign of its own, and `svds` leaves it to the processor. Here the entry of the largest
    absolute value is positive, so that a seed gives the same vectors everywhere.
    """
    left, strength, _ = svds(matrix, rank, v0=rng.random(matrix.shape[0]))
    return fix_signs(left), strength


def fix_signs(vectors: np.ndarray) -> np.ndarray:
    """The columns of (I, R), each negated where its entry of the largest absolute value is negative."""
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(0, keepdims=True), 0)  # (1, R)
    return np.where(largest < 0, -vectors, vectors)


def _neighbour_counts(train: Dataset) -> sp.csr_array:
    """(I, I) symmetric: how often two items are watched within WINDOW positions of each other, each time 1/distance."""
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

    A shift by k positions is the same rotation everywhere: attention to the item before is learnt once for all.
    """
    angles = np.arange(length)[:, None] * 10_000.0 ** (-np.arange(0, dim, 2) / dim)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)[:, :dim].astype(np.float32)
