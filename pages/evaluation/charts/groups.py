"""Groups of people: a metric for each, and for how many each of two recommenders is better."""

import pandas as pd
import plotly.graph_objects as go

from pages.evaluation import words
from pages.evaluation.charts.looks import MARKS, look, members
from pages.ui import format
from pages.ui.charts import GREY, set_layout
from pages.ui.i18n import _


def slices(table: pd.DataFrame, board: pd.DataFrame, metric: str) -> go.Figure:
    """A row per bucket, a mark with its interval per model, side by side within a row (`groups.by_bucket`)."""
    figure, buckets = go.Figure(), list(dict.fromkeys(table["bucket"]))
    known = members(board, list(dict.fromkeys(table["variant"])))
    names = {bucket: format.display_group(bucket) for bucket in buckets}
    rows = {bucket: row for row, bucket in enumerate(buckets)}
    for number, (variant, (title, shape, member)) in enumerate(known.items()):
        own = table[table["variant"] == variant]
        shift = 0.5 * (number + 0.5) / len(known) - 0.25
        error = {"array": own["high"] - own["value"], "arrayminus": own["value"] - own["low"], "thickness": 1.2}
        figure.add_scatter(
            x=own["value"],
            y=own["bucket"].map(rows) + shift,
            mode="markers",
            name=title,
            error_x=error | {"width": 0, "color": shape.colour},
            marker={"color": shape.colour, "symbol": shape.symbol + MARKS[member], "size": 9},
            customdata=own[["bucket", "users", "low", "high"]].replace({"bucket": names}),
            hovertemplate="%{customdata[0]}: %{x:.4f} (%{customdata[2]:.4f}–%{customdata[3]:.4f})",
        )
    users = table.drop_duplicates("bucket").set_index("bucket")["users"]
    ticks = [(f"{names[bucket]}<br>" + _("n = {n:,}", n=users[bucket])) for bucket in buckets]
    set_layout(figure, 110 + len(buckets) * (30 + 11 * len(known))).update_layout(showlegend=True)
    figure.update_yaxes(tickvals=list(rows.values()), ticktext=ticks, range=[len(rows) - 0.4, -0.6])
    figure.update_yaxes(showgrid=False, zeroline=False)
    return figure.update_xaxes(title=metric, rangemode="tozero")


def margins(table: pd.DataFrame, one: tuple[str, str], other: tuple[str, str]) -> go.Figure:
    """Users by margin (`tables.rank_margins`), in the colour of whoever wins; one, other: title and family."""
    ahead = [one if margin > 0 else other if margin < 0 else None for margin in table["margin"]]
    labels = [words.MARGINS[margin] for margin in table["margin"]]
    figure = go.Figure()
    for winner in (other, None, one):
        rows = [row for row, who in enumerate(ahead) if who is winner]
        figure.add_bar(
            x=table["margin"].iloc[rows],
            y=table["users"].iloc[rows],
            text=table["users"].iloc[rows],
            textposition="outside",
            cliponaxis=False,
            name=winner[0] if winner else words.MARGINS[0],
            marker={
                "color": look(winner[1]).colour if winner else GREY,
                "pattern_shape": "/" if winner is other else "",
            },
            hovertemplate="%{y}",
        )
    set_layout(figure, 330).update_layout(showlegend=True)
    figure.update_xaxes(tickvals=table["margin"], ticktext=labels, tickangle=0, tickfont={"size": 11})
    return figure.update_yaxes(title=_("People"), range=[0, 1.12 * max(table["users"].max(), 1)])
