"""The visitor's watch sequence: kept in the session, read from the address, written back after every run.

Session state: data (name of the data set) · noun (of `pages.ui.i18n`) · films (items, oldest first; None until
read) · unwanted (items that are not to be recommended) · asked (ids of both as a link has them, until films can be
looked up) · carried (titles of both to find again in another data set) · past (moments before this one, for undo) ·
left (data set → the moment when it was left for another) · been (address → what was there, for Back and Forward) ·
here (the address that was read or written last) · notices (sentences about the address) · viewer (the real person
whose films were last taken) · seed, draws (of the random generator that draws such a person, and how often it has) ·
version (name and fingerprint of the data set that the films are items of).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from secrets import randbits
from urllib.parse import parse_qsl, urlencode

import numpy as np
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.ui import announce, loaders
from pages.ui import url as kept
from pages.ui.fetch import FIRST_SET
from pages.ui.i18n import _, ngettext
from recsys.data import datasets, prepared
from recsys.data.dataset import Dataset
from recsys.serving import history

UNDO_STEPS = 50
BACK_STEPS = 200  # addresses of which more is known than they say
FILMS, UNWANTED = "s", "not"  # the parameters with ids


@dataclass(frozen=True)
class Moment:
    """A data set and what the visitor has chosen in it; the fields are those of the session."""

    data: str
    films: tuple[int, ...] | None = None
    unwanted: tuple[int, ...] = ()
    asked: tuple[str, str] = ("", "")
    carried: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())


def seed() -> None:
    """Start a session from the address of the page; later on follow the browser's Back and Forward."""
    state, params = st.session_state, st.query_params.to_dict()
    if "data" not in state:
        state.left, state.been, state.here, state.past = {}, {}, urlencode(params), []
        state.viewer, state.seed, state.draws = None, randbits(32), 0
        _read(params)
    elif _went_back() and urlencode(params) != state.here:
        _return_to(params)
    elif not _is_known(state.data):
        _leave_removed_set()
    elif not params:  # another page: with what was chosen it becomes one step of the browser's history, not two
        write_address()
    _look_films_up_again_if_replaced()
    state.noun = loaders.noun(state.data)


def _leave_removed_set() -> None:
    """Go back to the built-in set, because the data set that is open was deleted."""
    state, removed = st.session_state, st.session_state.data
    state.left.pop(removed, None)
    state.past = [moment for moment in state.past if _is_known(moment.data)]
    state.viewer = None
    _set(state.left.get(FIRST_SET) or Moment(FIRST_SET))
    state.noun = loaders.noun(FIRST_SET)  # the notice says "films" again
    state.notices = [
        _(
            "The data set {data} was deleted, so this shows the films that come with the app.",
            data=loaders.data_title(removed),
        )
    ]


def _look_films_up_again_if_replaced() -> None:
    """Take the films from the last address, by their ids, where another file has replaced the visitor's own set."""
    state = st.session_state
    version = (state.data, prepared.fingerprint(state.data) if state.data not in datasets.SETS else "")
    before, state.version = state.get("version", version), version
    if before[0] != state.data or before == version:
        return
    ids = dict(parse_qsl(state.here))
    state.left.pop(state.data, None)
    state.past = [moment for moment in state.past if moment.data != state.data]
    state.been, state.viewer = {}, None
    _set(Moment(state.data, asked=(ids.get(FILMS, ""), ids.get(UNWANTED, ""))))


def _went_back() -> bool:
    """Whether this run was caused by the browser's Back or Forward."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def _read(params: kept.Params) -> None:
    """Take over what an address says."""
    asked = params.get("data", FIRST_SET)
    known = _is_known(asked)
    ids = (params.get(FILMS, ""), params.get(UNWANTED, "")) if known else ("", "")
    _set(Moment(asked if known else FIRST_SET, asked=ids))
    st.session_state.notices = (
        []
        if known
        else [_("The link names a data set that does not exist, so this shows the films that come with the app.")]
    )
    kept.take(params)


def _is_known(name: object) -> bool:
    """Whether there is a data set of that name: addresses say anything, and so do browsers that are told to."""
    return isinstance(name, str) and (name in datasets.SETS or name in datasets.prepared_names())


def _return_to(params: kept.Params) -> None:
    """What was there when the visitor was at this address; with the undo of then."""
    state = st.session_state
    state.here = urlencode(params)
    if known := state.been.get(state.here):
        moment, state.past = known
        _set(moment)
        kept.take(params)
    else:  # of a visit before this one
        _remember()
        _read(params)


def write_address() -> None:
    """Put what was chosen into the address, which a change of page empties."""
    state, wanted = st.session_state, address()
    state.here = urlencode(wanted)
    state.been[state.here] = (_now(), state.past)
    if len(state.been) > BACK_STEPS:
        del state.been[next(iter(state.been))]
    if st.query_params.to_dict() != wanted:
        st.query_params.from_dict(wanted)


def address() -> dict[str, str]:
    """The query of a link to all that was chosen: {"data": "ml-100k", "s": "1-260-1196", "n": "5"}, MovieLens ids."""
    state = st.session_state
    if state.films is None or not prepared.version(state.data):  # not looked up yet, or the data set was deleted
        found = dict(zip((FILMS, UNWANTED), state.asked, strict=True))
    else:
        catalog = loaders.dataset(state.data).catalog
        ids = (history.to_query(state.data, catalog, items).get("s", "") for items in (state.films, state.unwanted))
        found = dict(zip((FILMS, UNWANTED), ids, strict=True))
    chosen = {name: text for name, text in found.items() if text} | kept.choices()
    return {"data": state.data} | chosen if chosen or state.data != FIRST_SET else {}


def films(dataset: Dataset) -> tuple[int, ...]:
    """The visitor's items, oldest first."""
    state = st.session_state
    if state.films is None:
        read = [history.from_query({"s": ids}, dataset.catalog) for ids in state.asked]
        (found, notices), (unwanted, _unused) = read
        state.films, state.unwanted, state.asked = tuple(found), tuple(unwanted), ("", "")
        state.notices = [*state.notices, *notices]
    if any(state.carried):
        _unpack(dataset)
    return state.films


def change(new: Sequence[int]) -> None:
    """Replace the sequence; the one before can be had back by `undo`."""
    _remember()
    st.session_state.films, st.session_state.notices = tuple(new), []
    _announce_length()


def _now() -> Moment:
    """What is there now."""
    state = st.session_state
    return Moment(state.data, state.films, state.unwanted, state.asked, state.carried)


def _set(moment: Moment) -> None:
    """Make it what is there now."""
    state = st.session_state
    state.data, state.films, state.unwanted = moment.data, moment.films, moment.unwanted
    state.asked, state.carried, state.notices = moment.asked, moment.carried, []


def _remember() -> None:
    """Keep what is there now for `undo`."""
    st.session_state.past = [*st.session_state.past[1 - UNDO_STEPS :], _now()]


def add(item: int) -> None:
    """Put a film at the end."""
    change([*st.session_state.films, item])
    announce.announce(_("{film} added. Films in your list: {n}.", film=_label(item), n=len(st.session_state.films)))


def remove(position: int) -> None:
    """Take out the film at a position, counted from 0."""
    now = st.session_state.films
    change([*now[:position], *now[position + 1 :]])
    announce.announce(_("{film} removed. Films in your list: {n}.", film=_label(now[position]), n=len(now) - 1))


def move(position: int, by: int) -> None:
    """Swap the film at a position with the one `by` positions later."""
    now = list(st.session_state.films)
    now[position], now[position + by] = now[position + by], now[position]
    change(now)
    announce.announce(
        _("{film} is now number {n} of {all}.", film=_label(now[position + by]), n=position + by + 1, all=len(now))
    )


def refuse(item: int) -> None:
    """Recommend a film no more."""
    if item not in st.session_state.unwanted:
        _remember()
        st.session_state.unwanted += (item,)
        announce.announce(_("{film} will not be recommended again.", film=_label(item)))


def take_back(item: int) -> None:
    """Let a film be recommended again."""
    _remember()
    st.session_state.unwanted = tuple(other for other in st.session_state.unwanted if other != item)
    announce.announce(_("{film} can be recommended again.", film=_label(item)))


def surprise(dataset: Dataset) -> None:
    """Replace the sequence by that of a real person; the session's seed and the number of the draw decide whose."""
    state = st.session_state
    viewer = history.random_viewer(dataset, np.random.default_rng((state.seed, state.draws)))
    state.draws += 1
    if viewer:
        take_films_of(viewer)


def take_films_of(viewer: history.Viewer) -> None:
    """Replace the sequence by that of a real person."""
    st.session_state.viewer = viewer
    change(viewer.items)


def undo() -> None:
    """Bring back what was there before the last change: films, unwanted films, data set."""
    past = st.session_state.past
    if past:
        _set(past[-1])
        st.session_state.past = past[:-1]
        _announce_length()


def _label(item: int) -> str:
    """Title and year of a film of the open data set."""
    return loaders.dataset(st.session_state.data).catalog.films[item].label


def _announce_length() -> None:
    """Announce how many films are in the list. Films of a link that are not read yet do not count."""
    announce.announce(_("Films in your list: {n}.", n=len(st.session_state.films or ())))


def switch_data() -> None:
    """Change to the data set that was chosen: to what was left there, else the films go along by title."""
    state, now = st.session_state, _now()
    if state.chosen_data == now.data or not _is_known(state.chosen_data):
        return
    _remember()
    state.left[now.data], state.viewer = now, None
    _set(state.left.get(state.chosen_data) or Moment(state.chosen_data, carried=_packed(now)))


def _packed(now: Moment) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The titles of the films that go along, and those of the unwanted ones."""
    if not (now.films or now.unwanted) or not prepared.version(now.data):  # without its data set a film has no title
        return now.carried
    known = loaders.dataset(now.data).catalog.films
    titles, unwanted = (tuple(known[item].label for item in items) for items in (now.films or (), now.unwanted))
    return titles, unwanted


def _unpack(dataset: Dataset) -> None:
    """Find the films that came along from another data set."""
    state = st.session_state
    titles, unwanted = state.carried
    kept = _found(dataset.name, titles)
    if lost := len(titles) - len(kept):
        notice = ngettext(
            "{n} of your {all} films is not in {data}.",
            "{n} of your {all} films are not in {data}.",
            lost,
            all=len(titles),
            data=loaders.data_title(dataset.name),
        )
        state.notices = [*state.notices, notice]
    state.films, state.unwanted = tuple(dict.fromkeys(kept)), tuple(dict.fromkeys(_found(dataset.name, unwanted)))
    state.carried = ((), ())


def _found(name: str, titles: Sequence[str]) -> list[int]:
    """The items of those titles that a data set has."""
    films = [loaders.title_index(name).exact(title) for title in titles]
    return [film.item for film in films if film and film.item is not None]
