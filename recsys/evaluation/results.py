"""Stored results of evaluations: `results/<data set>/<protocol>/<variant>.json` with ranks (S seeds, B users) as .npz.

A result in the home folder is preferred to the shipped result. If the data set is on this machine, only results of the
same data are used. Otherwise the results of the most common data are used. Loads neither torch nor Streamlit.
"""

import io
import json
import math
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NotRequired

import numpy as np
import pandas as pd
from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from recsys import errors, paths, progress, storage
from recsys.data import prepared
from recsys.data.split import LEAVE_ONE_OUT, Splitting
from recsys.errors import Message, RecsysError, disk_errors, recsys_command
from recsys.evaluation import protocols
from recsys.models import registry
from recsys.ranking.metrics import METRICS

LABELS = ("variant", "title", "family", "paper")
UNSEEN = "unseen"  # value of "over" in `calibration`: probabilities sum to 1 over the items that a user has not seen

WarningCallback = Callable[[RecsysError], None]  # receives an error about a skipped result


class ResultError(RecsysError):
    """A result cannot be written or read."""


@with_config(ConfigDict(strict=True))
class Result(TypedDict):
    """A result document. A repeated evaluation gives the same values, except in `run`."""

    variant: str  # name of the recommender
    model: NotRequired[str]  # its class
    title: str
    family: str
    paper: str
    dataset: str
    protocol: dict[str, Any]  # its name and rules
    fingerprint: str  # of the sequences
    data_sha256: NotRequired[str]  # of the sequences, times and ratings
    details: NotRequired[str]  # fingerprint of the credits of films, if the model uses them
    also: NotRequired[str]  # another data set that the model was trained on
    config: NotRequired[dict[str, Any]]
    users: int
    seeds: list[dict[str, Any]]  # {"seed", "metrics", "beyond"}
    mean: dict[str, float]  # metric → mean over seeds
    std: dict[str, float]  # {} for one seed
    interval: NotRequired[dict[str, list[float]]]  # metric → low, high: 95 % over users
    beyond: NotRequired[dict[str, float]]  # `list_metrics.beyond_accuracy`, mean over seeds; not if items were sampled
    calibration: NotRequired[dict[str, Any]]  # `list_metrics.calibration` of the seeds evaluated last
    stars: NotRequired[dict[str, Any]]  # `rating_errors.summary` of the seeds evaluated last
    run: dict[str, Any]  # machine, date, training times ("trained") and, if seeds were added, the "earlier" run


_RESULT = TypeAdapter(Result)


def write(document: dict[str, Any], ranks: np.ndarray) -> None:
    """Write a result and its ranks (S, B) to the home folder. After a ResultError the old result is intact."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, ranks=ranks.astype(np.min_scalar_type(int(ranks.max(initial=0)))))
    _write(paths.home(), document, buffer.getvalue())


def ship(dataset: str, protocol: str, variant: str) -> Path:
    """Copy a result from the home folder into assets/, and return the document."""
    return _write(paths.ASSETS, *_read(_path(paths.home(), dataset, protocol, variant), with_ranks=True))


def check(path: Path) -> None:
    """Raise ResultError, with the command that fixes it, if a result or its ranks are damaged. Reads both again."""
    try:
        storage.check(path)
    except (OSError, storage.DamagedFileError) as error:
        raise _damage(error, path) from error
    _read(path)


def load(dataset: str, protocol: str, variant: str, warn: WarningCallback = errors.warn) -> dict[str, Any]:
    """Return a `Result`. `warn` is called if the result in the home folder is damaged and the shipped one is returned.

    Raises ResultError if there is no result, or if it is damaged or of other data.
    """
    return _find(dataset, protocol, variant, warn)[1]


def ranks(dataset: str, protocol: str, variant: str) -> np.ndarray:
    """Return the ranks of the held-out items, (S, B), users in the order of the data. Raises ResultError as `load`."""
    path, _ = _find(dataset, protocol, variant, errors.warn)
    _, data = _read(path, with_ranks=True)
    try:
        return np.load(io.BytesIO(data))["ranks"].astype(np.int32)  # stored in the smallest integer type
    except (ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ResultError("{path} holds no ranks", _command(path), path=path.with_suffix(".npz")) from error


def comparable_ranks(dataset: str, protocol: str, variant: str) -> np.ndarray:
    """Return the ranks of the seeds with the split of seed 0: only seed 0 if the protocol splits differently per seed.

    Raises ResultError as `load`, and if seed 0 is missing.
    """
    all_ranks = ranks(dataset, protocol, variant)
    if not protocols.get_or_former(protocol).splitting.is_seeded:
        return all_ranks
    path, document = _find(dataset, protocol, variant, errors.warn)
    seeds = [fields["seed"] for fields in document["seeds"]]
    if 0 not in seeds:
        raise ResultError("{path} lacks seed 0, by which recommenders are compared", _command(path), path=path)
    return all_ranks[[seeds.index(0)]]


def available() -> list[tuple[str, str]]:
    """Return each (data set, protocol) with a result, in alphabetical order."""
    folders = [folder for root in (paths.home(), paths.ASSETS) for folder in root.glob("results/*/*")]
    return sorted({(folder.parent.name, folder.name) for folder in folders if any(folder.glob("*.json"))})


def version(dataset: str, protocol: str) -> str:
    """Return a text that changes when the data set, or a result of it under the protocol, changes."""
    return f"{prepared.fingerprint(dataset)}/{storage.version(*_paths(dataset, protocol))}"


def documents(dataset: str, protocol: str, warn: WarningCallback = errors.warn) -> list[dict[str, Any]]:
    """Return the results that can be compared, best NDCG@10 first: of the same users, and of listed recommenders.

    `warn` receives an error for each result that is damaged or of other data.
    """
    readable = []
    for variant in sorted({path.stem for path in _paths(dataset, protocol)}):
        if registry.is_listed(variant):
            try:
                readable.append(load(dataset, protocol, variant, warn))
            except ResultError as error:
                warn(error)
    most_common = _most_common_population(readable)
    comparable = [document for document in readable if population_key(document) == most_common]
    command = recsys_command("evaluate", "all", "--dataset", dataset, "--protocol", protocol)
    for document in readable:
        if population_key(document) != most_common:
            text = "{variant} is left out: it was measured on other people of {dataset} than most others"
            warn(ResultError(text, command, variant=document["variant"], dataset=dataset))
    return sorted(comparable, key=lambda document: -document["mean"]["ndcg@10"])


def as_table(results: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return a row per result: LABELS, users, number of seeds, METRICS, "std <metric>", fingerprint, date.

    Metrics are means over seeds. Their standard deviations are NaN for one seed.
    """
    columns = [*LABELS, "users", "seeds", *METRICS, *(f"std {name}" for name in METRICS), "fingerprint", "date"]
    rows = [
        {name: document[name] for name in (*LABELS, "users", "fingerprint")}
        | {"seeds": len(document["seeds"]), "date": document["run"]["date"]}
        | document["mean"]
        | {f"std {name}": value for name, value in document["std"].items()}
        for document in results
    ]
    return pd.DataFrame(rows, columns=columns)


def curve(dataset: str, variant: str, splitting: Splitting = LEAVE_ONE_OUT) -> pd.DataFrame:
    """Return the training log of the lowest seed in the home folder, else the shipped log, else an empty table.

    There is a row per epoch with epoch, loss, seconds and other numbers. ndcg@10 and hr@10 are of the validation part.
    """
    checkpoint = (dataset, splitting.name, variant)
    folders = [paths.checkpoint(*checkpoint, seed) for seed in paths.seeds(*checkpoint)]
    for folder in (*folders, paths.shipped_checkpoint(*checkpoint)):
        if (folder / paths.LOG).exists():
            return epochs(folder / paths.LOG)
    return pd.DataFrame({"epoch": []})


def epochs(path: Path, needed: Sequence[str] = ("epoch",)) -> pd.DataFrame:
    """Return the epochs of a training log, a row each. If an epoch was repeated, its last row is used.

    Lines without a number in one of the fields `needed` are skipped.
    """
    rows: list[dict[str, Any]] = []
    for event in progress.read(path):
        row = {name: value for name, value in event.items() if _is_finite(value) or isinstance(value, str)}
        if all(_is_finite(row.get(name)) for name in needed):
            while rows and rows[-1]["epoch"] >= row["epoch"]:
                rows.pop()
            rows.append(row)
    return pd.DataFrame(rows or {"epoch": []})


def population_key(document: dict[str, Any]) -> str:
    """Return the key of the evaluated users: data fingerprint, number of users, numeric settings of the protocol.

    Texts in the rules of the protocol may change between versions.
    """
    settings = {name: rule for name, rule in document["protocol"].items() if not isinstance(rule, str)}
    return json.dumps([document["fingerprint"], document["users"], settings], sort_keys=True)


def _most_common_population(results: list[dict[str, Any]]) -> str:
    """Return the `population_key` of most results. If keys are equally frequent, the last evaluation decides."""
    counts = Counter(map(population_key, results))
    by_date = sorted(results, key=lambda document: document["run"]["date"])
    dates = {population_key(document): document["run"]["date"] for document in by_date}
    return max(counts, key=lambda population: (counts[population], dates[population]), default="")


def _is_finite(value: object) -> bool:
    """Return whether a value is a finite number that a float can represent."""
    return (type(value) is float and math.isfinite(value)) or (type(value) is int and abs(value) < 2**53)


def _path(root: Path, dataset: str, protocol: str, variant: str) -> Path:
    return paths.results(root, dataset, protocol) / f"{variant}.json"


def _paths(dataset: str, protocol: str) -> list[Path]:
    """Return the results of a data set under a protocol, in the home folder and in assets/."""
    roots = (paths.home(), paths.ASSETS)
    return sorted(path for root in roots for path in paths.results(root, dataset, protocol).glob("*.json"))


def _find(dataset: str, protocol: str, variant: str, warn: WarningCallback) -> tuple[Path, dict[str, Any]]:
    """Return the path and the document of the result that `load` returns. Raises as `load`."""
    home_path, shipped_path = (_path(root, dataset, protocol, variant) for root in (paths.home(), paths.ASSETS))
    fingerprint, failures = prepared.fingerprint(dataset), []
    for path in [path for path in (home_path, shipped_path) if path.exists()] or [home_path]:
        try:
            document, _ = _read(path)
        except ResultError as error:
            failures.append(error)
            continue
        if fingerprint in (None, document["fingerprint"]):
            for failure in failures:
                warn(failure)
            title = document["title"]
            return path, document | {"title": registry.FORMER_TITLES.get(title, title)}
    text = "{variant} was measured on another form of {dataset} than the one on this machine"
    raise failures[0] if failures else ResultError(text, _command(home_path), variant=variant, dataset=dataset)


def _read(path: Path, with_ranks: bool = False) -> tuple[dict[str, Any], bytes]:
    """Return a document and, if requested, its .npz file. Raises ResultError with the command that fixes it."""
    try:
        document, data = storage.read_payload(path) if with_ranks else (storage.read_document(path), b"")
        _RESULT.validate_python(document)
    except FileNotFoundError as error:
        raise ResultError("{stem} has not been measured yet", _command(path), stem=path.stem) from error
    except (OSError, storage.DamagedFileError) as error:
        raise _damage(error, path) from error
    except ValidationError as error:
        missing = error.errors()[0]["loc"][0]
        raise ResultError(
            "{path} was written by another version: it lacks {missing}", _command(path), path=path, missing=missing
        ) from error
    return document, data


def _damage(error: OSError | storage.DamagedFileError, path: Path) -> ResultError:
    message = error.sentence if isinstance(error, RecsysError) else Message.literal(str(error))
    return ResultError(message, _command(path))


def _write(root: Path, document: dict[str, Any], ranks: bytes) -> Path:
    path = _path(root, document["dataset"], document["protocol"]["name"], document["variant"])
    with disk_errors(path, ResultError):
        storage.write_document(path, document, {f"{path.stem}.npz": ranks})
    return path


def _command(path: Path) -> str:
    """Return the command that repeats the evaluation of a result."""
    dataset, protocol = path.parent.parent.name, path.parent.name
    return recsys_command("evaluate", path.stem, "--dataset", dataset, "--protocol", protocol)
