"""Shared parts of the tabs of Compare: the menu of recommenders, their predictors, and tables of ranks.

Session state: compared (names of the recommenders) · how_many_each (number of films in each list).
"""

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from pages.ui import cache, charts, format, recommenders, session
from pages.ui.charts import ACCENT
from pages.ui.i18n import _, join_names, ngettext
from pages.ui.url import LIST_LENGTHS
from pages.ui.widgets import segmented_control
from recsys.data.dataset import Dataset
from recsys.serving.insight import list_comparison
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import RankPosition

Value = TypeVar("Value")
MAX_ALPHA = 140  # opacity of the strongest shade of a cell, 0 … 255
BAR_COLOUR = f"{ACCENT}55"  # #rrggbbaa, opacity 1/3


def select_recommenders(dataset: Dataset) -> tuple[list[str], int]:
    """Show the controls. Return the names of the recommenders and the number of films in each list."""
    labels = recommenders.menu_labels(dataset.name)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        recommenders.preserve_widget_value("compared")
        names = st.multiselect(
            _("Recommenders"),
            list(labels),
            select_all=False,
            default=recommenders.default_comparison(dataset.name),
            format_func=labels.__getitem__,
            max_selections=recommenders.MAX_COMPARED,
            placeholder=_("Choose two or more"),
            help=_(
                "Choose up to {n} recommenders. You can type a name to find one. Recommenders that are not ready yet "
                "are marked. If you choose one of them, its column shows how to get it.",
                n=recommenders.MAX_COMPARED,
            ),
            width=820,
            wrap=True,
            key="compared",
            persist_state="session",
        )
        k = segmented_control(_("How many"), {n: str(n) for n in LIST_LENGTHS}, "how_many_each", default=10)
    return names, k


def start_fits(dataset: Dataset, names: list[str]) -> Callable[[str], Predictor | None]:
    """Start the missing fits of recommenders in the background, in parallel. Return a `predictor_getter`."""
    recommenders.start([name for name in names if recommenders.can_answer(name, dataset.name)], dataset)
    return predictor_getter(dataset)


def predictor_getter(dataset: Dataset) -> Callable[[str], Predictor | None]:
    """Return a function: name of a recommender → its predictor, adapted to the visitor's list.

    If the recommender is not ready, the function shows why and returns None. All calls of the function together wait
    at most `recommenders.MAX_WAIT_SECONDS` seconds for running fits.
    """
    deadline = time.monotonic() + recommenders.MAX_WAIT_SECONDS

    def get_predictor(name: str) -> Predictor | None:
        predictor = recommenders.predictor(name, dataset, wait_seconds=max(0.0, deadline - time.monotonic()))
        return predictor and session.adapt_to_current_list(predictor)

    return get_predictor


def compute_for_ready(dataset: Dataset, names: list[str], compute: Callable[[Predictor], Value]) -> dict[str, Value]:
    """Return title of a recommender → value of `compute` for its predictor, for each recommender that is ready.

    The page shows the progress of running fits. A caption names the recommenders that are untrained or whose fit takes
    too long.
    """
    get_predictor = start_fits(dataset, names)
    values, unavailable = {}, []
    for name in names:
        if recommenders.state(name, dataset.name) in (recommenders.State.UNTRAINED, recommenders.State.TOO_SLOW):
            unavailable.append(cache.recommender_title(cache.all_recommenders()[name]))
        elif predictor := get_predictor(name):
            values[cache.recommender_title(predictor)] = compute(predictor)
    if unavailable:
        text = ngettext(
            "Not ready for this data set: {models}. The first tab shows how to get it.",
            "Not ready for this data set: {models}. The first tab shows how to get them.",
            len(unavailable),
            models=bold_list(unavailable),
        )
        st.caption(text)
    return values


def bold_list(titles: list[str]) -> str:
    """Return "**A**, **B** and **C**". Titles are bold, because some contain a comma."""
    return join_names([f"**{format.escape_markdown(title)}**" for title in titles])


def show_rank_table(ranks: Mapping[str, RankPosition], film: str, file_name: str, mark_hits: bool = False) -> None:
    """Show the rank of a film with each recommender, best first. A full bar behind a rank means rank 1.

    Args:
        ranks: Title of a recommender → rank.
        film: Title of the film.
        file_name: Name of the downloaded files, without suffix.
        mark_hits: Whether ranks in the top TOP_K have a badge.
    """
    sorted_titles = sorted(ranks, key=lambda title: ranks[title].log_rank_score, reverse=True)
    rank_column = _("Rank")
    rows, bar_styles = [], []
    for title in sorted_titles:
        position = ranks[title]
        text = "–" if position.probability is None else format.escape_markdown(format.percent(position.probability))
        rows.append((rank_text(position, mark_hits), text))
        length = f"{position.log_rank_score:.1%}"
        bar_styles.append(f"background: linear-gradient(90deg, {BAR_COLOUR} {length}, transparent 0)")
    titles = pd.Index([format.escape_markdown(title) for title in sorted_titles], name=_("Recommender"))
    table = pd.DataFrame(rows, titles, [rank_column, _("Probability")])
    alt = _("The rank of the film with each recommender")
    st.table(table.style.apply(lambda _column: bar_styles, subset=[rank_column]), border="horizontal", alt=alt)
    positions = {title: [position] for title, position in ranks.items()}  # `rank_table` expects a list of ranks
    charts.download_buttons(list_comparison.rank_table(positions, [film]), file_name, alt)


def rank_text(position: RankPosition, mark_hits: bool) -> str:
    """Return a rank as Markdown. With `mark_hits`, a rank in the top TOP_K has a badge."""
    if position.rank is None:
        return ":gray[" + _("not in the list") + "]"
    fields = {"rank": position.rank, "n": position.n_ranked}
    if mark_hits and list_comparison.is_hit(position):
        return _("**{rank:,}** :gray[of {n:,}] :green-badge[top {k}]", k=list_comparison.TOP_K, **fields)
    return _("**{rank:,}** :gray[of {n:,}]", **fields)


def shade(table: pd.DataFrame, strengths: pd.DataFrame) -> Styler:
    """Return a table with shaded cells. strengths: From 0 or NaN (no shade) to 1 (strongest shade)."""
    alphas = (strengths * MAX_ALPHA).fillna(0).round().astype(int)
    styles = alphas.map(lambda alpha: f"background-color: {ACCENT}{alpha:02x}")
    return table.style.apply(lambda _table: styles, axis=None)
