"""The frame around every page: settings, logo, style, navigation."""

import streamlit as st

from pages.shared import words
from recsys.paths import ASSETS

STYLE = ASSETS / "style"
WATCH_NEXT = "1_watch_next.py"
PAGES = (  # beside visit.py; Streamlit leaves the number out of a page's address, and no Python module begins with one
    (WATCH_NEXT, words.WATCH, "movie", words.WATCH_HELP),
    ("2_compare.py", words.COMPARE, "view_column", words.COMPARE_HELP),
    ("3_evaluation.py", words.EVALUATION, "leaderboard", words.EVALUATION_HELP),
    ("4_inside.py", words.INSIDE, "neurology", words.INSIDE_HELP),
)


def frame() -> st.Page:
    """Set the frame up; returns the page to run."""
    st.set_page_config(page_icon=str(STYLE / "mark.svg"), layout="wide", initial_sidebar_state="collapsed")
    st.logo(str(STYLE / "logo.svg"))
    st.html(STYLE / "nextreel.css")
    pages = [
        st.Page(script, title=title, icon=f":material/{icon}:", help=what_for, default=script == WATCH_NEXT)
        for script, title, icon, what_for in PAGES
    ]
    page = st.navigation(pages, position="top")
    st.set_page_config(words.TAB.format(page=page.title, app=words.APP))  # after the icon, or pages set their own
    return page
