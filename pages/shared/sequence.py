"""The visitor's watch sequence: kept in the session, read once from the address, written back after every run.

Session state: data (name of the data set) · films (items, oldest first; None until read) · unwanted (items that are
not to be recommended) · past (both of them as they were, for undo) · notices (sentences about the address) · carried
(titles to find again in another data set: films, unwanted) · viewer (the real person whose films were last taken) ·
draws (a generator of chance, seeded once for the session).
"""

from collections.abc import Sequence
from secrets import randbits

import numpy as np
import streamlit as st

from pages import _cards as cards
from pages import _shared as shared
from pages import _words as words
from recsys.data import movielens
from recsys.data.schema import Dataset
from recsys.serving import history

UNDO_STEPS = 50
IN_A_LINE = 8  # films of a sequence that are named in one line


def open_page(title: str, what_for: str) -> Dataset | None:
    """The head of a page about a sequence, with the choice of data; None when the data cannot be had yet."""
    head, choice = st.columns([3, 1], vertical_alignment="bottom")
    with head:
        st.title(title)
        st.caption(what_for)
    with choice:
        choose_data()
    return shared.open_dataset(st.session_state.data)


def seed() -> None:
    """Start a session from the address of the page; does nothing later on."""
    state = st.session_state
    if "data" in state:
        return
    asked = st.query_params.get("data", shared.FIRST_SET)
    known = asked in movielens.SETS or asked in movielens.prepared_names()
    state.data = asked if known else shared.FIRST_SET
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
        return history.to_query(state.data, shared.dataset(state.data).catalog, state.films)
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


def remove(place: int) -> None:
    """Take out the film at a place, counted from 0."""
    now = st.session_state.films
    change([*now[:place], *now[place + 1 :]])


def move(place: int, by: int) -> None:
    """Swap the film at a place with the one `by` places on."""
    now = list(st.session_state.films)
    now[place], now[place + by] = now[place + by], now[place]
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


def choose_data() -> None:
    """The selector of the data set; the films go along by title."""
    options = list(dict.fromkeys([*movielens.prepared_names(), shared.FIRST_SET, "ml-1m", st.session_state.data]))
    st.session_state.chosen_data = st.session_state.data
    st.selectbox(
        words.DATA,
        options,
        key="chosen_data",
        format_func=shared.data_title,
        help=words.DATA_HELP,
        on_change=_switch_data,
    )


def _switch_data() -> None:
    state = st.session_state
    if state.films or state.unwanted:
        known = shared.dataset(state.data).catalog.films
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
        notice = words.LOST.format(n=lost, all=len(titles), data=shared.data_title(dataset.name))
        state.notices = [*state.notices, notice]
    state.films, state.unwanted = tuple(dict.fromkeys(kept)), tuple(dict.fromkeys(_found(dataset.name, unwanted)))
    state.carried = ([], [])


def _found(name: str, titles: Sequence[str]) -> list[int]:
    """The items of those titles that a data set has."""
    films = [shared.title_index(name).exact(title) for title in titles]
    return [film.item for film in films if film and film.item is not None]


def show_notices() -> None:
    """What could not be read from the address or found in this data set."""
    for notice in st.session_state.notices:
        st.warning(words.plain(notice), icon=":material/link_off:")


def show_viewer(now: tuple[int, ...]) -> None:
    """Whose films these are, while they are still those of a real person."""
    viewer = st.session_state.viewer
    if viewer and viewer.items == now:
        st.caption(words.viewer(viewer.watched, len(now), shared.data_title(st.session_state.data)))


def ask_for_films(dataset: Dataset, first_add: str) -> tuple[int, ...]:
    """The visitor's films, shown with the way back to change them; where there are none, examples instead.

    first_add: what to do first, as a sentence.
    """
    now = films(dataset)
    show_notices()
    if now:
        in_one_line(dataset, now)
        st.page_link("pages/watch_next.py", label=words.EDIT, icon=":material/edit:")
    else:
        st.info(first_add, icon=":material/playlist_add:")
        choose_example(dataset)
    return now


def in_one_line(dataset: Dataset, films: Sequence[int], about: str = words.SAME_FILMS) -> None:
    """Some films with an arrow from each to the next; of many, the newest."""
    titles = [words.plain(dataset.catalog.films[item].label) for item in films]
    shown = titles if len(titles) <= IN_A_LINE else ["…", *titles[-IN_A_LINE:]]
    st.markdown(f":gray[{words.plain(about)}:] {' → '.join(shown)}")


def choose_example(dataset: Dataset) -> None:
    """Buttons that fill the sequence with a ready-made one."""
    for example in history.examples(shared.title_index(dataset.name)):
        films = [dataset.catalog.films[item] for item in example.items]
        with st.container(border=True, gap="xsmall"):
            st.html(cards.example(example, films))
            st.button(
                words.TAKE.format(example=example.name),
                key=f"take-{example.name}",
                icon=":material/playlist_add:",
                on_click=change,
                args=(example.items,),
            )
