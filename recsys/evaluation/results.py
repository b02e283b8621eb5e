"""Result files: written once, read by the pages without torch or Streamlit.

`results/<data set>/<protocol>/<variant>.json` holds {variant, model, title, family, paper, dataset, protocol,
fingerprint, config, seeds: [{seed, metrics, beyond}], mean, std, interval, beyond, calibration, files, run}; ranks (S
seeds × B users) stand beside it as .npz. `interval` is {metric: [low, high]}, 95 % over users (`certainty`); `beyond`
is there where the whole catalogue was ranked, `calibration` where the scores give a probability besides; older files
have none of the three. All but `run` repeats byte for byte. What was measured on this machine wins over what is
shipped.
"""

import contextlib
import io
import json
import os
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from recsys import files, paths
from recsys.evaluation.metrics import METRICS

LABELS = ("variant", "title", "family", "paper")


class ResultError(ValueError):
    """A result that cannot be written or read; the message says what to do about it."""


def write(document: dict[str, Any], ranks: np.ndarray) -> None:
    """Keep a result document and its ranks (S, B) in the home folder. Raises ResultError, the old result intact."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, ranks=ranks.astype(np.int32))
    _write(paths.home(), document, buffer.getvalue())


def ship(dataset: str, protocol: str, variant: str) -> Path:
    """Copy a result of this machine into assets/; returns the .json."""
    source = paths.results(paths.home(), dataset, protocol) / f"{variant}.json"
    return _write(paths.ASSETS, *_read_pair(source))


def load(dataset: str, protocol: str, variant: str) -> dict[str, Any]:
    """One result document. Raises ResultError when there is none or it is damaged."""
    return _read(_path(dataset, protocol, variant))


def ranks(dataset: str, protocol: str, variant: str) -> np.ndarray:
    """(S, B) rank of the held-out film, one row per seed, users in the order of the data. Raises ResultError."""
    path = _path(dataset, protocol, variant)
    _, data = _read_pair(path)
    try:
        return np.load(io.BytesIO(data))["ranks"]
    except (ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ResultError(f"{path.with_suffix('.npz')} holds no ranks; {_evaluate_line(path)}") from error


def available() -> list[tuple[str, str]]:
    """Every (data set, protocol) with at least one result file, in alphabetical order."""
    found = [path for root in _roots() for path in root.glob("results/*/*/*.json")]
    return sorted({(path.parent.parent.name, path.parent.name) for path in found})


def stamp(dataset: str, protocol: str) -> str:
    """Another text whenever a result of the data set under the protocol was written, altered or taken away."""
    found = [path for root in _roots() for path in paths.results(root, dataset, protocol).glob("*.*")]
    times = [(str(path), known.st_mtime_ns, known.st_size) for path in sorted(found) if (known := _stat(path))]
    return files.sha256(repr(times).encode())


def leaderboard(dataset: str, protocol: str, report: Callable[[str], None] = warnings.warn) -> pd.DataFrame:
    """One row per model, best NDCG@10 first: LABELS, number of seeds, mean METRICS, "std <metric>", fingerprint, date.

    Standard deviations are over seeds, NaN for a single one. Damaged files are left out, each with a line to `report`.
    """
    rows = []
    for variant in sorted({path.stem for root in _roots() for path in _folder(root, dataset, protocol)}):
        try:
            rows.append(_row(load(dataset, protocol, variant)))
        except ResultError as error:
            report(str(error))
    columns = [*LABELS, "seeds", *METRICS, *(f"std {name}" for name in METRICS), "fingerprint", "date"]
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values("ndcg@10", ascending=False, kind="stable", ignore_index=True)


def published(dataset: str, protocol: str) -> pd.DataFrame:
    """Figures that others published, best NDCG@10 first; they are not ours and not all under our exact rules.

    Columns: title, variant (what we call that model; NaN where it is not ours), hr@1, hr@10, ndcg@10, mrr (NaN where
    not published), code and rules (what is like ours and what is not), source.
    """
    known = json.loads(Path(__file__).with_name("published.json").read_text("utf-8"))
    rows = [
        {**row, "rules": known["rules"][row["code"]], "source": known["sources"][row["source"]]}
        for row in known["figures"]
        if (row["dataset"], row["protocol"]) == (dataset, protocol)
    ]
    columns = ["title", "variant", "hr@1", "hr@10", "ndcg@10", "mrr", "code", "rules", "source"]
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values("ndcg@10", ascending=False, kind="stable", ignore_index=True)


def curve(dataset: str, variant: str) -> pd.DataFrame:
    """How a training went, a row per epoch: epoch, loss, validation ndcg@10 and hr@10, seconds and what else is there.

    From the lowest seed of this machine, else from the shipped log; empty where there is neither.
    """
    trained = [paths.checkpoint(dataset, variant, seed) for seed in paths.seeds(dataset, variant)]
    for folder in (*trained, paths.shipped_checkpoint(dataset, variant)):
        if (folder / paths.LOG).exists():
            return _epochs(folder / paths.LOG)
    return pd.DataFrame({"epoch": []})


def _epochs(path: Path) -> pd.DataFrame:
    """Logged epochs in order; of an epoch that was run twice (resumed), the later one."""
    epochs = {}
    for line in path.read_text("utf-8", errors="replace").splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue  # the training is writing this line just now, or was killed while it did
        if isinstance(event, dict) and "epoch" in event:
            epochs[event["epoch"]] = event
    return pd.DataFrame([epochs[epoch] for epoch in sorted(epochs)] or {"epoch": []})


def _row(document: dict[str, Any]) -> dict[str, Any]:
    """A result as a row of the leaderboard."""
    labels = {name: document[name] for name in (*LABELS, "fingerprint")}
    spread = {f"std {name}": value for name, value in document["std"].items()}
    return labels | {"seeds": len(document["seeds"]), "date": document["run"]["date"]} | document["mean"] | spread


def _roots() -> tuple[Path, Path]:
    """Where results are looked for, in this order."""
    return paths.home(), paths.ASSETS


def _folder(root: Path, dataset: str, protocol: str) -> list[Path]:
    return list(paths.results(root, dataset, protocol).glob("*.json"))


def _stat(path: Path) -> os.stat_result | None:
    """Size and time of a file; None for one that has gone just now."""
    with contextlib.suppress(OSError):
        return path.stat()
    return None


def _path(dataset: str, protocol: str, variant: str) -> Path:
    """The result file that counts."""
    found = [paths.results(root, dataset, protocol) / f"{variant}.json" for root in _roots()]
    return next((path for path in found if path.exists()), found[0])


def _read(path: Path) -> dict[str, Any]:
    try:
        return files.read_sealed(path)
    except FileNotFoundError as error:
        raise ResultError(f"no result of {path.stem} yet; {_evaluate_line(path)}") from error
    except (OSError, files.DamagedFileError) as error:
        raise ResultError(f"{error}; {_evaluate_line(path)}") from error


def _read_pair(path: Path) -> tuple[dict[str, Any], bytes]:
    _read(path)
    try:
        with files.locked(path.parent, shared=True):
            return files.read_pair(path, path.with_suffix(".npz"))
    except (OSError, files.DamagedFileError) as error:
        raise ResultError(f"{error}; {_evaluate_line(path)}") from error


def _write(root: Path, document: dict[str, Any], data: bytes) -> Path:
    folder = paths.results(root, document["dataset"], document["protocol"]["name"])
    path = folder / f"{document['variant']}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with files.locked(folder):
            files.write_pair(path, document, path.with_suffix(".npz"), data)
    except OSError as error:
        raise ResultError(f"cannot write {path}: {error.strerror}; make room or set RECSYS_HOME elsewhere") from error
    return path


def _evaluate_line(path: Path) -> str:
    """The command that makes a result file."""
    dataset, protocol = path.parent.parent.name, path.parent.name
    return f"run: python -m recsys evaluate {path.stem} --dataset {dataset} --protocol {protocol}"
