"""Show a RecsysError: its message and, if there is one, the command that fixes it. Other exceptions propagate."""

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext

import streamlit as st

from pages.ui.format import escape_markdown
from pages.ui.i18n import _, localize, ngettext, translated_template
from pages.ui.visitor import visitor
from recsys import paths
from recsys.errors import Message, RecsysError

MAX_OPEN_ERRORS = 3  # maximum number of file errors that are shown without an expander


@contextmanager
def show_errors() -> Iterator[None]:
    """Show a RecsysError instead of raising it, in a `with` block or, as the decorator `@show_errors()`, in a function.

    A decorated function returns None after an error.
    """
    try:
        yield
    except RecsysError as error:
        show_error(error)


def show_error(error: RecsysError) -> None:
    """Show an error and the command that fixes it, if there is one."""
    message = hide_paths(localize(error))
    letter = message[:1] if _starts_with_name(error.message) else message[:1].upper()
    end = "" if message.endswith("?") else "."
    text = f"{letter}{message[1:].rstrip('.')}{end}"
    st.warning(escape_markdown(text, allows_links=True), icon=":material/info:")  # links to download sites
    if error.command:
        show_command(error.command)


def show_flash(key: str) -> None:
    """Show the error that a callback of a widget stored in `visitor().flash`, and remove it. key: Key in `flash`."""
    if error := visitor().flash.pop(key, None):
        show_error(error)


def _starts_with_name(message: Message) -> bool:
    """Return whether a translated message starts with a value, such as a file name, that must not be capitalised."""
    placeholder = re.match(r"\{(\w+)", translated_template(message))
    if not placeholder:
        return False
    value = message.fields[placeholder[1]]
    return not isinstance(value, Message) or _starts_with_name(value)


def show_file_errors(errors: Sequence[RecsysError]) -> None:
    """Show errors about files. More than MAX_OPEN_ERRORS are in an expander."""
    is_collapsed = len(errors) > MAX_OPEN_ERRORS
    title = ngettext("{n} file cannot be shown", "{n} files cannot be shown", len(errors))
    with st.expander(title, icon=":material/broken_image:") if is_collapsed else nullcontext():
        for error in errors:  # `error.sentence` is the message and the command in one line
            st.warning(escape_markdown(hide_paths(localize(error.sentence))), icon=":material/broken_image:")


def show_command(command: str) -> None:
    """Show a shell command to copy. On a public server, only the administrator can run it."""
    st.caption(_("The administrator of this server can run:") if paths.is_public() else _("Run in a terminal:"))
    st.code(hide_paths(command), language=None, wrap_lines=True)


def hide_paths(text: str) -> str:
    """Return a text in which, on a public server, placeholders replace the folders of the server."""
    if not paths.is_public():
        return text
    replacements = {sys.executable: "python", str(paths.home()): "$RECSYS_HOME", str(paths.REPOSITORY): "."}
    for path, replacement in replacements.items():
        text = text.replace(path, replacement)
    return text
