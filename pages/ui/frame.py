"""The frame around every page: settings, logo, style, navigation."""

import streamlit as st

from pages.ui import words
from pages.ui.i18n import _
from recsys.paths import ASSETS, is_public

STYLE = ASSETS / "style"
WATCH_NEXT, TRAIN = "1_watch_next.py", "5_train.py"
PAGES = {  # beside main.py: script → icon, and its name in `words`, where NAME_HELP says what it is for
    # Streamlit leaves the number out of a page's address, and no Python module begins with one
    WATCH_NEXT: ("movie", "WATCH"),
    "2_compare.py": ("view_column", "COMPARE"),
    "3_evaluation.py": ("leaderboard", "EVALUATION"),
    "4_inside.py": ("neurology", "INSIDE"),
    "5_library.py": ("video_library", "LIBRARY"),
    TRAIN: ("model_training", "TRAIN"),
}


def frame() -> st.Page:
    """Set the frame up; returns the page to run."""
    st.set_page_config(page_icon=str(STYLE / "mark.svg"), layout="wide", initial_sidebar_state="collapsed")
    st.logo(str(STYLE / "logo.svg"))
    st.html(STYLE / "nextreel.css")
    pages = [
        st.Page(
            script,
            title=getattr(words, name),
            icon=f":material/{icon}:",
            help=getattr(words, f"{name}_HELP"),
            default=script == WATCH_NEXT,
        )
        for script, (icon, name) in PAGES.items()
        if script != TRAIN or not is_public()
    ]
    page = st.navigation(pages, position="top")
    st.set_page_config(
        _("{page} · {app}", page=page.title, app=_("NextReel"))
    )  # after the icon, or pages set their own
    return page
