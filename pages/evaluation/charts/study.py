"""The chart that a study asks for."""

import textwrap
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from pages.evaluation.charts.looks import LOOKS, QUIET, framed
from recsys.evaluation.studies import Chart, Study

SYMBOLS = [shape.symbol for shape in LOOKS.values()]
WRAP = 24  # characters in a line of a row's name: half of a phone's width
ROW, ROW_LINE = 22, 15  # pixels of a row, and of each further line of its name


def drawn(found: Study, chart: Chart) -> go.Figure:
    """The chart of a study, in the theme's colours."""
    figure, table = go.Figure(), found.table[found.table[chart.y].notna()]
    groups = [("", table)] if chart.by is None else list(table.groupby(chart.by, sort=False))
    for number, (name, own) in enumerate(groups):
        data = {"x": own[chart.x], "y": own[chart.y], "name": str(name), "error_y": whiskers(own, chart)}
        if chart.kind == "rows":
            in_rows = {"x": own[chart.y], "y": own[chart.x].astype(str).map(wrapped), "error_x": whiskers(own, chart)}
            figure.add_scatter(mode="markers", marker=marker(number, 10), name=str(name), **in_rows)
        elif chart.kind == "bar":
            figure.add_bar(**data)
        else:
            mode = "lines+markers" if chart.kind == "line" else "markers"
            figure.add_scatter(**data, mode=mode, marker=marker(number, 8))
    framed(figure, 380).update_layout(showlegend=len(groups) > 1)
    return as_rows(figure, found, chart) if chart.kind == "rows" else with_axes(figure, found, chart)


def whiskers(table: pd.DataFrame, chart: Chart) -> dict[str, Any] | None:
    """From low to high, where the chart has them."""
    if not (chart.low and chart.high):
        return None
    above, below = table[chart.high] - table[chart.y], table[chart.y] - table[chart.low]
    return {"array": above, "arrayminus": below, "thickness": 1.2}


def marker(number: int, size: int) -> dict[str, Any]:
    """The shape of a group."""
    return {"symbol": SYMBOLS[number % len(SYMBOLS)], "size": size}


def with_axes(figure: go.Figure, found: Study, chart: Chart) -> go.Figure:
    """x and y as the chart names them."""
    figure.update_xaxes(title=found.titles[chart.x], type="log" if "x" in chart.log else None)
    if "x" in chart.log:
        ticks = sorted(set(found.table[chart.x]))
        figure.update_xaxes(tickvals=ticks, ticktext=[f"{tick:g}" for tick in ticks])
    return figure.update_yaxes(title=found.titles[chart.y], type="log" if "y" in chart.log else None)


def as_rows(figure: go.Figure, found: Study, chart: Chart) -> go.Figure:
    """A row for each name, the first at the top; differences from nothing get a line at nothing."""
    names = [wrapped(str(name)) for name in dict.fromkeys(found.table.loc[found.table[chart.y].notna(), chart.x])]
    height = sum(ROW + ROW_LINE * name.count("<br>") for name in names)
    figure.update_layout(height=max(200, 110 + height))
    figure.update_yaxes(categoryorder="array", categoryarray=names[::-1], title=None, range=[-0.6, len(names) - 0.4])
    if found.table[chart.y].min() < 0:
        figure.add_vline(0, line={"color": QUIET, "width": 1})
    return figure.update_xaxes(title=found.titles[chart.y], type="log" if "y" in chart.log else None)


def wrapped(name: str) -> str:
    """A long name in several lines."""
    return "<br>".join(textwrap.wrap(name, WRAP))
