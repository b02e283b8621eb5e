"""`python -m recsys experiment NAME`: a study or a published table, made from nothing by one command.

An experiment is a file of this package with `read(arguments)`, as a command is, or a plan of `recsys.studies`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol

from recsys.cli import options, study
from recsys.cli.choices import ExperimentName
from recsys.cli.options import conf
from recsys.studies.plans import COMPARISON_NAMES, PLANS


@dataclass(frozen=True)
class Experiment:
    """Make a study or a published table. The flags depend on which: --help after its name lists them."""

    # thesis: BERT4Rec on ML-1M and ML-20M, ranked among 100 films drawn by popularity
    # ties: what the order of the ratings file within a second gives away; the others: one thing changed at a time
    name: conf.Positional[ExperimentName]


class Runs(Protocol):
    """Options that can be carried out."""

    def run(self) -> int:
        """Do it; returns the exit code."""


def read(arguments: Sequence[str]) -> Runs:
    """The options of the experiment that the first argument names."""
    name = options.read(Experiment, "experiment", arguments[:1]).name
    if name in (*PLANS, *COMPARISON_NAMES):
        return study.read(arguments)
    experiment: Runs = import_module(f"recsys.cli.{name}").read(arguments[1:])
    return experiment
