"""Trials: a recommender with some settings changed, trained and measured once. The ranks are stored, not the weights.

A stored trial is an entry `<recommender>-<hash>` of a board `trials/<data set>/<protocol>.json`, in the home folder or
in assets/. Several processes may share a home folder, so a process locks the trial that it runs. After a member of a
mixture was trained again, trials of the mixture are run again.

Shapes: B test users.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from recsys import boards, checkpoints, errors, machine, paths, storage
from recsys.config import replace_settings, to_document
from recsys.data.dataset import Dataset
from recsys.evaluation.protocols import Protocol
from recsys.evaluation.rank import rank_held_out
from recsys.models import registry
from recsys.models.base import Model
from recsys.progress import ProgressCallback, no_progress
from recsys.training.options import RunOptions
from recsys.training.trainer import RunFolder

LOCK = "trial.lock"
OLDER_FILE = "trial.json"  # older versions stored a trial in this file of its folder


@dataclass(frozen=True)
class Trial:
    """A recommender, the settings that differ from its preset for the data set, and the seed of the training."""

    recommender: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    def config(self, dataset: str) -> Any:
        """Return the config for a data set. Raise ConfigError if a setting is unknown or has an invalid value."""
        return replace_settings(registry.get(self.recommender).preset(dataset), self.changes)

    def model(self, dataset: str) -> Model:
        """Return the unfitted model. Raise ConfigError as `config` does."""
        return registry.get(self.recommender).model(self.config(dataset))

    def name(self, dataset: str) -> str:
        """Return the name in the board. Trials with equal configs and seeds share it."""
        settings = json.dumps([to_document(self.config(dataset)), self.seed], sort_keys=True)
        return f"{self.recommender}-{storage.sha256(settings.encode())[:16]}"

    def folder(self, dataset: str, protocol: str) -> Path:
        """Return the folder of the training in the home folder."""
        return paths.trial_run(dataset, protocol, self.name(dataset))


@dataclass(frozen=True, eq=False)
class Outcome:
    """The measurements of a trial."""

    ranks: np.ndarray  # (B,) ranks of the held-out test items
    valid: dict[str, float]  # validation metrics of the best epoch
    training: dict[str, Any]  # see `TrainingSummary.notes`; {} if the model was not trained in epochs
    run: dict[str, Any]  # `machine.describe`


def read(trial: Trial, dataset: Dataset, protocol: Protocol) -> Outcome | None:
    """Return the outcome of a trial from the home folder, else from assets/. None: see `_read`."""
    return _read(trial, dataset, protocol, paths.home()) or _read(trial, dataset, protocol, paths.ASSETS)


def ship(trial: Trial, dataset: Dataset, protocol: Protocol) -> None:
    """Copy a trial with a trained model from the home folder to assets/, so that nobody has to train it again."""
    if (outcome := _read(trial, dataset, protocol, paths.home())) and outcome.training:
        _write(trial, dataset, protocol, paths.ASSETS, outcome)


def measure(
    trial: Trial, dataset: Dataset, protocol: Protocol, report: ProgressCallback = no_progress
) -> Outcome | None:
    """Train the model of a trial, rank the held-out test items, and store the outcome.

    A stored outcome is returned at once. A checkpoint of the command `train` with the same config is used instead of a
    training. An interrupted training is resumed. Returns None if another process is running the trial. Raises
    RecsysError if a setting or device is invalid, the training fails, or a member of a mixture has not been trained.
    """
    folder = trial.folder(dataset.name, protocol.name)
    folder.mkdir(parents=True, exist_ok=True)
    with storage.try_locked(folder / LOCK) as has_lock:
        if not has_lock:
            return None
        if outcome := read(trial, dataset, protocol):
            return outcome
        model, training = _load(trial, dataset, protocol) or _train(trial, dataset, protocol, report)
        test = protocol.split(dataset, trial.seed).test
        ranks = rank_held_out(model, test, protocol, dataset, report, trial.seed, with_lists=False).ranks
        outcome = Outcome(ranks, training.get("validation", {}), training, machine.describe())
        _write(trial, dataset, protocol, paths.home(), outcome)
        RunFolder(folder).finish()  # deletes the resumable state
        return outcome


def _read(trial: Trial, dataset: Dataset, protocol: Protocol, root: Path) -> Outcome | None:
    """Return the outcome of a trial from a board in `root`, the home folder or assets/. Warns of damaged files.

    Returns None if there is no outcome, or if the data or a member of the recommender has changed since then.
    """
    name, board = trial.name(dataset.name), paths.trials(root, dataset.name, protocol.name)
    older_file = trial.folder(dataset.name, protocol.name) / OLDER_FILE
    try:
        if name in (documents := boards.read(board)):
            document, ranks = documents[name], boards.read_ranks(board, [name])[name]
        elif root == paths.home() and older_file.exists():
            document = storage.read_document(older_file)
            document["run"].pop("sha256", None)  # the hash of the older file, which `write_document` adds to `run`
            ranks = np.array(document["ranks"].split())
        else:
            return None
    except (OSError, storage.DamagedFileError) as error:
        errors.warn(errors.RecsysError("{reason}, so a trial is run again", reason=str(error)))
        return None
    full_fingerprint = document.get("data_sha256", dataset.full_fingerprint)  # documents of older versions have none
    identity = document["fingerprint"], full_fingerprint, document.get("members", {})
    if identity != (dataset.fingerprint, dataset.full_fingerprint, _member_versions(trial, dataset, protocol)):
        return None
    return Outcome(ranks.astype(np.int64), document["valid"], document["training"], document["run"])


def _write(trial: Trial, dataset: Dataset, protocol: Protocol, root: Path, outcome: Outcome) -> None:
    """Write the outcome of a trial to a board in `root`, the home folder or assets/."""
    document = {
        "variant": trial.recommender,
        "config": to_document(trial.config(dataset.name)),
        "seed": trial.seed,
        "dataset": dataset.name,
        "protocol": protocol.name,
        "fingerprint": dataset.fingerprint,  # of the histories
        "data_sha256": dataset.full_fingerprint,  # of the histories, times and ratings
        "valid": outcome.valid,
        "training": outcome.training,
        "run": outcome.run,
    }
    if members := _member_versions(trial, dataset, protocol):
        document["members"] = members
    name = trial.name(dataset.name)
    boards.update(paths.trials(root, dataset.name, protocol.name), {name: document}, {name: outcome.ranks})


def _member_versions(trial: Trial, dataset: Dataset, protocol: Protocol) -> dict[str, str]:
    """Return member → version of its checkpoint, {} if the recommender is not a mixture."""
    return checkpoints.member_versions(trial.model(dataset.name), dataset.name, trial.seed, protocol.splitting)


def _load(trial: Trial, dataset: Dataset, protocol: Protocol) -> tuple[Model, dict[str, Any]] | None:
    """Return the model of a checkpoint with the config and seed of a trial, and the notes of its training, or None.

    Changed settings can make two recommenders of a model class equal, so checkpoints of all of them are tried. A trial
    without the setting `memory` can use a checkpoint with a count memory, which is fitted after the network.
    """
    config = to_document(trial.config(dataset.name))
    configs = (config, config | {"memory": True})
    for name in registry.siblings(trial.recommender):
        with suppress(checkpoints.CheckpointError, ValueError):
            if folder := checkpoints.find(name, dataset.name, trial.seed, protocol.splitting):
                meta = checkpoints.read_meta(folder)
                if to_document(registry.get(name).read_config(meta.config)) in configs:
                    model = checkpoints.load(folder, dataset, protocol.splitting, reject_stale=True)
                    if not config.get("memory"):
                        model.remove_count_memory()
                    if not model.added_dataset:  # no second data set was added to the training data
                        return model, meta.notes
    return None


def _train(
    trial: Trial, dataset: Dataset, protocol: Protocol, report: ProgressCallback
) -> tuple[Model, dict[str, Any]]:
    """Train a model with the config and seed of a trial, and return it with the notes of its training."""
    split = protocol.split(dataset, trial.seed)
    model = trial.model(dataset.name)
    checkpoints.attach_members(model, dataset, trial.seed, report, protocol.splitting, reject_stale=True)
    run = RunOptions(
        seed=trial.seed,
        folder=trial.folder(dataset.name, protocol.name),
        resume=True,
        report=report,
        count_configs=registry.count_configs(model.config, dataset.name),
    )
    model.fit(split.train, split.valid, run)
    return model, model.training_summary.notes() if model.training_summary else {}
