"""A trial: a recommender with some settings changed, trained and measured once. Its ranks are kept, not its weights.

Under the home folder, `trials/<data set>/<protocol>/<variant>-<hash of settings and seed>/trial.json`:
{"variant", "config", "seed", "dataset", "protocol", "fingerprint", "valid": {metric: value of the best epoch},
 "ranks": "rank of each hidden item, …", "training": `TrainingSummary.notes`, "run": `machine.describe`}
and, of a mixture, "members": {name: `store.member_stamps`}. It is measured again when a member was trained again.
Several processes may share the work: a trial that another one is at is left to it. So may machines that come after one
another: what was shipped is found in assets/. Shapes: B queries.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from recsys import files, machine, paths, store
from recsys.config import replace_settings, to_document
from recsys.data.schema import Dataset
from recsys.evaluation.protocols import Protocol
from recsys.evaluation.rank_held_out import ranks
from recsys.models import registry
from recsys.models.base import Model
from recsys.progress import Report, ignore
from recsys.training.run import Run
from recsys.training.trainer import RunFolder

FILE = "trial.json"
LOCK = "trial.lock"


@dataclass(frozen=True)
class Trial:
    """What is trained: a variant with its preset for a data set and some `changes`, which may be of its schedule."""

    variant: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    def config(self, dataset: str) -> Any:
        """The settings; raises ConfigError for those that do not exist or cannot work."""
        return replace_settings(registry.get(self.variant).preset(dataset), self.changes)

    def model(self, dataset: str) -> Model:
        """Return the unfitted model. Raises ConfigError as `config` does."""
        return registry.get(self.variant).model(self.config(dataset))

    def folder(self, dataset: str, protocol: str, root: Path | None = None) -> Path:
        """Where it is kept, on this machine or under `root`. Trials of the same settings share a folder."""
        settings = json.dumps([to_document(self.config(dataset)), self.seed], sort_keys=True)
        name = f"{self.variant}-{files.sha256(settings.encode())[:16]}"
        return paths.trial(root or paths.home(), dataset, protocol, name)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of a trial."""

    ranks: np.ndarray  # (B,) of the hidden test items
    valid: dict[str, float]  # metrics of the best epoch on validation
    training: dict[str, Any]  # see `TrainingSummary.notes`
    run: dict[str, Any]  # see `machine.describe`


def read(trial: Trial, dataset: Dataset, protocol: Protocol) -> Outcome | None:
    """Return the stored or shipped outcome of a trial on this data, with these members; None if there is none."""
    members = store.member_stamps(trial.model(dataset.name), dataset.name, trial.seed, protocol.splitting)
    for root in (paths.home(), paths.ASSETS):
        with suppress(OSError, files.DamagedFileError):
            document = files.read_sealed(trial.folder(dataset.name, protocol.name, root) / FILE)
            if document["fingerprint"] == dataset.fingerprint and document.get("members", {}) == members:
                ranks = np.array(document["ranks"].split(), np.int64)
                return Outcome(ranks, document["valid"], document["training"], document["run"])
    return None


def ship(trial: Trial, dataset: Dataset, protocol: Protocol) -> None:
    """Copy a trial of this machine into assets/, where training it took time; so that another machine need not."""
    found = read(trial, dataset, protocol)
    source, target = (trial.folder(dataset.name, protocol.name, root) / FILE for root in (paths.home(), paths.ASSETS))
    if found and found.training and source.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        files.write(target, source.read_bytes())


def measure(trial: Trial, dataset: Dataset, protocol: Protocol, report: Report = ignore) -> Outcome | None:
    """Train, rank the hidden items and keep the outcome; None where another process is at it.

    What is on disk is not done again, neither a finished trial nor a checkpoint of `train` with the very settings, and
    a training that was cut off goes on. Raises ConfigError, TrainingError, DeviceError, and StoreError where one that
    this one stands on has not been trained.
    """
    folder = trial.folder(dataset.name, protocol.name)
    folder.mkdir(parents=True, exist_ok=True)
    with files.try_locked(folder / LOCK) as alone:
        if not alone:
            return None
        if found := read(trial, dataset, protocol):
            return found
        split = protocol.split(dataset, trial.seed)
        model, training = _trained(trial, dataset, protocol) or _train(trial, dataset, protocol, folder, report)
        hidden = ranks(model, split.test, protocol, dataset, report)
        found = Outcome(hidden, training.get("validation", {}), training, machine.describe())
        files.write(folder / FILE, files.seal(_document(trial, found, dataset, protocol)))
        RunFolder(folder).finish()
        return found


def _trained(trial: Trial, dataset: Dataset, protocol: Protocol) -> tuple[Model, dict[str, Any]] | None:
    """The model that `train` has made with these settings and this seed, if there is one, and the notes on it.

    It may be called otherwise: without some of its settings, a variant is another one of the same file. A memory is
    added to a network that has been trained, so without it the network is the same.
    """
    settings = to_document(trial.config(dataset.name))
    without = {name: value for name, value in settings.items() if name != "memory"}
    for name in registry.siblings(trial.variant):
        folder = store.find(name, dataset.name, trial.seed, protocol.splitting)
        with suppress(store.StoreError, OSError, files.DamagedFileError):
            meta = files.read_sealed(folder / store.META) if folder else {}
            if folder and meta["config"] in (settings, without | {"memory": True}):
                model = store.load(folder, dataset, protocol.splitting, measuring=True)
                if not settings.get("memory"):
                    model.drop_memory()
                if not model.also:
                    return model, meta["notes"]
    return None


def _train(
    trial: Trial, dataset: Dataset, protocol: Protocol, folder: Path, report: Report
) -> tuple[Model, dict[str, Any]]:
    """A model trained with the settings of a trial, and the notes on it."""
    split = protocol.split(dataset, trial.seed)
    model = trial.model(dataset.name)
    store.give_members(model, dataset, trial.seed, report, protocol.splitting, measuring=True)
    counts = registry.count_configs(model.config, dataset.name)
    run = Run(seed=trial.seed, folder=folder, resume=True, report=report, count_configs=counts)
    model.fit(split.train, split.valid, run)
    return model, model.training_summary.notes() if model.training_summary else {}


def _document(trial: Trial, found: Outcome, dataset: Dataset, protocol: Protocol) -> dict[str, Any]:
    """Return the document of a trial."""
    members = store.member_stamps(trial.model(dataset.name), dataset.name, trial.seed, protocol.splitting)
    return {
        "variant": trial.variant,
        "config": to_document(trial.config(dataset.name)),
        "seed": trial.seed,
        "dataset": dataset.name,
        "protocol": protocol.name,
        "fingerprint": dataset.fingerprint,
        "valid": found.valid,
        "ranks": " ".join(map(str, found.ranks)),  # on one line
        "training": found.training,
        "run": found.run,
        **({"members": members} if members else {}),
    }
