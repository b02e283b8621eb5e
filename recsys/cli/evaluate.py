"""`python -m recsys evaluate`."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

from recsys.cli import options
from recsys.cli.choices import ALL, ProtocolOrAll
from recsys.cli.options import conf
from recsys.config import Seed, config_class
from recsys.errors import RecsysError


@config_class
class Evaluate:
    """Measure a recommender and write the result file."""

    model: conf.Positional[str]  # a name, or all; what cannot be measured is named and skipped then
    dataset: str = "ml-latest-sample"  # data set, on this machine
    protocol: ProtocolOrAll = "full"  # what is measured, or all
    seeds: tuple[Seed, ...] = ()  # without any, every seed that was trained
    part: Literal["test", "valid"] = (
        "test"  # valid: for choosing between settings, writes no file, refuses mixtures and memories
    )
    device: str = "auto"  # auto (a GPU if there is one), cpu, cuda, cuda:1 …
    add: options.Flag = False  # keep the seeds of the result there is, if its settings and data are the same
    ship: options.Flag = False  # copy the result into assets/

    def run(self) -> int:
        """Measure with a bar, print the table or, of all, a line each; 1 if nothing could be measured."""
        from recsys.data import datasets
        from recsys.progress import Terminal
        from recsys.training import device, distributed

        with Terminal() as report:
            dataset = datasets.ensure(self.dataset, report)
        with device.default_device(self.device), distributed.process_group(device.choose(self.device)):
            speaks = not distributed.rank()
            if ALL in (self.model, self.protocol):
                return self._run_all(dataset, speaks)
            document = self._measure(dataset, speaks)
        if speaks:
            print(table(document, self.part))
        return 0

    def _run_all(self, dataset: Any, speaks: bool) -> int:
        """A line for each result; what cannot be measured is skipped with a line on stderr."""
        measured = 0
        for one in self._each():
            try:
                said, to = line(one._measure(dataset, speaks)), sys.stdout
                measured += 1
            except RecsysError as error:
                said, to = f"skipped {one.model}, {one.protocol}: {error}", sys.stderr
            if speaks:
                print(said, file=to, flush=True)
        return 0 if measured else 1

    def _each(self) -> Iterator["Evaluate"]:
        """These options for one recommender and one protocol after another."""
        from recsys.evaluation.protocols import PROTOCOLS
        from recsys.models import registry

        for protocol in PROTOCOLS if self.protocol == ALL else [self.protocol]:
            for model in registry.names() if self.model == ALL else [self.model]:
                yield replace(self, model=model, protocol=protocol)

    def _measure(self, dataset: Any, speaks: bool) -> dict[str, Any]:
        """The result document of one recommender under one protocol."""
        from recsys.evaluation.evaluate import evaluate
        from recsys.progress import Terminal, no_progress

        with Terminal(f"{self.model} on {self.dataset}, {self.protocol}") as terminal:
            report = terminal if speaks else no_progress
            return evaluate(self.model, dataset, self.protocol, self.seeds, self.part, self.ship, report, self.add)


def read(arguments: Sequence[str]) -> Evaluate:
    """The options of `evaluate`."""
    return options.read(Evaluate, "evaluate", arguments)


def line(document: dict[str, Any]) -> str:
    """A result in one line: variant, protocol, number of seeds, NDCG@10 with its 95 % interval, HR@10."""
    mean, (low, high) = document["mean"], document["interval"]["ndcg@10"]
    return (
        f"{document['variant']:20} {document['protocol']['name']:15} seeds {len(document['seeds'])}  "
        f"NDCG@10 {mean['ndcg@10']:.4f} ({low:.4f}–{high:.4f})  HR@10 {mean['hr@10']:.4f}"
    )


def table(document: dict[str, Any], part: str = "test") -> str:
    """A result as text: a line per metric with mean, interval over users, spread over seeds if several, and each."""
    seeds = document["seeds"]
    lines = [
        f"{document['title']} · {document['dataset']} · {document['protocol']['name']} · {part}",
        f"{'':8}{'mean':>9}{'95 % from':>11}{'to':>9}{'± std':>9}"
        + "".join(f"{'seed ' + str(run['seed']):>9}" for run in seeds),
    ]
    for name in document["mean"]:
        spread = f"{document['std'][name]:9.4f}" if document["std"] else f"{'':9}"
        each = "".join(f"{run['metrics'][name]:9.4f}" for run in seeds)
        low, high = document["interval"][name]
        lines.append(f"{name:8}{document['mean'][name]:9.4f}{low:11.4f}{high:9.4f}{spread}{each}")
    return "\n".join(lines + _of_stars(document))


def _of_stars(document: dict[str, Any]) -> list[str]:
    """Errors of predicted ratings, in stars, a line for the model and each baseline; none where it predicts none."""
    if "stars" not in document:
        return []
    names = {"mean": "mean of all ratings", "film and person": "film's mean, person's difference"}
    rows = {document["title"]: document["stars"]}
    rows |= {names[name]: figures for name, figures in document["stars"]["baselines"].items()}
    lines = [
        f"{'stars of the hidden film':34}{'RMSE':>9}{'95 % from':>11}{'to':>9}{'MAE':>9}{'95 % from':>11}{'to':>9}"
    ]
    for title, figures in rows.items():
        each = [(figures[name], *figures["interval"][name]) for name in ("rmse", "mae")]
        lines.append(f"{title:34}" + "".join(f"{value:9.4f}{low:11.4f}{high:9.4f}" for value, low, high in each))
    return lines
