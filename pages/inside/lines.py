"""Attention as lines from position to position, a colour for each head, for histories that are short enough."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.inside import charts, words
from pages.ui import i18n
from pages.ui.i18n import _
from recsys.serving.insight.attention import Attention

MOST_FILMS = 12  # with more, the lines cannot be told apart
SHADES = 8  # strengths of a line that are told apart
FAINTEST = 0.02  # share of the attention below which no line is drawn
ALL = -1  # positions
NAMED = 4  # films that are named when a position is pointed at


def fits(seen: Attention) -> bool:
    """Whether the history is short enough."""
    return len(seen.tokens) <= MOST_FILMS + 1


def show(seen: Attention, layer: int | None, head: int | None, about: str) -> None:
    """The lines, from all positions or from the one that is chosen; about: the chart in words."""
    n = len(seen.tokens)
    position = st.selectbox(
        _("Lines from"),
        [ALL, *range(n - 1, -1, -1)],
        format_func=lambda at: _("all positions") if at == ALL else f"{at + 1}. {seen.labels[at]}",
        key=f"lines-from-{n}",
        width=300,
    )
    heads = range(seen.weights.shape[1]) if head is None else [head]
    figure = chart(seen, layer, list(heads), range(n) if position == ALL else [position])
    st.plotly_chart(i18n.localised(figure), alt=about, config=charts.STILL, key="lines")


def chart(seen: Attention, layer: int | None, heads: Sequence[int], positions: Sequence[int]) -> go.Figure:
    """Left: the positions that attend; right: what they attend to. The stronger a line, the larger the share."""
    figure, n = go.Figure(), len(seen.tokens)
    for number in heads:
        square = seen.view(layer, number)
        colour = charts.LINES[number % len(charts.LINES)]
        for shade in range(SHADES):
            ends = [
                (row, column)
                for row in positions
                for column in range(n)
                if square[row, column] >= FAINTEST and int(min(square[row, column], 0.999) * SHADES) == shade
            ]
            figure.add_trace(_strokes(ends, colour, (shade + 1) / SHADES, number))
        figure.add_scatter(
            x=[None], y=[None], mode="lines", name=_("Head {n}", n=number + 1), line={"color": colour, "width": 4}
        )
    figure.add_scatter(
        x=[0] * len(positions),
        y=list(positions),
        mode="markers",
        marker={"color": charts.GREY, "size": 9},
        text=[_told(seen, layer, heads, row) for row in positions],
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
    )
    figure.add_scatter(x=[1] * n, y=list(range(n)), yaxis="y2", mode="markers", hoverinfo="skip", showlegend=False)
    figure.update_traces(marker={"color": charts.GREY, "size": 6}, selector={"yaxis": "y2"})
    names = charts.ticks(seen.labels, 15)
    axis = {"tickvals": list(range(n)), "ticktext": names, "range": [n - 0.5, -0.5], "showgrid": False, "ticks": ""}
    figure.update_layout(
        height=90 + 34 * n,
        margin={"l": 0, "r": 0, "t": 36, "b": 0},
        legend={"orientation": "h", "y": 1.01, "yanchor": "bottom"},
        yaxis={**axis, "zeroline": False, "automargin": True},
        yaxis2={**axis, "overlaying": "y", "side": "right", "zeroline": False, "automargin": True},
        xaxis={"visible": False, "range": [-0.02, 1.02], "fixedrange": True},
        showlegend=True,
    )
    return figure


def _strokes(ends: Sequence[tuple[int, int]], colour: str, strength: float, head: int) -> go.Scatter:
    """Lines of one strength, 0…1, from rows on the left to columns on the right; heads lie a little apart."""
    aside = 0.06 * (head - 0.5)
    y = [at for row, column in ends for at in (row + aside, column + aside, None)]
    line = {"color": colour, "width": 0.6 + 5 * strength}
    x = [0, 1, None] * len(ends)
    return go.Scatter(
        x=x, y=y, mode="lines", line=line, opacity=0.2 + 0.75 * strength, hoverinfo="skip", showlegend=False
    )


def _told(seen: Attention, layer: int | None, heads: Sequence[int], row: int) -> str:
    """What a position attends to most, on average over the heads that are drawn."""
    shares = np.mean([seen.view(layer, head)[row] for head in heads], 0)
    first = np.argsort(-shares, kind="stable")[:NAMED]
    rows = [f"{words.in_chart(seen.labels[at])}: {i18n.number(shares[at], '.1%')}" for at in first]
    return ("<b>" + _("{film} attends to", film=words.in_chart(seen.labels[row])) + "</b><br>") + "<br>".join(rows)
