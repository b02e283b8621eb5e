"""Ranks: of recommenders under several protocols, and of one film with every recommender."""

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from pages.evaluation import words
from pages.evaluation.charts.looks import look
from pages.ui.charts import GREY, log_axis, set_layout
from pages.ui.i18n import _, number, say
from recsys.evaluation import tables


def bump(table: pd.DataFrame, shown: Sequence[str]) -> go.Figure:
    """Ranks under each protocol `shown` (`overview.orders`), a line per model, named at its right end."""
    figure = go.Figure()
    names = [words.protocol(name) for name in shown]
    for row in table.to_dict("records"):
        colour, symbol, _unused = look(row["family"])
        figure.add_scatter(
            x=list(range(len(shown))),
            y=[row[f"rank {name}"] for name in shown],
            customdata=[[name, row[protocol]] for name, protocol in zip(names, shown, strict=True)],
            mode="lines+markers",
            line={"color": colour, "width": 1.8},
            marker={"symbol": symbol, "size": 8},
            name=row["title"],
            hovertemplate=_("%{customdata[0]}: rank %{y}, %{customdata[1]:.4f}"),
        )
    ends = table.sort_values(f"rank {shown[-1]}", kind="stable")
    for line, title in enumerate(ends["title"], start=1):  # models of the same rank are named one below the other
        figure.add_annotation(
            x=len(shown) - 1, y=line, text=title, xanchor="left", xshift=10, showarrow=False, font={"size": 11}
        )
    set_layout(figure, 90 + 19 * len(table), left=26, right=128).update_layout(showlegend=False, margin_t=60)
    ticks = [name.replace(" ", "<br>") for name in names]
    figure.update_xaxes(tickvals=list(range(len(ticks))), ticktext=ticks, side="top", automargin=False, tickangle=0)
    figure.update_xaxes(showgrid=False, zeroline=False, range=[-0.25, len(ticks) - 0.9])
    figure.update_yaxes(range=[len(table) + 0.7, 0.3], showgrid=False, tickvals=_round_ranks(len(table)))
    return figure


def ranks_of_film(table: pd.DataFrame) -> go.Figure:
    """The rank of one film with each model (`tables.ranks_of_user`), the best on top, on a logarithmic axis."""
    figure = go.Figure()
    for family, own in table.groupby("family", sort=False):
        colour, symbol, _unused = look(str(family))
        error = {"array": own["high"] - own["rank"], "arrayminus": own["rank"] - own["low"], "thickness": 1.2}
        figure.add_scatter(
            x=own["rank"],
            y=own.index,
            mode="markers",
            name=say(str(family)),
            text=own["title"],
            error_x=error | {"width": 0, "color": colour},
            marker={"color": colour, "symbol": symbol, "size": 9},
            customdata=own[["low", "high"]],
            hovertemplate="<b>%{text}</b>: %{x:,.0f} (%{customdata[0]:,}–%{customdata[1]:,})",
        )
    set_layout(figure, 110 + 20 * len(table)).update_layout(showlegend=False)
    figure.add_vline(tables.MAX_FOUND_RANK + 0.5, line={"color": GREY, "width": 1, "dash": "dot"})
    figure.update_yaxes(tickvals=table.index, ticktext=table["title"], range=[len(table) - 0.4, -0.6], zeroline=False)
    return figure.update_xaxes(title=_("Rank"), **log_axis(lambda step: number(step, ",.0f"), min_exponent=0))


def _round_ranks(n: int) -> list[int]:
    """1, 5, 10 … n."""
    return [1, *range(5, n + 1, 5)]
