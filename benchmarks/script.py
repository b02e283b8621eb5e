"""Arguments, measurements and result files of the scripts in this folder."""

import argparse
import json
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from recsys.runtime import peak_memory_mb

if TYPE_CHECKING:
    from recsys.serving.predictor import Predictor
    from recsys.serving.recommend import Request

T = TypeVar("T")


def parser(description: str) -> argparse.ArgumentParser:
    """Return a parser with the flag --json, for `write_json`."""
    arguments = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to this file")
    return arguments


def write_json(path: Path | None, document: dict[str, Any]) -> None:
    """Write a document unless the path is None."""
    if path:
        path.write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", "utf-8")


@contextmanager
def costs() -> Iterator[dict[str, float]]:
    """Yield a dictionary. After the block, it has the times of the block and the peak memory of the process."""
    figures: dict[str, float] = {}
    start, cpu_start = time.perf_counter(), time.process_time()
    yield figures
    figures["seconds"] = round(time.perf_counter() - start, 6)
    figures["cpu_seconds"] = round(time.process_time() - cpu_start, 6)
    figures["memory_mb"] = round(peak_memory_mb(), 1)


def request_seconds(predictor: "Predictor", requests: Iterable["Request"]) -> tuple[list[float], list[float]]:
    """Answer requests one after another. Return the wall time and the CPU time of each request, in seconds."""
    from recsys.serving.recommend import recommend  # loads torch

    wall, cpu = [], []
    for request in requests:
        start, cpu_start = time.perf_counter(), time.thread_time()
        recommend(predictor, request)
        cpu.append(time.thread_time() - cpu_start)
        wall.append(time.perf_counter() - start)
    return wall, cpu


def in_new_process(function: Callable[..., T], *arguments: Any) -> T:
    """Call a function in a fresh process, without the memory and caches of this process, and return its result."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()
