"""The visitor's watch sequence: kept in the session, read once from the address, written back after every run.

Session state: data (name of the data set) · films (items, oldest first; None until read) · unwanted (items that are
not to be recommended) · past (both of them as they were, for undo) · notices (sentences about the address) · carried
(titles to find again in another data set: films, unwanted) · viewer (the real person whose films were last taken) ·
seed, draws (of the random generator that draws such a person, and how often it has).
"""

from collections.abc import Sequence
from secrets import randbits

import numpy as np
import streamlit as st

from pages.shared import loaders, words
from pages.shared.fetch import FIRST_SET
from recsys.data import movielens
from recsys.data.schema import Dataset
from recsys.serving import history

UNDO_STEPS = 50


def seed() -> None:
    """Start a session from the address of the page; does nothing later on."""
    state = st.session_state
    if "data" in state:
        return
    asked = st.query_params.get("data", FIRST_SET)
    known = asked in movielens.SETS or asked in movielens.prepared_names()
    state.data = asked if known else FIRST_SET
    state.asked = st.query_params.get("s", "") if known else ""  # as it came; kept until the films can be looked up
    state.notices = [] if known else [words.STRANGE_DATA]
    state.films, state.unwanted, state.past, state.carried = None, (), [], ([], [])
    state.viewer, state.seed, state.draws = None, randbits(32), 0


def write_address() -> None:
    """Put data set and sequence into the address, which a change of page empties."""
    wanted = address()
    if st.query_params.to_dict() != wanted:
        st.query_params.from_dict(wanted)


def address() -> dict[str, str]:
    """The query of a link to this sequence: {"data": "ml-100k", "s": "1-260-1196"}, in MovieLens ids."""
    state = st.session_state
    if state.films is not None:
        return history.to_query(state.data, loaders.dataset(state.data).catalog, state.films)
    return {"data": state.data} | ({"s": state.asked} if state.asked else {})


def films(dataset: Dataset) -> tuple[int, ...]:
    """The visitor's items, oldest first."""
    state = st.session_state
    if state.films is None:
        found, notices = history.from_query({"data": dataset.name, "s": state.asked}, dataset.catalog)
        state.films, state.notices = tuple(found), [*state.notices, *notices]
    if any(state.carried):
        _unpack(dataset)
    return state.films


def change(new: Sequence[int]) -> None:
    """Replace the sequence; the one before can be had back by `undo`."""
    _remember()
    st.session_state.films, st.session_state.notices = tuple(new), []


def _remember() -> None:
    """Keep what is there now for `undo`."""
    state = st.session_state
    state.past = [*state.past[1 - UNDO_STEPS :], (state.films, state.unwanted)]


def add(item: int) -> None:
    """Put a film at the end."""
    change([*st.session_state.films, item])


def remove(position: int) -> None:
    """Take out the film at a position, counted from 0."""
    now = st.session_state.films
    change([*now[:position], *now[position + 1 :]])


def move(position: int, by: int) -> None:
    """Swap the film at a position with the one `by` positions later."""
    now = list(st.session_state.films)
    now[position], now[position + by] = now[position + by], now[position]
    change(now)


def refuse(item: int) -> None:
    """Recommend a film no more."""
    if item not in st.session_state.unwanted:
        _remember()
        st.session_state.unwanted += (item,)


def take_back(item: int) -> None:
    """Let a film be recommended again."""
    _remember()
    st.session_state.unwanted = tuple(other for other in st.session_state.unwanted if other != item)


def surprise(dataset: Dataset) -> None:
    """Replace the sequence by that of a real person; the session's seed and the number of the draw decide whose."""
    state = st.session_state
    viewer = history.random_viewer(dataset, np.random.default_rng((state.seed, state.draws)))
    state.draws += 1
    if viewer:
        state.viewer = viewer
        change(viewer.items)


def undo() -> None:
    """Bring back the sequence and the unwanted films as they were before the last change of either."""
    state = st.session_state
    if state.past:
        state.films, state.unwanted = state.past.pop()


def switch_data() -> None:
    """Change to the data set that was chosen; the films go along by title."""
    state = st.session_state
    if state.films or state.unwanted:
        known = loaders.dataset(state.data).catalog.films
        kept = (state.films or (), state.unwanted)
        state.carried = tuple([known[item].label for item in items] for items in kept)
    state.data, state.asked, state.films, state.past, state.notices = state.chosen_data, "", None, [], []
    state.unwanted, state.viewer = (), None


def _unpack(dataset: Dataset) -> None:
    """Find the films that came along from another data set."""
    state = st.session_state
    titles, unwanted = state.carried
    kept = _found(dataset.name, titles)
    if lost := len(titles) - len(kept):
        notice = words.LOST.format(n=lost, all=len(titles), data=loaders.data_title(dataset.name))
        state.notices = [*state.notices, notice]
    state.films, state.unwanted = tuple(dict.fromkeys(kept)), tuple(dict.fromkeys(_found(dataset.name, unwanted)))
    state.carried = ([], [])


def _found(name: str, titles: Sequence[str]) -> list[int]:
    """The items of those titles that a data set has."""
    films = [loaders.title_index(name).exact(title) for title in titles]
    return [film.item for film in films if film and film.item is not None]
