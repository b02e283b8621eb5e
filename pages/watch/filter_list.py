"""The popover "Use a list" on Watch next: only the films of a list are recommended, or all films except these.

The visitor pastes titles or uploads a file: a watchlist, a festival programme, or file names. The films of the list are
stored in `ListState.filter_list`.

Session state: choice_mode (a key of FILTER_LIST_MODES) · choice_text, choice_file (widgets) · choice_result (the
fingerprint of the data set and the `TitleList` of the last search).
"""

import streamlit as st

from pages.ui import browser, errors, page, session
from pages.ui.format import escape_markdown
from pages.ui.i18n import _, join_names, ngettext
from pages.ui.url import FILTER_LIST_MODES
from pages.ui.visitor import visitor
from pages.ui.widgets import button, file_uploader, segmented_control, translate
from pages.watch.import_review import matcher
from recsys.data.dataset import Dataset
from recsys.data.history_import.entries import MAX_FILE_BYTES, HistoryError
from recsys.serving import title_list

ONLY = "only"  # key of FILTER_LIST_MODES: only the films of the list are recommended
OPEN_KEY = "choice_open"
MAX_MISSING_TITLES = 5  # in the caption


def excluded_films(dataset: Dataset) -> tuple[int, ...]:
    """Return the numbers of the films that are excluded because of the list, () without a list."""
    main_films = dataset.main_film_by_duplicate
    list_films = {main_films.get(film, film) for film in visitor().current.filter_list}
    if not list_films:
        return ()
    all_films = range(len(dataset.catalog.films))  # including infrequent films, which content models recommend
    excludes_list = st.session_state.get("choice_mode", ONLY) != ONLY
    return tuple(film for film in all_films if (main_films.get(film, film) in list_films) == excludes_list)


def popover(dataset: Dataset) -> None:
    """Show the popover: the inputs, the result of the search, and the choice between only and none of the films."""
    films = visitor().current.filter_list
    label = _("Use a list · {n}", n=len(films)) if films else _("Use a list")
    panel = page.stable_popover(label, OPEN_KEY, "playlist_add_check")
    if not panel.open:
        return
    with panel, page.popover_content(OPEN_KEY):
        errors.show_flash("choice_file")
        st.text_area(
            _("Titles, one per line"),
            key="choice_text",
            max_chars=title_list.MAX_CHARS,
            placeholder=_("Title (year), or a file name"),
            help=_("A watchlist, a festival programme, or the file names of your films."),
        )
        file_uploader(_("Or a file: TXT, CSV, JSON or ZIP"), "choice_file", MAX_FILE_BYTES)
        button(_("Find these films"), "choice_set", "check", _find_films, dataset)
        if films:
            segmented_control(_("Recommend"), translate(FILTER_LIST_MODES), "choice_mode")
        _show_result(dataset, films)
        if films:
            button(_("Stop using the list"), "choice_clear", "undo", clear)


def _find_films(dataset: Dataset) -> None:
    """Find the films of the text area and of the file, and store them as the list."""
    entries = title_list.parse(st.session_state.get("choice_text") or "")
    if file := st.session_state.get("choice_file"):
        try:
            entries += title_list.read_file(file.name, file.getvalue())
        except HistoryError as error:
            visitor().flash["choice_file"] = error
            return
    result = title_list.find_films(matcher(dataset.name), entries)
    st.session_state.choice_result = (dataset.fingerprint, result)
    session.set_filter_list(result.films)
    browser.announce(_("Films found: {n}.", n=len(result.films)))


def clear() -> None:
    """Remove the list."""
    st.session_state.pop("choice_result", None)
    session.set_filter_list(())
    browser.focus_on("choice_text", "picks")  # the clicked button disappears, in the popover or below the filters


def _show_result(dataset: Dataset, films: tuple[int, ...]) -> None:
    """Show the number of films in the list, how many of them are infrequent, and the titles that were not found."""
    texts = []
    if films:
        texts.append(ngettext("{n:,} film found.", "{n:,} films found.", len(films)))
    if n_infrequent := sum(film >= dataset.n_items for film in films):
        text = ngettext(
            "{n:,} of them has too few ratings. Only recommenders whose names begin with “Content” can recommend it.",
            "{n:,} of them have too few ratings. Only recommenders whose names begin with “Content” can recommend "
            "them.",
            n_infrequent,
        )
        texts.append(text)
    fingerprint, result = st.session_state.get("choice_result", (None, None))
    # after Undo or with a link, the list can differ from the result of the last search
    if fingerprint == dataset.fingerprint and result.films == films and result.missing:
        names = join_names([escape_markdown(title) for title in result.missing[:MAX_MISSING_TITLES]])
        note = ngettext(
            "Not found: {n:,} title ({names}).", "Not found: {n:,} titles ({names}).", len(result.missing), names=names
        )
        texts.append(note)
    if texts:
        st.caption(" ".join(texts))
