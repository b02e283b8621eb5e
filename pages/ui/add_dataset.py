"""A form that turns a visitor's own file into a data set: it is read, previewed, checked and then added.

Each file is read once, and checked once for each choice of columns. The results stay in the session until the form
closes. Nothing is shared with other visitors or logged.
Session state: own_file, own_items (uploads) · own_results (`Results`) · own_error (of the button), own_error_<set> (of
the button that deletes a set) · own_noun, own_fewest, own_name_<file>, own_column_<role>_<file> (widgets).
"""

import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.server import uploads
from pages.ui import errors, getting, loaders, words
from pages.ui.i18n import _, localize
from recsys.data import own_data, tables
from recsys.data.dataset import DataError
from recsys.data.tables import Table
from recsys.errors import RecsysError
from recsys.jobs import queue

LARGEST = 50  # MB of a file; the command line takes any
TYPES = ["csv", "tsv", "txt", "dat", "parquet", "jsonl", "json", "gz"]
SHOWN = 5  # rows of the file
NEEDED = ("user", "item")


@dataclass
class Results:
    """What was computed from the uploaded files of one session: at most one result of each kind."""

    file: str = ""  # id of the upload with the interactions
    kept: dict[str, tuple[Hashable, Any]] = field(default_factory=dict)  # kind → key, and the value or a DataError

    def once(self, kind: str, key: Hashable, compute: Callable[[], Any]) -> Any:
        """Return the result for a key, which is computed when the key has changed.

        Raises:
            DataError: `compute` has raised it, now or the last time.
        """
        if kind not in self.kept or self.kept[kind][0] != key:
            self.kept.pop(kind, None)  # frees its memory first
            try:
                self.kept[kind] = key, compute()
            except DataError as error:
                self.kept[kind] = key, DataError(*error.args)  # the traceback of `error` would keep the tables
        result = self.kept[kind][1]
        if isinstance(result, DataError):
            raise DataError(*result.args)
        return result


def form() -> None:
    """Everything between a file and a set that is open."""
    st.caption(
        _(
            "A file with one row per event – who watched, read or bought what: CSV, TSV, JSON lines, "
            "parquet, or columns separated by spaces; gzipped or not, up to {mb} MB. It is kept on the "
            "computer that runs this app, where whoever opens the app can see it.",
            mb=LARGEST,
        )
    )
    if context := get_script_run_ctx():
        uploads.expect(context.session_id, LARGEST << 20)
    upload = st.file_uploader(_("Who had what, and when"), TYPES, key="own_file", max_upload_size=LARGEST)
    if upload is None:
        forget()
        return
    described = st.file_uploader(
        _("What the items are, if you have it: titles, years, genres, pictures, texts"),
        TYPES,
        key="own_items",
        max_upload_size=LARGEST,
    )
    results = results_of(upload.file_id)
    items_id = described.file_id if described else ""
    with errors.explained():
        table = results.once("table", upload.file_id, lambda: parse(upload))
        items = results.once("items", items_id, lambda: parse(described) if described else None)
        st.dataframe(table.rows.head(SHOWN), hide_index=True, height="content")
        columns = choose_columns(table, results.once("roles", upload.file_id, lambda: recognised_columns(table)))
        if columns:
            noun = chosen_noun()
            key = (items_id, *columns.items())
            checked = results.once("checked", key, lambda: own_data.check(table, items, columns))
            keep(table, replace(checked, noun=noun), upload.name)


def results_of(file: str) -> Results:
    """The results for an upload; those for another one are dropped."""
    results = st.session_state.get("own_results")
    if results is None or results.file != file:
        results = st.session_state.own_results = Results(file)
    return results


def forget() -> None:
    """Drop the results for the uploaded files. The dialog calls it when it closes."""
    st.session_state.pop("own_results", None)


def parse(upload: Any) -> Table:
    """The table of an uploaded file. Raises DataError."""
    return tables.parse(upload.name, upload.getvalue())


def recognised_columns(table: Table) -> dict[str, str]:
    """Role → the column that was recognised, or {} where person and item were not."""
    try:
        return own_data.assign_columns(table)
    except DataError:  # the visitor has to choose them
        return {}


def choose_columns(table: Table, found: dict[str, str]) -> dict[str, str]:
    """Let the visitor correct the recognised columns; {} until person and item are chosen."""
    names, chosen = list(table.rows.columns), {}
    with st.container(horizontal=True, gap="small"):
        for role, label in words.OWN_COLUMNS.items():
            options = names if role in NEEDED and role in found else [own_data.NONE, *names]
            usual = options.index(found.get(role, own_data.NONE))
            key = f"own_column_{role}_{table.name}"
            chosen[role] = st.selectbox(label, options, usual, key=key, format_func=column_label(table), width=150)
    if lacking := [words.OWN_COLUMNS[role] for role in NEEDED if chosen[role] == own_data.NONE]:
        st.info(_("Choose the column of the {roles}.", roles=words.listed(lacking)), icon=":material/table_chart:")
        return {}
    return chosen


def column_label(table: Table) -> Any:
    """What a column is called in a menu: by its name, or its place where the file does not name it."""

    def label(name: str) -> str:
        if name == own_data.NONE:
            return _("none")
        return name if table.has_header else _("column {n}", n=name)

    return label


def chosen_noun() -> Any:
    """What the set is of."""
    return st.segmented_control(
        _("These are"), list(words.NOUNS), default="item", required=True, format_func=words.things, key="own_noun"
    )


def keep(table: Table, checked: own_data.Checked, file: str) -> None:
    """What was found in the file, a name, and the button that makes a set of it."""
    st.markdown("\n".join(f"- {words.plain(localize(message))}" for message in checked.summary.messages()))
    suggested = re.sub(r"[^A-Za-z0-9_-]+", "-", table.name.partition(".")[0]).strip("-_")[:40] or "mine"
    name = st.text_input(_("Name of the data set"), suggested, max_chars=40, key=f"own_name_{table.name}").strip()
    fewest = int(
        st.number_input(
            _("Leave out items with fewer events than"),
            0,
            1000,
            0,
            key="own_fewest",
            help=_("With 0 nothing is left out."),
        )
    )
    replacing = own_data.is_own(name) if own_data.NAME.fullmatch(name) else False
    label = _("Replace *{name}*") if replacing else _("Add *{name}*")
    st.button(
        label.format(name=words.plain(name)),
        key="own-add",
        icon=":material/add:",
        type="primary",
        on_click=add,
        args=(name, checked, file, fewest, replacing),
    )
    if error := st.session_state.pop("own_error", None):
        errors.explain(error)


def removal(name: str) -> None:
    """A button that deletes a set of somebody's own, behind one that says what goes with it."""
    data = words.plain(loaders.data_title(name))
    with st.popover(_("Delete *{data}*…", data=data), icon=":material/delete:", type="tertiary", key=f"delete-{name}"):
        st.caption(
            _(
                "This deletes {data} and everything made of it: trained recommenders, results, pictures of its map.",
                data=data,
            )
        )
        st.button(
            _("Delete *{data}* for good", data=data),
            key=f"delete-now-{name}",
            type="primary",
            on_click=remove,
            args=(name,),
        )
        if error := st.session_state.pop(f"own_error_{name}", None):
            errors.explain(error)


def remove(name: str) -> None:
    """Delete a set, unless somebody is training for it, which is said below the button."""
    try:
        queue.check_idle(name)
        own_data.remove(name)
    except RecsysError as error:
        st.session_state[f"own_error_{name}"] = error


def add(name: str, checked: own_data.Checked, file: str, fewest: int, replacing: bool) -> None:
    """Keep the set and open it; what stands in the way is said below the button."""
    try:
        own_data.add(name, checked, file, fewest, overwrite=replacing)
    except RecsysError as error:
        st.session_state.own_error = error
        return
    forget()
    getting.open_set(name)
    st.session_state.sets_done = True
