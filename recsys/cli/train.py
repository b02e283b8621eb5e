"""`python -m recsys train`: every setting of a recommender is a flag, and its comment is the help."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeVar

from recsys.cli import options
from recsys.cli.choices import ProtocolName
from recsys.cli.options import conf
from recsys.config import NonNegative, Seed, config_class
from recsys.progress import ProgressCallback, Terminal, as_json

if TYPE_CHECKING:
    from recsys.data.dataset import Dataset, Split

Config = TypeVar("Config")


@dataclass(frozen=True)
class Model:
    """Train a recommender and keep it. The flags depend on the recommender: --help after it lists them."""

    model: conf.Positional[str]  # which one: bert4rec, markov, item-knn …


@config_class
class Options:
    """What every training takes."""

    model: Annotated[str, conf.Suppress, conf.Fixed] = ""
    dataset: str = "ml-latest-sample"  # data set, on this machine
    protocol: ProtocolName = "full"  # what is to measure it: protocols that split the data alike share what is trained
    also: str = ""  # another MovieLens set, on this machine, whose people are learnt from too
    device: str = "auto"  # auto (a GPU if there is one), cpu, cuda, cuda:1 …
    seed: Seed = 0  # of everything random
    resume: options.Flag = False  # go on where a stopped run of these settings was
    save_every: NonNegative = 60.0  # seconds of work that a kill can cost
    precision: Literal["auto", "fp32", "bf16"] = "auto"  # of matrix products
    compile: options.Flag = False  # hand the encoder to torch.compile
    json: options.Flag = False  # progress as JSON lines
    ship: options.Flag = False  # copy the checkpoint into assets/


@config_class
class Train(Options, Generic[Config]):
    """Train a recommender and keep it. The defaults of its settings are tuned for the data set."""

    settings: Config = field(kw_only=True)

    def run(self) -> int:
        """Train, keep, and say how it is measured; progress goes to stdout, a line an epoch."""
        if self.json:
            self._train(as_json)
            return 0
        with Terminal() as report:
            folder = self._train(report)
        if folder:
            print(f"kept in {folder}\nmeasure it: {self._measuring()}")
        return 0

    def _train(self, report: ProgressCallback) -> Path | None:
        """Train with one process or several; the folder of the checkpoint, None where another process writes it."""
        from recsys import checkpoints, paths
        from recsys.data import datasets
        from recsys.evaluation import protocols
        from recsys.models import registry
        from recsys.training import device as devices
        from recsys.training import distributed
        from recsys.training.trainer import RunFolder

        variant, dataset = registry.get(self.model), datasets.ensure(self.dataset, report)
        splitting = protocols.get(self.protocol).splitting
        parts = splitting(dataset, self.seed)
        people = self._people(parts, dataset)
        device = devices.choose(self.device)
        with distributed.process_group(device):
            folder = paths.checkpoint(self.dataset, splitting.name, self.model, self.seed)
            run_folder = RunFolder(folder)
            with run_folder.lock():
                model = variant.model(self.settings)
                checkpoints.attach_members(model, dataset, self.seed, report, splitting)
                model.fit(people, parts.valid, self._run(str(device), folder, report))
                model.also = self.also or model.also
                if distributed.rank():
                    return None
                notes = model.training_summary.notes() if model.training_summary else {}
                checkpoints.save(self.model, model, dataset, self.seed, notes, splitting)
                run_folder.finish()  # after the save, so that a kill loses nothing
        if self.ship:
            checkpoints.ship(self.model, self.dataset, self.seed, splitting)
        return folder

    def _people(self, parts: "Split", dataset: "Dataset") -> "Dataset":
        """Whom to learn from: the training part, with the people of another set if there is one."""
        from recsys.data import datasets
        from recsys.data.assemble import add_users_from

        if not self.also:
            return parts.train
        until = int(parts.train.interactions.timestamp.max()) if "dates" in parts.description else None
        return add_users_from(datasets.load(self.also), parts.train, dataset, until)

    def _run(self, device: str, folder: Path, report: ProgressCallback) -> Any:
        """How the training is carried out."""
        from recsys.models import registry
        from recsys.training.options import RunOptions

        return RunOptions(
            seed=self.seed,
            device=device,
            folder=folder,
            resume=self.resume,
            report=report,
            save_every=self.save_every,
            precision=self.precision,
            compile=self.compile,
            count_configs=registry.count_configs(self.settings, self.dataset),
        )

    def _measuring(self) -> str:
        """The command that measures what was trained."""
        from recsys.errors import recsys_command

        return recsys_command("evaluate", self.model, "--dataset", self.dataset, "--protocol", self.protocol)


def read(arguments: Sequence[str]) -> Train:
    """The options of `train MODEL`, with the settings of that model, tuned for the data set that they name.

    Raises UnknownModelError, and ConfigError for settings that cannot work.
    """
    from recsys.models import registry

    name = options.read(Model, "train", arguments[:1]).model
    variant = registry.get(name)
    dataset = options.read_some(Options, f"train {name}", arguments[1:]).dataset
    default = Train(model=name, dataset=dataset, settings=variant.preset(dataset))
    tuned: Any = Train[variant.model_class.Config]  # type: ignore[name-defined]  # a type known at run time only
    return options.read(tuned, f"train {name}", arguments[1:], default)
