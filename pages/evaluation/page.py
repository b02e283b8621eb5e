"""How well each recommender finds the film that people really watched next: one section at a time."""

from collections.abc import Callable

import streamlit as st

from pages import _evaluation_inside as inside
from pages import _evaluation_models as models
from pages import _evaluation_person as one
from pages import _measured
from pages import _shared as shared
from pages import _words as words
from pages._measured import Shown
from recsys.evaluation import results, studies

SECTIONS: dict[str, Callable[[Shown], None]] = {
    "leaderboard": models.leaderboard,
    "protocols": models.protocols,
    "measures": models.measures,
    "curves": inside.curves,
    "slices": inside.for_whom,
    "calibration": inside.calibration,
    "pair": models.pair,
    "person": one.person,
}


def choose(available: list[tuple[str, str]]) -> tuple[str, str]:
    """Which data set and protocol, among those with results."""
    sets = list(dict.fromkeys(dataset for dataset, _ in available))
    current = st.session_state.data
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        first = sets.index(current) if current in sets else 0
        dataset = st.selectbox(
            words.DATA,
            sets,
            index=first,
            format_func=shared.data_title,
            key="results_of",
            width=230,
            persist_state="session",
        )
        protocols = sorted((protocol for name, protocol in available if name == dataset), key=words.protocol_place)
        protocol = st.segmented_control(
            words.PROTOCOL,
            protocols,
            default=protocols[0],
            required=True,
            format_func=words.protocol_name,
            key=f"protocol-{dataset}",
            wrap=True,
            persist_state="session",
        )
    return dataset, protocol


@st.fragment
def report(dataset: str, protocol: str) -> None:
    """One section on a data set under a protocol; a choice within it runs nothing but this."""
    st.caption(words.PROTOCOL_MEANING.get(protocol, protocol))
    board, damaged = _measured.board(dataset, protocol)
    found = studies.studies(damaged.append)
    shared.explain_all(damaged)
    section = _choose_section([*SECTIONS, *(["studies"] if found else [])])
    if section == "studies":
        inside.all_studies(found)
    elif board.empty:
        st.info(words.NOTHING_OF_OURS, icon=":material/leaderboard:")
        line = words.EVALUATE_ALL_LINE.format(data=dataset, protocol=protocol)
        st.code(line, language=None, wrap_lines=True)
    else:
        SECTIONS[section](Shown(dataset, protocol, board))


def _choose_section(sections: list[str]) -> str:
    return st.segmented_control(
        words.SECTION,
        sections,
        default=sections[0],
        required=True,
        format_func=words.SECTIONS.__getitem__,
        key="section",
        label_visibility="collapsed",
        persist_state="session",
    )


shared.enter()
st.title(words.EVALUATION)
st.caption(words.EVALUATION_HELP)
if available := results.available():
    report(*choose(available))
else:
    st.info(words.NO_RESULTS, icon=":material/leaderboard:")
    st.code(words.EVALUATE_LINE, language=None, wrap_lines=True)
