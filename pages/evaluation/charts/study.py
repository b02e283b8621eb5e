"""The chart that a study asks for."""

import plotly.graph_objects as go

from pages.evaluation.charts.looks import LOOKS, framed
from recsys.evaluation.studies import Chart, Study

SYMBOLS = [shape.symbol for shape in LOOKS.values()]


def drawn(found: Study, chart: Chart) -> go.Figure:
    """The chart of a study, in the theme's colours."""
    figure, table = go.Figure(), found.table
    groups = [("", table)] if chart.by is None else list(table.groupby(chart.by, sort=False))
    for number, (name, own) in enumerate(groups):
        error = None
        if chart.low and chart.high:
            array, minus = own[chart.high] - own[chart.y], own[chart.y] - own[chart.low]
            error = {"array": array, "arrayminus": minus, "thickness": 1.2}
        data = {"x": own[chart.x], "y": own[chart.y], "name": str(name), "error_y": error}
        if chart.kind == "bar":
            figure.add_bar(**data)
        else:
            mode = "lines+markers" if chart.kind == "line" else "markers"
            figure.add_scatter(**data, mode=mode, marker={"symbol": SYMBOLS[number % len(SYMBOLS)], "size": 8})
    framed(figure, 380).update_layout(showlegend=chart.by is not None)
    figure.update_xaxes(title=found.titles[chart.x], type="log" if "x" in chart.log else None)
    return figure.update_yaxes(title=found.titles[chart.y], type="log" if "y" in chart.log else None)
