"""Buttons, file uploaders, and widgets to choose one of several options.

Choices stay when the visitor opens another page.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.server.uploads import allow_uploads
from pages.ui.i18n import _

T = TypeVar("T")


def button(label: str, key: str, icon: str, on_click: Callable[..., Any], *args: Any, **keywords: Any) -> None:
    """Show a button that calls `on_click(*args)`. icon: Name of a Material icon. keywords: As in `st.button`."""
    st.button(label, key=key, icon=f":material/{icon}:", on_click=on_click, args=args, **keywords)


def file_uploader(label: str, key: str, max_bytes: int, **keywords: Any) -> Any:
    """Show a file uploader, and allow this session to upload. keywords: As in `st.file_uploader`."""
    if context := get_script_run_ctx():
        allow_uploads(context.session_id, max_bytes)
    return st.file_uploader(label, key=key, max_upload_size=max_bytes >> 20, **keywords)


def segmented_control(label: str, labels: Mapping[T, str], key: str, default: T | None = None, **keywords: Any) -> T:
    """Show options as buttons side by side, and return the chosen option.

    Args:
        label: Label of the widget.
        labels: Option → label in the visitor's language.
        key: Widget key.
        default: Option that is chosen at the start. None: the first option.
        keywords: Further arguments of `st.segmented_control`.
    """
    chosen: T = st.segmented_control(
        label,
        list(labels),
        default=next(iter(labels)) if default is None else default,
        required=True,
        format_func=labels.__getitem__,
        key=key,
        persist_state="session",
        **keywords,
    )
    return chosen


def selectbox(label: str, labels: Mapping[T, str], key: str, default: T | None = None, **keywords: Any) -> T:
    """Show options as a menu, and return the chosen option. The arguments are as in `segmented_control`."""
    index = 0 if default is None else list(labels).index(default)
    chosen: T = st.selectbox(
        label, list(labels), index, format_func=labels.__getitem__, key=key, persist_state="session", **keywords
    )
    return chosen


def translate(texts: Mapping[T, str]) -> dict[T, str]:
    """Return option → label in the visitor's language. texts: Option → label that is marked with `N_`."""
    return {option: _(text) for option, text in texts.items()}
