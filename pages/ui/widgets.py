"""Widgets to choose one of several options. The choice stays when the visitor opens another page."""

from collections.abc import Mapping
from typing import Any, TypeVar

import streamlit as st

from pages.ui.i18n import _

T = TypeVar("T")


def segmented_control(label: str, labels: Mapping[T, str], key: str, default: T | None = None, **options: Any) -> T:
    """Show options as buttons side by side, and return the chosen one.

    Args:
        label: Label of the widget.
        labels: Option → label in the visitor's language.
        key: Widget key.
        default: Option that is chosen at first; None: the first one.
        options: Further arguments of `st.segmented_control`.
    """
    chosen: T = st.segmented_control(
        label,
        list(labels),
        default=next(iter(labels)) if default is None else default,
        required=True,
        format_func=labels.__getitem__,
        key=key,
        persist_state="session",
        **options,
    )
    return chosen


def selectbox(label: str, labels: Mapping[T, str], key: str, default: T | None = None, **options: Any) -> T:
    """Show options as a menu, and return the chosen one. For the arguments, see `segmented_control`."""
    index = 0 if default is None else list(labels).index(default)
    chosen: T = st.selectbox(
        label, list(labels), index, format_func=labels.__getitem__, key=key, persist_state="session", **options
    )
    return chosen


def translated(texts: Mapping[T, str]) -> dict[T, str]:
    """Return option → text in the visitor's language, for texts that are marked with `N_`."""
    return {option: _(text) for option, text in texts.items()}
