"""The page Inside the model: what a model computes from the visitor's films, in five sections."""

import numpy as np
import streamlit as st

from pages.inside import attention, fill_blank, film_map, lesson, mean_attention
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
    "blanks": fill_blank.show,
    "map": film_map.show,
}


@st.fragment
def show_section(section: str, dataset: Dataset, films: tuple[int, ...]) -> None:
    """Show a section. films: Items of the visitor's list. A similar item replaces each infrequent film."""
    with errors.show_errors():
        SHOW_SECTION[section](dataset, films)
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
        for film in dict.fromkeys(films):
            if substitute := substitutes.label(dataset, film):  # "" if the models have the film
                text = _(
                    "The recommenders do not know {film}, because it has too few ratings. They use {substitute} "
                    "instead.",
                    film=dataset.catalog.films[film].label,
                    substitute=substitute,
                )
                st.caption(escape_markdown(text))
        sections = translate(INSIDE_SECTIONS)
        section = segmented_control(_("Section"), sections, "inside_section", label_visibility="collapsed")
        items = substitutes.replace_infrequent(dataset, np.array(films))
        show_section(section, dataset, tuple(items.tolist()))
