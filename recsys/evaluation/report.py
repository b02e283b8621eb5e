"""Results as Markdown beside published figures, and the commands that reproduce results or produce missing ones.

Only result files are read, without torch. Paired tests are computed from their ranks.
"""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from recsys import checkpoints
from recsys.data.datasets import DEFAULT_DATASET
from recsys.errors import recsys_command
from recsys.evaluation import protocols, published_figures, results, significance
from recsys.evaluation.results import UNSEEN, Report
from recsys.evaluation.significance import FEW_USERS
from recsys.models import registry

HEADLINE = "ndcg@10"
BEYOND = {  # list metrics → titles
    "coverage@10": "coverage",
    "novelty@10": "novelty, bits",
    "diversity@10": "diversity",
    "popularity@10": "mean popularity",
    "gini@10": "Gini",
}


@dataclass(frozen=True)
class Missing:
    """A recommender without a result under a protocol. Facts come from its results on other data or protocols."""

    variant: str
    title: str  # the name of the recommender if it has no result at all
    trained: bool  # whether it must be trained first
    members: tuple[str, ...] = ()  # recommenders that it combines


def report(
    datasets: Sequence[str] = (),
    protocols_: Sequence[str] = (),
    brief: bool = False,
    say: Report = warnings.warn,
    beside: str = "",
) -> str:
    """Return the results of data sets and protocols, of all if none is named, as Markdown.

    `brief` selects only leaderboards, as in README.md. The headline metric of the protocol `beside` gets a column.
    `say` is called with a sentence for each skipped result. Raises ResultError if there is nothing to report.
    """
    pairs = [(dataset, protocol) for dataset, protocol in results.available() if dataset in (datasets or [dataset])]
    pairs = [pair for pair in pairs if pair[1] in (protocols_ or [pair[1]])]
    order = protocols.in_order({protocol for _, protocol in pairs})
    pairs = sorted(pairs, key=lambda pair: (pair[0], order.index(pair[1])))
    tables = {pair: results.documents(*pair, say) for pair in pairs}
    if not any(tables.values()):
        dataset, protocol = next(iter(tables), (next(iter(datasets), DEFAULT_DATASET), next(iter(protocols_), "full")))
        command = recsys_command("evaluate", "all", "--dataset", dataset, "--protocol", protocol)
        raise results.ResultError("nothing of that has been measured yet on the data as it is here", command)
    table = leaderboard if brief else section
    return "\n\n".join(table(*pair, documents, beside) for pair, documents in tables.items() if documents)


def section(dataset: str, protocol: str, documents: list[dict[str, Any]], beside: str = "") -> str:
    """Return the rules, the leaderboard, the list metrics and the circumstances of one data set under one protocol."""
    n, rules = documents[0]["users"], documents[0]["protocol"].items()
    few = f" With fewer than {FEW_USERS} people, differences between recommenders are noise." if n < FEW_USERS else ""
    parts = [
        f"## {dataset}, protocol {protocol}",
        f"Measured on {n:,} people.{few}",
        "; ".join(f"{name}: {rule}" for name, rule in rules if name != "name") + ".",
        leaderboard(dataset, protocol, documents, beside),
        *_published_rules(dataset, protocol, documents),
        *_list_metrics(documents),
        _circumstances(documents),
    ]
    return "\n\n".join(parts)


def leaderboard(dataset: str, protocol: str, documents: list[dict[str, Any]], beside: str = "") -> str:
    """Return a row per recommender: the headline metric with its 95 % interval, other metrics, published figures."""
    tests = significance.against_best(significance.pairwise_tests(dataset, protocol, HEADLINE, _ignore))
    like_best = set(tests.loc[~tests["differs"].astype(bool), "variant"])
    published = _published(dataset, protocol)
    others = results.documents(dataset, beside, _ignore) if beside else []
    headlines = {document["variant"]: _headline(document) for document in others}
    more = [f"{beside}: NDCG@10 (95 %)"] if beside else []
    head = ["model", "family", "seeds", "NDCG@10 (95 %)", "± seeds", *more, "HR@10", "HR@1", "MRR", "published NDCG@10"]
    rows = [
        [
            document["variant"],
            document["family"],
            len(document["seeds"]),
            _headline(document) + (" =" if document["variant"] in like_best else ""),
            short(document["std"][HEADLINE]) if document["std"] else "",
            *([headlines.get(document["variant"], "")] if beside else []),
            *(short(document["mean"][name]) for name in ("hr@10", "hr@1", "mrr")),
            published.get(document["variant"], ""),
        ]
        for document in documents
    ]
    test = f"paired randomisation test over users, p ≥ {significance.ALPHA} after Holm's correction for all pairs of"
    return f"{markdown(head, rows)}\n\n=: not significantly different from the best ({test} models)."


def short(value: float, digits: int = 4) -> str:
    """Format a value below 1 without its leading zero: ".1567"."""
    return f"{value:.{digits}f}".removeprefix("0")


def markdown(head: list[str], rows: list[list[Any]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def is_trained(document: dict[str, Any]) -> bool:
    """Return whether the recommender of a result has a training loop. Others are fitted on first use."""
    return "schedule" in document["config"]


def members(document: dict[str, Any]) -> tuple[str, ...]:
    """Return the recommenders that the recommender of a result combines."""
    return tuple(document["config"].get("members", ()))


def training_command(variant: str, dataset: str, protocol: str, seed: int = 0, also: str = "") -> str:
    """Return the command that trains a recommender for a protocol. `also` is a second training data set."""
    trained_for = protocols.get_or_former(protocol).splitting.protocol
    return checkpoints.training_command(variant, dataset, trained_for, seed, also)


def commands(document: dict[str, Any]) -> list[str]:
    """Return the commands that reproduce a result: the training of each seed and of its members, and the evaluation."""
    variant, dataset, protocol = document["variant"], document["dataset"], document["protocol"]["name"]
    seeds, combined = [run["seed"] for run in document["seeds"]], members(document)
    others = results.documents(dataset, protocol, _ignore) if combined else []
    parts = [part for part in others if part["variant"] in combined]
    lines = [
        training_command(part["variant"], dataset, protocol, seed, part.get("also", ""))
        for part in [document, *parts]
        if is_trained(part)
        for seed in seeds
    ]
    options = ["--seeds", *map(str, seeds)] if seeds != [0] else []
    return [*lines, recsys_command("evaluate", variant, "--dataset", dataset, "--protocol", protocol, *options)]


def missing(dataset: str, protocol: str, measured: Iterable[str]) -> list[Missing]:
    """Return the recommenders that are not in `measured`, sorted by title."""
    absent = set(registry.names()) - set(measured)
    facts = _facts(dataset, absent)
    return sorted((facts.get(name, Missing(name, name, False)) for name in absent), key=lambda row: row.title.lower())


def commands_for(recommender: Missing, dataset: str, protocol: str) -> list[str]:
    """Return the commands that produce the result of a missing recommender."""
    facts = _facts(dataset, set(recommender.members))
    parts = [recommender, *(facts[name] for name in recommender.members if name in facts)]
    lines = [training_command(part.variant, dataset, protocol) for part in parts if part.trained]
    return [*lines, recsys_command("evaluate", recommender.variant, "--dataset", dataset, "--protocol", protocol)]


def _facts(dataset: str, variants: set[str]) -> dict[str, Missing]:
    """Return facts on recommenders from any of their results, preferably on the same data set."""
    facts: dict[str, Missing] = {}
    pairs = sorted(results.available(), key=lambda pair: (pair[0] != dataset, protocols.in_order([pair[1]])))
    for pair in pairs:
        if variants <= facts.keys():  # reading all results would take seconds
            break
        for document in results.documents(*pair, _ignore):
            row = Missing(document["variant"], document["title"], is_trained(document), members(document))
            facts.setdefault(row.variant, row)
    return facts


def _published(dataset: str, protocol: str) -> dict[str, str]:
    """Return the published figures of each recommender with the codes of their rules: ".1821 A, .169 A"."""
    table = published_figures.published(dataset, protocol).dropna(subset=["variant", HEADLINE])
    figures: dict[str, list[str]] = {}
    for variant, figure, code in zip(table["variant"], table[HEADLINE], table["code"], strict=True):
        figures.setdefault(variant, []).append(f"{short(figure)} {code}")
    return {variant: ", ".join(texts) for variant, texts in figures.items()}


def _published_rules(dataset: str, protocol: str, documents: list[dict[str, Any]]) -> list[str]:
    """Return a paragraph that explains the codes of the published figures, or []."""
    table = published_figures.published(dataset, protocol).dropna(subset=[HEADLINE])
    table = table[table["variant"].isin([document["variant"] for document in documents])]
    is_other = table["code"].str.endswith("*")  # the published method differs from ours
    plain, other = table[~is_other].sort_values("code"), table[is_other]
    lines = [f"{row.code}: {row.rules}" for row in plain.drop_duplicates("code").itertuples()]
    rows = other.drop_duplicates(["variant", "rules"]).itertuples()
    lines += [f"{row.code} beside {row.variant}: {row.rules}" for row in rows]
    return [f"Published figures. {'. '.join(lines)}."] if lines else []


def _list_metrics(documents: list[dict[str, Any]]) -> list[str]:
    """Return a table of the list metrics and calibration errors, or []."""
    documents = [document for document in documents if document.get("beyond")]
    if not documents:
        return []
    names = [name for name in BEYOND if name in documents[0]["beyond"]]
    rows = [
        [
            document["variant"],
            *(f"{value:,.0f}" if abs(value := document["beyond"][name]) >= 100 else f"{value:.3g}" for name in names),
            _calibration_error(document),
        ]
        for document in documents
    ]
    table = markdown(["top ten of", *(BEYOND[name] for name in names), "calibration error"], rows)
    note = "*: of probabilities that add up to 1 over all films, those already seen included."
    return [table, note] if any(row[-1].endswith("*") for row in rows) else [table]


def _circumstances(documents: list[dict[str, Any]]) -> str:
    """Return machines, dates, versions and data fingerprints of the results, each once."""
    runs = [document["run"] for document in documents]
    machines = "; ".join(sorted({f"{run['machine']}, {run['device']}" for run in runs}))
    days = sorted({run["date"][:10] for run in runs})
    versions = sorted({f"{name} {version}" for run in runs for name, version in run["versions"].items()})
    span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    data = ", ".join(sorted({document["fingerprint"][:12] for document in documents}))
    return f"Measured on {machines}; {span}; {', '.join(versions)}. Fingerprint of the data: {data}."


def _headline(document: dict[str, Any]) -> str:
    """Return the headline metric with its interval, if any: ".1567 (.153–.158)"."""
    bounds = document.get("interval", {}).get(HEADLINE)
    interval = f" ({short(bounds[0], 3)}–{short(bounds[1], 3)})" if bounds else ""
    return short(document["mean"][HEADLINE]) + interval


def _calibration_error(document: dict[str, Any]) -> str:
    """Return the error as text, with * if probabilities sum to 1 over seen films too. "": no probabilities."""
    calibration = document.get("calibration") or {}
    if "ece" not in calibration:
        return ""
    return f"{calibration['ece']:.4f}" + ("" if calibration.get("over") == UNSEEN else " *")


def _ignore(sentence: str) -> None:
    """Skip a sentence about a damaged result, which was reported when the documents were read."""
