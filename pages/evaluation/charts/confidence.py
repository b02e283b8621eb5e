"""How sure recommenders are of each rank of a list, and how often the hidden film stands there."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from pages.evaluation.charts.lines import lines
from pages.evaluation.charts.looks import percents
from pages.ui.charts import GREY, log_axis
from pages.ui.i18n import _, number

HEIGHT = 400  # pixels: on a phone the legend takes five lines of it
LEAST = 1e-4  # share below which no axis goes


def by_rank(tables: Mapping[str, pd.DataFrame], titles: Mapping[str, str], y: str, lowest: float) -> go.Figure:
    """Column y against rank, a line for each recommender, both axes logarithmic; from `lowest` up to 100%."""
    figure = lines(tables, titles, "rank", y, _("Rank"))
    figure.update_layout(height=HEIGHT)
    figure.update_traces(hovertemplate="%{x:.0f}: %{y:.2%}")
    figure.update_xaxes(**log_axis(lambda step: number(step, "g"), min_exponent=0))
    return figure.update_yaxes(**log_axis(percents), range=[_exponent(lowest), 0.08])


def ringed(figure: go.Figure, tables: Mapping[str, pd.DataFrame], item: int) -> go.Figure:
    """A ring around one item on each line that it stands on."""
    found = pd.concat([table[table["item"] == item] for table in tables.values()])
    ring = {"symbol": "circle-open", "size": 15, "color": GREY, "line": {"width": 2.5}}
    if len(found):
        figure.add_scatter(
            x=found["rank"],
            y=found["probability"],
            mode="markers",
            name=_("Hidden film"),
            marker=ring,
            hoverinfo="skip",
            cliponaxis=False,
        )
    return figure


def _exponent(share: float) -> float:
    """Where an axis ends that shows a share: below it, on a logarithmic axis."""
    return float(np.log10(max(share, LEAST))) - 0.1
