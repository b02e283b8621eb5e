"""`python -m recsys experiment thesis`: a table of the source documents, rebuilt from nothing by one command.

The thesis is G. O. Kholodudkin's, "A film recommender system based on neural networks" (Kyiv, 2021): BERT4Rec with
L = 2, h = 2, d = 64, N = 200 and ρ = .2 on MovieLens 1M and 20M, table 1. Its figures equal those of the BERT4Rec paper
(arXiv:1904.06690, table 2), and so does its protocol, popularity-100; settings it does not give are our defaults.
"""

from recsys import paths, store
from recsys.data import movielens
from recsys.data._commands import get_command
from recsys.data.prepared import MissingData
from recsys.data.schema import DataError
from recsys.evaluation import results
from recsys.evaluation._commands import evaluate_command
from recsys.evaluation.report import markdown, short
from recsys.training._commands import train_command

MODEL, PROTOCOL, SEED = "bert4rec", "popularity-100", 0
SETTINGS = ["--layers", "2", "--heads", "2", "--dim", "64", "--length", "200", "--mask-share", "0.2"]
COLUMNS = ("hr@1", "hr@5", "hr@10", "ndcg@5", "ndcg@10", "mrr")
THESIS = {
    "ml-1m": (0.2863, 0.5876, 0.6970, 0.4454, 0.4818, 0.4254),
    "ml-20m": (0.3440, 0.6323, 0.7473, 0.4967, 0.5340, 0.4785),
}


def thesis_command(datasets: list[str], settings: list[str]) -> int:
    """Fetch, train and evaluate what is not there yet, then print the table; returns the exit code.

    `settings` are further flags of `train`, such as --device. ML-20M is fetched only when it is asked for.
    """
    if unknown := set(datasets) - set(THESIS):
        raise DataError(f"the thesis has no row for {', '.join(sorted(unknown))}; its rows: {', '.join(THESIS)}")
    for name in datasets:
        if code := _measure(name, settings):
            return code
    print(table(datasets))
    return 0


def table(datasets: list[str]) -> str:
    """Markdown: for each data set the thesis' figures and ours."""
    head = ["data", "whose", *(name.upper() for name in COLUMNS)]
    rows = []
    for name in datasets:
        found = results.load(name, PROTOCOL, MODEL)
        seeds = len(found["seeds"])
        ours = [found["mean"][metric] for metric in COLUMNS]
        rows.append([name, "thesis", *map(short, THESIS[name])])
        rows.append([name, f"here, {seeds} seed{'s' if seeds > 1 else ''}", *map(short, ours)])
    return markdown(head, rows)


def _measure(name: str, settings: list[str]) -> int:
    """See to it that a model trained on this machine has been measured; what is there already is not done again."""
    try:
        movielens.load(name)
    except MissingData:
        if code := get_command(name):
            return code
    if not (paths.checkpoint(name, MODEL, SEED) / store.META).exists():
        command = ["--dataset", name, "--seed", str(SEED), "--resume", *SETTINGS, *settings]
        if code := train_command(MODEL, command):
            return code
    measured = paths.results(paths.home(), name, PROTOCOL) / f"{MODEL}.json"
    return 0 if measured.exists() else evaluate_command(MODEL, name, PROTOCOL)
