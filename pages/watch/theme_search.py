"""The panel of Watch next that searches for films by theme.

It finds the words of the query in titles, tags and other film data. With a sentence encoder, it also compares meanings.
"""

from typing import Any

import streamlit as st

from pages.ui import browser, cache, errors, film_search, film_themes, format, recommenders, session
from pages.ui.i18n import N_, _
from pages.ui.tasks import completed_share
from pages.ui.visitor import visitor
from pages.ui.widgets import button
from recsys import paths
from recsys.data import prepared
from recsys.data.dataset import Dataset
from recsys.errors import RecsysError, python, recsys_command
from recsys.serving import themes
from recsys.serving.themes import Missing, ThemeIndex, ThemeMatch, ThemeParser

MAX_RESULTS = 8
MISSING_TEXTS = {
    Missing.ENCODER: N_("The language model for this search is not downloaded yet."),
    Missing.VECTORS: N_("The films of this data set are not prepared for this search yet."),
    Missing.LIBRARY: N_("This search needs the package sentence-transformers, which is not installed."),
}


def _version(name: str) -> str:
    """Return the version of a theme index. It changes with the data set, and if the encoder or the vectors appear."""
    return f"{prepared.version(name)}/{paths.encoder().exists()}/{recommenders.has_film_vectors(name)}"


@cache.cached_for_dataset(version=_version)
def _index(name: str) -> ThemeIndex:
    """Return the theme index of a data set. The first call loads the sentence encoder."""
    return themes.open_index(cache.dataset(name))


@cache.cached_for_dataset()
def _parser(name: str) -> ThemeParser:
    """Return the parser for queries in a data set. It does not need the sentence encoder."""
    dataset = cache.dataset(name)
    return ThemeParser(dataset, themes.tag_table(dataset))


def offer(dataset_name: str, text: str) -> bool:
    """If the text is a query by theme, show a button that opens the panel with it. Return whether there is a button."""
    if not _parser(dataset_name).is_theme_query(film_themes.english_theme_name(text)):
        return False
    label = _("Find by theme: “{text}”", text=format.escape_markdown(text))
    button(label, "theme-offer", "auto_awesome", _open, text, type="tertiary", width="stretch")
    return True


def _open(text: str) -> None:
    """Open the panel with the films of a theme, and clear the search box."""
    st.session_state["theme-open"], st.session_state.theme, st.session_state.search = True, text, ""
    browser.focus_on("theme")
    st.rerun()  # the whole page, not only the fragment of the search box


@st.fragment
@errors.show_errors()
def panel(dataset_name: str) -> None:
    """Show the panel. It is closed by default, and the encoder is not loaded before it is opened."""
    label = _("Find by theme")
    with st.expander(label, icon=":material/auto_awesome:", key="theme-open", on_change="rerun") as expander:
        if not expander.open:
            return
        note = _(
            "Describe what you would like to watch. You can also mention a decade, for example. The search uses "
            "titles, years, genres, languages, themes and people's tags."
        )
        st.caption(note)
        text = st.text_input(
            _("Theme"), key="theme", type="search", live="400ms", placeholder=_("rainy detective story")
        )
        with st.spinner(_("Loading the language model. The first time takes a few seconds.")):
            index = _index(dataset_name)
        if index.missing is not Missing.NOTHING:
            _explain_missing(dataset_name, index.missing)
        if text and text.strip():
            _show_results(cache.dataset(dataset_name), index.search(film_themes.english_theme_name(text), MAX_RESULTS))


def _show_results(dataset: Dataset, matches: list[ThemeMatch]) -> None:
    """Show the matching films."""
    if not matches:
        st.caption(_("No tag, genre or title contains any of these words. Try other words."))
    browser.place_status(_("Films found: {n}.", n=len(matches)))
    keys = [f"near-{dataset.catalog.films[match.number].movie_id}" for match in matches]
    with st.container(key="near", gap=None):
        for position, match in enumerate(matches):
            with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="xsmall"):
                _show_match(dataset, match, keys[position], keys[position + 1 :] + keys[:position])


def _show_match(dataset: Dataset, match: ThemeMatch, key: str, other_keys: list[str]) -> None:
    """Show a film as a button that adds it, and a button for the "Watch later" list.

    After a click, the added film is disabled, so the focus moves to the next of `other_keys`.
    """
    number = match.number
    film = dataset.catalog.films[number]
    later_key, is_later = f"later-{film.movie_id}", number in visitor().current.later

    def add() -> None:
        session.add_film(number)
        browser.focus_on(*other_keys, "theme")
        st.rerun()  # the whole page, not only the fragment

    def toggle_later() -> None:
        session.toggle_later(number)
        browser.focus_on(later_key)
        st.rerun()

    is_listed = number in visitor().current.films
    reason = _("already in your list") if is_listed else ""
    note = ", ".join(map(film_themes.display_tag_or_theme, match.reasons)) or format.display_genres(film.genres)
    film_search.film_button(film, key, "add", add, (), reason, note)
    if not is_listed and number < dataset.n_items:  # an infrequent film cannot be recommended
        label = _("Remove from “Watch later”") if is_later else _("Watch later")
        hidden_label = format.escape_markdown(f"{label}: {film.label}")
        icon = "bookmark_remove" if is_later else "bookmark_add"
        button(f"*{hidden_label}*", later_key, icon, toggle_later, type="tertiary", help=label)


def _explain_missing(dataset_name: str, missing: Missing) -> None:
    """Show which part the comparison of meanings lacks, and a button or command that adds this part."""
    st.caption(_(MISSING_TEXTS[missing]) + " " + _("For now, the search only finds the exact words that you type."))
    if missing is Missing.ENCODER and paths.is_public():
        errors.show_command(recsys_command("prepare", dataset_name))
    elif missing is Missing.ENCODER:
        if st.button(_("Download it (90 MB, once)"), key="theme-fetch", icon=":material/download:"):
            _download_encoder(dataset_name)
    elif missing is Missing.VECTORS:  # the training of `content-sentence` stores the vectors that the search needs
        errors.show_command(recsys_command("train", "content-sentence", "--dataset", dataset_name))
    else:
        errors.show_command(f"{python()} -m pip install sentence-transformers")


def _download_encoder(dataset_name: str) -> None:
    """Download the encoder and encode the tags, with a progress bar."""
    bar = st.progress(0.0, _("Downloading the language model"))

    def report(event: dict[str, Any]) -> None:
        text = _("Reading the tags") if event.get("stage") == "encode" else _("Downloading the language model")
        bar.progress(completed_share(event), text)

    try:
        themes.fetch_encoder(report)
        themes.open_index(cache.dataset(dataset_name), report)  # stores the vectors, so that `_index` is fast
    except RecsysError:
        bar.empty()
        raise
    st.rerun()
