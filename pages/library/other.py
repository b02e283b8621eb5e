"""The films of the one to watch with: searched for, out of a link, or those of a real person.

Session state: other (a data set and original film ids, oldest first, as `together.LIST` has them; "": nobody yet) ·
other_note (what was wrong with the link that was pasted last).
"""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from pages.ui import browser, cache, film_search, format, page
from pages.ui.i18n import _, localize, ngettext
from recsys.data import datasets
from recsys.data.dataset import Catalog, Dataset
from recsys.errors import Message, RecsysError
from recsys.serving import history, together
from recsys.serving.films.search import Found

LINK, NUMBER = "other_link_open", "other_number_open"


def films(dataset: Dataset) -> tuple[int, ...]:
    """Their films as `Catalog.films` numbers them; those of another data set are found again by title."""
    name, _unused, ids = st.session_state.setdefault("other", "").rpartition(".")  # a name may have dots in it
    if not name:
        return ()
    notices: Sequence[Message | str]
    if name == dataset.name:
        found, notices = history.from_query({"s": ids}, dataset.catalog)
    elif name in datasets.prepared_names():
        found, notices = elsewhere(name, ids, dataset)
    else:
        found, notices = (
            [],
            [_("The films of the other are of {data}, which is not on this machine.", data=cache.dataset_title(name))],
        )
    for notice in notices:
        st.caption(format.escape_markdown(localize(notice)))
    return tuple(found)


def elsewhere(name: str, ids: str, to: Dataset) -> tuple[list[int], list[Message | str]]:
    """Films of one data set in another, by title, and a sentence where some are not there."""
    catalog, index = cache.dataset(name).catalog, cache.title_index(to.name)
    items, link_notices = history.from_query({"s": ids}, catalog)
    notices: list[Message | str] = [*link_notices]
    found = [film.item for item in items if (film := index.exact(catalog.films[item].label))]
    if lost := len(items) - len(found):
        notices.append(
            ngettext(
                "{n} of their {all} films is not in {data}.",
                "{n} of their {all} films are not in {data}.",
                lost,
                all=len(items),
                data=cache.dataset_title(to.name),
            )
        )
    return list(dict.fromkeys(found)), notices


def choose(dataset: Dataset, now: tuple[int, ...]) -> None:
    """Their films, each to be taken out, and the ways to more of them."""
    film_search.search_box(
        dataset.name,
        _("Add a film of theirs"),
        "other_search",
        lambda film: offer(dataset, now, film),
        limit=6,
        on_enter=lambda film: add(dataset, now, film),
    )
    if now:
        titles = [film.label for film in dataset.catalog.films]
        st.session_state.other_films = list(now)
        st.multiselect(
            _("Their films, oldest first"),
            now,
            select_all=False,
            format_func=titles.__getitem__,
            key="other_films",
            wrap=True,
            on_change=lambda: take(dataset.name, dataset.catalog, st.session_state.other_films),
        )
    with st.container(horizontal=True, gap="small"):
        st.button(_("A real viewer"), key="other-random", icon=":material/casino:", on_click=draw, args=(dataset,))
        by_number(dataset)
        by_link()


def take(name: str, catalog: Catalog, items: Sequence[int]) -> None:
    """Let these be their films."""
    st.session_state.other = together.listed(name, [catalog.films[item].movie_id for item in items])


def offer(dataset: Dataset, now: tuple[int, ...], film: Found) -> None:
    """One film that was found, to add with a click; greyed out where it is among theirs already."""
    reason = _("already among theirs") if film.item in now else ""
    film_search.film_button(film, f"other-{film.movie_id}", "add", add, (dataset, now, film), reason)


def add(dataset: Dataset, now: tuple[int, ...], film: Found) -> None:
    """Add a film that was found, empty the search box, and stay in it for the next one."""
    if film.item not in now:
        take(dataset.name, dataset.catalog, [*now, film.item])
    st.session_state.other_search = ""
    browser.focus_on("other_search")


def draw(dataset: Dataset) -> None:
    """A real person; the session's seed and the number of the draw decide who."""
    state = st.session_state
    viewer = history.random_viewer(dataset, np.random.default_rng((state.seed, state.draws)))
    state.draws += 1
    if viewer:
        take(dataset.name, dataset.catalog, viewer.items)


def by_number(dataset: Dataset) -> None:
    """The films of the person with a number of the ratings file."""
    panel = page.popover(_("By number"), NUMBER, "tag", focus=("other_person",))
    if panel.open:
        with panel, page.popover_content(NUMBER):
            about = ngettext(
                "{data} has {n:,} person. Their newest films replace those that are there.",
                "{data} has {n:,} people. Their newest films replace those that are there.",
                dataset.n_users,
                data=cache.dataset_title(dataset.name),
            )
            if viewer := page.user_input(dataset, "other_person", about):
                st.button(
                    _("Take their films"),
                    key="other-take",
                    icon=":material/person:",
                    on_click=take,
                    args=(dataset.name, dataset.catalog, viewer.items),
                )


def by_link() -> None:
    """The films of a link of this app, which the other one has copied."""
    panel = page.popover(
        _("A link"),
        LINK,
        "link",
        _("Paste what the other one has copied from their address bar, or from Share."),
        focus=("other_link",),
    )
    if panel.open:
        with panel, page.popover_content(LINK):
            st.text_input(
                _("Link to their films"), key="other_link", placeholder=_("https://…?s=1-260"), on_change=take_link
            )
            if note := st.session_state.get("other_note"):
                st.warning(format.escape_markdown(note), icon=":material/link_off:")


def take_link() -> None:
    """Read the films of a link; what is wrong with it is said below it."""
    state = st.session_state
    typed = (state.other_link or "").strip()
    try:
        state.other = together.from_link(typed) if typed else state.other
        state.other_note = ""
    except RecsysError:
        state.other_note = _("This is no link to a list of films; copy it from the address bar, or from Share.")
