"""A real person of a data set, chosen by the number, or the name, that the ratings file gives them."""

import streamlit as st

from pages.ui.i18n import _
from recsys.data.dataset import Dataset
from recsys.serving import history, people
from recsys.serving.history import Viewer
from recsys.serving.recommend import ServingError


def by_number(dataset: Dataset, key: str, about: str) -> Viewer | None:
    """A field for the person, and what they watched; None, and said, where there is nobody. about: a help."""
    number = asked_for(dataset, key, about)
    try:
        return history.viewer(dataset, people.row_of(dataset, number))
    except ServingError:
        st.caption(
            _("There is no person {number} here: some numbers are missing.", number=number)
            if dataset.user_names is None
            else _("Nobody here is called that.")
        )
        return None


def asked_for(dataset: Dataset, key: str, about: str) -> int | str:
    """The number that is typed, or the name where the people of a set have names."""
    if dataset.user_names is not None:
        return st.text_input(
            _("Name of the person in the file"), str(dataset.user_names[0]), key=f"{key}_named", help=about
        )
    first, last = (int(dataset.user_ids[end]) for end in (0, -1))
    return int(st.number_input(_("Number of the person in the ratings file"), first, last, step=1, key=key, help=about))
