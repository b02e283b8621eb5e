"""What the charts of the page share: colours that hold on light and dark, short names, and the same as a table."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from pages.inside import words
from pages.ui import format
from pages.ui.charts import ACCENT, SECOND
from pages.ui.i18n import _

GREY = "#8d8c88"
LINES = (ACCENT, SECOND, "#8a75c4", "#a08c2e", "#cf5b7f", "#5487c8", "#5f9e5a", "#8d8c88")
KINDS = ("#5487c8", "#cf5b7f", "#a08c2e", "#8a75c4", "#5f9e5a", "#d9772f", "#1f9a94")  # as many as can be told apart
AMOUNT = [[0, "rgba(31, 154, 148, 0.05)"], [0.35, "rgba(31, 154, 148, 0.62)"], [1, "rgba(31, 154, 148, 1)"]]
SIGNED = [[0, SECOND], [0.5, "rgba(141, 140, 136, 0.08)"], [1, ACCENT]]
STILL = {"displayModeBar": False}  # for charts that nobody needs to zoom


def short(label: str, longest: int = 18) -> str:
    """A title that fits an axis."""
    title = label.rpartition(" (")[0] or label
    return title if len(title) <= longest else f"{title[: longest - 1].rstrip()}…"


def in_chart(labels: Sequence[str]) -> list[str]:
    """Titles as Plotly shows them letter by letter."""
    return [words.in_chart(label) for label in labels]


def ticks(labels: Sequence[str], longest: int = 18) -> list[str]:
    """Titles for an axis."""
    return in_chart([short(label, longest) for label in labels])


def as_table(table: pd.DataFrame, about: str, key: str) -> None:
    """The numbers of a chart to be read, once somebody opens them; about: what they are."""
    panel = st.expander(
        _("As a table: {what}", what=about), icon=":material/table:", key=f"table-{key}", on_change="rerun"
    )
    if panel.open:
        with panel:
            st.table(table.map(_written), alt=about, border="horizontal")


def _written(value: Any) -> Any:
    """A cell; Streamlit writes the numbers of a table as English has them."""
    return format.metric(value) if isinstance(value, float) else value
