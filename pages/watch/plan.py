"""An evening of five films, planned by the recommender; a film can be turned down, and the rest is planned again.

Session state: evening (what the plan is for; the steps that were kept; the items that were turned down).
"""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from pages import _cards as cards
from pages import _sequence as sequence
from pages import _shared as shared
from pages import _words as words
from recsys.data.schema import Dataset
from recsys.serving.models import Recommender, Variant
from recsys.serving.plan import FILMS, Step, plan
from recsys.serving.recommend import Recommendation


@dataclass(frozen=True)
class Evening:
    """What the visitor has decided about the plan so far."""

    of: tuple[str, str, tuple[int, ...]]  # data set, recommender and sequence; another one begins another evening
    kept: tuple[Step, ...] = ()
    rejected: tuple[int, ...] = ()


@st.fragment
def panel(
    dataset: Dataset,
    variant: Variant,
    model: Recommender,
    films: tuple[int, ...],
    allowed: np.ndarray | None = None,
) -> None:
    """The panel, closed at first: nothing is computed until it is opened. allowed (I,): None for all items."""
    with st.expander(words.PLAN, icon=":material/nightlife:", key="plan", on_change="rerun") as opened:
        if not opened.open:
            return
        st.caption(words.PLAN_HELP)
        evening = tonight((dataset.name, variant.name, films))
        try:
            rest = planned(dataset, model, evening, allowed)
        except shared.TROUBLE as error:
            shared.explain(error)
            return
        steps = [*evening.kept, *rest]
        rows(dataset, evening, steps)
        decide(variant, evening, steps, films)


def tonight(of: tuple[str, str, tuple[int, ...]]) -> Evening:
    """The evening of this sequence; a new one when the sequence, the data or the recommender has changed."""
    evening = st.session_state.get("evening")
    if evening is None or evening.of != of:
        evening = st.session_state.evening = Evening(of)
    return evening


def planned(dataset: Dataset, model: Recommender, evening: Evening, allowed: np.ndarray | None) -> list[Step]:
    """The films after those that were kept."""
    data, variant, films = evening.of
    watched = (*films, *(step.item for step in evening.kept))
    return _planned(dataset, data, model, variant, watched, FILMS - len(evening.kept), allowed, evening.rejected)


@st.cache_data(max_entries=128, show_spinner=False)
def _planned(
    _dataset: Dataset,
    data: str,
    _model: Recommender,
    variant: str,
    watched: tuple[int, ...],
    length: int,
    allowed: np.ndarray | None,
    rejected: tuple[int, ...],
) -> list[Step]:
    """Kept by the names of data and recommender, which never change in a process."""
    return plan(_dataset, _model, watched, length, allowed, rejected)


def rows(dataset: Dataset, evening: Evening, steps: list[Step]) -> None:
    """The films in the order of the evening, each with a button that turns it down."""
    best = max((step.probability or 0.0 for step in steps), default=0.0)
    with st.container(key="evening", gap="xsmall"):
        for place, step in enumerate(steps):
            film = dataset.catalog.films[step.item]
            pick = Recommendation(place + 1, *film, score=0.0, probability=step.probability)
            with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
                st.html(cards.line(pick, best))
                st.button(
                    words.NOT_THIS.format(film=words.plain(film.label)),
                    key=f"reject-{step.item}",
                    icon=":material/thumb_down:",
                    type="tertiary",
                    on_click=reject,
                    args=(evening, tuple(steps), place),
                )


def reject(evening: Evening, steps: tuple[Step, ...], place: int) -> None:
    """Keep what stands before a film, and never plan this one again tonight."""
    rejected = (*evening.rejected, steps[place].item)
    st.session_state.evening = Evening(evening.of, steps[:place], rejected)


def decide(variant: Variant, evening: Evening, steps: list[Step], films: tuple[int, ...]) -> None:
    """What the figures mean, and what can be done with the plan."""
    if not steps:
        st.info(words.PLAN_EMPTY)
    elif len(steps) < FILMS:
        st.caption(words.PLAN_SHORT.format(n=len(steps)))
    if steps:
        together = words.PLAN_BY_RANK if steps[0].probability is None else words.PLAN_TOGETHER
        st.caption(words.plain(together.format(model=variant.title)))
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
