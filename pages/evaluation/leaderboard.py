"""Leaderboard: ours beside what others published, with intervals and which differences are significant.

A click on a title, or on a row of all figures, tells where the figures come from.
"""

from typing import Any

import pandas as pd
import streamlit as st

from pages.evaluation import about, absent, board, choice, measured, words
from pages.evaluation.measured import Shown
from pages.ui import errors, format
from pages.ui.charts import download_numbers, localised_table
from pages.ui.i18n import _, number, say
from recsys.evaluation import published_figures, results, significance

BOARD, FIGURES = "intervals", "all-figures"  # ways to see it
FIRST_COLUMNS = ["title", "ndcg@10", "hr@10", "mrr", "hr@1"]  # those that fit on a phone, then others


def show(shown: Shown) -> None:
    """A metric and families to choose, the intervals or all figures."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        metric = choice.metric()
        families = choose_families(shown)
        view = choose_view()
    ours, theirs = of_families(shown, families)
    if ours.empty:
        st.info(
            _("No recommender of these families has been measured here. Choose others, or none to see all."),
            icon=":material/filter_alt:",
        )
    elif view == BOARD:
        intervals(shown, ours, theirs, metric)
    else:
        all_figures(shown, ours, theirs)
    absent.show(shown)


def choose_families(shown: Shown) -> list[str]:
    """Families of recommenders; none: all."""
    return st.multiselect(
        _("Families"),
        list(dict.fromkeys(shown.board["family"])),
        select_all=False,
        format_func=say,
        placeholder=_("All families"),
        key=f"families-{shown.name}",
        width=330,
        persist_state="session",
    )


def choose_view() -> str:
    """Intervals or all figures."""
    return st.segmented_control(
        _("Show as"),
        [BOARD, FIGURES],
        default=BOARD,
        required=True,
        format_func={BOARD: _("Intervals"), FIGURES: _("All figures")}.__getitem__,
        key="board_view",
        persist_state="session",
    )


def of_families(shown: Shown, families: list[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Our rows and the published ones of those families; all where none is named."""
    theirs = published_figures.published(shown.dataset, shown.protocol)
    if not families:
        return shown.board, theirs
    ours = shown.board[shown.board["family"].isin(families)]
    return ours, theirs[theirs["variant"].isin(ours["variant"])]


def intervals(shown: Shown, ours: pd.DataFrame, theirs: pd.DataFrame, metric: str) -> None:
    """The table with a mark and a bar in each row: at once without the tests, which take a moment the first time."""
    known = {variant: about.ours(document) for variant, document in measured.documents(shown).items()}
    with_figure = theirs.dropna(subset=[metric]) if metric in theirs else theirs[:0]
    slot = st.empty()
    slot.html(board.html(ours, with_figure, metric, None, known))
    verdicts, damaged = measured.verdicts(shown, metric)
    errors.show_file_errors(damaged)
    tests = significance.against_best(verdicts)
    slot.html(board.html(ours, with_figure, metric, tests, known))
    no_difference = _(
        "≈ marks those with no significant difference from the best: paired randomisation test on "
        "the same people, p of {sure} or more after Holm's correction for all pairs of this "
        "leaderboard.",
        sure=number(significance.ALPHA, ""),
    )
    st.caption(
        " ".join(
            [
                words.METRIC_MEANING[metric.split("@")[0]],
                _(
                    "The bar is the 95% interval over people: where the figure would fall for other people like "
                    "these. Figures are means over the trained seeds. Click a title to see where its figures "
                    "come from."
                ),
                no_difference,
            ]
        )
    )
    if len(with_figure):
        st.html(board.letters(with_figure))
    tested = tests.drop(columns=["metric", "users"])
    download_numbers(ours.merge(tested, how="left", on="variant"), f"leaderboard-{shown.name}")


def all_figures(shown: Shown, ours: pd.DataFrame, theirs: pd.DataFrame) -> None:
    """Every figure, where those of a row come from, and the sources of those of others."""
    rows = ours.assign(
        date=ours["date"].str[:10], family=ours["family"].map(say)
    )  # the day is enough to read; the download has the second
    first = [*FIRST_COLUMNS, "family"]
    table = rows[[*first, *(name for name in results.METRICS if name not in first), "seeds", "users", "date"]]
    row = figures(table, f"figures-{shown.name}")
    if row is None:
        st.caption(_("Tick a row to see its command, commit, seeds and people."))
    else:
        explain(about.ours(measured.documents(shown)[ours["variant"].iloc[row]]))
    download_numbers(ours, f"figures-{shown.name}")
    if not theirs.empty:
        st.header(_("Published figures"))
        st.caption(
            _("From papers and public repositories, not measured by us. The table says how the rules of each differ.")
        )
        for told, heading in (
            (False, ""),
            (True, _("Not comparable: published for models that are told when the hidden film was watched")),
        ):
            part = theirs[theirs["knows_the_time"] == told]
            if len(part):
                st.markdown(f"**{heading}**" if heading else " ")
                shown_columns = [*FIRST_COLUMNS, "hr@5", "ndcg@5", "code", "rules", "source"]
                columns = in_words(part[shown_columns].dropna(axis="columns", how="all"))
                figures(columns, f"published-{told}-{shown.name}", heading or _("Published figures"), choose=False)
        download_numbers(theirs, f"published-{shown.name}")


def in_words(theirs: pd.DataFrame) -> pd.DataFrame:
    """Published figures with titles, rules and sources in the visitor's language."""
    return theirs.assign(
        title=theirs["title"].map(say), rules=theirs["rules"].map(words.rules), source=theirs["source"].map(say)
    )


def explain(known: about.About) -> None:
    """Where the figures of a row come from; the commands with a button that copies them."""
    with st.container(border=True):
        facts = [f"{what}: {how}" for what, how in known.facts.items()]
        st.markdown(f"**{format.escape_markdown(known.title)}**  \n{format.escape_markdown(' · '.join(facts))}")
        st.caption(_("To make them again, in a terminal:"))
        st.code("\n".join(known.commands), language=None, wrap_lines=True)


def figures(table: pd.DataFrame, key: str, about_table: str = "", choose: bool = True) -> int | None:
    """A table that sorts; name, NDCG@10, HR@10 and MRR fit on a phone. Returns the row that was chosen, if any."""
    about_table = about_table or _("Leaderboard")
    columns: dict[str, Any] = {name: title for name, title in words.COLUMNS.items() if name in table}
    columns |= {
        name: st.column_config.NumberColumn(words.metric_name(name), width=68)
        for name in results.METRICS
        if name in table
    }
    columns["title"] = st.column_config.TextColumn(words.COLUMNS["title"], width=150, pinned=True)
    shown: dict[str, Any] = {"hide_index": True, "column_config": columns, "placeholder": "–", "key": key}
    if not choose:
        st.dataframe(localised_table(table), **shown, alt=about_table)
        return None
    event = st.dataframe(
        localised_table(table), **shown, alt=about_table, on_select="rerun", selection_mode="single-row"
    )
    return next(iter(event.selection.rows), None)
