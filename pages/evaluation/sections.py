"""The sections of the Evaluation page: one is shown at a time, below what its protocol means."""

from collections.abc import Callable

import streamlit as st

from pages.evaluation import (
    beside_popular,
    calibration,
    evaluating,
    groups,
    head_to_head,
    leaderboard,
    learning,
    measured,
    person,
    ranks,
    rules,
    studies,
    trade_offs,
    what_it_measures,
    words,
)
from pages.evaluation.measured import Shown
from pages.ui import cache, errors, format, session
from pages.ui.i18n import _
from recsys.data import datasets
from recsys.errors import recsys_command
from recsys.evaluation.studies import studies as read_studies

SECTIONS: dict[str, Callable[[Shown], None]] = {
    "leaderboard": leaderboard.show,
    "protocols": ranks.show,
    "measures": trade_offs.show,
    "curves": learning.show,
    "slices": groups.show,
    "calibration": calibration.show,
    "pair": head_to_head.show,
    "person": person.show,
    "ties": what_it_measures.show,
}


@st.fragment
@errors.show_errors()
def report(dataset: str, protocol: str) -> None:
    """One section on a data set under a protocol; a choice within it runs nothing but this."""
    board, damaged = measured.board(dataset, protocol)
    if board.empty:
        st.caption(words.meaning(protocol))
    else:
        rules.show(Shown(dataset, protocol, board))
    evaluating.show(dataset, protocol, list(board["variant"]))
    if not board.empty and dataset not in datasets.SETS:
        beside_popular.show(Shown(dataset, protocol, board))
    found = read_studies(damaged.append)
    if dataset not in datasets.SETS:
        found = [study for study in found if study.dataset == dataset]
    errors.show_file_errors(damaged)
    offered = [name for name in SECTIONS if name != "ties" or measured.ties(dataset)]
    section = choose([*offered, *(["studies"] if found else [])])
    if section == "studies":
        studies.show(found, dataset)
    elif board.empty:
        nothing(dataset, protocol)
    else:
        SECTIONS[section](Shown(dataset, protocol, board))
    session.write_url()  # a fragment ends here, without app.py


def choose(sections: list[str]) -> str:
    """The selector of the section; the one shown last may be offered for another data set alone."""
    if st.session_state.get("section", sections[0]) not in sections:
        del st.session_state.section
    return st.segmented_control(
        _("What to show"),
        sections,
        default=sections[0],
        required=True,
        format_func=words.SECTIONS.__getitem__,
        key="section",
        label_visibility="collapsed",
        persist_state="session",
    )


def nothing(dataset: str, protocol: str) -> None:
    """How to measure, where nothing was."""
    own = dataset not in datasets.SETS
    text = (
        _("No recommender has been measured on {data} yet.", data=format.escape_markdown(cache.dataset_title(dataset)))
        if own
        else _("Nothing that can be read has been measured under this protocol yet.")
    )
    st.info(text, icon=":material/leaderboard:")
    errors.show_command(recsys_command("evaluate", "all", "--dataset", dataset, "--protocol", protocol))
