"""The section One person: the hidden film of a test user, its rank with every recommender, and the history."""

import random

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.evaluation import data
from pages.evaluation.charts import ROWS_MARGIN_PX, error_bars, look, rows_axis
from pages.evaluation.data import EvaluationView
from pages.ui import cache, errors, film_cards, format
from pages.ui.charts import GREY, log_axis, set_layout, show_chart
from pages.ui.i18n import _, ngettext, number
from recsys.evaluation import tables
from recsys.evaluation.tables import HeldOutUser

MAX_FILMS = 20  # number of the newest films of the history that are shown
ROW_HEIGHT_PX = 20


def show(view: EvaluationView) -> None:
    """Show the choice of a test user, the hidden film, its ranks and the history."""
    dataset = cache.dataset(view.dataset)
    films = dataset.catalog.films
    test = data.split(view, dataset).test
    row = select_user(len(test), f"person-{view.key}")
    user = tables.held_out_user(dataset, test, row)
    ranks, load_errors = data.ranks(view)
    errors.show_file_errors(load_errors)
    table = tables.ranks_of_user(view.board, ranks, data.variants_with_matching_ranks(view, dataset), row)
    st.caption(format.escape_markdown(describe_user(user)))
    st.header(_("Hidden film"))
    st.html(film_cards.film_columns([(len(user.history) + 1, films[user.target])]))
    left, right = st.columns([3, 2], gap="large")
    with left:
        show_ranks(table, films[user.target].label, f"person-{view.key}")
    with right:
        positioned_films = [(position, films[item]) for position, item in enumerate(user.history.tolist(), start=1)]
        if len(positioned_films) > MAX_FILMS:
            st.header(_("Last {n} films watched before the hidden film", n=MAX_FILMS))
        else:
            st.header(_("Watched before the hidden film"))
        st.html(film_cards.film_columns(positioned_films[::-1][:MAX_FILMS]))


def select_user(n: int, key: str) -> int:
    """Show an input for the number of a test user, from 1 to n, and a button that chooses a random user.

    Return the row of the user in the test part: the number minus 1.
    """

    def select_random() -> None:
        st.session_state[key] = random.randint(1, n)

    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        user_number = st.number_input(
            _("Person in the test"), 1, n, step=1, key=key, width=150, persist_state="session"
        )
        st.button(_("Random person"), key=f"draw-{key}", icon=":material/casino:", on_click=select_random)
    return int(user_number) - 1


def describe_user(user: HeldOutUser) -> str:
    """Return a text with the ID of a user and the length of the history."""
    return ngettext(
        "In the ratings file, this person has the number {id}. There is {n} film in the history.",
        "In the ratings file, this person has the number {id}. There are {n} films in the history.",
        len(user.history),
        id=user.user_id,
    )


def show_ranks(table: pd.DataFrame, film: str, key: str) -> None:
    """Show which recommenders have the hidden film in their top ten, and a chart of `tables.ranks_of_user`."""
    st.header(_("Rank by recommender"))
    in_top_ten = table.loc[table["is_hit"], "title"].tolist()
    text = _("None of {all} recommenders has the film in its top ten.", all=len(table))
    if in_top_ten:
        text = ngettext(
            "{n} of {all} recommenders has the film in its top ten: {names}.",
            "{n} of {all} recommenders have the film in their top ten: {names}.",
            len(in_top_ten),
            all=len(table),
            names=", ".join(in_top_ten),
        )
    st.markdown(format.escape_markdown(text))
    alt = ngettext(
        "Rank of {film} with {n} recommender", "Rank of {film} with each of {n} recommenders", len(table), film=film
    )
    numbers = table.assign(film=film).rename(columns={"is_hit": "found"})
    show_chart(plot_ranks(table), alt, numbers, key, _("Rank by recommender"))
    text = _(
        "Median rank over seeds on a logarithmic axis, with a bar from the best to the worst seed. The top ten are to "
        "the left of the dotted line."
    )
    st.caption(text)


def plot_ranks(table: pd.DataFrame) -> go.Figure:
    """Plot `tables.ranks_of_user` on a logarithmic axis, the best rank on top."""
    figure = go.Figure()
    for family, rows in table.groupby("family", sort=False):
        style = look(str(family))
        figure.add_scatter(
            x=rows["rank"],
            y=rows["title"],
            mode="markers",
            name=_(str(family)),
            error_x=error_bars(rows["rank"], rows["low"], rows["high"], color=style.colour, width=0),
            marker={"color": style.colour, "symbol": style.symbol, "size": 9},
            customdata=rows[["low", "high"]],
            hovertemplate="<b>%{y}</b>: %{x:,.0f} (%{customdata[0]:,}–%{customdata[1]:,})",
        )
    set_layout(figure, ROWS_MARGIN_PX + ROW_HEIGHT_PX * len(table)).update_layout(showlegend=False)
    figure.add_vline(tables.TOP_K + 0.5, line={"color": GREY, "width": 1, "dash": "dot"})
    figure.update_yaxes(**rows_axis(table["title"].tolist()), tickmode="linear")  # a label for each row
    return figure.update_xaxes(title=_("Rank"), **log_axis(lambda rank: number(rank, ",.0f"), min_exponent=0))
