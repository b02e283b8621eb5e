"""The Share popover of Watch next: a link to the visitor's films, a picture of the films, and files."""

from enum import Enum
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlencode, urlsplit

import streamlit as st

from pages.ui import cache, charts, session
from pages.ui import page as ui_page
from pages.ui.i18n import N_, _
from pages.ui.visitor import MARKS, visitor
from pages.watch.recommendations import RecommendationList
from recsys.data.dataset import Dataset
from recsys.serving import export, share_image


class Reach(Enum):
    """The people who can open a link to this app."""

    COMPUTER = "computer"
    NETWORK = "network"
    EVERYBODY = "everybody"


REACH_TEXTS = {
    Reach.COMPUTER: N_("This link only works on this computer. Bookmark it, or send a file to share your films."),
    Reach.NETWORK: N_("This link only works on your network. Send a file to people elsewhere."),
    Reach.EVERYBODY: N_("Anyone with this link sees your films in this order."),
}
# widget keys in order of preference for the focus. In CSS classes, "-" replaces ".", so here too.
FOCUS_KEYS = "file-picture", "file-films-csv"
_cached_png = lru_cache(maxsize=32)(share_image.share_png)


def popover(dataset: Dataset, films: tuple[int, ...], recommendation_list: RecommendationList | None) -> None:
    """Show the popover. Its content is only computed while it is open.

    recommendation_list: None: the recommender has failed, so there are no recommendations to share.
    """
    panel = ui_page.popover(_("Share"), "share", icon="share", disabled=not films, focus=FOCUS_KEYS)
    if not (panel.open and films):
        return
    with panel, ui_page.popover_content("share"):
        st.markdown("**" + _("Link") + "**")
        st.code(_link(), language=None, wrap_lines=True)
        st.caption(_(REACH_TEXTS[reach(st.context.url or "")]))
        if recommendation_list and recommendation_list.picks:
            st.markdown("**" + _("Picture") + "**")
            _show_picture(dataset, films, recommendation_list)
        st.markdown("**" + _("Files") + "**")
        with st.container(horizontal=True, gap="small"):
            _file_buttons(dataset, films, recommendation_list)
        st.caption(_("Import the Letterboxd file at letterboxd.com/import. It has no dates and no ratings."))


def _link() -> str:
    """Return the URL of the page, with parameters that restore the visitor's films and settings."""
    page = (st.context.url or "").partition("?")[0]
    return f"{page}?{urlencode(session.url_params())}"


def reach(url: str) -> Reach:
    """Return who can open a URL. It depends on the host: localhost, a private address, or a public address."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return Reach.COMPUTER
    try:
        address = ip_address(host)
    except ValueError:  # the host is a name
        return Reach.NETWORK if "." not in host or host.endswith((".local", ".lan", ".internal")) else Reach.EVERYBODY
    if address.is_loopback or address.is_unspecified:
        return Reach.COMPUTER
    return Reach.NETWORK if address.is_private else Reach.EVERYBODY


def _show_picture(dataset: Dataset, films: tuple[int, ...], recommendation_list: RecommendationList) -> None:
    """Show the picture of the latest films and recommendations, and a button that saves it."""
    model = cache.recommender_title(recommendation_list.predictor)
    watched = tuple(dataset.catalog.films[film] for film in films)
    picks = tuple(
        (pick.film, "" if pick.probability is None else recommendation_list.format_probability(pick.probability))
        for pick in recommendation_list.picks[: share_image.MAX_RECOMMENDED]
    )
    png = _cached_png(watched, picks, picture_texts(len(films), model), charts.fonts())
    titles = ", ".join(film.label for film, _probability in picks)
    alt = _("Picture of your latest films and the next five from {model}: {films}", model=model, films=titles)
    st.image(png, width="stretch", alt=alt)
    charts.file_button(_("Save the picture"), png, "nextreel.png", "file-picture")
    st.caption(_("Your latest films and the next five recommendations."))


def picture_texts(n_films: int, model: str) -> share_image.ShareTexts:
    """Return the texts in the picture. A link that only works on this computer is left out. model: Title."""
    n_earlier = n_films - share_image.MAX_WATCHED
    return share_image.ShareTexts(
        watched_heading=_("I watched"),
        earlier_note=_("and {n} more before these", n=n_earlier) if n_earlier > 0 else "",
        next_heading=_("and what comes next"),
        recommender_line=_("Recommended by {model} with NextReel", model=model),
        link="" if reach(st.context.url or "") is Reach.COMPUTER else _link(),
    )


def _file_buttons(dataset: Dataset, films: tuple[int, ...], recommendation_list: RecommendationList | None) -> None:
    """Show the buttons that download the visitor's lists and the recommendations."""
    catalog = dataset.catalog
    picks, title = (recommendation_list.picks, recommendation_list.predictor.title) if recommendation_list else ([], "")
    current = visitor().current
    marked = {mark: getattr(current, mark) for mark in MARKS}
    files: list[tuple[str, str, str | bytes]] = [
        (_("Your films, CSV"), "films.csv", export.spreadsheet_bytes(export.films_csv(catalog, films))),
        (_("Predictions, CSV"), "next.csv", export.spreadsheet_bytes(export.recommendations_csv(catalog, picks))),
        (_("All, JSON"), "films.json", export.lists_json(dataset.name, title, catalog, films, picks, marked)),
        (_("For Letterboxd"), "letterboxd.csv", export.letterboxd_csv(catalog, films)),
    ]
    if current.later:
        files.append((_("Watch later, CSV"), "later.csv", export.letterboxd_csv(catalog, current.later)))
    for label, name, content in files:
        charts.file_button(label, content, f"nextreel-{name}", f"file-{name}")
