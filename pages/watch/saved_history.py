"""The history that the browser keeps in its local storage. The script is assets/style/history_store.js.

Session state: keep_in_browser · in_browser_asked-<place of the buttons>. Each has the number of requests to the script
and the last request.
"""

from datetime import date

import streamlit as st

from pages.ui import browser
from pages.ui.i18n import _, ngettext
from pages.ui.widgets import button

_STORE = st.components.v2.component("nextreel_store", js=(browser.STYLE / "history_store.js").read_text("utf-8"))


def request_save(text: str, n_films: int) -> None:
    """Request that the browser stores a history, a JSON text, after this run."""
    n_requests, _request = st.session_state.get("keep_in_browser", (0, {}))
    request = {"request": "keep", "text": text, "summary": f"{n_films} {date.today().isoformat()}"}
    st.session_state.keep_in_browser = (n_requests + 1, request)


def save_requested() -> None:
    """Render the script that stores the requested history, if any, and show whether it succeeded."""
    n_requests, request = st.session_state.get("keep_in_browser", (0, {}))

    def forget_request() -> None:
        st.session_state.keep_in_browser = (n_requests, {})  # the session does not need the text any more

    data = {"name": "keep", "number": n_requests, **request}
    result = _STORE(
        key="store-keep", data=data, on_kept_change=forget_request, on_refused_change=forget_request, height=0
    )
    if result.refused:
        text = _("Your browser could not save the history: its storage is full or disabled.")
        st.warning(text, icon=":material/save:")
    elif result.kept:
        st.caption(_("Your history is saved in this browser. To load or delete it, click “Import your history”."))


def offer(place: str) -> str:
    """Render buttons that load and delete the stored history, if any. Return its text after a click on Load, else "".

    place: "dialog" or "start", for the widget keys.
    """
    state, key, request_key = st.session_state, f"store-tell-{place}", f"in_browser_asked-{place}"
    n_requests, request = state.get(request_key, (0, ""))
    # the script gets its last report and reports only a different summary, because each report reruns the page
    summary = str(state[key].summary or "") if key in state else ""
    data = {"name": f"tell-{place}", "number": n_requests, "request": request, "lastSummary": summary}
    result = _STORE(
        key=key,
        data=data,
        default={"summary": ""},
        # with callbacks, `result` always has the attributes `summary` and `loaded`
        on_summary_change=lambda: None,
        on_loaded_change=lambda: None,
        height=0,
    )
    # "120 2025-02-05", see `request_save`
    n_films, _space, day = str(result.summary or "").partition(" ")

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
            button(_("Delete"), f"{place}-forget", "delete", send_request, "forget")
    return str(result.loaded or "")
