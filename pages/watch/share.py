"""A link to the sequence, a picture of it, and files of it and of its predictions."""

from enum import Enum
from ipaddress import ip_address
from urllib.parse import urlencode, urlsplit

import streamlit as st

from pages.ui import cache, charts, session
from pages.ui import page as ui_page
from pages.ui.i18n import _
from pages.watch import words
from pages.watch.predictions import Answer
from recsys.data.dataset import Dataset, Film
from recsys.serving import export, picture


class Reach(Enum):
    """Who can open a link to this app."""

    COMPUTER = "computer"  # whoever sits at this computer
    NETWORK = "network"  # computers in the same network
    EVERYBODY = "everybody"


def popover(dataset: Dataset, films: tuple[int, ...], answer: Answer | None) -> None:
    """The link, the picture and the files, made when the popover is opened."""
    panel = ui_page.popover(_("Share"), "share", "share", disabled=not films, focus=("file-picture", "file-films-csv"))
    if not (panel.open and films):
        return
    with panel, ui_page.popover_content("share"):
        st.markdown("**" + _("A link") + "**")
        st.code(link(), language=None, wrap_lines=True)
        st.caption(words.SHARE_HELP[reach(st.context.url or "").value])
        if answer and answer.picks:
            st.markdown("**" + _("A picture") + "**")
            show_picture(dataset, films, answer)
        st.markdown("**" + _("Files") + "**")
        with st.container(horizontal=True, gap="small"):
            files(dataset, films, answer)
        st.caption(_("Letterboxd reads its file at letterboxd.com/import. Dates and ratings stay empty."))


def link() -> str:
    """The address that brings all of this back."""
    page = (st.context.url or "").partition("?")[0]
    return f"{page}?{urlencode(session.url_params())}"


def reach(url: str) -> Reach:
    """Who can open an address, as far as its host tells: localhost, a private address or name, or a public one."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return Reach.COMPUTER
    try:
        address = ip_address(host)
    except ValueError:  # a name
        return Reach.NETWORK if "." not in host or host.endswith((".local", ".lan", ".internal")) else Reach.EVERYBODY
    if address.is_loopback or address.is_unspecified:
        return Reach.COMPUTER
    return Reach.NETWORK if address.is_private or address.is_link_local else Reach.EVERYBODY


def show_picture(dataset: Dataset, films: tuple[int, ...], answer: Answer) -> None:
    """The picture, small, and the button that saves it."""
    known, model = dataset.catalog.films, cache.recommender_title(answer.predictor)
    picks = [
        (pick.film, "" if pick.probability is None else answer.figure(pick.probability))
        for pick in answer.picks[: picture.NEXT]
    ]
    made = drawn([known[film] for film in films], picks, sentences(len(films), model))
    titles = ", ".join(film.label for film, _unused in picks)
    st.image(
        made,
        width="stretch",
        alt=_(
            "A picture of your latest films, and of the five that {model} recommends next: {films}",
            model=model,
            films=titles,
        ),
    )
    st.download_button(
        _("Save the picture"),
        made,
        "nextreel.png",
        "image/png",
        key="file-picture",
        icon=":material/image:",
        type="tertiary",
        on_click="ignore",
    )
    st.caption(_("Your latest films and the next five, made on this machine."))


@st.cache_data(max_entries=32, show_spinner=False)
def drawn(films: list[Film], picks: list[tuple[Film, str]], said: picture.Words) -> bytes:
    """`picture.png`, kept."""
    return picture.png(films, picks, said, charts.fonts())


def sentences(n_films: int, model: str) -> picture.Words:
    """What the picture says in the visitor's language."""
    earlier = n_films - picture.WATCHED
    return picture.Words(
        watched=_("I watched"),
        earlier=_("and {n} before", n=earlier) if earlier > 0 else "",
        next=_("and next comes"),
        by=_("Predicted by {model} with NextReel", model=model),
        link="" if reach(st.context.url or "") is Reach.COMPUTER else link(),
    )


def files(dataset: Dataset, films: tuple[int, ...], answer: Answer | None) -> None:
    """The sequence and its predictions for other programs."""
    catalog = dataset.catalog
    picks, title = (answer.picks, answer.predictor.title) if answer else ([], "")
    made = (
        (_("Your films, CSV"), "films.csv", "text/csv", export.for_spreadsheet(export.films_csv(catalog, films))),
        (_("Predictions, CSV"), "next.csv", "text/csv", export.for_spreadsheet(export.predictions_csv(catalog, picks))),
        (_("Both, JSON"), "films.json", "application/json", export.as_json(dataset.name, title, catalog, films, picks)),
        (_("For Letterboxd"), "letterboxd.csv", "text/csv", export.letterboxd(catalog, films)),
    )
    for label, name, mime, data in made:
        file = f"nextreel-{name}"
        st.download_button(
            label, data, file, mime, key=f"file-{name}", icon=":material/download:", type="tertiary", on_click="ignore"
        )
