"""What the visitor thinks of their films: thumbs, or stars where somebody wants them.

Session state: ratings (label of a film → stars, for those that were rated; a new dict after each change) · rated (the
same for the address, by film id: "79132.5~109487.2") · rated_seen (`rated` as the last run left it) · rate_by (thumbs
or stars).
"""

import re

import streamlit as st

from pages.shared import keyboard
from pages.shared import words as common
from pages.watch import popovers, words
from recsys.data.schema import Dataset, Film
from recsys.serving.predictor import Predictor
from recsys.serving.ratings import ENOUGH, LIKED, NOT_LIKED, Ratings

BETWEEN = "~"  # two ratings in the address
_RATING = re.compile(r"(\d{1,9})\.([1-5])")


def given(dataset: Dataset, films: tuple[int, ...]) -> Ratings:
    """What the visitor gave to the films of a sequence; what a link says of them is taken over first."""
    state, catalog = st.session_state, dataset.catalog
    asked = state.setdefault("rated", "")
    if asked != state.setdefault("rated_seen", ""):
        ids = {int(film): float(stars) for film, stars in _RATING.findall(asked)}
        listed = [catalog.films[film] for film in films]
        others = {label: stars for label, stars in _all().items() if label not in {film.label for film in listed}}
        state.ratings = others | {film.label: ids[film.movie_id] for film in listed if film.movie_id in ids}
    found = [(film, _all()[catalog.films[film].label]) for film in films if catalog.films[film].label in _all()]
    state.rated = state.rated_seen = BETWEEN.join(
        f"{catalog.films[film].movie_id}.{stars:.0f}" for film, stars in found
    )
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


def forget() -> None:
    """Take all ratings back."""
    st.session_state.ratings = {}


def by_stars() -> bool:
    """Whether films are rated with stars."""
    return st.session_state.get("rate_by") == words.STARS


def thumbs(film: Film) -> None:
    """Two buttons for a row of the list: liked, and not liked; the one that was chosen stands out."""
    now = stars(film)
    liked, disliked = now is not None and now >= ENOUGH, now is not None and now < ENOUGH
    _thumb(words.UNLIKE if liked else words.LIKE, f"like-{film.movie_id}", "thumb_up", film, LIKED, liked)
    _thumb(
        words.UNDISLIKE if disliked else words.DISLIKE,
        f"dislike-{film.movie_id}",
        "thumb_down",
        film,
        NOT_LIKED,
        disliked,
    )


def _thumb(sentence: str, key: str, icon: str, film: Film, value: float, chosen: bool) -> None:
    st.button(
        f"*{sentence.format(film=common.plain(film.label))}*",
        key=key,
        icon=f":material/{icon}:",
        type="primary" if chosen else "tertiary",
        on_click=_take_thumb,
        args=(film, None if chosen else value, key),
    )


def _take_thumb(film: Film, value: float | None, key: str) -> None:
    rate(film, value)
    keyboard.focus_on(key)


def star_row(film: Film) -> None:
    """Five stars below a title."""
    key = f"stars-{film.movie_id}"
    now = stars(film)
    st.session_state[key] = None if now is None else round(now) - 1
    st.feedback("stars", key=key, on_change=_take_stars, args=(film, key))


def _take_stars(film: Film, key: str) -> None:
    chosen = st.session_state[key]
    rate(film, None if chosen is None else chosen + 1.0)


def settings(predictor: Predictor | None, rated: Ratings) -> None:
    """A popover: thumbs or stars, what the recommender makes of them, and the way to forget them."""
    panel = popovers.popover(words.RATINGS, "ratings-open", "star")
    if not panel.open:
        return
    with panel, popovers.content("ratings-open"):
        st.segmented_control(
            words.RATE_BY,
            [words.THUMBS, words.STARS],
            default=words.THUMBS,
            required=True,
            key="rate_by",
            persist_state="session",
        )
        st.caption(words.RATINGS_HELP)
        if predictor:
            st.caption(common.plain(about(predictor)))
        if rated:
            st.button(words.RATINGS_FORGET, key="ratings-forget", icon=":material/restart_alt:", on_click=forget)


def about(predictor: Predictor) -> str:
    """What a recommender makes of ratings."""
    return (words.RATINGS_READ if predictor.model.reads_ratings else words.RATINGS_UNREAD).format(model=predictor.title)


def effect(predictor: Predictor, rated: Ratings) -> str:
    """What the ratings given have changed, as a sentence; "" where there are none, or none that matters."""
    if not rated:
        return ""
    if predictor.model.reads_ratings:
        return words.RATINGS_READ.format(model=predictor.title)
    disliked = sum(stars < ENOUGH for _, stars in rated)
    if not disliked:
        return words.LIKES_UNREAD.format(model=predictor.title)
    return words.DISLIKES_UNTOLD[min(disliked, 2)].format(model=predictor.title, n=disliked)
