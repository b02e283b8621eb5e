"""Trade-offs: one measure against another."""

import streamlit as st

from pages.evaluation import stars, words
from pages.evaluation.charts import scatter as charts
from pages.evaluation.measured import Shown
from pages.ui.charts import chart
from pages.ui.i18n import _, ngettext
from recsys.evaluation import tables


def show(shown: Shown) -> None:
    """Two measures to choose, and a mark for each recommender; what some of them are worth at another task."""
    known = [name for name in tables.MEASURES if shown.board[name].notna().any()]
    first = "novelty@10" if "novelty@10" in known else "hr@10"
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        x = choose(_("Horizontal axis"), known, first, f"across-{shown.name}")
        y = choose(_("Vertical axis"), known, "ndcg@10", f"upwards-{shown.name}")
    meanings = [words.MEASURE_MEANING[name] for name in dict.fromkeys((x, y)) if name in words.MEASURE_MEANING]
    st.caption(
        " ".join(
            [
                _(
                    "Being right is one thing, showing more than the same few films another. Names are shown "
                    "where there is room; hover over a mark for the rest."
                ),
                *meanings,
            ]
        )
    )
    x_title, y_title = words.metric_name(x), words.metric_name(y)
    table = shown.board[list(dict.fromkeys(["variant", "title", "family", x, y]))].dropna()
    about = ngettext(
        "{y} against {x} for {n} recommender, a colour and a shape for each family",
        "{y} against {x} for {n} recommenders, a colour and a shape for each family",
        len(table),
        x=x_title,
        y=y_title,
    )
    chart(charts.scatter(table, x, y, x_title, y_title), about, table, f"measures-{shown.name}")
    stars.show(shown)


def choose(label: str, known: list[str], first: str, key: str) -> str:
    """The selector of a measure."""
    return st.selectbox(
        label,
        known,
        index=known.index(first),
        format_func=words.metric_name,
        key=key,
        width=260,
        persist_state="session",
    )
