"""What the visitor thinks of their films, for whichever page asks a recommender.

Session state: ratings (label of a film → stars, for those that were rated; a new dict after each change) · rated (the
same for the address, by film id: "79132.5~109487.2.5") · rated_seen (`rated` as the last run left it).
"""

import re

import streamlit as st

from pages.ui.url import BETWEEN, RATING
from recsys.data.dataset import Dataset, Film
from recsys.serving import history
from recsys.serving.ratings import Ratings

ROOM = 2_500  # characters of ratings in an address
_RATING = re.compile(RATING)


def given(dataset: Dataset, films: tuple[int, ...]) -> Ratings:
    """What the visitor gave to the films of a sequence; what a link says of them is taken over first."""
    state, catalog = st.session_state, dataset.catalog
    asked = state.setdefault("rated", "")
    if asked != state.setdefault("rated_seen", ""):
        ids = {int(film): float(stars) for film, stars in _RATING.findall(asked)}
        listed = {catalog.films[film].label: catalog.films[film].movie_id for film in films}
        others = {label: stars for label, stars in _all().items() if label not in listed}
        state.ratings = others | {label: ids[movie] for label, movie in listed.items() if movie in ids}
    found = [(film, own) for film in films if (own := stars(catalog.films[film])) is not None]
    parts = [f"{catalog.films[film].movie_id}.{own:g}" for film, own in found]
    state.rated = state.rated_seen = BETWEEN.join(history.newest_that_fit(parts, ROOM))
    return tuple(found)


def _all() -> dict[str, float]:
    """Everything that was rated in this session."""
    return st.session_state.setdefault("ratings", {})


def stars(film: Film) -> float | None:
    """What the visitor gave to a film; None: nothing."""
    return _all().get(film.label)


def rate(film: Film, value: float | None) -> None:
    """Give stars to a film; None, or what it has already, takes them back."""
    others = {label: stars for label, stars in _all().items() if label != film.label}
    st.session_state.ratings = others if value in (None, stars(film)) else others | {film.label: value}


def take_over(given: dict[str, float]) -> None:
    """Take the stars that a history has for its films, by label; what was given to others stays."""
    st.session_state.ratings = _all() | given


def forget() -> None:
    """Take all ratings back."""
    st.session_state.ratings = {}
