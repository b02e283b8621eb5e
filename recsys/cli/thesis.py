"""`python -m recsys experiment thesis`: a table of the source documents, rebuilt from nothing by one command.

The thesis is G. O. Kholodudkin's, "A film recommender system based on neural networks" (Kyiv, 2021): BERT4Rec with
L = 2, h = 2, d = 64, N = 200 and ρ = .2 on MovieLens 1M and 20M, table 1. Its figures equal those of the BERT4Rec paper
(arXiv:1904.06690, table 2), and so do its protocol, popularity-100, and its network, bert4rec-paper; settings it does
not give are those of that. The paper's table has rows for eight rivals too: they stand below, as far as they have been
measured here, and the commands that measure the others.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from recsys.cli import data, evaluate, options, train
from recsys.errors import RecsysError

if TYPE_CHECKING:
    import pandas as pd

MODEL, PROTOCOL, SEED = "bert4rec-paper", "popularity-100", 0
SETTINGS = ("--layers", "2", "--heads", "2", "--dim", "64", "--length", "200", "--mask-prob", "0.2")
COLUMNS = ["hr@1", "hr@5", "hr@10", "ndcg@5", "ndcg@10", "mrr"]
SETS = ("ml-1m", "ml-20m")
PAPER = "P"  # the code of the paper's figures among those published


@dataclass(frozen=True)
class Thesis:
    """Rebuild a published table: fetch, train and evaluate what is not there yet, then print it."""

    dataset: tuple[str, ...] = ("ml-1m",)  # ml-1m, ml-20m: fetched when missing
    set: tuple[str, ...] = ()  # further flags of train, such as --device cpu; everything after --set is theirs

    def run(self) -> int:
        """Fetch, train and evaluate, then print the table."""
        if unknown := {*self.dataset} - {*SETS}:
            named, rows = ", ".join(sorted(unknown)), ", ".join(SETS)
            raise RecsysError(f"the thesis has no row for {named}; its rows: {rows}")
        for name in self.dataset:
            self._measure(name)
        print(table(self.dataset))
        return 0

    def _measure(self, name: str) -> None:
        """See to it that a model trained on this machine has been measured; what is there is not done again."""
        from recsys import checkpoints, paths
        from recsys.data import datasets
        from recsys.evaluation import protocols

        if name not in datasets.prepared_names():
            data.Get(name).run()
        folder = paths.checkpoint(name, protocols.get(PROTOCOL).splitting.name, MODEL, SEED)
        if not (folder / checkpoints.META).exists():
            chosen = ("--dataset", name, "--seed", str(SEED), "--resume", *SETTINGS, *self.set)
            train.read([MODEL, *chosen]).run()
        if not (paths.results(paths.home(), name, PROTOCOL) / f"{MODEL}.json").exists():
            evaluate.Evaluate(MODEL, name, PROTOCOL).run()


def read(arguments: Sequence[str]) -> Thesis:
    """The options of `experiment thesis`; what stands behind --set is left for `train` to read."""
    end = arguments.index("--set") if "--set" in arguments else len(arguments)
    thesis = options.read(Thesis, "experiment thesis", arguments[:end])
    return replace(thesis, set=tuple(arguments[end + 1 :]))


def table(datasets: Sequence[str]) -> str:
    """Markdown: for each data set the paper's rows and ours, then the commands for what has not been measured."""
    from recsys.evaluation.report import markdown

    rows = [row for name in datasets for row in _rows(name)]
    commands = [line for name in datasets for line in _missing(name)]
    made = markdown(["data", "recommender", "whose", *(name.upper() for name in COLUMNS)], rows)
    return "\n".join([made, "", "Not measured yet:", *commands] if commands else [made])


def _rows(dataset: str) -> list[list[str]]:
    """The figures of each recommender of the paper's table, the best first, and ours below them."""
    from recsys.evaluation.report import short

    rows = []
    for _, row in _published(dataset).iterrows():
        whose = "thesis and paper" if row["variant"] == MODEL else "paper"
        rows.append([dataset, row["title"], whose, *map(short, row[COLUMNS])])
        if found := _ours(dataset, row["variant"]):
            seeds = len(found["seeds"])
            ours = [short(found["mean"][metric]) for metric in COLUMNS]
            rows.append([dataset, row["variant"], f"here, {seeds} seed{'s' if seeds > 1 else ''}", *ours])
        else:
            rows.append([dataset, row["variant"], "here", "not measured yet", *[""] * (len(COLUMNS) - 1)])
    return rows


def _missing(dataset: str) -> list[str]:
    """The lines to type for what has no result."""
    from recsys.evaluation import provenance
    from recsys.models import registry

    absent = [variant for variant in _published(dataset)["variant"] if not _ours(dataset, variant)]
    found = [provenance.Missing(variant, variant, registry.get(variant).needs_training) for variant in absent]
    return [line for one in found for line in provenance.commands_for(one, dataset, PROTOCOL)]


def _published(dataset: str) -> "pd.DataFrame":
    """The paper's rows."""
    from recsys.evaluation import published_figures

    known = published_figures.published(dataset, PROTOCOL)
    return known[known["code"].str.rstrip("*") == PAPER]


def _ours(dataset: str, variant: str) -> dict[str, Any] | None:
    """The result of a recommender, None where there is none that counts."""
    from recsys.evaluation import results

    try:
        return results.load(dataset, PROTOCOL, variant)
    except results.ResultError:
        return None
