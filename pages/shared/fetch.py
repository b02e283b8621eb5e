"""A data set for a page: opened, or fetched first where it comes by itself."""

from typing import Any

import streamlit as st

from pages.shared import errors, loaders, words
from recsys.data import movielens
from recsys.data.schema import Dataset
from recsys.errors import RecsysError

FIRST_SET = movielens.FIRST  # comes with the project; prepared on the first start


def open_dataset(name: str) -> Dataset | None:
    """The data set, fetched first if it is the one that comes by itself; None after having said what to do."""
    try:
        return loaders.dataset(name)
    except RecsysError as error:
        if name == FIRST_SET:
            return _fetch(name)
        errors.explain(error)
        st.button(words.LOOK_AGAIN, icon=":material/refresh:")
        return None


def _fetch(name: str) -> Dataset | None:
    """Fetch a data set while the page shows how far it is; a failure is one sentence and a way to try again."""
    bar = st.progress(0.0, words.FETCHING)

    def show(event: dict[str, Any]) -> None:
        bar.progress(*_progress(event))

    try:
        movielens.ensure(name, show)
    except RecsysError as error:
        bar.empty()
        errors.explain(error)
        st.button(words.RETRY, icon=":material/refresh:")
        return None
    bar.empty()
    return loaders.dataset(name)


def _progress(event: dict[str, Any]) -> tuple[float, str]:
    """How full the bar is, and the sentence on it, for one event of `movielens.get`."""
    if event["stage"] == "note":
        return 0.0, words.plain(event["text"])
    if event["stage"] != "download":
        return 1.0, words.PARSING
    return share(event), words.FETCHING


def share(event: dict[str, Any]) -> float:
    """How much of a download is done, 0…1, as far as it is known."""
    total = event.get("total") or 0
    return min(event.get("done", 0) / total, 1.0) if total else 0.0
