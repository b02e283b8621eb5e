"""The tour of the app: four steps above Watch next, on the first visit and on request.

Session state:
    tour: Index of the shown step, or None if the tour is not shown.
    tour_closed: Whether the visitor closed the tour in this session. The browser then gets the cookie.
"""

import streamlit as st

from pages.ui import browser
from pages.ui.i18n import N_, _
from pages.ui.widgets import button

STEPS = (  # title and text of each step
    (
        N_("Your films."),
        N_("Search for films and add them, or start with a ready-made list. They can be in any order."),
    ),
    (N_("What comes next."), N_("The films you are likely to watch next. Add one, or open its menu to see why.")),
    (
        N_("Change your list."),
        N_(
            "Move or remove a film and see new predictions. With “In the order I watched them”, the latest films count "
            "most. Undo, or your browser's Back button, restores your list."
        ),
    ),
    (N_("More pages."), N_("Compare recommenders, see how accurate they are, and look inside the network.")),
)
TARGETS = (  # CSS selector of the elements that each step outlines, if they are on the page
    ".st-key-search",
    ".st-key-picks",
    ".st-key-sequence, .st-key-undo, .st-key-surprise",
    '[data-testid="stTopNavLink"], [data-testid="stExpandSidebarButton"]',  # on a phone, the button of the navigation
)
OUTLINE = (
    "<style>:is({target}) {{ border-radius: 0.5rem; outline: 2px solid #1f9a94; outline-offset: 2px; "
    "scroll-margin-top: 19rem; }}</style>"  # space for the text of the step, because the script scrolls to the target
)


def begin() -> None:
    """Start the tour on a first visit, unless the visitor has opened a link to a list."""
    state = st.session_state
    if "tour" not in state:
        state.tour = None if st.query_params or browser.has_seen_tour() else 0
        state.tour_closed = False


def panel(page: st.Page) -> None:
    """Show the current step of the tour or the button that starts it, if the page is Watch next."""
    state, is_watch_next = st.session_state, page.url_path == ""  # the default page has no path
    step = state.tour if is_watch_next else None
    browser.place_page_script(page.title, state.tour_closed, "" if step is None else TARGETS[step])
    if step is not None:
        _show_step(step)
    elif is_watch_next:
        button(_("Take the tour"), "tour-again", "tour", go_to, 0, type="tertiary")


def _show_step(step: int) -> None:
    """Show the text and the buttons of a step, and outline its targets."""
    title, text = map(_, STEPS[step])
    position, is_last = _("{n} of {all}", n=step + 1, all=len(STEPS)), step == len(STEPS) - 1
    with st.container(key="tour", horizontal=True, vertical_alignment="center", gap="small", border=True):
        st.html(f'<p class="nr-tour" role="status"><span class="nr-quiet">{position}</span> <b>{title}</b> {text}</p>')
        if is_last:
            st.button(_("Done"), key="tour-next", type="primary", on_click=close)
        else:
            st.button(_("Next"), key="tour-next", type="primary", on_click=go_to, args=(step + 1,))
        if step:
            st.button(_("Back"), key="tour-back", on_click=go_to, args=(step - 1,))
        if not is_last:
            st.button(_("Skip the tour"), key="tour-skip", type="tertiary", on_click=close)
    st.html(OUTLINE.format(target=TARGETS[step]))


def go_to(step: int) -> None:
    """Show a step."""
    st.session_state.tour = step
    browser.focus_on("tour-next")


def close() -> None:
    """Close the tour. It does not start again on later visits."""
    st.session_state.tour, st.session_state.tour_closed = None, True
    browser.focus_on("tour-again")
