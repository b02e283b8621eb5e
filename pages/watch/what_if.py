"""What if one film were dropped or moved: which predictions would rise and fall. The real sequence stays as it is."""

from collections import Counter
from html import escape

import numpy as np
import streamlit as st

from pages import _sequence as sequence
from pages import _shared as shared
from pages import _words as words
from recsys.data.schema import Dataset, Film
from recsys.serving.models import Recommender, Variant
from recsys.serving.what_if import Place, Shift, Turn, moved, shifts, without

MARKS = {Turn.ENTERED: "+", Turn.ROSE: "↑", Turn.STAYED: "=", Turn.FELL: "↓", Turn.LEFT: "−"}  # words stand beside


@st.fragment
def panel(
    dataset: Dataset,
    variant: Variant,
    model: Recommender,
    films: tuple[int, ...],
    k: int = 10,
    hide_seen: bool = True,
    allowed: np.ndarray | None = None,
) -> None:
    """The panel, closed at first: nothing is computed until it is opened. allowed (I,): None for all items."""
    with st.expander(words.WHAT_IF, icon=":material/alt_route:", key="what-if", on_change="rerun") as opened:
        if not opened.open:
            return
        st.caption(words.WHAT_IF_HELP)
        if not films:
            st.caption(words.WHAT_IF_EMPTY)
        elif (changed := choose(dataset, films)) is not None:  # it may be empty
            outcome(dataset, variant, model, (films, changed), k, hide_seen, allowed)


def choose(dataset: Dataset, films: tuple[int, ...]) -> tuple[int, ...] | None:
    """The sequence as it would be; None, and a sentence, where it would stay the same."""
    n = len(films)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        place = st.selectbox(
            words.WHAT_IF_FILM,
            range(n - 1, -1, -1),  # the latest first
            format_func=lambda place: f"{place + 1}. {dataset.catalog.films[films[place]].label}",
            key=f"what-if-film-{n}",
            width=280,
        )
        actions = [words.DROPPED, words.MOVED] if n > 1 else [words.DROPPED]
        action = st.segmented_control(
            words.WHAT_IF_ACTION, actions, default=actions[0], required=True, key=f"what-if-action-{len(actions)}"
        )
        to = place + 1
        if action == words.MOVED:
            other = n if place < n - 1 else 1
            to = st.number_input(words.TO_PLACE, 1, n, other, key=f"what-if-to-{n}-{place}", width=170)
    if action == words.DROPPED:
        return without(films, place)
    if to == place + 1:
        st.caption(words.THERE_ALREADY.format(place=to))
        return None
    return moved(films, place, int(to) - 1)


def outcome(
    dataset: Dataset,
    variant: Variant,
    model: Recommender,
    sequences: tuple[tuple[int, ...], tuple[int, ...]],
    k: int,
    hide_seen: bool,
    allowed: np.ndarray | None,
) -> None:
    """What would rise and fall, and the button that makes it so. `sequences`: as it is, and as it would be."""
    try:
        found = compared(dataset, dataset.name, model, variant.name, sequences, k, hide_seen, allowed)
    except shared.TROUBLE as error:
        shared.explain(error)
        return
    st.markdown(f"**{words.plain(summary(found, k, variant.title))}**")
    st.html(table(found, dataset.catalog.films))
    if st.button(
        words.APPLY, key="what-if-apply", icon=":material/check:", on_click=sequence.change, args=(sequences[1],)
    ):
        st.rerun()  # all of the page, not this panel alone


@st.cache_data(max_entries=128, show_spinner=False)
def compared(
    _dataset: Dataset,
    data: str,
    _model: Recommender,
    variant: str,
    sequences: tuple[tuple[int, ...], tuple[int, ...]],
    k: int,
    hide_seen: bool,
    allowed: np.ndarray | None,
) -> list[Shift]:
    """Kept by the names of data and recommender, which never change in a process."""
    return shifts(_dataset, _model, *sequences, k, hide_seen, allowed)


def summary(found: list[Shift], k: int, model: str) -> str:
    """How many films rose, fell, came in and dropped out."""
    counts = Counter(shift.turn for shift in found)
    if set(counts) <= {Turn.STAYED}:
        return words.UNCHANGED.format(k=k, model=model)
    return ", ".join(words.TURN_COUNTS[turn.value].format(n=counts[turn]) for turn in Turn if counts[turn]) + "."


def table(found: list[Shift], films: list[Film]) -> str:
    """The films of the new list in its order, then those that dropped out."""
    rows = "".join(_row(shift, films[shift.item]) for shift in found)
    return f'<ol class="nr-shifts">{rows}</ol>'


def _row(shift: Shift, film: Film) -> str:
    text = f'<b>{escape(film.label)}</b><span class="nr-quiet">{escape(turned(shift))}</span>'
    mark = f'<span class="nr-mark" aria-hidden="true">{MARKS[shift.turn]}</span>'
    return (
        f'<li class="nr-line nr-{shift.turn.value}">{mark}<span class="nr-text">{text}</span>'
        f'<span class="nr-figures">{escape(_chances(shift.before, shift.after))}</span></li>'
    )


def turned(shift: Shift) -> str:
    """What became of a film, in words."""
    before, after = shift.before.rank, shift.after.rank
    if before is None:
        return words.NEWLY_FREE.format(after=after)
    if after is None:
        return words.NO_LONGER.format(before=before)
    return words.TURNS[shift.turn.value].format(before=before, after=after)


def _chances(before: Place, after: Place) -> str:
    if before.probability is None or after.probability is None:
        return ""
    return words.CHANCE_SHIFT.format(before=words.percent(before.probability), after=words.percent(after.probability))
