"""The command `experiment`: studies, the order of ties, and a published table.

`experiment thesis` reproduces table 1 of G. O. Kholodudkin, "A film recommender system based on neural networks" (Kyiv,
2021): BERT4Rec with L = 2, h = 2, d = 64, N = 200 and ρ = 0.2 on MovieLens 1M and 20M. This table has the results of
table 2 of the BERT4Rec paper (arXiv:1904.06690), with the same protocol and network. All recommenders of table 2 are
printed.
"""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Literal

from recsys.cli.options import Call, ProtocolName, StudyName, command, conf, read
from recsys.config import Count, Finite
from recsys.errors import RecsysError, recsys_command

THESIS_MODEL = "bert4rec-paper"
THESIS_PROTOCOL = "popularity-100"
THESIS_SETTINGS = ("--layers", "2", "--heads", "2", "--dim", "64", "--length", "200", "--mask-prob", "0.2")
THESIS_DATASETS = ("ml-1m", "ml-20m")
PAPER_CODE = "P"  # code of the rules of the BERT4Rec paper in published.json

CHOICES = "thesis: a published table; ties: how much the order of ratings within one second reveals; others: studies"

# NDCG@10: "<protocol>" of all users, "<protocol> <group>" of a group of users. The group "tied" rated the held-out film
# in the same second as the film before it, the group "other" did not.
TIE_COLUMNS = ("full", "untied", "full tied", "full other", "untied tied", "untied other")


def choose(name: Annotated[Literal["thesis", "ties", StudyName], conf.Positional, conf.arg(help=CHOICES)]) -> str:
    """Run a study or reproduce a published table. --help after the name lists its flags."""
    return name  # the docstring is the text of `experiment --help`


def experiment(arguments: Sequence[str]) -> Call:
    """Parse the arguments of `experiment` with one of the commands `study`, `ties` and `thesis`."""
    name = read(choose, "experiment", arguments[:1])
    if name == "ties":
        return ties(arguments[1:])
    if name != "thesis":
        return study(arguments)
    # --set is read here, because tyro would reject the flags of `train` that follow it
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

    Several processes or computers with the same RECSYS_HOME can run this command to share the work.

    Args:
        name: A study.
        dataset: A data set on this computer.
        protocol: An evaluation protocol. None: the protocol with the training part that the app uses.
        seeds: Number of trainings of each setting that the study repeats.
        as_it_is: Train nothing and use only the stored trainings.
        ship: Also copy the study and its trainings into assets/.
    """
    from recsys.data import datasets
    from recsys.evaluation import protocols
    from recsys.progress import TerminalProgress
    from recsys.studies import run, trials
    from recsys.studies.comparisons import COMPARISONS
    from recsys.studies.plans import PLANS

    if name in COMPARISONS:
        document, protocol_name = COMPARISONS[name](dataset), ""
    else:
        protocol_name = protocol or run.default_protocol(dataset)
        plan, evaluation_protocol, seed_range = PLANS[name], protocols.get(protocol_name), range(seeds)
        with TerminalProgress() as report:
            data = datasets.ensure(dataset, report)
            if not as_it_is:
                run.run_trials(plan, data, evaluation_protocol, seed_range, report)
        document = run.build_document(plan, data, evaluation_protocol, seed_range)
        if ship:
            for trial in run.list_trials(plan, data.name, seed_range):
                trials.ship(trial, data, evaluation_protocol)
    path = run.write(name, dataset, document, protocol_name, ship)
    print(f"{document['answer']}\nsaved in {path}")


@command("experiment ties")
def ties(dataset: str = "ml-1m", without_rating: Finite | None = None, ship: bool = False) -> None:
    """Detect the order of ratings within one second, and measure how much recommenders gain from it.

    Args:
        dataset: A data set on this computer.
        without_rating: Ignore pairs of consecutive films in which a film has this rating.
        ship: Also copy the result into assets/.
    """
    from recsys.data import datasets
    from recsys.evaluation.file_order import measure, write
    from recsys.evaluation.report import format_metric, markdown
    from recsys.progress import TerminalProgress

    with TerminalProgress("ties") as report:
        result = measure(datasets.ensure(dataset, report), without_rating, report)
    path = write(result, ship)
    descending, pairs = result["lower"], result["pairs"]
    # order: "ascending" film ids, or "hash" if the file was written from a hash table per user, see `file_order`
    lines = [
        f"order of ratings within one second: {result['order'] or 'neither film ids nor a hash table'}",
        f"given in the same second as the rating before: {result['share']:.1%} of all ratings, "
        f"{result['targets']:.1%} of the ratings of held-out films",
        f"consecutive films in descending order: {descending['same second']:.2%} of {pairs['same second']:,} pairs of "
        f"one second, {descending['alone']:.2%} of {pairs['alone']:,} pairs of films that are alone in their second",
    ]
    if result["tables"]:
        sizes = ", ".join(f"{size} from user {user}" for size, user in result["tables"].items())
        lines.append(f"buckets of the hash table: {sizes}")
    for row in result["rules"]:  # simple recommenders, alone and with the scores of `file_order.OrderRule`
        alone, combined = format_metric(row["alone"]), format_metric(row["with the order"])
        lines.append(f"NDCG@10 of {row['title']}, {row['protocol']}: {alone}, combined with the order {combined}")
    if result["recommenders"]:
        rows = [
            [row["variant"], *(format_metric(row[column]) if column in row else "" for column in TIE_COLUMNS)]
            for row in result["recommenders"]
        ]
        lines += ["", markdown(["recommender", *TIE_COLUMNS], rows), ""]
    else:
        evaluate = recsys_command("evaluate", "all", "--dataset", dataset, "--protocol", "untied")
        lines.append(f"no recommender has results of the protocols full and untied; to measure them: {evaluate}")
    print("\n".join([*lines, f"saved in {path}"]))


@command("experiment thesis")
def thesis(dataset: tuple[str, ...] = ("ml-1m",), set: tuple[str, ...] = ()) -> None:
    """Reproduce a published table. Missing data sets, trainings and results are made first.

    Args:
        dataset: ml-1m, ml-20m.
        set: Further flags of the command train: --set --device cpu. Must be last.
    """
    from recsys import checkpoints, paths
    from recsys.cli.data import data
    from recsys.cli.evaluate import evaluate
    from recsys.cli.train import train
    from recsys.data import datasets
    from recsys.evaluation import protocols, published_figures, results
    from recsys.evaluation.report import markdown

    for name in dataset:
        if name not in THESIS_DATASETS:
            text = "the thesis has no results on {name}; its data sets: {datasets}"
            raise RecsysError(text, name=name, datasets=", ".join(THESIS_DATASETS))
    for name in dataset:
        if name not in datasets.prepared_names():
            data(["get", name])()  # a command parses its arguments and returns the call
        folder = paths.checkpoint(name, protocols.get(THESIS_PROTOCOL).splitting.name, THESIS_MODEL, 0)
        if not (folder / checkpoints.META).exists():
            train([THESIS_MODEL, "--dataset", name, "--seed", "0", "--resume", *THESIS_SETTINGS, *set])()
        if not results.is_in_home(name, THESIS_PROTOCOL, THESIS_MODEL):
            evaluate([THESIS_MODEL, "--dataset", name, "--protocol", THESIS_PROTOCOL])()
    rows, commands = _thesis_table(dataset)
    print(markdown(["data", "recommender", "source", *map(str.upper, published_figures.METRICS)], rows))
    if commands:
        print("\n".join(["", "Not measured yet:", *commands]))


def _thesis_table(datasets: Sequence[str]) -> tuple[list[list[str]], list[str]]:
    """Return the rows of the table and the commands that measure missing results.

    A row has a data set, a recommender, a source and METRICS. Our result follows the published result.
    """
    from recsys.evaluation import published_figures, report, results
    from recsys.evaluation.published_figures import METRICS
    from recsys.evaluation.report import format_metric

    rows, commands = [], []
    for dataset in datasets:
        published = published_figures.published(dataset, THESIS_PROTOCOL)
        for _, row in published[published["code"].str.rstrip("*") == PAPER_CODE].iterrows():
            variant = row["variant"]
            source = "thesis and paper" if variant == THESIS_MODEL else "paper"
            rows.append([dataset, row["title"], source, *map(format_metric, row[list(METRICS)])])
            try:
                result = results.load(dataset, THESIS_PROTOCOL, variant)
                n_seeds = len(result["seeds"])
                source = f"here, {n_seeds} seed{'s' if n_seeds > 1 else ''}"
                values = [format_metric(result["mean"][metric]) for metric in METRICS]
            except results.ResultError:
                source, values = "here", ["not measured yet"] + [""] * (len(METRICS) - 1)
                commands += report.first_result_commands(variant, dataset, THESIS_PROTOCOL)
            rows.append([dataset, variant, source, *values])
    return rows, commands
