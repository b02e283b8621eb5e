"""`python -m recsys experiment NAME`, for the studies of `recsys.studies`."""

from collections.abc import Sequence

from recsys.cli import options
from recsys.cli.choices import ProtocolName
from recsys.cli.options import conf
from recsys.config import Count, config_class


@config_class
class Study:
    """Train what a study compares, and write its table; what is on disk is not done again.

    The same command in several processes, here or on machines that share RECSYS_HOME, shares the work.
    """

    name: conf.Positional[str]  # which one
    dataset: str = "ml-100k"  # data set, on this machine
    protocol: ProtocolName | None = None  # what is measured; without one, what its recommenders are served by
    seeds: Count = 1  # trainings of what a study trains often: all of it, or the usual settings and both ends
    as_it_is: options.Flag = False  # train nothing, write what is on disk
    ship: options.Flag = False  # copy the study into assets/, and the ranks of what was trained for it

    def run(self) -> int:
        """Train, write and print the answer."""
        from recsys.data import datasets
        from recsys.evaluation import protocols
        from recsys.progress import Terminal
        from recsys.studies import run, trials
        from recsys.studies.comparisons import COMPARISONS
        from recsys.studies.plans import PLANS

        named = self.protocol or run.default_protocol(self.dataset)
        if self.name in COMPARISONS:
            document, named = COMPARISONS[self.name](self.dataset), ""
        else:
            with Terminal() as report:
                dataset = datasets.ensure(self.dataset, report)
            plan, protocol = PLANS[self.name], protocols.get(named)
            if not self.as_it_is:
                with Terminal() as report:
                    run.run_trials(plan, dataset, protocol, range(self.seeds), report)
            document = run.build_document(plan, dataset, protocol, range(self.seeds))
            if self.ship:
                for trial in run.list_trials(plan, dataset.name, range(self.seeds)):
                    trials.ship(trial, dataset, protocol)
        path = run.write(self.name, self.dataset, document, named, self.ship)
        print(f"{document['answer']}\nkept in {path}")
        return 0


def read(arguments: Sequence[str]) -> Study:
    """The options of `experiment NAME`; the name comes first."""
    return options.read(Study, "experiment", arguments)
