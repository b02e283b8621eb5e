"""S3: files that run code when they are read as nobody should read them, put where the app looks for its own."""

import gzip
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.reliability.bad_input import as_published, zipped
from recsys import checkpoints, paths, storage
from recsys.data import datasets, film_details, own_data, tables
from recsys.data.dataset import Dataset
from recsys.data.history_import.read import read as read_history
from recsys.errors import RecsysError
from recsys.evaluation import results
from recsys.models import registry
from recsys.serving import predictor
from recsys.text import films
from recsys.training.trainer import RunFolder


def tried() -> tuple[int, list[str], list[str]]:
    """How many were tried; those that ran; those that ended in an error that is not ours. In a home of its own."""
    datasets.ensure(datasets.DEFAULT_DATASET)
    with tempfile.TemporaryDirectory() as home:
        shutil.copytree(paths.home() / "data", Path(home, "data"))
        with mock.patch.dict(os.environ, RECSYS_HOME=home):
            return _tried()


def _tried() -> tuple[int, list[str], list[str]]:
    canary = paths.home() / "canary"
    evil = payload(canary)
    assert_it_bites(evil, canary)
    kinds = {
        "a pickle": evil,
        "a gzipped pickle": gzip.compress(evil),
        "a .npy of objects": object_array(evil),
        "a .npz of objects": zipped({"ranks.npy": object_array(evil)}),
        "a torch archive": torch_archive(evil),
    }
    n, run, untyped = 0, [], []
    for kind, data in kinds.items():
        for place, load in traps(data):
            n += 1
            if error := quietly(load):
                untyped.append(f"{kind} as {place}: {error}")
            if canary.exists():
                run.append(f"{kind} as {place}")
                canary.unlink()
    return n, run, untyped


def quietly(load: Callable[[], Any]) -> str:
    """Read a file without a word; the name of an error that is not ours, else ""."""
    with warnings.catch_warnings(), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            load()
        except RecsysError:
            return ""
        except Exception as error:  # noqa: BLE001 - it is named
            return type(error).__name__
    return ""


def payload(canary: Path) -> bytes:
    """A pickle that makes a file when it is loaded, written by hand: protocol 0 of `os.system("touch …")`."""
    return f"cos\nsystem\n(S'touch {canary}'\ntR.".encode()


def object_array(data: bytes) -> bytes:
    """A .npy file that says that it holds Python objects, and goes on as a pickle."""
    head = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"
    head += b" " * (64 - (len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + data


def torch_archive(data: bytes) -> bytes:
    """What `torch.save` writes, with another pickle in it."""
    return zipped({"archive/data.pkl": data, "archive/version": b"3\n", "archive/byteorder": b"little"})


def assert_it_bites(evil: bytes, canary: Path) -> None:
    """Make sure that the payload would work: load it as nobody should, in another process."""
    unsafe = "import pickle, sys; pickle.loads(sys.stdin.buffer.read())"
    subprocess.run([sys.executable, "-c", unsafe], input=evil, check=True)
    if not canary.exists():
        raise RuntimeError("the payload does nothing, so nothing can be learnt from it")
    canary.unlink()


def traps(data: bytes) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Put a file where the app looks for one of its own, whole seals and hashes included; yield what reads it."""
    name = datasets.DEFAULT_DATASET
    dataset = datasets.ensure(name)
    for upload in ("a.csv", "a.json", "a.zip", "a.parquet", "a.npy"):
        yield f"history {upload}", lambda upload=upload: read_history(upload, data)
    yield "own data", lambda: own_data.check(tables.parse("a.csv", data))
    yield "archive of a set", lambda: as_published(data)
    checkpoint = paths.checkpoint(name, "leave-one-out", "popular", 0)
    checkpoint.mkdir(parents=True, exist_ok=True)
    storage.write_document(checkpoint / checkpoints.META, evil_meta(dataset), {checkpoints.WEIGHTS: data})
    yield "checkpoint", lambda: predictor.load("popular", dataset)
    folder = paths.home() / "trap"
    storage.replace_file(folder / RunFolder.STATE, data)
    yield "resume.pt", lambda: RunFolder(folder).load()
    place = paths.film_vectors(name, "0" * 64)
    storage.replace_file(place, data)
    yield "film vectors", lambda: films.read_vectors([place], "0" * 64)
    result = paths.results(paths.home(), name, "full") / "popular.json"
    shipped = json.loads((paths.results(paths.ASSETS, name, "full") / "popular.json").read_text("utf-8"))
    result.parent.mkdir(parents=True, exist_ok=True)
    storage.write_document(result, shipped, {"popular.npz": data})
    yield "ranks", lambda: results.ranks(name, "full", "popular")
    shutil.rmtree(result.parent)
    storage.replace_file(paths.details(name), data)
    yield "details", lambda: film_details.read(name)
    paths.details(name).unlink()
    for array in sorted(paths.prepared(name).glob("*.npy"))[:2]:
        yield f"prepared {array.name}", lambda array=array: with_content(array, data, lambda: datasets.load(name))


def evil_meta(dataset: Dataset) -> dict[str, Any]:
    """What a checkpoint says of itself, so that its weights are looked at."""
    model = registry.get("popular").model()
    about = checkpoints._describe("popular", model, dataset, checkpoints.LEAVE_ONE_OUT, {})
    return about | {"seed": 0, "notes": {}}


def with_content(path: Path, data: bytes, work: Callable[[], Any]) -> Any:
    """What `work` gives while a file holds something else."""
    kept = path.read_bytes()
    storage.replace_file(path, data)
    try:
        found = work()
        return [np.asarray(column)[:10] for column in vars(found.interactions).values()]
    finally:
        storage.replace_file(path, kept)
