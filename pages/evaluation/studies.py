"""The section Studies. A study is a question and a table. It can have an answer and a chart."""

import textwrap
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.evaluation.charts import LOOKS, MARGIN_PX, ROWS_MARGIN_PX, Look, error_bars, label_points, rows_axis
from pages.ui import cache, format
from pages.ui.charts import GREY, download_numbers, localize_table, log_axis, plot, set_layout
from pages.ui.i18n import _, localize, number
from pages.ui.widgets import selectbox
from recsys.evaluation.studies import Chart, Study

STUDY_HEIGHT_PX = 430  # MARGIN_PX included
MAX_LABEL_LENGTH = 24  # characters in a line of a row label, which takes half of the width of a phone
ROW_HEIGHT_PX = 26  # height of a row with one line and one mark
MIN_ROWS_CHART_HEIGHT_PX = 200  # ROWS_MARGIN_PX included
EXTRA_LINE_PX = 15  # additional height for each further line of the label
EXTRA_MARK_PX = 8  # additional height for each further mark of a row


def show(studies: list[Study], dataset: str) -> None:
    """Show the menu of studies, those of this data set first, and the selected study."""
    by_name = {study.name: study for study in sorted(studies, key=lambda study: study.dataset != dataset)}
    titles = {
        name: f"{_(study.title)} · {cache.dataset_title(study.dataset)}" if study.dataset else _(study.title)
        for name, study in by_name.items()
    }
    study = by_name[selectbox(_("Study"), titles, "study", width=480)]
    st.markdown(format.escape_markdown(_(study.question)))
    if study.papers:
        st.markdown(format.escape_markdown(_(study.papers)))
    if study.answer:
        st.markdown(f"**{format.escape_markdown(localize(study.answer))}**")
    if study.chart:
        x, y = _(study.titles[study.chart.x]), _(study.titles[study.chart.y])
        alt = _("{title}: {y} by {x}", title=_(study.title), y=y, x=x)
        key = "study-named" if study.chart.label else "study"  # on phones, CSS hides the last labels of "study-named"
        plot(plot_study(study, study.chart), alt, key)
    text_columns = study.table.select_dtypes(exclude="number").columns
    table = study.table.assign(**{column: study.table[column].map(translate_cell) for column in text_columns})
    st.dataframe(
        localize_table(table, study.digits),
        hide_index=True,
        column_config={column: _(title) for column, title in study.titles.items()},
        placeholder="–",
        alt=_("All figures from the study"),
    )
    download_numbers(study.table, f"study-{study.name}", _(study.title))
    if study.method:
        st.caption(format.escape_markdown(localize(study.method)))


def translate_cell(value: Any) -> Any:
    """Return a cell of a table, translated if it is a text. The parts of "A – B" are translated separately."""
    return " – ".join(map(_, value.split(" – "))) if isinstance(value, str) else value


def plot_study(study: Study, chart: Chart) -> go.Figure:
    """Plot the chart of a study, with a trace for each group: the rows with the same value in the column `chart.by`."""
    figure, table = go.Figure(), study.table[study.table[chart.y].notna()]
    groups = [("", table)] if chart.by is None else list(table.groupby(chart.by, sort=False))
    for position, (name, rows) in enumerate(groups):
        # a group that is not a family gets the look at the position of the group
        look = LOOKS.get(str(name), list(LOOKS.values())[position % len(LOOKS)])
        add_group(figure, chart, rows, str(name), look, position)
    if chart.label is not None:
        rows = table.sort_values(chart.y, ascending=False, kind="stable")
        linear_x = np.log10(rows[chart.x]) if "x" in chart.log else rows[chart.x]
        labels = rows[chart.label].map(translate_cell).tolist()
        label_points(figure, rows[chart.x], rows[chart.y], labels, linear_x, STUDY_HEIGHT_PX - MARGIN_PX)
    set_layout(figure, STUDY_HEIGHT_PX).update_layout(showlegend=len(groups) > 1)
    x_format, y_format = (f",.{study.digits[name]}f" if name in study.digits else None for name in (chart.x, chart.y))
    # axis of the column `chart.y`, which is horizontal if the kind is "rows"
    value_axis = {
        "title": _(study.titles[chart.y]),
        "type": "log" if "y" in chart.log else None,
        "hoverformat": y_format,
    }
    if chart.kind == "rows":
        figure.update_xaxes(**value_axis)
        return format_rows(figure, chart, table, len(groups))
    figure.update_yaxes(**value_axis)
    figure.update_xaxes(title=_(study.titles[chart.x]), hoverformat=x_format)
    if "x" in chart.log and chart.kind == "line":  # a tick at each tested value
        ticks = sorted(set(study.table[chart.x]))
        figure.update_xaxes(type="log", tickvals=ticks, ticktext=[number(tick, "g") for tick in ticks])
    elif "x" in chart.log:
        figure.update_xaxes(**log_axis(lambda tick: number(tick, "g"), steps=(1, 2, 5)))
    return figure


def add_group(figure: go.Figure, chart: Chart, rows: pd.DataFrame, name: str, look: Look, position: int) -> None:
    """Add the trace of a group of rows. name: Name of the group, or "". position: Number of the group."""
    error = None
    if chart.low and chart.high:
        error = error_bars(rows[chart.y], rows[chart.low], rows[chart.high], width=3)
    marker = {"symbol": look.symbol, "color": look.colour, "size": 9}
    if chart.kind == "rows":  # y is horizontal, and each value of x is a row
        trace = {"x": rows[chart.y], "y": rows[chart.x].map(wrapped_label), "error_x": error, "name": _(name)}
        figure.add_scatter(**trace, mode="markers", orientation="h", offsetgroup=str(position), marker=marker)
        return
    trace = {"x": rows[chart.x].map(translate_cell), "y": rows[chart.y], "error_y": error, "name": _(name)}
    if chart.kind == "bar":
        figure.add_bar(**trace, marker={"color": look.colour})
    elif chart.kind == "line":
        figure.add_scatter(**trace, mode="lines+markers", marker=marker)
    else:
        names = None if chart.label is None else rows[chart.label].map(translate_cell)
        figure.add_scatter(**trace, mode="markers", marker=marker, hovertext=names)


def format_rows(figure: go.Figure, chart: Chart, table: pd.DataFrame, n_groups: int) -> go.Figure:
    """Set the height and the order of the rows. If there are negative values, add a line at zero.

    Args:
        figure: A figure with a row for each value of `chart.x`.
        chart: A chart of the kind "rows".
        table: The plotted rows of the study's table.
        n_groups: Number of groups, each with a mark in a row.
    """
    labels = [wrapped_label(value) for value in table[chart.x].unique()]
    rows_height_px = sum(
        ROW_HEIGHT_PX + EXTRA_MARK_PX * (n_groups - 1) + EXTRA_LINE_PX * label.count("<br>") for label in labels
    )
    figure.update_layout(
        height=max(MIN_ROWS_CHART_HEIGHT_PX, ROWS_MARGIN_PX + rows_height_px), scattermode="group", scattergap=0.45
    )
    if table[chart.y].min() < 0:
        figure.add_vline(0, line={"color": GREY, "width": 1})
    return figure.update_yaxes(**rows_axis(labels), title=None)


def wrapped_label(value: Any) -> str:
    """Return the translated label of a row, with line breaks after at most MAX_LABEL_LENGTH characters."""
    return "<br>".join(textwrap.wrap(str(translate_cell(value)), MAX_LABEL_LENGTH))
