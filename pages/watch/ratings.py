"""What the visitor thinks of their films: thumbs, or stars where somebody wants them.

Session state: that of `pages.ui.rated` · rate_by (thumbs or stars).
"""

import streamlit as st

from pages.ui import browser, cache, format, page
from pages.ui.i18n import _
from pages.ui.session import clear_ratings, rate, rating
from pages.watch import words
from recsys.data.dataset import Film
from recsys.serving.predictor import Predictor
from recsys.serving.ratings import ENOUGH, LIKED, NOT_LIKED, Ratings

THUMBS, STARS = "thumbs", "stars"


def by_stars() -> bool:
    """Whether films are rated with stars."""
    return st.session_state.get("rate_by") == STARS


def thumbs(film: Film) -> None:
    """Two buttons for a row of the list: liked, and not liked; the one that was chosen stands out."""
    now = rating(film)
    liked, disliked = now is not None and now >= ENOUGH, now is not None and now < ENOUGH
    _thumb(
        _("Take back that I liked {film}") if liked else _("I liked {film}"),
        f"like-{film.movie_id}",
        "thumb_up",
        film,
        LIKED,
        liked,
    )
    _thumb(
        _("Take back that I did not like {film}") if disliked else _("I did not like {film}"),
        f"dislike-{film.movie_id}",
        "thumb_down",
        film,
        NOT_LIKED,
        disliked,
    )


def _thumb(sentence: str, key: str, icon: str, film: Film, value: float, chosen: bool) -> None:
    st.button(
        f"*{sentence.format(film=format.escape_markdown(film.label))}*",
        key=key,
        icon=f":material/{icon}:",
        type="primary" if chosen else "tertiary",
        on_click=_take_thumb,
        args=(film, None if chosen else value, key),
    )


def _take_thumb(film: Film, value: float | None, key: str) -> None:
    rate(film, value)
    browser.focus_on(key)


def star_row(film: Film) -> None:
    """Five stars below a title."""
    key = f"stars-{film.movie_id}"
    now = rating(film)
    st.session_state[key] = None if now is None else max(round(now), 1) - 1  # a half star is shown as one
    st.feedback("stars", key=key, on_change=_take_stars, args=(film, key))


def _take_stars(film: Film, key: str) -> None:
    chosen = st.session_state[key]
    rate(film, None if chosen is None else chosen + 1.0)


def settings(predictor: Predictor | None, rated: Ratings) -> None:
    """A popover: thumbs or stars, what the recommender makes of them, and the way to forget them."""
    panel = page.popover(_("Ratings"), "ratings-open", "star")
    if not panel.open:
        return
    with panel, page.popover_content("ratings-open"):
        st.segmented_control(
            _("Rate your films with"),
            [THUMBS, STARS],
            default=THUMBS,
            required=True,
            format_func={THUMBS: _("Thumbs"), STARS: _("Stars")}.__getitem__,
            key="rate_by",
            persist_state="session",
        )
        st.caption(_("Rate any film of your list, or none. One or two stars count as not liked."))
        if predictor:
            st.caption(format.escape_markdown(about(predictor)))
        if rated:
            st.button(
                _("Clear all ratings"), key="ratings-forget", icon=":material/restart_alt:", on_click=clear_ratings
            )


def about(predictor: Predictor) -> str:
    """What a recommender makes of ratings."""
    return (
        _("{model} reads your ratings.")
        if predictor.model.uses_query_ratings
        else _(
            "{model} learnt from what people watched, not from what they liked: it is not told about the "
            "films you dislike, and takes all others as they are."
        )
    ).format(model=cache.recommender_title(predictor))


def effect(predictor: Predictor, rated: Ratings) -> str:
    """What the ratings given have changed, as a sentence; "" where there are none, or none that matters."""
    if not rated:
        return ""
    if predictor.model.uses_query_ratings:
        return _("{model} reads your ratings.", model=cache.recommender_title(predictor))
    disliked = sum(stars < ENOUGH for _unused, stars in rated)
    if not disliked:
        return _(
            "{model} does not read ratings: it knows which films you watched, not whether you liked them.",
            model=cache.recommender_title(predictor),
        )
    return words.DISLIKES_UNTOLD[min(disliked, 2)].format(model=cache.recommender_title(predictor), n=disliked)
