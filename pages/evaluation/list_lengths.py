"""A chart of a metric by the number of films that recommenders get of each user: newest films or favourites."""

import pandas as pd
import streamlit as st

from pages.evaluation import data
from pages.evaluation.charts import label_line_ends, plot_lines
from pages.evaluation.data import EvaluationView, metric_title
from pages.ui.charts import show_chart
from pages.ui.i18n import N_, _
from recsys.evaluation import protocols, tables

MAX_DEFAULT_LINES = 5


def show(view: EvaluationView, metric: str) -> None:
    """Plot the metric against the number of films that recommenders get, if two or more numbers have results."""
    if view.definition.uses_favourites:
        length_labels = {protocol.name: str(protocol.n_given) for protocol in protocols.FAVOURITES}
        text = N_("{metric} when recommenders get one to ten films that each person likes.")
    else:
        length_labels = {protocol.name: str(protocol.n_newest) for protocol in protocols.LATEST_FILMS}
        length_labels[protocols.FULL.name] = _("all")
        text = N_("{metric} when recommenders get only the latest films of each person, or all of them.")
    boards = {protocol: data.leaderboard(view.dataset, protocol)[0] for protocol in length_labels}
    leaderboards = {protocol: board for protocol, board in boards.items() if not board.empty}
    table = tables.compare_protocols(leaderboards, metric)
    if len(leaderboards) < 2 or table.empty:
        return
    heading = _("Quality by the length of the list")
    st.header(heading)
    note = _("The lines of recommenders that need long lists are steeper.")
    st.caption(f"{_(text, metric=metric_title(metric))} {note}")
    variants = [variant for variant in view.board["variant"] if variant in set(table["variant"])]
    default = tables.best_of_families(view.board, variants, MAX_DEFAULT_LINES)
    selected = data.select_recommenders(view, variants, default, "lengths")
    if not selected:
        return
    # a row per recommender, a column per number of films
    lines = table.set_index("variant").loc[selected, list(leaderboards)].rename(columns=length_labels)
    line_tables = {variant: pd.DataFrame({"films": lines.columns, metric: lines.loc[variant]}) for variant in selected}
    figure = plot_lines(line_tables, view.title, "films", metric, _("Number of films given"))
    figure.update_traces(hovertemplate="%{x}: %{y:.4f}")
    figure.update_xaxes(type="category").update_yaxes(title=metric_title(metric))
    alt = _(
        "{metric} by number of films given, for {names}",
        metric=metric_title(metric),
        names=view.join_titles(selected),
    )
    label_line_ends(figure)
    # All lines end at the last category. Plotly would read its name "10" as the position 10.
    figure.update_annotations(x=len(lines.columns) - 1)
    numbers = table[["variant", "title", *leaderboards]]
    show_chart(figure, alt, numbers, f"lengths-{view.dataset}-{metric}", heading)
