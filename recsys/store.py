"""Trained models on disk: weights.safetensors and meta.json, which names its SHA-256 and carries its own.

A folder is old or new, never a mixture, whatever interrupts a save. Loading runs no code from the files. Where a
function takes the name of a data set, `paths.training` gives that of the models for a protocol with its own split.
"""

import shutil
import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load as weights_from_bytes
from safetensors.numpy import save as weights_to_bytes

from recsys import files, paths
from recsys.data.schema import Dataset
from recsys.data.split import split
from recsys.models import registry
from recsys.models.base import Recommender
from recsys.training.run import Run, ignore

META = "meta.json"
WEIGHTS = "weights.safetensors"


class StoreError(RuntimeError):
    """A checkpoint that cannot be written or used; the message says what to do about it."""


def save(
    folder: Path,
    variant: str,
    model: Recommender,
    dataset: Dataset,
    seed: int,
    notes: dict[str, Any] | None = None,
    protocol: str = "full",
) -> None:
    """Keep a fitted model. `dataset` is the whole set, not the training part; notes: anything JSON holds.

    protocol: the one whose split it learnt from.
    Raises StoreError, with the old checkpoint intact, when the disk refuses.
    """
    _make(folder)
    with files.locked(folder):
        _write(folder, variant, model, dataset, seed, notes or {}, protocol)


def load(folder: Path, dataset: Dataset, protocol: str | None = None) -> Recommender:
    """The model kept in a folder, ready to score films of `dataset`.

    Raises StoreError when files are missing or altered, when it was trained on another film list, and when it learnt
    from the split of another protocol than the one given. Other histories of the same films only warn.
    """
    if not folder.is_dir():
        raise StoreError(f"no checkpoint in {folder}; {_remedy(folder)}")
    with files.locked(folder, shared=True):
        return _load(folder, dataset, protocol)


def seeds(variant: str, dataset_name: str) -> list[int]:
    """The seeds trained on this machine, ascending; where there are none, the shipped one."""
    shipped = paths.shipped_checkpoint(dataset_name, variant)
    trained = _trained(variant, dataset_name)
    return trained if trained or not (shipped / META).exists() else [_meta(shipped)["seed"]]


def find(variant: str, dataset_name: str, seed: int | None = None) -> Path | None:
    """The folder of a checkpoint: of this machine (seed None: the lowest there), else the shipped one, else None."""
    trained = _trained(variant, dataset_name)
    if trained and seed in (None, *trained):
        return paths.checkpoint(dataset_name, variant, trained[0] if seed is None else seed)
    shipped = paths.shipped_checkpoint(dataset_name, variant)
    if (shipped / META).exists() and (seed is None or _meta(shipped)["seed"] == seed):
        return shipped
    return None


def ready(
    variant: str,
    dataset: Dataset,
    seed: int | None = None,
    report: Callable[[dict[str, Any]], None] = ignore,
    protocol: str = "full",
) -> Recommender:
    """A model that can score. What is not shipped is fitted on the training part at first use, and kept.

    seed None: whichever `find` prefers. protocol: the one whose split it may learn from.
    Raises LookupError for an unknown variant, StoreError when a model that must be trained first has not been.
    """
    cls = registry.get(variant)
    name = paths.training(dataset.name, protocol)
    folder = find(variant, name, seed)
    if cls.shipped:
        if folder is None:
            raise StoreError(f"no checkpoint for {variant} on {name}; {_train_line(variant, name, seed)}")
        return load(folder, dataset, protocol)
    folder = folder or paths.checkpoint(name, variant, seed or 0)
    _make(folder)
    with files.locked(folder):  # who asks second waits for the fit of who asked first
        return _kept(folder, dataset, protocol) or _fit(folder, variant, dataset, report, protocol)


def ship(variant: str, dataset_name: str, seed: int) -> Path:
    """Copy a checkpoint of this machine, with its training log, into assets/; returns the folder.

    Raises StoreError for a model whose state is what people watched.
    """
    if registry.get(variant).holds_histories:
        raise StoreError(f"{variant} consists of what people watched, which must not be passed on; ship another model")
    source = paths.checkpoint(dataset_name, variant, seed)
    target = paths.shipped_checkpoint(dataset_name, variant)
    meta, weights = _read(source)
    _make(target)
    with files.locked(target):
        _write_pair(target, meta, weights)
        if (source / paths.LOG).exists():
            shutil.copyfile(source / paths.LOG, target / paths.LOG)
    return target


def _trained(variant: str, dataset_name: str) -> list[int]:
    """Seeds with a finished checkpoint on this machine, ascending."""
    known = paths.seeds(dataset_name, variant)
    return [seed for seed in known if (paths.checkpoint(dataset_name, variant, seed) / META).exists()]


def _write(
    folder: Path,
    variant: str,
    model: Recommender,
    dataset: Dataset,
    seed: int,
    notes: dict[str, Any],
    protocol: str,
) -> None:
    meta = {
        "variant": variant,
        "config": asdict(model.config),
        "dataset": dataset.name,
        "protocol": protocol,
        "n_items": dataset.n_items,
        "films": dataset.catalog.fingerprint,
        "fingerprint": dataset.fingerprint,
        "seed": seed,
        "notes": notes,
    }
    state = {name: np.asarray(array, order="C") for name, array in model.state().items()}  # safetensors takes no views
    _write_pair(folder, meta, weights_to_bytes(state))


def _write_pair(folder: Path, meta: dict[str, Any], weights: bytes) -> None:
    try:
        files.write_pair(folder / META, meta, folder / WEIGHTS, weights)
    except OSError as error:
        raise _cannot_write(folder, error) from error


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot_write(folder, error) from error


def _load(folder: Path, dataset: Dataset, protocol: str | None) -> Recommender:
    meta, weights = _read(folder)
    variant, learnt = meta["variant"], meta.get("protocol", "full")  # older checkpoints do not say
    name = paths.training(dataset.name, protocol or learnt)
    again = _train_line(variant, name, meta["seed"])
    if name != paths.training(dataset.name, learnt):
        raise StoreError(f"{folder} learnt from what the protocol {protocol} holds out; {again}")
    if meta["films"] != dataset.catalog.fingerprint:
        raise StoreError(
            f"{folder} knows {meta['n_items']} films, which are not the {dataset.n_items} of {dataset.name}; {again}"
        )
    if meta["fingerprint"] != dataset.fingerprint:
        warnings.warn(
            f"{variant} was trained on other histories of {dataset.name}'s films, so it fits less well; {again}",
            stacklevel=3,
        )
    try:
        cls = registry.get(variant)
        model = cls(cls.Config(**{name: _frozen(value) for name, value in meta["config"].items()}))
        model.load_state(weights_from_bytes(weights), dataset.n_items)
    except (LookupError, TypeError, ValueError) as error:
        raise StoreError(f"{folder} was written by another version of {variant} ({error}); {again}") from error
    return model


def _kept(folder: Path, dataset: Dataset, protocol: str) -> Recommender | None:
    """The fit that is already there, or None when it has to be done (again). The caller holds the lock."""
    if not (folder / META).exists():
        return None
    try:
        return _load(folder, dataset, protocol)
    except StoreError as error:
        warnings.warn(f"fitting again, because the kept fit cannot be used: {error}", stacklevel=3)
        return None


def _fit(
    folder: Path, variant: str, dataset: Dataset, report: Callable[[dict[str, Any]], None], protocol: str
) -> Recommender:
    """Fit with the tuned settings and keep the result. The caller holds the lock."""
    cls = registry.get(variant)
    seed = int(folder.name.removeprefix("seed-"))
    parts = split(dataset, protocol)
    model = cls(cls.preset(variant, dataset.name)).fit(parts.train, parts.valid, Run(seed=seed, report=report))
    try:
        _write(folder, variant, model, dataset, seed, {}, protocol)
    except StoreError as error:
        warnings.warn(f"the fit will be done again next time: {error}", stacklevel=3)
    return model


def _read(folder: Path) -> tuple[dict[str, Any], bytes]:
    try:
        return files.read_pair(folder / META, folder / WEIGHTS)
    except (OSError, files.DamagedFileError) as error:
        raise StoreError(f"{error}; {_remedy(folder)}") from error


def _meta(folder: Path) -> dict[str, Any]:
    try:
        return files.read_sealed(folder / META)
    except (OSError, files.DamagedFileError) as error:
        raise StoreError(f"{error}; {_remedy(folder)}") from error


def _frozen(value: Any) -> Any:
    """JSON knows no tuples; frozen configurations hold no lists."""
    return tuple(value) if isinstance(value, list) else value


def _train_line(variant: str, dataset_name: str, seed: int | None) -> str:
    dataset, _, protocol = dataset_name.partition("@")
    chosen = (f" --protocol {protocol}" if protocol else "") + (f" --seed {seed}" if seed else "")
    return f"run: python -m recsys train {variant} --dataset {dataset}{chosen}"


def _remedy(folder: Path) -> str:
    if folder.is_relative_to(paths.ASSETS):
        return f"restore it: git checkout -- {folder.relative_to(paths.REPOSITORY)}"
    return "delete that folder and train the model again: python -m recsys train"


def _cannot_write(folder: Path, error: OSError) -> StoreError:
    return StoreError(f"cannot write {folder}: {error.strerror}; make room or set RECSYS_HOME to a folder elsewhere")
