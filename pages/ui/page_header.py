"""The head of a page about a watch sequence: title, choice of the data set, and the films as they are."""

from collections.abc import Sequence

import streamlit as st

from pages.ui import dataset_menu, enriching, film_cards, getting, keyboard, loaders, session, words
from pages.ui.frame import WATCH_NEXT
from pages.ui.i18n import _, localize, say
from recsys.data.dataset import Dataset
from recsys.serving import history

IN_A_LINE = 8  # films of a sequence that are named in one line


def open_page(title: str, what_for: str) -> Dataset | None:
    """Title, what the page is for, and the choice of data; None when the data cannot be had yet."""
    head, choice = st.columns([2, 1], vertical_alignment="top")
    with head:
        st.title(title)
        st.caption(what_for)
    with choice:
        dataset_menu.choose()
    getting.news()
    enriching.news()
    return dataset_menu.opened(st.session_state.data)


def show_notices() -> None:
    """What could not be read from the address or found in this data set."""
    for notice in st.session_state.notices:
        st.warning(words.plain(localize(notice)), icon=":material/link_off:")


def ask_for_films(dataset: Dataset, first_add: str) -> tuple[int, ...]:
    """The visitor's films, shown with the way back to change them; where there are none, examples instead.

    first_add: what to do first, as a sentence.
    """
    now = session.films(dataset)
    show_notices()
    if now:
        in_one_line(dataset, now)
        st.page_link(WATCH_NEXT, label=_("Change the films"), icon=":material/edit:")
    else:
        st.info(first_add, icon=":material/playlist_add:")
        choose_example(dataset)
    return now


def in_one_line(dataset: Dataset, films: Sequence[int], about: str = "") -> None:
    """Some films with an arrow from each to the next; of many, the newest."""
    titles = [words.plain(dataset.catalog.films[item].label) for item in films]
    shown = titles if len(titles) <= IN_A_LINE else ["…", *titles[-IN_A_LINE:]]
    st.markdown(":gray[" + words.plain(about or _("Your films, oldest first")) + f":] {' → '.join(shown)}")


def choose_example(dataset: Dataset) -> None:
    """Buttons that fill the sequence with a ready-made one."""
    for example in history.examples(loaders.title_index(dataset.name)):
        films = [dataset.catalog.films[item] for item in example.items]
        with st.container(border=True, gap="xsmall"):
            st.html(film_cards.example(example, films))
            st.button(
                _("Start with these *films: {example}*", example=say(example.name)),
                key=f"take-{example.name}",
                icon=":material/playlist_add:",
                on_click=take_example,
                args=(example.items,),
            )


def take_example(items: Sequence[int]) -> None:
    """Make a ready-made list the visitor's. Its button disappears, so the focus goes to the search box or the title."""
    session.change(items)
    keyboard.focus_on("search")
