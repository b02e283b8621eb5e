"""The page Compare: the answers of several recommenders to the visitor's list of films.

Session state: compare_section (key of the open tab in COMPARE_TABS) · compare_tab (its title).
"""

import streamlit as st

from pages.compare import common, film_rank, hidden_film, lists, mixture, order, order_demo
from pages.ui import errors, page, session
from pages.ui.i18n import _
from pages.ui.url import COMPARE_TABS
from pages.ui.visitor import visitor
from recsys.data.dataset import Dataset


@st.fragment
@errors.show_errors()
def show_tabs(dataset: Dataset, films: tuple[int, ...], names: list[str], k: int) -> None:
    """Render the tabs. Only the content of the open tab is computed and rendered.

    Args:
        dataset: The open data set.
        films: Film numbers of the visitor's list.
        names: Names of the compared recommenders.
        k: Number of films in each list.
    """
    state = st.session_state
    show_tab = {
        "lists": lambda: lists.show(dataset, films, names, k),
        "rank": lambda: film_rank.show(dataset, films, names),
        "order": lambda: order.show(dataset, films, names, k),
        "hide": lambda: hidden_film.show(dataset, films, names),
        "blend": lambda: mixture.show(dataset, films, names, k),
    }
    keys = {_(title): key for key, title in COMPARE_TABS.items()}  # title in the visitor's language → key

    def store_key() -> None:
        state.compare_section = keys[state.compare_tab]

    open_key = state.setdefault("compare_section", next(iter(COMPARE_TABS)))
    # Streamlit stores the title in the language of the last run, and deletes it when another page opens.
    state.compare_tab = _(COMPARE_TABS[open_key])
    tabs = st.tabs(list(keys), on_change=store_key, key="compare_tab")
    session.write_url()  # main.py does not run again when a tab is chosen
    with tabs[list(COMPARE_TABS).index(open_key)]:
        show_tab[open_key]()


with errors.show_errors():
    dataset = page.header(_("Compare"), _("See how several recommenders respond to the same films."))
    if dataset:
        order_demo.show(dataset, visitor().current.films)
        if films := page.require_films(
            dataset, _("There is nothing to compare yet. Start with one of these lists, or add your own films.")
        ):
            names, k = common.select_recommenders(dataset)
            if len(names) < 2:
                st.info(_("Choose at least two recommenders to compare."))
            else:
                show_tabs(dataset, films, names, k)
