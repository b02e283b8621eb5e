"""Published values of metrics, from published.json, for comparison with our results.

The file is {"rules": {letter: {"short", "text", "knows_the_time"}}, "sources": {name: text}, "figures": [{"dataset",
"protocol", "title", "variant", "code", "source", "note", "hr@10", "ndcg@10", …}]}. "code" is a letter of "rules".
`knows_the_time`, `variant`, `note` and each of METRICS are optional.
"""

from functools import partial
from typing import Any

import pandas as pd

from recsys import paths, storage

METRICS = ("hr@1", "hr@5", "hr@10", "ndcg@5", "ndcg@10", "mrr")
COLUMNS = ["title", "variant", *METRICS, "code", "short", "rules", "note", "knows_the_time", "source"]


def published(dataset: str, protocol: str) -> pd.DataFrame:
    """Return published figures, best NDCG@10 first, a row each. Missing values are NaN.

    Columns: title, variant (our nearest recommender), METRICS, code (letter of the rules of the measurement, with "*"
    if there is a note), short and rules (how these rules differ from ours, in a few words and in a sentence), note (how
    the published method differs from ours, or ""), knows_the_time (whether the model gets the time of the held-out
    item, unlike our models), source.
    """
    parse = partial(_table, dataset, protocol)
    return storage.read_shipped_json(paths.published(), parse, pd.DataFrame(columns=COLUMNS))


def _table(dataset: str, protocol: str, content: dict[str, Any]) -> pd.DataFrame:
    """Return the table of `published` from the content of published.json."""
    rows = [
        {"note": "", **row, **_rules(row, content["rules"][row["code"]]), "source": content["sources"][row["source"]]}
        for row in content["figures"]
        if (row["dataset"], row["protocol"]) == (dataset, protocol)
    ]
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.sort_values("ndcg@10", ascending=False, kind="stable", ignore_index=True)


def _rules(row: dict[str, Any], rule: dict[str, Any]) -> dict[str, Any]:
    """Return the columns code, short, rules and knows_the_time of a row."""
    return {
        "code": row["code"] + ("*" if "note" in row else ""),
        "short": rule["short"],
        "rules": rule["text"],
        "knows_the_time": rule.get("knows_the_time", False),
    }
