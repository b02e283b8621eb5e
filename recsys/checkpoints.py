"""Save, find and load checkpoints: the weights of fitted models, with the document meta.json.

A checkpoint contains fingerprints of its training data. A model that needs no training is fitted on first use, and
again after the data or its preset has changed. A mixture combines other models, its members. Its checkpoint stores the
versions of the members' checkpoints. It is invalid if one of these versions changes. Loading a checkpoint does not
execute code from its files.
"""

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from safetensors import SafetensorError
from safetensors.numpy import load as weights_from_bytes
from safetensors.numpy import save as weights_to_bytes

from recsys import paths, storage
from recsys.config import to_document
from recsys.data.dataset import Dataset
from recsys.data.split import LEAVE_ONE_OUT, SPLITTINGS, Splitting
from recsys.errors import Message, RecsysError, disk_errors, recsys_command, restore_command
from recsys.models import registry
from recsys.models.base import Model
from recsys.progress import ProgressCallback, no_progress
from recsys.text import fields
from recsys.text.films import film_texts, texts_fingerprint, texts_with_credits
from recsys.training.options import RunOptions

META = "meta.json"
WEIGHTS = "weights.safetensors"  # the stored file also has a hash in its name
COUNTS = "../counts.safetensors"  # the counts of `CountMemory`, in a file that shipped checkpoints share
COUNT_PREFIXES = ("memory.followers.", "memory.companions.")  # start of the names of these arrays in `Model.state`
MAX_FLOAT16 = 60_000  # below the highest 16-bit number, 65,504; arrays with larger weights stay in 32 bits


class CheckpointError(RecsysError):
    """A checkpoint cannot be written or used."""


class CheckpointMeta(BaseModel):
    """Content of meta.json."""

    model_config = ConfigDict(strict=True)

    variant: str  # name of the recommender
    config: dict[str, Any]
    n_items: int
    films_fingerprint: str = Field(alias="films")  # `Catalog.fingerprint` of the items
    split: dict[str, Any]  # `Split.description`
    seed: int
    fingerprint: str | None = None  # `Dataset.fingerprint` of the histories
    full_fingerprint: str | None = Field(None, alias="details")  # also of times and ratings, if the model reads these
    texts_fingerprint: str | None = Field(None, alias="texts")  # of the texts of items, if the model reads these
    notes: dict[str, Any] = {}  # `TrainingSummary.notes`
    members: dict[str, str] = {}  # member of a mixture → version of its checkpoint
    added_dataset: str = Field("", alias="also")  # second data set that the model was trained on
    is_fitted_on_first_use: bool = Field(False, alias="tuned")  # such a fit has the settings of the preset


def save(
    variant: str,
    model: Model,
    dataset: Dataset,
    seed: int,
    notes: dict[str, Any] | None = None,
    splitting: Splitting = LEAVE_ONE_OUT,
    members: dict[str, str] | None = None,
    is_fitted_on_first_use: bool = False,
) -> Path:
    """Write the checkpoint of a model fitted to the training part of a data set, and return its folder.

    For the arguments after `dataset`, see `CheckpointMeta`. Without `members`, the current versions of the members are
    stored. After a CheckpointError, the old checkpoint is intact.
    """
    folder = paths.checkpoint(dataset.name, splitting.name, variant, seed)
    meta = {
        "variant": variant,
        "config": to_document(model.config),
        "dataset": dataset.name,
        "n_items": dataset.n_items,
        "films": dataset.catalog.fingerprint,
        "seed": seed,
        "notes": notes or {},
        **_training_data_fields(model, dataset, splitting),
    }
    if members is None:
        members = member_versions(model, dataset.name, seed, splitting)
    optional = {"also": model.added_dataset, "members": members, "tuned": is_fitted_on_first_use}
    meta |= {name: value for name, value in optional.items() if value}
    _write(folder, meta, {WEIGHTS: model.state()})
    return folder


def load(folder: Path, dataset: Dataset, splitting: Splitting = LEAVE_ONE_OUT, reject_stale: bool = False) -> Model:
    """Return the model of a checkpoint, ready to score the items of a data set.

    Raises CheckpointError if a file is missing or altered, or if the model was fitted to other items, another splitting
    or other data. For a model that needs training, changed data is only a warning. With `reject_stale`, which
    evaluations set, it is an error.
    """
    meta, payloads = _read(folder)
    variant, dataset_name = meta.variant, dataset.name
    command = training_command(variant, dataset_name, splitting.protocol, meta.seed)
    if meta.films_fingerprint != dataset.catalog.fingerprint:
        text = "{folder} was trained on {n_trained} films that are not the same as the {n_items} films of {name}"
        sizes = {"n_trained": meta.n_items, "n_items": dataset.n_items}
        raise CheckpointError(text, command, folder=folder, name=dataset_name, **sizes)
    if meta.split.get("name") != splitting.name:
        text = "{folder} was trained on a different part of {name}"
        raise CheckpointError(text, command, folder=folder, name=dataset_name)
    model = _build(folder, meta, payloads, command)
    stored_fields = meta.model_dump(by_alias=True)
    current_fields = _training_data_fields(model, dataset, splitting)
    if any(stored_fields[key] != value for key, value in current_fields.items()):
        text = "the data of {name} changed after {variant} was trained"
        error = CheckpointError(text, command, name=dataset_name, variant=variant)
        if reject_stale or not model.needs_training:
            raise error
        warnings.warn(f"{error.message}, so it fits less well; to train it again: {command}", stacklevel=3)
    versions = attach_members(model, dataset, meta.seed, splitting=splitting, reject_stale=reject_stale)
    if versions != meta.members:
        raise CheckpointError("{variant} was fitted before its members were trained again", command, variant=variant)
    return model


def load_or_fit(
    variant: str,
    dataset: Dataset,
    seed: int | None = None,
    report: ProgressCallback = no_progress,
    splitting: Splitting = LEAVE_ONE_OUT,
    reject_stale: bool = False,
) -> Model:
    """Load the checkpoint that `find` returns, see `load`. A model that needs no training is fitted if necessary.

    Raises UnknownModelError, and CheckpointError if the recommender or one of its members must be trained first.
    """
    folder = find(variant, dataset.name, seed, splitting)
    if registry.get(variant).needs_training:
        if folder is None:
            data: str | Message = dataset.name
            if splitting != LEAVE_ONE_OUT:
                data = Message("{dataset} with the split “{splitting}”", dataset=dataset.name, splitting=splitting.name)
            command = training_command(variant, dataset.name, splitting.protocol, seed)
            raise CheckpointError("no checkpoint for {variant} on {name}", command, variant=variant, name=data)
        return load(folder, dataset, splitting, reject_stale)
    if folder == paths.shipped_checkpoint(dataset.name, splitting.name, variant):
        if model := _load_if_current(folder, dataset, splitting, reject_stale):
            return model
        folder = None  # a new fit is written to the home folder
    folder = folder or paths.checkpoint(dataset.name, splitting.name, variant, seed or 0)
    with storage.locked(folder):  # other threads and processes wait for this fit
        model = _load_if_current(folder, dataset, splitting, reject_stale)
        fit_seed = paths.checkpoint_seed(folder)  # `find` may have chosen it
        return model or _fit(variant, dataset, fit_seed or 0, report, splitting, reject_stale)


def seeds(variant: str, dataset_name: str, splitting: Splitting = LEAVE_ONE_OUT) -> list[int]:
    """Return the seeds of the checkpoints in the home folder, ascending, or else the seed of the shipped checkpoint."""
    location = (dataset_name, splitting.name, variant)  # the first arguments of functions of `paths`
    home_seeds = [seed for seed in paths.seeds(*location) if (paths.checkpoint(*location, seed) / META).exists()]
    shipped = paths.shipped_checkpoint(*location)
    if not home_seeds and (shipped / META).exists():
        return [read_meta(shipped).seed]
    return home_seeds


def find(variant: str, dataset_name: str, seed: int | None = None, splitting: Splitting = LEAVE_ONE_OUT) -> Path | None:
    """Return the folder of a checkpoint, None if there is none. Without a seed, all seeds are candidates.

    A checkpoint in the home folder is preferred to the shipped checkpoint, and a lower seed to a higher seed. For a
    mixture, a checkpoint that was fitted with the current members is preferred to all others.
    """
    location = (dataset_name, splitting.name, variant)  # the first arguments of functions of `paths`
    folders = [paths.checkpoint(*location, number) for number in (paths.seeds(*location) if seed is None else [seed])]
    folders = [folder for folder in folders if (folder / META).exists()]
    shipped = paths.shipped_checkpoint(*location)
    if (shipped / META).exists() and (seed is None or _has_seed(shipped, seed)):
        folders.append(shipped)
    if len(folders) > 1 and registry.get(variant).members(dataset_name):
        return next((folder for folder in folders if _has_current_members(folder, dataset_name, splitting)), folders[0])
    return folders[0] if folders else None


def _has_seed(folder: Path, seed: int) -> bool:
    """Return whether a checkpoint has a seed. A damaged meta.json counts, so that `load` reports the damage."""
    with suppress(CheckpointError):
        return read_meta(folder).seed == seed
    return True


def _has_current_members(folder: Path, dataset_name: str, splitting: Splitting) -> bool:
    """Return whether the checkpoint of a mixture was fitted with the current versions of its members."""
    with suppress(CheckpointError):  # a damaged checkpoint has none
        meta = read_meta(folder)
        versions = {name: _member_version(name, dataset_name, meta.seed, splitting) for name in meta.members}
        return versions == meta.members
    return False


def training_notes(
    variant: str, dataset_name: str, splitting: Splitting = LEAVE_ONE_OUT, seed: int | None = None
) -> dict[str, Any]:
    """Return the training notes of the checkpoint that `find` returns, {} if there is no checkpoint."""
    with suppress(CheckpointError):
        if folder := find(variant, dataset_name, seed, splitting):
            return read_meta(folder).notes
    return {}


def checkpoint_version(variant: str, dataset_name: str, splitting: Splitting = LEAVE_ONE_OUT) -> str:
    """Return a text that changes if the checkpoint of `find` or a member changes, "" if there is no checkpoint."""
    version = _meta_hash(find(variant, dataset_name, splitting=splitting))
    _, members = _stored_and_current_versions(variant, dataset_name, splitting)
    return storage.sha256(" ".join([version, *members.values()]).encode()) if version and members else version


def all_checkpoints_version(dataset_name: str, splitting: Splitting = LEAVE_ONE_OUT) -> str:
    """Return a text that changes when any checkpoint of a data set is written or deleted."""
    trained = paths.checkpoints(paths.home(), dataset_name, splitting.name)
    shipped = paths.checkpoints(paths.ASSETS, dataset_name, splitting.name)
    return storage.version(*sorted(trained.glob(f"*/seed-*/{META}")), *sorted(shipped.glob(f"*/{META}")))


def recommenders_to_train(variant: str, dataset_name: str, splitting: Splitting = LEAVE_ONE_OUT) -> list[str]:
    """Return the recommenders that must be trained before `load_or_fit` can return this one: its members, or itself."""
    _, members = _stored_and_current_versions(variant, dataset_name, splitting)
    missing = [member for member, version in members.items() if not version]
    if find(variant, dataset_name, splitting=splitting) is None:
        missing.append(variant)
    return [name for name in missing if registry.get(name).needs_training]


def is_ready(variant: str, dataset_name: str, splitting: Splitting = LEAVE_ONE_OUT) -> bool:
    """Return whether neither the recommender nor any of its members must be trained or fitted."""
    _, members = _stored_and_current_versions(variant, dataset_name, splitting)
    return all(has_current_checkpoint(name, dataset_name, splitting) for name in (variant, *members))


def has_current_checkpoint(variant: str, dataset_name: str, splitting: Splitting = LEAVE_ONE_OUT) -> bool:
    """Return whether there is a checkpoint with the current members and, if fitted on first use, the current preset.

    The members themselves may still have to be fitted. A damaged meta.json of a model that needs training counts as a
    checkpoint, because `load_or_fit` raises an error and does not fit the model again. The weights are not read.
    """
    folder = find(variant, dataset_name, splitting=splitting)
    if folder is None:
        return False
    if not registry.get(variant).needs_training:
        try:
            _check_settings(folder, dataset_name)
        except CheckpointError:
            return False
    stored, current = _stored_and_current_versions(variant, dataset_name, splitting)
    return stored == current


def attach_members(
    model: Model,
    dataset: Dataset,
    seed: int,
    report: ProgressCallback = no_progress,
    splitting: Splitting = LEAVE_ONE_OUT,
    reject_stale: bool = False,
) -> dict[str, str]:
    """Give a mixture its fitted members, and return their versions by name. For other models, {} is returned.

    A member has the seed of the model. If there is no checkpoint with this seed, and the splitting is not seeded, the
    member is the checkpoint of `find` without a seed. Raises CheckpointError if a member must be trained first, or
    has members itself.
    """
    members = {}
    for member in model.members:
        if registry.get(member).members(dataset.name):
            text = "{title} cannot combine {name}, which is a mixture; use its members instead"
            raise CheckpointError(text, title=Message(model.title), name=member)
        member_seed = seed if splitting.is_seeded or find(member, dataset.name, seed, splitting) else None
        members[member] = load_or_fit(member, dataset, member_seed, report, splitting, reject_stale)
    if members:
        model.set_members(members)
    return member_versions(model, dataset.name, seed, splitting)


def member_versions(model: Model, dataset_name: str, seed: int, splitting: Splitting = LEAVE_ONE_OUT) -> dict[str, str]:
    """Return the current version of each member of a model, "" for a member that must be trained."""
    return {member: _member_version(member, dataset_name, seed, splitting) for member in model.members}


def read_meta(folder: Path) -> CheckpointMeta:
    """Return the content of meta.json. If it is invalid, raises CheckpointError with the command that restores it."""
    with _read_errors(folder):
        return CheckpointMeta.model_validate(storage.read_document(folder / META))


def check(folder: Path) -> None:
    """Read all files of a checkpoint. Raises CheckpointError, with a command that restores it, if a file is damaged."""
    with _read_errors(folder):
        storage.check(folder / META)
        CheckpointMeta.model_validate(storage.read_document(folder / META))


def ship(variant: str, dataset_name: str, seed: int, splitting: Splitting = LEAVE_ONE_OUT) -> Path:
    """Copy a checkpoint and its training log into assets/ with 16-bit weights, and return the folder.

    Ship the members of a mixture first. Then fit the mixture in an empty home folder, so that it uses the shipped
    members. Raises CheckpointError if the state of the model contains histories of users, or if the model is fitted on
    first use and is not a mixture.
    """
    recommender = registry.get(variant)
    if not recommender.needs_training and not recommender.members(dataset_name):
        text = "{variant} is fitted on first use, so it is not shipped; ship a model that needs training"
        raise CheckpointError(text, variant=variant)
    if recommender.model_class.state_has_histories:
        text = "{variant} contains people's histories, which must not be shared; ship another model"
        raise CheckpointError(text, variant=variant)
    source = paths.checkpoint(dataset_name, splitting.name, variant, seed)
    target = paths.shipped_checkpoint(dataset_name, splitting.name, variant)
    _, payloads = _read(source)
    state = to_float16(_arrays(payloads))
    counts = {name: array for name, array in state.items() if name.startswith(COUNT_PREFIXES)}
    states = {WEIGHTS: {name: array for name, array in state.items() if name not in counts}}
    if counts:
        states[COUNTS] = counts
    _write(target, storage.read_document(source / META), states)
    if (source / paths.LOG).exists():
        with disk_errors(target, CheckpointError):
            storage.replace_file(target / paths.LOG, (source / paths.LOG).read_bytes())
    return target


def to_float16(state: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Round 32-bit weights to 16 bits, except arrays with weights of MAX_FLOAT16 or more."""
    rounded = dict(state)
    for name, array in state.items():
        if array.dtype == np.float32 and np.abs(array).max(initial=0) < MAX_FLOAT16:
            rounded[name] = array.astype(np.float16)
    return rounded


def training_command(
    variant: str,
    dataset_name: str,
    protocol: str = LEAVE_ONE_OUT.protocol,
    seed: int | None = None,
    added_dataset: str = "",
) -> str:
    """Return the command that trains a recommender for a protocol. With `added_dataset`, also on that data set."""
    options = ["--protocol", protocol] if protocol != LEAVE_ONE_OUT.protocol else []
    options += ["--also", added_dataset] if added_dataset else []
    options += ["--seed", str(seed)] if seed else []
    return recsys_command("train", variant, "--dataset", dataset_name, *options)


def _training_data_fields(model: Model, dataset: Dataset, splitting: Splitting) -> dict[str, Any]:
    """Return the fields of meta.json about the data that the model is fitted to."""
    split = splitting(dataset)
    fields_of_data: dict[str, Any] = {"split": split.description, "fingerprint": dataset.fingerprint}
    if model.uses_times_or_ratings or splitting.reads_times:
        fields_of_data["details"] = dataset.full_fingerprint
    if model.uses_item_texts:
        read_texts = texts_with_credits if model.uses_credits else film_texts
        texts = read_texts(split.train.catalog)
        if model.uses_field_vectors:
            texts = [*texts, fields.fingerprint(dataset.name)]
        fields_of_data["texts"] = texts_fingerprint(texts)
    return fields_of_data


def _stored_and_current_versions(
    variant: str, dataset_name: str, splitting: Splitting
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the member versions that the checkpoint of a mixture stores, and the current versions, each by member.

    A version is "" if there is none. Both dictionaries are empty if the recommender is not a mixture.
    """
    stored = dict.fromkeys(registry.get(variant).members(dataset_name), "")
    seed = 0
    if stored and (folder := find(variant, dataset_name, splitting=splitting)):
        with suppress(CheckpointError):  # a damaged checkpoint is fitted again
            meta = read_meta(folder)
            if meta.members:
                stored, seed = meta.members, meta.seed
    return stored, {member: _member_version(member, dataset_name, seed, splitting) for member in stored}


def _member_version(member: str, dataset_name: str, seed: int, splitting: Splitting) -> str:
    """Return the version of a member, "" if it must be trained.

    There are three kinds of members:

    - A member that needs training: the version is the hash of meta.json.
    - A member that is or will be fitted on first use: the version is a hash of its preset and of the sentence vectors
      that it reads. This hash is the same on all machines, even before the fit, so a shipped mixture is valid at once.
    - A member that needs no training, but was fitted by the command `train`, perhaps with other settings: the version
      is the hash of meta.json.
    """
    recommender, folder = registry.get(member), find(member, dataset_name, seed, splitting)
    if folder is None and not splitting.is_seeded:
        folder = find(member, dataset_name, splitting=splitting)
    if recommender.needs_training:
        return _meta_hash(folder)
    uses_preset = folder is None  # the fit on first use will use it
    if folder:
        with suppress(CheckpointError):  # a damaged checkpoint counts as fitted by `train`
            uses_preset = read_meta(folder).is_fitted_on_first_use
    settings = {"variant": member, "config": to_document(recommender.preset(dataset_name))}
    if recommender.model().uses_field_vectors:
        settings["fields"] = fields.fingerprint(dataset_name)
    return storage.sha256(json.dumps(settings, sort_keys=True).encode()) if uses_preset else _meta_hash(folder)


def _meta_hash(folder: Path | None) -> str:
    """Return the SHA-256 of the meta.json of a checkpoint, "" if there is no checkpoint."""
    try:
        return storage.sha256((folder / META).read_bytes()) if folder else ""
    except OSError:  # deleted in the meantime
        return ""


def _build(folder: Path, meta: CheckpointMeta, payloads: Sequence[bytes], command: str) -> Model:
    """Return the model of a checkpoint. 16-bit weights become 32-bit weights."""
    variant = meta.variant
    try:
        recommender = registry.get(variant)
        model = recommender.model(recommender.read_config(meta.config))
        state = _arrays(payloads)
        for name, array in state.items():
            state[name] = array.astype(np.float32) if array.dtype == np.float16 else array
        model.load_state(state, meta.n_items)
        model.added_dataset = meta.added_dataset
    except (LookupError, TypeError, ValueError, AttributeError, RuntimeError, SafetensorError, RecsysError) as error:
        # first line only, because torch lists every tensor
        reason = error if isinstance(error, RecsysError) else str(error).partition("\n")[0]
        text = "{folder} was written by another version of {variant} ({reason})"
        raise CheckpointError(text, command, folder=folder, variant=variant, reason=reason) from error
    return model


def _load_if_current(folder: Path, dataset: Dataset, splitting: Splitting, reject_stale: bool) -> Model | None:
    """Return the model of a checkpoint. Returns None if there is none, or if the model must be fitted again."""
    if not (folder / META).exists():
        return None
    try:
        _check_settings(folder, dataset.name)
        return load(folder, dataset, splitting, reject_stale)
    except CheckpointError as error:
        warnings.warn(f"fitting again, because the stored model cannot be used: {error.message}", stacklevel=3)
        return None


def _check_settings(folder: Path, dataset_name: str) -> None:
    """Raise CheckpointError if the settings in meta.json require that a model is fitted again.

    Either the file is damaged, or it has settings of another version, or the model was fitted on first use and its
    preset has changed since.
    """
    meta = read_meta(folder)
    try:
        recommender = registry.get(meta.variant)
        config: Any = recommender.read_config(meta.config)
        is_current = config == recommender.preset(dataset_name) or not meta.is_fitted_on_first_use
    except (LookupError, ValueError, RecsysError):  # settings of another version
        is_current = False
    if not is_current:
        raise CheckpointError("the settings of {variant} have changed since it was fitted", variant=meta.variant)


def _fit(
    variant: str, dataset: Dataset, seed: int, report: ProgressCallback, splitting: Splitting, reject_stale: bool
) -> Model:
    """Fit a model with its preset and save it. If it cannot be saved, warn."""
    recommender, split = registry.get(variant), splitting(dataset, seed)
    model = recommender.model(recommender.preset(dataset.name))
    members = attach_members(model, dataset, seed, report, splitting, reject_stale)
    model.fit(split.train, split.valid, RunOptions(seed=seed, report=report))
    try:
        save(variant, model, dataset, seed, splitting=splitting, members=members, is_fitted_on_first_use=True)
    except CheckpointError as error:
        warnings.warn(f"the fit will be done again next time: {error}", stacklevel=3)
    return model


def _write(folder: Path, meta: dict[str, Any], states: Mapping[str, Mapping[str, np.ndarray]]) -> None:
    """Write a checkpoint. `states`: name of a payload → name of an array → array."""
    payloads = {
        payload: weights_to_bytes({name: np.asarray(array, order="C") for name, array in state.items()})
        for payload, state in states.items()
    }
    with disk_errors(folder, CheckpointError):
        storage.write_document(folder / META, meta, payloads)


def _read(folder: Path) -> tuple[CheckpointMeta, list[bytes]]:
    """Return the content of meta.json and the payloads. Raises CheckpointError."""
    with _read_errors(folder):
        document, payloads = storage.read_payloads(folder / META)
        return CheckpointMeta.model_validate(document), payloads


def _arrays(payloads: Sequence[bytes]) -> dict[str, np.ndarray]:
    """Return the arrays of all payloads of a checkpoint by name."""
    return {name: array for payload in payloads for name, array in weights_from_bytes(payload).items()}


@contextmanager
def _read_errors(folder: Path) -> Iterator[None]:
    """Turn errors about missing, altered or invalid files into CheckpointError with the command that restores them."""
    try:
        yield
    except (OSError, storage.DamagedFileError, ValidationError) as error:
        if isinstance(error, FileNotFoundError):
            message = Message("no checkpoint in {folder}", folder=folder)
        elif isinstance(error, ValidationError):
            field = error.errors()[0]["loc"][0]
            message = Message(
                "{meta} was written by another version: it lacks {field}", meta=folder / META, field=field
            )
        else:
            message = error.sentence if isinstance(error, RecsysError) else Message.literal(str(error))
        if folder.is_relative_to(paths.ASSETS):
            command = restore_command(folder.parent)  # with the counts that checkpoints share
        else:
            dataset_name, splitting_name, variant, _ = folder.parts[-4:]  # see `paths.checkpoint`
            protocol = SPLITTINGS.get(splitting_name, LEAVE_ONE_OUT).protocol
            command = training_command(variant, dataset_name, protocol, paths.checkpoint_seed(folder))
        raise CheckpointError(message, command) from error
