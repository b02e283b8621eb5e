"""Form that makes a data set from a visitor's own file.

Each file is parsed once, and checked once for each choice of columns. The session stores the results until the form
closes. They are not logged, and other visitors cannot see them.

Session state:
    own_file, own_items: Uploads.
    own_results: Results.
    own_noun, own_fewest, own_name_<file>, own_column_<role>_<file>: Values of widgets.
"""

import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.server import uploads
from pages.ui import cache, errors, session
from pages.ui.format import NOUNS, escape_markdown, item_kind, listed
from pages.ui.i18n import N_, _, localize
from pages.ui.visitor import visitor
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


@dataclass
class Results:
    """The latest result of each kind: the parsed files, the recognised columns, the checked data."""

    file: str = ""  # id of the upload with the events
    by_kind: dict[str, tuple[Hashable, Any]] = field(default_factory=dict)  # kind → (key, value or DataError)

    def get(self, kind: str, key: Hashable, compute: Callable[[], Any]) -> Any:
        """Return the result of a kind. It is computed if the stored result has another key.

        Raises:
            DataError: `compute` raised it, now or when the result was stored.
        """
        if kind not in self.by_kind or self.by_kind[kind][0] != key:
            self.by_kind.pop(kind, None)  # before `compute`, so that the memory is free
            try:
                self.by_kind[kind] = key, compute()
            except DataError as error:
                self.by_kind[kind] = key, DataError(*error.args)  # the traceback of `error` would keep the tables
        result = self.by_kind[kind][1]
        if isinstance(result, DataError):
            raise DataError(*result.args)
        return result


def form() -> None:
    """Show the uploaders and, for a valid file, the preview and the button that adds it."""
    st.caption(
        _(
            "A file with one row per event: who watched, read or bought which item. CSV, TSV, JSON lines, parquet or "
            "columns separated by spaces, up to {mb} MB, may be gzipped. Everybody who opens this app can see the "
            "data set.",
            mb=MAX_MEGABYTES,
        )
    )
    if context := get_script_run_ctx():
        uploads.allow_uploads(context.session_id, MAX_MEGABYTES << 20)
    upload = st.file_uploader(_("Events"), TYPES, key="own_file", max_upload_size=MAX_MEGABYTES)
    if upload is None:
        forget()
        return
    described = st.file_uploader(
        _("Items (optional): titles, years, genres, pictures, texts"),
        TYPES,
        key="own_items",
        max_upload_size=MAX_MEGABYTES,
    )
    results = _results(upload.file_id)
    items_id = described.file_id if described else ""
    with errors.show_errors():
        table = results.get("table", upload.file_id, lambda: tables.parse(upload.name, upload.getvalue()))
        items = results.get(
            "items", items_id, lambda: tables.parse(described.name, described.getvalue()) if described else None
        )
        st.dataframe(table.rows.head(PREVIEW_ROWS), hide_index=True, height="content")
        columns = _choose_columns(table, results.get("roles", upload.file_id, lambda: _recognised_columns(table)))
        if columns:
            noun = st.segmented_control(
                _("Items are"), list(NOUNS), default="item", required=True, format_func=item_kind, key="own_noun"
            )
            key = (items_id, *columns.items())
            checked = results.get("checked", key, lambda: own_data.check(table, items, columns))
            _add_button(table, replace(checked, noun=noun), upload.name)


def _results(file: str) -> Results:
    """Return the results for an upload. Results of another upload are removed."""
    results = st.session_state.get("own_results")
    if results is None or results.file != file:
        results = st.session_state.own_results = Results(file)
    return results


def forget() -> None:
    """Remove the results. The dialog calls this when it closes."""
    st.session_state.pop("own_results", None)


def _recognised_columns(table: Table) -> dict[str, str]:
    """Return role → column, or {} if the visitor must choose the columns."""
    try:
        return own_data.assign_columns(table)
    except DataError:
        return {}


def _choose_columns(table: Table, recognised: dict[str, str]) -> dict[str, str]:
    """Let the visitor correct the columns. Return role → column, or {} until all required roles are chosen."""

    def label(name: str) -> str:
        if name == own_data.NONE:
            return _("none")
        return name if table.has_header else _("column {n}", n=name)

    names, chosen = list(table.rows.columns), {}
    with st.container(horizontal=True, gap="small"):
        for role, title in ROLES.items():
            options = names if role in REQUIRED_ROLES and role in recognised else [own_data.NONE, *names]
            index = options.index(recognised.get(role, own_data.NONE))
            key = f"own_column_{role}_{table.name}"
            chosen[role] = st.selectbox(_(title), options, index, key=key, format_func=label, width=150)
    if missing := [_(ROLES[role]) for role in REQUIRED_ROLES if chosen[role] == own_data.NONE]:
        st.info(_("Choose the column of the {roles}.", roles=listed(missing)), icon=":material/table_chart:")
        return {}
    return chosen


def _add_button(table: Table, checked: own_data.Checked, file: str) -> None:
    """Show the summary of a file, its name as a data set, and the button that adds it."""
    st.markdown("\n".join(f"- {escape_markdown(localize(message))}" for message in checked.messages))
    suggested = re.sub(r"[^A-Za-z0-9_-]+", "-", table.name.partition(".")[0]).strip("-_")[:40] or "mine"
    name = st.text_input(_("Name of the data set"), suggested, max_chars=40, key=f"own_name_{table.name}").strip()
    label, help = _("Leave out items with fewer events than"), _("With 0 nothing is left out.")
    min_events = int(st.number_input(label, 0, 1000, 0, key="own_fewest", help=help))
    replaces = bool(own_data.NAME.fullmatch(name)) and own_data.is_own(name)
    escaped = escape_markdown(name)
    st.button(
        _("Replace *{name}*", name=escaped) if replaces else _("Add *{name}*", name=escaped),
        key="own-add",
        icon=":material/add:",
        on_click=_add,
        args=(name, checked, file, min_events, replaces),
        type="primary",
    )
    errors.show_flash("own-add")


def _add(name: str, checked: own_data.Checked, file: str, min_events: int, replaces: bool) -> None:
    """Store the data set and open it. An error is shown below the button."""
    try:
        own_data.add(name, checked, file, min_events, overwrite=replaces)
    except RecsysError as error:
        visitor().flash["own-add"] = error
        return
    forget()
    session.open_dataset(name)
    st.session_state.sets_done = True


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
