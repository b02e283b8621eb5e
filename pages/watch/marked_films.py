"""Popovers with marked films: films that the visitor wants to watch later, has seen, or does not want to watch."""

from dataclasses import dataclass

import streamlit as st

from pages.ui import browser, page, session
from pages.ui.format import escape_markdown
from pages.ui.i18n import N_, _
from pages.ui.visitor import LATER, NOT_INTERESTED, WATCHED_BEFORE, visitor
from pages.ui.widgets import button
from pages.watch import filters
from recsys.data.dataset import Dataset


@dataclass(frozen=True)
class MarkPopover:
    """Texts, key and icon of the popover with the films that have a mark."""

    label: str
    caption: str
    key: str
    icon: str


POPOVERS = {
    LATER: MarkPopover(
        N_("Watch later · {n}"),
        N_("Your “Watch later” list. “Share” exports it with your films."),
        "later_open",
        "bookmark",
    ),
    WATCHED_BEFORE: MarkPopover(
        N_("Seen · {n}"),
        N_("These films are not recommended to you. They do not affect the other recommendations."),
        "seen_open",
        "visibility",
    ),
    NOT_INTERESTED: MarkPopover(
        N_("Not for me · {n}"),
        N_(
            "These films are not recommended to you, and films like them rank lower. To bring back the last one, you "
            "can also click Undo."
        ),
        "unwanted_open",
        "thumb_down",
    ),
}


def popovers(dataset: Dataset) -> None:
    """Show a popover for each mark that at least one film has."""
    for mark, popover in POPOVERS.items():
        if numbers := getattr(visitor().current, mark):  # a mark is the name of a field of `ListState`
            panel = page.stable_popover(_(popover.label, n=len(numbers)), popover.key, popover.icon)
            if panel.open:
                with panel, page.popover_content(popover.key):
                    st.caption(_(popover.caption))
                    _show_films(dataset, numbers, mark)


def _show_films(dataset: Dataset, numbers: tuple[int, ...], mark: str) -> None:
    """Show a remove button for each film, and an Add button for each film to watch later.

    Both buttons remove the film from the popover. Then the focus moves to the next film or, if none is left, to the
    button that opens the filters.
    """

    def remove(number: int, next_keys: list[str]) -> None:
        session.unmark_film(number, mark)
        browser.focus_on(*next_keys, filters.OPEN_KEY)

    def add(number: int, next_keys: list[str]) -> None:
        session.add_film(number)  # this also removes the mark
        browser.focus_on(*next_keys, filters.OPEN_KEY)

    for position, number in enumerate(numbers):
        name = escape_markdown(dataset.catalog.films[number].label)
        next_keys = [f"back-{other}" for other in numbers[position + 1 :] + numbers[:position]]
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            remove_label = _("Remove {film}", film=name) if mark == LATER else _("Recommend {film} again", film=name)
            button(remove_label, f"back-{number}", "undo", remove, number, next_keys, type="tertiary")
            if mark == LATER and number not in visitor().current.films:
                label = _("Add *{film} to your films*", film=name)
                button(label, f"watched-{number}", "add", add, number, next_keys, type="tertiary")
