"""What this benchmark measures: how much of it is the order of the file among films rated in the same second."""

from typing import Any

import pandas as pd
import streamlit as st

from pages.evaluation import measured, words
from pages.evaluation.charts import ties as charts
from pages.evaluation.measured import Shown
from pages.ui import cache, format
from pages.ui.charts import chart, localised_table
from pages.ui.i18n import _, ngettext, number, say


def show(shown: Shown) -> None:
    """The order in a picture, what a rule gains that knows it alone, and what each recommender loses without it."""
    found = measured.ties(shown.dataset)
    assert found is not None, "the section is offered where there is something to show"
    data = cache.dataset_title(shown.dataset)
    st.header(_("Films rated in the same second"))
    for line in the_order(found, data):
        st.markdown(format.escape_markdown(line))
    distances = pd.DataFrame(found["distances"])
    chart(
        charts.distances(distances),
        _(
            "Share of neighbouring films by how far apart they stand in the order of the file: those of "
            "one second only ever go forwards, the others as often back"
        ),
        distances,
        f"file-order-{shown.dataset}",
    )
    if found["rules"]:
        st.header(_("What the order alone is worth"))
        rules(found["rules"])
    if found["recommenders"]:
        st.header(_("What is left without it"))
        without_the_order(pd.DataFrame(found["recommenders"]), shown.dataset)
    st.caption(format.escape_markdown(how(found)))


def the_order(found: dict[str, Any], data: str) -> list[str]:
    """How many films share their second, and in which order the file has them."""
    lower, pairs = found["lower"], found["pairs"]
    often = _(
        "People of MovieLens rate a page of films at once: in {data}, {share} of all films were "
        "rated in the same second as the film before, and so were {targets} of the hidden films. In "
        "which order somebody watched them, nobody knows. An experiment that sorts by time leaves "
        "them in the order of the ratings file.",
        data=data,
        share=number(found["share"], ".0%"),
        targets=number(found["targets"], ".0%"),
    )
    order = words.FILE_ORDERS[found["order"]].format(data=data)
    return [
        often,
        f"{order} "
        + ngettext(
            "Of {pairs:,} pairs rated in the same second, the second film stands before the first one in "
            "{same:.0%}; of pairs with a second each, in {alone:.0%}.",
            "Of {pairs:,} pairs rated in the same second, the second film stands before the first one in "
            "{same:.0%}; of pairs with a second each, in {alone:.0%}.",
            pairs["same second"],
            pairs=pairs["same second"],
            same=lower["same second"],
            alone=lower["alone"],
        ),
    ]


def rules(rows: list[dict[str, Any]]) -> None:
    """What the order adds to counts, while it is that of the file and once it is drawn."""
    st.markdown(
        format.escape_markdown(
            _(
                "A rule that knows how far on in that order the next film usually stands, but nothing of any "
                "film, is added to two simple recommenders (NDCG@10; how much it weighs is chosen on "
                "validation). It helps where the file's order is kept, and hardly where films of one second "
                "stand in a drawn order."
            )
        )
    )
    table: dict[str, dict[str, Any]] = {}
    for row in rows:
        own = table.setdefault(row["title"], {"title": say(row["title"])})
        own[row["protocol"]], own[f"{row['protocol']} added"] = row["alone"], row["with the order"]
    shown = localised_table(pd.DataFrame(table.values()))
    st.dataframe(
        shown,
        hide_index=True,
        column_config=words.RULE_COLUMNS,
        alt=_("NDCG@10 of two recommenders with and without the rule, in the order of the file and in a drawn order"),
    )


def without_the_order(table: pd.DataFrame, dataset: str) -> None:
    """NDCG@10 of every recommender in both orders, and who loses most."""
    table = table.assign(title=table["title"].map(say))
    most = table.assign(lost=table["full"] - table["untied"]).sort_values("lost", ascending=False, ignore_index=True)
    first = most.iloc[0]
    st.markdown(
        format.escape_markdown(
            _(
                "The same recommenders, trained and tested once in the order of the file and once in a drawn "
                "one (the protocol “{protocol}”). {title} loses most: {full:.4f} falls to {untied:.4f}. "
                "Published figures are those of the file's order.",
                protocol=words.protocol("untied"),
                **first[["title", "full", "untied"]],
            )
        )
    )
    about = ngettext(
        "NDCG@10 of {n} recommender with films of one second in the order of the file, and in a drawn order",
        "NDCG@10 of {n} recommenders with films of one second in the order of the file, and in a drawn order",
        len(table),
    )
    chart(charts.both_orders(table), about, table, f"untied-{dataset}")


def how(found: dict[str, Any]) -> str:
    """Where the figures come from, and what was left out."""
    left_out = (
        _(
            "Pairs with a film rated {rating:.0f} are not counted, because not all of their times are known exactly. ",
            rating=found["without_rating"],
        )
        if found["without_rating"] is not None
        else ""
    )
    run = found["run"]
    return _(
        "{left_out}Measured at commit {commit} on {date}.",
        left_out=left_out,
        commit=run["commit"],
        date=run["date"][:10],
    )
