"""Which device to compute on, and what it supports."""

import ctypes
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import torch

from recsys import machine
from recsys.errors import RecsysError


class DeviceError(RecsysError):
    """A device that this machine does not have."""


def choose(name: str) -> torch.device:
    """The device of that name; "auto": the first GPU, else the CPU. Raises DeviceError for one that is not there."""
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


def can_compile(device: torch.device) -> bool:
    """Whether torch.compile finds what it needs: Triton for a GPU, a C++ compiler for a CPU."""
    if device.type == "cuda":
        return find_spec("triton") is not None
    return any(map(shutil.which, (os.environ.get("CXX", "g++"), "clang++", "c++")))


@contextmanager
def repeatable(device: torch.device) -> Iterator[None]:
    """Make a GPU add up in the same order every time; a CPU with the same number of threads does so anyway."""
    if device.type != "cuda":
        yield
        return
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])


def peak_memory_mb(device: torch.device) -> float:
    """Peak memory in MB (10⁶ bytes): on a GPU that of tensors, on a CPU that of the whole process."""
    return torch.cuda.max_memory_allocated(device) / 1e6 if device.type == "cuda" else machine.peak_memory_mb()


def keep_freed_memory() -> None:
    """Make glibc reuse freed blocks instead of returning them to the kernel.

    A training step frees and allocates the same few megabytes again and again; getting their pages from the kernel each
    time costs a tenth of the step, more on virtual machines. Nothing is changed under another C library.
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
