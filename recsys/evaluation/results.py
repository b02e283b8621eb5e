"""Result files: written once, read by the pages without torch or Streamlit.

`results/<data set>/<protocol>/<variant>.json` holds {variant, model, title, family, paper, dataset, protocol,
fingerprint, data_sha256, config, users, seeds: [{seed, metrics, beyond}], mean, std, interval, beyond, calibration,
stars, files, run}; ranks (S seeds × B users) stand beside it as .npz. `interval` is {metric: [low, high]}, 95 % over
users. `fingerprint` is of the sequences, `data_sha256` of their times and ratings too (older results lack it).
`beyond` is there where the whole catalogue was ranked, and besides `calibration` where the model gives probabilities,
`stars` where it predicts ratings (`stars.summary`). Probabilities with "over": UNSEEN add up to 1 over the films that a
user has not seen, older ones over all films. Everything but `run` is the same, byte for byte, when an evaluation is
repeated; it holds {machine, …, trained: [{seed, seconds, hardware}]} for those seeds whose training noted its time.
Where seeds were added later, `run` holds the earlier run under "earlier", and `calibration` and `stars` are of the
seeds measured last.

What was measured on this machine wins over what is shipped. A result counts only where it was measured on the data as
it is on this machine; where the data is not here, on the form of it that most of the results are of.
"""

import contextlib
import io
import json
import math
import os
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from recsys import paths, progress, storage
from recsys.data import prepared
from recsys.data.split import LEAVE_ONE_OUT, Splitting
from recsys.errors import RecsysError, recsys_command
from recsys.evaluation import protocols
from recsys.models import registry
from recsys.ranking.metrics import METRICS

LABELS = ("variant", "title", "family", "paper")
FIELDS = {*LABELS, "dataset", "protocol", "fingerprint", "users", "seeds", "mean", "std", "run"}  # in every result
UNSEEN = "unseen"  # the films over which probabilities add up to 1

Report = Callable[[str], None]


class ResultError(RecsysError):
    """A result that cannot be written or read."""


def write(document: dict[str, Any], ranks: np.ndarray) -> None:
    """Keep a result document and its ranks (S, B) in the home folder. Raises ResultError, the old result intact."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, ranks=ranks.astype(np.min_scalar_type(int(ranks.max(initial=0)))))
    _write(paths.home(), document, buffer.getvalue())


def ship(dataset: str, protocol: str, variant: str) -> Path:
    """Copy a result of this machine into assets/; returns the .json."""
    source = paths.results(paths.home(), dataset, protocol) / f"{variant}.json"
    return _write(paths.ASSETS, *_read_pair(source))


def check(path: Path) -> None:
    """Raise ResultError, with the command that mends it, where a bit of a result or of its ranks differs."""
    _read_pair(path)


def load(dataset: str, protocol: str, variant: str) -> dict[str, Any]:
    """One result document. Raises ResultError when there is none, or only a damaged one or one of other data."""
    return _find(dataset, protocol, variant)[1]


def ranks(dataset: str, protocol: str, variant: str) -> np.ndarray:
    """(S, B) rank of the held-out film, one row per seed, users in the order of the data. Raises ResultError."""
    path, _ = _find(dataset, protocol, variant)
    _, data = _read_pair(path)
    try:
        return np.load(io.BytesIO(data))["ranks"].astype(np.int32)  # kept in the fewest bytes that hold them
    except (ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ResultError(f"{path.with_suffix('.npz')} holds no ranks", _evaluate_again(path)) from error


def comparable_ranks(dataset: str, protocol: str, variant: str) -> np.ndarray:
    """`ranks` of those seeds that were measured on the very split that `Protocol.split` gives without one.

    That is all of them, except where each seed draws an order of its own: there, seed 0. Raises ResultError.
    """
    found = ranks(dataset, protocol, variant)
    if protocols.get_or_former(protocol).splitting.is_seeded:
        path, document = _find(dataset, protocol, variant)
        found = found[[run["seed"] == 0 for run in document["seeds"]]]
        if not len(found):
            raise ResultError(f"{path} lacks seed 0, by which recommenders are compared", _evaluate_again(path))
    return found


def available() -> list[tuple[str, str]]:
    """Every (data set, protocol) with at least one result file, in alphabetical order."""
    found = [path for root in _roots() for path in root.glob("results/*/*/*.json")]
    return sorted({(path.parent.parent.name, path.parent.name) for path in found})


def stamp(dataset: str, protocol: str) -> str:
    """A text that changes whenever a result of the data set under the protocol, or the data itself, changes."""
    found = [path for root in _roots() for path in paths.results(root, dataset, protocol).glob("*.*")]
    times = [(str(path), known.st_mtime_ns, known.st_size) for path in sorted(found) if (known := _stat(path))]
    return storage.sha256(repr((prepared.fingerprint(dataset), times)).encode())


def documents(dataset: str, protocol: str, report: Report = warnings.warn) -> list[dict[str, Any]]:
    """The results that can be set side by side, best NDCG@10 first: all were measured on the same people.

    What is damaged, or was measured on other data, is left out with a sentence to `report` that holds the command which
    mends it. Recommenders that the registry does not list are left out without one.
    """
    found = []
    for variant in sorted({path.stem for root in _roots() for path in _folder(root, dataset, protocol)}):
        if not registry.is_listed(variant):
            continue
        try:
            found.append(load(dataset, protocol, variant))
        except ResultError as error:
            report(str(error))
    most = _most_common_people(found)
    for document in found:
        if population_key(document) != most:
            report(str(_of_other_people(document)))
    alike = [document for document in found if population_key(document) == most]
    return sorted(alike, key=lambda document: -document["mean"]["ndcg@10"])


def leaderboard(dataset: str, protocol: str, report: Report = warnings.warn) -> pd.DataFrame:
    """`documents` as a table (`as_table`)."""
    return as_table(documents(dataset, protocol, report))


def as_table(found: list[dict[str, Any]]) -> pd.DataFrame:
    """A row per result document: LABELS, users, seeds, METRICS, "std <metric>", fingerprint, date.

    seeds: how many there are; METRICS: means over them; standard deviations: over them, NaN for a single one.
    """
    columns = [*LABELS, "users", "seeds", *METRICS, *(f"std {name}" for name in METRICS), "fingerprint", "date"]
    return pd.DataFrame([_row(document) for document in found], columns=columns)


def published(dataset: str, protocol: str) -> pd.DataFrame:
    """Figures that others published, best NDCG@10 first; they are not ours and not all under our exact rules.

    Columns: title, variant (our nearest model; NaN where there is none), hr@1, hr@5, hr@10, ndcg@5, ndcg@10, mrr (NaN
    where not published), code, short and rules (what is as in our measurements and what is not: a letter, a few words,
    a sentence), knows_the_time (whether the model is told when the hidden film was watched, which ours never are),
    source. A code that ends in * says that the published method is not quite ours either; `rules` says how they differ.
    """
    known = storage.read_shipped_json(paths.published(), _is_published) or {"figures": []}
    rows = [
        {**row, **_rules(row, known["rules"][row["code"]]), "source": known["sources"][row["source"]]}
        for row in known["figures"]
        if (row["dataset"], row["protocol"]) == (dataset, protocol)
    ]
    figures, rules = ["hr@1", "hr@5", "hr@10", "ndcg@5", "ndcg@10", "mrr"], ["code", "short", "rules", "knows_the_time"]
    table = pd.DataFrame(rows, columns=["title", "variant", *figures, *rules, "source"])
    return table.sort_values("ndcg@10", ascending=False, kind="stable", ignore_index=True)


def curve(dataset: str, variant: str, splitting: Splitting = LEAVE_ONE_OUT) -> pd.DataFrame:
    """How a training on the training part of a splitting went, a row per epoch: epoch, loss, ndcg@10, hr@10, seconds, …

    ndcg@10 and hr@10 are those of validation. From the lowest seed of this machine, else from the shipped log; empty
    where there is neither.
    """
    where = (dataset, splitting.name, variant)
    trained = [paths.checkpoint(*where, seed) for seed in paths.seeds(*where)]
    for folder in (*trained, paths.shipped_checkpoint(*where)):
        if (folder / paths.LOG).exists():
            return epochs(folder / paths.LOG)
    return pd.DataFrame({"epoch": []})


def epochs(path: Path, needed: Sequence[str] = ("epoch",)) -> pd.DataFrame:
    """Logged epochs in order, a row each; of what was run twice (resumed, or begun anew), the later.

    needed: lines without a number under each of these names are left out.
    """
    known: list[dict[str, Any]] = []
    for event in progress.read(path):
        row = {name: value for name, value in event.items() if _is_finite(value) or isinstance(value, str)}
        if all(_is_finite(row.get(name)) for name in needed):
            while known and known[-1]["epoch"] >= row["epoch"]:
                known.pop()
            known.append(row)
    return pd.DataFrame(known or {"epoch": []})


def _is_finite(value: object) -> bool:
    """Return whether a value is a finite number, and exact where it is an integer."""
    return (type(value) is float and math.isfinite(value)) or (type(value) is int and abs(value) < 2**53)


def population_key(document: dict[str, Any]) -> str:
    """What must be equal for two results to be of the same people: the data, and what the rules come to on it.

    The rules' sentences may be put better from one version to the next; their numbers and dates may not change.
    """
    facts = {name: rule for name, rule in document["protocol"].items() if not isinstance(rule, str)}
    return json.dumps([document["fingerprint"], document["users"], facts], sort_keys=True)


def _row(document: dict[str, Any]) -> dict[str, Any]:
    """A result as a row of the leaderboard."""
    labels = {name: document[name] for name in (*LABELS, "users", "fingerprint")}
    spread = {f"std {name}": value for name, value in document["std"].items()}
    return labels | {"seeds": len(document["seeds"]), "date": document["run"]["date"]} | document["mean"] | spread


def _is_published(content: Any) -> bool:
    """Whether the content has the structure that `published` reads. Raises LookupError, TypeError, AttributeError."""
    rules, sources, rows = content["rules"], content["sources"], content["figures"]
    texts = [*sources.values(), *(rule[field] for rule in rules.values() for field in ("short", "text"))]
    texts += [row[field] for row in rows for field in ("dataset", "protocol", "title", "code", "source")]
    texts += [row.get(field, "") for row in rows for field in ("variant", "note")]
    figures = [row[metric] for row in rows for metric in ("hr@10", "ndcg@10")]
    figures += [row.get(metric, 0.0) for row in rows for metric in ("hr@1", "hr@5", "ndcg@5", "mrr")]
    return (
        all(isinstance(text, str) for text in texts)
        and all(map(_is_finite, figures))
        and all(row["code"] in rules and row["source"] in sources for row in rows)
        and all(isinstance(rule.get("knows_the_time", False), bool) for rule in rules.values())
    )


def _rules(row: dict[str, Any], rules: dict[str, Any]) -> dict[str, Any]:
    """The rules of a published figure, with what is particular to its method."""
    code, text, note = row["code"], rules["text"], row.get("note")
    known = {"code": code, "short": rules["short"], "rules": text, "knows_the_time": rules.get("knows_the_time", False)}
    return known | ({"code": f"{code}*", "rules": f"{text}; {note}"} if note else {})


def _most_common_people(found: list[dict[str, Any]]) -> str:
    """`population_key` of the largest group of results; of equally large groups, of the one measured last."""
    sizes = Counter(map(population_key, found))
    dates = {
        population_key(document): document["run"]["date"] for document in sorted(found, key=lambda d: d["run"]["date"])
    }
    return max(sizes, key=lambda people: (sizes[people], dates[people]), default="")


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


def _find(dataset: str, protocol: str, variant: str) -> tuple[Path, dict[str, Any]]:
    """The result file that counts, and its document."""
    possible = [paths.results(root, dataset, protocol) / f"{variant}.json" for root in _roots()]
    here = prepared.fingerprint(dataset)
    for path in [path for path in possible if path.exists()] or possible[:1]:
        document = _read(path)
        if here in (None, document["fingerprint"]):
            return path, document
    raise ResultError(
        f"{variant} was measured on another form of {dataset} than the one on this machine",
        _evaluate_again(possible[0]),
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        document = storage.read_document(path)
    except FileNotFoundError as error:
        raise ResultError(f"{path.stem} has not been measured yet", _evaluate_again(path)) from error
    except (OSError, storage.DamagedFileError) as error:
        raise ResultError(str(error), _evaluate_again(path)) from error
    if missing := FIELDS - set(document):
        raise ResultError(f"{path} was written by another version: it lacks {min(missing)}", _evaluate_again(path))
    return document


def _read_pair(path: Path) -> tuple[dict[str, Any], bytes]:
    _read(path)
    try:
        with storage.locked(path.parent, shared=True):
            return storage.read_artifact(path, path.with_suffix(".npz"))
    except (OSError, storage.DamagedFileError) as error:
        raise ResultError(str(error), _evaluate_again(path)) from error


def _write(root: Path, document: dict[str, Any], data: bytes) -> Path:
    folder = paths.results(root, document["dataset"], document["protocol"]["name"])
    path = folder / f"{document['variant']}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with storage.locked(folder):
            storage.write_artifact(path, document, path.with_suffix(".npz"), data)
    except OSError as error:
        raise ResultError(f"cannot write {path}: {error.strerror}; make room or set RECSYS_HOME elsewhere") from error
    return path


def _of_other_people(document: dict[str, Any]) -> ResultError:
    """Why a result is left out beside most others of its data set and protocol."""
    dataset, protocol = document["dataset"], document["protocol"]["name"]
    command = recsys_command("evaluate", "all", "--dataset", dataset, "--protocol", protocol)
    message = f"{document['variant']} is left out: it was measured on other people of {dataset} than most others"
    return ResultError(message, command)


def _evaluate_again(path: Path) -> str:
    """The command that makes a result file."""
    dataset, protocol = path.parent.parent.name, path.parent.name
    return recsys_command("evaluate", path.stem, "--dataset", dataset, "--protocol", protocol)
