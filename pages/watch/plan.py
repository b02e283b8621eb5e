"""An evening of some films, planned by the recommender; a film can be turned down, and the rest is planned again.

Session state: evening (what the plan is for; the steps that were kept; the items that were turned down) ·
evening_films (how many).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from pages.ui import cache, errors, film_cards, format, session
from pages.ui.i18n import _
from pages.watch import words
from recsys.data.dataset import Film
from recsys.serving.plan import FILMS, Step, plan, reasons
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import Request

LENGTHS = (2, 3, 4, 5)  # films


@dataclass(frozen=True)
class Evening:
    """What the visitor has decided about the plan so far."""

    of: tuple[str, Request]  # the predictor's key and what was asked of it; another one begins another evening
    kept: tuple[Step, ...] = ()
    rejected: tuple[int, ...] = ()


@st.fragment
@errors.show_errors()
def panel(predictor: Predictor, request: Request) -> None:
    """The panel, closed at first: nothing is computed until it is opened."""
    with st.expander(_("Plan an evening"), icon=":material/nightlife:", key="plan", on_change="rerun") as opened:
        if not opened.open:
            return
        st.caption(
            _(
                "Films to watch one after another, each chosen as if you had just watched those before it, "
                "and no two of one series. The data does not say how long a film is, so an evening is "
                "counted in films."
            )
        )
        length = choose_length()
        evening = tonight(predictor, request)
        steps = planned(predictor, request, length, evening.rejected, evening.kept[:length])
        rows(predictor, request, evening, steps)
        say(predictor, steps, length)
        decide(evening, steps, request.history)


def choose_length() -> int:
    """How many films the evening has."""
    return st.segmented_control(
        _("How many films"), LENGTHS, default=FILMS, required=True, key="evening_films", persist_state="session"
    )


def tonight(predictor: Predictor, request: Request) -> Evening:
    """The evening of this sequence; a new one when the sequence, the filters, the data or the recommender changed."""
    evening, of = st.session_state.get("evening"), (predictor.key, replace(request, k=0))
    if evening is None or evening.of != of:
        evening = st.session_state.evening = Evening(of)
    return evening


@st.cache_data(max_entries=128, show_spinner=False, hash_funcs=cache.PREDICTOR_HASH)
def planned(
    predictor: Predictor, request: Request, length: int, rejected: tuple[int, ...], kept: tuple[Step, ...]
) -> list[Step]:
    """`plan`, kept."""
    return plan(predictor, request, length, rejected, kept=kept)


@st.cache_data(max_entries=128, show_spinner=False, hash_funcs=cache.PREDICTOR_HASH)
def explained(predictor: Predictor, request: Request, items: tuple[int, ...]) -> list[tuple[int, ...]]:
    """`reasons`, kept."""
    return reasons(predictor, request, items)


def rows(predictor: Predictor, request: Request, evening: Evening, steps: list[Step]) -> None:
    """The films in the order of the evening, each with its reason and a button that turns it down."""
    best = max((step.probability or 0.0 for step in steps), default=0.0)
    films = predictor.dataset.catalog.films
    why = explained(predictor, request, tuple(step.item for step in steps))
    with st.container(key="evening", gap="xsmall"):
        for number, (step, spoke_for_it) in enumerate(zip(steps, why, strict=True), start=1):
            film = films[step.item]
            reason = because([films[item] for item in spoke_for_it], cache.recommender_title(predictor))
            with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
                st.html(film_cards.row(number, film, step.probability, best, note=reason))
                st.button(
                    _("*Not {film}: plan the rest again*", film=format.escape_markdown(film.label)),
                    key=f"reject-{step.item}",
                    icon=":material/thumb_down:",
                    type="tertiary",
                    on_click=reject,
                    args=(evening, tuple(steps[:number])),
                )


def because(films: Sequence[Film], model: str) -> str:
    """The reason for a film: the one or two that spoke for it."""
    if not films:
        return _("One that {model} shows to anybody", model=model)
    return words.PLAN_BECAUSE[len(films)].format(one=films[0].title, two=films[-1].title)


def reject(evening: Evening, steps: tuple[Step, ...]) -> None:
    """Keep all but the last of some steps, and never plan that one again tonight."""
    *kept, rejected = steps
    st.session_state.evening = Evening(evening.of, tuple(kept), (*evening.rejected, rejected.item))


def say(predictor: Predictor, steps: list[Step], length: int) -> None:
    """What the plan is, and where films are missing."""
    if not steps:
        st.info(_("No film is left to plan with. Take back a film, or loosen the filters."))
        return
    if len(steps) < length:
        st.caption(words.PLAN_SHORT[min(len(steps), 2)].format(n=len(steps)))
    together = (
        _("{model} gives no probabilities, so each film is simply its top prediction after the one before.")
        if steps[0].probability is None
        else _("Of all the sequences that {model} compared, this one is the most probable as a whole.")
    )
    st.caption(format.escape_markdown(together.format(model=cache.recommender_title(predictor))))


def decide(evening: Evening, steps: list[Step], films: tuple[int, ...]) -> None:
    """Take the plan over, or begin again."""
    with st.container(horizontal=True, gap="small"):
        everything = (*films, *(step.item for step in steps))
        if st.button(
            _("Add all to my films"),
            key="plan-add",
            icon=":material/playlist_add:",
            on_click=session.set_films,
            args=(everything,),
            disabled=not steps,
        ):
            st.rerun()  # all of the page, not this panel alone
        st.button(
            _("Start over"),
            key="plan-afresh",
            icon=":material/restart_alt:",
            on_click=lambda: st.session_state.pop("evening", None),
            disabled=not evening.rejected,
        )
