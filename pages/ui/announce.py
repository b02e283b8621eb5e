"""Messages for screen readers.

`status` renders a hidden message. assets/style/nextreel.js copies every new message into one live region of the
document, because Streamlit replaces elements and a replaced live region stays silent.

Session state: announcement (a counter, and the text of the last message about the visitor's list).
"""

from html import escape

import streamlit as st


def announce(text: str) -> None:
    """Announce a change of the list after this run. A second call in the same run replaces the first."""
    number, _unused = st.session_state.get("announcement", (0, ""))
    st.session_state.announcement = (number + 1, text)


def place() -> None:
    """Render the last message of `announce`, once per page."""
    number, text = st.session_state.get("announcement", (0, ""))
    status(text, number)


def status(text: str, number: int = 0) -> None:
    """Render a hidden message, announced when it appears or changes.

    Args:
        text: the message, plain text.
        number: makes two messages with the same text different.
    """
    st.html(f'<span class="nr-status" data-number="{number}">{escape(text)}</span>')
