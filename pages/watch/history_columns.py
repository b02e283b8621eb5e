"""Which column of an unknown CSV holds what: its first lines, and a menu for each thing that can be told."""

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from pages.ui import format
from pages.ui.i18n import _
from pages.watch import history_words as words
from recsys.data.history_import.entries import ColumnQuestion, Columns


def choose(question: ColumnQuestion, file: str, number: str, now: Columns | None, answer: Callable[..., None]) -> None:
    """The menus; `answer` is given the columns when one of them changes. now: what was chosen before."""
    columns = now or question.guess
    title, first = (
        _("What is in the columns of {file}?", file=format.escape_markdown(file)),
        not question.guess.names_films,
    )
    with st.expander(title, icon=":material/view_column:", expanded=first):
        if not columns.names_films:
            st.caption(_("Choose at least the column with titles, or one with numbers of films."))
        width = len(question.header)
        st.table([dict(zip(_heads(question), [*row, *[""] * width][:width], strict=True)) for row in question.sample])
        menus(question, columns, number, answer)


def _heads(question: ColumnQuestion) -> list[str]:
    """Headings, none empty and none twice."""
    return [head if head else name for head, name in zip(question.header, question.names, strict=True)]


def menus(question: ColumnQuestion, columns: Columns, number: str, answer: Callable[..., None]) -> None:
    """A menu for each role, one for the best rating, and one for the order of lines without dates."""
    shown = dict(zip(question.names, _heads(question), strict=True))
    options = ["", *question.names]

    def take(role: str, key: str) -> None:
        answer(number, columns=replace(columns, **{role: st.session_state[key]}))

    with st.container(horizontal=True, gap="small"):
        for role, label in words.ROLES.items():
            key = f"{role}-{number}"
            at = options.index(getattr(columns, role))
            st.selectbox(
                label,
                options,
                index=at,
                format_func=lambda name: shown.get(name) or _("in no column"),
                key=key,
                on_change=take,
                args=(role, key),
                width=180,
            )
        if columns.rating:
            key, scales = f"scale-{number}", list(words.SCALES)
            at = scales.index(columns.scale)
            st.selectbox(_("Best rating"), scales, index=at, key=key, on_change=take, args=("scale", key), width=120)
        if not columns.watched:
            key = f"newest_first-{number}"
            st.selectbox(
                _("Without dates: which film comes first?"),
                [False, True],
                index=int(columns.newest_first),
                format_func=lambda newest: _("The newest") if newest else _("The oldest"),
                key=key,
                on_change=take,
                args=("newest_first", key),
                width=260,
            )
