"""Posters from TMDB with the visitor's own key, and where it is typed.

Session state: poster_note (a sentence about the key that was typed last).
"""

from collections.abc import Sequence

import streamlit as st

from pages.ui import explanation
from pages.ui.i18n import _
from recsys.data.dataset import Catalog
from recsys.serving.films import tmdb
from recsys.serving.films.tmdb import Health


def addresses(catalog: Catalog, items: Sequence[int]) -> dict[int, str]:
    """Item → address of its poster at TMDB; {} at once without a key, and after two seconds at the latest.

    What comes later is there in the next run. Whoever shows a poster also calls `at_tmdb.attribution`.
    """
    chosen = explanation.tmdb_key()
    return explanation.tmdb_service().addresses(chosen, tmdb.wanted(catalog, items)) if chosen else {}


def pictures(catalog: Catalog, items: Sequence[int]) -> dict[int, str]:
    """Item → the address of its picture that somebody's own set gives."""
    found = {item: catalog.images.get(catalog.films[item].movie_id) for item in items}
    return {item: address for item, address in found.items() if address}


def settings() -> None:
    """A popover in which a key is typed, checked and forgotten; empty until it is opened."""
    with st.popover(_("Posters"), icon=":material/image:", key="posters", on_change="rerun") as opened:
        if not opened.open:
            return
        st.caption(
            _(
                "Posters come from TMDB, with a key of your own; so do the plot and the cast, where you ask "
                "why a film is recommended. The key stays in this session and is forgotten with it."
            )
        )
        chosen = explanation.tmdb_key()
        if chosen and explanation.tmdb_service().health(chosen) is not Health.REFUSED:
            in_use(chosen)
        else:
            ask()
        explanation.tmdb_attribution()


def in_use(chosen: tmdb.Key) -> None:
    """How the key in use is doing, and the way to forget it."""
    own = st.session_state.get("poster_key") is not None
    if explanation.tmdb_service().health(chosen) is Health.RESTING:
        st.warning(
            _("TMDB does not answer at the moment. Drawn cards stand in, and posters come once it does."),
            icon=":material/hourglass_empty:",
        )
    else:
        st.success(
            _("Posters are on.") if own else _("Posters are on, with the key of this server."), icon=":material/check:"
        )
    if own:
        st.button(_("Forget the key"), key="poster-forget", icon=":material/delete:", on_click=forget)


def ask() -> None:
    """The field for a key, and what was wrong with the last one."""
    st.text_input(
        _("TMDB key or read access token"),
        key="typed_poster_key",
        type="password",
        autocomplete="off",
        help=_("Free for personal use: themoviedb.org, Settings, API. A token begins with eyJ; a key has 32 letters."),
        placeholder=_("Paste it and press Enter"),
        on_change=take_key,
    )
    if note := st.session_state.get("poster_note"):
        st.warning(note, icon=":material/key_off:")


def take_key() -> None:
    """Check what was typed; keep it unless TMDB refuses it, and empty the field."""
    state = st.session_state
    typed = state.typed_poster_key or ""
    chosen = tmdb.key(typed)
    state.typed_poster_key, state.poster_note, state.poster_key = "", "", None
    if chosen is None:
        state.poster_note = (
            _("That is neither a TMDB token, which begins with eyJ, nor a key of 32 letters from 0 to f.")
            if typed.strip()
            else ""
        )
    elif explanation.tmdb_service().check(chosen) is Health.REFUSED:
        state.poster_note = _("TMDB refuses this key. Check that it was copied whole.")
    else:
        state.poster_key = chosen


def forget() -> None:
    """Drop the visitor's key."""
    st.session_state.poster_key, st.session_state.poster_note = None, ""
