"""Leaderboard: ours beside what others published, with intervals and which differences are significant."""

from typing import Any

import pandas as pd
import streamlit as st

from pages.evaluation import board, choice, measured, words
from pages.evaluation.measured import Shown
from pages.evaluation.parts import numbers
from pages.shared import errors
from pages.shared import words as common
from recsys.evaluation import compare, results

FIRST_COLUMNS = ["title", "ndcg@10", "hr@10", "hr@1", "mrr"]  # those that fit on a phone, then others


def show(shown: Shown) -> None:
    """A metric and families to choose, the intervals or all figures."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        metric = choice.metric()
        families = choose_families(shown)
        view = choose_view()
    ours, theirs = of_families(shown, families)
    if ours.empty:
        st.info(words.NONE_OF_FAMILY, icon=":material/filter_alt:")
    elif view == words.VIEW_BOARD:
        intervals(shown, ours, theirs, metric)
    else:
        all_figures(shown, ours, theirs)


def choose_families(shown: Shown) -> list[str]:
    """Families of recommenders; none: all."""
    return st.multiselect(
        words.FAMILIES,
        list(dict.fromkeys(shown.board["family"])),
        placeholder=words.ALL_FAMILIES,
        key=f"families-{shown.name}",
        width=330,
        persist_state="session",
    )


def choose_view() -> str:
    """Intervals or all figures."""
    return st.segmented_control(
        common.VIEW,
        [words.VIEW_BOARD, words.VIEW_FIGURES],
        default=words.VIEW_BOARD,
        required=True,
        key="board_view",
        persist_state="session",
    )


def of_families(shown: Shown, families: list[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Our rows and the published ones of those families; all where none is named."""
    theirs = results.published(shown.dataset, shown.protocol)
    if not families:
        return shown.board, theirs
    ours = shown.board[shown.board["family"].isin(families)]
    return ours, theirs[theirs["variant"].isin(ours["variant"])]


def intervals(shown: Shown, ours: pd.DataFrame, theirs: pd.DataFrame, metric: str) -> None:
    """The table with a mark and a bar in each row: at once without the tests, which take a moment the first time."""
    slot = st.empty()
    slot.html(board.html(ours, theirs, metric, None))
    verdicts, damaged = measured.verdicts(shown, metric)
    errors.explain_all(damaged)
    tests = compare.against_best(verdicts)
    slot.html(board.html(ours, theirs, metric, tests))
    no_difference = words.NO_DIFFERENCE.format(sure=compare.SURE)
    notes = [words.METRIC_MEANING[metric.split("@")[0]], words.LEADERBOARD_HELP, no_difference]
    st.caption(" ".join([*notes, *([] if theirs.empty else [words.PUBLISHED_NOTE])]))
    tested = tests.drop(columns=["metric", "users"])
    numbers(ours.merge(tested, how="left", on="variant"), f"leaderboard-{shown.name}")


def all_figures(shown: Shown, ours: pd.DataFrame, theirs: pd.DataFrame) -> None:
    """Every figure, and the sources of those of others."""
    rows = ours.assign(date=ours["date"].str[:10])  # the day is enough to read; the download has the second
    first = [*FIRST_COLUMNS, "family"]
    figures(rows[[*first, *(name for name in results.METRICS if name not in first), "seeds", "date"]])
    numbers(ours, f"figures-{shown.name}")
    if not theirs.empty:
        st.subheader(words.PUBLISHED_TITLE)
        st.caption(words.PUBLISHED_HELP)
        figures(theirs[[*FIRST_COLUMNS, "rules", "source"]].dropna(axis="columns", how="all"))
        numbers(theirs, f"published-{shown.name}")


def figures(table: pd.DataFrame) -> None:
    """A table that sorts; name and NDCG@10 fit on a phone."""
    columns: dict[str, Any] = {name: title for name, title in words.COLUMNS.items() if name in table}
    columns |= {
        name: st.column_config.NumberColumn(words.metric_name(name), format="%.4f", width=86)
        for name in results.METRICS
        if name in table
    }
    columns["title"] = st.column_config.TextColumn(words.COLUMNS["title"], width=170, pinned=True)
    st.dataframe(table, hide_index=True, column_config=columns, placeholder="–", alt=words.LEADERBOARD)
