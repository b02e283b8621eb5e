"""The one net of the pages: what a person can mend is a sentence, and the command that mends it; a bug stays a bug."""

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext

import streamlit as st

from pages.ui import words
from pages.ui.i18n import _, localize, ngettext
from recsys import paths
from recsys.errors import Message, RecsysError

MAX_ERRORS = 3  # about files, outside of an expander


@contextmanager
def explained() -> Iterator[None]:
    """Show a RecsysError instead of raising it, around a block or, as `@explained()`, around a function.

    A function whose error was shown returns None. Whatever else is raised is a bug, which Streamlit shows as one.
    """
    try:
        yield
    except RecsysError as error:
        explain(error)


def explain(error: RecsysError) -> None:
    """Show what went wrong and, where there is one, the command that mends it."""
    message = without_paths(localize(error))
    start = message[:1] if _starts_with_name(error.message) else message[:1].upper()
    sentence = f"{start}{message[1:].rstrip('.')}."
    st.warning(words.plain(sentence, links=True), icon=":material/info:")  # where a data set can be had
    if error.command:
        command(error.command)


def _starts_with_name(message: Message) -> bool:
    """Return whether a message starts with a field such as a file name, whose case must stay."""
    field = re.match(r"\{(\w+)", message.text)
    value = message.fields[field[1]] if field else ""
    return _starts_with_name(value) if isinstance(value, Message) else bool(field)


def explain_all(damages: Sequence[RecsysError]) -> None:
    """Show the errors about files. More than MAX_ERRORS are in an expander."""
    many = len(damages) > MAX_ERRORS
    title = ngettext("{n} file cannot be shown", "{n} files cannot be shown", len(damages))
    with st.expander(title, icon=":material/broken_image:") if many else nullcontext():
        for damage in damages:
            st.warning(words.plain(without_paths(localize(damage.sentence))), icon=":material/broken_image:")


def command(line: str) -> None:
    """A line for the terminal, to be copied: for whoever runs the server, where that is not the visitor."""
    st.caption(_("Whoever runs this server can type:") if paths.is_public() else _("In a terminal, type:"))
    st.code(without_paths(line), language=None, wrap_lines=True)


def without_paths(text: str) -> str:
    """A text without the folders of a public server, which are no visitor's business."""
    if not paths.is_public():
        return text
    hidden = {sys.executable: "python", str(paths.home()): "$RECSYS_HOME", str(paths.REPOSITORY): "."}
    for path, name in hidden.items():
        text = text.replace(path, name)
    return text
