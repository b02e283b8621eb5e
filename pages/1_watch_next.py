"""The page Watch next: the visitor's films, and recommendations of films to watch next."""

import streamlit as st

from pages.ui import errors, page
from pages.ui.i18n import _
from pages.ui.visitor import visitor
from pages.watch import evening_plan, last_films, my_list, posters, recommendations, what_if

with errors.show_errors():
    dataset = page.header(
        _("Watch next"),
        _(
            "Add films that you like or have watched, in any order, and get recommendations. If you know the order in "
            "which you watched them, switch on “In the order I watched them”."
        ),
    )
    if dataset:
        films = visitor().current.films
        left, right = st.columns([5, 8], gap="large")
        with right:  # rendered before the left column, because visitors wait for the recommendations
            recommendation_list = recommendations.show(dataset, films)
        with left:
            my_list.show(dataset, films, recommendation_list)
        with right:
            if recommendation_list:
                what_if.panel(recommendation_list.predictor, recommendation_list.request)
                evening_plan.panel(recommendation_list.predictor, recommendation_list.request)
                last_films.panel(dataset, films)
                posters.popover()
