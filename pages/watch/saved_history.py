"""The history that the browser saves in its local storage. Its script is assets/style/history_store.js.

Session state:
    keep_in_browser: Number of requests to save a history, and the last request.
    in_browser_asked-PLACE: Number of requests to load or delete the history, and the last request. PLACE: see `offer`.
"""

from datetime import date

import streamlit as st

from pages.ui import browser
from pages.ui.i18n import _, ngettext
from pages.ui.widgets import button

_store = st.components.v2.component("nextreel_store", js=(browser.STYLE / "history_store.js").read_text("utf-8"))


def request_save(text: str, n_films: int) -> None:
    """Request that the browser saves a history after this run. text: The history as JSON."""
    n_requests, _request = st.session_state.get("keep_in_browser", (0, {}))
    request = {"request": "save", "text": text, "summary": f"{n_films} {date.today().isoformat()}"}
    st.session_state.keep_in_browser = (n_requests + 1, request)


def save_requested() -> None:
    """Render the script that saves the requested history, if any. Show whether the browser could save it."""
    n_requests, request = st.session_state.get("keep_in_browser", (0, {}))

    def clear_request() -> None:
        st.session_state.keep_in_browser = (n_requests, {})  # the session does not need the text any more

    data = {"name": "keep", "number": n_requests, **request}
    result = _store(
        key="store-keep", data=data, on_saved_change=clear_request, on_failed_change=clear_request, height=0
    )
    if result.failed:
        text = _("Your browser could not save the history: its storage is full or disabled.")
        st.warning(text, icon=":material/save:")
    elif result.saved:
        st.caption(_("Your history is saved in this browser. To load or delete it, click “Import your history”."))


def offer(place: str) -> str:
    """If the browser has a saved history, show buttons that load and delete it.

    Args:
        place: "dialog" (the import dialog) or "start" (the empty list). It is a part of the widget keys.

    Returns:
        The history as JSON after a click on Load, else "".
    """
    state, key, request_key = st.session_state, f"store-tell-{place}", f"in_browser_asked-{place}"
    n_requests, request = state.get(request_key, (0, ""))
    # the script gets the summary that it reported last, and only reports a new one, because a report reruns the page
    summary = str(state[key].summary or "") if key in state else ""
    data = {"name": f"tell-{place}", "number": n_requests, "request": request, "lastSummary": summary}
    result = _store(
        key=key,
        data=data,
        default={"summary": ""},
        # with callbacks, `result` always has the attributes `summary` and `loaded`
        on_summary_change=lambda: None,
        on_loaded_change=lambda: None,
        height=0,
    )
    n_films, _space, day = str(result.summary or "").partition(" ")  # "120 2025-02-05", see `request_save`

    def send_request(action: str) -> None:
        state[request_key] = (n_requests + 1, action)

    if n_films.isdigit():
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"in-browser-{place}"):
            text = ngettext(
                "Saved in this browser: {n:,} film ({date}).",
                "Saved in this browser: {n:,} films ({date}).",
                int(n_films),
                date=day[:10],
            )
            st.caption(text, width="content")
            button(_("Load"), f"{place}-load", "download", send_request, "load")
            button(_("Delete"), f"{place}-forget", "delete", send_request, "delete")
    return str(result.loaded or "")
