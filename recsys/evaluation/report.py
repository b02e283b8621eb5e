"""Format results and published figures as Markdown, and return the commands that reproduce results.

This module does not load torch. Paired tests are computed from the stored ranks.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from recsys import checkpoints, errors
from recsys.data.datasets import DEFAULT_DATASET, check_exists
from recsys.errors import RecsysError, recsys_command
from recsys.evaluation import protocols, published_figures, results, significance
from recsys.evaluation.metric_texts import CALIBRATION_ERROR, LIST_METRICS, METRIC_TEXTS
from recsys.evaluation.protocols import menu_position
from recsys.evaluation.results import UNSEEN_ITEMS, WarningCallback
from recsys.evaluation.significance import FEW_USERS
from recsys.models import registry
from recsys.models.registry import Recommender

HEADLINE = "ndcg@10"  # the metric by which recommenders are compared


def format_report(
    datasets: Sequence[str] = (),
    protocol_names: Sequence[str] = (),
    brief: bool = False,
    warn: WarningCallback = errors.warn,
    other_protocol: str = "",
) -> str:
    """Return the results of data sets and protocols as Markdown. An empty selection means all.

    With `brief`, the text of each board is only its leaderboard, as in docs/results.md. A single brief text has no
    heading. With `other_protocol`, each leaderboard also has a column with the headline metric under that protocol.
    `warn` is called with an error for each skipped result. Raises ResultError if there are no results, and DataError
    for an unknown data set.
    """
    documents_by_board = {
        (dataset, protocol): results.documents(dataset, protocol, warn)
        for dataset, protocol in sorted(results.available(), key=lambda pair: (pair[0], menu_position(pair[1])))
        if (not datasets or dataset in datasets) and (not protocol_names or protocol in protocol_names)
    }
    if not any(documents_by_board.values()):
        for name in datasets:
            check_exists(name)
        selected_board = (datasets[0] if datasets else DEFAULT_DATASET, protocol_names[0] if protocol_names else "full")
        dataset, protocol = next(iter(documents_by_board), selected_board)  # a board without valid results, if any
        command = recsys_command("evaluate", "all", "--dataset", dataset, "--protocol", protocol)
        raise results.ResultError("there are no results for this version of the data yet", command)
    boards = {board: documents for board, documents in documents_by_board.items() if documents}
    format_results = format_leaderboard if brief else format_board
    texts = [format_results(*board, documents, other_protocol) for board, documents in boards.items()]
    if brief and len(boards) == 1:
        return texts[0]
    headings = [f"## {dataset}, protocol {protocol}" for dataset, protocol in boards]
    return "\n\n".join(f"{heading}\n\n{text}" for heading, text in zip(headings, texts, strict=True))


def format_board(dataset: str, protocol: str, documents: list[dict[str, Any]], other_protocol: str) -> str:
    """Return the rules, leaderboard, list metrics and provenance of the results of a data set under a protocol."""
    n_users, rules = documents[0]["users"], documents[0]["protocol"].items()
    noise_note = f" With fewer than {FEW_USERS} people, differences between recommenders are noise."
    parts = [
        f"Measured on {n_users:,} people.{noise_note if n_users < FEW_USERS else ''}",
        "; ".join(f"{name}: {rule}" for name, rule in rules if name != "name") + ".",
        format_leaderboard(dataset, protocol, documents, other_protocol),
        *_published_rules(dataset, protocol, documents),
        *_list_metric_table(documents),
        _provenance(documents),
    ]
    return "\n\n".join(parts)


def format_leaderboard(dataset: str, protocol: str, documents: list[dict[str, Any]], other_protocol: str) -> str:
    """Return a Markdown table with the metrics of each recommender, and a note about significance.

    A row has the headline metric with its 95 % interval, other metrics and published figures.
    """
    tests = significance.against_best(significance.pairwise_tests(dataset, protocol, HEADLINE, _ignore))
    equivalent_to_best = set(tests.loc[~tests["differs"].astype(bool), "variant"])
    published = _published_texts(dataset, protocol)
    other_documents = results.documents(dataset, other_protocol, _ignore) if other_protocol else []
    other_headlines = {document["variant"]: format_headline(document) for document in other_documents}
    rows = []
    for document in documents:
        variant = document["variant"]
        row = {
            "recommender": variant,
            "family": document["family"],
            "seeds": len(document["seeds"]),
            "NDCG@10 (95 %)": format_headline(document) + (" =" if variant in equivalent_to_best else ""),
            "± seeds": format_metric(document["std"][HEADLINE]) if document["std"] else "",
        }
        if other_protocol:
            row[f"{other_protocol}: NDCG@10 (95 %)"] = other_headlines.get(variant, "")
        row |= {name.upper(): format_metric(document["mean"][name]) for name in ("hr@10", "hr@1", "mrr")}
        rows.append(row | {"published NDCG@10": published.get(variant, "")})
    table = markdown(list(rows[0]), [list(row.values()) for row in rows])
    return (
        f"{table}\n\n=: not significantly different from the best (paired randomisation test over "
        f"users, p ≥ {significance.ALPHA} after Holm's correction for all pairs of models)."
    )


def format_metric(value: float, digits: int = 4) -> str:
    """Format a value below 1 without its leading zero: ".1567"."""
    return f"{value:.{digits}f}".removeprefix("0")


def format_headline(document: dict[str, Any]) -> str:
    """Return the headline metric with its interval, if any: ".1567 (.153–.158)"."""
    bounds = document.get("interval", {}).get(HEADLINE)
    interval = f" ({format_metric(bounds[0], 3)}–{format_metric(bounds[1], 3)})" if bounds else ""
    return format_metric(document["mean"][HEADLINE]) + interval


def markdown(head: list[str], rows: list[list[Any]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def needs_training(document: dict[str, Any]) -> bool:
    """Return whether the command `train` trains the recommender of a result. Others are fitted on first use."""
    return "schedule" in document["config"]


def members(document: dict[str, Any]) -> tuple[str, ...]:
    """Return the recommenders that a mixture combines, () if the recommender of the result is no mixture."""
    return tuple(document["config"].get("members", ()))


def training_command(variant: str, dataset: str, protocol: str, seed: int = 0, added_dataset: str = "") -> str:
    """Return the command that trains a recommender for a protocol.

    Protocols with the same splitting share their models. The command names the protocol of the splitting.
    """
    training_protocol = protocols.get_current_or_former(protocol).splitting.protocol
    return checkpoints.training_command(variant, dataset, training_protocol, seed, added_dataset)


def reproduction_commands(document: dict[str, Any]) -> list[str]:
    """Return the commands that reproduce a result: train the recommender and its members for each seed, evaluate it."""
    variant, dataset, protocol = document["variant"], document["dataset"], document["protocol"]["name"]
    seeds = [row["seed"] for row in document["seeds"]]
    all_documents = results.documents(dataset, protocol, _ignore) if members(document) else []
    member_documents = [other for other in all_documents if other["variant"] in members(document)]
    training_commands = [
        training_command(result["variant"], dataset, protocol, seed, result.get("also", ""))
        for result in filter(needs_training, [document, *member_documents])
        for seed in seeds
    ]
    options = ["--seeds", *map(str, seeds)] if seeds != [0] else []
    evaluation_command = recsys_command("evaluate", variant, "--dataset", dataset, "--protocol", protocol, *options)
    return [*training_commands, evaluation_command]


def unmeasured_recommenders(measured_names: Iterable[str]) -> list[Recommender]:
    """Return the recommenders that are not in `measured_names`, sorted by title."""
    names = set(registry.names()) - set(measured_names)
    return sorted(map(registry.get, names), key=lambda recommender: recommender.title.lower())


def group_by_training(
    recommenders: Iterable[Recommender], dataset: str
) -> tuple[list[Recommender], list[Recommender], list[Recommender]]:
    """Return the recommenders that need training, the mixtures of such recommenders, and the others."""
    needing_training: list[Recommender] = []
    mixtures: list[Recommender] = []
    training_free: list[Recommender] = []
    for recommender in recommenders:
        if recommender.needs_training:
            needing_training.append(recommender)
        elif any(registry.get(name).needs_training for name in recommender.members(dataset)):
            mixtures.append(recommender)
        else:
            training_free.append(recommender)
    return needing_training, mixtures, training_free


def first_result_commands(variant: str, dataset: str, protocol: str) -> list[str]:
    """Return the commands that produce a first result: train the recommender or its members, evaluate it."""
    recommender = registry.get(variant)
    names = [variant] if recommender.needs_training else recommender.members(dataset)  # only mixtures have members
    training_commands = [
        training_command(name, dataset, protocol) for name in names if registry.get(name).needs_training
    ]
    return [*training_commands, recsys_command("evaluate", variant, "--dataset", dataset, "--protocol", protocol)]


def _published_texts(dataset: str, protocol: str) -> dict[str, str]:
    """Return recommender → its published figures with the codes of their rules: ".1821 A, .169 A"."""
    table = published_figures.published(dataset, protocol).dropna(subset=["variant", HEADLINE])
    texts: dict[str, list[str]] = {}
    for variant, figure, code in zip(table["variant"], table[HEADLINE], table["code"], strict=True):
        texts.setdefault(variant, []).append(f"{format_metric(figure)} {code}")
    return {variant: ", ".join(variant_texts) for variant, variant_texts in texts.items()}


def _published_rules(dataset: str, protocol: str, documents: list[dict[str, Any]]) -> list[str]:
    """Return a paragraph that explains the codes of the published figures, or []."""
    table = published_figures.published(dataset, protocol).dropna(subset=[HEADLINE])
    table = table[table["variant"].isin([document["variant"] for document in documents])]
    has_note = table["note"] != ""  # the published method differs from ours
    rows = table[~has_note].sort_values("code").drop_duplicates("code").itertuples()
    rows_with_note = table[has_note].drop_duplicates(["variant", "rules", "note"]).itertuples()
    lines = [f"{row.code}: {row.rules}" for row in rows]
    lines += [f"{row.code} beside {row.variant}: {row.rules}; {row.note}" for row in rows_with_note]
    return [f"Published figures. {'. '.join(lines)}."] if lines else []


def _list_metric_table(documents: list[dict[str, Any]]) -> list[str]:
    """Return paragraphs: a table of list metrics and calibration errors and, if needed, a note. [] without metrics."""
    documents = [document for document in documents if document.get("beyond")]
    if not documents:
        return []
    # a result of an older version can lack a metric
    names = [name for name in LIST_METRICS if any(name in document["beyond"] for document in documents)]
    rows = []
    for document in documents:
        values = document["beyond"]
        texts = [_format_list_metric(values[name]) if name in values else "" for name in names]
        rows.append([document["variant"], *texts, _format_calibration_error(document)])
    columns = [METRIC_TEXTS[name].column for name in (*names, CALIBRATION_ERROR)]
    table = markdown(["top ten of", *columns], rows)
    note = "*: of probabilities that add up to 1 over all films, those already seen included."
    return [table, note] if any(row[-1].endswith("*") for row in rows) else [table]


def _format_list_metric(value: float) -> str:
    """Return a value with three digits, or without decimals from 100: "0.25", "1,234"."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _provenance(documents: list[dict[str, Any]]) -> str:
    """Return the machines, dates, versions and data fingerprints of the results, without repetitions."""
    runs = [document["run"] for document in documents]
    machines = "; ".join(sorted({f"{run['machine']}, {run['device']}" for run in runs}))
    days = sorted({run["date"][:10] for run in runs})  # 2026-11-22
    versions = sorted({f"{name} {version}" for run in runs for name, version in run["versions"].items()})
    span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    data = ", ".join(sorted({document["fingerprint"][:12] for document in documents}))
    return f"Measured on {machines}; {span}; {', '.join(versions)}. Fingerprint of the data: {data}."


def _format_calibration_error(document: dict[str, Any]) -> str:
    """Return "0.0056", "0.0056 *" if probabilities sum to 1 over all films, or "" if the error is unknown."""
    calibration = document.get("calibration") or {}
    if "ece" not in calibration:
        return ""
    return f"{calibration['ece']:.4f}" + ("" if calibration.get("over") == UNSEEN_ITEMS else " *")


def _ignore(error: RecsysError) -> None:
    """Ignore a damaged result, which was reported when the leaderboard was read."""
