"""Published figures (values of metrics), for comparison with our results."""

from typing import Any, NotRequired

import pandas as pd
from pydantic import ConfigDict, TypeAdapter, with_config
from typing_extensions import TypedDict

from recsys import paths, storage

METRICS = ("hr@1", "hr@5", "hr@10", "ndcg@5", "ndcg@10", "mrr")


class Rule(TypedDict):
    """Evaluation rules of publications. The key of a rule, a letter, is its code in tables."""

    short: str  # comparison with our rules in a few words
    text: str  # comparison with our rules in a sentence
    knows_the_time: NotRequired[bool]  # whether the model gets the time of the held-out item, unlike our models


Figure = TypedDict(
    "Figure",
    {
        "dataset": str,
        "protocol": str,
        "title": str,
        "variant": NotRequired[str],  # our nearest recommender
        "code": str,  # key of a rule
        "source": str,  # key of a source
        "note": NotRequired[str],  # how the published method differs from ours
        "hr@1": NotRequired[float],
        "hr@5": NotRequired[float],
        "hr@10": float,
        "ndcg@5": NotRequired[float],
        "ndcg@10": float,
        "mrr": NotRequired[float],
    },
)


@with_config(ConfigDict(strict=True, allow_inf_nan=False))
class Document(TypedDict):
    """Content of published.json."""

    rules: dict[str, Rule]
    sources: dict[str, str]
    figures: list[Figure]


_DOCUMENT = TypeAdapter(Document)


def published(dataset: str, protocol: str) -> pd.DataFrame:
    """Return published figures, best NDCG@10 first. Their rules are similar to ours, but not all equal.

    Columns: title, variant (our nearest recommender), METRICS, code (of the rules), short and rules (`short` and `text`
    of `Rule`), note, knows_the_time, source. Missing values are NaN. `note` describes how the method differs from ours,
    or is "". The code of a row with a note ends in *.
    """
    content = storage.read_shipped_json(paths.published(), _is_valid) or {"figures": []}
    rows = [
        {**row, **_rules(row, content["rules"][row["code"]]), "source": content["sources"][row["source"]]}
        for row in content["figures"]
        if (row["dataset"], row["protocol"]) == (dataset, protocol)
    ]
    columns = ["title", "variant", *METRICS, "code", "short", "rules", "note", "knows_the_time", "source"]
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values("ndcg@10", ascending=False, kind="stable", ignore_index=True)


def _is_valid(content: Any) -> bool:
    """Return whether published.json is a `Document`, and each figure has a known rule and source."""
    try:
        document = _DOCUMENT.validate_python(content)
    except ValueError:
        return False
    rules, sources = document["rules"], document["sources"]
    return all(row["code"] in rules and row["source"] in sources for row in document["figures"])


def _rules(row: Figure, rule: Rule) -> dict[str, Any]:
    """Return the columns about the rules of a row."""
    note = row.get("note", "")
    return {
        "code": f"{row['code']}*" if note else row["code"],
        "short": rule["short"],
        "rules": rule["text"],
        "note": note,
        "knows_the_time": rule.get("knows_the_time", False),
    }
