"""Popovers that make their content when they are opened, and take the keyboard's focus along into it."""

import streamlit as st
from streamlit.elements.lib.mutable_popover_container import PopoverContainer

from pages.ui import keyboard


def popover(
    label: str, key: str, icon: str, help: str | None = None, disabled: bool = False, first: tuple[str, ...] = ()
) -> PopoverContainer:
    """A popover; what it holds stands in `content(key)` and is drawn where `.open` says so.

    Streamlit draws it at the end of the page, where nobody gets with a single Tab. first: the keys of the widgets that
    may have the focus, best first; none: whichever comes first.
    """
    return st.popover(
        label,
        icon=f":material/{icon}:",
        key=key,
        help=help,
        disabled=disabled,
        on_change=_opened,
        args=(key, first or (f"in-{key}",)),
    )


def content(key: str) -> st.delta_generator.DeltaGenerator:
    """The container for what the popover of that key holds."""
    return st.container(key=f"in-{key}")


def _opened(key: str, first: tuple[str, ...]) -> None:
    if st.session_state.get(key):
        keyboard.focus_on(*first)
