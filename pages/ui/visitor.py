"""State of one visitor beside the values of widgets and the settings of `pages.ui.url`."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from secrets import randbits
from typing import Any

import streamlit as st

from recsys.data.datasets import DEFAULT_DATASET
from recsys.errors import Message, RecsysError
from recsys.serving.history import UserHistory
from recsys.serving.history_import import WatchedFilm

MARKS = LATER, SEEN, NOT_INTERESTED = ("later", "seen", "not_interested")  # fields of `ListState`
LISTS = ("films", *MARKS)


@dataclass(frozen=True)
class ListState:
    """A data set and the visitor's lists in it. A film has one of MARKS at most."""

    dataset: str = DEFAULT_DATASET
    films: tuple[int, ...] = ()  # items, oldest first
    later: tuple[int, ...] = ()  # films to watch later
    seen: tuple[int, ...] = ()  # films that were watched at an unknown time, so they are not in `films`
    not_interested: tuple[int, ...] = ()  # films that the visitor does not want to watch
    pending_ids: Mapping[str, str] = field(default_factory=dict)  # movie ids of LISTS in a link that was not read yet
    pending_titles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of LISTS, to find in this data set
    watch_dates: Mapping[str, WatchedFilm] = field(default_factory=dict)  # by key of the film, see `session.film_key`

    @property
    def excluded(self) -> tuple[int, ...]:
        """The films that are not recommended, in addition to `films`."""
        return (*self.not_interested, *self.seen)

    def with_lists(self, lists: Mapping[str, tuple[int, ...]], **changes: Any) -> "ListState":
        """Return a copy with other films in some of LISTS, and with other changes."""
        return replace(self, **{**lists, **changes})

    @property
    def is_empty(self) -> bool:
        """Whether no list has a film."""
        return not any(getattr(self, name) for name in LISTS)


@dataclass(frozen=True)
class DatasetTask:
    """A background task for a data set."""

    kind: str  # "fetch" or "enrich"
    dataset: str

    @property
    def name(self) -> str:
        """Name in `tasks`."""
        return f"{self.kind}/{self.dataset}"


@dataclass
class VisitorState:
    """State of one visitor, in `st.session_state.visitor`."""

    current: ListState = ListState()
    version: tuple[str, str | None] | None = None  # name and fingerprint of the data set in the last run
    undo_stack: list[ListState] = field(default_factory=list)  # states before each change
    by_dataset: dict[str, ListState] = field(default_factory=dict)  # states in which data sets were left
    by_url: dict[str, tuple[ListState, list[ListState]]] = field(default_factory=dict)  # with undo stack, for Back
    current_url: str = ""  # the query string that was read or written last
    user: UserHistory | None = None  # the user of the data set whose films were taken last
    seed: int = field(default_factory=lambda: randbits(32))  # of the random users
    n_draws: int = 0  # random users so far
    ratings: dict[str, float] = field(default_factory=dict)  # stars by key of the film; a change creates a new one
    url_ratings: str = ""  # `st.session_state.rated` at the end of the last run
    notices: list[Message] = field(default_factory=list)  # about the list; a change of the list removes them
    flash: dict[str, RecsysError] = field(default_factory=dict)  # by key of the widget that they are about
    tasks: list[DatasetTask] = field(default_factory=list)  # tasks of this visitor whose status is shown


def visitor() -> VisitorState:
    """Return the state of the visitor. A new session gets a new one."""
    if "visitor" not in st.session_state:
        st.session_state.visitor = VisitorState()
    state: VisitorState = st.session_state.visitor
    return state
