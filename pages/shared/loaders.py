"""What the pages share: data sets, title indexes and models, each loaded once for all visitors."""

from collections.abc import Iterable
from typing import Any

import streamlit as st

from pages import _words as words
from recsys.data import movielens
from recsys.data.schema import DataError, Dataset
from recsys.paths import ASSETS
from recsys.serving import filters, models
from recsys.serving.recommend import ServingError
from recsys.serving.search import TitleIndex

PAGES = (
    ("watch_next", words.WATCH, "movie", words.WATCH_HELP),
    ("compare", words.COMPARE, "view_column", words.COMPARE_HELP),
    ("evaluation", words.EVALUATION, "leaderboard", words.EVALUATION_HELP),
    ("inside", words.INSIDE, "neurology", words.INSIDE_HELP),
)
STYLE = ASSETS / "style"
FIRST_SET = "ml-100k"  # fetched by itself on the first start
FIRST_MODEL = "bert4rec"
TROUBLE = (DataError, models.StoreError, ServingError)  # each message is a sentence that says what to do


def frame() -> st.Page:
    """Settings, logo, style and navigation; returns the page to run."""
    st.set_page_config(words.APP, str(STYLE / "mark.svg"), layout="wide", initial_sidebar_state="collapsed")
    st.logo(str(STYLE / "logo.svg"))
    st.html(STYLE / "nextreel.css")
    pages = [
        st.Page(f"pages/{file}.py", title=title, icon=f":material/{icon}:", help=what_for, default=file == PAGES[0][0])
        for file, title, icon, what_for in PAGES
    ]
    return st.navigation(pages, position="top")


def through_app() -> None:
    """Note that this run began in app.py."""
    st.session_state.through_app = True


def enter() -> None:
    """Go through app.py if a page was started without it; every page begins with this.

    Until st.navigation has been called once, Streamlit takes pages/ for its own kind of pages, and a link to /compare
    that is the first request after a restart would run that file alone.
    """
    if not st.session_state.pop("through_app", False):
        frame()
        st.rerun()


@st.cache_resource(max_entries=4, show_spinner=False)
def dataset(name: str) -> Dataset:
    """A data set that is on this machine; raises DataError with what to do when it is not."""
    return movielens.load(name)


@st.cache_resource(max_entries=4, show_spinner=False)
def title_index(name: str) -> TitleIndex:
    """The search index over a data set's films, the most watched first among equals."""
    films = dataset(name)
    return TitleIndex(films.catalog, films.counts)


@st.cache_resource(max_entries=4, show_spinner=False)
def facts(name: str) -> filters.Facts:
    """What filters look at in a data set's films."""
    return filters.facts(dataset(name))


@st.cache_resource(max_entries=24, show_spinner=words.GETTING_READY)
def _model(variant: str, name: str) -> models.Recommender:
    return models.load(variant, dataset(name))


def model(variant: models.Variant, name: str) -> models.Recommender:
    """A recommender ready to score a data set; says so while it is being loaded or fitted. Raises models.StoreError."""
    return _model(variant.name, name)


def data_title(name: str) -> str:
    """A data set as people know it: "MovieLens 100K"."""
    known = movielens.SETS.get(name)
    return known.title if known else name


def explain(error: Exception) -> None:
    """Show a sentence that says what went wrong, and the line to type if it ends in one."""
    sentence, _, command = str(error).partition("; run: ")
    st.warning(words.plain(f"{sentence[:1].upper()}{sentence[1:].rstrip('.')}."), icon=":material/info:")
    if command:
        st.caption(words.TYPE)
        st.code(command, language=None, wrap_lines=True)


def explain_all(sentences: Iterable[str]) -> None:
    """Show what is wrong with files, a sentence each."""
    for sentence in sentences:
        st.warning(words.plain(sentence), icon=":material/broken_image:")


@st.cache_resource(show_spinner=words.WAKING)
def variants() -> tuple[models.Variant, ...]:
    """Every recommender; the first call loads torch."""
    return models.variants()


def fallback() -> models.Variant:
    """The recommender that can always answer."""
    return next(variant for variant in variants() if variant.name == models.FALLBACK)


def choose_model() -> models.Variant:
    """The selector of the recommender."""
    known = variants()
    first = next((place for place, variant in enumerate(known) if variant.name == FIRST_MODEL), 0)
    return st.selectbox(
        words.MODEL,
        known,
        index=first,
        format_func=lambda variant: variant.title,
        key="model",
        width=190,
        persist_state="session",
    )


def open_dataset(name: str) -> Dataset | None:
    """The data set, fetched first if it is the one that comes by itself; None after having said what to do."""
    try:
        return dataset(name)
    except DataError as error:
        if name == FIRST_SET:
            return _fetch(name)
        explain(error)
        st.button(words.LOOK_AGAIN, icon=":material/refresh:")
        return None


def _fetch(name: str) -> Dataset | None:
    """Fetch a data set while the page shows how far it is; a failure is one sentence and a way to try again."""
    bar = st.progress(0.0, words.FETCHING)

    def show(event: dict[str, Any]) -> None:
        bar.progress(*_progress(event))

    try:
        movielens.ensure(name, show)
    except DataError as error:
        bar.empty()
        explain(error)
        st.button(words.RETRY, icon=":material/refresh:")
        return None
    bar.empty()
    return dataset(name)


def _progress(event: dict[str, Any]) -> tuple[float, str]:
    """How full the bar is, and the sentence on it, for one event of `movielens.get`."""
    if event["stage"] == "note":
        return 0.0, words.plain(event["text"])
    if event["stage"] != "download":
        return 1.0, words.PARSING
    total = event["total"]
    return min(event["done"] / total, 1.0) if total else 0.0, words.FETCHING
