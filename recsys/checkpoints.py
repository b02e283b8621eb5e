"""Trained models on disk: weights.safetensors and meta.json, which names its SHA-256 and carries its own.

A folder is old or new, never a mixture, whatever interrupts a save. Loading runs no code from the files.
A fit belongs to the data it learnt from: meta.json names the film list, the sequences, how they were split and, where
that changes what is learnt, the times and ratings. Other data under the same name is never measured with an old fit.
A mixture belongs to the checkpoints of its members that it was fitted with: meta.json has the stamp of each. A fit made
on first use belongs to the tuned settings of its time.
"""

import json
import warnings
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as weights_from_bytes
from safetensors.numpy import save as weights_to_bytes

from recsys import paths, storage
from recsys.config import to_document
from recsys.data.dataset import Dataset
from recsys.data.split import LEAVE_ONE_OUT, Splitting
from recsys.errors import RecsysError, recsys_command
from recsys.models import registry
from recsys.models.base import Model
from recsys.progress import ProgressCallback, no_progress
from recsys.text.films import film_texts, texts_fingerprint, texts_with_credits
from recsys.training.options import RunOptions

META = "meta.json"
WEIGHTS = "weights.safetensors"
HALF = 60_000  # numbers from which 16 bits end
NEEDED = {"variant": str, "config": dict, "n_items": int, "films": str, "split": dict, "seed": int}  # of META
OPTIONAL = {"notes": dict, "members": dict, "also": str, "tuned": bool}  # tuned: fitted on first use, with the preset

Stamps = tuple[str, str]  # of a member when the mixture was fitted, and now; "" for none


class StoreError(RecsysError):
    """A checkpoint that cannot be written or used."""


def save(
    variant: str,
    model: Model,
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
    stamps = member_versions(model, dataset.name, seed, splitting)
    meta = _describe(variant, model, dataset, splitting, stamps) | {"seed": seed, "notes": notes or {}}
    _make(folder)
    with storage.locked(folder):
        _write(folder, meta, model)
    return folder


def load(folder: Path, dataset: Dataset, splitting: Splitting = LEAVE_ONE_OUT, measuring: bool = False) -> Model:
    """The model kept in a folder, ready to score the items of `dataset`.

    Raises StoreError when files are missing or altered, when it learnt from another film list or another splitting,
    and when it learnt from other data: other sequences or, where they matter to it, other times or ratings. A model
    that needs training is refused for other data only when `measuring`, else a warning is given.
    """
    if not folder.is_dir():
        raise _unusable(folder, FileNotFoundError(f"no checkpoint in {folder}"))
    with storage.locked(folder, shared=True):
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


def notes(
    variant: str, dataset_name: str, splitting: Splitting = LEAVE_ONE_OUT, seed: int | None = None
) -> dict[str, Any]:
    """How the checkpoint that `find` prefers was trained, see `TrainingSummary.notes`; {} where nobody knows."""
    try:
        folder = find(variant, dataset_name, seed, splitting)
        return _meta(folder).get("notes", {}) if folder else {}
    except StoreError:
        return {}


def checkpoint_version(variant: str, dataset_name: str, splitting: Splitting = LEAVE_ONE_OUT) -> str:
    """Return a text that changes with the checkpoint that `find` prefers and with those of its members; "" for none."""
    folder = find(variant, dataset_name, splitting=splitting)
    checkpoint_version, members = _stamp(folder), _stamps_of_members(variant, dataset_name, folder, splitting)
    return (
        storage.sha256(" ".join([checkpoint_version, *(now for _, now in members.values())]).encode())
        if checkpoint_version and members
        else checkpoint_version
    )


def untrained_members(variant: str, dataset_name: str, splitting: Splitting = LEAVE_ONE_OUT) -> list[str]:
    """Return the recommenders that have to be trained before `load_or_fit` can return this one: itself, or members."""
    folder = find(variant, dataset_name, splitting=splitting)
    members = _stamps_of_members(variant, dataset_name, folder, splitting)
    needed = [name for name, (_, now) in members.items() if not now] + [variant] * (folder is None)
    return [name for name in needed if registry.get(name).needs_training]


def is_available(variant: str, dataset_name: str, splitting: Splitting = LEAVE_ONE_OUT) -> bool:
    """Whether `load_or_fit` has nothing to fit, neither this recommender nor one of its members."""
    if not has_fit(variant, dataset_name, splitting):
        return False
    folder = find(variant, dataset_name, splitting=splitting)
    members = _stamps_of_members(variant, dataset_name, folder, splitting)
    return all(is_available(name, dataset_name, splitting) for name in members)


def has_fit(variant: str, dataset_name: str, splitting: Splitting = LEAVE_ONE_OUT) -> bool:
    """Whether there is a checkpoint of the present settings and members; a member may still have to be fitted."""
    folder = find(variant, dataset_name, splitting=splitting)
    if folder is None or _tuned_anew(folder, dataset_name):
        return False
    stamps = _stamps_of_members(variant, dataset_name, folder, splitting).values()
    return all(then == now for then, now in stamps)


def load_or_fit(
    variant: str,
    dataset: Dataset,
    seed: int | None = None,
    report: ProgressCallback = no_progress,
    splitting: Splitting = LEAVE_ONE_OUT,
    measuring: bool = False,
) -> Model:
    """A model that can score. What needs no training is fitted on first use, or on other data again, and kept.

    seed None: whichever `find` prefers; splitting: whose training part it may learn from; measuring: see `load`.
    Raises UnknownModelError, and StoreError when a model that needs training, or a member that does, has not been
    trained on this data.
    """
    folder = find(variant, dataset.name, seed, splitting)
    if registry.get(variant).needs_training:
        if folder is None:
            command = training_command(variant, dataset.name, splitting.name, seed)
            raise StoreError(f"no checkpoint for {variant} on {_divided(dataset.name, splitting)}", command)
        return load(folder, dataset, splitting, measuring)
    if folder == paths.shipped_checkpoint(dataset.name, splitting.name, variant):
        if shipped := _kept(folder, dataset, splitting, measuring):
            return shipped
        folder = None  # a fit of this machine must not overwrite what is shipped
    folder = folder or paths.checkpoint(dataset.name, splitting.name, variant, seed or 0)
    with _alone_in(folder):  # two that come at once share one fit
        kept = _kept(folder, dataset, splitting, measuring)
        return kept or _fit(folder, variant, dataset, report, splitting, measuring)


def attach_members(
    model: Model,
    dataset: Dataset,
    seed: int,
    report: ProgressCallback = no_progress,
    splitting: Splitting = LEAVE_ONE_OUT,
    measuring: bool = False,
) -> dict[str, str]:
    """Set the fitted members of a model, if it has any.

    Each member has the seed of the model if it was trained with it, else the seed that `find` prefers.

    Returns:
        The stamp of each member by name.

    Raises:
        StoreError: As `load_or_fit`, and for a member that has members itself.
    """
    members = {}
    for name in model.members:
        if registry.get(name).members(dataset.name):
            raise StoreError(f"{model.title} cannot stand on {name}, which is mixed itself; name its members instead")
        member_seed = seed if splitting.unties or find(name, dataset.name, seed, splitting) else None
        members[name] = load_or_fit(name, dataset, member_seed, report, splitting, measuring)
    if members:
        model.set_members(members)
    return member_versions(model, dataset.name, seed, splitting)


def member_versions(model: Model, dataset_name: str, seed: int, splitting: Splitting = LEAVE_ONE_OUT) -> dict[str, str]:
    """Return the stamp of each member of a model, which changes when the member is trained again; "" if it is not."""
    return {name: _member_stamp(name, dataset_name, seed, splitting) for name in model.members}


def check(folder: Path) -> None:
    """Raise StoreError, with the command that mends it, where a bit of a checkpoint differs."""
    with storage.locked(folder, shared=True):
        _read(folder)


def ship(variant: str, dataset_name: str, seed: int, splitting: Splitting = LEAVE_ONE_OUT) -> Path:
    """Copy a checkpoint and its training log into assets/ with 16-bit weights; returns the folder.

    Raises StoreError for a model that is fitted on first use, such as all whose state is what people watched. Mixtures
    can be shipped, because fitting their few weights takes long. Fit a mixture with the shipped checkpoints of its
    members: in an empty home, after those were shipped.
    """
    if not registry.get(variant).needs_training and not registry.get(variant).members(dataset_name):
        raise StoreError(f"{variant} is fitted on first use, so it is not shipped; ship a model that needs training")
    if registry.get(variant).model_class.state_has_histories:
        raise StoreError(f"{variant} consists of what people watched, which must not be passed on; ship another model")
    source = paths.checkpoint(dataset_name, splitting.name, variant, seed)
    target = paths.shipped_checkpoint(dataset_name, splitting.name, variant)
    meta, weights = _read(source)
    _make(target)
    with storage.locked(target):
        _write_pair(target, meta, to_float16(weights))
        if (source / paths.LOG).exists():
            storage.replace_file(target / paths.LOG, (source / paths.LOG).read_bytes())
    return target


def to_float16(weights: bytes) -> bytes:
    """The same weights in half the bytes: 32-bit numbers rounded to 16 bits, where those can hold them."""
    state = weights_from_bytes(weights)
    fits = {name for name, array in state.items() if array.dtype == np.float32 and np.abs(array).max(initial=0) < HALF}
    rounded = {name: array.astype(np.float16) if name in fits else array for name, array in state.items()}
    return weights_to_bytes(rounded)


def _whole(weights: bytes) -> dict[str, np.ndarray]:
    """The arrays of a checkpoint, as models know them: what `to_float16` has rounded in 32 bits."""
    state = weights_from_bytes(weights)
    return {name: array.astype(np.float32) if array.dtype == np.float16 else array for name, array in state.items()}


def _trained(variant: str, dataset_name: str, splitting: Splitting) -> list[int]:
    """Seeds with a finished checkpoint on this machine, ascending."""
    numbers = paths.seeds(dataset_name, splitting.name, variant)
    return [seed for seed in numbers if (paths.checkpoint(dataset_name, splitting.name, variant, seed) / META).exists()]


def _find_member(name: str, dataset_name: str, seed: int, splitting: Splitting) -> Path | None:
    """Return the checkpoint of a member of a mixture with a seed: of that seed, else the one that `find` prefers.

    If each seed has its own order of the data, only that seed will do.
    """
    folder = find(name, dataset_name, seed, splitting)
    return folder if folder or splitting.unties else find(name, dataset_name, splitting=splitting)


def _stamps_of_members(variant: str, dataset_name: str, folder: Path | None, splitting: Splitting) -> dict[str, Stamps]:
    """Return the stamps of each member of a mixture whose fit is in `folder`."""
    names, seed = registry.get(variant).members(dataset_name), 0
    stored = dict.fromkeys(names, "")
    if names and folder:
        with suppress(StoreError, KeyError):  # a damaged fit is made again
            meta = _meta(folder)
            stored, seed = meta["members"], meta["seed"]
    return {name: (then, _member_stamp(name, dataset_name, seed, splitting)) for name, then in stored.items()}


def _member_stamp(name: str, dataset_name: str, seed: int, splitting: Splitting) -> str:
    """Return a text that differs between fits of a member; "" if the member has to be trained first.

    A member that is fitted on first use is determined by its settings and the data, so the stamp is that of its
    settings. It is the same on every machine and before the first fit, so a shipped mixture is valid at once.
    """
    folder, variant = _find_member(name, dataset_name, seed, splitting), registry.get(name)
    if variant.needs_training or (folder is not None and not _is_tuned(folder)):
        return _stamp(folder)
    settings = {"variant": name, "config": to_document(variant.preset(dataset_name))}
    return storage.sha256(json.dumps(settings, sort_keys=True).encode())


def _is_tuned(folder: Path) -> bool:
    """Whether a fit was made on first use with the tuned settings; False where the checkpoint is damaged."""
    with suppress(StoreError):
        return bool(_meta(folder).get("tuned"))
    return False


def _stamp(folder: Path | None) -> str:
    """What tells the checkpoint in a folder from all others; "" where there is none."""
    try:
        return storage.sha256((folder / META).read_bytes()) if folder else ""
    except OSError:  # taken away since it was found
        return ""


def _describe(
    variant: str, model: Model, dataset: Dataset, splitting: Splitting, stamps: dict[str, str]
) -> dict[str, Any]:
    """Return the part of meta.json about the model, its data and the `stamps` of its members."""
    return {
        "variant": variant,
        "config": to_document(model.config),
        "dataset": dataset.name,
        "n_items": dataset.n_items,
        "films": dataset.catalog.fingerprint,
        **({"also": model.also} if model.also else {}),
        **({"members": stamps} if stamps else {}),
        **_learnt_from(model, dataset, splitting),
    }


def _learnt_from(model: Model, dataset: Dataset, splitting: Splitting) -> dict[str, Any]:
    """What would have given another fit, had it been other: the split, the sequences, and what else the model reads."""
    split = splitting(dataset)
    read = {"split": split.description, "fingerprint": dataset.fingerprint}
    if model.uses_times_or_ratings or splitting.reads_times:
        read["details"] = dataset.full_fingerprint
    if model.uses_item_texts:
        texts = texts_with_credits if model.uses_credits else film_texts
        read["texts"] = texts_fingerprint(texts(split.train.catalog))
    return read


def _write(folder: Path, meta: dict[str, Any], model: Model) -> None:
    state = {name: np.asarray(array, order="C") for name, array in model.state().items()}  # safetensors takes no views
    _write_pair(folder, meta, weights_to_bytes(state))


def _write_pair(folder: Path, meta: dict[str, Any], weights: bytes) -> None:
    try:
        storage.write_artifact(folder / META, meta, folder / WEIGHTS, weights)
    except OSError as error:
        raise _cannot_write(folder, error) from error


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot_write(folder, error) from error


def _alone_in(folder: Path) -> AbstractContextManager[None]:
    """Hold the lock of a checkpoint's folder; nothing where the disk takes no folder, as nobody can keep a fit then."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return nullcontext()
    return storage.locked(folder)


def _load(folder: Path, dataset: Dataset, splitting: Splitting, measuring: bool) -> Model:
    """`load`, by a caller who holds the lock."""
    meta, weights = _read(folder)
    variant = meta["variant"]
    command = training_command(variant, dataset.name, splitting.name, meta["seed"])
    if meta["films"] != dataset.catalog.fingerprint:
        known = f"{folder} knows {meta['n_items']} films"
        raise StoreError(f"{known}, which are not the {dataset.n_items} of {dataset.name}", command)
    if meta["split"].get("name") != splitting.name:
        raise StoreError(f"{folder} learnt from another part of {dataset.name} than the one needed", command)
    model = _model(folder, meta, weights, command)
    if any(meta.get(name) != value for name, value in _learnt_from(model, dataset, splitting).items()):
        stale = f"{variant} learnt from other data than {dataset.name} is now"
        if measuring or not model.needs_training:
            raise StoreError(f"{stale}, so it is not measured", command)
        warnings.warn(f"{stale}, so it fits less well; to train it again: {command}", stacklevel=4)
    stamps = attach_members(model, dataset, meta["seed"], splitting=splitting, measuring=measuring)
    if stamps != meta.get("members", {}):
        raise StoreError(f"{variant} stands on others than it was fitted with: they were trained since", command)
    return model


def _model(folder: Path, meta: dict[str, Any], weights: bytes, command: str) -> Model:
    """The model that a checkpoint describes."""
    variant = meta["variant"]
    try:
        row = registry.get(variant)
        model = row.model(row.read_config(meta["config"]))
        model.load_state(_whole(weights), meta["n_items"])
        model.also = meta.get("also", "")
    except (LookupError, TypeError, ValueError, AttributeError, RuntimeError, SafetensorError, RecsysError) as error:
        said = str(error).partition("\n")[0]  # torch lists every tensor
        raise StoreError(f"{folder} was written by another version of {variant} ({said})", command) from error
    return model


def _kept(folder: Path, dataset: Dataset, splitting: Splitting, measuring: bool) -> Model | None:
    """The fit that is already there, or None when it has to be done (again). The caller holds the lock."""
    if not (folder / META).exists():
        return None
    try:
        if _tuned_anew(folder, dataset.name):
            raise StoreError(f"the settings of {_meta(folder)['variant']} have changed since")
        return _load(folder, dataset, splitting, measuring)
    except StoreError as error:
        warnings.warn(f"fitting again, because the kept fit cannot be used: {error.message}", stacklevel=3)
        return None


def _tuned_anew(folder: Path, dataset_name: str) -> bool:
    """Whether a fit was made on first use, with other settings than the tuned ones of now."""
    with suppress(StoreError, LookupError, ValueError):  # damage and other versions are found out elsewhere
        meta = _meta(folder)
        row = registry.get(meta["variant"])
        settings: Any = row.read_config(meta["config"])
        return bool(meta.get("tuned")) and settings != row.preset(dataset_name)
    return False


def _fit(
    folder: Path, variant: str, dataset: Dataset, report: ProgressCallback, splitting: Splitting, measuring: bool
) -> Model:
    """Fit with the tuned settings and keep the result. The caller holds the lock."""
    row, seed = registry.get(variant), int(folder.name.removeprefix("seed-"))
    parts = splitting(dataset, seed)
    model = row.model(row.preset(dataset.name))
    stamps = attach_members(model, dataset, seed, report, splitting, measuring)
    model.fit(parts.train, parts.valid, RunOptions(seed=seed, report=report))
    try:
        fit = {"seed": seed, "notes": {}, "tuned": True}
        _write(folder, _describe(variant, model, dataset, splitting, stamps) | fit, model)
    except StoreError as error:
        warnings.warn(f"the fit will be done again next time: {error}", stacklevel=3)
    return model


def _read(folder: Path) -> tuple[dict[str, Any], bytes]:
    try:
        meta, weights = storage.read_artifact(folder / META, folder / WEIGHTS)
    except (OSError, storage.DamagedFileError) as error:
        raise _unusable(folder, error) from error
    return _formed(folder, meta), weights


def _meta(folder: Path) -> dict[str, Any]:
    try:
        return _formed(folder, storage.read_document(folder / META))
    except (OSError, storage.DamagedFileError) as error:
        raise _unusable(folder, error) from error


def _formed(folder: Path, meta: dict[str, Any]) -> dict[str, Any]:
    """The same, if all that is read of it is there and of its kind; else it raises StoreError."""
    kinds = NEEDED | {name: kind for name, kind in OPTIONAL.items() if name in meta}
    if wrong := [name for name, kind in kinds.items() if not isinstance(meta.get(name), kind)]:
        raise _unusable(folder, storage.DamagedFileError(f"{folder / META} is of another version: it lacks {wrong[0]}"))
    return meta


def training_command(
    variant: str, dataset_name: str, splitting: str = LEAVE_ONE_OUT.name, seed: int | None = None, also: str = ""
) -> str:
    """The command that trains a model on the training part that a splitting gives.

    also: another set whose people it learns from too. A protocol with a splitting of its own has its name.
    """
    protocol = [] if splitting == LEAVE_ONE_OUT.name else ["--protocol", splitting]
    more = [*(["--also", also] if also else []), *(["--seed", str(seed)] if seed else [])]
    return recsys_command("train", variant, "--dataset", dataset_name, *protocol, *more)


def _divided(dataset_name: str, splitting: Splitting) -> str:
    return dataset_name if splitting == LEAVE_ONE_OUT else f"{dataset_name}, divided by {splitting.name}"


def _unusable(folder: Path, error: Exception) -> StoreError:
    """A checkpoint whose files are missing or altered."""
    if folder.is_relative_to(paths.ASSETS):
        return StoreError(str(error), storage.restore_command(folder))
    dataset, splitting, variant, seed = folder.parts[-4:]
    return StoreError(str(error), training_command(variant, dataset, splitting, int(seed.removeprefix("seed-"))))


def _cannot_write(folder: Path, error: OSError) -> StoreError:
    return StoreError(f"cannot write {folder}: {error.strerror}; make room or set RECSYS_HOME to a folder elsewhere")
