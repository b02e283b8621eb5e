"""Whether what lies on this machine is what was written: the files of a data set and of all that was made of it.

Everything is read anew. What was measured or trained on other data than is here now is not damaged.
"""

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from recsys import arrays, checkpoints, checksums, paths, progress, storage
from recsys.data import datasets, own_data, prepared, published
from recsys.data.dataset import DataError
from recsys.errors import RecsysError, recsys_command
from recsys.evaluation import results, studies
from recsys.studies import trials
from recsys.text import encoder
from recsys.training.trainer import RunFolder


class Finding(NamedTuple):
    """One thing that was looked at."""

    path: Path
    why: str = ""  # what is wrong with it; "": it is sound
    command: str | None = None  # the line that mends it

    def __str__(self) -> str:
        """ "results/ml-1m/full/popular.json: … is damaged; run: …"."""
        root = paths.home() if self.path.is_relative_to(paths.home()) else paths.REPOSITORY
        shown = self.path.relative_to(root) if self.path.is_relative_to(root) else self.path
        why = [self.why, f"run: {self.command}"] if self.command else [self.why]
        return f"{shown}: {'; '.join(why)}" if self.why else str(shown)


def everything() -> Iterator[Finding]:
    """All sets, and what belongs to none of them: the sentence encoder, shipped texts, Wikidata's answers, jobs."""
    folders = [path for folder in paths.dataset_folders("x") for path in folder.parent.glob("*/")]
    kept = [path.name for path in folders if own_data.NAME.fullmatch(path.name) and _has_files(path)]
    shipped = [path.name for path in paths.shipped_checkpoint("x", "x", "x").parents[2].glob("*/")]
    for name in sorted({*kept, *shipped, datasets.DEFAULT_DATASET} - own_data.RESERVED_NAMES):
        yield from of_set(name)
    if paths.encoder().exists() and not encoder.is_intact(paths.encoder()):
        yield Finding(paths.encoder(), "is damaged", _remove(paths.encoder()))
    elif paths.encoder().exists():
        yield Finding(paths.encoder())
    yield from _shipped_texts()
    for path in sorted(paths.wikidata().glob("*.json")):
        yield _read(path, storage.read_document, _remove(path))
    for path in sorted(paths.jobs().glob("*/job.json")):
        yield _read(path, storage.read_document, _remove(path.parent))
    for path in sorted(paths.jobs().glob("*/progress.jsonl")):
        yield _read(path, _read_log, _remove(path))


def of_set(name: str) -> Iterator[Finding]:
    """One set: its archives, prepared files, details, vectors, maps, models, results, studies. Raises DataError."""
    if name not in datasets.SETS and not any(_has_files(folder) for folder in paths.dataset_folders(name)):
        raise DataError(f"there is nothing of {name} on this machine; see: {recsys_command('data', 'list')}")
    get = datasets.how_to_get(name)
    for path, sound in datasets.archives(name).items():
        mend = storage.restore_command(path) if path.parent == published.BUNDLED else get
        yield Finding(path) if sound else Finding(path, "is missing or not the archive that it was", mend)
    if _has_files(paths.prepared(name)):
        damage = prepared.damage(name)
        if not damage and datasets.differs_from_bundled(name):
            damage = ["was not prepared from the archive that comes with the project"]
        yield Finding(paths.prepared(name), ", ".join(damage), get)
    if (path := paths.details(name)).exists():
        yield _read(path, _read_pair, recsys_command("data", "enrich", name))
    yield from _vectors(name)
    yield from _trained(name)
    yield from _measured(name)


def _shipped_texts() -> Iterator[Finding]:
    """Shipped files that have no hash of their own, and the list of their checksums."""
    sums = paths.checksums()
    yield _read(sums, lambda _: checksums.check_list(), storage.restore_command(sums))
    if sums.exists():
        for path in checksums.covered():
            yield _read(path, checksums.check, storage.restore_command(path, sums))


def _vectors(name: str) -> Iterator[Finding]:
    """Vectors of films and tags, and maps."""
    shipped = (paths.shipped_film_vectors(name), paths.shipped_tag_vectors(name))
    maps = sorted(paths.shipped_film_map(name, "x").parent.glob(f"*{arrays.SUFFIX}"))
    for path in (*filter(Path.exists, shipped), *maps):
        yield _read(path, _read_pair, storage.restore_command(path, path.with_suffix(".json")))
    for of_kind in (paths.film_vectors(name, "x"), paths.tag_vectors(name, "x"), paths.film_map(name, "x")):
        for path in sorted(of_kind.parent.glob(f"*{arrays.SUFFIX}")):
            yield _read(path, _read_pair, _remove(path))


def _trained(name: str) -> Iterator[Finding]:
    """Checkpoints, and the states of trainings that were cut off."""
    for root in (paths.home(), paths.ASSETS):
        for path in sorted((root / "checkpoints" / name).rglob(checkpoints.META)):
            yield _read(path.parent, checkpoints.check)
        for path in sorted((root / "checkpoints" / name).rglob(paths.LOG)):
            yield _read(path, _read_log, _remove(path) if root == paths.home() else storage.restore_command(path))
    for kind in ("checkpoints", "trials"):
        for path in sorted((paths.home() / kind / name).rglob(RunFolder.STATE)):
            yield _read(path, storage.read_sealed_bytes, _remove(path))


def _measured(name: str) -> Iterator[Finding]:
    """Results, trials, studies, and what was measured of the order within a second."""
    for root in (paths.home(), paths.ASSETS):
        for path in sorted(paths.results(root, name, "x").parent.glob("*/*.json")):
            yield _read(path, results.check)
        for path in sorted(paths.studies(root).glob(f"*-{name}.json")):
            yield _read(path, studies.read, _remove(path))
        if (path := paths.ties(root, name)).exists():
            yield _read(path, storage.read_document, recsys_command("experiment", "ties", "--dataset", name))
    for root in (paths.home(), paths.ASSETS):
        for path in sorted(paths.trial(root, name, "x", "x").parents[1].rglob(trials.FILE)):
            yield _read(
                path, storage.read_document, _remove(path) if root == paths.home() else storage.restore_command(path)
            )


def _read(path: Path, read: Callable[[Path], object], command: str | None = None) -> Finding:
    """What comes of reading something; command: what mends it, where the error does not say so."""
    try:
        read(path)
    except RecsysError as error:
        return Finding(path, error.message, error.command or command)
    except OSError as error:
        return Finding(path, f"cannot be read: {error.strerror}", command)
    return Finding(path)


def _has_files(folder: Path) -> bool:
    """Whether a folder exists and is not empty: a write that failed may leave an empty one."""
    return folder.is_dir() and any(folder.iterdir())


def _read_log(path: Path) -> None:
    if damaged := progress.count_damaged(path):
        raise storage.DamagedFileError(f"{path}: lines that are damaged: {damaged}")


def _read_pair(path: Path) -> None:
    storage.read_artifact(path.with_suffix(".json"), path)


def _remove(path: Path) -> str:
    """The command after which something is fetched or computed again when it is needed."""
    return shlex.join(["rm", "-r", str(path)])
