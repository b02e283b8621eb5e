"""A history in the storage of the visitor's own browser: kept on request, loaded on request, forgotten on request.

A small component without a face; what it keeps never stays on the server. The page has one that keeps, and the dialog
and the start screen have one each that tells what is there.

Session state: keep_in_browser (how often something was to be kept, and what: text and number of films) ·
in_browser_asked-<place> (how often the dialog or the start screen wanted something, and what: "load" or "forget").
"""

from collections.abc import Callable
from datetime import date
from typing import Any

import streamlit as st

from pages.ui.i18n import _
from pages.watch import history_words as words

_STORE = st.components.v2.component(
    "nextreel_store",
    js="""
const KEY = "nextreel_history", ABOUT = "nextreel_history_about"
export default function ({ data, setStateValue, setTriggerValue }) {
  const done = window.nextreelStore ??= {}  // the last number of each that was done: scripts run again and again
  if (data.number && data.number !== done[data.name]) {
    done[data.name] = data.number
    try {
      if (data.wish === "keep") {
        localStorage.setItem(KEY, data.text)
        localStorage.setItem(ABOUT, data.about)
        setTriggerValue("kept", true)
      }
      if (data.wish === "forget") { localStorage.removeItem(KEY); localStorage.removeItem(ABOUT) }
      if (data.wish === "load") setTriggerValue("found", localStorage.getItem(KEY) ?? "")
    } catch { setTriggerValue("refused", true) }
  }
  if (!data.tells) return
  let about = ""
  try { about = localStorage.getItem(ABOUT) ?? "" } catch {}
  if (about !== data.known) setStateValue("about", about)
}
""",
)


def keep(text: str, films: int) -> None:
    """After this run, have the browser keep a history."""
    number, _unused = st.session_state.get("keep_in_browser", (0, {}))
    about = f"{films} {date.today().isoformat()}"
    st.session_state.keep_in_browser = (number + 1, {"wish": "keep", "text": text, "about": about})


def place() -> None:
    """Draw what keeps, once on the page; when it is done, the server forgets the text."""
    number, wish = st.session_state.get("keep_in_browser", (0, {}))
    made = _STORE(
        key="store-keep",
        data={"name": "keep", "number": number, **wish},
        on_kept_change=_kept,
        on_refused_change=_kept,
        height=0,
    )
    if made.refused:
        st.warning(
            _("This browser did not save the history: its storage is full or switched off."), icon=":material/save:"
        )
    elif made.kept:
        st.caption(_("This browser keeps your history now. “Bring your history” loads it or forgets it."))


def _kept() -> None:
    number, _unused = st.session_state.keep_in_browser
    st.session_state.keep_in_browser = (number, {})


def offer(found: Callable[[str], None], place: str) -> None:
    """What this browser keeps, with buttons to load it and to forget it.

    found: is given the text. place: where the buttons are, "dialog" or "start".
    """
    state, key = st.session_state, f"store-tell-{place}"
    number, wish = state.setdefault(f"in_browser_asked-{place}", (0, ""))
    known = str(state[key].about or "") if key in state else ""
    data: dict[str, Any] = {"name": f"tell-{place}", "number": number, "wish": wish, "tells": True, "known": known}
    made = _STORE(
        key=key,
        data=data,
        default={"about": ""},
        on_about_change=lambda: None,
        on_found_change=lambda: found(str(state[key].found or "")),
        height=0,
    )
    films, _unused, day = str(made.about or "").partition(" ")
    if not films.isdigit():
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"in-browser-{place}"):
        st.caption(words.counted(words.KEPT, int(films), date=day[:10]), width="content")
        for wish, label, icon in (("load", _("Load it"), "download"), ("forget", _("Forget it"), "delete")):
            st.button(label, key=f"{place}-{wish}", icon=f":material/{icon}:", on_click=_wish, args=(place, wish))


def _wish(place: str, wish: str) -> None:
    number, _unused = st.session_state[f"in_browser_asked-{place}"]
    st.session_state[f"in_browser_asked-{place}"] = (number + 1, wish)
