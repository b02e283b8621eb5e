"""Buttons, file uploaders, and widgets to choose one of several values.

Choices stay when the visitor opens another page.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.server.uploads import allow_uploads
from pages.ui.i18n import _

T = TypeVar("T")


def button(label: str, key: str, icon: str, on_click: Callable[..., Any], *args: Any, **options: Any) -> None:
    """Show a button that calls `on_click(*args)`. icon: Name of a Material icon. options: As in `st.button`."""
    st.button(label, key=key, icon=f":material/{icon}:", on_click=on_click, args=args, **options)


def file_uploader(label: str, key: str, max_bytes: int, **options: Any) -> Any:
    """Show a file uploader, and allow this session to upload. options: As in `st.file_uploader`."""
    if context := get_script_run_ctx():
        allow_uploads(context.session_id, max_bytes)
    return st.file_uploader(label, key=key, max_upload_size=max_bytes >> 20, **options)


def segmented_control(label: str, labels: Mapping[T, str], key: str, default: T | None = None, **options: Any) -> T:
    """Show buttons side by side, and return the chosen value.

    Args:
        label: Label of the widget.
        labels: Value → label in the visitor's language.
        key: Widget key.
        default: Value that is chosen at the start. None: the first value.
        options: Further arguments of `st.segmented_control`.
    """
    value: T = st.segmented_control(
        label,
        list(labels),
        default=next(iter(labels)) if default is None else default,
        required=True,
        format_func=labels.__getitem__,
        key=key,
        persist_state="session",
        **options,
    )
    return value


def selectbox(label: str, labels: Mapping[T, str], key: str, default: T | None = None, **options: Any) -> T:
    """Show a menu, and return the chosen value. The arguments are as in `segmented_control`."""
    index = 0 if default is None else list(labels).index(default)
    value: T = st.selectbox(
        label, list(labels), index, format_func=labels.__getitem__, key=key, persist_state="session", **options
    )
    return value


def translate(texts: Mapping[T, str]) -> dict[T, str]:
    """Return value → label in the visitor's language. texts: Value → label that is marked with `N_`."""
    return {option: _(text) for option, text in texts.items()}
