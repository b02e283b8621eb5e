"""One person: a test user with the history, the hidden film, and its rank with every recommender. No model is run."""

import random

import pandas as pd
import streamlit as st

from pages.evaluation import measured
from pages.evaluation.charts import ranks as charts
from pages.evaluation.measured import Shown
from pages.ui import errors, film_cards, format
from pages.ui.charts import chart
from pages.ui.i18n import _, ngettext
from recsys.data.dataset import Dataset
from recsys.evaluation import tables
from recsys.evaluation.tables import HeldOutUser

LATEST = 20  # films of a history that are shown


def show(shown: Shown) -> None:
    """A test user to choose, what was hidden, who found it, what was watched before."""
    dataset = measured.data_of(shown)
    test = measured.split(shown, dataset).test
    row = choose(len(test), f"person-{shown.name}")
    somebody = tables.held_out_user(dataset, test, row)
    ranks, damaged = measured.ranks(shown)
    errors.show_file_errors(damaged)
    table = tables.ranks_of_user(shown.board, ranks, measured.comparable(shown, dataset), row)
    about = ngettext(
        "User {id} in the ratings file, with {n} film in the history.",
        "User {id} in the ratings file, with {n} films in the history.",
        len(somebody.history),
        id=somebody.user_id,
    )
    st.caption(format.escape_markdown(about))
    st.header(_("The film that was hidden"))
    st.html(film_cards.film_columns([(len(somebody.history) + 1, dataset.catalog.films[somebody.target])]))
    left, right = st.columns([3, 2], gap="large")
    with left:
        who_found(shown, dataset, somebody, table)
    with right:
        past(dataset, somebody)


def choose(n: int, key: str) -> int:
    """A row from 0 to n - 1: typed, or drawn."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        number = st.number_input(_("Test person"), 1, n, step=1, key=key, width=150, persist_state="session")
        st.button(_("Somebody else"), icon=":material/casino:", on_click=draw, args=(n, key), key=f"draw-{key}")
    return int(number) - 1


def draw(n: int, key: str) -> None:
    """Take anybody."""
    st.session_state[key] = random.randint(1, n)


def past(dataset: Dataset, somebody: HeldOutUser) -> None:
    """The latest of the history, the newest first."""
    films, history = dataset.catalog.films, somebody.history
    latest = list(enumerate(history.tolist(), start=1))[-LATEST:]
    st.header(
        ngettext("Watched before, the latest {n}", "Watched before, the latest {n}", LATEST)
        if len(history) > LATEST
        else _("Watched before")
    )
    st.html(film_cards.film_columns([(number, films[item]) for number, item in reversed(latest)]))


def who_found(shown: Shown, dataset: Dataset, somebody: HeldOutUser, table: pd.DataFrame) -> None:
    """Every recommender's rank of the hidden film."""
    st.header(_("Its rank with each recommender"))
    found = table.loc[table["found"], "title"].tolist()
    sentence = _("None of {all} recommenders has it in its top ten.", all=len(table))
    if found:
        sentence = ngettext(
            "{n} of {all} recommenders has it in its top ten: {names}.",
            "{n} of {all} recommenders have it in their top ten: {names}.",
            len(found),
            all=len(table),
            names=", ".join(found),
        )
    st.markdown(format.escape_markdown(sentence))
    film = dataset.catalog.films[somebody.target].label
    about = ngettext(
        "Rank of {film} with {n} recommender", "Rank of {film} with each of {n} recommenders", len(table), film=film
    )
    chart(charts.ranks_of_film(table), about, table.assign(film=film), f"person-{shown.name}")
    st.caption(
        _(
            "Rank among the films that competed: the median over seeds, with a bar from the best seed to "
            "the worst. The top ten are left of the dotted line. The axis is logarithmic."
        )
    )
