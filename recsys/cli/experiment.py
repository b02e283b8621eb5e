"""`python -m recsys experiment thesis`: a table of the source documents, rebuilt from nothing by one command.

The thesis is G. O. Kholodudkin's, "A film recommender system based on neural networks" (Kyiv, 2021): BERT4Rec with
L = 2, h = 2, d = 64, N = 200 and ρ = .2 on MovieLens 1M and 20M, table 1. Its figures equal those of the BERT4Rec paper
(arXiv:1904.06690, table 2), and so does its protocol, popularity-100; settings it does not give are our defaults.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from recsys.cli import data, evaluate, flags, train
from recsys.cli.flags import conf
from recsys.errors import RecsysError

MODEL, PROTOCOL, SEED = "bert4rec", "popularity-100", 0
SETTINGS = ("--layers", "2", "--heads", "2", "--dim", "64", "--length", "200", "--mask-prob", "0.2")
COLUMNS = ("hr@1", "hr@5", "hr@10", "ndcg@5", "ndcg@10", "mrr")
THESIS = {
    "ml-1m": (0.2863, 0.5876, 0.6970, 0.4454, 0.4818, 0.4254),
    "ml-20m": (0.3440, 0.6323, 0.7473, 0.4967, 0.5340, 0.4785),
}


@dataclass(frozen=True)
class Experiment:
    """Rebuild a published table: fetch, train and evaluate what is not there yet, then print it."""

    name: conf.Positional[Literal["thesis"]]  # BERT4Rec on ML-1M and ML-20M, ranked among 100 films drawn by popularity
    dataset: tuple[str, ...] = ("ml-1m",)  # ml-1m, ml-20m: fetched when missing
    set: tuple[str, ...] = ()  # further flags of train, such as --device cpu; everything after --set is theirs

    def run(self) -> int:
        """Fetch, train and evaluate, then print the table."""
        if unknown := {*self.dataset} - {*THESIS}:
            named, rows = ", ".join(sorted(unknown)), ", ".join(THESIS)
            raise RecsysError(f"the thesis has no row for {named}; its rows: {rows}")
        for name in self.dataset:
            self._measure(name)
        print(table(self.dataset))
        return 0

    def _measure(self, name: str) -> None:
        """See to it that a model trained on this machine has been measured; what is there is not done again."""
        from recsys import paths, store
        from recsys.data import movielens
        from recsys.evaluation import protocols

        if name not in movielens.prepared_names():
            data.Get(name).run()
        folder = paths.checkpoint(name, protocols.get(PROTOCOL).splitting.name, MODEL, SEED)
        if not (folder / store.META).exists():
            chosen = ("--dataset", name, "--seed", str(SEED), "--resume", *SETTINGS, *self.set)
            train.read([MODEL, *chosen]).run()
        if not (paths.results(paths.home(), name, PROTOCOL) / f"{MODEL}.json").exists():
            evaluate.Evaluate(MODEL, name, PROTOCOL).run()


def read(arguments: Sequence[str]) -> Experiment:
    """The options of `experiment`; what stands behind --set is left for `train` to read."""
    end = arguments.index("--set") if "--set" in arguments else len(arguments)
    options = flags.read(Experiment, "experiment", arguments[:end])
    return replace(options, set=tuple(arguments[end + 1 :]))


def table(datasets: Sequence[str]) -> str:
    """Markdown: for each data set the thesis' figures and ours."""
    from recsys.evaluation import results
    from recsys.evaluation.report import markdown, short

    head = ["data", "whose", *(name.upper() for name in COLUMNS)]
    rows = []
    for name in datasets:
        found = results.load(name, PROTOCOL, MODEL)
        seeds = len(found["seeds"])
        ours = [found["mean"][metric] for metric in COLUMNS]
        rows.append([name, "thesis", *map(short, THESIS[name])])
        rows.append([name, f"here, {seeds} seed{'s' if seeds > 1 else ''}", *map(short, ours)])
    return markdown(head, rows)
