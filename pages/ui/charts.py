"""What the charts of several pages share: the frame around a figure, and how it is put on a page."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from numbers import Integral
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from pandas.io.formats.style import Styler

from pages.ui import download, words
from pages.ui.i18n import count, localised, number

ACCENT, SECOND = "#1f9a94", "#d9772f"  # 3:1 and more against the light and the dark page, as all colours of charts
QUIET = "#8d8c88"  # what stands back


def framed(figure: go.Figure, height: int, left: int = 0, right: int = 12) -> go.Figure:
    """A figure with the margins, legend and type that all share; a finger that scrolls past does not zoom."""
    figure.update_layout(height=height, margin={"l": left, "r": right, "t": 36, "b": 0}, dragmode=False, bargap=0.25)
    figure.update_layout(legend={"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0, "font": {"size": 12}})
    figure.update_xaxes(automargin=True, fixedrange=True, title_font={"size": 12}, tickfont={"size": 12})
    figure.update_yaxes(automargin=True, fixedrange=True, title_font={"size": 12}, tickfont={"size": 12})
    return figure


def plot(figure: go.Figure, about: str, name: str) -> None:
    """A chart, described for screen readers; its only tool makes a picture of it, `name`.png."""
    picture = {"format": "png", "scale": 2, "filename": name}
    tools = {"modeBarButtons": [["toImage"]], "displaylogo": False, "toImageButtonOptions": picture}
    with st.container(key=f"chart-{name.replace('@', '-')}"):
        st.plotly_chart(localised(figure), alt=about, config=tools)


def chart(figure: go.Figure, about: str, table: pd.DataFrame, name: str) -> None:
    """A chart, described for screen readers, and below it its numbers."""
    plot(figure, about, name)
    numbers(table, name)


def written(table: pd.DataFrame, digits: Mapping[str, int] | None = None) -> Styler:
    """A table for `st.dataframe` whose numbers are written as the language does, and sorted as numbers.

    digits: column → decimals, where other than those of a metric; whole numbers have none.
    """
    numeric = table.select_dtypes("number").columns
    formats: dict[str, Callable[[Any], str]] = {
        str(name): partial(_cell, spec=f",.{(digits or {})[name]}f" if name in (digits or {}) else "")
        for name in numeric
    }
    return table.style.format(formats)


def _cell(value: Any, spec: str) -> str:
    """A number of a table; without a spec whole numbers as a count, others as a metric."""
    if pd.isna(value):
        return "–"
    if spec:
        return number(value, spec)
    return count(int(value)) if isinstance(value, Integral) else words.metric(float(value))


def numbers(table: pd.DataFrame, name: str) -> None:
    """The numbers behind a table or a chart, as a file."""
    download.csv(table, name, quiet=True)


def logarithmic(
    label: Callable[[float], str], from_exponent: int = -5, steps: Sequence[int] = (1, 3)
) -> dict[str, Any]:
    """Settings of a logarithmic axis with whole labels, where Plotly would write lone digits between the powers."""
    ticks = [float(f"{step}e{exponent}") for exponent in range(from_exponent, 7) for step in steps]
    return {"type": "log", "tickvals": ticks, "ticktext": [label(tick) for tick in ticks]}
