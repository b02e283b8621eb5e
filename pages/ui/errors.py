"""The one net of the pages: what a person can mend is a sentence, and the command that mends it; a bug stays a bug."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import streamlit as st

from pages.ui import words
from pages.ui.i18n import _, ngettext
from pages.ui.sentences import told
from recsys import paths
from recsys.errors import RecsysError

AT_ONCE = 3  # sentences about files that a page has room for


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
    message = without_paths(told(error.message))
    sentence = f"{message[:1].upper()}{message[1:].rstrip('.')}."
    st.warning(words.plain(sentence, links=True), icon=":material/info:")  # where a data set can be had
    if error.command:
        command(error.command)


def explain_all(sentences: Sequence[str]) -> None:
    """Show what is wrong with files, a sentence each; many of them only when they are opened."""
    if len(sentences) <= AT_ONCE:
        _warn(sentences)
        return
    with st.expander(
        ngettext("{n} file cannot be shown", "{n} files cannot be shown", len(sentences)),
        icon=":material/broken_image:",
    ):
        _warn(sentences)


def _warn(sentences: Iterable[str]) -> None:
    for sentence in sentences:
        st.warning(words.plain(without_paths(told(sentence))), icon=":material/broken_image:")


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
