"""Choice of the device, and what it supports."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec

import torch

from recsys.errors import RecsysError

DEVICE_VARIABLE = "RECSYS_DEVICE"  # environment variable that sets the device of "auto" for a process
_default_device: ContextVar[str] = ContextVar("default_device")  # set by `default_device`


def choose(name: str) -> torch.device:
    """Return the device with this name, and prepare PyTorch for it.

    "auto" is the device of the enclosing `default_device` block, else of RECSYS_DEVICE, else the first NVIDIA GPU, else
    the CPU. Under torchrun, each process gets the GPU of its local rank. Raises RecsysError for a device that does not
    exist, or is neither a CPU nor an NVIDIA GPU.
    """
    if name == "auto":
        name = _default_device.get(os.environ.get(DEVICE_VARIABLE, "auto"))
    if name == "auto":  # neither of them names a device
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        if device.type not in ("cpu", "cuda"):
            raise RecsysError("{name} is not supported; use --device cpu or --device auto", name=name)
        if device.type == "cuda":
            torch.backends.cuda.enable_cudnn_sdp(False)  # cuDNN attention compiles a plan per shape in about a second
            torch.backends.cudnn.allow_tf32 = False  # TF32 keeps 10 bits of the mantissa
            if "LOCAL_RANK" in os.environ:
                # Bind before the first tensor, which would otherwise open a context on GPU 0.
                device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
                torch.cuda.set_device(device)
        torch.empty(0, device=device)  # raises if the device does not exist
    except (RuntimeError, AssertionError) as error:
        raise RecsysError("this computer has no device {name}; use --device cpu or --device auto", name=name) from error
    return device


@contextmanager
def default_device(name: str) -> Iterator[None]:
    """Make "auto" this device inside the block, for example for models that are loaded there."""
    token = _default_device.set(name)
    try:
        yield
    finally:
        _default_device.reset(token)


def free_gpu_bytes(device: torch.device) -> int | None:
    """Return the free memory of a GPU in bytes, or None for a CPU."""
    return torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else None


def has_fast_bf16(device: torch.device) -> bool:
    """Return whether the hardware multiplies bf16 matrices and accumulates in fp32."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return torch.cpu._is_avx512_bf16_supported()


def can_compile(device: torch.device) -> bool:
    """Return whether torch.compile finds its backend: Triton for a GPU, a C++ compiler for a CPU."""
    if device.type == "cuda":
        return find_spec("triton") is not None
    return any(map(shutil.which, (os.environ.get("CXX", "g++"), "clang++", "c++")))


@contextmanager
def deterministic(device: torch.device) -> Iterator[None]:
    """Make a GPU compute equal results in each run. A CPU with an equal number of threads always does."""
    if device.type != "cuda":
        yield
        return
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # PyTorch requires it for deterministic products
    was_enabled = torch.are_deterministic_algorithms_enabled()
    # Filling every new tensor with NaN would take time, and no code reads a tensor before writing it.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(was_enabled)
