"""Who a person is, from what they watched: factor models without a row per user, so that strangers are served alike."""

import torch
from torch import Tensor


def running_mean(vectors: Tensor) -> Tensor:
    """(B, T, D) → (B, T, D): at each position the mean of the vectors up to it, itself included; nothing from later.

    With a vector per film this is the person of FISM (Kabbur, Ning and Karypis, KDD 2013; its α = 1), in whom nobody's
    own factors have a part.
    """
    places = torch.arange(1, vectors.shape[1] + 1, device=vectors.device)[:, None]  # (T, 1)
    return vectors.float().cumsum(1) / places
