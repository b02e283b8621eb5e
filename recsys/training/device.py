"""Which device to train on, and what it does well."""

import ctypes
import sys

import torch

from recsys.data.schema import DataError


class DeviceError(DataError):
    """A device that this machine does not have."""


def choose(name: str) -> torch.device:
    """`auto` is the first GPU, else the CPU. Raises DeviceError when the device named is not there."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise DeviceError(f"this machine has no device {name}; use --device cpu or --device auto") from error
    return device


def has_fast_bf16(device: torch.device) -> bool:
    """Whether products of bf16 matrices run in hardware there, accumulating in fp32."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return device.type == "cpu" and torch.cpu.is_available() and torch.cpu._is_avx512_bf16_supported()


def keep_freed_memory() -> None:
    """Ask glibc to reuse freed blocks instead of returning them to the kernel.

    A training step frees and allocates the same few megabytes again and again; fetching their pages anew takes a tenth
    of the step, more on virtual machines. Other C libraries are left as they are.
    """
    if not sys.platform.startswith("linux"):
        return
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):
        return
    trim_threshold, top_pad, mmap_max = -1, -2, -4  # from malloc.h
    mallopt(mmap_max, 0)
    mallopt(trim_threshold, 1 << 30)
    mallopt(top_pad, 64 << 20)
