"""A tour of four steps above the first page: there on the first visit, gone for good when left, shown again when asked.

Session state: tour (the step, from 0; None when the tour is not shown) · tour_seen (whether the browser is to remember
that).
"""

import streamlit as st

from pages.ui import browser, words
from pages.ui.i18n import _

# What the steps speak of is framed as far as it is on the page; on a phone the pages are behind a button.
PLACES = (
    ".st-key-search",
    ".st-key-picks",
    ".st-key-sequence, .st-key-undo, .st-key-surprise",
    '[data-testid="stTopNavLink"], [data-testid="stExpandSidebarButton"]',
)
FRAME = "<style>:is({places}) {{ border-radius: 0.5rem; outline: 2px solid #1f9a94; outline-offset: 2px; }}</style>"


def begin() -> None:
    """Decide whether this is a first visit; whoever comes with a link has come for what it shows."""
    state = st.session_state
    if "tour" not in state:
        state.tour = None if st.query_params or browser.has_seen_tour() else 0
        state.tour_seen = False


def panel(page: st.Page) -> None:
    """The step that is shown, in a strip above the first page, or the button that brings the tour back."""
    state, first = st.session_state, page.url_path == ""  # so Streamlit calls the default page
    step = state.tour if first else None
    browser.tell(page.title, step, state.tour_seen)
    if step is not None:
        _strip(step)
        st.html(FRAME.format(places=PLACES[step]))
    elif first:
        st.button(_("Take the tour"), key="tour-again", type="tertiary", icon=":material/tour:", on_click=go, args=(0,))


def _strip(step: int) -> None:
    """One step, in words, and where to go from it."""
    last = step == len(words.TOUR_STEPS) - 1
    title, text = words.TOUR_STEPS[step]
    number = _("{n} of {all}", n=step + 1, all=len(words.TOUR_STEPS))
    with st.container(key="tour", horizontal=True, vertical_alignment="center", gap="small", border=True):
        st.html(f'<p class="nr-tour" role="status"><span class="nr-quiet">{number}</span> <b>{title}</b> {text}</p>')
        onward = _("Done") if last else _("Next")
        st.button(
            onward, key="tour-next", type="primary", on_click=leave if last else go, args=() if last else (step + 1,)
        )
        if step:
            st.button(_("Back"), key="tour-back", on_click=go, args=(step - 1,))
        if not last:
            st.button(_("Skip the tour"), key="tour-skip", type="tertiary", on_click=leave)


def go(step: int) -> None:
    """Show a step."""
    st.session_state.tour = step


def leave() -> None:
    """Show the tour no more, on later visits too."""
    st.session_state.tour, st.session_state.tour_seen = None, True
