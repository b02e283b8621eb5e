"""Trained models on disk: weights.safetensors and meta.json, which names its SHA-256 and carries its own.

A folder is old or new, never a mixture, whatever interrupts a save. Loading runs no code from the files.
A fit belongs to the data it learnt from: meta.json names the film list, the sequences, how they were split and, where
that changes what is learnt, the times and ratings. Other data under the same name is never measured with an old fit.
"""

import shlex
import shutil
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load as weights_from_bytes
from safetensors.numpy import save as weights_to_bytes

from recsys import files, paths
from recsys.data.schema import Dataset
from recsys.data.split import LEAVE_ONE_OUT, Splitting
from recsys.errors import RecsysError, recsys_command
from recsys.models import registry
from recsys.models.base import Recommender, config_from_dict
from recsys.progress import Report, ignore
from recsys.text.films import film_texts, texts_fingerprint
from recsys.training.run import Run

META = "meta.json"
WEIGHTS = "weights.safetensors"


class StoreError(RecsysError):
    """A checkpoint that cannot be written or used."""


def save(
    variant: str,
    model: Recommender,
    dataset: Dataset,
    seed: int,
    notes: dict[str, Any] | None = None,
    splitting: Splitting = LEAVE_ONE_OUT,
) -> Path:
    """Keep a fitted model on this machine; returns its folder.

    `dataset` is the whole set, not the training part; `splitting` has divided it; notes: anything JSON holds.
    Raises StoreError, with the old checkpoint intact, when the disk refuses.
    """
    folder = paths.checkpoint(dataset.name, splitting.name, variant, seed)
    meta = _describe(variant, model, dataset, splitting) | {"seed": seed, "notes": notes or {}}
    _make(folder)
    with files.locked(folder):
        _write(folder, meta, model)
    return folder


def load(folder: Path, dataset: Dataset, splitting: Splitting = LEAVE_ONE_OUT, measuring: bool = False) -> Recommender:
    """The model kept in a folder, ready to score the items of `dataset`.

    Raises StoreError when files are missing or altered, when it learnt from another film list or another splitting,
    and when it learnt from other data: other sequences or, where they matter to it, other times or ratings. A model
    that needs training is refused for other data only when `measuring`, else a warning is given.
    """
    if not folder.is_dir():
        raise _unusable(folder, FileNotFoundError(f"no checkpoint in {folder}"))
    with files.locked(folder, shared=True):
        return _load(folder, dataset, splitting, measuring)


def seeds(variant: str, dataset_name: str, splitting: Splitting = LEAVE_ONE_OUT) -> list[int]:
    """The seeds trained on this machine, ascending; where there are none, the shipped one."""
    shipped = paths.shipped_checkpoint(dataset_name, splitting.name, variant)
    trained = _trained(variant, dataset_name, splitting)
    return trained if trained or not (shipped / META).exists() else [_meta(shipped)["seed"]]


def find(variant: str, dataset_name: str, seed: int | None = None, splitting: Splitting = LEAVE_ONE_OUT) -> Path | None:
    """The folder of a checkpoint: of this machine (seed None: the lowest there), else the shipped one, else None."""
    trained = _trained(variant, dataset_name, splitting)
    if trained and seed in (None, *trained):
        return paths.checkpoint(dataset_name, splitting.name, variant, trained[0] if seed is None else seed)
    shipped = paths.shipped_checkpoint(dataset_name, splitting.name, variant)
    if (shipped / META).exists() and (seed is None or _meta(shipped)["seed"] == seed):
        return shipped
    return None


def stamp(variant: str, dataset_name: str, splitting: Splitting = LEAVE_ONE_OUT) -> str:
    """Another text whenever the checkpoint that `find` prefers is another one; "" where there is none."""
    folder = find(variant, dataset_name, splitting=splitting)
    try:
        return files.sha256((folder / META).read_bytes()) if folder else ""
    except OSError:  # taken away between the two steps
        return ""


def ready(
    variant: str,
    dataset: Dataset,
    seed: int | None = None,
    report: Report = ignore,
    splitting: Splitting = LEAVE_ONE_OUT,
    measuring: bool = False,
) -> Recommender:
    """A model that can score. What needs no training is fitted on first use, or on other data again, and kept.

    seed None: whichever `find` prefers; splitting: whose training part it may learn from; measuring: see `load`.
    Raises UnknownModelError, and StoreError when a model that needs training has not been trained on this data.
    """
    folder = find(variant, dataset.name, seed, splitting)
    if registry.get(variant).needs_training:
        if folder is None:
            command = training_command(variant, dataset.name, splitting.name, seed)
            raise StoreError(f"no checkpoint for {variant} on {_divided(dataset.name, splitting)}", command)
        return load(folder, dataset, splitting, measuring)
    folder = folder or paths.checkpoint(dataset.name, splitting.name, variant, seed or 0)
    _make(folder)
    with files.locked(folder):  # two that come at once share one fit
        return _kept(folder, dataset, splitting) or _fit(folder, variant, dataset, report, splitting)


def ship(variant: str, dataset_name: str, seed: int, splitting: Splitting = LEAVE_ONE_OUT) -> Path:
    """Copy a checkpoint of this machine, with its training log, into assets/; returns the folder.

    Raises StoreError for a model that is fitted on first use, such as all whose state is what people watched.
    """
    if not registry.get(variant).needs_training:
        raise StoreError(f"{variant} is fitted on first use, so it is not shipped; ship a model that needs training")
    if registry.get(variant).architecture.holds_histories:
        raise StoreError(f"{variant} consists of what people watched, which must not be passed on; ship another model")
    source = paths.checkpoint(dataset_name, splitting.name, variant, seed)
    target = paths.shipped_checkpoint(dataset_name, splitting.name, variant)
    meta, weights = _read(source)
    _make(target)
    with files.locked(target):
        _write_pair(target, meta, weights)
        if (source / paths.LOG).exists():
            shutil.copyfile(source / paths.LOG, target / paths.LOG)
    return target


def _trained(variant: str, dataset_name: str, splitting: Splitting) -> list[int]:
    """Seeds with a finished checkpoint on this machine, ascending."""
    known = paths.seeds(dataset_name, splitting.name, variant)
    return [seed for seed in known if (paths.checkpoint(dataset_name, splitting.name, variant, seed) / META).exists()]


def _describe(variant: str, model: Recommender, dataset: Dataset, splitting: Splitting) -> dict[str, Any]:
    """What a checkpoint says about the model and about the data that it belongs to."""
    return {
        "variant": variant,
        "config": asdict(model.config),
        "dataset": dataset.name,
        "n_items": dataset.n_items,
        "films": dataset.catalog.fingerprint,
        **({"also": model.also} if model.also else {}),
        **_learnt_from(model, dataset, splitting),
    }


def _learnt_from(model: Recommender, dataset: Dataset, splitting: Splitting) -> dict[str, Any]:
    """What would have given another fit, had it been other: the split, the sequences, and what else the model reads."""
    split = splitting(dataset)
    read = {"split": split.about, "fingerprint": dataset.fingerprint}
    if model.reads_details or splitting.reads_times:
        read["details"] = dataset.details_fingerprint
    if model.reads_texts:
        read["texts"] = texts_fingerprint(film_texts(split.train.catalog))
    return read


def _write(folder: Path, meta: dict[str, Any], model: Recommender) -> None:
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


def _load(folder: Path, dataset: Dataset, splitting: Splitting, measuring: bool) -> Recommender:
    """`load`, by a caller who holds the lock."""
    meta, weights = _read(folder)
    variant = str(meta.get("variant"))
    command = training_command(variant, dataset.name, splitting.name, meta.get("seed"))
    if meta.get("films") != dataset.catalog.fingerprint:
        known = f"{folder} knows {meta.get('n_items')} films"
        raise StoreError(f"{known}, which are not the {dataset.n_items} of {dataset.name}", command)
    if meta.get("split", {}).get("name") != splitting.name:
        raise StoreError(f"{folder} learnt from another part of {dataset.name} than the one needed", command)
    model = _model(folder, meta, weights, command)
    if any(meta.get(name) != found for name, found in _learnt_from(model, dataset, splitting).items()):
        stale = f"{variant} learnt from other data than {dataset.name} is now"
        if measuring or not model.needs_training:
            raise StoreError(f"{stale}, so it is not measured", command)
        warnings.warn(f"{stale}, so it fits less well; to train it again: {command}", stacklevel=4)
    return model


def _model(folder: Path, meta: dict[str, Any], weights: bytes, command: str) -> Recommender:
    """The model that a checkpoint describes."""
    variant = str(meta.get("variant"))
    try:
        found = registry.get(variant)
        model = found.model(config_from_dict(found.architecture.Config, meta["config"]))
        model.load_state(weights_from_bytes(weights), meta["n_items"])
        model.also = meta.get("also", "")
    except (LookupError, TypeError, ValueError, RecsysError) as error:
        raise StoreError(f"{folder} was written by another version of {variant} ({error})", command) from error
    return model


def _kept(folder: Path, dataset: Dataset, splitting: Splitting) -> Recommender | None:
    """The fit that is already there, or None when it has to be done (again). The caller holds the lock."""
    if not (folder / META).exists():
        return None
    try:
        return _load(folder, dataset, splitting, measuring=False)
    except StoreError as error:
        warnings.warn(f"fitting again, because the kept fit cannot be used: {error.message}", stacklevel=3)
        return None


def _fit(folder: Path, variant: str, dataset: Dataset, report: Report, splitting: Splitting) -> Recommender:
    """Fit with the tuned settings and keep the result. The caller holds the lock."""
    found, seed = registry.get(variant), int(folder.name.removeprefix("seed-"))
    parts = splitting(dataset, seed)
    model = found.model(found.preset(dataset.name)).fit(parts.train, parts.valid, Run(seed=seed, report=report))
    try:
        _write(folder, _describe(variant, model, dataset, splitting) | {"seed": seed, "notes": {}}, model)
    except StoreError as error:
        warnings.warn(f"the fit will be done again next time: {error}", stacklevel=3)
    return model


def _read(folder: Path) -> tuple[dict[str, Any], bytes]:
    try:
        return files.read_pair(folder / META, folder / WEIGHTS)
    except (OSError, files.DamagedFileError) as error:
        raise _unusable(folder, error) from error


def _meta(folder: Path) -> dict[str, Any]:
    try:
        return files.read_sealed(folder / META)
    except (OSError, files.DamagedFileError) as error:
        raise _unusable(folder, error) from error


def training_command(
    variant: str, dataset_name: str, splitting: str = LEAVE_ONE_OUT.name, seed: int | None = None
) -> str:
    """The command that trains a model on the training part that a splitting gives."""
    protocol = [] if splitting == LEAVE_ONE_OUT.name else ["--protocol", splitting]
    chosen = ["--seed", str(seed)] if seed else []
    return recsys_command("train", variant, "--dataset", dataset_name, *protocol, *chosen)


def _divided(dataset_name: str, splitting: Splitting) -> str:
    return dataset_name if splitting == LEAVE_ONE_OUT else f"{dataset_name}, divided by {splitting.name}"


def _unusable(folder: Path, error: Exception) -> StoreError:
    """A checkpoint whose files are missing or altered."""
    if folder.is_relative_to(paths.ASSETS):
        kept = shlex.quote(str(folder.relative_to(paths.REPOSITORY)))
        return StoreError(str(error), f"git -C {shlex.quote(str(paths.REPOSITORY))} checkout -- {kept}")
    dataset, splitting, variant, seed = folder.parts[-4:]
    return StoreError(str(error), training_command(variant, dataset, splitting, int(seed.removeprefix("seed-"))))


def _cannot_write(folder: Path, error: OSError) -> StoreError:
    return StoreError(f"cannot write {folder}: {error.strerror}; make room or set RECSYS_HOME to a folder elsewhere")
