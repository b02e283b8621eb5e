"""TMDB with the visitor's own key, which stays in the session; without one nothing is asked.

Session state: poster_key (tmdb.Key or None) · stories (tmdb.Wanted → tmdb.Story, of the films that were asked about).
"""

import streamlit as st

from pages.ui import words
from pages.ui.i18n import _
from recsys.data.dataset import Catalog
from recsys.serving.films import tmdb

KEPT = 50  # stories in a session


@st.cache_resource(show_spinner=False)
def service() -> tmdb.Posters:
    """One for all visitors: what it knows of films, never of people."""
    return tmdb.Posters()


def key() -> tmdb.Key | None:
    """The visitor's own key, else that of the machine."""
    return st.session_state.get("poster_key") or tmdb.key_of_host()


def attribution() -> None:
    """What TMDB asks everybody to say who shows what comes from there."""
    st.caption(_("This product uses the TMDB API but is not endorsed or certified by TMDB."))


def story(catalog: Catalog, item: int) -> None:
    """Plot and cast of a film, to read and for nothing else; nothing at all without a key."""
    if not (chosen := key()):
        return
    st.markdown("**" + _("What it is about") + "**")
    told = _told(chosen, tmdb.wanted(catalog, [item])[item])
    for line in words.story(told) if told else []:
        st.markdown(words.plain(line))
    if not told or not (told.plot or told.cast):
        st.caption(_("TMDB tells nothing about this film at the moment."))
    attribution()


def _told(chosen: tmdb.Key, film: tmdb.Wanted) -> tmdb.Story | None:
    """What TMDB tells of a film, once in a session; None where it does not answer."""
    kept = st.session_state.setdefault("stories", {})
    if film not in kept and (told := service().story(chosen, film)):
        kept[film] = told
        while len(kept) > KEPT:
            del kept[next(iter(kept))]  # the oldest
    return kept.get(film)
