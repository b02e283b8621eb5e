"""The section Trade-offs: two metrics against each other, and the errors of predicted ratings."""

from typing import Any

import streamlit as st

from pages.evaluation import data
from pages.evaluation.charts import plot_scatter
from pages.evaluation.data import EvaluationView, metric_title
from pages.ui import format
from pages.ui.charts import download_numbers, localize_table, show_chart
from pages.ui.i18n import N_, _, ngettext
from pages.ui.widgets import selectbox
from recsys.evaluation import tables
from recsys.evaluation.metric_texts import METRIC_TEXTS

BASELINE_TITLES = {"mean": N_("Mean of all ratings"), "film and person": N_("Film's mean + person's offset")}


def show(view: EvaluationView) -> None:
    """Show the menus of two metrics, the scatter plot and the errors of predicted ratings."""
    titles = {name: metric_title(name) for name in tables.MEASURES if view.board[name].notna().any()}
    default = "novelty@10" if "novelty@10" in titles else "hr@10"
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        x = selectbox(_("Horizontal axis"), titles, f"across-{view.key}", default=default, width=260)
        y = selectbox(_("Vertical axis"), titles, f"upwards-{view.key}", default="ndcg@10", width=260)
    introduction = _(
        "An accurate recommender may still recommend the same few films to everyone. Point at a mark to see its name."
    )
    names = dict.fromkeys((x, y))  # one name if both axes have the same metric
    meanings = [_(METRIC_TEXTS[name].meaning) for name in names if name in METRIC_TEXTS]
    st.caption(" ".join([introduction, *meanings]))
    table = view.board[["variant", "title", "family", *names]].dropna()
    alt = ngettext(
        "{y} against {x} for {n} recommender, with a colour and a shape per family",
        "{y} against {x} for {n} recommenders, with a colour and a shape per family",
        len(table),
        x=metric_title(x),
        y=metric_title(y),
    )
    figure = plot_scatter(table, x, y, metric_title(x), metric_title(y))
    show_chart(figure, alt, table, f"measures-{view.key}", _("Trade-offs"))
    show_rating_errors(view)


def show_rating_errors(view: EvaluationView) -> None:
    """Show the errors of predicted ratings, the lowest RMSE first, if a recommender predicts ratings."""
    table = tables.rating_error_table(data.documents(view).values())
    if table.empty:
        return
    heading = _("Predicted ratings")
    st.header(heading)
    text = _(
        "Some recommenders also predict ratings. This is the error in stars for the hidden film, with the 95% "
        "confidence interval over people. MAE is the mean absolute error, and RMSE gives large errors more weight. "
        "Two baselines are shown for comparison. All settings were tuned to predict the next film, not ratings."
    )
    st.caption(text)
    titles = view.titles | {name: _(title) for name, title in BASELINE_TITLES.items()}
    rows = table[["name"]].replace({"name": titles})
    columns: dict[str, Any] = {"name": _("Predicted by")}
    for metric in ("rmse", "mae"):
        intervals = zip(table[f"low {metric}"], table[f"high {metric}"], strict=True)
        rows[metric] = table[metric]
        rows[f"{metric} interval"] = [f"{format.metric(low)}–{format.metric(high)}" for low, high in intervals]
        columns[metric] = st.column_config.NumberColumn(metric_title(metric), width=70)
        columns[f"{metric} interval"] = _("95% interval")
    st.dataframe(localize_table(rows), hide_index=True, column_config=columns, alt=heading, width="content")
    download_numbers(table, f"stars-{view.key}", heading)
