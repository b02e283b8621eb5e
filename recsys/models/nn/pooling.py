"""A user as the mean of what they watched: factor models without a row per user serve unseen users like known ones."""

import torch
from torch import Tensor


def running_mean(vectors: Tensor) -> Tensor:
    """(B, T, D) → (B, T, D): at each position the mean of the vectors up to it, itself included; nothing from later.

    With an embedding per item this is the user factor of FISM (Kabbur, Ning and Karypis, KDD 2013) with its α = 1.
    """
    counts = torch.arange(1, vectors.shape[1] + 1, device=vectors.device)[:, None]  # (T, 1)
    return vectors.float().cumsum(1) / counts
