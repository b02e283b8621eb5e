"""The visitor's watch list and ratings, stored in the session and mirrored in the URL.

Session state:
    data: Name of the open data set.
    noun: What its items are: "film" or "item".
    films: Items of the list, oldest first. None until they are read from `pending_ids`.
    unwanted: Items that are not recommended.
    pending_ids: Movie ids of both in a link.
    pending_titles: Titles of both, to find in another data set.
    undo_stack: ListStates before each change.
    by_dataset: Data set → the ListState in which it was left.
    by_url: Query string → its ListState and undo stack, for Back and Forward.
    current_url: The query string that was read or written last.
    notices: Messages about the URL.
    user: The user of the data set whose films were taken last.
    seed, n_draws: Seed of the random users, and how many were drawn.
    version: Name and fingerprint of the data set.
    ratings: Title and year of a film → stars. A change creates a new dictionary.
    rated: The same for the URL, by movie id: "79132.5~109487.2.5".
    rated_before: `rated` at the end of the last run.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from secrets import randbits
from urllib.parse import parse_qsl, urlencode

import numpy as np
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.ui import cache, url
from pages.ui.browser import announce
from pages.ui.i18n import _
from recsys.data import datasets, prepared
from recsys.data.dataset import Dataset, Film
from recsys.data.datasets import DEFAULT_DATASET
from recsys.errors import Message
from recsys.serving import history
from recsys.serving.ratings import Ratings

UNDO_STEPS = 50
BACK_STEPS = 200
FILMS, UNWANTED = "s", "not"  # URL parameters
MAX_RATING_CHARACTERS = 2_500  # in a URL
_RATING = re.compile(url.RATING)


@dataclass(frozen=True)
class ListState:
    """A data set and the visitor's list in it. The fields are those of the session."""

    data: str
    films: tuple[int, ...] | None = None
    unwanted: tuple[int, ...] = ()
    pending_ids: tuple[str, str] = ("", "")
    pending_titles: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())


def load() -> None:
    """Start a session from the URL. Later, follow the browser's Back and Forward."""
    state, params = st.session_state, st.query_params.to_dict()
    if "data" not in state:
        state.by_dataset, state.by_url, state.current_url, state.undo_stack = {}, {}, urlencode(params), []
        state.user, state.seed, state.n_draws = None, randbits(32), 0
        _read_url(params)
    elif _is_history_navigation() and urlencode(params) != state.current_url:
        _restore(params)
    elif not _exists(state.data):
        _leave_deleted_dataset()
    elif not params:  # another page: write the URL now, so that the browser's history gets one entry and not two
        write_url()
    _reload_replaced_dataset()
    state.noun = cache.item_noun(state.data)


def _leave_deleted_dataset() -> None:
    state, deleted = st.session_state, st.session_state.data
    state.by_dataset.pop(deleted, None)
    state.undo_stack = [entry for entry in state.undo_stack if _exists(entry.data)]
    state.user = None
    _set_current(state.by_dataset.get(DEFAULT_DATASET) or ListState(DEFAULT_DATASET))
    text = "The data set {data} was deleted, so this shows the films that come with the app."
    state.notices = [Message(text, data=deleted)]


def _reload_replaced_dataset() -> None:
    """Read the films again by movie id if another file has replaced the visitor's own data set."""
    state = st.session_state
    version = (state.data, prepared.fingerprint(state.data) if state.data not in datasets.SETS else "")
    before, state.version = state.get("version", version), version
    if before[0] != state.data or before == version:
        return
    ids = dict(parse_qsl(state.current_url))
    state.by_dataset.pop(state.data, None)
    state.undo_stack = [entry for entry in state.undo_stack if entry.data != state.data]
    state.by_url, state.user = {}, None
    _set_current(ListState(state.data, pending_ids=(ids.get(FILMS, ""), ids.get(UNWANTED, ""))))


def _is_history_navigation() -> bool:
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def _read_url(params: url.Params) -> None:
    name = params.get("data", DEFAULT_DATASET)
    if _exists(name):
        _set_current(ListState(name, pending_ids=(params.get(FILMS, ""), params.get(UNWANTED, ""))))
    else:
        _set_current(ListState(DEFAULT_DATASET))
        text = "The link names a data set that does not exist, so this shows the films that come with the app."
        st.session_state.notices = [Message(text)]
    url.apply(params)


def _exists(name: object) -> bool:
    """Return whether there is a data set of that name. URLs and widget states can contain anything."""
    return isinstance(name, str) and (name in datasets.SETS or name in datasets.prepared_names())


def _restore(params: url.Params) -> None:
    """Restore the list and the undo stack of a URL to which the visitor returned."""
    state = st.session_state
    state.current_url = urlencode(params)
    if entry := state.by_url.get(state.current_url):
        current, state.undo_stack = entry
        _set_current(current)
        url.apply(params)
    else:  # a URL of an earlier session
        _push_undo()
        _read_url(params)


def write_url() -> None:
    """Write the list and the settings to the URL. A change of the page clears the URL."""
    state, params = st.session_state, url_params()
    state.current_url = urlencode(params)
    state.by_url[state.current_url] = (_current(), state.undo_stack)
    if len(state.by_url) > BACK_STEPS:
        del state.by_url[next(iter(state.by_url))]
    if st.query_params.to_dict() != params:
        st.query_params.from_dict(params)


def url_params() -> dict[str, str]:
    """Return the URL parameters of the list and the settings: {"data": "ml-100k", "s": "1-260-1196", "n": "5"}."""
    state = st.session_state
    if state.films is None or not prepared.version(state.data):  # not read yet, or the data set was deleted
        ids: Sequence[str] = state.pending_ids
    else:
        catalog = cache.dataset(state.data).catalog
        lists = (state.films, state.unwanted)
        ids = [history.to_query(state.data, catalog, items).get(FILMS, "") for items in lists]
    params = {name: text for name, text in zip((FILMS, UNWANTED), ids, strict=True) if text} | url.to_params()
    return {"data": state.data} | params if params or state.data != DEFAULT_DATASET else {}


def films(dataset: Dataset) -> tuple[int, ...]:
    """Return the items of the visitor's list, oldest first."""
    state = st.session_state
    if state.films is None:
        (items, notices), (unwanted, _notices) = (
            history.from_query({FILMS: ids}, dataset.catalog) for ids in state.pending_ids
        )
        state.films, state.unwanted, state.pending_ids = tuple(items), tuple(unwanted), ("", "")
        state.notices = [*state.notices, *notices]
    if any(state.pending_titles):
        _find_pending_titles(dataset)
    return state.films


def _current() -> ListState:
    state = st.session_state
    return ListState(state.data, state.films, state.unwanted, state.pending_ids, state.pending_titles)


def _set_current(new: ListState) -> None:
    state = st.session_state
    state.data, state.films, state.unwanted = new.data, new.films, new.unwanted
    state.pending_ids, state.pending_titles, state.notices = new.pending_ids, new.pending_titles, []


def _push_undo() -> None:
    st.session_state.undo_stack = [*st.session_state.undo_stack[1 - UNDO_STEPS :], _current()]


def set_films(items: Sequence[int]) -> None:
    """Replace the list. `undo` restores the previous one."""
    _push_undo()
    st.session_state.films, st.session_state.notices = tuple(items), []
    _announce_length()


def add_film(item: int) -> None:
    """Append a film to the list."""
    set_films([*st.session_state.films, item])
    announce(_("{film} added. Films in your list: {n}.", film=_label(item), n=len(st.session_state.films)))


def remove_film(position: int) -> None:
    """Remove the film at a position, counted from 0."""
    items = st.session_state.films
    set_films([*items[:position], *items[position + 1 :]])
    announce(_("{film} removed. Films in your list: {n}.", film=_label(items[position]), n=len(items) - 1))


def move_film(position: int, by: int) -> None:
    """Swap the film at a position with the film `by` positions later."""
    items = list(st.session_state.films)
    items[position], items[position + by] = items[position + by], items[position]
    set_films(items)
    label = _label(items[position + by])
    announce(_("{film} is now number {n} of {all}.", film=label, n=position + by + 1, all=len(items)))


def hide_film(item: int) -> None:
    """Do not recommend a film again."""
    if item not in st.session_state.unwanted:
        _push_undo()
        st.session_state.unwanted += (item,)
        announce(_("{film} will not be recommended again.", film=_label(item)))


def unhide_film(item: int) -> None:
    """Allow a film to be recommended again."""
    _push_undo()
    st.session_state.unwanted = tuple(other for other in st.session_state.unwanted if other != item)
    announce(_("{film} can be recommended again.", film=_label(item)))


def load_random_user(dataset: Dataset) -> None:
    """Replace the list by the films of a random user."""
    state = st.session_state
    user = history.random_viewer(dataset, np.random.default_rng((state.seed, state.n_draws)))
    state.n_draws += 1
    if user:
        load_user(user)


def load_user(user: history.Viewer) -> None:
    """Replace the list by the films of a user of the data set."""
    st.session_state.user = user
    set_films(user.items)


def undo() -> None:
    """Undo the last change of the list, the hidden films or the data set."""
    stack = st.session_state.undo_stack
    if stack:
        _set_current(stack[-1])
        st.session_state.undo_stack = stack[:-1]
        _announce_length()


def _label(item: int) -> str:
    return cache.dataset(st.session_state.data).catalog.films[item].label


def _announce_length() -> None:
    announce(_("Films in your list: {n}.", n=len(st.session_state.films or ())))


def switch_dataset() -> None:
    """Open the data set of the menu, with the list that was left there or with the same films."""
    open_dataset(st.session_state.chosen_data)


def open_dataset(name: str) -> None:
    """Open a data set, with the list that was left there or with the films of the current list."""
    state, current = st.session_state, _current()
    if name == current.data or not _exists(name):
        return
    _push_undo()
    state.by_dataset[current.data], state.user = current, None
    _set_current(state.by_dataset.get(name) or ListState(name, pending_titles=_titles(current)))


def _titles(current: ListState) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the titles of the listed and of the hidden films."""
    if not (current.films or current.unwanted) or not prepared.version(current.data):
        return current.pending_titles
    catalog = cache.dataset(current.data).catalog.films
    titles, unwanted = (
        tuple(catalog[item].label for item in items) for items in (current.films or (), current.unwanted)
    )
    return titles, unwanted


def _find_pending_titles(dataset: Dataset) -> None:
    """Find the films of the previous data set in this one."""
    state, index = st.session_state, cache.title_index(dataset.name)
    films, unwanted = (
        [film.item for film in map(index.exact, titles) if film and film.item is not None]
        for titles in state.pending_titles
    )
    n_titles = len(state.pending_titles[0])
    if missing := n_titles - len(films):
        notice = Message(
            "{n} of your {all} films is not in {data}.",
            plural="{n} of your {all} films are not in {data}.",
            n=missing,
            all=n_titles,
            data=cache.dataset_title(dataset.name),
        )
        state.notices = [*state.notices, notice]
    state.films, state.unwanted = tuple(dict.fromkeys(films)), tuple(dict.fromkeys(unwanted))
    state.pending_titles = ((), ())


def current_ratings(dataset: Dataset, items: tuple[int, ...]) -> Ratings:
    """Return the visitor's ratings of the films of a list, after the ratings of a new URL are read."""
    state, films = st.session_state, dataset.catalog.films
    text = state.setdefault("rated", "")
    if text != state.setdefault("rated_before", ""):
        by_id = {int(movie_id): float(stars) for movie_id, stars in _RATING.findall(text)}
        ids = {films[item].label: films[item].movie_id for item in items}
        others = {label: stars for label, stars in _ratings().items() if label not in ids}
        state.ratings = others | {label: by_id[movie_id] for label, movie_id in ids.items() if movie_id in by_id}
    ratings = [(item, stars) for item in items if (stars := rating(films[item])) is not None]
    parts = [f"{films[item].movie_id}.{stars:g}" for item, stars in ratings]
    state.rated = state.rated_before = url.SEPARATOR.join(history.newest_that_fit(parts, MAX_RATING_CHARACTERS))
    return tuple(ratings)


def _ratings() -> dict[str, float]:
    return st.session_state.setdefault("ratings", {})


def rating(film: Film) -> float | None:
    """Return the visitor's rating of a film in stars."""
    return _ratings().get(film.label)


def rate(film: Film, stars: float | None) -> None:
    """Rate a film. None or the current rating removes it."""
    others = {label: value for label, value in _ratings().items() if label != film.label}
    st.session_state.ratings = others if stars in (None, rating(film)) else others | {film.label: stars}


def import_ratings(ratings: dict[str, float]) -> None:
    """Add the ratings of an imported history, by title and year."""
    st.session_state.ratings = _ratings() | ratings


def clear_ratings() -> None:
    """Remove all ratings."""
    st.session_state.ratings = {}
