"""Charts of a data set's numbers: tables of `recsys.data.statistics` in, Plotly figures out."""

import pandas as pd
import plotly.graph_objects as go

from pages.library import words
from pages.ui.charts import ACCENT, GREY, SECOND, set_layout
from pages.ui.i18n import _, count, number, say
from recsys.data.statistics import Lengths, LongTail

HEIGHT = 300  # pixels
MARKED = {"showarrow": False, "font": {"size": 12}}


def lengths(found: Lengths) -> go.Figure:
    """People by how many films they watched; lines at the median and at the length that a tenth exceeds."""
    table = found.table
    ranges = [words.between(first, last) for first, last in table[["from", "to"]].itertuples(index=False)]
    figure = go.Figure()
    figure.add_bar(
        x=table.index,
        y=table["people"],
        customdata=ranges,
        hovertemplate=_("%{customdata} · people: %{y:,}<extra></extra>"),
    )
    figure.update_traces(marker={"color": ACCENT})
    _frame(figure).update_layout(bargap=0.06)
    for value, label in ((found.median, _("half: {n}")), (found.p90, _("9 of 10: {n}"))):
        place = _place(table, value)
        figure.add_vline(place, line={"color": GREY, "dash": "dot", "width": 1.5})
        figure.add_annotation(
            x=place, y=1, yref="paper", yanchor="bottom", text=label.format(n=number(value, ",.0f")), **MARKED
        )
    every = max(1, len(table) // 6)
    ticks = table.index[::every]
    figure.update_xaxes(
        title=_("Films of one person; the bars grow wider to the right"),
        tickvals=ticks - 0.5,
        ticktext=[count(n) for n in table["from"][ticks]],
    )
    return figure.update_yaxes(title=_("People"))


def _place(table: pd.DataFrame, value: float) -> float:
    """Where a length stands among bars that are numbered from 0 and each reach half a step to both sides."""
    row = int(table["from"].searchsorted(value, side="right")) - 1
    first, last = table.loc[row, "from"], table.loc[row, "to"]
    return row - 0.5 + float((value - first) / (last + 1 - first))


def long_tail(found: LongTail) -> go.Figure:
    """The Lorenz curve, the most watched films first, its top shares marked, and the line where all are equal."""
    figure = go.Figure()
    line = {"color": GREY, "dash": "dot", "width": 1.5}
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", name=_("if all were watched equally often"), line=line, hoverinfo="skip"
    )
    curve = found.curve
    hover = _("%{x:.1%} of the films, %{y:.1%} of the ratings<extra></extra>")
    figure.add_scatter(
        x=curve["films"],
        y=curve["events"],
        mode="lines",
        name=_("as it is"),
        line={"color": ACCENT, "width": 2.5},
        hovertemplate=hover,
    )
    figure.add_scatter(
        x=list(found.top),
        y=list(found.top.values()),
        mode="markers+text",
        text=[f"{number(share, '.0%')} → {number(events, '.0%')}" for share, events in found.top.items()],
        textposition="middle right",
        textfont={"size": 12},
        marker={"color": ACCENT, "size": 9},
        showlegend=False,
        hovertemplate=hover,
    )
    _frame(figure).update_layout(showlegend=True)
    figure.update_xaxes(title=_("Share of the films, the most watched first"), tickformat=".0%", range=[-0.01, 1.01])
    return figure.update_yaxes(title=_("Share of the ratings"), tickformat=".0%", rangemode="tozero")


def years(table: pd.DataFrame) -> go.Figure:
    """Shares of the films and of the ratings, by decade."""
    figure = go.Figure()
    for column, colour, name in (("films", GREY, _("of the films")), ("events", ACCENT, _("of the ratings"))):
        share = table[column] / max(1, table[column].sum())
        label = _("{decade}s", decade="%{x}")
        figure.add_bar(
            x=table["decade"], y=share, name=name, marker={"color": colour}, hovertemplate=f"{label}: %{{y:.1%}}"
        )
    _frame(figure).update_layout(showlegend=True)
    figure.update_xaxes(title=_("Decade"), dtick=10 if len(table) < 8 else 20)
    return figure.update_yaxes(tickformat=".0%")


def genres(table: pd.DataFrame) -> go.Figure:
    """A row per genre: its share of the films and of the ratings, the most watched on top."""
    figure = go.Figure()
    for row in table.itertuples():
        ends, name, line = [row.films, row.events], say(row.genre), {"color": GREY, "width": 1.5}
        figure.add_scatter(x=ends, y=[name] * 2, mode="lines", line=line, showlegend=False, hoverinfo="skip")
    for column, colour, symbol, name in (
        ("films", GREY, "circle-open", _("of the films")),
        ("events", ACCENT, "circle", _("of the ratings")),
    ):
        figure.add_scatter(
            x=table[column],
            y=[say(genre) for genre in table["genre"]],
            mode="markers",
            name=name,
            marker={"color": colour, "symbol": symbol, "size": 10},
            hovertemplate="%{y}: %{x:.1%}",
        )
    set_layout(figure, 90 + 22 * len(table)).update_layout(showlegend=True)
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return figure.update_xaxes(tickformat=".0%", rangemode="tozero")


def over_time(table: pd.DataFrame) -> go.Figure:
    """Ratings by month or year."""
    figure = go.Figure()
    figure.add_bar(
        x=table["when"],
        y=table["ratings"],
        customdata=table["people"],
        hovertemplate=_("%{x} · ratings: %{y:,}, people: %{customdata:,}<extra></extra>"),
    )
    figure.update_traces(marker={"color": ACCENT})
    _frame(figure)
    figure.update_xaxes(type="category", nticks=8)
    return figure.update_yaxes(title=_("Ratings"))


def stars(table: pd.DataFrame) -> go.Figure:
    """Shares of the ratings by stars."""
    figure = go.Figure()
    names = [f"{value:g}" for value in table["stars"]]
    figure.add_bar(x=names, y=table["share"], marker={"color": ACCENT}, hovertemplate="%{x}: %{y:.1%}")
    _frame(figure)
    figure.update_xaxes(title=_("Stars"), type="category")
    return figure.update_yaxes(title=_("Share of the ratings"), tickformat=".0%")


def gaps(table: pd.DataFrame) -> go.Figure:
    """Shares of the neighbours by what passes between them; those of one second stand out."""
    figure, names = go.Figure(), [words.GAPS[gap] for gap in table["gap"]]
    figure.add_bar(
        x=table["share"],
        y=names,
        orientation="h",
        marker={"color": [SECOND, *[ACCENT] * (len(table) - 1)]},
        text=[number(share, ".0%" if share >= 0.01 else ".1%") for share in table["share"]],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{y}: %{x:.1%}",
    )
    set_layout(figure, 240, right=40)
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return figure.update_xaxes(
        title=_("Share of a person’s neighbouring ratings"), tickformat=".0%", rangemode="tozero"
    )


def _frame(figure: go.Figure) -> go.Figure:
    """A chart of the usual height; without a legend unless it asks for one."""
    return set_layout(figure, HEIGHT).update_layout(showlegend=False)
