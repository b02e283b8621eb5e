"""The filters of Watch next. Library has other filters.

Session state: filters (a `Filters`). Each run sets the widgets from it, because Streamlit deletes the values of widgets
when another page opens.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import streamlit as st
from babel import Locale

from pages.ui import browser, i18n, page
from pages.ui.i18n import N_, _
from pages.ui.url import FILTER_FIELDS
from pages.ui.visitor import visitor
from pages.ui.widgets import button, translate
from recsys.data.dataset import Dataset
from recsys.serving.filters import DEFAULT_LANGUAGE, FilmFeatures, Filters, film_features

OPEN_KEY = "filters_open"  # widget key of the popover
FILTER_LABELS = {  # field of `Filters` → label of its widget, except for "Hide watched" and "Variety"
    "years": N_("Released between"),
    "genres": N_("Only these genres"),
    "excluded_genres": N_("None of these genres"),
    "languages": N_("Original language"),
    "countries": N_("Country"),
    "popularity": N_("How well known"),
    "released_by_last_film": N_("Nothing released after the film you watched last"),
}


def selected() -> Filters:
    """Return the filters that the visitor has set.

    Favourites in no order have no last film, so `released_by_last_film` is False.
    """
    filters = st.session_state.setdefault("filters", Filters())
    return filters if visitor().current.in_watch_order else replace(filters, released_by_last_film=False)


def popover(dataset: Dataset) -> None:
    """Show the filters in a popover, and a reset button beside it."""
    n_active = len(selected().active_fields)
    panel = page.filter_popover(OPEN_KEY, n_active)
    if panel.open:
        with panel, page.popover_content(OPEN_KEY):
            _show_controls(film_features(dataset))
    if n_active:
        label = "*" + _("Reset filters") + "*"  # only screen readers read the text in *…*
        button(label, "reset", "filter_alt_off", reset, type="tertiary")


def reset() -> None:
    """Set all filters to their defaults."""
    st.session_state.filters = Filters()
    browser.focus_on(OPEN_KEY)


def _show_controls(features: FilmFeatures) -> None:
    """Show a widget for each filter. A change of a widget stores the values of all widgets."""
    state, filters, labels = st.session_state, selected(), translate(FILTER_LABELS)

    def store() -> None:
        # a filter without a widget keeps its value, such as `languages` in a data set without languages
        values = {name: state.get(name, getattr(state.filters, name)) for name in FILTER_FIELDS}
        values |= {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        if "years" in state:
            values["years"] = page.selected_years(features, "years")
        state.filters = Filters(**values)

    state.hide_seen, state.diversity = filters.hide_seen, filters.diversity
    st.toggle(_("Hide watched"), key="hide_seen", on_change=store)
    if visitor().current.in_watch_order:
        help_text = _(
            "Only films released up to the year of the film you watched last. If that film is from 2007, you see none "
            "from 2015."
        )
        state.released_by_last_film = filters.released_by_last_film
        st.toggle(labels["released_by_last_film"], key="released_by_last_film", help=help_text, on_change=store)
    page.year_slider(features, "years", filters.years, store)
    page.genre_menu(features, "genres", filters.genres, store, labels["genres"], _("Any genre"))
    label = labels["excluded_genres"]
    page.genre_menu(features, "excluded_genres", filters.excluded_genres, store, label, _("All genres allowed"))
    if features.items_by_language:
        page.multiselect(
            "languages",
            _by_count(features.items_by_language),
            filters.languages,
            store,
            labels["languages"],
            _("Any language"),
            format_func=_language_label,
            help=_("“English or unknown” includes the films for which no other original language is known."),
        )
    if features.items_by_country:
        countries = _by_count(features.items_by_country)
        page.multiselect("countries", countries, filters.countries, store, labels["countries"], _("Any country"))
    page.popularity_slider("popularity", filters.popularity, store)
    help_text = _(
        "A higher value prefers films that differ from the films above them, even if they are less likely. Films are "
        "compared by the embeddings of the recommender or, if it has none, by genre. At 0%, the list is the "
        "recommender's own ranking. Method: maximal marginal relevance (Carbonell and Goldstein 1998)."
    )
    st.slider(_("Variety"), 0.0, 1.0, step=0.1, format="percent", key="diversity", help=help_text, on_change=store)


def _by_count(items_by_value: Mapping[str, np.ndarray]) -> list[str]:
    """Return the values (languages or countries), the value with the most items first."""
    return sorted(items_by_value, key=lambda value: -len(items_by_value[value]))


def _language_label(code: str) -> str:
    """Return the label of a language in the menu: its name with a capital letter, or the text for DEFAULT_LANGUAGE."""
    name = language_name(code)
    return _("English or unknown") if code == DEFAULT_LANGUAGE else name[:1].upper() + name[1:]


def language_name(code: str) -> str:
    """Return the name of a language in the visitor's language: "French"."""
    return Locale(i18n.current_language()).languages.get(code, code)
