"""Films by theme: type what you are in the mood for, and similar films can be added."""

from typing import Any

import streamlit as st

from pages.ui import browser, cache, errors, film_search, format, session
from pages.ui.i18n import _
from pages.ui.tasks import progress
from pages.watch import words
from recsys import paths
from recsys.data import prepared
from recsys.data.dataset import Dataset
from recsys.errors import RecsysError, python, recsys_command
from recsys.serving.films import themes
from recsys.serving.films.themes import Missing, Near, ThemeIndex

SHOWN = 8  # films


@st.cache_resource(max_entries=4, show_spinner=False)
def index(name: str, stamp: str) -> ThemeIndex:
    """The theme index of a data set with that stamp; the first one loads the sentence encoder."""
    return themes.open_index(cache.dataset(name))


@st.fragment
@errors.show_errors()
def search(name: str) -> None:
    """The panel, closed at first: the encoder is not touched until it is opened. `name`: of the data set."""
    with st.expander(_("Find by theme"), icon=":material/auto_awesome:", key="theme-open", on_change="rerun") as opened:
        if not opened.open:
            return
        st.caption(
            _(
                "Describe what you are in the mood for, with a decade if you like. Films are found by the "
                "tags that people gave them, by their genres and years, and a little by their titles."
            )
        )
        text = st.text_input(
            _("Theme"), key="theme", type="search", live="400ms", placeholder=_("rainy detective story")
        )
        with st.spinner(_("Waking the sentence encoder. The first time takes some seconds.")):
            found = index(name, prepared.version(name))
        say_missing(name, found.missing)
        if text and text.strip():
            show(cache.dataset(name), found.search(text, SHOWN))


def show(dataset: Dataset, found: list[Near]) -> None:
    """The films that fit best, each to be added with a click."""
    if not found:
        st.caption(_("No tag, genre or title of this set has one of these words. Try others."))
    browser.status(_("Films found: {n}.", n=len(found)))
    with st.container(key="near", gap=None):
        for rank, near in enumerate(found):
            offer(dataset, near, found[rank + 1 :] + found[:rank])


def offer(dataset: Dataset, near: Near, others: list[Near]) -> None:
    """One film, with what makes it fit; greyed out where it is in the list already. others: where the focus may go."""
    film = dataset.catalog.films[near.item]
    reason = _("already in your list") if near.item in (st.session_state.films or ()) else ""
    note = ", ".join(map(format.display_tag, near.because)) or format.display_genres(film.genres)
    film_search.film_button(
        film,
        key_of(dataset, near),
        "add",
        take,
        (near.item, [key_of(dataset, other) for other in others]),
        reason,
        note,
    )


def key_of(dataset: Dataset, near: Near) -> str:
    """The key of a film's button."""
    return f"near-{dataset.catalog.films[near.item].movie_id}"


def take(item: int, others: list[str]) -> None:
    """Add a film that was found; the theme stays, for more of it, and the focus goes to the next film."""
    if item not in st.session_state.films:
        session.add_film(item)
    browser.focus_on(*others, "theme")
    st.rerun()  # all of the page, not the search alone


def say_missing(name: str, missing: Missing) -> None:
    """Say what is missing for a search by meaning, and how to get it."""
    if missing is Missing.NOTHING:
        return
    st.caption(f"{words.THEME_MISSING[missing.value]} " + _("Without it, a theme is looked up word by word."))
    if missing is Missing.ENCODER and paths.is_public():
        errors.show_command(recsys_command("prepare", name))
    elif missing is Missing.ENCODER:
        if st.button(_("Fetch it (90 MB, once)"), key="theme-fetch", icon=":material/download:"):
            fetch(name)
    elif missing is Missing.VECTORS:
        errors.show_command(recsys_command("train", "content-sentence", "--dataset", name))
    else:
        errors.show_command(f"{python()} -m pip install sentence-transformers")


def fetch(name: str) -> None:
    """Download the encoder and let it read the tags while a bar shows how far that is, then search with it."""
    bar = st.progress(0.0, _("Fetching the sentence encoder"))

    def report(event: dict[str, Any]) -> None:
        said = (
            _("Reading the tags of this set") if event.get("stage") == "encode" else _("Fetching the sentence encoder")
        )
        bar.progress(progress(event), said)

    try:
        themes.fetch_encoder(report)
        themes.open_index(cache.dataset(name), report)  # keeps what it has read, so that `index` is quick
    except RecsysError:
        bar.empty()
        raise
    index.clear()
    st.rerun()
