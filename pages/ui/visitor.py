"""The state of one visitor, without values of widgets and settings of `pages.ui.url`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from secrets import randbits

import streamlit as st

from recsys.data.datasets import DEFAULT_DATASET
from recsys.errors import Message, RecsysError
from recsys.serving.history import UserHistory
from recsys.serving.history_import import WatchedFilm


@dataclass(frozen=True)
class ListState:
    """A data set and the visitor's list in it."""

    dataset: str = DEFAULT_DATASET
    films: tuple[int, ...] = ()  # film numbers, oldest first
    not_interested: tuple[int, ...] = ()  # film numbers of the hidden films, which are not recommended
    # values of `films` and `not_interested` that `session.films` converts when the data set is loaded
    pending_ids: tuple[str, str] = ("", "")  # as in a URL
    pending_titles: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    watch_dates: Mapping[str, WatchedFilm] = field(default_factory=dict)  # by `session.film_key`


@dataclass(frozen=True)
class DatasetTask:
    """A background task for a data set."""

    kind: str  # "fetch" or "enrich"
    dataset: str

    @property
    def name(self) -> str:
        """The name of the task in `pages.ui.tasks`."""
        return f"{self.kind}/{self.dataset}"


@dataclass
class VisitorState:
    """The state of one visitor, stored in `st.session_state.visitor`."""

    current: ListState = ListState()
    version: tuple[str, str | None] | None = None  # name and fingerprint of the data set in the last run
    undo_stack: list[ListState] = field(default_factory=list)  # states before each change
    by_dataset: dict[str, ListState] = field(default_factory=dict)  # last state in each data set that was open before
    by_url: dict[str, tuple[ListState, list[ListState]]] = field(default_factory=dict)  # URL → state, undo stack
    current_url: str = ""  # the query string that was read or written last
    user: UserHistory | None = None  # the user of the data set whose films were loaded last
    seed: int = field(default_factory=lambda: randbits(32))  # of the random users
    n_draws: int = 0  # number of random users so far
    ratings: dict[str, float] = field(default_factory=dict)  # `session.film_key` → stars; replaced, never changed
    url_ratings: str = ""  # ratings in the URL after the last run, to notice a new URL
    notices: list[Message] = field(default_factory=list)  # about the list; a change of the list removes them
    flash: dict[str, RecsysError] = field(default_factory=dict)  # widget key → error of the last click, shown once
    tasks: list[DatasetTask] = field(default_factory=list)  # tasks whose status this visitor sees


def visitor() -> VisitorState:
    """Return the state of the visitor. It is created at the start of a session."""
    if "visitor" not in st.session_state:
        st.session_state.visitor = VisitorState()
    state: VisitorState = st.session_state.visitor
    return state
