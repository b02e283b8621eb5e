"""Helpers for several processes started by `torchrun`. Without torchrun, the world size is 1 and nothing is sent."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor, distributed, nn


@contextmanager
def process_group(device: torch.device) -> Iterator[None]:
    """Join the processes that torchrun started, if any: over NCCL between GPUs, over gloo between CPUs."""
    if "LOCAL_RANK" not in os.environ:
        yield
        return
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield
    finally:
        distributed.destroy_process_group()


def world_size() -> int:
    """Return the number of processes."""
    return distributed.get_world_size() if distributed.is_initialized() else 1


def rank() -> int:
    """Return the number of this process. Only process 0 writes files and reports progress."""
    return distributed.get_rank() if distributed.is_initialized() else 0


def shard(rows: np.ndarray) -> np.ndarray:
    """Return the share of this process: every `world_size()`th of rows (n,).

    If the rows are sorted by length, all processes get rows of similar length.
    """
    return rows[rank() :: world_size()]


def all_reduce(value: Tensor) -> Tensor:
    """Return the sum of a tensor over all processes."""
    if distributed.is_initialized():
        value = value.clone()
        distributed.all_reduce(value)
    return value


def sum_gradients(gradients: list[Tensor]) -> None:
    """Replace gradients by their sums over all processes. One message is faster than one per gradient."""
    if distributed.is_initialized():
        nn.utils.vector_to_parameters(all_reduce(nn.utils.parameters_to_vector(gradients)), gradients)


def all_reduce_array(values: np.ndarray) -> np.ndarray:
    """Return the sum of an array over all processes, for example of results that are zero outside the `shard`."""
    if not distributed.is_initialized():
        return values
    device = "cuda" if distributed.get_backend() == "nccl" else "cpu"  # NCCL sends tensors of a GPU only
    return all_reduce(torch.from_numpy(values).to(device)).cpu().numpy()
