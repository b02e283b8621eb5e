"""The lists and other data that the session of one visitor stores.

The values of widgets and the settings in the URL (`pages.ui.url`) have their own keys in `st.session_state`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import streamlit as st

from recsys.data.datasets import DEFAULT_DATASET
from recsys.errors import Message, RecsysError
from recsys.serving.history import UserHistory
from recsys.serving.history_review import WatchedFilm

# names of the fields of `ListState` that are lists of films
LATER = "later"
WATCHED_BEFORE = "watched_before"
NOT_INTERESTED = "not_interested"
FILTER_LIST = "filter_list"
MARKS = (LATER, WATCHED_BEFORE, NOT_INTERESTED)
LISTS = ("films", *MARKS, FILTER_LIST)


@dataclass(frozen=True)
class ListState:
    """A data set and the visitor's lists in it. A film has at most one of MARKS."""

    dataset: str = DEFAULT_DATASET
    films: tuple[int, ...] = ()  # film numbers, oldest first
    later: tuple[int, ...] = ()  # films to watch later
    watched_before: tuple[int, ...] = ()  # films that were watched at an unknown time, so they are not in `films`
    not_interested: tuple[int, ...] = ()  # films that the visitor does not want to watch
    filter_list: tuple[int, ...] = ()  # films of a pasted or uploaded list: only they, or all others, are recommended
    in_watch_order: bool = False  # whether `films` is a history, and not favourites in no order
    user: UserHistory | None = None  # the history of a user that the visitor loaded last
    # films of a URL or of another data set, until `session.convert_pending` converts them to film numbers
    pending_ids: Mapping[str, str] = field(default_factory=dict)  # one of LISTS → movie ids of a URL
    pending_titles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # one of LISTS → titles of films
    watched_by_key: Mapping[str, WatchedFilm] = field(default_factory=dict)  # `session.film_key` → its viewings

    @property
    def excluded(self) -> tuple[int, ...]:
        """The films that are not recommended, in addition to `films`."""
        return (*self.not_interested, *self.watched_before)

    @property
    def is_empty(self) -> bool:
        """Whether no list has a film."""
        return not any(getattr(self, name) for name in LISTS)


@dataclass(frozen=True)
class UndoStep:
    """The lists and the ratings before a change."""

    lists: ListState
    ratings: Mapping[str, float]


@dataclass(frozen=True)
class DatasetTask:
    """The download of a data set or of its film details, which runs as a `tasks.BackgroundTask`."""

    kind: str  # "fetch": the data set; "enrich": its film details
    dataset: str

    @property
    def name(self) -> str:
        """The name of the task in `pages.ui.tasks`."""
        return f"{self.kind}/{self.dataset}"


@dataclass
class VisitorState:
    """The state of one visitor, stored in `st.session_state.visitor`."""

    current: ListState = ListState()
    # a visitor's own data set → its fingerprint when it was last open, None if it was deleted
    fingerprints: dict[str, str | None] = field(default_factory=dict)
    undo_stack: list[UndoStep] = field(default_factory=list)  # oldest first
    by_dataset: dict[str, ListState] = field(default_factory=dict)  # data set → the lists when it was last open
    by_url: dict[str, tuple[ListState, list[UndoStep]]] = field(default_factory=dict)  # URL → lists, undo stack
    current_url: str = ""  # the query string that the app last read or wrote
    rng: np.random.Generator = field(default_factory=np.random.default_rng)  # samples users
    ratings: dict[str, float] = field(default_factory=dict)  # `session.film_key` → stars
    url_ratings: str = ""  # the ratings in the URL that the app last read or wrote
    notices: list[Message] = field(default_factory=list)  # about the current list; a change of the list removes them
    flash: dict[str, RecsysError] = field(default_factory=dict)  # widget key → error of the last use of the widget
    tasks: list[DatasetTask] = field(default_factory=list)  # tasks whose status this visitor sees


def visitor() -> VisitorState:
    """Return the state of the visitor. The first call of a session creates it."""
    if "visitor" not in st.session_state:
        st.session_state.visitor = VisitorState()
    state: VisitorState = st.session_state.visitor
    return state
