"""The second half of the import dialog: the matches of the films in the data set, and the button that imports them."""

import math
from dataclasses import dataclass, field

import pandas as pd
import streamlit as st

from pages.ui import cache, charts, format, session
from pages.ui.i18n import N_, _, ngettext
from pages.ui.visitor import visitor
from pages.watch import saved_history
from recsys.data.dataset import Dataset
from recsys.data.history_import.entries import ImportedFile
from recsys.serving import history_review
from recsys.serving.film_matching import Matcher, MatchMethod
from recsys.serving.history_review import Review, WatchedFilm

UNCERTAIN_FILMS_PER_PAGE = 6
MATCH_TEXTS = {
    MatchMethod.ID: N_("{n:,} by ID"),
    MatchMethod.TITLE_YEAR: N_("{n:,} by title and year"),
    MatchMethod.NEXT_YEAR: N_("{n:,} by title; the year differs by one"),
    MatchMethod.TITLE: N_("{n:,} by title alone"),
}


@dataclass
class ReviewState:
    """The matches of the current files, and the visitor's choices."""

    # `ImportedFilm.key` → film number; None: the visitor has chosen "None of these"
    choices: dict[str, int | None] = field(default_factory=dict)
    review: Review | None = None  # None: the films have not been matched yet
    basis: tuple[str, list[ImportedFile]] | None = None  # name of the data set and content of the files of `review`


@cache.cached_for_dataset()
def matcher(name: str) -> Matcher:
    """Return the film matcher of a data set."""
    return Matcher(cache.dataset(name))


def show(state: ReviewState, dataset: Dataset, parts: list[ImportedFile], has_files: bool) -> None:
    """Show a summary, the uncertain films, tables of all films, and the button that imports the matched films.

    Args:
        state: Stores the matches and the choices.
        dataset: The data set in which the films are searched.
        parts: The content of the files, and the pasted titles.
        has_files: Whether there are files. If so, the films replace the visitor's films. Otherwise they are added.
    """
    basis = (dataset.name, parts)
    if state.review is None or state.basis != basis:
        with st.spinner(_("Searching for your films")):
            state.review = history_review.review_files(matcher(dataset.name), parts)
        state.basis = basis
    watched_films = state.review.watched_films(state.choices)
    if watched_films:
        _show_summary(state.review, watched_films, dataset, has_files)
    elif state.review.films and not state.review.uncertain_positions:
        title = format.escape_markdown(cache.dataset_title(dataset.name))
        text = _("None of these films is in {data}. Close this dialog and try another data set at the top.", data=title)
        st.info(text, icon=":material/search_off:")
    if state.review.uncertain_positions:
        _show_uncertain(state.review, state.choices, dataset)
    _show_tables(state.review, state.choices, dataset)
    if watched_films and has_files:
        _show_import_button(state.review, state.choices, watched_films, dataset)
    elif watched_films:
        _show_add_button(watched_films)


def _show_summary(review: Review, watched_films: list[WatchedFilm], dataset: Dataset, has_files: bool) -> None:
    """Show how many films are in the data set, and how many each method found. Note undated and infrequent films.

    watched_films: The matched films, at least one.
    """
    title = format.escape_markdown(cache.dataset_title(dataset.name))
    text = ngettext(
        "**{n:,}** of your films is in {data}", "**{n:,}** of your films are in {data}", len(watched_films), data=title
    )
    counts = review.count_methods()
    methods = [_(phrase, n=counts[method]) for method, phrase in MATCH_TEXTS.items() if counts[method]]
    if n_selected := len(watched_films) - counts.total():  # in the menus of `_show_uncertain`
        methods.append(_("{n:,} selected below", n=n_selected))
    st.markdown(f"{text}: {', '.join(methods)}.")
    notes = []
    if has_files and (n_undated := sum(not film.has_viewing_date for film in watched_films)):
        note = ngettext(
            "{n:,} film has no watch date. It is sorted by the date of its rating, or comes first if it has none.",
            "{n:,} films have no watch date. They are sorted by the date of their rating, or come first if they "
            "have none.",
            n_undated,
        )
        notes.append(note)
    if n_infrequent := sum(film.number >= dataset.n_items for film in watched_films):
        note = ngettext(
            "{n:,} film has too few ratings here. “Best guess” and the “Content” recommenders compare its genres, tags "
            "and themes. Other recommenders use a similar film.",
            "{n:,} films have too few ratings here. “Best guess” and the “Content” recommenders compare their genres, "
            "tags and themes. Other recommenders use similar films.",
            n_infrequent,
        )
        notes.append(note)
    if notes:
        st.caption(" ".join(notes))


def _show_uncertain(review: Review, choices: dict[str, int | None], dataset: Dataset) -> None:
    """Show a menu of possible matches for each uncertain film. Many films are divided into pages."""
    positions = review.uncertain_positions  # in `review.films`
    label = ngettext("Which film is it? {n:,} film to check", "Which film is it? {n:,} films to check", len(positions))

    def label_match(number: int | None) -> str:
        if number is None:
            return _("None of these")
        film = dataset.catalog.films[number]
        # genres distinguish films of equal title and year
        return f"{film.label} · {format.display_genres(film.genres)}"

    def store_choice(film_key: str, widget_key: str) -> None:
        choices[film_key] = st.session_state[widget_key]

    with st.expander(label, icon=":material/rule:", expanded=True):
        st.caption(_("Likely matches are already selected. Films with “None of these” are not imported."))
        n_pages = math.ceil(len(positions) / UNCERTAIN_FILMS_PER_PAGE)
        page = st.pagination(n_pages, key="check-page") if n_pages > 1 else 1
        for position in positions[(page - 1) * UNCERTAIN_FILMS_PER_PAGE : page * UNCERTAIN_FILMS_PER_PAGE]:
            film = review.films[position]
            entry, key = film.entries[0], f"check-{film.key}"
            origin = _("{file}, line {line}", file=format.escape_markdown(entry.file), line=entry.line)
            options = [None, *review.matches[position].films]
            st.selectbox(
                f"{format.escape_markdown(film.name)} :small[:gray[· {origin}]]",
                options,
                index=options.index(review.film_number(position, choices)),
                format_func=label_match,
                key=key,
                on_change=store_choice,
                args=(film.key, key),
            )


def _show_tables(review: Review, choices: dict[str, int | None], dataset: Dataset) -> None:
    """Show a table of the entries that are not imported, with a download, and a table of the matched films."""
    not_imported = review.not_imported_table(choices)
    accepted = review.accepted_table(choices, dataset.catalog.films)
    if len(not_imported):
        label = ngettext("Not imported: {n:,} entry", "Not imported: {n:,} entries", len(not_imported))
        with st.expander(label, icon=":material/playlist_remove:"):
            st.caption(_("Entries that will not be in your list, each with the reason."))
            st.dataframe(translate_table(not_imported), hide_index=True)
            charts.download_numbers(not_imported, "not-taken", label)
    if len(accepted):
        with st.expander(_("How each film was found"), icon=":material/playlist_add_check:"):
            st.dataframe(translate_table(accepted), hide_index=True)


def translate_table(table: pd.DataFrame) -> pd.DataFrame:
    """Translate the headings of a table and the cells of TRANSLATED_COLUMNS. Other cells are names."""
    columns = {name: table[name].map(_) for name in history_review.TRANSLATED_COLUMNS if name in table}
    return table.assign(**columns).rename(columns=_)


def _show_import_button(
    review: Review, choices: dict[str, int | None], watched_films: list[WatchedFilm], dataset: Dataset
) -> None:
    """Show the button that imports the films, and the option to save the history in the browser."""
    help_text = _(
        "Saves titles, dates and stars in your browser, so that you can load them on your next visit. "
        "The server keeps nothing. Do not use it on a shared computer."
    )
    is_saved = st.toggle(_("Save this history in this browser"), key="keep-history", help=help_text)
    if n_replaced := len(visitor().current.films):
        note = ngettext(
            "This replaces the film in your list. You can undo it.",
            "This replaces the {n:,} films in your list. You can undo it.",
            n_replaced,
        )
        st.caption(note)
    label = ngettext("Import {n:,} film", "Import {n:,} films", len(watched_films))
    if st.button(label, key="use-history", icon=":material/playlist_add:", type="primary"):
        if is_saved:
            numbers = review.film_numbers(choices)
            text = history_review.films_json(dataset.name, dataset.catalog, review.films, numbers)
            saved_history.request_save(text, len(review.films))
        _import(dataset, watched_films)
        st.rerun()  # the whole page, which closes the dialog


def _show_add_button(watched_films: list[WatchedFilm]) -> None:
    """Show the button that adds the films of pasted titles to the visitor's films."""
    label = ngettext("Add {n:,} film to your films", "Add {n:,} films to your films", len(watched_films))
    if st.button(label, key="add-pasted", icon=":material/playlist_add:", type="primary"):
        session.add_films([film.number for film in watched_films])
        st.rerun()  # the whole page, which closes the dialog


def _import(dataset: Dataset, watched_films: list[WatchedFilm]) -> None:
    """Replace the visitor's list by the imported films, with their stars and watch dates.

    The list is a history if most films have a date. If any film has stars, the page shows ratings as stars.
    """
    watched_by_key = {session.film_key(dataset.catalog.films[film.number]): film for film in watched_films}
    has_known_order = sum(film.last_date is not None for film in watched_films) > len(watched_films) / 2
    session.start_list([film.number for film in watched_films], has_known_order, watched_by_key)
    stars = {key: film.stars for key, film in watched_by_key.items() if film.stars is not None}
    visitor().ratings = visitor().ratings | stars  # a new dict, because `undo` restores the old one
    if stars:
        st.session_state.rate_by = "stars"
