"""Loss and validation of one training, epoch by epoch."""

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.ui import format, i18n
from pages.ui.charts import plot, set_layout
from pages.ui.i18n import _
from recsys.jobs.queue import Progress

COLOURS = {"loss": "#cf6a2a", "ndcg@10": "#1f9a94"}  # 3:1 and more against the light and the dark page
HEIGHT = 210  # pixels


def show(progress: Progress, title: str, name: str) -> None:
    """Both curves, as far as there is something to draw; title: of the recommender, name: of the chart."""
    drawn = {
        "loss": (_("Loss"), _("Loss of {model} in each epoch: {last} in epoch {n}")),
        "ndcg@10": (
            _("Validation NDCG@10"),
            _("NDCG@10 of {model} on films kept aside for validation: {last} after epoch {n}"),
        ),
    }
    table = pd.DataFrame(progress.events)
    with st.grid(2, min_column_width=240):
        for column, (axis, about) in drawn.items():
            known = table.dropna(subset=[column]) if column in table else table.iloc[:0]
            if len(known):
                n, last = int(known["epoch"].iloc[-1]), format.metric(known[column].iloc[-1])
                said = about.format(model=title, last=last, n=n)
                figure = curve(known, column, progress.epochs[1]).update_yaxes(title=axis)
                plot(figure, said, f"{column}-{name}")
    st.caption(
        _(
            "The loss is what learning makes smaller. Validation asks for a film of each person that is "
            "kept aside: where it falls again, the recommender learns by heart."
        )
    )


def curve(known: pd.DataFrame, column: str, epochs: int) -> go.Figure:
    """A column against the epoch, over all epochs that there may be."""
    figure = go.Figure()
    figure.add_scatter(
        x=known["epoch"],
        y=known[column],
        mode="lines+markers" if len(known) < 40 else "lines",
        line={"color": COLOURS[column], "width": 2},
        marker={"size": 6},
        hovertemplate=f"%{{x}}: %{{y:{i18n.METRIC}}}<extra></extra>",
    )
    set_layout(figure, HEIGHT).update_layout(showlegend=False, margin_t=8)
    figure.update_xaxes(title=_("Epoch"), range=[0.5, epochs + 0.5], tickformat="d")
    return figure
