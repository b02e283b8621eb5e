"""Section of the Evaluation page on one test user: history, hidden film, and where every model put it."""

import random

import pandas as pd
import streamlit as st

from pages import _cards as cards
from pages import _evaluation_charts as charts
from pages import _measured
from pages import _shared as shared
from pages import _words as words
from pages._evaluation_parts import Shown, chart, data_of
from recsys.data.schema import DataError, Dataset
from recsys.evaluation import people
from recsys.evaluation.results import ResultError

LATEST = 20  # films of a history that are shown


def person(shown: Shown) -> None:
    """One of the people who were asked for; no model is run."""
    dataset = data_of(shown)
    if dataset is None:
        return
    try:
        test = _measured.parts(dataset, shown.protocol).test
        row = _choose(len(test), f"person-{shown.name}")
        somebody = people.person(dataset, test, row)
    except (DataError, ResultError) as error:
        shared.explain(error)
        return
    ranks, damaged = _measured.ranks(shown)
    shared.explain_all(damaged)
    table = people.places(shown.board, ranks, _measured.comparable(shown, dataset), row)
    about = words.PERSON_OF.format(n=len(test), id=somebody.user_id, films=len(somebody.history))
    st.caption(words.plain(about))
    st.subheader(words.HIDDEN_FILM)
    st.html(cards.past([(len(somebody.history) + 1, dataset.catalog.films[somebody.target])]))
    left, right = st.columns([3, 2], gap="large")
    with left:
        _who_found(shown, dataset, somebody, table)
    with right:
        _past(dataset, somebody)


def _choose(n: int, key: str) -> int:
    """A row from 0 to n - 1: typed, or drawn."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        number = st.number_input(words.PERSON, 1, n, step=1, key=key, width=150, persist_state="session")
        st.button(words.SOMEBODY, icon=":material/casino:", on_click=_draw, args=(n, key), key=f"draw-{key}")
    return int(number) - 1


def _draw(n: int, key: str) -> None:
    """Take anybody."""
    st.session_state[key] = random.randint(1, n)


def _past(dataset: Dataset, somebody: people.Person) -> None:
    """The latest of the history, the newest first."""
    films, history = dataset.catalog.films, somebody.history
    latest = list(enumerate(history.tolist(), start=1))[-LATEST:]
    st.subheader(words.PAST_LATEST.format(n=LATEST) if len(history) > LATEST else words.PAST)
    st.html(cards.past([(number, films[item]) for number, item in reversed(latest)]))


def _who_found(shown: Shown, dataset: Dataset, somebody: people.Person, table: pd.DataFrame) -> None:
    """Every model's rank of the hidden film."""
    st.subheader(words.PERSON_RANKS)
    found = table.loc[table["found"], "title"].tolist()
    sentence = words.WHO_FOUND if found else words.NOBODY_FOUND
    st.markdown(words.plain(sentence.format(n=len(found), all=len(table), names=", ".join(found))))
    film = dataset.catalog.films[somebody.target].label
    about = words.PERSON_ALT.format(film=film, n=len(table))
    chart(charts.places(table), about, table.assign(film=film), f"person-{shown.name}")
    st.caption(words.PERSON_HELP)
