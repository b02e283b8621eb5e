"""The charts of the mean attention: squares of positions, and squares of genres."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from pages.inside import charts
from pages.ui import format
from pages.ui.i18n import _
from recsys.serving.insight import attention
from recsys.serving.insight.mean_attention import MeanAttention

HIGH = 280  # pixels: a square of positions with its labels
EVERY = 5  # positions of which one is labelled
NAMED = 8  # genres with which there is room for a number in each cell
TINTS = [  # SIGNED, through which numbers can be read
    [0, "rgba(217, 119, 47, 0.65)"],
    [0.5, "rgba(141, 140, 136, 0.08)"],
    [1, "rgba(31, 154, 148, 0.65)"],
]
FAINT = 1.25  # the strongest colour stands for so many times at least, so that noise stays pale


def square(found: MeanAttention, layer: int, head: int) -> go.Figure:
    """One head: rows attend to columns, the newest last; the last row is framed."""
    weights, n = found.weights[layer, head], found.newest
    names = np.array([position(label) for label in found.labels], object)
    figure = go.Figure(
        go.Heatmap(
            z=np.where(weights > 0, weights, np.nan),
            customdata=np.stack(np.meshgrid(names, names, indexing="ij"), -1),
            hovertemplate=_("<b>%{customdata[0]}</b> gives <b>%{customdata[1]}</b><br>%{z:.1%} of its attention")
            + "<extra></extra>",
            colorscale=charts.AMOUNT,
            zmin=0,
            zmax=float(weights.max()),
            showscale=False,
            xgap=1,
            ygap=1,
        )
    )
    frame = {"x0": -0.5, "x1": n - 0.5, "y0": n - 1.5, "y1": n - 0.5}
    figure.add_shape(type="rect", **frame, line={"color": charts.SECOND, "width": 2})
    at = sorted({*range(n - 1 - EVERY + (not found.by_mask), -1, -EVERY), n - 1})
    look = {"tickvals": at, "ticktext": [found.labels[place] for place in at], "tickfont": {"size": 11}}
    figure.update_xaxes(**look, showgrid=False, zeroline=False, ticks="", tickangle=0, title=_("Films back"))
    figure.update_xaxes(ticklabeloverflow="allow")  # [mask] is wider than its column
    figure.update_yaxes(**look, showgrid=False, zeroline=False, ticks="", autorange="reversed")
    return figure.update_layout(height=HIGH, margin={"l": 0, "r": 14, "t": 4, "b": 0})


def position(label: str) -> str:
    """A position in words: "film 3", counted back from the next one, or [mask]."""
    return label if label == attention.MASK else _("film {n}", n=label)


def strongest(tables: Sequence[pd.DataFrame]) -> float:
    """How many times the strongest colour of several charts stands for, or one over so many."""
    together = pd.concat(tables)
    times = together.loc[sure(together) & (together["times"] > 0), "times"]
    return max(FAINT, float(np.exp(np.abs(np.log(times)).max()))) if len(times) else FAINT


def sure(table: pd.DataFrame) -> pd.Series:
    """Where 1 lies outside the interval of a `GenreAttention.table`."""
    return (table["low"] > 1) | (table["high"] < 1)


def between_genres(table: pd.DataFrame, most: float, dark: bool) -> go.Figure:
    """`GenreAttention.table` as a square; rows attend to columns; coloured where 1 lies outside the interval.

    most: how many times the strongest colour stands for; dark: for a dark page.
    """
    names = list(dict.fromkeys(table["from"]))
    n, shown = len(names), [format.display_tag(name) for name in names]
    colour = np.log(table["times"].where(table["times"] > 0)).where(sure(table), 0).where(table["times"].notna())
    told = [
        _("too few people") if np.isnan(row.times) else _("{times:.2f}× (95%: {low:.2f}–{high:.2f})", **row._asdict())
        for row in table.itertuples()
    ]
    numbers = ["" if np.isnan(times) else _("{times:.2f}×", times=times) for times in table["times"]]
    figure = go.Figure(
        go.Heatmap(
            z=colour.to_numpy().reshape(n, n),
            x=shown,
            y=shown,
            customdata=np.stack([np.array(told, object), table["people"].to_numpy(object)], -1).reshape(n, n, 2),
            hovertemplate=_("<b>%{y}</b> to <b>%{x}</b><br>%{customdata[0]}<br>%{customdata[1]:,} people")
            + "<extra></extra>",
            text=np.array(numbers, object).reshape(n, n) if n <= NAMED else None,
            texttemplate="%{text}" if n <= NAMED else None,
            textfont={"color": "white" if dark else "black"},
            colorscale=TINTS if n <= NAMED else charts.SIGNED,
            zmin=-np.log(most),
            zmax=np.log(most),
            showscale=False,
            xgap=2,
            ygap=2,
        )
    )
    figure.update_yaxes(autorange="reversed", showgrid=False, zeroline=False, ticks="", automargin=True)
    figure.update_xaxes(showgrid=False, zeroline=False, ticks="", side="top", automargin=True)
    figure.update_xaxes(tickangle=0 if n <= NAMED // 2 else -90)
    figure.update_layout(height=90 + max(180, (46 if n <= NAMED else 20) * n), margin={"l": 0, "r": 0, "t": 8, "b": 0})
    return figure
