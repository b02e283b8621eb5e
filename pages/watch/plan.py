"""An evening of five films, planned by the recommender; a film can be turned down, and the rest is planned again.

Session state: evening (what the plan is for; the steps that were kept; the items that were turned down).
"""

from dataclasses import dataclass, replace

import streamlit as st

from pages.shared import cards, errors, loaders, sequence
from pages.shared import words as common
from pages.watch import words
from recsys.serving.plan import FILMS, Step, plan
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import Request


@dataclass(frozen=True)
class Evening:
    """What the visitor has decided about the plan so far."""

    of: tuple[str, tuple[int, ...]]  # the predictor's key and the sequence; other ones begin another evening
    kept: tuple[Step, ...] = ()
    rejected: tuple[int, ...] = ()


@st.fragment
@errors.explained()
def panel(predictor: Predictor, request: Request) -> None:
    """The panel, closed at first: nothing is computed until it is opened."""
    with st.expander(words.PLAN, icon=":material/nightlife:", key="plan", on_change="rerun") as opened:
        if not opened.open:
            return
        st.caption(words.PLAN_HELP)
        evening = tonight(predictor, request)
        steps = [*evening.kept, *rest_of(evening, predictor, request)]
        rows(predictor, evening, steps)
        say(predictor, steps)
        decide(evening, steps, request.history)


def tonight(predictor: Predictor, request: Request) -> Evening:
    """The evening of this sequence; a new one when the sequence, the data or the recommender has changed."""
    evening, of = st.session_state.get("evening"), (predictor.key, request.history)
    if evening is None or evening.of != of:
        evening = st.session_state.evening = Evening(of)
    return evening


def rest_of(evening: Evening, predictor: Predictor, request: Request) -> list[Step]:
    """The films after those that were kept."""
    watched = (*request.history, *(step.item for step in evening.kept))
    return planned(predictor, replace(request, history=watched), FILMS - len(evening.kept), evening.rejected)


@st.cache_data(max_entries=128, show_spinner=False, hash_funcs=loaders.BY_KEY)
def planned(predictor: Predictor, request: Request, length: int, rejected: tuple[int, ...]) -> list[Step]:
    """`plan`, kept."""
    return plan(predictor, request, length, rejected)


def rows(predictor: Predictor, evening: Evening, steps: list[Step]) -> None:
    """The films in the order of the evening, each with a button that turns it down."""
    best = max((step.probability or 0.0 for step in steps), default=0.0)
    with st.container(key="evening", gap="xsmall"):
        for number, step in enumerate(steps, start=1):
            film = predictor.dataset.catalog.films[step.item]
            with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
                st.html(cards.line(number, film, step.probability, best))
                st.button(
                    words.NOT_THIS.format(film=common.plain(film.label)),
                    key=f"reject-{step.item}",
                    icon=":material/thumb_down:",
                    type="tertiary",
                    on_click=reject,
                    args=(evening, tuple(steps[:number])),
                )


def reject(evening: Evening, steps: tuple[Step, ...]) -> None:
    """Keep all but the last of some steps, and never plan that one again tonight."""
    *kept, rejected = steps
    st.session_state.evening = Evening(evening.of, tuple(kept), (*evening.rejected, rejected.item))


def say(predictor: Predictor, steps: list[Step]) -> None:
    """What the plan is, and where films are missing."""
    if not steps:
        st.info(words.PLAN_EMPTY)
        return
    if len(steps) < FILMS:
        st.caption(words.PLAN_SHORT.format(n=len(steps)))
    together = words.PLAN_BY_RANK if steps[0].probability is None else words.PLAN_TOGETHER
    st.caption(common.plain(together.format(model=predictor.title)))


def decide(evening: Evening, steps: list[Step], films: tuple[int, ...]) -> None:
    """Take the plan over, or begin again."""
    with st.container(horizontal=True, gap="small"):
        everything = (*films, *(step.item for step in steps))
        if st.button(
            words.PLAN_ADD,
            key="plan-add",
            icon=":material/playlist_add:",
            on_click=sequence.change,
            args=(everything,),
            disabled=not steps,
        ):
            st.rerun()  # all of the page, not this panel alone
        st.button(
            words.PLAN_AFRESH,
            key="plan-afresh",
            icon=":material/restart_alt:",
            on_click=lambda: st.session_state.pop("evening", None),
            disabled=not evening.rejected,
        )
