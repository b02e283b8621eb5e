"""Features that need JavaScript: keyboard focus, Enter in search boxes, messages for screen readers, phone navigation.

The script is assets/style/nextreel.js.

Session state:
    announcement: Number of announcements, and the text of the last one.
    focus: Number of focus requests, and the widget keys of the last one, best first.
"""

from collections.abc import Callable
from html import escape

import streamlit as st

from pages.ui import i18n
from pages.ui.i18n import _
from recsys.paths import ASSETS

STYLE = ASSETS / "style"
TOUR_COOKIE = "nextreel_tour"  # set by the script when the tour was closed

_script = st.components.v2.component("nextreel", js=(STYLE / "nextreel.js").read_text("utf-8"))


def show_page(page: str, tour_step: int | None, tour_closed: bool) -> None:
    """Run the script for a page.

    Args:
        page: Title of the page. The script runs again when it changes.
        tour_step: Step of the tour, or None if it is not shown.
        tour_closed: Whether to set the cookie.
    """
    texts = {"language": i18n.current(), "skip": _("Skip to the content")}
    with st.container(key="browser"):
        _script(
            key="nextreel",
            data={"task": "page", "page": page, "step": tour_step, "seen": tour_closed, **texts},
            height=1,
        )


def has_seen_tour() -> bool:
    """Return whether the browser has the cookie of the tour."""
    return st.context.cookies.get(TOUR_COOKIE) == "seen"


def on_enter(box: str, action: Callable[[str], None]) -> None:
    """Call `action` with the text when Enter is pressed in the text input of a key.

    Streamlit ignores Enter if the text has not changed.
    """
    key = f"{box}-enter"
    _script(
        key=key,
        data={"task": "enter", "box": box},
        on_entered_change=lambda: action(str(st.session_state[key].entered)),
        height=0,
    )


def focus_on(*keys: str) -> None:
    """After this run, focus the first enabled widget of these keys, or the heading."""
    n_requests, _keys = st.session_state.get("focus", (0, ()))
    st.session_state.focus = (n_requests + 1, keys)


def place_focus(key: str = "focus-keeper") -> None:
    """Render the script that moves the focus, after the widgets.

    main.py does this at the end of every run. A fragment with its own callbacks does it as well.
    """
    n_requests, keys = st.session_state.get("focus", (0, ()))
    _script(key=key, data={"task": "focus", "number": n_requests, "keys": list(keys)}, height=0)


def announce(text: str) -> None:
    """Announce a change of the list after this run. A second call in the same run replaces the first."""
    number, _text = st.session_state.get("announcement", (0, ""))
    st.session_state.announcement = (number + 1, text)


def place_announcement() -> None:
    """Render the last message of `announce`."""
    number, text = st.session_state.get("announcement", (0, ""))
    status(text, number)


def status(text: str, number: int = 0) -> None:
    """Render a hidden message that the script announces when it appears or changes.

    Args:
        text: Plain text.
        number: Distinguishes two messages with the same text.
    """
    st.html(f'<span class="nr-status" data-number="{number}">{escape(text)}</span>')
