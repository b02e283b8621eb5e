"""What if one film were dropped or moved: which predictions would rise and fall. The real sequence stays as it is."""

from collections import Counter
from dataclasses import replace
from html import escape

import streamlit as st

from pages.ui import cache, errors, format, session
from pages.ui.i18n import _
from pages.watch import words
from recsys.data.dataset import Dataset, Film
from recsys.serving.insight.what_if import Shift, Turn, moved, shifts, without
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import Request, Standing

DROPPED, MOVED = "dropped", "moved"
MARKS = {Turn.ENTERED: "+", Turn.ROSE: "↑", Turn.STAYED: "=", Turn.FELL: "↓", Turn.LEFT: "−"}  # words stand beside


@st.fragment
@errors.show_errors()
def panel(predictor: Predictor, request: Request) -> None:
    """The panel, closed at first: nothing is computed until it is opened."""
    with st.expander(_("What if …"), icon=":material/alt_route:", key="what-if", on_change="rerun") as opened:
        if not opened.open:
            return
        st.caption(
            _("Drop or move one of your films and see which predictions rise and fall. Your list stays as it is.")
        )
        if not request.history:
            st.caption(_("Add a film first; then you can see what it changes."))
        elif (changed := choose(predictor.dataset, request.history)) is not None:  # it may be empty
            outcome(predictor, request, replace(request, history=changed))


def choose(dataset: Dataset, films: tuple[int, ...]) -> tuple[int, ...] | None:
    """The sequence as it would be; None, and a sentence, where it would stay the same."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        position = choose_film(dataset, films)
        actions = [DROPPED, MOVED] if len(films) > 1 else [DROPPED]
        action = st.segmented_control(
            _("were"),
            actions,
            default=DROPPED,
            required=True,
            format_func={DROPPED: _("Not watched"), MOVED: _("Watched at another time")}.__getitem__,
            key=f"what-if-action-{len(actions)}",
        )
        to = choose_position(len(films), position) if action == MOVED else position
    if action == DROPPED:
        return without(films, position)
    if to == position:
        st.caption(_("It is at position {position} already. Choose another one.", position=position + 1))
        return None
    return moved(films, position, to)


def choose_film(dataset: Dataset, films: tuple[int, ...]) -> int:
    """The position of one of the films, from 0; the latest is offered first."""
    return st.selectbox(
        _("What if this film"),
        range(len(films) - 1, -1, -1),
        format_func=lambda position: f"{position + 1}. {dataset.catalog.films[films[position]].label}",
        key=f"what-if-film-{len(films)}",
        width=280,
    )


def choose_position(n: int, position: int) -> int:
    """Where to move a film to, from 0; at first the end, or for the latest film the beginning."""
    other = n if position < n - 1 else 1
    to = st.number_input(_("Position in your list, from 1"), 1, n, other, key=f"what-if-to-{n}-{position}", width=170)
    return int(to) - 1


def outcome(predictor: Predictor, now: Request, changed: Request) -> None:
    """What would rise and fall, and the button that makes it so."""
    found = compared(predictor, now, changed)
    st.markdown(f"**{format.escape_markdown(summary(found, now.k, cache.recommender_title(predictor)))}**")
    st.html(table(found, predictor.dataset.catalog.films))
    if st.button(
        _("Change my list"),
        key="what-if-apply",
        icon=":material/check:",
        on_click=session.set_films,
        args=(changed.history,),
    ):
        st.rerun()  # all of the page, not this panel alone


@st.cache_data(max_entries=128, show_spinner=False, hash_funcs=cache.PREDICTOR_HASH)
def compared(predictor: Predictor, before: Request, after: Request) -> list[Shift]:
    """`shifts`, kept."""
    return shifts(predictor, before, after)


def summary(found: list[Shift], k: int, model: str) -> str:
    """How many films rose, fell, came in and dropped out."""
    counts = Counter(shift.turn for shift in found)
    if set(counts) <= {Turn.STAYED}:
        return _(
            "Nothing changes among the first {k}: {model} predicts the same films in the same order.", k=k, model=model
        )
    return ", ".join(_counted(turn, counts[turn]) for turn in Turn if counts[turn]) + "."


def _counted(turn: Turn, n: int) -> str:
    return (words.ONE_TURNS if n == 1 else words.TURN_COUNTS)[turn.value].format(n=n)


def table(found: list[Shift], films: list[Film]) -> str:
    """The films of the new list in its order, then those that dropped out."""
    rows = "".join(_row(shift, films[shift.item]) for shift in found)
    return f'<ol class="nr-shifts">{rows}</ol>'


def _row(shift: Shift, film: Film) -> str:
    text = f'<b>{escape(film.label)}</b><span class="nr-quiet">{escape(turned(shift))}</span>'
    mark = f'<span class="nr-mark" aria-hidden="true">{MARKS[shift.turn]}</span>'
    return (
        f'<li class="nr-line nr-{_look(shift)}">{mark}<span class="nr-text">{text}</span>'
        f'<span class="nr-figures">{escape(_probabilities(shift.before, shift.after))}</span></li>'
    )


def turned(shift: Shift) -> str:
    """What became of a film, in words."""
    before, after = shift.before.rank, shift.after.rank
    if before is None:
        return _("enters at rank {after}, as it can now be recommended", after=after)
    if after is None:
        return _("drops out, from rank {before}", before=before)
    return words.TURNS[shift.turn.value].format(before=before, after=after) + _though(shift)


def gained(shift: Shift) -> bool | None:
    """Whether a film is more probable than before; None where nothing can be said."""
    before, after = shift.before.probability, shift.after.probability
    return None if before is None or after is None or before == after else after > before


def _contrary(shift: Shift) -> bool:
    """Whether rank and probability went different ways: when all films become less probable, one can still rise."""
    up, down = {Turn.ENTERED, Turn.ROSE}, {Turn.FELL, Turn.LEFT}
    more = gained(shift)
    return (shift.turn in up and more is False) or (shift.turn in down and more is True)


def _look(shift: Shift) -> str:
    """The class of a row: green for what gained, orange for what lost, neither where rank and probability disagree."""
    return "mixed" if _contrary(shift) else shift.turn.value


def _though(shift: Shift) -> str:
    if not _contrary(shift):
        return ""
    return _(", though more probable") if gained(shift) else _(", though less probable")


def _probabilities(before: Standing, after: Standing) -> str:
    if before.probability is None or after.probability is None:
        return ""
    return _(
        "{before} → {after}",
        before=format.precise_percent(before.probability),
        after=format.precise_percent(after.probability),
    )
