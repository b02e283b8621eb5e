"""The command `experiment`: studies and published tables, each reproduced by one command.

`experiment thesis` reproduces table 1 of G. O. Kholodudkin, "A film recommender system based on neural networks" (Kyiv,
2021). It is BERT4Rec with L = 2, h = 2, d = 64, N = 200 and ρ = 0.2 on MovieLens 1M and 20M. Its figures, protocol and
network are those of the BERT4Rec paper (arXiv:1904.06690, table 2), here popularity-100 and bert4rec-paper. The table
also has the other recommenders of the paper, with our results or the commands that measure them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from recsys.cli.options import Call, ProtocolName, StudyName, command, conf, read
from recsys.config import Count, Finite
from recsys.errors import RecsysError, recsys_command

MODEL = "bert4rec-paper"
PROTOCOL = "popularity-100"
SETTINGS = ("--layers", "2", "--heads", "2", "--dim", "64", "--length", "200", "--mask-prob", "0.2")
METRICS = ["hr@1", "hr@5", "hr@10", "ndcg@5", "ndcg@10", "mrr"]
THESIS_DATASETS = ("ml-1m", "ml-20m")
PAPER_CODE = "P"  # of the paper in the list of published figures
TIE_COLUMNS = ("full", "untied", "full, tied", "full, other", "untied, tied", "untied, other")


@dataclass(frozen=True)
class Choice:
    """Run a study or reproduce a published table. --help after the name lists its flags."""

    # thesis: BERT4Rec on ML-1M and ML-20M, ranked among 100 films drawn by popularity
    # ties: what the order of ratings within one second reveals; the others: studies that vary one thing
    name: conf.Positional[Literal["thesis", "ties", StudyName]]


def experiment(arguments: Sequence[str]) -> Call:
    """Parse the arguments of `experiment`."""
    name = read(Choice, "experiment", arguments[:1]).name
    if name == "ties":
        return ties(arguments[1:])
    if name != "thesis":
        return study(arguments)
    end = arguments.index("--set") if "--set" in arguments else len(arguments)
    call: Any = thesis(arguments[1:end])
    return partial(call, set=tuple(arguments[end + 1 :]))


@command("experiment")
def study(
    name: conf.Positional[str],
    dataset: str = "ml-100k",
    protocol: ProtocolName | None = None,
    seeds: Count = 1,
    as_it_is: bool = False,
    ship: bool = False,
) -> None:
    """Train the models of a study and write its table. Stored trainings are not repeated.

    Several processes, here or on computers that share RECSYS_HOME, can run the same command to share the work.

    Args:
        name: A study.
        dataset: A data set on this computer.
        protocol: An evaluation protocol. None: the one whose training part the app uses.
        seeds: Trainings of each setting that a study trains repeatedly.
        as_it_is: Train nothing and use the stored trainings.
        ship: Also copy the study and its trainings into assets/.
    """
    from recsys.data import datasets
    from recsys.evaluation import protocols
    from recsys.progress import Terminal
    from recsys.studies import run, trials
    from recsys.studies.comparisons import COMPARISONS
    from recsys.studies.plans import PLANS

    if name in COMPARISONS:
        document, protocol_name = COMPARISONS[name](dataset), ""
    else:
        protocol_name = protocol or run.default_protocol(dataset)
        plan, rules, seed_range = PLANS[name], protocols.get(protocol_name), range(seeds)
        with Terminal() as report:
            data = datasets.ensure(dataset, report)
            if not as_it_is:
                run.run_trials(plan, data, rules, seed_range, report)
        document = run.build_document(plan, data, rules, seed_range)
        if ship:
            for trial in run.list_trials(plan, data.name, seed_range):
                trials.ship(trial, data, rules)
    path = run.write(name, dataset, document, protocol_name, ship)
    print(f"{document['answer']}\nkept in {path}")


@command("experiment ties")
def ties(dataset: str = "ml-1m", without_rating: Finite | None = None, ship: bool = False) -> None:
    """Detect the order of ratings within one second, and compare results that use it with results that do not.

    Args:
        dataset: A data set on this computer.
        without_rating: Ignore pairs with a film of this rating.
        ship: Also copy the result into assets/.
    """
    from recsys.data import datasets
    from recsys.evaluation.file_order import measure, write
    from recsys.progress import Terminal

    with Terminal("ties") as report:
        result = measure(datasets.ensure(dataset, report), without_rating, report)
    path = write(result, ship)
    print("\n".join([*format_ties(result), f"kept in {path}"]))


def format_ties(result: dict[str, Any]) -> list[str]:
    """Return the lines about the order, the ties and the simple rules, and the table of the recommenders."""
    from recsys.evaluation.report import markdown, short

    order = result["order"] or "neither that of film ids nor that of a hash table"
    (tied, other), (n_tied, n_other) = result["lower"].values(), result["pairs"].values()
    lines = [
        f"order within a second: {order}",
        f"in the second of the film before: {result['share']:.1%} of all films, {result['targets']:.1%} of the hidden",
        f"pairs whose second film stands lower: {tied:.2%} of {n_tied:,} of one second",
        f"                                      {other:.2%} of {n_other:,} of films alone in theirs",
    ]
    if result["tables"]:
        sizes = ", ".join(f"{size} from person {person}" for size, person in result["tables"].items())
        lines.append(f"buckets of the hash table: {sizes}")
    lines += [
        f"{row['title']}, {row['protocol']}: NDCG@10 {short(row['alone'])}, with it {short(row['with the order'])}"
        for row in result["rules"]
    ]
    if not result["recommenders"]:
        evaluate = recsys_command("evaluate", "all", "--dataset", result["dataset"], "--protocol", "untied")
        return [*lines, f"what each recommender loses can be told once it was measured: {evaluate}"]
    keys = [column.replace(",", "") for column in TIE_COLUMNS]
    rows = [
        [row["variant"], *(short(row[key]) if key in row else "" for key in keys)] for row in result["recommenders"]
    ]
    return [*lines, "", markdown(["recommender", *TIE_COLUMNS], rows), ""]


@command("experiment thesis")
def thesis(dataset: tuple[str, ...] = ("ml-1m",), set: tuple[str, ...] = ()) -> None:
    """Reproduce a published table. Data sets, trainings and results that are missing are made first.

    Args:
        dataset: ml-1m, ml-20m.
        set: Further flags of the command train: --set --device cpu. Must be last.
    """
    from recsys.evaluation.report import markdown

    if unknown := {*dataset} - {*THESIS_DATASETS}:
        names, rows = ", ".join(sorted(unknown)), ", ".join(THESIS_DATASETS)
        raise RecsysError(f"the thesis has no row for {names}; its rows: {rows}")
    for name in dataset:
        _measure(name, set)
    tables = [_table(name) for name in dataset]
    print(
        markdown(
            ["data", "recommender", "whose", *map(str.upper, METRICS)], [row for rows, _ in tables for row in rows]
        )
    )
    if commands := [line for _, lines in tables for line in lines]:
        print("\n".join(["", "Not measured yet:", *commands]))


def _measure(dataset: str, flags: Sequence[str]) -> None:
    """Get a data set, train the model with these flags and evaluate it, unless this was done before."""
    from recsys import checkpoints, paths
    from recsys.cli.data import data
    from recsys.cli.evaluate import evaluate
    from recsys.cli.train import train
    from recsys.data import datasets
    from recsys.evaluation import protocols

    if dataset not in datasets.prepared_names():
        data(["get", dataset])()
    folder = paths.checkpoint(dataset, protocols.get(PROTOCOL).splitting.name, MODEL, 0)
    if not (folder / checkpoints.META).exists():
        train([MODEL, "--dataset", dataset, "--seed", "0", "--resume", *SETTINGS, *flags])()
    if not (paths.results(paths.home(), dataset, PROTOCOL) / f"{MODEL}.json").exists():
        evaluate([MODEL, "--dataset", dataset, "--protocol", PROTOCOL])()


def _table(dataset: str) -> tuple[list[list[str]], list[str]]:
    """Return two rows per recommender, the paper's and ours, and the commands that measure missing results."""
    from recsys.evaluation import published_figures, report, results
    from recsys.evaluation.report import short
    from recsys.models import registry

    published = published_figures.published(dataset, PROTOCOL)
    rows, commands = [], []
    for _, row in published[published["code"].str.rstrip("*") == PAPER_CODE].iterrows():
        variant = row["variant"]
        source = "thesis and paper" if variant == MODEL else "paper"
        rows.append([dataset, row["title"], source, *map(short, row[METRICS])])
        try:
            result = results.load(dataset, PROTOCOL, variant)
        except results.ResultError:
            rows.append([dataset, variant, "here", "not measured yet", *[""] * (len(METRICS) - 1)])
            missing = report.Missing(variant, variant, registry.get(variant).needs_training)
            commands += report.commands_for(missing, dataset, PROTOCOL)
            continue
        n_seeds = len(result["seeds"])
        means = [short(result["mean"][metric]) for metric in METRICS]
        rows.append([dataset, variant, f"here, {n_seeds} seed{'s' if n_seeds > 1 else ''}", *means])
    return rows, commands
