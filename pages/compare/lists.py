"""The tab of Compare with the lists of the recommenders side by side, and their overlap."""

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.compare import common
from pages.ui import cache, charts, errors, film_cards, format, session
from pages.ui.i18n import _
from recsys.data.dataset import Dataset
from recsys.serving.insight import list_comparison
from recsys.serving.recommend import Recommendation, Request, recommend

Lists = dict[str, list[Recommendation]]  # title of a recommender → its list


def show(dataset: Dataset, films: tuple[int, ...], names: list[str], k: int) -> None:
    """Show a column for each recommender, then the overlap of the lists.

    A recommender that is not ready shows in its column how to get it.
    """
    slots = show_headings(names)
    request = Request(films, k, ratings=session.ratings(dataset))
    get_predictor = common.start_fits(dataset, names)
    lists: Lists = {}
    for name, (title, slot) in zip(names, slots.items(), strict=True):
        with slot.container(), errors.show_errors():
            if predictor := get_predictor(name):
                lists[title] = recommend(predictor, request)
    items_by_title = {title: [pick.item for pick in picks] for title, picks in lists.items()}
    list_counts = list_comparison.count_lists_per_item(items_by_title)
    for title, picks in lists.items():
        slots[title].html(film_cards.compared_list(picks, list_counts, n_lists=len(lists)))
    if len(lists) > 1:
        show_overlap(dataset, lists, items_by_title, k)


def show_headings(names: list[str]) -> dict[str, DeltaGenerator]:
    """Show a column with a heading for each recommender. Return title → the empty element below the heading."""
    slots = {}
    with st.grid("auto", min_column_width=300, gap=("large", "medium")):
        for name in names:
            recommender = cache.all_recommenders()[name]
            title, family = cache.recommender_title(recommender), format.escape_markdown(_(recommender.family))
            with st.container(gap="small"):
                st.markdown(f"**{format.escape_markdown(title)}**  \n:small[:gray[{family}]]")
                slots[title] = st.empty()
    return slots


def show_overlap(dataset: Dataset, lists: Lists, items_by_title: dict[str, list[int]], k: int) -> None:
    """Show the films in all lists, the number of common films of each pair of lists, and the films in a single list."""
    st.header(_("How much the lists agree"))
    catalog_films = dataset.catalog.films
    list_counts = list_comparison.count_lists_per_item(items_by_title)
    shared_titles = ", ".join(catalog_films[item].label for item, n in list_counts.items() if n == len(lists))
    sentences = [_("In every list: {films}.", films=shared_titles) if shared_titles else _("No film is in every list.")]
    if closest := list_comparison.closest_lists(items_by_title):
        left, right, n = closest
        text = _("The closest lists: {left} and {right} share {n} of {k} films.", left=left, right=right, n=n, k=k)
        sentences.append(text)
    st.markdown(format.escape_markdown(" ".join(sentences)))
    shared_counts = list_comparison.shared_counts(items_by_title)
    titles = pd.Index([format.escape_markdown(title) for title in shared_counts], name=_("Recommender"))
    counts = shared_counts.set_axis(titles).set_axis(titles, axis=1)
    diagonal = np.eye(len(counts), dtype=bool)
    cells = counts.astype(str).mask(diagonal, "")
    st.table(common.shade(cells, (counts / k).mask(diagonal)), alt=_("Number of films that two lists share"))
    st.markdown("**" + _("In one list only") + "**")
    unique_films = [
        format.escape_markdown(" · ".join(catalog_films[item].label for item in items) or "–")
        for items in list_comparison.unique_items(items_by_title).values()
    ]
    alt = _("Films that are in one list only")
    st.table(pd.DataFrame({_("Films"): unique_films}, titles), border="horizontal", hide_header=True, alt=alt)
    with st.container(horizontal=True):
        charts.download_buttons(list_comparison.overlap_table(lists), "lists", _("What comes next"), _("Lists as CSV"))
        charts.download_buttons(
            shared_counts.rename_axis("recommender").reset_index(),
            "overlap",
            _("How much the lists agree"),
            _("Overlap as CSV"),
        )
