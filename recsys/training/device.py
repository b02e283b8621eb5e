"""Choice of the device, and what it supports."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec

import torch

from recsys.errors import RecsysError

DEVICE_VARIABLE = "RECSYS_DEVICE"  # environment variable: the device that "auto" means outside `default_device`
_auto: ContextVar[str] = ContextVar("auto")  # the device that "auto" means in a `default_device` block


class DeviceError(RecsysError):
    """A device that this machine does not have, or that this program does not support."""


def choose(name: str) -> torch.device:
    """Return the device with this name, and prepare PyTorch for it.

    "auto" is the device of `default_device` or of RECSYS_DEVICE. Otherwise it is the first NVIDIA GPU, or else the CPU.
    Under torchrun, each process gets the GPU of its local rank.

    Raises:
        DeviceError: If this machine has no such device.
    """
    if name == "auto":
        name = _auto.get(os.environ.get(DEVICE_VARIABLE, "auto"))
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        if device.type not in ("cpu", "cuda"):
            raise DeviceError(f"{name} is not supported; use --device cpu or --device auto")
        if device.type == "cuda":
            torch.backends.cuda.enable_cudnn_sdp(False)  # cuDNN attention compiles a plan per shape in about a second
            torch.backends.cudnn.allow_tf32 = False  # TF32 rounds scores
            if "LOCAL_RANK" in os.environ:  # before the first tensor, which would open a context on GPU 0
                device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
                torch.cuda.set_device(device)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise DeviceError(f"this machine has no device {name}; use --device cpu or --device auto") from error
    return device


@contextmanager
def default_device(name: str) -> Iterator[None]:
    """Make "auto" mean the device with this name, also for models that are loaded inside the block."""
    token = _auto.set(name)
    try:
        yield
    finally:
        _auto.reset(token)


def free_gpu_bytes(device: torch.device) -> int | None:
    """Return the free memory of a GPU. None for a CPU."""
    return torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else None


def has_fast_bf16(device: torch.device) -> bool:
    """Return whether the hardware multiplies bf16 matrices and accumulates in fp32."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return torch.cpu._is_avx512_bf16_supported()


def can_compile(device: torch.device) -> bool:
    """Return whether torch.compile finds Triton for a GPU, or a C++ compiler for a CPU."""
    if device.type == "cuda":
        return find_spec("triton") is not None
    return any(map(shutil.which, (os.environ.get("CXX", "g++"), "clang++", "c++")))


@contextmanager
def deterministic(device: torch.device) -> Iterator[None]:
    """Make a GPU sum in the same order in each run. A CPU with the same number of threads always does."""
    if device.type != "cuda":
        yield
        return
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    previous = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(previous[0], warn_only=previous[1])
