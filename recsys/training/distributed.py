"""Several processes that work on one model, started by `torchrun`; a process on its own is a group of one.

PyTorch's own engine does the work: DistributedDataParallel over NCCL between GPUs, over gloo between CPUs.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor, distributed, nn


@contextmanager
def group(device: torch.device) -> Iterator[torch.device]:
    """Join the processes that torchrun started, if it did; yields the device of this process."""
    if "LOCAL_RANK" not in os.environ:
        yield device
        return
    if device.type == "cuda":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield device
    finally:
        distributed.destroy_process_group()


def world() -> int:
    """How many processes there are."""
    return distributed.get_world_size() if _joined() else 1


def rank() -> int:
    """The number of this process; only process 0 writes files and reports."""
    return distributed.get_rank() if _joined() else 0


def share(rows: np.ndarray) -> np.ndarray:
    """The rows (n,) of a batch that this process computes: every `world()`th, so that all get similar lengths."""
    return rows[rank() :: world()]


def parallel(module: nn.Module) -> nn.Module:
    """The module, its gradients averaged over all processes after each backward pass."""
    return nn.parallel.DistributedDataParallel(module) if _joined() else module


def total(value: Tensor) -> Tensor:
    """The sum of a tensor over all processes."""
    if _joined():
        value = value.clone()
        distributed.all_reduce(value)
    return value


def combined(values: np.ndarray) -> np.ndarray:
    """The sum of an array over all processes; each has filled in the rows of `share` and left the rest at zero."""
    return total(torch.from_numpy(values).to(_device())).cpu().numpy() if _joined() else values


def _device() -> torch.device:
    """The device on which the group's backend adds up."""
    return torch.device("cuda" if distributed.get_backend() == "nccl" else "cpu")


def _joined() -> bool:
    return distributed.is_available() and distributed.is_initialized()
