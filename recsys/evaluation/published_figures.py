"""Published values of metrics, from published.json, for comparison with our results.

The file is {"rules": {code: {"short", "text", "knows_the_time"}}, "sources": {name: text}, "figures": [{"dataset",
"protocol", "title", "variant", "code", "source", "note", "hr@10", "ndcg@10", …}]}. `knows_the_time`, `variant`,
`note` and each of METRICS are optional.

In the texts of "rules", "the hidden film" is the held-out item.
"""

from functools import partial
from typing import Any

import pandas as pd

from recsys import paths, storage

METRICS = ("hr@1", "hr@5", "hr@10", "ndcg@5", "ndcg@10", "mrr")
COLUMNS = ["title", "variant", *METRICS, "code", "short", "rules", "note", "knows_the_time", "source"]


def published(dataset: str, protocol: str) -> pd.DataFrame:
    """Return a table with a row per published figure, best NDCG@10 first. Missing values are NaN.

    Columns, in addition to title, METRICS and source:
        variant: name of our most similar recommender
        code: key of the rules of the measurement, with "*" if there is a note
        short, rules: how these rules differ from ours, in a few words and in a sentence
        note: how the published method differs from our recommender, or ""
        knows_the_time: whether the model gets the time of the held-out item, unlike our models
    """
    parse = partial(_table, dataset, protocol)
    return storage.read_shipped_json(paths.published(), parse, pd.DataFrame(columns=COLUMNS))


def _table(dataset: str, protocol: str, content: dict[str, Any]) -> pd.DataFrame:
    """Return the table of `published` from the content of published.json."""
    rows = []
    for figure in content["figures"]:
        if (figure["dataset"], figure["protocol"]) == (dataset, protocol):
            rules = content["rules"][figure["code"]]
            code = figure["code"] + ("*" if "note" in figure else "")
            texts = {"short": rules["short"], "rules": rules["text"], "source": content["sources"][figure["source"]]}
            optional = {"note": figure.get("note", ""), "knows_the_time": rules.get("knows_the_time", False)}
            rows.append(figure | texts | optional | {"code": code})
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.sort_values("ndcg@10", ascending=False, kind="stable", ignore_index=True)
