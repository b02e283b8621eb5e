"""Stars: how far off recommenders are that predict what somebody gives a film."""

from typing import Any

import streamlit as st

from pages.evaluation import measured, words
from pages.evaluation.measured import Shown
from pages.ui import words as common
from pages.ui.charts import numbers, written
from recsys.evaluation import tables


def show(shown: Shown) -> None:
    """A table of recommenders and plain means, the least error first; nothing where no ratings were predicted."""
    table = tables.rating_error_table(measured.documents(shown).values())
    if table.empty:
        return
    st.header(words.STARS)
    st.caption(words.STARS_HELP)
    rows = table[["name", "rmse", "mae"]].replace({"name": shown.titles | words.STARS_BASELINES})
    columns: dict[str, Any] = {"name": words.STARS_BY}
    for error in ("rmse", "mae"):
        ends = zip(table[f"low {error}"], table[f"high {error}"], strict=True)
        rows[f"{error} interval"] = [f"{common.metric(low)}–{common.metric(high)}" for low, high in ends]
        columns[error] = st.column_config.NumberColumn(words.metric_name(error), width=70)
        columns[f"{error} interval"] = words.INTERVAL
    order = ["name", "rmse", "rmse interval", "mae", "mae interval"]
    st.dataframe(
        written(rows), hide_index=True, column_config=columns, column_order=order, alt=words.STARS, width="content"
    )
    numbers(table, f"stars-{shown.name}")
