"""The page Compare: the answers of several recommenders to the visitor's list of films.

Session state: compare_tab (label of the open tab) · compare_tab_index (its index).
"""

import streamlit as st

from pages.compare import answers, blend, film_rank, hidden_film, lists, order, order_demo
from pages.ui import errors, page, session
from pages.ui.i18n import _
from recsys.data.dataset import Dataset


@st.fragment
@errors.show_errors()
def show_tabs(dataset: Dataset, films: tuple[int, ...], names: list[str], k: int) -> None:
    """Render the tabs. Only the content of the open tab is computed.

    Args:
        dataset: The open data set.
        films: Film numbers of the visitor's list.
        names: Names of the compared recommenders.
        k: Number of films in each list.
    """
    state = st.session_state
    show_by_label = {
        _("The lists"): lambda: lists.show(dataset, films, names, k),
        _("Rank of a film"): lambda: film_rank.show(dataset, films, names),
        _("Effect of order"): lambda: order.show(dataset, films, names, k),
        _("Hide a film"): lambda: hidden_film.show(dataset, films, names),
        _("Mix two"): lambda: blend.show(dataset, films, names, k),
    }
    labels = list(show_by_label)
    # Streamlit stores the label of the open tab. After a change of language, no tab has this label.
    if state.get("compare_tab", labels[0]) not in labels:
        state.compare_tab = labels[state.get("compare_tab_index", 0)]
    tabs = st.tabs(labels, on_change="rerun", key="compare_tab")
    open_index = next((index for index, tab in enumerate(tabs) if tab.open), 0)
    state.compare_tab_index = open_index
    with tabs[open_index]:
        show_by_label[labels[open_index]]()


with errors.show_errors():
    dataset = page.header(_("Compare"), _("See how several recommenders respond to the same films."))
    if dataset:
        order_demo.show(dataset, session.films(dataset))
        if films := page.require_films(
            dataset, _("There is nothing to compare yet. Start with one of these lists, or add your own films.")
        ):
            names, k = answers.select_recommenders(dataset)
            if len(names) < 2:
                st.info(_("Choose at least two recommenders to compare."))
            else:
                show_tabs(dataset, films, names, k)
