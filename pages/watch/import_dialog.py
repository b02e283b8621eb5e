"""The dialog that imports a history: files, pasted titles, questions about the files, and a review of the films.

If there is a file, the imported films replace the visitor's films. Pasted titles alone are added to them. After the
dialog, the session only has the films, stars and dates.

Session state: history-text, history-files (widgets).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import streamlit as st
from babel.dates import format_date

from pages.ui import errors, format, i18n
from pages.ui.i18n import N_, _, localize, ngettext
from pages.ui.widgets import file_uploader, translate
from pages.watch import import_review, saved_history
from pages.watch.import_review import ReviewState
from recsys.data.dataset import Dataset
from recsys.data.history_import.entries import MAX_FILE_BYTES, Answers, ColumnQuestion, HistoryError, ImportedFile
from recsys.data.history_import.read import read
from recsys.serving import title_list

MAX_FILES = 20
MONTH_FIRST_LOCALES = {"en-us", "en-ph", "fil-ph"}  # there, "2/5/2025" is 5 February
BROWSER_FILE_ID = "browser"  # for the history in the local storage, which is read like an uploaded file
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
    "watch_date": N_("Watch date"),
    "rating": N_("Rating"),
    "imdb_id": N_("IMDb ID"),
    "tmdb_id": N_("TMDB ID"),
    "kind": N_("Film or series"),
}
RATING_SCALES = {5: "5", 10: "10", 100: "100"}  # maximum rating → label


@dataclass
class ImportState:
    """The state of the open dialog. It is discarded when the dialog closes."""

    answers: dict[str, Answers] = field(default_factory=dict)  # by file id
    # file id and answers → content of the file, or the error of `read`
    results: dict[tuple[str, Answers], list[ImportedFile] | HistoryError] = field(default_factory=dict)
    review: ReviewState = field(default_factory=ReviewState)
    stored_json: str = ""  # history that was loaded from the local storage, "" if none


def open_button(dataset: Dataset) -> None:
    """Show the button that opens the dialog."""
    help_text = _("Films you watched or rated elsewhere: Letterboxd, IMDb, Trakt, Netflix, MovieLens, or any list.")
    if st.button(_("Import your history"), key="bring", icon=":material/upload_file:", help=help_text):
        _open(dataset, ImportState())


def offer_saved_history(dataset: Dataset) -> None:
    """Show the buttons for the history in the local storage, if any. A click on Load opens it in the dialog."""
    if stored_json := saved_history.offer("start"):
        _open(dataset, ImportState(stored_json=stored_json))


def _open(dataset: Dataset, state: ImportState) -> None:
    """Open the dialog in the visitor's language."""
    open_dialog = st.dialog(_("Import your history"), width="medium")(dialog_body)
    open_dialog(dataset, state)


@errors.show_errors()
def dialog_body(dataset: Dataset, state: ImportState) -> None:
    """Show the content of the dialog."""
    introduction = _(
        "Export your films from Letterboxd (the ZIP or single files), IMDb, Trakt, Netflix, MovieLens or this "
        "app, or use any CSV. You can add several files. A film that is in several files counts once."
    )
    st.caption(introduction)
    if stored_json := saved_history.offer("dialog"):
        state.stored_json = stored_json
    privacy = _("Your files are only held in memory during the import. The server does not store, log or share them.")
    label = _("History files: CSV, JSON or ZIP")
    uploads = file_uploader(label, "history-files", MAX_FILE_BYTES, accept_multiple_files=True, help=privacy)
    pasted_titles = _read_pasted_titles()
    has_files = bool(uploads or state.stored_json)
    if not (has_files or pasted_titles.entries):
        st.caption(privacy)
        with st.expander(_("Where to find the files"), icon=":material/help:"):
            lines = [f"- **{name}**: {format.escape_markdown(path)}" for name, path in translate(SERVICES).items()]
            st.markdown("\n".join(lines))
        return
    if len(uploads) > MAX_FILES:
        note = ngettext(
            "Only the first file was read. Import the rest separately.",
            "Only the first {n} files were read. Import the rest separately.",
            MAX_FILES,
        )
        st.warning(note)
    files = [(upload.name, upload.file_id, upload.getvalue()) for upload in uploads[:MAX_FILES]]
    if state.stored_json:
        files.append((_("The history saved in this browser"), BROWSER_FILE_ID, state.stored_json.encode()))
    parts = [part for file in files for part in _show_file(state, *file)]
    parts.append(pasted_titles)
    if any(part.entries or part.skipped for part in parts):
        import_review.show(state.review, dataset, parts, has_files)


def _read_pasted_titles() -> ImportedFile:
    """Show the text area for titles. Return the titles like the content of a file."""
    text = st.text_area(
        _("Or paste titles, one per line"),
        key="history-text",
        max_chars=title_list.MAX_CHARS,
        placeholder=_("Title (year), or a file name"),
    )
    name = _("Pasted titles")
    return ImportedFile(name, "", tuple(replace(entry, file=name) for entry in title_list.parse(text or "")))


def _show_file(state: ImportState, name: str, file_id: str, content: bytes) -> list[ImportedFile]:
    """Read a file, or take the result of an earlier run. Render a summary of its content, and questions about it.

    Returns:
        The content of the file: one part, or several parts for a ZIP archive, or none after an error.
    """
    is_month_first = (st.context.locale or "").lower() in MONTH_FIRST_LOCALES
    answers = state.answers.setdefault(file_id, Answers(prefers_month_first=is_month_first))
    if (file_id, answers) not in state.results:
        try:
            state.results[file_id, answers] = read(name, content, answers)
        except HistoryError as error:
            state.results[file_id, answers] = error
    result = state.results[file_id, answers]
    if isinstance(result, HistoryError):
        errors.show_error(result)
        return []
    for part in result:
        if part.format_title != "ZIP":  # a ZIP archive is a part without films, beside a part for each file in it
            format_title = _(part.format_title) or _("unknown format")
            n_entries = ngettext("{n:,} watched film", "{n:,} watched films", len(part.entries))
            st.markdown(f"**{format.escape_markdown(part.file)}** · {format_title} · {n_entries}")
        for note in part.notes:
            text = localize(note)
            st.caption(format.escape_markdown(f"{text[:1].upper()}{text[1:]}."))
        _ask_questions(state, part, file_id)
    return result


def _ask_questions(state: ImportState, part: ImportedFile, file_id: str) -> None:
    """Show the questions about a file. Answered questions stay, so that an answer can be changed."""
    file_name = format.escape_markdown(part.file)

    def ask(name: str, question: str, options: dict[bool, str], default: bool) -> None:
        """Show a question. name: Field of `Answers`. options: Value of the field → label."""
        key = f"{name}-{file_id}"

        def store_answer() -> None:
            state.answers[file_id] = replace(state.answers[file_id], **{name: st.session_state[key]})

        st.segmented_control(
            question,
            list(options),
            default=default,
            required=True,
            format_func=options.__getitem__,
            key=key,
            on_change=store_answer,
        )

    if part.may_be_watchlist:
        options = {False: _("Films I watched"), True: _("A watchlist")}
        ask("is_watchlist", _("Which films are in {file}?", file=file_name), options, part.looks_like_watchlist)
    if date := part.date_question:
        options = {True: format_day(date.day_first_date), False: format_day(date.month_first_date)}
        question = _("What does {cell} in {file} mean?", cell=format.escape_markdown(date.cell), file=file_name)
        ask("is_day_first", question, options, date.is_day_first_likely)
    if part.column_question:
        _ask_columns(state, part.column_question, file_name, file_id)


def format_day(day: datetime) -> str:
    """Return a date in the visitor's language: "5 February 2025"."""
    return format_date(day, "d MMMM y", locale=i18n.current_language())


def _ask_columns(state: ImportState, question: ColumnQuestion, file_name: str, file_id: str) -> None:
    """Show the first lines of a CSV file of unknown format, and a menu for each of COLUMN_LABELS."""
    columns = state.answers[file_id].columns or question.guess

    def menu(name: str, label: str, options: Mapping[Any, str], width: int) -> None:
        """Show a menu. name: Field of `Columns`. options: Value of the field → label. width: In pixels."""
        key, values = f"{name}-{file_id}", list(options)

        def store_column() -> None:
            new_columns = replace(columns, **{name: st.session_state[key]})
            state.answers[file_id] = replace(state.answers[file_id], columns=new_columns)

        st.selectbox(
            label,
            values,
            values.index(getattr(columns, name)),
            format_func=options.__getitem__,
            key=key,
            width=width,
            on_change=store_column,
        )

    headings = [heading or name for heading, name in zip(question.header, question.names, strict=True)]
    label = _("What is in the columns of {file}?", file=file_name)
    with st.expander(label, icon=":material/view_column:", expanded=not question.guess.identifies_films):
        if not columns.identifies_films:
            st.caption(_("Select at least one column with film titles or film IDs."))
        _show_lines(headings, question.sample)
        column_labels = {"": _("not in this file")} | dict(zip(question.names, headings, strict=True))
        with st.container(horizontal=True, gap="small"):
            for name, text in COLUMN_LABELS.items():
                menu(name, _(text), column_labels, 180)
            if columns.rating:
                menu("scale", _("Highest possible rating"), RATING_SCALES, 120)
            if not columns.watch_date:
                orders = {False: _("The one watched first"), True: _("The one watched last")}
                menu("is_newest_first", _("No dates: which film comes first in the file?"), orders, 260)


def _show_lines(headings: list[str], lines: Iterable[Sequence[str]]) -> None:
    """Show the first lines of a CSV file as a table."""
    headings = [format.escape_markdown(heading) for heading in headings]
    padding = [""] * len(headings)  # for lines with fewer cells than headings; `zip` cuts longer lines
    rows = [[*map(format.escape_markdown, line), *padding] for line in lines]
    st.table([dict(zip(headings, row, strict=False)) for row in rows])
