"""The dialog that imports a history: upload of files, questions about the files, and a review of the matched films.

Titles can also be pasted. If there are no files, they are added to the visitor's films. Files replace these films.

After the dialog, the session has only the films, stars and dates. If the visitor wants it, the browser stores the
history in its local storage. The script is assets/style/history_store.js.

Session state: history-text (widget) · keep_in_browser · in_browser_asked-<place of the buttons>. Each of the last two
has the number of requests to the script and the last request.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

import pandas as pd
import streamlit as st
from babel.dates import format_date

from pages.ui import browser, cache, charts, errors, format, i18n, session
from pages.ui.i18n import N_, _, localize, ngettext
from pages.ui.visitor import visitor
from pages.ui.widgets import button, file_uploader
from recsys.data.dataset import Dataset, Film
from recsys.data.history_import.entries import MAX_FILE_BYTES, Answers, ColumnQuestion, Columns, HistoryError, Imported
from recsys.data.history_import.read import read
from recsys.serving import history_import, title_list
from recsys.serving.film_matching import Matcher, MatchMethod
from recsys.serving.history_import import Review, WatchedFilm

UNCERTAIN_FILMS_PER_PAGE = 6
MAX_FILES = 20
MONTH_FIRST_LOCALES = {"en-us", "en-ph", "fil-ph"}
BROWSER_FILE_ID = "browser"  # id of the history from the local storage, which is read like an uploaded file
SERVICES = {  # name → how to export the history
    "Letterboxd": N_("letterboxd.com → Settings → Data → Export your data: the ZIP."),
    "IMDb": N_("imdb.com → Your ratings → Export: a CSV."),
    "Trakt": N_("trakt.tv → Settings → Data → Export: the ZIP, or its JSON files."),
    "Netflix": N_("netflix.com → Account → Profile → Viewing activity → Download all: a CSV."),
    "MovieLens": N_("movielens.org → About your ratings → Export: a CSV."),
    "NextReel": N_("Share → Files: your films as CSV or JSON."),
}
COLUMN_LABELS = {  # field of `Columns` → label of its menu
    "title": N_("Title"),
    "year": N_("Year"),
    "watched": N_("Watch date"),
    "rating": N_("Rating"),
    "imdb_id": N_("IMDb ID"),
    "tmdb_id": N_("TMDB ID"),
    "kind": N_("Film or series"),
}
RATING_SCALES = [5, 10, 100]  # maximum rating
MATCH_TEXTS = {
    MatchMethod.ID: N_("{n:,} by ID"),
    MatchMethod.TITLE_YEAR: N_("{n:,} by title and year"),
    MatchMethod.NEXT_YEAR: N_("{n:,} by title; the year differs by one"),
    MatchMethod.TITLE: N_("{n:,} by title alone"),
}

_STORE = st.components.v2.component("nextreel_store", js=(browser.STYLE / "history_store.js").read_text("utf-8"))


@dataclass
class ImportState:
    """The state of the open dialog."""

    answers: dict[str, Answers] = field(default_factory=dict)  # by file id
    files: dict[tuple[str, Answers], list[Imported] | HistoryError] = field(default_factory=dict)  # by id and answers
    choices: dict[str, int | None] = field(default_factory=dict)  # `ImportedFilm.key` → film number; None: no film
    review: Review | None = None
    review_key: tuple[Any, ...] = ()  # the data set, answers and files of the review
    saved: str = ""  # history that was loaded from the local storage, as JSON
    has_files: bool = False  # whether there are files or a saved history, beside the pasted titles


def open_button(dataset: Dataset) -> None:
    """Render the button that opens the dialog."""
    if st.button(
        _("Import your history"),
        key="bring",
        icon=":material/upload_file:",
        help=_("Films you watched or rated elsewhere: Letterboxd, IMDb, Trakt, Netflix, MovieLens, or any list."),
    ):
        _open(dataset, ImportState())


def offer_saved_history_on_start(dataset: Dataset) -> None:
    """Offer the history in the local storage, if any, and open it in the dialog after a click on Load."""
    if text := _offer_saved_history("start"):
        _open(dataset, ImportState(saved=text))


def _open(dataset: Dataset, importing: ImportState) -> None:
    """Open the dialog."""
    st.dialog(_("Import your history"), width="medium")(body)(dataset, importing)


@errors.show_errors()
def body(dataset: Dataset, importing: ImportState) -> None:
    """Render the content of the dialog. importing: Its state, which is discarded when the dialog closes."""
    introduction = _(
        "Export your films from Letterboxd (the ZIP or single files), IMDb, Trakt, Netflix, MovieLens or this "
        "app, or use any CSV. You can add several files. A film that is in several files counts once."
    )
    st.caption(introduction)
    if loaded := _offer_saved_history("dialog"):
        importing.saved = loaded
    privacy = _("Your files are only read in memory. The server does not store, log or share them.")
    label = _("History files: CSV, JSON or ZIP")
    uploads = file_uploader(label, "history-files", MAX_FILE_BYTES, accept_multiple_files=True, help=privacy)
    text = st.text_area(
        _("Or paste titles, one per line"),
        key="history-text",
        max_chars=title_list.MAX_CHARS,
        placeholder=_("Title (year), or a file name"),
    )
    importing.has_files = bool(uploads or importing.saved)
    pasted = _pasted_titles(text or "")
    if not (importing.has_files or pasted.entries):
        st.caption(privacy)
        with st.expander(_("Where to find the files"), icon=":material/help:"):
            st.markdown(
                "\n".join(f"- **{service}**: {format.escape_markdown(_(path))}" for service, path in SERVICES.items())
            )
        return
    if len(uploads) > MAX_FILES:
        note = ngettext(
            "Only the first file was read. Import the rest in a second step.",
            "Only the first {n} files were read. Import the rest in a second step.",
            MAX_FILES,
        )
        st.warning(note)
    files = [(upload.name, upload.file_id, upload.getvalue()) for upload in uploads[:MAX_FILES]]
    if importing.saved:
        files.append((_("The history saved in this browser"), BROWSER_FILE_ID, importing.saved.encode()))
    parts: list[Imported] = []
    for name, file_id, content in files:
        parts += _show_file(importing, name, file_id, content)
    parts.append(pasted)
    if any(part.entries or part.skipped for part in parts):
        _show_review(importing, dataset, parts)


def _pasted_titles(text: str) -> Imported:
    """Return the pasted titles as if they were a file."""
    name = _("Pasted titles")
    return Imported(name, "", tuple(replace(entry, file=name) for entry in title_list.parse(text)))


def _show_file(importing: ImportState, name: str, file_id: str, content: bytes) -> list[Imported]:
    """Render a summary of a file and questions about it.

    Returns:
        The content of the file: one part, or several parts for a ZIP archive, or none after an error.
    """
    is_month_first = (st.context.locale or "").lower() in MONTH_FIRST_LOCALES
    answers = importing.answers.setdefault(file_id, Answers(prefers_month_first=is_month_first))
    if (file_id, answers) not in importing.files:
        try:
            importing.files[file_id, answers] = read(name, content, answers)
        except HistoryError as error:
            importing.files[file_id, answers] = error
    parts = importing.files[file_id, answers]
    if isinstance(parts, HistoryError):
        errors.show_error(parts)
        return []
    for part in parts:
        if part.format_title != "ZIP":  # the part for the archive itself has no films
            source = _(part.format_title) or _("unknown format")
            entries = ngettext("{n:,} watched film", "{n:,} watched films", len(part.entries))
            st.markdown(f"**{format.escape_markdown(part.file)}** · {source} · {entries}")
        for note in part.notes:
            text = localize(note)
            st.caption(format.escape_markdown(f"{text[:1].upper()}{text[1:]}."))
        _ask_questions(importing, part, file_id)
    return parts


def _ask_questions(importing: ImportState, part: Imported, file_id: str) -> None:
    """Render the questions about a file. Answered questions stay, so that an answer can be changed."""
    file_name, answers = format.escape_markdown(part.file), importing.answers

    def store(answer_name: str, key: str) -> None:
        """Store the value of a widget as a field of `Answers`."""
        answers[file_id] = replace(answers[file_id], **{answer_name: st.session_state[key]})

    def ask(answer_name: str, question: str, options: dict[bool, str], default: bool) -> None:
        key = f"{answer_name}-{file_id}"
        st.segmented_control(
            question,
            list(options),
            default=default,
            required=True,
            format_func=options.__getitem__,
            key=key,
            on_change=store,
            args=(answer_name, key),
        )

    if part.may_be_watchlist:
        options = {False: _("Films I watched"), True: _("A watchlist")}
        ask("watchlist", _("Which films are in {file}?", file=file_name), options, part.looks_like_watchlist)
    if dates := part.date_question:
        options = {True: _format_day(dates.day_first_date), False: _format_day(dates.month_first_date)}
        question = _("What does {cell} in {file} mean?", cell=format.escape_markdown(dates.cell), file=file_name)
        ask("day_first", question, options, dates.is_day_first_likely)
    if part.column_question:
        columns = answers[file_id].columns or part.column_question.guess

        def store_column(field_name: str, key: str) -> None:
            new_columns = replace(columns, **{field_name: st.session_state[key]})
            answers[file_id] = replace(answers[file_id], columns=new_columns)

        _column_menus(part.column_question, columns, file_name, file_id, store_column)


def _format_day(day: datetime) -> str:
    """Return a date in the visitor's language: "5 February 2025"."""
    return format_date(day, "d MMMM y", locale=i18n.current_language())


def _column_menus(
    question: ColumnQuestion, columns: Columns, file_name: str, file_id: str, on_change: Callable[[str, str], None]
) -> None:
    """Render the first lines of a CSV file of unknown format, and a menu for each of COLUMN_LABELS.

    on_change: Receives the name of a field of `Columns` and the key of its menu.
    """
    n_columns = len(question.header)
    headings = [heading or name for heading, name in zip(question.header, question.names, strict=True)]
    column_labels = {"": _("not in this file")} | dict(zip(question.names, headings, strict=True))

    def menu(name: str, label: str, options: Sequence[Any], format_func: Callable[[Any], str], width: int) -> None:
        key = f"{name}-{file_id}"
        index = options.index(getattr(columns, name))
        st.selectbox(
            label, options, index, format_func=format_func, key=key, width=width, on_change=on_change, args=(name, key)
        )

    label = _("What is in the columns of {file}?", file=file_name)
    with st.expander(label, icon=":material/view_column:", expanded=not question.guess.identifies_films):
        if not columns.identifies_films:
            st.caption(_("Select at least one column with film titles or film IDs."))
        # short lines are padded and long lines are cut
        rows = [[*row, *[""] * n_columns][:n_columns] for row in question.sample]
        cells = [[format.escape_markdown(cell) for cell in row] for row in [headings, *rows]]
        st.table([dict(zip(cells[0], row, strict=True)) for row in cells[1:]])
        with st.container(horizontal=True, gap="small"):
            for name, text in COLUMN_LABELS.items():
                menu(name, _(text), list(column_labels), column_labels.__getitem__, 180)
            if columns.rating:
                menu("scale", _("Highest possible rating"), RATING_SCALES, str, 120)
            if not columns.watched:
                orders = {False: _("The oldest"), True: _("The newest")}
                menu(
                    "newest_first",
                    _("No dates: which film comes first in the file?"),
                    list(orders),
                    orders.__getitem__,
                    260,
                )


@cache.cached_for_dataset()
def matcher(name: str) -> Matcher:
    """Return the film matcher of a data set."""
    return Matcher(cache.dataset(name))


def _show_review(importing: ImportState, dataset: Dataset, parts: list[Imported]) -> None:
    """Render a summary, the uncertain films, tables of all films, and the button that imports the matched films.

    parts: The content of the files, then the pasted titles.
    """
    pasted = parts[-1].entries
    key = (dataset.name, *importing.answers.items(), *(part.file for part in parts), *pasted)
    if importing.review is None or importing.review_key != key:
        with st.spinner(_("Searching for your films")):
            importing.review = history_import.review_files(matcher(dataset.name), parts)
        importing.review_key = key
    review = importing.review
    watched = review.watched(importing.choices)
    _show_summary(review, watched, dataset, importing.has_files)
    if review.unsure_positions:
        _show_uncertain(importing, review, dataset)
    _show_tables(importing, review, dataset)
    if watched and importing.has_files:
        _show_import_button(importing, review, watched, dataset)
    elif watched:
        _show_add_button(watched)


def _show_summary(review: Review, watched: list[WatchedFilm], dataset: Dataset, has_files: bool) -> None:
    """Show how many films are in the data set, how they were matched, and notes about undated and infrequent films.

    has_files: Whether there are files beside the pasted titles, which have no dates.
    """
    title = format.escape_markdown(cache.dataset_title(dataset.name))
    if not watched:
        if review.films:
            text = _(
                "None of these films is in {data}. Close this dialog and try another data set at the top.", data=title
            )
            st.info(text, icon=":material/search_off:")
        return
    text = ngettext(
        "**{n:,}** of your films is in {data}", "**{n:,}** of your films are in {data}", len(watched), data=title
    )
    counts = review.count_methods()
    methods = ", ".join(_(phrase, n=counts[method]) for method, phrase in MATCH_TEXTS.items() if counts[method])
    st.markdown(f"{text}: {methods}." if methods else f"{text}.")
    notes = []
    if has_files and (n_undated := sum(not film.is_dated for film in watched)):
        note = ngettext(
            "{n:,} film has no watch date. It is sorted by the date of its rating, or comes first if it has none.",
            (
                "{n:,} films have no watch date. They are sorted by the date of their rating, or come first if they "
                "have none."
            ),
            n_undated,
        )
        notes.append(note)
    if n_infrequent := sum(film.film >= dataset.n_items for film in watched):
        note = ngettext(
            "{n:,} film has too few ratings here. Content recommenders use it. Other recommenders use a similar film.",
            (
                "{n:,} films have too few ratings here. Content recommenders use them. Other recommenders use similar "
                "films."
            ),
            n_infrequent,
        )
        notes.append(note)
    if notes:
        st.caption(" ".join(notes))


def _show_uncertain(importing: ImportState, review: Review, dataset: Dataset) -> None:
    """Render a menu of possible matches for each uncertain film, in pages."""
    positions = review.unsure_positions  # in `review.films`
    label = ngettext("Which film is it? {n:,} film to check", "Which film is it? {n:,} films to check", len(positions))

    def label_match(number: int | None) -> str:
        if number is None:
            return _("None of these")
        film = dataset.catalog.films[number]
        # genres distinguish films of equal title and year
        return f"{film.label} · {format.display_genres(film.genres)}"

    def store_choice(film_key: str, widget_key: str) -> None:
        importing.choices[film_key] = st.session_state[widget_key]

    with st.expander(label, icon=":material/rule:", expanded=True):
        st.caption(_("Likely matches are already selected. Films with “None of these” are not imported."))
        n_pages = math.ceil(len(positions) / UNCERTAIN_FILMS_PER_PAGE)
        page = st.pagination(n_pages, key="check-page") if n_pages > 1 else 1
        for position in positions[(page - 1) * UNCERTAIN_FILMS_PER_PAGE : page * UNCERTAIN_FILMS_PER_PAGE]:
            imported, match = review.films[position], review.matches[position]
            entry = imported.entries[0]
            origin = _("{file}, line {line}", file=format.escape_markdown(entry.file), line=entry.line)
            options, key = [None, *match.films], f"check-{imported.key}"
            st.selectbox(
                f"{format.escape_markdown(imported.name)} :small[:gray[· {origin}]]",
                options,
                index=options.index(review.film_number(position, importing.choices)),
                format_func=label_match,
                key=key,
                on_change=store_choice,
                args=(imported.key, key),
            )


def _show_tables(importing: ImportState, review: Review, dataset: Dataset) -> None:
    """Render a table of the entries that are not imported, with a download, and a table of the matched films."""
    rejected = review.rejected(importing.choices)
    accepted = review.accepted(importing.choices, dataset.catalog.films)
    if len(rejected):
        label = ngettext("Not imported: {n:,} entry", "Not imported: {n:,} entries", len(rejected))
        with st.expander(label, icon=":material/playlist_remove:"):
            st.caption(_("Entries of your files that will not be in your list, each with the reason."))
            st.dataframe(translate_table(rejected), hide_index=True)
            charts.download_numbers(rejected, "not-taken")
    if len(accepted):
        with st.expander(_("How each film was found"), icon=":material/playlist_add_check:"):
            st.dataframe(translate_table(accepted), hide_index=True)


def translate_table(table: pd.DataFrame) -> pd.DataFrame:
    """Translate the headings of a table and the cells of TRANSLATED_COLUMNS. Other cells are names."""
    columns = {name: table[name].map(_) for name in history_import.TRANSLATED_COLUMNS if name in table}
    return table.assign(**columns).rename(columns=_)


def _show_import_button(importing: ImportState, review: Review, watched: list[WatchedFilm], dataset: Dataset) -> None:
    """Render the button that imports the films, and the option to save the history in the browser."""
    help_text = _(
        "Saves titles, dates and stars in your browser, so that you can load them on your next visit. "
        "The server keeps nothing. Do not use it on a shared computer."
    )
    save = st.toggle(_("Save this history in this browser"), key="keep-history", help=help_text)
    if n_replaced := len(visitor().current.films):
        note = ngettext(
            "This replaces the film in your list. You can undo it.",
            "This replaces the {n:,} films in your list. You can undo it.",
            n_replaced,
        )
        st.caption(note)
    label = ngettext("Import {n:,} film", "Import {n:,} films", len(watched))
    if st.button(label, key="use-history", icon=":material/playlist_add:", type="primary"):
        if save:
            text = history_import.as_json(
                dataset.name, dataset.catalog, review.films, review.film_numbers(importing.choices)
            )
            _request_browser_save(text, len(review.films))
        _import(dataset, watched)
        st.rerun()  # the whole page, which closes the dialog


def _show_add_button(watched: list[WatchedFilm]) -> None:
    """Render the button that adds the films of pasted titles to the visitor's films."""
    label = ngettext("Add {n:,} film to your films", "Add {n:,} films to your films", len(watched))
    if st.button(label, key="add-pasted", icon=":material/playlist_add:", type="primary"):
        session.add_films([film.film for film in watched])
        st.rerun()  # the whole page, which closes the dialog


def _import(dataset: Dataset, watched: list[WatchedFilm]) -> None:
    """Replace the visitor's list by the imported films, with their stars and watch dates.

    The list is a history if most films have a date.
    """
    key_by_number = {film.film: session.film_key(dataset.catalog.films[film.film]) for film in watched}
    has_known_order = sum(film.last_date is not None for film in watched) > len(watched) / 2
    dates = {key_by_number[film.film]: film for film in watched}
    session.start_list(list(key_by_number), has_known_order, dates)
    stars = {key_by_number[film.film]: film.stars for film in watched if film.stars is not None}
    visitor().ratings = visitor().ratings | stars
    if stars:
        st.session_state.rate_by = "stars"


def watch_note(film: Film) -> str:
    """Return sentences about the watch dates and half stars of a film of an imported history, or ""."""
    watched = visitor().current.watch_dates.get(session.film_key(film))
    notes = []
    if watched and watched.is_dated and watched.last_date:
        day = _format_day(watched.last_date)
        notes.append(
            _("Watched on {date}.", date=day)
            if watched.n_viewings == 1
            else ngettext(
                "Watched {n} time, last on {date}.", "Watched {n} times, last on {date}.", watched.n_viewings, date=day
            )
        )
    elif watched and watched.n_viewings > 1:
        notes.append(ngettext("Watched {n} time.", "Watched {n} times.", watched.n_viewings))
    stars = session.rating(film)
    if stars and stars % 1:  # `my_list` shows only whole stars
        notes.append(_("You gave it {stars:.1f} stars.", stars=stars))
    return " ".join(notes)


def _request_browser_save(text: str, n_films: int) -> None:
    """Request that the browser stores a history, a JSON text, after this run."""
    n_requests, _request = st.session_state.get("keep_in_browser", (0, {}))
    request = {"request": "keep", "text": text, "summary": f"{n_films} {date.today().isoformat()}"}
    st.session_state.keep_in_browser = (n_requests + 1, request)


def save_requested_history() -> None:
    """Render the script that stores the requested history, if any, and show whether it succeeded."""
    n_requests, request = st.session_state.get("keep_in_browser", (0, {}))

    def forget_request() -> None:
        st.session_state.keep_in_browser = (n_requests, {})  # the session does not need the text any more

    data = {"name": "keep", "number": n_requests, **request}
    result = _STORE(
        key="store-keep", data=data, on_kept_change=forget_request, on_refused_change=forget_request, height=0
    )
    if result.refused:
        text = _("Your browser could not save the history: its storage is full or disabled.")
        st.warning(text, icon=":material/save:")
    elif result.kept:
        st.caption(_("Your history is saved in this browser. To load or delete it, click “Import your history”."))


def _offer_saved_history(place: str) -> str:
    """Render buttons that load and delete the history in the local storage, if there is one.

    Args:
        place: "dialog" or "start", for the widget keys.

    Returns:
        The text of the history in the run after a click on Load, else "".
    """
    state, key, request_key = st.session_state, f"store-tell-{place}", f"in_browser_asked-{place}"
    n_requests, request = state.get(request_key, (0, ""))
    # the script gets its last report and reports only a different summary, because each report reruns the page
    summary = str(state[key].summary or "") if key in state else ""
    data = {"name": f"tell-{place}", "number": n_requests, "request": request, "reports": True, "reported": summary}
    result = _STORE(
        key=key,
        data=data,
        default={"summary": ""},
        # with callbacks, `result` always has the attributes `summary` and `loaded`
        on_summary_change=lambda: None,
        on_loaded_change=lambda: None,
        height=0,
    )
    # "120 2025-02-05", see `_request_browser_save`
    n_films, _space, day = str(result.summary or "").partition(" ")
    if n_films.isdigit():

        def send_request(action: str) -> None:
            state[request_key] = (n_requests + 1, action)

        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"in-browser-{place}"):
            text = ngettext(
                "Saved in this browser: {n:,} film ({date}).",
                "Saved in this browser: {n:,} films ({date}).",
                int(n_films),
                date=day[:10],
            )
            st.caption(text, width="content")
            button(_("Load"), f"{place}-load", "download", send_request, "load")
            button(_("Delete"), f"{place}-forget", "delete", send_request, "forget")
    return str(result.loaded or "")
