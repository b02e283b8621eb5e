"""The chart that a study asks for."""

import textwrap
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from pages.evaluation import words
from pages.evaluation.charts.looks import LOOKS, Look
from pages.evaluation.charts.scatter import AROUND, name_marks
from pages.ui import i18n
from pages.ui.charts import GREY, log_axis, set_layout
from recsys.evaluation.studies import Chart, Study

ALL_LOOKS = list(LOOKS.values())
WRAP = 24  # characters in a line of a row's name: half of a phone's width
HEIGHT = 430  # pixels of a chart
ROW, ROW_LINE, BESIDE = 26, 15, 8  # pixels of a row, of each further line of its name, of each further mark in it


def drawn(found: Study, chart: Chart) -> go.Figure:
    """The chart of a study, in the colours of all charts."""
    figure, table = go.Figure(), found.table[found.table[chart.y].notna()]
    groups = [("", table)] if chart.by is None else list(table.groupby(chart.by, sort=False))
    for number, (name, own) in enumerate(groups):
        shape = look(str(name), number)
        if chart.kind == "rows":
            figure.add_scatter(**in_rows(own, chart, number), name=i18n.say(str(name)), marker=marker(shape, 9))
        elif chart.kind == "bar":
            figure.add_bar(**along(own, chart), name=i18n.say(str(name)), marker={"color": shape.colour})
        else:
            figure.add_scatter(
                **along(own, chart), **marks(own, chart), name=i18n.say(str(name)), marker=marker(shape, 9)
            )
    if chart.label is not None:
        name_each(figure, table.sort_values(chart.y, ascending=False, kind="stable"), chart)
    set_layout(figure, HEIGHT).update_layout(showlegend=len(groups) > 1)
    return as_rows(figure, found, chart, len(groups)) if chart.kind == "rows" else with_axes(figure, found, chart)


def name_each(figure: go.Figure, table: pd.DataFrame, chart: Chart) -> None:
    """The words of the marks, highest first, where they do not cover each other."""
    assert chart.label is not None
    across = np.log10(table[chart.x]) if "x" in chart.log else table[chart.x]
    names = table[chart.label].map(words.cell).tolist()
    name_marks(figure, table[chart.x], table[chart.y], names, across, HEIGHT - AROUND)


def look(name: str, number: int) -> Look:
    """Colour and shape of a group: those of a family where it is one, else the next."""
    return LOOKS.get(name, ALL_LOOKS[number % len(ALL_LOOKS)])


def marker(shape: Look, size: int) -> dict[str, Any]:
    """A mark as Plotly wants it."""
    return {"symbol": shape.symbol, "color": shape.colour, "size": size}


def along(table: pd.DataFrame, chart: Chart) -> dict[str, Any]:
    """x from left to right."""
    return {"x": table[chart.x].map(words.cell), "y": table[chart.y], "error_y": whiskers(table, chart)}


def marks(table: pd.DataFrame, chart: Chart) -> dict[str, Any]:
    """Lines, or marks that may say more when they are pointed at."""
    if chart.kind == "line":
        return {"mode": "lines+markers"}
    said = {} if chart.label is None else {"hovertext": table[chart.label].map(words.cell)}
    return {"mode": "markers", **said}


def in_rows(table: pd.DataFrame, chart: Chart, number: int) -> dict[str, Any]:
    """y from left to right, a row for each x; groups stand below each other within a row."""
    rows = {"x": table[chart.y], "y": table[chart.x].map(named), "error_x": whiskers(table, chart)}
    return {**rows, "mode": "markers", "orientation": "h", "offsetgroup": str(number)}


def whiskers(table: pd.DataFrame, chart: Chart) -> dict[str, Any] | None:
    """From low to high, where the chart has them."""
    if not (chart.low and chart.high):
        return None
    above, below = table[chart.high] - table[chart.y], table[chart.y] - table[chart.low]
    return {"array": above, "arrayminus": below, "thickness": 1.2, "width": 3}


def with_axes(figure: go.Figure, found: Study, chart: Chart) -> go.Figure:
    """x and y as the chart names them; a logarithmic x of a line has the values that were set."""
    figure.update_xaxes(title=i18n.say(found.titles[chart.x]), hoverformat=spec(found, chart.x))
    figure.update_yaxes(
        title=i18n.say(found.titles[chart.y]),
        type="log" if "y" in chart.log else None,
        hoverformat=spec(found, chart.y),
    )
    if "x" not in chart.log:
        return figure
    if chart.kind != "line":
        return figure.update_xaxes(**log_axis(lambda step: i18n.number(step, "g"), steps=(1, 2, 5)))
    ticks = sorted(set(found.table[chart.x]))
    return figure.update_xaxes(type="log", tickvals=ticks, ticktext=[i18n.number(tick, "g") for tick in ticks])


def as_rows(figure: go.Figure, found: Study, chart: Chart, groups: int) -> go.Figure:
    """A row for each name, the first at the top; differences from nothing get a line at nothing."""
    names = [named(name) for name in dict.fromkeys(found.table.loc[found.table[chart.y].notna(), chart.x])]
    height = sum(ROW + BESIDE * (groups - 1) + ROW_LINE * name.count("<br>") for name in names)
    figure.update_layout(height=max(200, 110 + height), scattermode="group", scattergap=0.45)
    figure.update_yaxes(categoryorder="array", categoryarray=names[::-1], title=None, range=[-0.6, len(names) - 0.4])
    if found.table[chart.y].min() < 0:
        figure.add_vline(0, line={"color": GREY, "width": 1})
    return figure.update_xaxes(
        title=i18n.say(found.titles[chart.y]),
        type="log" if "y" in chart.log else None,
        hoverformat=spec(found, chart.y),
    )


def spec(found: Study, column: str) -> str | None:
    """How the numbers of a column are written, for Plotly; None for Plotly's own way."""
    return f",.{found.digits[column]}f" if column in found.digits else None


def named(value: Any) -> str:
    """The name of a row; a long one in several lines."""
    return "<br>".join(textwrap.wrap(str(words.cell(value)), WRAP))
