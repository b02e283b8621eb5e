"""What only the browser can do: close the navigation of a phone, give the focus back, know the tour, name the language.

The script is assets/style/nextreel.js; it sends nothing back.
"""

import streamlit as st

from pages.ui import i18n
from pages.ui.frame import STYLE
from pages.ui.i18n import _

COOKIE = "nextreel_tour"  # set by the script; it holds nothing but that the tour was seen


_script = st.components.v2.component("nextreel", js=(STYLE / "nextreel.js").read_text("utf-8"))


def tell(page: str, step: int | None, seen: bool) -> None:
    """Which page is shown (another one makes the script run anew), which step of the tour (None: it is not), whether
    to remember that, and the language.
    """
    with st.container(key="browser"):
        _script(
            key="nextreel",
            data={
                "page": page,
                "step": step,
                "seen": seen,
                "language": i18n.current(),
                "skip": _("Skip to the content"),
            },
            height=1,
        )


def has_seen_tour() -> bool:
    """Whether this browser remembers the tour."""
    return st.context.cookies.get(COOKIE) == "seen"
