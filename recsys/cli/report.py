"""`python -m recsys report`: the tables of the results."""

from collections.abc import Sequence
from dataclasses import dataclass

from recsys.cli import options
from recsys.cli.choices import ProtocolName


@dataclass(frozen=True)
class Report:
    """Print every result as Markdown, ours beside what others published."""

    dataset: tuple[str, ...] = ()  # data sets; without any, every one that was measured
    protocol: tuple[ProtocolName, ...] = ()  # protocols; without any, all of them
    brief: options.Flag = False  # the leaderboards only
    beside: ProtocolName | None = None  # another protocol, whose NDCG@10 gets a column of its own

    def run(self) -> int:
        """Print the tables."""
        from recsys.evaluation.report import report

        print(report(self.dataset, self.protocol, self.brief, beside=self.beside or ""))
        return 0


def read(arguments: Sequence[str]) -> Report:
    """The options of `report`."""
    return options.read(Report, "report", arguments)
