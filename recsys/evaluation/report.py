"""Every result as Markdown, ours beside what others published.

Reads result files only, without torch. Nothing is computed but the comparison of the models, from their ranks.
"""

import warnings
from collections.abc import Sequence
from typing import Any

from recsys.data.datasets import DEFAULT_DATASET
from recsys.errors import recsys_command
from recsys.evaluation import compare, protocols, published_figures, results
from recsys.evaluation.results import UNSEEN, Report
from recsys.evaluation.significance import FEW_USERS

HEADLINE = "ndcg@10"
BEYOND = {
    "coverage@10": "coverage",
    "novelty@10": "novelty, bits",
    "diversity@10": "diversity",
    "popularity@10": "mean popularity",
    "gini@10": "Gini",
}


def report(
    datasets: Sequence[str] = (),
    protocols_: Sequence[str] = (),
    brief: bool = False,
    say: Report = warnings.warn,
    beside: str = "",
) -> str:
    """All tables of the data sets and protocols asked for; of everything that was measured when none is named.

    `brief` leaves everything out but the leaderboards, as the README shows one; `beside` is another protocol whose
    headline figure gets a column. Results that cannot be read or compared are left out, each with a sentence to `say`.
    Raises ResultError when there is nothing to report.
    """
    wanted = {pair: results.documents(*pair, say) for pair in _wanted(datasets, protocols_)}
    found = {pair: documents for pair, documents in wanted.items() if documents}
    if not found:
        dataset, protocol = next(iter(wanted), (next(iter(datasets), DEFAULT_DATASET), next(iter(protocols_), "full")))
        command = recsys_command("evaluate", "all", "--dataset", dataset, "--protocol", protocol)
        raise results.ResultError("nothing of that has been measured yet on the data as it is here", command)
    table = leaderboard if brief else section
    return "\n\n".join(table(*pair, documents, beside) for pair, documents in found.items())


def section(dataset: str, protocol: str, documents: list[dict[str, Any]], beside: str = "") -> str:
    """One data set under one protocol: its rules, the leaderboard, what lists are like, and how it was measured."""
    parts = [f"## {dataset}, protocol {protocol}", users(documents), rules(documents[0])]
    parts += [leaderboard(dataset, protocol, documents, beside), *published_rules(dataset, protocol, documents)]
    if any(document.get("beyond") for document in documents):
        parts.append(beyond(documents))
    return "\n\n".join([*parts, hardware(documents)])


def users(documents: list[dict[str, Any]]) -> str:
    """How many people there are, and whether they are enough."""
    n = documents[0]["users"]
    few = f" With fewer than {FEW_USERS} people, differences between recommenders are noise." if n < FEW_USERS else ""
    return f"Measured on {n:,} people.{few}"


def rules(document: dict[str, Any]) -> str:
    """The protocol in its own words."""
    return "; ".join(f"{name}: {rule}" for name, rule in document["protocol"].items() if name != "name") + "."


def leaderboard(dataset: str, protocol: str, documents: list[dict[str, Any]], beside: str = "") -> str:
    """A row per model: the headline with its 95 % interval over users, the rest, and what others published."""
    theirs, like_best = published(dataset, protocol), like_the_best(dataset, protocol)
    others = headlines(dataset, beside) if beside else {}
    more = [f"{beside}: NDCG@10 (95 %)"] if beside else []
    head = ["model", "family", "seeds", "NDCG@10 (95 %)", "± seeds", *more, "HR@10", "HR@1", "MRR", "published NDCG@10"]
    rows = [
        [
            document["variant"],
            document["family"],
            len(document["seeds"]),
            short(document["mean"][HEADLINE]) + interval(document) + (" =" if document["variant"] in like_best else ""),
            short(document["std"][HEADLINE]) if document["std"] else "",
            *([others.get(document["variant"], "")] if beside else []),
            *(short(document["mean"][name]) for name in ("hr@10", "hr@1", "mrr")),
            theirs.get(document["variant"], ""),
        ]
        for document in documents
    ]
    note = (
        "=: not significantly different from the best (paired randomisation test over users, p ≥ "
        f"{compare.ALPHA} after Holm's correction for all pairs of models)."
    )
    return f"{markdown(head, rows)}\n\n{note}"


def headlines(dataset: str, protocol: str) -> dict[str, str]:
    """Variant → its headline figure under a protocol, with its interval."""
    found = results.documents(dataset, protocol, _nobody)
    return {document["variant"]: short(document["mean"][HEADLINE]) + interval(document) for document in found}


def published(dataset: str, protocol: str) -> dict[str, str]:
    """Variant → every published figure of it, with the code of its rules: ".1821 A, .169 A"."""
    table = published_figures.published(dataset, protocol).dropna(subset=["variant", HEADLINE])
    figures: dict[str, list[str]] = {}
    for variant, figure, code in zip(table["variant"], table[HEADLINE], table["code"], strict=True):
        figures.setdefault(variant, []).append(f"{short(figure)} {code}")
    return {variant: ", ".join(found) for variant, found in figures.items()}


def published_rules(dataset: str, protocol: str, documents: list[dict[str, Any]]) -> list[str]:
    """What the codes of the published figures beside these results mean: a paragraph, or none."""
    table = published_figures.published(dataset, protocol).dropna(subset=[HEADLINE])
    known = table[table["variant"].isin([document["variant"] for document in documents])]
    plain = known[~known["code"].str.endswith("*")].drop_duplicates("code").sort_values("code")
    other = known[known["code"].str.endswith("*")].drop_duplicates(["variant", "rules"])
    lines = [f"{code}: {text}" for code, text in zip(plain["code"], plain["rules"], strict=True)]
    lines += [
        f"{code} beside {variant}: {text}"
        for code, variant, text in zip(other["code"], other["variant"], other["rules"], strict=True)
    ]
    return [f"Published figures. {'. '.join(lines)}."] if lines else []


def like_the_best(dataset: str, protocol: str) -> set[str]:
    """The variants that do not differ significantly from the best."""
    table = compare.against_best(compare.pairwise_tests(dataset, protocol, HEADLINE, _nobody))
    return set(table.loc[~table["differs"].astype(bool), "variant"])


def beyond(documents: list[dict[str, Any]]) -> str:
    """What the top tens are like, right or wrong, and how far their probabilities are off."""
    found = [document for document in documents if document.get("beyond")]
    names = [name for name in BEYOND if name in found[0]["beyond"]]
    rows = [
        [document["variant"], *(figure(document["beyond"][name]) for name in names), _calibration_error(document)]
        for document in found
    ]
    table = markdown(["top ten of", *(BEYOND[name] for name in names), "calibration error"], rows)
    older = any(row[-1].endswith("*") for row in rows)
    note = "*: of probabilities that add up to 1 over all films, those already seen included."
    return f"{table}\n\n{note}" if older else table


def hardware(documents: list[dict[str, Any]]) -> str:
    """Where and when it was measured, each circumstance once."""
    runs = [document["run"] for document in documents]
    machines = sorted({f"{run['machine']}, {run['device']}" for run in runs})
    days = sorted({run["date"][:10] for run in runs})
    versions = sorted({f"{name} {version}" for run in runs for name, version in run["versions"].items()})
    span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    data = sorted({document["fingerprint"][:12] for document in documents})
    return (
        f"Measured on {'; '.join(machines)}; {span}; {', '.join(versions)}. Fingerprint of the data: {', '.join(data)}."
    )


def interval(document: dict[str, Any]) -> str:
    """ " (.153–.158)", or nothing where a result has none."""
    found = document.get("interval", {}).get(HEADLINE)
    return f" ({short(found[0], 3)}–{short(found[1], 3)})" if found else ""


def short(value: float, digits: int = 4) -> str:
    """ ".1567"."""
    return f"{value:.{digits}f}".removeprefix("0")


def figure(value: float) -> str:
    """Three significant digits."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def markdown(head: list[str], rows: list[list[Any]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def _wanted(datasets: Sequence[str], names: Sequence[str]) -> list[tuple[str, str]]:
    """(data set, protocol) with results, of those asked for: data sets by name, protocols in the order shown."""
    found = [
        (dataset, protocol)
        for dataset, protocol in results.available()
        if dataset in (datasets or [dataset]) and protocol in (names or [protocol])
    ]
    order = protocols.in_order({protocol for _, protocol in found})
    return sorted(found, key=lambda pair: (pair[0], order.index(pair[1])))


def _calibration_error(document: dict[str, Any]) -> str:
    """ ".0056", with a * where probabilities add up to 1 over seen films too; "" where there are none."""
    known = document.get("calibration") or {}
    if "ece" not in known:
        return ""
    return f"{known['ece']:.4f}" + ("" if known.get("over") == UNSEEN else " *")


def _nobody(sentence: str) -> None:
    """Nothing more to say: what is left out was reported when the documents were read."""
