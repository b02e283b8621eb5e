"""Stars: how far off recommenders are that predict what somebody gives a film."""

from typing import Any

import streamlit as st

from pages.evaluation import measured, words
from pages.evaluation.measured import Shown
from pages.ui import format
from pages.ui.charts import download_numbers, localised_table
from pages.ui.i18n import _
from recsys.evaluation import tables


def show(shown: Shown) -> None:
    """A table of recommenders and plain means, the least error first; nothing where no ratings were predicted."""
    table = tables.rating_error_table(measured.documents(shown).values())
    if table.empty:
        return
    st.header(_("How many stars somebody would give"))
    st.caption(
        _(
            "Some recommenders also predict what somebody gives a film. This is how far off they are for "
            "the hidden film, in stars, with the 95% interval over people: MAE is the mean error, and "
            "RMSE weighs large errors more. Two plain means stand beside them. What somebody likes and "
            "what they watch next are two questions, and the settings of all recommenders were tuned for "
            "the second."
        )
    )
    rows = table[["name", "rmse", "mae"]].replace({"name": shown.titles | words.STARS_BASELINES})
    columns: dict[str, Any] = {"name": _("Predicted by")}
    for error in ("rmse", "mae"):
        ends = zip(table[f"low {error}"], table[f"high {error}"], strict=True)
        rows[f"{error} interval"] = [f"{format.metric(low)}–{format.metric(high)}" for low, high in ends]
        columns[error] = st.column_config.NumberColumn(words.metric_name(error), width=70)
        columns[f"{error} interval"] = _("95% interval")
    order = ["name", "rmse", "rmse interval", "mae", "mae interval"]
    st.dataframe(
        localised_table(rows),
        hide_index=True,
        column_config=columns,
        column_order=order,
        alt=_("How many stars somebody would give"),
        width="content",
    )
    download_numbers(table, f"stars-{shown.name}")
