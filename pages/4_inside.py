"""Inside the model: what the network does with the visitor's films, one section at a time."""

import numpy as np
import streamlit as st

from pages.inside import attention, blanks, film_map, lesson, mean, words
from pages.ui import errors, format, page
from pages.ui.i18n import _
from recsys.serving import stand_ins

SECTIONS = {
    "lesson": lesson.show,
    "attention": attention.show,
    "mean": mean.show,
    "blanks": blanks.show,
    "map": film_map.show,
}

with errors.show_errors():
    dataset = page.header(
        _("Inside the model"),
        _(
            "What the network does with your films: what it looks at, what it would put into a gap, what "
            "it finds alike."
        ),
    )
    films = (
        page.require_films(
            dataset, _("The network needs films to look at. Take a ready-made list, or build your own first.")
        )
        if dataset
        else ()
    )
    if dataset and films:
        for film in dict.fromkeys(films):
            if others := stand_ins.labels(dataset, film):
                st.caption(format.escape_markdown(words.stands_in(dataset.catalog.films[film].label, others)))
        section = st.segmented_control(
            _("What to look at"),
            list(SECTIONS),
            default="lesson",
            required=True,
            format_func=lambda name: words.SECTIONS[name],
            label_visibility="collapsed",
            key="inside_section",
            persist_state="session",
        )
        known = stand_ins.known(dataset, np.array(films))
        SECTIONS[section](dataset, tuple(known.tolist()))
