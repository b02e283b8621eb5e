"""`python -m recsys prepare`: what a server for everybody makes before it is opened: no visitor may start it."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from recsys.cli import options
from recsys.cli.options import conf

if TYPE_CHECKING:
    from recsys.data.dataset import Dataset
    from recsys.progress import ProgressCallback


@dataclass(frozen=True)
class Prepare:
    """Fit and fetch what the app otherwise makes when somebody asks for it: see NEXTREEL_PUBLIC."""

    datasets: conf.Positional[tuple[str, ...]] = ("ml-latest-sample",)  # on this machine, or the first one

    def run(self) -> int:
        """Make what can be made, and say what cannot; 1 where something could not."""
        from recsys.data import datasets
        from recsys.progress import Terminal

        missing = []
        for name in self.datasets:
            with Terminal() as report:
                missing += prepared(datasets.ensure(name, report), report)
        for reason in missing:
            print(reason, file=sys.stderr)
        return 1 if missing else 0


def prepared(dataset: "Dataset", report: "ProgressCallback") -> list[str]:
    """Make what a data set needs; what could not be made, and why."""
    from recsys.errors import RecsysError
    from recsys.serving import predictor
    from recsys.serving.films import themes

    steps: list[tuple[str, Callable[[], object]]] = [
        ("the sentence encoder", partial(themes.fetch_encoder, report)),
        ("the search by theme", partial(themes.open_index, dataset, report)),
    ]
    for name in (variant.name for variant in predictor.variants() if not variant.needs_training):
        if not predictor.lacking(name, dataset.name):  # those are trained by whoever wants them: python -m recsys train
            steps.append((name, partial(predictor.load, name, dataset, report)))
    missing = []
    for what, make in steps:
        try:
            make()
            print(f"{dataset.name}: {what} is ready")
        except RecsysError as error:
            missing.append(f"{dataset.name}: {what} is not: {error}")
    return missing


def read(arguments: Sequence[str]) -> Prepare:
    """The options of `prepare`."""
    return options.read(Prepare, "prepare", arguments)
