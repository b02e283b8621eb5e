"""Features that need JavaScript: keyboard focus, Enter in search boxes, messages for screen readers, phone navigation.

The script is assets/style/nextreel.js.

Session state:
    announcement: Number of requested announcements so far, and the text of the last request.
    focus: Number of focus requests so far, and the widget keys of the last request, in order of preference.
"""

from collections.abc import Callable
from html import escape

import streamlit as st

from pages.ui import i18n
from pages.ui.i18n import _
from recsys.paths import ASSETS

STYLE = ASSETS / "style"
TOUR_COOKIE = "nextreel_tour"  # the script sets it to "seen" when the tour is closed

_script = st.components.v2.component("nextreel", js=(STYLE / "nextreel.js").read_text("utf-8"))


def place_page_script(title: str, is_tour_closed: bool, tour_target: str) -> None:
    """Render the script of a page: language, link to the content, navigation, tour.

    Args:
        title: Title of the page. When it changes, the script runs again.
        is_tour_closed: Whether to set TOUR_COOKIE.
        tour_target: CSS selector of the elements that the tour step outlines, "" if the tour is not shown.
    """
    texts = {"language": i18n.current_language(), "skip": _("Skip to the content")}
    data = {"task": "page", "page": title, "tourClosed": is_tour_closed, "target": tour_target, **texts}
    with st.container(key="browser"):
        _script(key="nextreel", data=data, height=1)


def has_seen_tour() -> bool:
    """Return whether the browser has the cookie of the tour."""
    return st.context.cookies.get(TOUR_COOKIE) == "seen"


def on_enter(box_key: str, action: Callable[[str], None]) -> None:
    """Call `action` with the text of a text input when Enter is pressed in it. box_key: Its widget key.

    Streamlit itself ignores Enter if the text has not changed.
    """
    key = f"enter-{box_key}"

    def call_action() -> None:
        action(str(st.session_state[key].entered))

    _script(key=key, data={"task": "enter", "box": box_key}, on_entered_change=call_action, height=0)


def focus_on(*keys: str) -> None:
    """Request that the first enabled widget of these keys gets the focus after this run, or the page without one."""
    n_requests, _keys = st.session_state.get("focus", (0, ()))
    st.session_state.focus = (n_requests + 1, keys)


def place_focus(key: str = "focus-keeper") -> None:
    """Render the script that moves the focus, after all widgets.

    main.py calls this at the end of every run. A fragment whose callbacks request the focus also calls it, because
    main.py does not run again. Two calls in one run need different keys.
    """
    n_requests, keys = st.session_state.get("focus", (0, ()))
    _script(key=key, data={"task": "focus", "number": n_requests, "keys": list(keys)}, height=0)


def announce(text: str) -> None:
    """Request an announcement for screen readers after this run. Only the last request of a run counts."""
    n_requests, _text = st.session_state.get("announcement", (0, ""))
    st.session_state.announcement = (n_requests + 1, text)


def place_announcement() -> None:
    """Render the requested announcement."""
    n_requests, text = st.session_state.get("announcement", (0, ""))
    place_status(text, n_requests)


def place_status(text: str, number: int = 0) -> None:
    """Render a hidden plain text. The script announces it to screen readers when it appears or changes.

    number: With a new number, the script announces an unchanged text again.
    """
    st.html(f'<span class="nr-status" data-number="{number}">{escape(text)}</span>')
