"""Charts of the loss and the validation metric of a training, by epoch."""

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.ui import format, i18n
from pages.ui.charts import plot, set_layout
from pages.ui.i18n import _
from recsys.jobs.queue import Progress

COLOURS = {"loss": "#cf6a2a", "ndcg@10": "#1f9a94"}  # contrast of at least 3:1 on the light and the dark page
PLOT_HEIGHT_PX = 210
MAX_EPOCH_TICKS = 10  # up to this number of epochs, each has a tick. Plotly would also put ticks at half epochs.
MAX_MARKERS = 39  # a curve with more points has no markers


def show(progress: Progress, model_title: str, key: str) -> None:
    """Show charts of the loss and the validation metric of a training. key: Part of the file names of the charts."""
    axis_titles = {"loss": _("Loss"), "ndcg@10": _("Validation NDCG@10")}
    table = pd.DataFrame(progress.events, columns=["epoch", *axis_titles])
    with st.grid(2, min_column_width=240):
        for column, axis_title in axis_titles.items():
            rows = table.dropna(subset=[column])
            if len(rows):
                epoch, value = int(rows["epoch"].iloc[-1]), format.metric(rows[column].iloc[-1])
                alt = _(
                    "{axis} of {model}, {last} after epoch {n}", axis=axis_title, model=model_title, last=value, n=epoch
                )
                figure = plot_curve(rows, column, progress.max_epochs).update_yaxes(title=axis_title)
                plot(figure, alt, f"{column}-{key}")
    st.caption(
        _(
            "Validation uses one hidden film per person. When the validation curve falls, the recommender is "
            "overfitting."
        )
    )


def plot_curve(table: pd.DataFrame, column: str, max_epochs: int) -> go.Figure:
    """Plot a column of `COLOURS` against the column "epoch". The horizontal axis ends at `max_epochs`."""
    figure = go.Figure()
    figure.add_scatter(
        x=table["epoch"],
        y=table[column],
        mode="lines+markers" if len(table) <= MAX_MARKERS else "lines",
        line={"color": COLOURS[column], "width": 2},
        marker={"size": 6},
        hovertemplate=f"%{{x}}: %{{y:{i18n.METRIC_FORMAT}}}<extra></extra>",
    )
    set_layout(figure, PLOT_HEIGHT_PX).update_layout(margin_t=8)
    step = 1 if max_epochs <= MAX_EPOCH_TICKS else None
    return figure.update_xaxes(title=_("Epoch"), range=[0.5, max_epochs + 0.5], tickformat="d", dtick=step)
