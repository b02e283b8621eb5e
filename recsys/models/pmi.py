"""Initial weights of a network from the training data: item vectors from pointwise mutual information (PMI).

Items that are watched within a few positions of each other start with similar vectors. Position vectors start as
sinusoids.

Shapes: I items, D dimensions.
"""

import numpy as np
import torch
from scipy import sparse
from torch import nn

from recsys.data.dataset import Dataset
from recsys.models.histories import transition_counts
from recsys.models.linalg import fix_signs, truncated_svd

WINDOW = 3  # items before and after an item that count as its neighbours


@torch.no_grad()
def initialise_from_pmi(
    items: nn.Embedding, positions: nn.Embedding | None, train: Dataset, std: float, seed: int
) -> None:
    """Set item embeddings to `pmi_vectors`, position embeddings to `sinusoids`, both with standard deviation `std`."""
    dim = items.embedding_dim
    vectors = pmi_vectors(train, dim, std, np.random.default_rng(seed))
    items.weight[: train.n_items] = torch.from_numpy(vectors)  # the rows of padding and [mask] do not change
    if positions is not None:
        waves = sinusoids(len(positions.weight), dim)
        positions.weight.copy_(torch.from_numpy(waves * (std / waves.std())))


def pmi_vectors(train: Dataset, dim: int, std: float, rng: np.random.Generator) -> np.ndarray:
    """Return item vectors U √Σ from the truncated SVD U Σ Vᵀ of the positive PMI matrix, (I, D) float32.

    PMI(i, j) = log(p(i, j) / (p(i) p(j))), from counts of neighbours in which a neighbour at distance k counts 1/k.
    Skip-gram with negative sampling implicitly factorises this matrix (Levy and Goldberg, NeurIPS 2014). A random
    rotation distributes the strongest dimensions over all attention heads. Values have standard deviation `std`. Items
    without neighbours have random vectors.
    """
    pmi = _positive_pmi(_neighbour_counts(train))
    left, singular_values, _ = truncated_svd(pmi, dim, start=rng.random(train.n_items))
    vectors = np.zeros((train.n_items, dim))
    vectors[:, : len(singular_values)] = fix_signs(left) * np.sqrt(singular_values)
    vectors = vectors @ np.linalg.qr(rng.normal(size=(dim, dim)))[0]
    vectors *= std / max(float(vectors.std()), np.finfo(float).tiny)
    is_zero = ~vectors.any(1)
    vectors[is_zero] = rng.normal(scale=std, size=(is_zero.sum(), dim))
    return vectors.astype(np.float32)


def _neighbour_counts(train: Dataset) -> sparse.csr_array:
    """Return the sum of 1/distance over the times that two items were watched within WINDOW positions, (I, I)."""
    user, item = train.interactions.user, train.interactions.item
    counts = sparse.csr_array((train.n_items, train.n_items))
    for distance in range(1, WINDOW + 1):
        counts += transition_counts(user, item, train.n_items, distance, weight=1 / distance, dtype=np.float64)
    return counts + counts.T


def _positive_pmi(counts: sparse.csr_array) -> sparse.csr_array:
    """Return max(0, PMI) where the neighbour counts (I, I) are positive, else 0."""
    counts = counts.tocoo()
    marginal = counts.sum(0)
    rows, columns = counts.coords
    pmi = np.log(counts.data * counts.sum() / (marginal[rows] * marginal[columns]))
    return sparse.csr_array((np.maximum(pmi, 0), (rows, columns)), counts.shape)


def sinusoids(length: int, dim: int) -> np.ndarray:
    """Return the position vectors of the Transformer paper (arXiv:1706.03762, section 3.5), (length, D) float32.

    Unlike in the paper, all sines come before all cosines. A shift by k is still one linear map for all positions.
    """
    angles = np.arange(length)[:, None] * 10_000.0 ** (-np.arange(0, dim, 2) / dim)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)[:, :dim].astype(np.float32)
