"""What this benchmark measures: how much of it is the order of the file among films rated in the same second."""

from typing import Any

import pandas as pd
import streamlit as st

from pages.evaluation import measured, words
from pages.evaluation.charts import ties as charts
from pages.evaluation.measured import Shown
from pages.ui import loaders
from pages.ui import words as common
from pages.ui.charts import chart, written
from pages.ui.i18n import number, say


def show(shown: Shown) -> None:
    """The order in a picture, what a rule gains that knows it alone, and what each recommender loses without it."""
    found = measured.ties(shown.dataset)
    assert found is not None, "the section is offered where there is something to show"
    data = loaders.data_title(shown.dataset)
    st.header(words.SAME_SECOND)
    for line in the_order(found, data):
        st.markdown(common.plain(line))
    distances = pd.DataFrame(found["distances"])
    chart(charts.distances(distances), words.DISTANCES_ALT, distances, f"file-order-{shown.dataset}")
    if found["rules"]:
        st.header(words.RULE_ALONE)
        rules(found["rules"])
    if found["recommenders"]:
        st.header(words.WITHOUT_THE_ORDER)
        without_the_order(pd.DataFrame(found["recommenders"]), shown.dataset)
    st.caption(common.plain(how(found)))


def the_order(found: dict[str, Any], data: str) -> list[str]:
    """How many films share their second, and in which order the file has them."""
    lower, pairs = found["lower"], found["pairs"]
    often = words.TIES.format(data=data, share=number(found["share"], ".0%"), targets=number(found["targets"], ".0%"))
    order = words.FILE_ORDERS[found["order"]].format(data=data)
    return [
        often,
        f"{order} {words.LOWER.format(pairs=pairs['same second'], same=lower['same second'], alone=lower['alone'])}",
    ]


def rules(rows: list[dict[str, Any]]) -> None:
    """What the order adds to counts, while it is that of the file and once it is drawn."""
    st.markdown(common.plain(words.RULE_HELP))
    table: dict[str, dict[str, Any]] = {}
    for row in rows:
        own = table.setdefault(row["title"], {"title": say(row["title"])})
        own[row["protocol"]], own[f"{row['protocol']} added"] = row["alone"], row["with the order"]
    shown = written(pd.DataFrame(table.values()))
    st.dataframe(shown, hide_index=True, column_config=words.RULE_COLUMNS, alt=words.RULE_TABLE)


def without_the_order(table: pd.DataFrame, dataset: str) -> None:
    """NDCG@10 of every recommender in both orders, and who loses most."""
    table = table.assign(title=table["title"].map(say))
    most = table.assign(lost=table["full"] - table["untied"]).sort_values("lost", ascending=False, ignore_index=True)
    first = most.iloc[0]
    st.markdown(
        common.plain(words.LOSES_MOST.format(protocol=words.protocol("untied"), **first[["title", "full", "untied"]]))
    )
    about = words.WITHOUT_ALT.format(n=len(table))
    chart(charts.both_orders(table), about, table, f"untied-{dataset}")


def how(found: dict[str, Any]) -> str:
    """Where the figures come from, and what was left out."""
    left_out = words.LEFT_OUT.format(rating=found["without_rating"]) if found["without_rating"] is not None else ""
    run = found["run"]
    return words.TIES_HOW.format(left_out=left_out, commit=run["commit"], date=run["date"][:10])
