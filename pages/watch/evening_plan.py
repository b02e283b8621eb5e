"""The panel of Watch next that plans an evening of several films.

Session state: evening (`PlanDecisions`) · evening_films (number of films).
"""

from dataclasses import dataclass, replace

import streamlit as st

from pages.ui import browser, cache, errors, film_cards, format, session
from pages.ui.i18n import _, ngettext
from pages.ui.widgets import button, segmented_control
from recsys.serving.evening_plan import DEFAULT_LENGTH, PlanStep, plan_evening, plan_reasons
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import Request

LENGTHS = (2, 3, 4, 5)  # films


@dataclass(frozen=True)
class PlanDecisions:
    """The decisions of the visitor about the films of a plan."""

    basis: tuple[str, Request]  # `Predictor.key` and request of the plan; with another basis, a new plan begins
    kept_steps: tuple[PlanStep, ...] = ()  # steps before the film that was rejected last; the rest is planned again
    rejected_items: tuple[int, ...] = ()  # items that the plan must not contain


@st.fragment
@errors.show_errors()
def panel(predictor: Predictor, request: Request) -> None:
    """Show the panel. It is closed by default, and nothing is computed before it is opened."""
    with st.expander(_("Plan an evening"), icon=":material/nightlife:", key="plan", on_change="rerun") as expander:
        if not expander.open:
            return
        text = _(
            "Films for one evening. Each is chosen as if you had just watched the films before it, and no two "
            "belong to the same film series."
        )
        st.caption(text)
        lengths = {n: str(n) for n in LENGTHS}
        length = segmented_control(_("How many films"), lengths, "evening_films", default=DEFAULT_LENGTH)
        basis = predictor.key, replace(request, k=0)  # a plan does not depend on `Request.k`
        decisions = st.session_state.get("evening")
        if decisions is None or decisions.basis != basis:
            decisions = st.session_state.evening = PlanDecisions(basis)
        steps = _cached_plan(predictor, request, length, decisions.rejected_items, kept=decisions.kept_steps[:length])
        _show_films(predictor, request, decisions, steps)
        _explain(predictor, steps, length)
        _show_buttons(decisions, steps)
    browser.place_focus("focus-keeper-evening")


_cached_plan = cache.cached_for_predictor()(plan_evening)
_cached_reasons = cache.cached_for_predictor()(plan_reasons)


def _show_films(predictor: Predictor, request: Request, decisions: PlanDecisions, steps: list[PlanStep]) -> None:
    """Show the planned films, each with a reason and a button that rejects it."""
    max_probability = max((step.probability or 0.0 for step in steps), default=0.0)
    catalog_films = predictor.dataset.catalog.films
    reasons = _cached_reasons(predictor, request, tuple(step.item for step in steps))

    def reject(position: int, item: int, earlier_steps: list[PlanStep]) -> None:
        """Reject the film at a position, and keep the steps before it. The rest is planned again."""
        browser.focus_on(f"reject-{position}", "plan-afresh")
        rejected_items = (*decisions.rejected_items, item)
        st.session_state.evening = PlanDecisions(decisions.basis, tuple(earlier_steps), rejected_items)

    with st.container(key="evening", gap="xsmall"):
        for position, (step, reason_items) in enumerate(zip(steps, reasons, strict=True)):
            film = catalog_films[step.item]
            titles = [catalog_films[item].title for item in reason_items]  # at most two
            if not titles:
                note = _("No single film is the reason")
            elif len(titles) == 1:
                note = _("Because of {film}", film=titles[0])
            else:
                note = _("Because of {film} and {other}", film=titles[0], other=titles[1])
            with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
                st.html(film_cards.row(position + 1, film, step.probability, max_probability, note=note))
                label = _("*Reject {film} and plan the rest again*", film=format.escape_markdown(film.label))
                arguments = position, step.item, steps[:position]
                button(label, f"reject-{position}", "thumb_down", reject, *arguments, type="tertiary")


def _explain(predictor: Predictor, steps: list[PlanStep], length: int) -> None:
    """Show how the films were chosen, and a note if there are fewer than `length`."""
    if not steps:
        text = _(
            "There are no films left for the plan. Click “Start over”, change the filters, change the list under "
            "“Use a list”, or remove a film from your own list."
        )
        st.info(text)
        return
    if len(steps) < length:
        st.caption(ngettext("Only {n} film is left for the plan.", "Only {n} films are left for the plan.", len(steps)))
    title = cache.recommender_title(predictor)
    text = (
        _(
            "{model} gives no probabilities, so each film is its top recommendation after the previous film.",
            model=title,
        )
        if steps[0].probability is None
        else _("{model} compared several plans. This one has the highest probability as a whole.", model=title)
    )
    st.caption(format.escape_markdown(text))


def _show_buttons(decisions: PlanDecisions, steps: list[PlanStep]) -> None:
    """Show a button that adds the planned films to the visitor's films, and a button that clears the decisions."""

    def add_all() -> None:
        session.add_films([step.item for step in steps])
        browser.focus_on("plan-add", "search")
        st.rerun()  # the whole page, not only the fragment

    def start_over() -> None:
        st.session_state.pop("evening", None)  # a second click can come before the page has run again
        browser.focus_on("plan-add")  # the clicked button is disabled now

    with st.container(horizontal=True, gap="small"):
        button(_("Add all to your films"), "plan-add", "playlist_add", add_all, disabled=not steps)
        button(_("Start over"), "plan-afresh", "restart_alt", start_over, disabled=not decisions.rejected_items)
