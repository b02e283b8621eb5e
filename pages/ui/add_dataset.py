"""The form that makes a data set from a visitor's own file, and the button that deletes such a data set.

A file is parsed once, and checked once for each choice of columns. The results are cached for the visitor's session
until the dialog closes. They are not logged, and other visitors cannot see them.
"""

import re
from dataclasses import replace

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from pages.ui import cache, errors, session
from pages.ui.format import escape_markdown, join_escaped, plural_noun
from pages.ui.i18n import N_, _, localize
from pages.ui.visitor import visitor
from pages.ui.widgets import file_uploader
from recsys.data import own_data, tables
from recsys.data.dataset import DataError, Noun
from recsys.data.tables import Table
from recsys.errors import RecsysError
from recsys.jobs import queue

MAX_MEGABYTES = 50  # the command line accepts larger files
MAX_NAME_LENGTH = 40  # characters, as in `own_data.DATASET_NAME`
FILE_SUFFIXES = ["csv", "tsv", "txt", "dat", "parquet", "jsonl", "json", "gz"]
PREVIEW_ROWS = 5
ROLES = {"user": N_("Person"), "item": N_("Item"), "time": N_("Time"), "rating": N_("Rating")}
REQUIRED_ROLES = ("user", "item")


def form() -> None:
    """Show the uploaders and, for a valid file, the preview and the button that adds it."""
    text = _(
        "A file with one row per event: who watched, read or bought which item. CSV, TSV, JSON lines, parquet or "
        "columns separated by spaces, up to {mb} MB, optionally gzipped. Everyone who opens this app can see the "
        "data set.",
        mb=MAX_MEGABYTES,
    )
    st.caption(text)
    max_bytes = MAX_MEGABYTES << 20
    event_upload = file_uploader(_("Events"), "own_file", max_bytes, type=FILE_SUFFIXES)
    if event_upload is None:
        clear_cache()
        return
    label = _("Items (optional): titles, years, genres, pictures, texts")
    item_upload = file_uploader(label, "own_items", max_bytes, type=FILE_SUFFIXES)
    with errors.show_errors():
        events = _parse(event_upload.file_id, event_upload)
        item_file_id = item_upload.file_id if item_upload else ""
        items = _parse(item_file_id, item_upload) if item_upload else None
        st.dataframe(events.rows.head(PREVIEW_ROWS), hide_index=True, height="content")
        if columns := _choose_columns(events):
            label = _("What are the items?")
            nouns: dict[Noun, str] = {"film": plural_noun("film"), "item": _("something else")}
            noun = st.segmented_control(
                label, list(nouns), default="item", required=True, format_func=nouns.__getitem__, key="own_noun"
            )
            checked_file = _check(event_upload.file_id, item_file_id, columns, events, items)
            _show_check(events, replace(checked_file, noun=noun), event_upload.name)


@st.cache_resource(scope="session", max_entries=2, show_spinner=False)
def _parse(file_id: str, _upload: UploadedFile) -> Table:
    """Parse a file. The cache compares only the file id."""
    return tables.parse(_upload.name, _upload.getvalue())


@st.cache_resource(scope="session", max_entries=1, show_spinner=False)
def _check(
    event_file_id: str, item_file_id: str, columns: dict[str, str], _events: Table, _items: Table | None
) -> own_data.CheckedFile:
    """Check the files with a choice of columns. The cache does not compare the tables."""
    return own_data.check(_events, _items, columns)


def clear_cache() -> None:
    """Remove the cached tables and checks of the files. The dialog calls this when it closes."""
    _parse.clear()
    _check.clear()


def _choose_columns(events: Table) -> dict[str, str]:
    """Show menus to correct the recognised columns. Return role → column, {} if a required role has no column."""
    try:
        recognised_columns = own_data.assign_columns(events)
    except DataError:  # the visitor must choose the columns
        recognised_columns = {}

    def label(name: str) -> str:
        if name == own_data.NO_COLUMN:
            return _("none")
        return name if events.has_header else _("column {n}", n=name)

    names, columns = list(events.rows.columns), {}
    with st.container(horizontal=True, gap="small"):
        for role, title in ROLES.items():
            offers_none = role not in REQUIRED_ROLES or role not in recognised_columns
            options = [own_data.NO_COLUMN, *names] if offers_none else names
            index = options.index(recognised_columns.get(role, own_data.NO_COLUMN))
            key = f"own_column_{role}_{events.name}"
            columns[role] = st.selectbox(_(title), options, index, key=key, format_func=label, width=150)
    if missing := [_(ROLES[role]) for role in REQUIRED_ROLES if columns[role] == own_data.NO_COLUMN]:
        st.info(_("Choose the column for: {roles}.", roles=join_escaped(missing)), icon=":material/table_chart:")
        return {}
    return columns


def _show_check(events: Table, checked_file: own_data.CheckedFile, file_name: str) -> None:
    """Show the summary of a checked file, inputs for name and minimum number of events, and the button that adds it."""
    st.markdown("\n".join(f"- {escape_markdown(localize(message))}" for message in checked_file.messages))
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", events.name.partition(".")[0]).strip("-_")
    suggestion, key = stem[:MAX_NAME_LENGTH] or "mine", f"own_name_{events.name}"
    name = st.text_input(_("Name of the data set"), suggestion, max_chars=MAX_NAME_LENGTH, key=key).strip()
    label, help_text = _("Leave out items with fewer events than"), _("With 0, nothing is left out.")
    min_events = int(st.number_input(label, 0, 1000, 0, key="own_fewest", help=help_text))
    exists = own_data.is_own(name)
    escaped = escape_markdown(name)
    label = _("Replace *{name}*", name=escaped) if exists else _("Add *{name}*", name=escaped)
    if st.button(label, key="own-add", icon=":material/add:", type="primary"):
        own_data.add(name, checked_file, file_name, min_events, overwrite=exists)
        clear_cache()
        session.open_dataset(name)
        st.rerun()  # a run of the whole page closes the dialog


def delete_button(name: str) -> None:
    """Show the button that deletes a visitor's own data set, in a popover that asks for confirmation."""
    title = escape_markdown(cache.dataset_title(name))
    with st.popover(_("Delete *{data}*…", data=title), icon=":material/delete:", type="tertiary", key=f"delete-{name}"):
        st.caption(_("This deletes {data}, its trained recommenders, results and maps.", data=title))
        label = _("Delete *{data}* for good", data=title)
        st.button(label, key=f"delete-now-{name}", type="primary", on_click=_delete, args=(name,))
        errors.show_flash(f"delete-now-{name}")


def _delete(name: str) -> None:
    """Delete a data set, or store the error for the button, for example if a training uses the data set."""
    try:
        queue.check_idle(name)
        own_data.remove(name)
    except RecsysError as error:
        visitor().flash[f"delete-now-{name}"] = error
