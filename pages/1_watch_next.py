"""Watch next: build a watch sequence and see what comes next."""

import streamlit as st

from pages.ui import errors, page, session
from pages.ui.i18n import _
from pages.watch import guessed, plan, posters, predictions, what_if, your_films

with errors.show_errors():
    dataset = page.header(_("Watch next"), _("Put films in the order you watched them and see which one comes next."))
    if dataset:
        films = session.films(dataset)
        left, right = st.columns([5, 8], gap="large")
        with right:  # first, although it is on the right: predictions are what people wait for
            answer = predictions.what_comes_next(dataset, films)
        with left:
            your_films.show(dataset, films, answer)
        with right:
            if answer:  # what is below stays closed until somebody opens it
                what_if.panel(answer.predictor, answer.request)
                plan.panel(answer.predictor, answer.request)
                guessed.panel(dataset, films)
                posters.settings()
