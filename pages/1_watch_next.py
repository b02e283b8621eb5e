"""The page Watch next: the watch list of the visitor, and recommendations for it."""

import streamlit as st

from pages.ui import errors, page, session
from pages.ui.i18n import _
from pages.watch import evening_plan, last_films, my_list, posters, predictions, what_if

with errors.show_errors():
    dataset = page.header(
        _("Watch next"),
        _("Add films that you like or watched, and get recommendations. If you know the order, add the latest last."),
    )
    if dataset:
        films = session.films(dataset)
        left, right = st.columns([5, 8], gap="large")
        with right:  # before the left column, because visitors wait for the recommendations
            answer = predictions.show(dataset, films)
        with left:
            my_list.show(dataset, films, answer)
        with right:
            if answer:
                what_if.panel(answer.predictor, answer.request)
                evening_plan.panel(answer.predictor, answer.request)
                last_films.panel(dataset, films)
                posters.settings()
