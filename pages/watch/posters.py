"""The posters of The Movie Database (TMDB) on Watch next, and the popover for the visitor's TMDB key."""

from collections.abc import Sequence

import streamlit as st

from pages.ui import explanation
from pages.ui import page as ui_page
from pages.ui.i18n import _, localize
from pages.ui.visitor import visitor
from pages.ui.widgets import button
from recsys.data.dataset import Catalog
from recsys.errors import RecsysError
from recsys.serving import tmdb
from recsys.serving.tmdb import ServiceStatus


def poster_urls(catalog: Catalog, items: Sequence[int]) -> dict[int, str]:
    """Return item → poster URL, for the posters that TMDB sends within a short time. {} without a key.

    A caller that shows posters must also show `explanation.tmdb_attribution`.
    """
    return explanation.tmdb_service().poster_urls(explanation.tmdb_key(), tmdb.film_refs(catalog, items))


def popover() -> None:
    """Show the popover for the TMDB key."""
    panel = ui_page.popover(_("Posters"), "posters", "image")
    if not panel.open:
        return
    with panel, ui_page.popover_content("posters"):
        text = _(
            "With your own TMDB key, this app shows posters, plots and casts. The key is only kept until you "
            "close the page."
        )
        st.caption(text)
        key = explanation.tmdb_key()
        if key and explanation.tmdb_service().service_status(key) is not ServiceStatus.KEY_REJECTED:
            _show_status(key)
        else:
            _show_key_field()
        explanation.tmdb_attribution()


def _show_status(key: tmdb.Key) -> None:
    """Show whether posters are available, and a button that deletes the visitor's key."""
    is_visitors_key = st.session_state.get("poster_key") is not None  # False: it is the key of the server
    if explanation.tmdb_service().service_status(key) is ServiceStatus.PAUSED:
        text = _("TMDB is not answering at the moment. Posters will appear when it does.")
        st.warning(text, icon=":material/hourglass_empty:")
    else:
        text = _("Posters are on.") if is_visitors_key else _("Posters are on, using this server's key.")
        st.success(text, icon=":material/check:")

    def delete() -> None:
        st.session_state.poster_key = None
        visitor().flash.pop("poster_key", None)

    if is_visitors_key:
        button(_("Delete the key"), "poster-forget", "delete", delete)


def _show_key_field() -> None:
    """Show the field for a key, and the error of the last typed key, if any."""
    st.text_input(
        _("TMDB API key or read access token"),
        key="typed_poster_key",
        type="password",
        autocomplete="off",
        help=_(
            "Free for personal use: themoviedb.org, Settings, API. A token begins with eyJ. A key has 32 characters."
        ),
        placeholder=_("Paste it and press Enter"),
        on_change=_store_key,
    )
    if note := visitor().flash.get("poster_key"):
        st.warning(localize(note), icon=":material/key_off:")


def _store_key() -> None:
    """Store the typed key, and clear the field. If the key is invalid or TMDB refuses it, store an error instead."""
    state = st.session_state
    text = state.typed_poster_key or ""
    key = tmdb.parse_key(text)
    state.typed_poster_key, state.poster_key = "", None
    flash = visitor().flash
    flash.pop("poster_key", None)
    if key and explanation.tmdb_service().check_key(key) is ServiceStatus.KEY_REJECTED:
        flash["poster_key"] = RecsysError("TMDB refuses this key. Check that you copied all of it.")
    elif key:
        state.poster_key = key
    elif text.strip():
        flash["poster_key"] = RecsysError(
            "This is not a TMDB key (32 characters, each 0–9 or a–f) or token (begins with eyJ)."
        )
