"""`python -m recsys report`: every result as Markdown, ours beside what others published.

Reads result files only, without torch. Nothing is computed anew but the comparison with the best, from the ranks.
"""

import sys
from collections.abc import Sequence
from typing import Any

from recsys.evaluation import results
from recsys.evaluation.compare import against_best
from recsys.evaluation.protocols import PROTOCOLS

HEADLINE = "ndcg@10"
SURE = 0.05  # Holm-corrected p below which a difference counts
BEYOND = {
    "coverage@10": "coverage",
    "novelty@10": "novelty, bits",
    "diversity@10": "diversity",
    "popularity@10": "mean popularity",
    "gini@10": "Gini",
}


def report_command(datasets: Sequence[str], protocols: Sequence[str], brief: bool) -> int:
    """Print the tables; returns the exit code, 1 after a one-line error."""
    try:
        print(report(datasets, protocols, brief))
    except results.ResultError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def report(datasets: Sequence[str] = (), protocols: Sequence[str] = (), brief: bool = False) -> str:
    """All tables of the data sets and protocols asked for, of everything measured when none is named.

    `brief` leaves everything out but the leaderboards, as the README shows one. Raises ResultError when there is
    nothing to report.
    """
    wanted = [
        (dataset, protocol)
        for dataset, protocol in results.available()
        if dataset in (datasets or [dataset]) and protocol in (protocols or [protocol])
    ]
    if not wanted:
        raise results.ResultError("nothing of that has been measured yet; run: python -m recsys evaluate")
    wanted.sort(key=lambda pair: (pair[0], list(PROTOCOLS).index(pair[1])))
    return "\n\n".join(leaderboard(*pair, load(*pair)) if brief else section(*pair) for pair in wanted)


def section(dataset: str, protocol: str) -> str:
    """One data set under one protocol: its rules, the leaderboard, what lists are like, and how it was measured."""
    documents = load(dataset, protocol)
    parts = [f"## {dataset}, protocol {protocol}", rules(documents[0]), leaderboard(dataset, protocol, documents)]
    if any(document.get("beyond") for document in documents):
        parts.append(beyond(documents))
    return "\n\n".join([*parts, hardware(documents)])


def load(dataset: str, protocol: str) -> list[dict[str, Any]]:
    """The result documents, best first."""
    table = results.leaderboard(dataset, protocol)
    return [results.load(dataset, protocol, variant) for variant in table["variant"]]


def rules(document: dict[str, Any]) -> str:
    """The protocol in its own words."""
    return "; ".join(f"{name}: {rule}" for name, rule in document["protocol"].items() if name != "name") + "."


def leaderboard(dataset: str, protocol: str, documents: list[dict[str, Any]]) -> str:
    """A row a model: the headline with its 95 % interval over users, the rest, and what others published."""
    theirs = published(dataset, protocol)
    tied = like_the_best(dataset, protocol, documents)
    head = ["model", "family", "seeds", "NDCG@10 (95 %)", "± seeds", "HR@10", "HR@1", "MRR", "published NDCG@10"]
    rows = []
    for document in documents:
        variant, mean = document["variant"], document["mean"]
        rows.append(
            [
                variant,
                document["family"],
                len(document["seeds"]),
                short(mean[HEADLINE]) + interval(document) + (" =" if variant in tied else ""),
                short(document["std"][HEADLINE]) if document["std"] else "",
                *(short(mean[name]) for name in ("hr@10", "hr@1", "mrr")),
                theirs.get(variant, ""),
            ]
        )
    note = f"=: not told from the best (paired randomisation test over users, Holm-corrected, p ≥ {SURE})."
    return f"{markdown(head, rows)}\n\n{note}"


def published(dataset: str, protocol: str) -> dict[str, str]:
    """Variant → every published figure of it, with the code of its rules: ".1821 A, .169 A"."""
    table = results.published(dataset, protocol).dropna(subset=["variant", HEADLINE])
    figures: dict[str, list[str]] = {}
    for variant, figure, code in zip(table["variant"], table[HEADLINE], table["code"], strict=True):
        figures.setdefault(variant, []).append(f"{short(figure)} {code}")
    return {variant: ", ".join(found) for variant, found in figures.items()}


def like_the_best(dataset: str, protocol: str, documents: list[dict[str, Any]]) -> set[str]:
    """The variants whose distance to the best may be chance."""
    table = against_best(dataset, protocol, [document["variant"] for document in documents], HEADLINE)
    return set(table.loc[table["p_holm"] >= SURE, "variant"])


def beyond(documents: list[dict[str, Any]]) -> str:
    """What the top tens are like, beyond being right."""
    found = [document for document in documents if document.get("beyond")]
    names = [name for name in BEYOND if name in found[0]["beyond"]]
    rows = []
    for document in found:
        calibration = document.get("calibration") or {}
        error = f"{calibration['ece']:.4f}" if "ece" in calibration else ""
        rows.append([document["variant"], *(figure(document["beyond"][name]) for name in names), error])
    return markdown(["top ten of", *(BEYOND[name] for name in names), "calibration error"], rows)


def hardware(documents: list[dict[str, Any]]) -> str:
    """Where and when it was measured, each circumstance once."""
    runs = [document["run"] for document in documents]
    places = sorted({f"{run['machine']}, {run['device']}" for run in runs})
    days = sorted({run["date"][:10] for run in runs})
    versions = sorted({f"{name} {version}" for run in runs for name, version in run["versions"].items()})
    span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    data = sorted({document["fingerprint"][:12] for document in documents})
    return (
        f"Measured on {'; '.join(places)}; {span}; {', '.join(versions)}. Fingerprint of the data: {', '.join(data)}."
    )


def interval(document: dict[str, Any]) -> str:
    """ " (.153–.158)", or nothing where a result has none."""
    found = document.get("interval", {}).get(HEADLINE)
    return f" ({short(found[0], 3)}–{short(found[1], 3)})" if found else ""


def short(value: float, digits: int = 4) -> str:
    """ ".1567"."""
    return f"{value:.{digits}f}".removeprefix("0")


def figure(value: float) -> str:
    """Three digits that count."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def markdown(head: list[str], rows: list[list[Any]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
