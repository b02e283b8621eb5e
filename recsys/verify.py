"""Verify the stored files of a data set, and the files that were computed from it. Every file is read again.

Only damage is reported. A model or result of older data is not damaged.
"""

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from recsys import boards, checkpoints, checksums, paths, progress, storage
from recsys.data import datasets, own_data, prepared, published
from recsys.data.dataset import DataError
from recsys.errors import RecsysError, recsys_command, restore_command
from recsys.evaluation import results, studies
from recsys.text import encoder


class Finding(NamedTuple):
    """A file, or a folder of files, that was verified."""

    path: Path
    problem: str = ""  # "" if the file is intact
    command: str | None = None  # shell command that fixes the problem

    def __str__(self) -> str:
        """Return a line such as "results/ml-1m/full.json: … is damaged; run: …"."""
        root = paths.home() if self.path.is_relative_to(paths.home()) else paths.REPOSITORY
        name = self.path.relative_to(root) if self.path.is_relative_to(root) else self.path
        command = f"; run: {self.command}" if self.command else ""
        return f"{name}: {self.problem}{command}" if self.problem else str(name)


def check_all() -> Iterator[Finding]:
    """Verify all data sets, and the files without a data set: encoder, shipped texts, answers of Wikidata, jobs."""
    parents = [folder.parent for folder in paths.dataset_folders("any")]  # home/data, home/checkpoints, …
    folders = [folder for parent in parents for folder in parent.glob("*/") if _has_files(folder)]
    folders += (paths.ASSETS / "checkpoints").glob("*/")
    names = {folder.name for folder in folders} | {datasets.DEFAULT_DATASET}
    for name in sorted(filter(_is_dataset_name, names)):
        yield from check_dataset(name)
    if paths.encoder().exists():
        is_intact = encoder.is_intact(paths.encoder())
        yield Finding(paths.encoder(), "" if is_intact else "is damaged", _remove_command(paths.encoder()))
    list_path = paths.checksums()
    yield _verify(list_path, lambda path: checksums.check_list(), restore_command(list_path))
    if list_path.exists():
        for path in checksums.listed_files():
            yield _verify(path, checksums.check, restore_command(path, list_path))
    for path in sorted((*paths.wikidata().glob("*.json"), *paths.jobs().glob("*/job.json"))):
        yield _verify(path, storage.check, _remove_command(path))
    for path in sorted(paths.jobs().glob("*/progress.jsonl")):
        yield _verify(path, _check_log, _remove_command(path))


def check_dataset(name: str) -> Iterator[Finding]:
    """Verify the files of a data set. Raises DataError if the data set has no files."""
    has_files = _is_dataset_name(name) and any(map(_has_files, paths.dataset_folders(name)))
    if name not in datasets.PUBLISHED and not has_files:
        text = "there is nothing of {name} on this machine; see: {command}"
        raise DataError(text, name=name, command=recsys_command("data", "list"))
    get_command = datasets.how_to_get(name)
    for path, is_intact in datasets.archives(name).items():
        archive_command = restore_command(path) if path.parent == published.SHIPPED_ARCHIVES else get_command
        yield Finding(path, "" if is_intact else "is missing, or its hash is not the expected one", archive_command)
    if _has_files(paths.prepared(name)):
        yield _verify(paths.prepared(name), lambda path: _check_prepared(name), get_command)
    enrich_command = recsys_command("data", "enrich", name)
    ties_command = recsys_command("experiment", "ties", "--dataset", name)
    # pattern of paths → check, and command that fixes the problem; None: `default_command`
    checks: dict[str, tuple[Callable[[Path], object], str | None]] = {
        f"details/{name}/films.json": (storage.check, enrich_command),
        f"*_vectors/{name}.json": (storage.check, None),
        f"*_vectors/{name}/*.json": (storage.check, None),
        f"maps/{name}/*.json": (storage.check, None),
        f"checkpoints/{name}/**/{checkpoints.META}": (lambda path: checkpoints.check(path.parent), None),
        f"checkpoints/{name}/**/{paths.LOG}": (_check_log, None),
        f"results/{name}/*.json": (results.check, None),
        f"results/{name}/*/*.json": (storage.check, None),  # of older versions, see `results`
        f"results/studies/*-{name}.json": (studies.read, None),
        f"results/ties/{name}.json": (storage.check, ties_command),
        f"trials/{name}/*.json": (boards.check, None),
        f"trials/{name}/**/trial.json": (storage.check, None),
        f"*/{name}/**/{paths.STATE}": (storage.read_sealed_bytes, None),
    }
    for root in (paths.home(), paths.ASSETS):
        for pattern, (check, command) in checks.items():
            for path in sorted(root.glob(pattern)):
                is_shipped = root == paths.ASSETS
                artifact = path.with_name(f"{path.stem}*")  # the document and its payloads
                default_command = restore_command(artifact) if is_shipped else _remove_command(path)
                yield _verify(path, check, command or default_command)


def _verify(path: Path, check: Callable[[Path], object], command: str) -> Finding:
    """Return the finding of a check. `command` fixes the problem, unless the error has a command of its own."""
    try:
        check(path)
    except RecsysError as error:
        return Finding(path, str(error.message), error.command or command)
    except OSError as error:
        return Finding(path, f"cannot be read: {error.strerror}", command)
    return Finding(path)


def _check_prepared(name: str) -> None:
    """Raise RecsysError if a prepared data set cannot be used."""
    try:
        prepared.check(name)
    except prepared.MissingData as error:
        raise DataError(error.message) from error  # without its command, so that `_verify` adds the right one
    if datasets.differs_from_shipped(name):
        raise DataError("was not prepared from the archive that comes with the project")


def _check_log(path: Path) -> None:
    """Raise DamagedFileError if a training log has damaged lines."""
    if n_damaged := progress.count_damaged(path):
        raise storage.DamagedFileError("{path}: lines that are damaged: {damaged}", path=path, damaged=n_damaged)


def _is_dataset_name(text: str) -> bool:
    """Return whether a text can be the name of a data set. "studies", a folder beside the data sets, cannot."""
    return bool(own_data.DATASET_NAME.fullmatch(text)) and text not in own_data.RESERVED_NAMES


def _has_files(folder: Path) -> bool:
    """Return whether a folder exists and is not empty."""
    return folder.is_dir() and any(folder.iterdir())


def _remove_command(path: Path) -> str:
    """Return the command that deletes a file, which will be downloaded or computed again."""
    return shlex.join(["rm", "-r", str(path)])
