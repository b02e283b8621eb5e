"""The order of a ratings file within a second, and what recommenders are without it."""

import pandas as pd
import plotly.graph_objects as go

from pages.evaluation import words
from pages.evaluation.charts.looks import LOOKS, look
from pages.ui.charts import GREY, set_layout
from pages.ui.i18n import _

SAME, ALONE = LOOKS["Transformers"].colour, GREY


def distances(table: pd.DataFrame) -> go.Figure:
    """Share of the pairs by how much further on the second film stands: "same second" and "alone", from -1 to 1."""
    figure, n = go.Figure(), len(table)
    at = [(number + 0.5) * 2 / n - 1 for number in range(n)]
    for column, colour, name in (
        ("alone", ALONE, _("each in a second of its own")),
        ("same second", SAME, _("rated in the same second")),
    ):
        figure.add_bar(
            x=at, y=table[column], name=name, marker={"color": colour}, opacity=0.85, hovertemplate="%{y:.1%}"
        )
    set_layout(figure, 300).update_layout(showlegend=True, barmode="overlay", bargap=0.04)
    figure.add_vline(x=0, line={"color": GREY, "dash": "dot", "width": 1.5})
    figure.update_xaxes(title=_("Where the second film stands"), tickvals=[-0.9, 0, 0.9], ticktext=words.DISTANCE_ENDS)
    return figure.update_yaxes(title=_("Share of the pairs"), tickformat=".0%")


def both_orders(table: pd.DataFrame) -> go.Figure:
    """A row per recommender: NDCG@10 in the order of the file and in a drawn one, the best of the file on top."""
    table = table.sort_values("full", ascending=False, ignore_index=True)
    figure = go.Figure()
    for row in table.itertuples():
        colour = look(row.family).colour
        figure.add_scatter(
            x=[row.full, row.untied],
            y=[row.title] * 2,
            mode="lines",
            line={"color": colour},
            showlegend=False,
            hoverinfo="skip",
        )
    for column, symbol, name in (
        ("full", "circle-open", _("in the order of the file")),
        ("untied", "circle", _("in a drawn order")),
    ):
        figure.add_scatter(
            x=table[column],
            y=table["title"],
            mode="markers",
            name=name,
            marker={"symbol": symbol, "size": 9, "color": [look(family).colour for family in table["family"]]},
            hovertemplate="%{y}: %{x:.4f}",
        )
    set_layout(figure, 90 + 24 * len(table)).update_layout(showlegend=True)
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return figure.update_xaxes(title="NDCG@10", rangemode="tozero")
