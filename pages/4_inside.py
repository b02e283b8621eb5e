"""Page Inside the model: what a model computes from the user's films, in five sections."""

import numpy as np
import streamlit as st

from pages.inside import attention, fill_blank, film_map, lesson, mean_attention
from pages.ui import errors, page
from pages.ui.format import escape_markdown
from pages.ui.i18n import N_, _, ngettext
from recsys.serving import substitutes

SECTIONS = {
    "lesson": (N_("Lesson"), lesson.show),
    "attention": (N_("Attention"), attention.show),
    "mean": (N_("Mean attention"), mean_attention.show),
    "blanks": (N_("Fill a blank"), fill_blank.show),
    "map": (N_("Map"), film_map.show),
}

with errors.show_errors():
    dataset = page.header(
        _("Inside the model"),
        _("See which films the model pays attention to, what it predicts for a gap, and which films it finds similar."),
    )
    films = (
        page.require_films(dataset, _("This page needs your films. Start with a ready-made list or build your own."))
        if dataset
        else ()
    )
    if dataset and films:
        for film in dict.fromkeys(films):
            if titles := substitutes.labels(dataset, film):
                text = ngettext(
                    "The models do not know {film}, because it has too few ratings. They use {substitutes} instead.",
                    "The models do not know {film}, because it has too few ratings. They use {n} similar films "
                    "instead: {substitutes}.",
                    len(titles),
                    film=dataset.catalog.films[film].label,
                    substitutes=", ".join(titles),
                )
                st.caption(escape_markdown(text))
        section = st.segmented_control(
            _("Section"),
            list(SECTIONS),
            default="lesson",
            required=True,
            format_func=lambda name: _(SECTIONS[name][0]),
            label_visibility="collapsed",
            key="inside_section",
            persist_state="session",
        )
        _label, show = SECTIONS[section]
        show(dataset, tuple(substitutes.replace_infrequent(dataset, np.array(films)).tolist()))
