"""The visitor's list of watched films, marked films and ratings. The session stores them, and the URL has a copy.

`ListState` has the films of the list and the marked films. Each change of the lists or ratings can be undone.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.ui import cache, url
from pages.ui.browser import announce
from pages.ui.i18n import N_, _
from pages.ui.visitor import (
    FILTER_LIST,
    LATER,
    LISTS,
    MARKS,
    NOT_INTERESTED,
    WATCHED_BEFORE,
    ListState,
    UndoStep,
    visitor,
)
from recsys.data import datasets, prepared
from recsys.data.dataset import Dataset, Film
from recsys.data.datasets import DEFAULT_DATASET
from recsys.errors import Message
from recsys.serving import history
from recsys.serving.history_review import WatchedFilm
from recsys.serving.predictor import Predictor, for_unordered_list
from recsys.serving.recommend import Ratings

MAX_UNDO_STEPS = 50  # maximum length of the undo stack
MAX_STORED_URLS = 200  # maximum number of URLs whose state Back restores
# name of a list in LISTS → name of its URL parameter
URL_NAMES = {"films": "s", LATER: "later", WATCHED_BEFORE: "seen", NOT_INTERESTED: "not", FILTER_LIST: "from"}
FILMS_PARAM = URL_NAMES["films"]
WATCH_ORDER_PARAMS = {"order": "true"}  # URL parameters of a list in the order of watching
NOT_INTERESTED_STARS = 1.0  # rating of a film that the visitor does not want to watch
MARKED_TEXTS = {  # mark → announcement when a film gets the mark
    LATER: N_("{film} is on your “Watch later” list."),
    WATCHED_BEFORE: N_("{film} counts as watched and will not be recommended."),
    NOT_INTERESTED: N_("{film} will not be recommended again."),
}
UNMARKED_TEXTS = {  # mark → announcement when a film loses the mark
    LATER: N_("{film} is no longer on your “Watch later” list."),
    WATCHED_BEFORE: N_("{film} can be recommended again."),
    NOT_INTERESTED: N_("{film} can be recommended again."),
}
MAX_RATING_CHARACTERS = 2_500  # characters of all ratings in a URL


def load() -> None:
    """Prepare the visitor's state for a run: read a new URL, replace a deleted data set, or restore a cleared URL.

    A URL is new at the start of a session, and after Back or Forward in the browser.
    """
    is_new = "visitor" not in st.session_state  # `visitor()` creates it
    state, params = visitor(), st.query_params.to_dict()
    _remove_lists_of_changed_datasets()
    if is_new:
        state.current_url = urlencode(params)
        _read_url(params)
    elif _is_back_or_forward() and urlencode(params) != state.current_url:
        _restore(params)
    elif not _exists(state.current.dataset):
        text = "The data set {data} was deleted, so you see the films that come with the app."
        notice = Message(text, data=state.current.dataset)
        _set_current(state.by_dataset.get(DEFAULT_DATASET) or ListState())
        state.notices = [notice]
    elif not params:  # the visitor opened another page, and Streamlit cleared the URL
        write_url()  # before the page runs, because after a later change Back would need two clicks
    name = state.current.dataset
    if name not in datasets.PUBLISHED:
        state.fingerprints[name] = prepared.fingerprint(name)
    st.session_state.noun = cache.item_noun(name)  # for translations


def _remove_lists_of_changed_datasets() -> None:
    """Remove the stored lists of visitors' own data sets that were deleted or replaced since they were open.

    If the open data set was replaced, its films are read from the URL again.
    """
    state = visitor()
    for name, fingerprint in state.fingerprints.items():
        if prepared.fingerprint(name) == fingerprint:
            continue
        state.fingerprints[name] = prepared.fingerprint(name)
        state.by_dataset.pop(name, None)
        state.undo_stack = [step for step in state.undo_stack if step.lists.dataset != name]
        state.by_url = {}
        if name == state.current.dataset:
            _set_current(_read_lists(name, dict(parse_qsl(state.current_url))))


def _is_back_or_forward() -> bool:
    """Return whether this run follows Back or Forward."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def _read_url(params: url.Params) -> None:
    """Read the lists and all settings from a URL. `convert_pending` converts the movie ids later."""
    name = params.get("data", DEFAULT_DATASET)
    if _exists(name):
        _set_current(_read_lists(name, params))
    else:
        _set_current(ListState())
        text = "The link names a data set that does not exist, so you see the films that come with the app."
        visitor().notices = [Message(text)]
    url.apply(params)


def _read_lists(dataset_name: str, params: url.Params) -> ListState:
    """Return the lists of URL parameters, with movie ids that are not yet converted to film numbers."""
    ids = {name: text for name, param in URL_NAMES.items() if (text := params.get(param, ""))}
    return ListState(dataset_name, pending_ids=ids, in_watch_order=WATCH_ORDER_PARAMS.items() <= params.items())


def _exists(name: object) -> bool:
    """Return whether there is a data set of that name. URLs and widget states can contain anything."""
    return isinstance(name, str) and (name in datasets.PUBLISHED or name in datasets.prepared_names())


def _restore(params: url.Params) -> None:
    """Restore the state of a URL to which the visitor returned: list, undo stack and settings."""
    state = visitor()
    state.current_url = urlencode(params)
    if entry := state.by_url.get(state.current_url):
        current, state.undo_stack = entry
        _set_current(current)
        url.apply(params)
    else:  # the URL is from an earlier session, or more than MAX_STORED_URLS URLs ago, or a data set was deleted since
        _push_undo()
        _read_url(params)


def write_url() -> None:
    """Write the list and the settings to the URL. Streamlit clears the URL when the visitor opens another page."""
    state, params = visitor(), url_params()
    state.current_url = urlencode(params)
    state.by_url.pop(state.current_url, None)  # moves the current URL to the end, because the first is deleted
    state.by_url[state.current_url] = (state.current, state.undo_stack)
    if len(state.by_url) > MAX_STORED_URLS:
        del state.by_url[next(iter(state.by_url))]
    if st.query_params.to_dict() != params:
        st.query_params.from_dict(params)


def url_params() -> dict[str, str]:
    """Return the URL parameters of the list and the settings: {"data": "ml-100k", "s": "1-260-1196", "n": "5"}.

    They are empty if the default data set is open, all lists are empty and all settings have their defaults.
    """
    current = visitor().current
    if current.is_empty or not prepared.version(current.dataset):
        ids = current.pending_ids
    else:
        catalog = cache.dataset(current.dataset).catalog
        ids = {  # `to_url_params` only encodes the list of watched films, so it is called for each list
            name: history.to_url_params(current.dataset, catalog, getattr(current, name)).get(FILMS_PARAM, "")
            for name in LISTS
        }
    params = {URL_NAMES[name]: text for name, text in ids.items() if text}
    params |= (WATCH_ORDER_PARAMS if current.in_watch_order else {}) | url.to_params()
    has_defaults = not params and current.dataset == DEFAULT_DATASET
    return {} if has_defaults else {"data": current.dataset} | params


def convert_pending(dataset: Dataset) -> None:
    """Convert the pending ids and titles to film numbers, and the ratings of a new URL to ratings of these films."""
    for name, ids in visitor().current.pending_ids.items():
        numbers, notices = history.from_url_params({FILMS_PARAM: ids}, dataset.catalog)
        _change_current(**{name: tuple(numbers)})
        if name == "films":
            visitor().notices += notices
    _change_current(pending_ids={})
    if visitor().current.pending_titles:
        _convert_pending_titles(dataset)
    _sync_ratings(dataset)


def _convert_pending_titles(dataset: Dataset) -> None:
    """Convert the pending titles to film numbers. A notice counts the films of the list that the data set lacks."""
    index = cache.title_index(dataset.name)
    for name, titles in visitor().current.pending_titles.items():
        films = [film for film in map(index.find_exact, titles) if film]
        _change_current(**{name: tuple(dict.fromkeys(film.number for film in films))})  # each film once
        if name == "films" and len(films) < len(titles):
            notice = Message(
                "{n} of your {all} films is not in {data}.",
                plural="{n} of your {all} films are not in {data}.",
                n=len(titles) - len(films),
                all=len(titles),
                data=cache.dataset_title(dataset.name),
            )
            visitor().notices.append(notice)
    _change_current(pending_titles={})


def adapt_to_current_list(predictor: Predictor) -> Predictor:
    """Return a predictor for the visitor's list: a history, or favourites in no order."""
    return predictor if visitor().current.in_watch_order else for_unordered_list(predictor)


def is_link_to_ordered_list(link: str) -> bool:
    """Return whether the list of a link to this app is in the order of watching."""
    return WATCH_ORDER_PARAMS.items() <= dict(parse_qsl(urlsplit(link).query)).items()


def set_in_watch_order(in_watch_order: bool) -> None:
    """Set whether the list is a history, and not favourites in no order."""
    _push_undo()
    _change_current(in_watch_order=in_watch_order)


def _set_current(lists: ListState) -> None:
    """Replace the current `ListState`, and remove the notices about the previous one."""
    visitor().current, visitor().notices = lists, []


def _push_undo() -> None:
    """Put the current lists and ratings on the undo stack, before a change."""
    state = visitor()
    state.undo_stack = [*state.undo_stack, UndoStep(state.current, state.ratings)][-MAX_UNDO_STEPS:]


def start_list(
    numbers: Sequence[int],
    in_watch_order: bool = False,
    watched_by_key: Mapping[str, WatchedFilm] | None = None,
    user: history.UserHistory | None = None,
) -> None:
    """Replace the list by another list, and remove the marks of its films.

    `undo` restores the list with its order, watch dates and user.

    Args:
        numbers: Film numbers of the new list, oldest first.
        in_watch_order: Whether the list is a history, and not favourites in no order.
        watched_by_key: `film_key` → date and number of viewings, if the list is imported.
        user: The user who watched these films, if they are the history of a user.
    """
    _push_undo()
    _set_current(replace(visitor().current, films=tuple(numbers), **_without_marks(numbers)))
    _change_current(in_watch_order=in_watch_order, watched_by_key=watched_by_key or {}, user=user)
    _announce_length()


def set_films(numbers: Sequence[int]) -> None:
    """Change the films of the list, and remove the marks of films that are new in it.

    If only the order of the films changes, the list becomes a history. An empty list has no order.
    """
    _push_undo()
    current = visitor().current
    is_reordered = len(numbers) == len(current.films) and set(numbers) == set(current.films)
    in_watch_order = bool(numbers) and (is_reordered or current.in_watch_order)
    new_films = [number for number in numbers if number not in current.films]
    _set_current(replace(current, films=tuple(numbers), in_watch_order=in_watch_order, **_without_marks(new_films)))
    _announce_length()


# A second click on a button can come before the page has run again, when the list has already changed. So the functions
# below get films, not positions, and ignore a click that has no effect any more.


def add_film(number: int) -> None:
    """Append a film to the list, unless the list has it."""
    numbers = visitor().current.films
    if number not in numbers:
        set_films((*numbers, number))
        announce(_("{film} added. Films in your list: {n}.", film=_film_label(number), n=len(numbers) + 1))


def add_films(numbers: Sequence[int]) -> None:
    """Append films to the list, except films that it has. `undo` removes all of them."""
    films_in_list = visitor().current.films
    new_films = [number for number in dict.fromkeys(numbers) if number not in films_in_list]
    if new_films:
        set_films((*films_in_list, *new_films))


def remove_film(number: int) -> None:
    """Remove a film from the list."""
    numbers = visitor().current.films
    if number in numbers:
        set_films([other for other in numbers if other != number])
        announce(_("{film} removed. Films in your list: {n}.", film=_film_label(number), n=len(numbers) - 1))


def move_film(number: int, offset: int) -> None:
    """Swap a film with the film `offset` positions later, if there is one. With a negative offset, earlier."""
    numbers = list(visitor().current.films)
    if number not in numbers:
        return
    position = numbers.index(number)
    new_position = position + offset
    if 0 <= new_position < len(numbers):
        numbers[position], numbers[new_position] = numbers[new_position], number
        set_films(numbers)
        label = _film_label(number)
        announce(_("{film} is now number {n} of {all}.", film=label, n=new_position + 1, all=len(numbers)))


def mark_film(number: int, mark: str) -> None:
    """Give a film one of MARKS, in place of its previous mark."""
    if number in getattr(visitor().current, mark):
        return
    _push_undo()
    marks = _without_marks([number])
    _change_current(**marks | {mark: (*marks[mark], number)})
    announce(_(MARKED_TEXTS[mark], film=_film_label(number)))


def unmark_film(number: int, mark: str) -> None:
    """Remove the mark of a film."""
    if number not in getattr(visitor().current, mark):
        return
    _push_undo()
    _change_current(**_without_marks([number]))
    announce(_(UNMARKED_TEXTS[mark], film=_film_label(number)))


def toggle_later(number: int) -> None:
    """Give a film the mark LATER, or remove this mark."""
    change = unmark_film if number in visitor().current.later else mark_film
    change(number, LATER)


def _without_marks(numbers: Collection[int]) -> dict[str, Any]:
    """Return mark → its films without `numbers`, for each of MARKS."""
    current = visitor().current
    return {mark: tuple(other for other in getattr(current, mark) if other not in numbers) for mark in MARKS}


def _change_current(**changes: Any) -> None:
    """Change some fields of the current `ListState`. The notices about it stay."""
    visitor().current = replace(visitor().current, **changes)


def set_filter_list(numbers: Sequence[int]) -> None:
    """Replace the list that filters the recommendations. If it is empty, all films can be recommended."""
    _push_undo()
    _change_current(filter_list=tuple(numbers))


def random_user(dataset: Dataset) -> history.UserHistory | None:
    """Return a random user of the data set, or None if there are no ratings."""
    return history.sample_user(dataset, visitor().rng)


def load_user(user: history.UserHistory) -> None:
    """Replace the list by the films of a user of the data set."""
    start_list(user.items, in_watch_order=True, user=user)


def undo() -> None:
    """Undo the last change of the lists, the ratings or the data set."""
    _remove_lists_of_changed_datasets()
    state = visitor()
    if state.undo_stack:
        step = state.undo_stack[-1]
        _set_current(step.lists)
        state.ratings, state.undo_stack = dict(step.ratings), state.undo_stack[:-1]
        _announce_length()


def _film_label(number: int) -> str:
    return cache.dataset(visitor().current.dataset).catalog.films[number].label


def _announce_length() -> None:
    announce(_("Films in your list: {n}.", n=len(visitor().current.films)))


def open_dataset(name: str) -> None:
    """Open a data set with the lists that the visitor last had in it, or else with the films of the current lists."""
    if name == visitor().current.dataset or not _exists(name):
        return
    _remove_lists_of_changed_datasets()
    state, current = visitor(), visitor().current
    _push_undo()
    state.by_dataset[current.dataset] = current
    if lists := state.by_dataset.get(name):
        _set_current(lists)
    else:
        lists = ListState(name, in_watch_order=current.in_watch_order, watched_by_key=current.watched_by_key)
        _set_current(replace(lists, pending_titles=_titles_by_list(current)))


def _titles_by_list(current: ListState) -> Mapping[str, tuple[str, ...]]:
    """Return name in LISTS → titles of the films of this list."""
    if current.is_empty or not prepared.version(current.dataset):
        return current.pending_titles
    catalog_films = cache.dataset(current.dataset).catalog.films
    return {name: tuple(catalog_films[number].label for number in getattr(current, name)) for name in LISTS}


def film_key(film: Film) -> str:
    """Return the key of a film of the current data set for ratings and watch dates.

    The key is title and year, because data sets have different ids for the same film. If several films have the same
    title and year, all keys except the key of the most popular film also contain the movie id.
    """
    return _film_keys([film])[0]


def _film_keys(catalog_films: Sequence[Film]) -> list[str]:
    """Return the `film_key` of each film. Faster than a call of `film_key` for each film."""
    keys_of_duplicates = _keys_of_duplicates(visitor().current.dataset)
    return [keys_of_duplicates.get(film.movie_id, film.label) for film in catalog_films]


@cache.cached_for_dataset()
def _keys_of_duplicates(name: str) -> dict[int, str]:
    """Return movie id → `film_key` for the films that have title and year of a more popular film."""
    catalog_films, index = cache.dataset(name).catalog.films, cache.title_index(name)
    n_films = Counter(film.label for film in catalog_films)
    duplicates = [film for film in catalog_films if n_films[film.label] > 1]
    most_popular = {film.label: index.find_exact(film.label) for film in duplicates}
    return {
        film.movie_id: f"{film.label} [{film.movie_id}]"
        for film in duplicates
        if (best := most_popular[film.label]) and film.movie_id != best.movie_id
    }


def _sync_ratings(dataset: Dataset) -> None:
    """Read the ratings of the visitor's list from a new URL, and prepare the current ratings for the next URL.

    `url.apply` stores the ratings of a URL in the session key "rated". If they differ from `url_ratings`, the URL is
    new, and its ratings replace the ratings of the films in the list. Then the session key gets the current ratings,
    which `url.to_params` writes to the next URL.
    """
    state, films = visitor(), [dataset.catalog.films[number] for number in visitor().current.films]
    text = st.session_state.setdefault("rated", "")
    if text != state.url_ratings:
        by_id = {int(movie_id): float(stars) for movie_id, stars in re.findall(url.RATING_PATTERN, text)}
        keys = _film_keys(films)
        new_ratings = {key: by_id.get(film.movie_id) for key, film in zip(keys, films, strict=True)}
        state.ratings = {key: stars for key, stars in (state.ratings | new_ratings).items() if stars is not None}
    parts = [f"{dataset.catalog.films[number].movie_id}.{stars:g}" for number, stars in ratings(dataset)]
    text = url.SEPARATOR.join(history.newest_that_fit(parts, MAX_RATING_CHARACTERS))
    st.session_state.rated = state.url_ratings = text


def ratings(dataset: Dataset) -> Ratings:
    """Return (film number, stars) of each rated film of the visitor's list."""
    numbers, stars_by_key = visitor().current.films, visitor().ratings
    if not stars_by_key:
        return ()  # without `_film_keys`, which would load the title index of the data set
    keys = _film_keys([dataset.catalog.films[number] for number in numbers])
    return tuple((number, stars_by_key[key]) for number, key in zip(numbers, keys, strict=True) if key in stars_by_key)


def feedback(dataset: Dataset) -> Ratings:
    """Return the ratings of the list, and NOT_INTERESTED_STARS for each film that the visitor is not interested in."""
    dislikes = ((number, NOT_INTERESTED_STARS) for number in visitor().current.not_interested)
    return (*ratings(dataset), *dislikes)


def rating(film: Film) -> float | None:
    """Return the visitor's rating of a film in stars, or None if it has none."""
    return visitor().ratings.get(film_key(film))


def rate(film: Film, stars: float | None) -> None:
    """Rate a film. None removes the rating."""
    if stars == rating(film):
        return
    _push_undo()
    rated_key = film_key(film)
    other_ratings = {key: value for key, value in visitor().ratings.items() if key != rated_key}
    visitor().ratings = other_ratings if stars is None else other_ratings | {rated_key: stars}


def clear_ratings() -> None:
    """Remove all ratings."""
    _push_undo()
    visitor().ratings = {}
