"""List, load and prepare data sets by name: published data sets, and own data sets, which `own_data` adds."""

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from recsys.data import movielens_files, prepared, published
from recsys.data.assemble import MIN_RATINGS, assemble, drop_duplicates
from recsys.data.dataset import DataError, Dataset
from recsys.data.download import DiskError, exclusive_folder, file_hashes
from recsys.data.prepared import MissingData
from recsys.data.prepared import names as prepared_names
from recsys.data.published import DEFAULT_DATASET, PUBLISHED, how_to_get
from recsys.data.split import LEAVE_ONE_OUT, UNTIED, Splitting
from recsys.errors import Message
from recsys.progress import ProgressCallback, no_progress


class DatasetSummary(NamedTuple):
    """A data set in the output of the command `data list`."""

    name: str
    users: int
    items: int
    ratings: int
    megabytes: int | None  # of the archive; None: an own data set
    licence: str
    is_present: bool  # whether it is prepared on this computer, or its archive comes with the project


def summaries() -> list[DatasetSummary]:
    """Summarise each published data set and each own data set.

    Published data sets have their published counts. Own data sets, and data sets prepared from another archive, are
    counted without infrequent items and their ratings.
    """
    rows, local_names = [], prepared_names()
    for name in dict.fromkeys((*PUBLISHED, *local_names)):  # without repeats
        entry, meta = PUBLISHED.get(name), prepared.metadata(name)
        counts = (entry.users, entry.films, entry.ratings) if entry else (0, 0, 0)
        if meta and not (entry and meta["archive"].get("official")):
            counts = (meta["people"], meta["items"], meta["ratings"])
        licence, megabytes = (entry.licence, entry.megabytes) if entry else ("yours", None)
        is_shipped = bool(entry and entry.sha256)
        rows.append(DatasetSummary(name, *counts, megabytes, licence, is_shipped or name in local_names))
    return rows


def load(name: str) -> Dataset:
    """Read a prepared data set.

    Raises MissingData if it is damaged or not on this machine, and DataError if there is no such data set.
    """
    check_exists(name)
    try:
        dataset = prepared.load(name)
    except MissingData as error:
        raise MissingData(error.message, how_to_get(name)) from error
    if differs_from_shipped(name):
        text = "{name} was not prepared from the archive that comes with the project"
        raise MissingData(text, how_to_get(name), name=name)
    return dataset


def check_exists(name: str) -> None:
    """Raise DataError if no published data set, and no data set on this machine, has this name."""
    names = dict.fromkeys((*PUBLISHED, *prepared_names()))  # without repeats
    if name not in names:
        raise DataError("no data set is called {name}; choose one of: {sets}", name=name, sets=", ".join(names))


def differs_from_shipped(name: str) -> bool:
    """Return whether the project ships the archive of a data set, but the data set was not prepared from it."""
    shipped_sha256 = PUBLISHED[name].sha256 if name in PUBLISHED else None
    return shipped_sha256 is not None and shipped_sha256 != _provenance(name).get("sha256")


def ensure(name: str, report: ProgressCallback = no_progress) -> Dataset:
    """Load a data set. The default data set is prepared first if `load` cannot load it.

    If the disk is not writable, the default data set is kept in memory, for this process only.
    """
    try:
        return load(name)
    except MissingData:
        if name != DEFAULT_DATASET:
            raise
    try:
        with exclusive_folder(published.downloads(name)):
            try:
                return load(name)  # another process may have prepared it in the meantime
            except MissingData:
                return _prepare(name, None, report)
    except DiskError as error:
        warnings.warn(f"{error}; until then {name} is read from its archive at each start", stacklevel=2)
        return prepared.keep_in_memory(*_parse(name, None, report))


def get(name: str, source: Path | None = None, report: ProgressCallback = no_progress) -> Dataset:
    """Download, verify, parse and save a published data set. After a failure, an older prepared data set stays.

    `source` is an archive to use in place of the download. `report` receives the events of `download.fetch`, then
    {"stage": "note", "text"}, {"stage": "parse"} and {"stage": "keep"}. Raises DownloadError, or DataError if
    the archive cannot be used.
    """
    if name not in PUBLISHED:
        text = "{name} is not a published data set; choose one of: {sets}"
        raise DataError(text, name=name, sets=", ".join(PUBLISHED))
    with exclusive_folder(published.downloads(name)):
        return _prepare(name, source, report)


def _prepare(name: str, source: Path | None, report: ProgressCallback) -> Dataset:
    """Parse the archive of a data set and save the result. The caller holds the lock."""
    dataset, provenance = _parse(name, source, report)
    report({"stage": "keep"})
    prepared.save(dataset, provenance)
    return prepared.load(name)


def _parse(name: str, source: Path | None, report: ProgressCallback) -> tuple[Dataset, dict[str, Any]]:
    """Parse the archive of a data set. Return the data set and `ArchiveFile.provenance`."""
    entry, archive_file = PUBLISHED[name], published.archive_of(name, source, report)
    report({"stage": "parse"})
    with movielens_files.open_archive(archive_file.path, entry.title, archive_file.is_official) as archive:
        raw = archive_file.parse(archive)
        if not archive_file.is_official:
            raw = drop_duplicates(raw, report)
        dataset = assemble(name, raw, entry.min_ratings, entry.ties)
    if n_dropped := pd.Series(raw.user).nunique() - dataset.n_users:
        text = "people left out because none of their films has at least {min_ratings} ratings: {n:,}"
        report({"stage": "note", "text": Message(text, min_ratings=entry.min_ratings, n=n_dropped)})
    return dataset, archive_file.provenance


def archives(name: str) -> dict[Path, bool]:
    """Return path → whether the archive at this path is valid, for the shipped and downloaded archives of a data set.

    An archive is valid if it has a published hash, or the hash of the archive from which the data set was prepared. A
    shipped archive is listed even if it is missing.
    """
    files = sorted(path for path in published.downloads(name).glob("*") if path.suffix in (".zip", ".whl"))
    valid_hashes = {_provenance(name).get("sha256")}
    if name in PUBLISHED:
        valid_hashes |= PUBLISHED[name].hashes
        if PUBLISHED[name].sha256:
            files.insert(0, published.SHIPPED_ARCHIVES / f"{name}.zip")
    return {path: path.is_file() and not valid_hashes.isdisjoint(file_hashes(path)) for path in files}


def title(name: str) -> str:
    """Return the title of a published data set, such as "MovieLens 100K", or the name of an own data set."""
    return PUBLISHED[name].title if name in PUBLISHED else name


def serving_splitting(name: str) -> Splitting:
    """Return the splitting of a data set for the recommenders of the app.

    UNTIED is used if the file order of ties is not random. A model must not learn this order, because the history of a
    visitor does not have it.
    """
    entry = PUBLISHED.get(name)
    return UNTIED if entry and entry.ties == "file" and not entry.has_random_file_order else LEAVE_ONE_OUT


def min_ratings(name: str) -> int:
    """Return the number of ratings that a film of a data set needs to be an item."""
    if name in PUBLISHED:
        return PUBLISHED[name].min_ratings
    return int(_provenance(name).get("fewest", MIN_RATINGS))  # a key that `own_data.add` writes


def _provenance(name: str) -> dict[str, Any]:
    """Return `PreparedMeta.archive` of a prepared data set, {} if it is not available."""
    return dict(prepared.metadata(name).get("archive", {}))
