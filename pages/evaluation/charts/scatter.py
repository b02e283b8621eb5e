"""One measure against another."""

from collections.abc import Iterable
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from pages.evaluation import words
from pages.evaluation.charts.labels import free_sides, scaled
from pages.evaluation.charts.looks import look
from pages.ui.charts import set_layout
from pages.ui.i18n import METRIC, _, say

TALL, AROUND = 430, 130  # pixels inside the axes, and of what stands around them
WIDE = (640, 800, 950, 1100)  # how broad the chart may be on a desktop
ANY_WIDTH = (270, 360, 480, *WIDE)  # and from a phone upwards
STEPS = {"s": (1, 2, 5, 10, 20, 30), "min": (1, 2, 5, 10, 20, 30), "h": (1, 2, 5, 10, 20, 50, 100)}
SECONDS = {"s": 1, "min": 60, "h": 3600}


def scatter(table: pd.DataFrame, x: str, y: str, x_title: str, y_title: str, log: str | None = None) -> go.Figure:
    """One measure against another, a mark per model; names where there is room, the best of `y` first.

    table: title, family, x and y. log: where x is seconds on a logarithmic axis, the column of its logarithms.
    """
    known = table.dropna(subset=[x, y]).sort_values(y, ascending=False, kind="stable")
    figure, told = go.Figure(), _("%{x:,.0f} s") if log else f"%{{x:{METRIC}}}"
    for family, own in known.groupby("family", sort=False):
        colour, symbol, _unused = look(str(family))
        figure.add_scatter(
            x=own[x],
            y=own[y],
            mode="markers",
            name=say(str(family)),
            text=own["title"],
            marker={"color": colour, "symbol": symbol, "size": 11},
            hovertemplate=f"<b>%{{text}}</b><br>{x_title}: {told}<br>{y_title}: %{{y:{METRIC}}}",
        )
    name_marks(figure, known[x], known[y], known["title"].tolist(), known[log or x], TALL)
    set_layout(figure, TALL + AROUND)
    figure.update_xaxes(title=x_title, zeroline=False, **(_times() if log else {}))
    return figure.update_yaxes(title=y_title, zeroline=False)


def _times() -> dict[str, Any]:
    """A logarithmic axis of seconds, in words that people use."""
    steps = [(unit, step) for unit, steps in STEPS.items() for step in steps]
    return {
        "type": "log",
        "tickvals": [step * SECONDS[unit] for unit, step in steps],
        "ticktext": [words.TIME_UNITS[unit].format(n=step) for unit, step in steps],
    }


def name_marks(
    figure: go.Figure, x: pd.Series, y: pd.Series, titles: list[str], across: pd.Series, tall: float
) -> None:
    """Two more traces of names: those that fit on a phone, and last those that fit only on a wider page.

    The style sheet hides the last trace on a phone. The most important marks come first; across: where they stand from
    left to right, logarithms on a logarithmic axis; tall: pixels inside the axes.
    """
    points = list(zip(_inset(scaled(across.tolist())), _inset(scaled(y.tolist())), strict=True))
    anywhere = free_sides(points, titles, ANY_WIDTH, tall)
    wide = free_sides(points, titles, WIDE, tall, anywhere)
    for chosen in (anywhere, [None if phone else side for phone, side in zip(anywhere, wide, strict=True)]):
        figure.add_scatter(  # a point for every mark, as Plotly leaves out a trace without any
            x=x,
            y=y,
            text=[title if side else "" for title, side in zip(titles, chosen, strict=True)],
            textposition=[side or "middle right" for side in chosen],
            mode="markers+text",  # unseen marks keep the names at a distance
            marker={"size": 11, "opacity": 0},
            textfont={"size": 11},
            hoverinfo="skip",
            showlegend=False,
        )


def _inset(shares: Iterable[float]) -> list[float]:
    """Plotly leaves some room around the outermost marks."""
    return [0.06 + 0.88 * share for share in shares]
