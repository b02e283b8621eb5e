"""The section By group: metrics for groups of people or of hidden films.

A grouping, such as "genre", divides the test users into buckets, such as "Comedy". See `recsys.evaluation.groups`.
"""

from collections.abc import Iterable, Mapping

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.evaluation import data
from pages.evaluation.charts import ROWS_MARGIN_PX, error_bars, look, rows_axis
from pages.evaluation.data import EvaluationView, metric_title
from pages.ui import cache, errors, format
from pages.ui.charts import set_layout, show_chart
from pages.ui.i18n import N_, _
from pages.ui.widgets import selectbox
from recsys.data import datasets
from recsys.evaluation import groups, tables

GROUPING_TITLES = {
    "history length": N_("Number of films watched before the hidden film"),
    "popularity of the film": N_("Popularity of the hidden film"),
    "genre": N_("Genre of the hidden film"),
    "decade": N_("Decade of the hidden film"),
    "gender": N_("Gender"),
    "age": N_("Age in years"),
}
N_DEFAULT_RECOMMENDERS = 3  # the best recommenders of this number of families
MAX_RECOMMENDERS = 5
SYMBOL_SUFFIXES = ("", "-open", "-dot", "-open-dot")  # forms of a Plotly symbol, for recommenders of one family
ROW_HEIGHT_PX = 30  # of a row without marks
MARK_HEIGHT_PX = 11  # additional height of a row for each recommender
ROW_GAP = 0.5  # share of a row's height that is empty, between the marks of two rows


def show(view: EvaluationView) -> None:
    """Show the menus, and a chart of the selected metric with a row per bucket."""
    dataset = cache.dataset(view.dataset)
    errors.show_file_errors(data.ranks(view)[1])
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        titles = {name: _(GROUPING_TITLES[name]) for name in groups.available_groupings(dataset)}
        grouping = selectbox(_("Group by"), titles, "slicing", width=370)  # fits the longest title
        metric = data.select_metric()
    variants = data.variants_with_matching_ranks(view, dataset)
    default = tables.best_of_families(view.board, variants, N_DEFAULT_RECOMMENDERS)
    selected = data.select_recommenders(view, variants, default, "slices", MAX_RECOMMENDERS)
    if not selected:
        return
    with st.spinner(_("Computing confidence intervals…")):
        table = data.metrics_by_group(view, data.split(view, dataset), variants, grouping, metric)
    st.caption(_("Bars are 95% confidence intervals over people, and n is the number of people in a group."))
    bucket_names = name_buckets(view.dataset, grouping, table["bucket"].unique())
    if grouping in groups.USER_GROUPINGS:
        medians = groups.median_lengths(data.split(view, dataset), grouping).items()
        lengths = [_("{n:,} for {group}", group=format.display_group(bucket), n=n) for bucket, n in medians]
        text = _(
            "Groups are based on what people stated. They differ in size and in the median number of films watched "
            "before the hidden film ({lengths}). Both affect the metrics, so compare recommenders within a group "
            "only.",
            lengths=", ".join(lengths),
        )
        st.caption(text)
    rows = pd.concat(table[table["variant"] == variant] for variant in selected)
    alt = _(
        "{metric} of {names}, grouped by: {grouping}",
        metric=metric_title(metric),
        names=view.join_titles(selected),
        grouping=_(GROUPING_TITLES[grouping]),
    )
    figure = plot_groups(rows, view, metric_title(metric), bucket_names)
    show_chart(figure, alt, table, f"slices-{view.key}-{grouping.replace(' ', '-')}", _("By group"))


def name_buckets(dataset: str, grouping: str, buckets: Iterable[str]) -> dict[str, str]:
    """Return bucket → name in the visitor's language. Genres of a visitor's data set are not translated."""
    is_translated = grouping != "genre" or dataset in datasets.PUBLISHED
    return {bucket: format.display_group(bucket) if is_translated else bucket for bucket in buckets}


def plot_groups(table: pd.DataFrame, view: EvaluationView, metric: str, bucket_names: Mapping[str, str]) -> go.Figure:
    """Plot `groups.metric_by_bucket`: a row per bucket, with a mark and an error bar for each recommender."""
    n_users = table.drop_duplicates("bucket").set_index("bucket")["users"].to_dict()
    row_labels = {bucket: f"{bucket_names[bucket]}<br>" + _("n = {n:,}", n=n) for bucket, n in n_users.items()}
    figure = go.Figure()
    plotted_families: list[str] = []
    for variant, rows in table.groupby("variant", sort=False):
        family = view.family(str(variant))
        style = look(family)
        suffix = SYMBOL_SUFFIXES[plotted_families.count(family) % len(SYMBOL_SUFFIXES)]
        figure.add_scatter(
            x=rows["value"],
            y=rows["bucket"].map(row_labels),
            orientation="h",
            offsetgroup=str(len(plotted_families)),
            mode="markers",
            name=view.title(str(variant)),
            error_x=error_bars(rows["value"], rows["low"], rows["high"], color=style.colour, width=0),
            marker={"color": style.colour, "symbol": style.symbol + suffix, "size": 9},
            customdata=rows[["bucket", "users", "low", "high"]].replace({"bucket": dict(bucket_names)}),
            hovertemplate="%{customdata[0]}: %{x:.4f} (%{customdata[2]:.4f}–%{customdata[3]:.4f})",
        )
        plotted_families.append(family)
    height = ROWS_MARGIN_PX + len(row_labels) * (ROW_HEIGHT_PX + MARK_HEIGHT_PX * len(plotted_families))
    set_layout(figure, height).update_layout(showlegend=True, scattermode="group", scattergap=ROW_GAP)
    figure.update_yaxes(**rows_axis(list(row_labels.values())), showgrid=False)
    return figure.update_xaxes(title=metric, rangemode="tozero")
