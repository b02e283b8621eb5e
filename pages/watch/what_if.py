"""The panel of Watch next that shows how the recommendations change if a film is removed or moved.

The visitor's list stays as it is until a click on “Apply to your list”.
"""

from collections import Counter
from dataclasses import replace
from html import escape

import streamlit as st

from pages.ui import cache, errors, format, session
from pages.ui.i18n import N_, _, ngettext
from pages.ui.widgets import button, segmented_control
from recsys.data.dataset import Film
from recsys.serving.insight.list_comparison import Change, RankChange, move_film, rank_changes, remove_film
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import Request

REMOVE = "remove"
MOVE = "move"
ICONS = {Change.ENTERED: "+", Change.ROSE: "↑", Change.STAYED: "=", Change.FELL: "↓", Change.LEFT: "−"}
CHANGE_TEXTS = {
    Change.ENTERED: N_("new at rank {after}, was at {before}"),
    Change.ROSE: N_("up from rank {before} to {after}"),
    Change.STAYED: N_("still at rank {after}"),
    Change.FELL: N_("down from rank {before} to {after}"),
    Change.LEFT: N_("no longer in the list, down from rank {before} to {after}"),
}


@st.fragment
@errors.show_errors()
def panel(predictor: Predictor, request: Request) -> None:
    """Show the panel. It is closed by default, and nothing is computed before it is opened."""
    with st.expander(_("What if …"), icon=":material/alt_route:", key="what-if", on_change="rerun") as expander:
        if not expander.open:
            return
        if predictor.model.ignores_order:
            st.caption(_("Remove a film to see which recommendations change. Your list stays as it is."))
        else:
            st.caption(_("Remove or move a film to see which recommendations change. Your list stays as it is."))
        if not request.history:
            st.caption(_("Add a film first."))
        elif (films := _changed_list(predictor, request.history)) is not None:  # may be empty
            _show_changes(predictor, request, replace(request, history=films))


def _changed_list(predictor: Predictor, films: tuple[int, ...]) -> tuple[int, ...] | None:
    """Show the controls, and return the changed list. If the list stays the same, show a caption and return None."""
    n, catalog_films = len(films), predictor.dataset.catalog.films
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        position = st.selectbox(
            _("Film"),
            range(n - 1, -1, -1),
            format_func=lambda position: f"{position + 1}. {catalog_films[films[position]].label}",
            key=f"what-if-film-{n}",
            width=280,
        )
        labels = {REMOVE: _("Remove")}
        if n > 1 and not predictor.model.ignores_order:
            labels[MOVE] = _("Move")
        action = segmented_control(_("Change"), labels, f"what-if-action-{len(labels)}")
        if action == REMOVE:
            return remove_film(films, position)
        default = n if position < n - 1 else 1  # the end of the list, or the beginning for the last film
        key = f"what-if-to-{n}-{position}"
        new_position = int(st.number_input(_("New position"), 1, n, default, key=key, width=170)) - 1
    if new_position == position:
        st.caption(_("The film is already at position {position}. Select another position.", position=position + 1))
        return None
    return move_film(films, position, new_position)


def _show_changes(predictor: Predictor, request: Request, changed_request: Request) -> None:
    """Show the changes of the recommendations, and a button that changes the visitor's list.

    changed_request: The request with the changed list.
    """
    changes = _cached_rank_changes(predictor, request, changed_request)
    st.markdown(f"**{format.escape_markdown(summary(changes, cache.recommender_title(predictor)))}**")
    st.html(table(changes, predictor.dataset.catalog.films))

    def change_list() -> None:
        session.set_films(changed_request.history)
        st.rerun()  # the whole page, not only the fragment

    button(_("Apply to your list"), "what-if-apply", "check", change_list)


_cached_rank_changes = cache.cached_for_predictor()(rank_changes)


def summary(changes: list[RankChange], model: str) -> str:
    """Return a sentence with the number of films for each `Change`. model: Title of the recommender."""
    counts = Counter(film_change.change for film_change in changes)
    if set(counts) <= {Change.STAYED}:
        return _("{model} recommends the same {k} films in the same order.", k=len(changes), model=model)
    texts = {
        Change.ENTERED: ngettext("{n} film is new", "{n} films are new", counts[Change.ENTERED]),
        Change.ROSE: ngettext("{n} film moves up", "{n} films move up", counts[Change.ROSE]),
        Change.STAYED: ngettext("{n} film keeps its rank", "{n} films keep their rank", counts[Change.STAYED]),
        Change.FELL: ngettext("{n} film moves down", "{n} films move down", counts[Change.FELL]),
        Change.LEFT: ngettext("{n} film drops out", "{n} films drop out", counts[Change.LEFT]),
    }
    return ", ".join(text for change, text in texts.items() if counts[change]) + "."


def table(changes: list[RankChange], catalog_films: list[Film]) -> str:
    """Return an HTML list of the new recommendations, followed by the films that dropped out."""
    rows = "".join(_row(film_change, catalog_films[film_change.item]) for film_change in changes)
    return f'<ol class="nr-shifts">{rows}</ol>'


def _row(film_change: RankChange, film: Film) -> str:
    """Return the HTML of a film with the change of its rank and probability.

    A rise is green, and a fall is orange. If rank and probability changed in opposite directions, there is no colour.
    """
    change, before, after = film_change.change, film_change.before, film_change.after
    text, css_class, percentages = _change_text(film_change), change.value, ""
    if before.probability is not None and after.probability is not None:
        # a film without a rank is excluded, usually because it is in the visitor's list
        before_text = format.precise_percent(before.probability) if before.rank else "–"
        after_text = format.precise_percent(after.probability) if after.rank else "–"
        percentages = _("{before} → {after}", before=before_text, after=after_text)
        if change in (Change.ENTERED, Change.ROSE) and after.probability < before.probability:
            css_class, text = "mixed", text + _(", but less likely")
        if change in (Change.FELL, Change.LEFT) and after.probability > before.probability:
            css_class, text = "mixed", text + _(", but more likely")
    return (
        f'<li class="nr-line nr-{css_class}">'
        f'<span class="nr-mark" aria-hidden="true">{ICONS[change]}</span>'
        f'<span class="nr-text"><b>{escape(film.label)}</b><span class="nr-quiet">{escape(text)}</span></span>'
        f'<span class="nr-figures">{escape(percentages)}</span></li>'
    )


def _change_text(film_change: RankChange) -> str:
    """Return the change of the rank of a film in words."""
    rank_before, rank_after = film_change.before.rank, film_change.after.rank
    if rank_before is None:
        return _("new at rank {after}, was not available before", after=rank_after)
    if rank_after is None:
        return _("no longer available, was at rank {before}", before=rank_before)
    return _(CHANGE_TEXTS[film_change.change], before=rank_before, after=rank_after)
