"""The section Leaderboard: an HTML table with confidence intervals, or a sortable table of all metrics."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from pages.evaluation import data, list_lengths
from pages.evaluation.data import EvaluationView, metric_title
from pages.evaluation.leaderboard_table import TIME_AWARE_TITLE, codes_html, published_rules, table_html
from pages.evaluation.provenance import local_provenance
from pages.ui import cache, errors, format
from pages.ui.charts import download_numbers, localize_table
from pages.ui.i18n import N_, _, ngettext, number
from pages.ui.widgets import segmented_control
from recsys.evaluation import published_figures, report, results, significance
from recsys.serving.predictor import Recommender

# layouts of the leaderboard
INTERVALS = "intervals"  # the HTML table
ALL_METRICS = "all-figures"  # the sortable table
PHONE_COLUMNS = ["title", "ndcg@10", "hr@10", "mrr", "hr@1"]  # first columns of the sortable table, for phones
HR_MEANING = N_("HR@k is the share of people whose hidden film is in the top k.")
METRIC_MEANINGS = {  # metric without "@10" → sentences
    "hr": (HR_MEANING,),
    "ndcg": (
        HR_MEANING,
        N_("NDCG@k counts lower ranks less: 1 for rank 1, 0.5 for rank 3 and 0.29 for rank 10."),
    ),
    "mrr": (N_("MRR is the mean of 1 divided by the rank of the hidden film."),),
}
FAVOURITES_HR_MEANING = N_(
    "HR@k is the number of the person's other liked films in the top k, divided by the highest possible number."
)
FAVOURITES_METRIC_MEANINGS = {  # as METRIC_MEANINGS, for protocols with several hidden films per person
    "hr": (FAVOURITES_HR_MEANING,),
    "ndcg": (FAVOURITES_HR_MEANING, N_("NDCG@k also takes their ranks into account: films further down count less.")),
    "mrr": (N_("MRR is the mean of 1 divided by the rank of the best-ranked other liked film."),),
}
TABLE_NOTES = (
    N_(
        "The bar is the 95% confidence interval over people. Recommenders are trained once or several times, with "
        "different random seeds. Metrics are means over these training runs."
    ),
    N_("Click a title to see where its metrics come from."),
)
COLUMN_TITLES = {
    "title": N_("Recommender"),
    "family": N_("Family"),
    "seeds": N_("Seeds"),
    "users": N_("People"),
    "date": N_("Measured"),
    "code": N_("Code"),
    "rules": N_("Rules"),
    "source": N_("Source"),
}


def show(view: EvaluationView) -> None:
    """Show the controls, one of the two tables, and the recommenders without results."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        metric = data.select_metric()
        families = st.multiselect(
            _("Families"),
            list(dict.fromkeys(view.board["family"])),
            select_all=False,
            format_func=_,
            placeholder=_("All families"),
            key=f"families-{view.key}",
            width=330,
            persist_state="session",
        )
        layouts = {INTERVALS: _("Intervals"), ALL_METRICS: _("All metrics")}
        layout = segmented_control(_("Show as"), layouts, "board_view")
    if not view.definition.has_whole_histories:
        list_lengths.show(view, metric)
    board, published = view.board, published_figures.published(view.dataset, view.protocol)
    if families:
        board = board[board["family"].isin(families)]
        published = published[published["variant"].isin(board["variant"])]
    if board.empty:
        message = _("No recommender of these families has results here. Select other families, or none to see all.")
        st.info(message, icon=":material/filter_alt:")
    elif layout == INTERVALS:
        show_intervals(view, board, published, metric)
    else:
        show_all_metrics(view, board, published)
    show_unevaluated(view)


def show_intervals(view: EvaluationView, board: pd.DataFrame, published: pd.DataFrame, metric: str) -> None:
    """Show the HTML table, at first without significance tests, because the tests take seconds."""
    provenances = {variant: local_provenance(document) for variant, document in data.documents(view).items()}
    published = published.dropna(subset=[metric]) if metric in published else published[:0]
    slot = st.empty()
    slot.html(table_html(board, published, metric, None, provenances))
    tests = significance.against_best(data.pairwise_tests(view, metric))
    slot.html(table_html(board, published, metric, tests, provenances))
    tied_note = _(
        "≈ marks recommenders without a significant difference from the best: p is at least {alpha} in a paired "
        "randomisation test, with Holm's correction for all pairs of this leaderboard.",
        alpha=number(significance.ALPHA, ""),
    )
    meanings = FAVOURITES_METRIC_MEANINGS if view.definition.uses_favourites else METRIC_MEANINGS
    st.caption(" ".join([*map(_, meanings[metric.split("@")[0]]), *map(_, TABLE_NOTES), tied_note]))
    if len(published):
        st.html(codes_html(published))
    numbers = board.merge(tests.drop(columns=["metric", "users"]), how="left", on="variant")
    download_numbers(numbers, f"leaderboard-{view.key}", _("Leaderboard"))


def show_all_metrics(view: EvaluationView, board: pd.DataFrame, published: pd.DataFrame) -> None:
    """Show the sortable table, the provenance of the selected row, and the published figures."""
    rows = board.assign(date=board["date"].str[:10], family=board["family"].map(_))  # the CSV also has the time of day
    other_metrics = [name for name in results.METRICS if name not in PHONE_COLUMNS]
    table = rows[[*PHONE_COLUMNS, "family", *other_metrics, "seeds", "users", "date"]]
    event = show_table(table, f"figures-{view.key}", _("Leaderboard"), on_select="rerun", selection_mode="single-row")
    if selected := event.selection.rows:
        provenance = local_provenance(data.documents(view)[board["variant"].iloc[selected[0]]])
        with st.container(border=True):
            facts = " · ".join(f"{label}: {text}" for label, text in provenance.facts.items())
            st.markdown(f"**{format.escape_markdown(provenance.title)}**  \n{format.escape_markdown(facts)}")
            st.caption(_("Run this to reproduce the metrics:"))
            st.code("\n".join(provenance.commands), language=None, wrap_lines=True)
    else:
        st.caption(_("Select a row to see its command, commit, seeds and number of people."))
    download_numbers(board, f"figures-{view.key}", _("Leaderboard"))
    if not published.empty:
        show_published_figures(view, published)


def show_published_figures(view: EvaluationView, published: pd.DataFrame) -> None:
    """Show published figures, with a separate table of models that know the time of the hidden film."""
    st.header(_("Published figures"))
    st.caption(_("From papers and public repositories, not measured here. The table shows how their rules differ."))
    translated = published.assign(
        title=published["title"].map(_),
        rules=[published_rules(record) for record in published.to_dict("records")],
        source=published["source"].map(_),
    )
    for is_time_aware, figures in translated.groupby("knows_the_time"):
        if is_time_aware:
            st.markdown(f"**{_(TIME_AWARE_TITLE)}**")
        table = figures[[*PHONE_COLUMNS, "hr@5", "ndcg@5", "code", "rules", "source"]]
        alt = _(TIME_AWARE_TITLE) if is_time_aware else _("Published figures")
        show_table(table.dropna(axis="columns", how="all"), f"published-{is_time_aware}-{view.key}", alt)
    download_numbers(published, f"published-{view.key}", _("Published figures"))


def show_table(table: pd.DataFrame, key: str, alt: str, **options: Any) -> Any:
    """Show a sortable table, and return its `st.dataframe`. The title and three metrics fit a phone.

    `options` are further arguments of `st.dataframe`.
    """
    columns: dict[str, Any] = {name: _(title) for name, title in COLUMN_TITLES.items()}
    columns |= {name: st.column_config.NumberColumn(metric_title(name), width=68) for name in results.METRICS}
    columns["title"] = st.column_config.TextColumn(_("Recommender"), width=150, pinned=True)
    return st.dataframe(
        localize_table(table), hide_index=True, column_config=columns, placeholder="–", key=key, alt=alt, **options
    )


def show_unevaluated(view: EvaluationView) -> None:
    """Show the recommenders without a result, if any, and the commands that evaluate them."""
    unevaluated = report.unmeasured_recommenders(view.board["variant"])
    if not unevaluated:
        return
    title = ngettext("{n} recommender without results", "{n} recommenders without results", len(unevaluated))
    with st.expander(title, icon=":material/pending:", key=f"missing-{view.key}"):
        needing_training, mixtures, training_free = report.group_by_training(unevaluated, view.dataset)
        if needing_training:
            text = _("These must be trained first: {models}.", models=_join_titles(needing_training))
            st.markdown(f"{text} {_(view.definition.retraining_reason)}".strip())
            _show_commands(view, needing_training)
        if mixtures:
            text = N_("These are mixtures of other recommenders, which must be trained first: {models}.")
            st.markdown(_(text, models=_join_titles(mixtures)))
            for mixture in mixtures:  # separate commands, because each mixture has other members to train
                _show_commands(view, [mixture])
        if training_free:
            st.markdown(_("These can be evaluated without training: {models}.", models=_join_titles(training_free)))
            _show_commands(view, training_free)


def _join_titles(recommenders: Sequence[Recommender]) -> str:
    """Return the titles of recommenders with commas between them, as Markdown."""
    return format.join_escaped([_(recommender.title) for recommender in recommenders])


def _show_commands(view: EvaluationView, group: list[Recommender]) -> None:
    """Show the commands that evaluate one recommender of a group, and the names of the others."""
    example = next((recommender for recommender in group if recommender.name == cache.DEFAULT_MODEL), group[0])
    st.caption(_("Run this for {model}:", model=format.escape_markdown(_(example.title))))
    commands = map(errors.hide_paths, report.first_result_commands(example.name, view.dataset, view.protocol))
    st.code("\n".join(commands), language=None, wrap_lines=True)
    if names := [f"`{recommender.name}`" for recommender in group if recommender is not example]:
        st.caption(_("For another recommender, replace the name with one of these: {names}.", names=", ".join(names)))
