"""The keyboard on pages that are drawn anew: Enter in a search box, and the focus after the page has changed.

Streamlit leaves the focus on an element that may be gone after the next run, and tells nobody of an Enter that changes
no text. A small component without a face does both; what it looks for are the classes that Streamlit makes of keys.

Session state: focus (how often the focus was asked for, and the keys of the widgets that may have it, best first).
"""

from collections.abc import Callable

import streamlit as st

_ENTER = st.components.v2.component(
    "nextreel_enter",
    js="""
export default function ({ data, setTriggerValue }) {
  const listen = event => {
    const box = event.target.closest?.(`.st-key-${CSS.escape(data.box)}`)
    if (!box || event.key !== "Enter" || event.isComposing || !event.target.value) return
    setTriggerValue("entered", event.target.value)
  }
  document.addEventListener("keydown", listen)
  return () => document.removeEventListener("keydown", listen)
}
""",
)
_FOCUS = st.components.v2.component(
    "nextreel_focus",
    js="""
export default function ({ data }) {
  if (data.asked === (window.nextreelFocus ?? 0)) return  // kept there, as each page has this script of its own
  window.nextreelFocus = data.asked
  let tries = 60  // of 50 ms each: what is to be focused may not be drawn yet, or be drawn anew and lose the focus
  let timer = 0
  const focus = () => {
    const lost = tries === 60 || document.activeElement === document.body
    for (const key of lost ? data.keys : []) {
      const widget = document.querySelector(`.st-key-${CSS.escape(key)}`)
      const found = widget?.querySelector("input:not(:disabled)") ?? widget?.querySelector("button:not(:disabled)")
      found?.focus({ preventScroll: true })
      if (found) break
    }
    if (--tries > 0 && data.asked === window.nextreelFocus) timer = setTimeout(focus, 50)
    else if (tries === 0 && document.activeElement === document.body) {  // none of the widgets is there
      const heading = document.querySelector("h1")
      heading?.setAttribute("tabindex", "-1")
      heading?.focus({ preventScroll: true })
    }
  }
  const stop = () => { tries = 0; clearTimeout(timer) }
  addEventListener("pointerdown", stop, { once: true, capture: true })
  addEventListener("keydown", stop, { once: true, capture: true })
  timer = setTimeout(focus, 0)
}
""",
)


def on_enter(box: str, action: Callable[[str], None]) -> None:
    """Call `action` with the text when Enter is pressed in the text input of that key."""
    key = f"{box}-enter"

    def entered() -> None:
        action(str(st.session_state[key].entered))

    _ENTER(key=key, data={"box": box}, on_entered_change=entered, height=0)


def focus_on(*keys: str) -> None:
    """After this run, put the focus on the first widget of these keys that is there and can be used."""
    asked, _unused = st.session_state.get("focus", (0, ()))
    st.session_state.focus = (asked + 1, keys)


def place(key: str = "focus-keeper") -> None:
    """Render the component that moves the focus, after the widgets that may get it.

    main.py does this at the end of every run. A fragment with callbacks of its own does it as well.
    """
    asked, keys = st.session_state.get("focus", (0, ()))
    _FOCUS(key=key, data={"asked": asked, "keys": list(keys)}, height=0)
