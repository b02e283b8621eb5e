"""The command `train`. Every setting of a recommender is a flag, whose help is the comment beside the field."""

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar

from recsys import DEFAULT_DATASET
from recsys.cli.options import Flag, ProtocolName, conf, read
from recsys.config import NonNegative, Seed, config_class
from recsys.progress import ProgressCallback, TerminalProgress, print_json

Config = TypeVar("Config")
ADDED_DATASET_HELP = "another MovieLens set on this computer, whose users are added to the training data"


# parses only the first argument, the recommender; the docstring is the text of `train --help`
def choose(model: Annotated[str, conf.Positional, conf.arg(help="a recommender: bert4rec, markov, item-knn …")]) -> str:
    """Train a recommender and save its checkpoint. To list its flags: train RECOMMENDER --help."""
    return model


@config_class
class Options:
    """Options of the command `train` that do not depend on the recommender."""

    model: Annotated[str, conf.Suppress, conf.Fixed] = ""
    dataset: str = DEFAULT_DATASET  # a data set on this computer
    protocol: ProtocolName = "full"  # the evaluation protocol; protocols with equal training parts share a checkpoint
    added_dataset: Annotated[str, conf.arg(name="also", help=ADDED_DATASET_HELP)] = ""
    device: str = "auto"  # auto (a GPU if available), cpu, cuda, cuda:1 …
    seed: Seed = 0  # seed of the random numbers
    resume: Flag = False  # continue a training that was stopped, with the same settings
    save_every: NonNegative = 60.0  # seconds between two saves of the training state
    precision: Literal["auto", "fp32", "bf16"] = "auto"  # precision of matrix products
    compile: Flag = False  # compile the network with torch.compile
    json: Flag = False  # print the progress as JSON lines
    ship: Flag = False  # also copy the checkpoint into assets/


@config_class
class Train(Options, Generic[Config]):
    """Train a recommender and save its checkpoint. The default settings depend on the data set."""

    settings: Config = field(kw_only=True)

    def __call__(self) -> None:
        """Train, save the checkpoint and print a line for each epoch to stdout."""
        from recsys.errors import recsys_command

        with nullcontext(print_json) if self.json else TerminalProgress() as report:
            folder = self._train(report)
        if folder and not self.json:
            evaluate = recsys_command("evaluate", self.model, "--dataset", self.dataset, "--protocol", self.protocol)
            print(f"saved in {folder}\nto evaluate it: {evaluate}")

    def _train(self, report: ProgressCallback) -> Path | None:
        """Train and return the checkpoint folder; None in all processes but the main process, which saves."""
        from recsys import checkpoints, paths
        from recsys.data import datasets
        from recsys.data.assemble import add_users_from
        from recsys.data.split import BY_TIME
        from recsys.evaluation import protocols
        from recsys.models import registry
        from recsys.training import device as devices
        from recsys.training import distributed
        from recsys.training.options import RunOptions
        from recsys.training.trainer import RunFolder

        recommender, dataset = registry.get(self.model), datasets.ensure(self.dataset, report)
        splitting = protocols.get(self.protocol).splitting
        split = splitting(dataset, self.seed)
        training_part = split.train
        if self.added_dataset:
            # with a split by date, later ratings of the added users must not be used
            last_time = int(training_part.interactions.timestamp.max()) if splitting == BY_TIME else None
            other_dataset = datasets.ensure(self.added_dataset, report)
            training_part = add_users_from(other_dataset, training_part, dataset, last_time)
        device = devices.choose(self.device)
        folder = paths.checkpoint(self.dataset, splitting.name, self.model, self.seed)
        run_folder = RunFolder(folder)
        with distributed.process_group(device), run_folder.lock():
            if self.resume and not run_folder.state_path.exists():
                self._check_new_training(folder)
            model = recommender.model(self.settings)
            checkpoints.attach_members(model, dataset, self.seed, report, splitting)
            options = RunOptions(
                seed=self.seed,
                device=str(device),
                folder=folder,
                resume=self.resume,
                report=report,
                save_every=self.save_every,
                precision=self.precision,
                compile=self.compile,
                count_configs=registry.count_configs(self.settings, self.dataset),
                count_data=split.train,  # without the added users, who make the count memory of a network worse
            )
            model.fit(training_part, split.valid, options)
            if self.added_dataset:  # without it, a mixture keeps the added data sets of its members
                model.added_dataset = self.added_dataset
            if distributed.rank() > 0:
                return None
            notes = model.training_summary.notes() if model.training_summary else {}
            checkpoints.save(self.model, model, dataset, self.seed, notes, splitting)
            run_folder.finish()  # deletes the training state, which is needed until the checkpoint is saved
        if self.ship:
            checkpoints.ship(self.model, self.dataset, self.seed, splitting)
        return folder

    def _check_new_training(self, folder: Path) -> None:
        """Raise TrainingError if --resume would replace a finished training. Else print that the training is new."""
        from recsys.checkpoints import META
        from recsys.training import distributed
        from recsys.training.trainer import TrainingError

        if (folder / META).exists():
            text = (
                "there is no stopped training of {model} on {dataset} with seed {seed}, only a finished one; to train "
                "again, leave out --resume"
            )
            raise TrainingError(text, model=self.model, dataset=self.dataset, seed=self.seed)
        if distributed.rank() == 0:
            run = f"{self.model} on {self.dataset} with seed {self.seed}"
            print(f"there is no stopped training of {run}; it starts from the beginning", file=sys.stderr)


def train(arguments: Sequence[str]) -> Train:
    """Parse the recommender and its settings. The defaults are the preset of the data set that the flags name.

    Raises UnknownModelError, and ConfigError for a setting that is not allowed.
    """
    name = read(choose, "train", arguments[:1])
    from recsys.models import registry  # imports pandas, which `train --help` does not need

    recommender = registry.get(name)
    # The first pass parses no settings, because their defaults depend on the data set.
    options, _ = read(Options, f"train {name}", arguments[1:], return_unknown_args=True, add_help=False)
    default = Train(model=name, dataset=options.dataset, settings=recommender.preset(options.dataset))
    target: Any = Train[recommender.model_class.Config]  # type: ignore[name-defined]  # the type is only known at run time
    return read(target, f"train {name}", arguments[1:], default=default)
