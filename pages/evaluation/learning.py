"""The section Learning: training curves, and a chart of a metric against the training time."""

import pandas as pd
import streamlit as st

from pages.evaluation import data
from pages.evaluation.charts import label_line_ends, plot_lines, plot_scatter
from pages.evaluation.data import HARDWARE, EvaluationView, metric_title, protocol_title
from pages.ui import cache, errors, format
from pages.ui.charts import download_numbers, plot, show_chart
from pages.ui.i18n import N_, _, ngettext
from pages.ui.widgets import segmented_control, translate
from recsys.evaluation import protocols, report, results, tables

N_DEFAULT_LINES = 3  # the default recommender, and the best of the others
CURVES = {"loss": N_("Training loss"), "ndcg@10": N_("Validation NDCG@10")}
X_AXES = {"epoch": N_("Epochs"), "seconds": N_("Seconds")}  # column → option of the menu
X_TITLES = {"epoch": N_("Epoch"), "seconds": N_("Seconds of training")}
WITHOUT_TIME = {  # field of `tables.Costs` with recommenders that are not in the chart → text
    "fitted_titles": N_("Without recorded preparation time: {models}."),
    "mixture_titles": N_("Mixtures of other recommenders: {models}."),
    "untimed_titles": N_("Without recorded training time: {models}."),
    "other_hardware_titles": N_("Trained on other hardware: {models}."),
}


def show(view: EvaluationView) -> None:
    """Show the training curves or, if there are none, how to get them, and the chart of training times."""
    dataset_title = format.escape_markdown(cache.dataset_title(view.dataset))
    evaluated = protocols.sort_names(name for dataset, name in results.available() if dataset == view.dataset)
    if logs := training_logs(view, view.protocol):
        show_curves(view, logs)
    elif with_logs := [protocol for protocol in evaluated if training_logs(view, protocol)]:
        text = _(
            "There are no training logs for this protocol. For {data}, there are logs for {protocols}.",
            data=dataset_title,
            protocols=format.join_escaped([f"“{protocol_title(protocol)}”" for protocol in with_logs]),
        )
        st.caption(text)
    else:
        st.caption(_("There are no training logs for {data} yet. Train a recommender first.", data=dataset_title))
        errors.show_command(report.training_command(cache.DEFAULT_MODEL, view.dataset, view.protocol))
    show_costs(view)


def training_logs(view: EvaluationView, protocol: str) -> dict[str, pd.DataFrame]:
    """Return variant → training log with the splitting of a protocol. Recommenders without a log are left out.

    The default recommender is included, even if it has no result.
    """
    variants = [cache.DEFAULT_MODEL, *view.board["variant"]]
    return tables.training_logs(view.dataset, variants, protocols.get_current_or_former(protocol).splitting)


def show_curves(view: EvaluationView, logs: dict[str, pd.DataFrame]) -> None:
    """Plot the training loss and the validation metric of the selected recommenders. logs: From `training_logs`."""
    in_board_order = dict.fromkeys([*view.titles, *logs])  # recommenders without a result come last
    variants = [variant for variant in in_board_order if variant in logs]
    best_others = [variant for variant in variants if variant != cache.DEFAULT_MODEL][: N_DEFAULT_LINES - 1]
    default = [variant for variant in variants if variant in (cache.DEFAULT_MODEL, *best_others)]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        selected = data.select_recommenders(view, variants, default, "curves")
        axis = segmented_control(_("Horizontal axis"), translate(X_AXES), "curves_by")
    text = _(
        "Validation uses each person's last film but one and decides when training stops. Recommenders have "
        "different loss functions, so compare the shapes of the loss curves only."
    )
    st.caption(text)
    if not selected:
        return
    selected_logs = {variant: logs[variant] for variant in selected}
    with st.grid(2, min_column_width=320):
        for column, title in CURVES.items():
            figure = plot_lines(selected_logs, view.title, axis, column, _(X_TITLES[axis]))
            if figure.data:  # some logs have no validation
                figure.update_yaxes(title=_(title))
                alt = _("{title} of {names}", title=_(title), names=view.join_titles(selected))
                plot(label_line_ends(figure), alt, f"curves-{column}")
    rows = [log.assign(variant=variant) for variant, log in selected_logs.items()]
    download_numbers(pd.concat(rows), f"curves-{view.dataset}", _("Learning"))


def show_costs(view: EvaluationView) -> None:
    """Plot a metric against the training time, and list the recommenders that are not in the chart."""
    st.header(_("Quality and training time"))
    costs = tables.costs(list(data.documents(view).values()))
    if costs.table.empty:
        st.caption(_("These results have no recorded training times."))
    else:
        text = _(
            "Training time of one seed on {hardware}, not counting loading and evaluation. The axis is logarithmic. "
            "Other programs may have slowed the training down, so take the times as a rough guide.",
            hardware=_(HARDWARE.get(costs.hardware, costs.hardware)),
        )
        st.caption(text)
        metric = data.select_metric()
        alt = ngettext(
            "{metric} of {n} recommender against the training time on a logarithmic axis",
            "{metric} of {n} recommenders against the training time on a logarithmic axis",
            len(costs.table),
            metric=metric_title(metric),
        )
        rows = costs.table.assign(title=costs.table["title"].map(_))
        figure = plot_scatter(rows, "seconds", metric, _("Training time of one seed"), metric_title(metric), "log10")
        show_chart(figure, alt, costs.table, f"cost-{view.key}", _("Quality and training time"))
    lines = []
    for field, text in WITHOUT_TIME.items():
        if titles := getattr(costs, field):
            lines.append(_(text, models=format.join_escaped([_(title) for title in titles])))
    if lines:
        st.caption(_("Not in the chart:") + "\n" + "\n".join(f"- {line}" for line in lines))
