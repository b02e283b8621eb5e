"""Form that makes a data set from a visitor's own file.

A file is parsed once, and checked once for each choice of columns. The results are cached for the visitor's session
until the form closes. They are not logged, and other visitors cannot see them.
"""

import re
from dataclasses import replace

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from pages.ui import cache, errors, session
from pages.ui.format import NOUNS, escape_markdown, item_kind, listed
from pages.ui.i18n import N_, _, localize
from pages.ui.visitor import visitor
from pages.ui.widgets import file_uploader
from recsys.data import own_data, tables
from recsys.data.dataset import DataError
from recsys.data.tables import Table
from recsys.errors import RecsysError
from recsys.jobs import queue

MAX_MEGABYTES = 50  # the command line takes larger files
TYPES = ["csv", "tsv", "txt", "dat", "parquet", "jsonl", "json", "gz"]
PREVIEW_ROWS = 5
ROLES = {"user": N_("Person"), "item": N_("Item"), "time": N_("Time"), "rating": N_("Rating")}
REQUIRED_ROLES = ("user", "item")


def form() -> None:
    """Show the uploaders and, for a valid file, the preview and the button that adds it."""
    text = _(
        "A file with one row per event: who watched, read or bought which item. CSV, TSV, JSON lines, parquet or "
        "columns separated by spaces, up to {mb} MB, may be gzipped. Everybody who opens this app can see the "
        "data set.",
        mb=MAX_MEGABYTES,
    )
    st.caption(text)
    max_bytes = MAX_MEGABYTES << 20
    upload = file_uploader(_("Events"), "own_file", max_bytes, type=TYPES)
    if upload is None:
        clear_cache()
        return
    label = _("Items (optional): titles, years, genres, pictures, texts")
    items_upload = file_uploader(label, "own_items", max_bytes, type=TYPES)
    with errors.show_errors():
        table = _parse(upload.file_id, upload)
        items_id = items_upload.file_id if items_upload else ""
        items = _parse(items_id, items_upload) if items_upload else None
        st.dataframe(table.rows.head(PREVIEW_ROWS), hide_index=True, height="content")
        if columns := _choose_columns(table):
            noun = st.segmented_control(
                _("Items are"), list(NOUNS), default="item", required=True, format_func=item_kind, key="own_noun"
            )
            checked = _check(upload.file_id, items_id, columns, table, items)
            _add_button(table, replace(checked, noun=noun), upload.name)


@st.cache_resource(scope="session", max_entries=2, show_spinner=False)
def _parse(file_id: str, _upload: UploadedFile) -> Table:
    return tables.parse(_upload.name, _upload.getvalue())


@st.cache_resource(scope="session", max_entries=1, show_spinner=False)
def _check(
    file_id: str, items_id: str, columns: dict[str, str], _table: Table, _items: Table | None
) -> own_data.Checked:
    return own_data.check(_table, _items, columns)


def clear_cache() -> None:
    """Remove the cached results of the file. The dialog calls this when it closes."""
    _parse.clear()
    _check.clear()


def _choose_columns(table: Table) -> dict[str, str]:
    """Let the visitor correct the recognised columns. Return role → column, or {} until all required are chosen."""
    try:
        recognised = own_data.assign_columns(table)
    except DataError:  # the visitor must choose them
        recognised = {}

    def label(name: str) -> str:
        if name == own_data.NONE:
            return _("none")
        return name if table.has_header else _("column {n}", n=name)

    columns, chosen = list(table.rows.columns), {}
    with st.container(horizontal=True, gap="small"):
        for role, title in ROLES.items():
            options = columns if role in REQUIRED_ROLES and role in recognised else [own_data.NONE, *columns]
            index = options.index(recognised.get(role, own_data.NONE))
            key = f"own_column_{role}_{table.name}"
            chosen[role] = st.selectbox(_(title), options, index, key=key, format_func=label, width=150)
    if missing := [_(ROLES[role]) for role in REQUIRED_ROLES if chosen[role] == own_data.NONE]:
        st.info(_("Choose the column of the {roles}.", roles=listed(missing)), icon=":material/table_chart:")
        return {}
    return chosen


def _add_button(table: Table, checked: own_data.Checked, file_name: str) -> None:
    """Show the summary of a file, its name as a data set, and the button that adds it."""
    st.markdown("\n".join(f"- {escape_markdown(localize(message))}" for message in checked.messages))
    suggested = re.sub(r"[^A-Za-z0-9_-]+", "-", table.name.partition(".")[0]).strip("-_")[:40] or "mine"
    name = st.text_input(_("Name of the data set"), suggested, max_chars=40, key=f"own_name_{table.name}").strip()
    label, help_text = _("Leave out items with fewer events than"), _("With 0 nothing is left out.")
    min_events = int(st.number_input(label, 0, 1000, 0, key="own_fewest", help=help_text))
    replaces = bool(own_data.NAME.fullmatch(name)) and own_data.is_own(name)
    escaped = escape_markdown(name)
    label = _("Replace *{name}*", name=escaped) if replaces else _("Add *{name}*", name=escaped)
    if st.button(label, key="own-add", icon=":material/add:", type="primary"):
        own_data.add(name, checked, file_name, min_events, overwrite=replaces)
        clear_cache()
        session.open_dataset(name)
        st.rerun()  # the whole page, which closes the dialog


def delete_button(name: str) -> None:
    """Show the button that deletes a visitor's own data set, in a popover that asks for confirmation."""
    title = escape_markdown(cache.dataset_title(name))
    with st.popover(_("Delete *{data}*…", data=title), icon=":material/delete:", type="tertiary", key=f"delete-{name}"):
        st.caption(_("This deletes {data}, its trained recommenders, results and maps.", data=title))
        label = _("Delete *{data}* for good", data=title)
        st.button(label, key=f"delete-now-{name}", type="primary", on_click=_delete, args=(name,))
        errors.show_flash(f"delete-now-{name}")


def _delete(name: str) -> None:
    """Delete a data set. An error, such as a running training, is shown below the button."""
    try:
        queue.check_idle(name)
        own_data.remove(name)
    except RecsysError as error:
        visitor().flash[f"delete-now-{name}"] = error
