"""The page Inside the model: what a model computes from the visitor's films, in five sections."""

import numpy as np
import streamlit as st

from pages.inside import attention, film_map, lesson, masked_films, mean_attention
from pages.ui import errors, page, session
from pages.ui.format import escape_markdown
from pages.ui.i18n import _
from pages.ui.url import INSIDE_SECTIONS
from pages.ui.widgets import segmented_control, translate
from recsys.data.dataset import Dataset
from recsys.serving import substitutes

SHOW_SECTION = {
    "lesson": lesson.show,
    "attention": attention.show,
    "mean": mean_attention.show,
    "blanks": masked_films.show,
    "map": film_map.show,
}


@st.fragment
def show_section(section: str, dataset: Dataset, items: tuple[int, ...]) -> None:
    """Show a section.

    Args:
        section: Key of INSIDE_SECTIONS.
        dataset: The open data set.
        items: The visitor's list, in which a similar item replaces each infrequent film.
    """
    with errors.show_errors():
        SHOW_SECTION[section](dataset, items)
    session.write_url()  # main.py does not run again when a choice in this fragment changes


with errors.show_errors():
    dataset = page.header(
        _("Inside the model"),
        _(
            "See which films the model pays attention to, what it predicts for a masked film, and which films it "
            "finds similar."
        ),
    )
    advice = _("This page needs your films. Start with a ready-made list or build your own.")
    if dataset and (films := page.require_films(dataset, advice)):
        for number in dict.fromkeys(films):
            if substitute := substitutes.label(dataset, number):  # "" for an item
                text = _(
                    "The recommenders do not know {film}, because it has too few ratings. They use {substitute} "
                    "instead.",
                    film=dataset.catalog.films[number].label,
                    substitute=substitute,
                )
                st.caption(escape_markdown(text))
        sections = translate(INSIDE_SECTIONS)
        section = segmented_control(_("Section"), sections, "inside_section", label_visibility="collapsed")
        items = substitutes.replace_infrequent(dataset, np.array(films))
        show_section(section, dataset, tuple(items.tolist()))
