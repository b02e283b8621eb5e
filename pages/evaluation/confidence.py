"""The section Calibration: predicted probabilities against the share of predictions that came true.

A predicted film comes true if it is the hidden film of the person. This share is the hit rate.
"""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.evaluation import data, person
from pages.evaluation.charts import MAX_LINES, percent_tick, plot_lines
from pages.evaluation.data import EvaluationView
from pages.ui import cache, format
from pages.ui.charts import GREY, log_axis, show_chart
from pages.ui.i18n import _, number
from recsys.data import datasets
from recsys.data.dataset import Dataset
from recsys.evaluation import list_metrics, protocols, tables
from recsys.evaluation.protocols import Protocol
from recsys.evaluation.tables import HeldOutUser
from recsys.serving.predictor import is_ready

PAPER_VARIANTS = ("sasrec-bce", "gsasrec", "sasrec-softmax", "bert4rec")  # as in figure 1 of gSASRec, and BERT4Rec
PAPER_USER = 963  # number of the test user in figure 1 of gSASRec
LIST_PLOT_HEIGHT_PX = 400  # includes the legend, which has five lines on a phone
MIN_SHARE = 1e-4  # minimum of the start of a vertical axis
REFERENCE_LINE = {"mode": "lines", "line": {"color": GREY, "width": 1}, "hoverinfo": "skip"}


def show(view: EvaluationView) -> None:
    """Show predicted and observed probabilities of all test users, then the probabilities in the list of one user."""
    # bins: a row per recommender and tenth of its predictions; by_rank: a row per recommender and rank
    bins, by_rank = tables.reliability_tables(view.dataset, view.protocol, view.board["variant"].tolist())
    if bins.empty:
        message = _(
            "There are no probabilities for this protocol. They need a protocol that ranks all films, and "
            "recommenders whose scores are probabilities."
        )
        st.info(message, icon=":material/info:")
        return
    variants = list(dict.fromkeys(bins["variant"]))
    selected = data.select_recommenders(view, variants, variants[:MAX_LINES], "calibration")
    if selected:
        warn_about_old_results(view, bins, by_rank, selected)
        with st.grid(2, min_column_width=320):
            with st.container():
                show_reliability(view, bins, selected)
            with st.container():
                show_overconfidence(view, by_rank, selected)
    show_one_list(view, variants)


def warn_about_old_results(
    view: EvaluationView, bins: pd.DataFrame, by_rank: pd.DataFrame, selected: list[str]
) -> None:
    """Show a note about selected recommenders with old results, if any.

    In old results, the probabilities of all films sum to 1, including films already watched.
    """
    is_old = bins["normalized_over"] == tables.ALL_ITEMS
    old_variants = [variant for variant in selected if variant in set(bins.loc[is_old, "variant"])]
    if not old_variants:
        return
    example = old_variants[0]
    top_ten = by_rank[by_rank["variant"] == example]
    text = _(
        "{names}: probabilities include films already watched, which are never the hidden film. Therefore, the "
        "probabilities of other films are too low. {model} gives its top ten {predicted:.0%} in total, but the hidden "
        "film is among them for {observed:.0%} of the people. On the “Watch next” page, the probabilities cover only "
        "films not watched yet.",
        names=_("All of these") if len(selected) > 1 and old_variants == selected else view.join_titles(old_variants),
        model=view.title(example),
        predicted=top_ten["predicted"].sum(),
        observed=top_ten["hit_rate"].sum(),
    )
    st.caption(text)


def show_reliability(view: EvaluationView, bins: pd.DataFrame, selected: list[str]) -> None:
    """Plot the share of predictions that came true against the predicted probability."""
    st.header(_("Predicted and observed probability"))
    text = _(
        "Each mark is a tenth of all recommended films, by predicted probability. On the line, a probability of 20% "
        "means that one in five comes true. Below it, a recommender is overconfident. Both axes are logarithmic."
    )
    st.caption(text)
    by_variant = split_by_recommender(bins, selected)
    figure = plot_lines(by_variant, view.title, "predicted", "hit_rate", _("Predicted probability"))
    figure.update_traces(hovertemplate="%{x:.2%}: %{y:.2%}")
    values = pd.concat(by_variant.values())[["predicted", "hit_rate"]]
    ends = [values[values > 0].min().min(), values.max().max()]  # of the diagonal; without 0, for logarithmic axes
    figure.add_scatter(x=ends, y=ends, name=_("calibrated"), **REFERENCE_LINE)
    figure.update_xaxes(**log_axis(percent_tick))
    figure.update_yaxes(title=_("Share that came true"), **log_axis(percent_tick))
    alt = _(
        "Share of predictions that came true, plotted against their predicted probability, for {names}",
        names=view.join_titles(selected),
    )
    show_chart(figure, alt, bins, f"reliability-{view.key}", _("Predicted and observed probability"))


def show_overconfidence(view: EvaluationView, by_rank: pd.DataFrame, selected: list[str]) -> None:
    """Plot the ratio of predicted probability to hit rate by rank."""
    st.header(_("Overconfidence by rank"))
    text = _(
        "Predicted probability divided by the share that came true, at each rank. For a calibrated recommender, "
        "it is 1. Training with few negative examples makes recommenders overconfident (Petrov and Macdonald, gSASRec, "
        "arXiv:2308.07192)."
    )
    st.caption(text)
    by_variant = split_by_recommender(by_rank, selected)
    figure = plot_lines(by_variant, view.title, "rank", "predicted_to_hit_ratio", _("Rank"))
    ranks = pd.concat(by_variant.values())["rank"]
    figure.add_scatter(x=[ranks.min(), ranks.max()], y=[1, 1], name=_("calibrated"), **REFERENCE_LINE)
    ratio_axis = log_axis(lambda ratio: f"{number(ratio, 'g')}×", steps=(1, 1.1, 1.2, 1.3, 1.5, 2, 3, 5, 7, 8, 9))
    figure.update_xaxes(dtick=1).update_yaxes(title=_("Predicted / observed"), **ratio_axis)
    alt = _(
        "Predicted probability divided by the share that came true, by rank, for {names}",
        names=view.join_titles(selected),
    )
    show_chart(figure, alt, by_rank, f"sure-by-rank-{view.key}", _("Overconfidence by rank"))


def split_by_recommender(table: pd.DataFrame, variants: list[str]) -> dict[str, pd.DataFrame]:
    """Return variant → its rows in a table."""
    return {variant: table[table["variant"] == variant] for variant in variants}


def show_one_list(view: EvaluationView, variants: list[str]) -> None:
    """Show the probabilities in the lists of one user, or a note if none of the recommenders is ready."""
    st.header(_("Probabilities in one list"))
    dataset_title = format.escape_markdown(cache.dataset_title(view.dataset))
    available = [variant for variant in variants if is_ready(variant, view.dataset)]
    if not available:
        st.caption(_("None of these recommenders is trained on this computer for {data}.", data=dataset_title))
        return
    dataset = cache.dataset(view.dataset)
    # the splitting on which the recommenders of the app are trained; it can differ from the splitting of the view
    serving_protocol = protocols.get(datasets.serving_splitting(dataset.name).protocol)
    text = _(
        "Predicted probabilities of the first 100 films in the list of one person. This reproduces figure 1 of the "
        "gSASRec paper (arXiv:2308.07192) for the recommenders in this app. In the paper, SASRec with one negative "
        "example (BCE) gives almost every film nearly 100%, and gSASRec does not. All axes are logarithmic."
    )
    st.caption(text)
    if view.definition.splitting != serving_protocol.splitting:
        text = _(
            "This section uses the protocol “{protocol}”, because the recommenders for {data} in this app were "
            "trained for it.",
            data=dataset_title,
            protocol=data.protocol_title(serving_protocol.name),
        )
        st.caption(text)
    show_lists_of_user(view, dataset, serving_protocol, available)


def show_lists_of_user(
    view: EvaluationView, dataset: Dataset, serving_protocol: Protocol, available: list[str]
) -> None:
    """Show the menus of users and recommenders, and the two charts. available: Recommenders that are ready."""
    test = serving_protocol.split(dataset).test
    user_key = f"sure-person-{dataset.name}"
    st.session_state.setdefault(user_key, min(PAPER_USER, len(test)))
    row = person.select_user(len(test), user_key)
    default = [variant for variant in available if variant in PAPER_VARIANTS] or available[: len(PAPER_VARIANTS)]
    selected = data.select_recommenders(view, available, default, "sure")
    if not selected:
        return
    shares = hidden_film_shares(dataset, serving_protocol.name, selected)
    query = test.queries[row : row + 1]
    # `plot_lines` colours by position. Recommenders in both charts come first, so each has one colour in both charts.
    in_colour_order = list(dict.fromkeys([*shares, *selected]))
    lists = {
        variant: list_metrics.probabilities_by_rank(cache.load_predictor(variant, dataset.name).model, query)
        for variant in in_colour_order
    }
    columns = [table["probability"] for table in lists.values()] + [table["share"] for table in shares.values()]
    min_value = pd.concat(columns).min()  # both charts have the same vertical axis
    with st.grid(2, min_column_width=320):
        with st.container():
            show_list_of_user(view, dataset, tables.held_out_user(dataset, test, row), lists, min_value)
        if shares:
            with st.container():
                show_hidden_film_shares(view, shares, min_value)


def hidden_film_shares(dataset: Dataset, protocol: str, selected: list[str]) -> dict[str, pd.DataFrame]:
    """Return variant → `list_metrics.target_share_by_rank`, for selected recommenders with ranks of the test users."""
    board, _load_errors = data.leaderboard(dataset.name, protocol)
    view = EvaluationView(dataset.name, protocol, board)
    ranks, _load_errors = data.ranks(view)
    matching = data.variants_with_matching_ranks(view, dataset)
    return {variant: list_metrics.target_share_by_rank(ranks[variant]) for variant in selected if variant in matching}


def show_list_of_user(
    view: EvaluationView, dataset: Dataset, user: HeldOutUser, lists: dict[str, pd.DataFrame], min_value: float
) -> None:
    """Show the probabilities of the top 100 films for a user, and their sums. lists: Recommender → table of films."""
    films = dataset.catalog.films
    st.markdown(f"**{_('Prediction')}**")
    ring = _("A ring marks the hidden film: {film}.", film=films[user.target].label)
    st.caption(format.escape_markdown(f"{person.describe_user(user)} {ring}"))
    sums = ", ".join(
        _("{model} {sum:,.0%}", model=view.title(variant), sum=table["probability"].sum())
        for variant, table in lists.items()
    )
    alt = _(
        "Probability of the first 100 films of person {id} by rank, both axes logarithmic. Sums: {sums}",
        id=user.user_id,
        sums=sums,
    )
    rows = pd.concat([table.assign(variant=variant) for variant, table in lists.items()])
    rows = rows.assign(film=[films[item].label for item in rows["item"]])
    hidden_film = rows[rows["item"] == user.target]
    figure = plot_by_rank(lists, view, "probability", min_value)
    if len(hidden_film):
        figure.add_scatter(
            x=hidden_film["rank"],
            y=hidden_film["probability"],
            mode="markers",
            name=_("Hidden film"),
            marker={"symbol": "circle-open", "size": 15, "color": GREY, "line": {"width": 2.5}},
            hoverinfo="skip",
            cliponaxis=False,
        )
    numbers, name = rows.drop(columns="item"), f"sure-of-list-{view.dataset}-{user.user_id}"
    show_chart(figure, alt, numbers, name, _("Probabilities in one list"))
    text = _(
        "Only one film comes next, so a sum above 100% means overconfidence. Sums of the first 100 films: {sums}. "
        "A softmax distributes 100% over all films. With BCE and in gSASRec, each film has its own probability.",
        sums=sums,
    )
    st.caption(format.escape_markdown(text))


def show_hidden_film_shares(view: EvaluationView, shares: dict[str, pd.DataFrame], min_value: float) -> None:
    """Show how often the hidden film has each rank. shares: Recommender → table of ranks."""
    st.markdown(f"**{_('Result')}**")
    text = _(
        "Ranks of the hidden film for all people in the test, as a share of people per rank. Neighbouring ranks are "
        "averaged. A calibrated recommender has about the same heights in both charts."
    )
    st.caption(text)
    alt = _(
        "Share of people by the rank of their hidden film, both axes logarithmic, for {names}",
        names=view.join_titles(list(shares)),
    )
    rows = pd.concat([table.assign(variant=variant) for variant, table in shares.items()])
    figure = plot_by_rank(shares, view, "share", min_value)
    show_chart(figure, alt, rows, f"stood-at-rank-{view.dataset}", _("Calibration"))


def plot_by_rank(by_variant: dict[str, pd.DataFrame], view: EvaluationView, y: str, min_value: float) -> go.Figure:
    """Plot column y against rank on logarithmic axes.

    The vertical axis starts at `min_value` or at MIN_SHARE, whichever is larger, and ends at 100%.
    """
    figure = plot_lines(by_variant, view.title, "rank", y, _("Rank"))
    figure.update_layout(height=LIST_PLOT_HEIGHT_PX)
    figure.update_traces(hovertemplate="%{x:.0f}: %{y:.2%}")
    figure.update_xaxes(**log_axis(lambda rank: number(rank, "g"), min_exponent=0))
    low_exponent = float(np.log10(max(min_value, MIN_SHARE)))
    return figure.update_yaxes(**log_axis(percent_tick), range=[low_exponent - 0.1, 0.08])  # exponents, with margins
