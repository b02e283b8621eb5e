"""What the sections of the Evaluation page let people choose: data set, protocol, metric, recommenders.

Session state: results_for (the visitor's data set when the page was last shown).
"""

import streamlit as st

from pages.evaluation import words
from pages.evaluation.measured import Shown
from pages.ui import cache, url
from pages.ui.i18n import _
from recsys.data import datasets
from recsys.evaluation import protocols, results


def dataset_and_protocol(available: list[tuple[str, str]]) -> tuple[str, str]:
    """A data set and a protocol, among those with results; the visitor's own set is offered without results too."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        dataset = _dataset(url.datasets_with_results())
        offered = protocols.in_order(protocol for name, protocol in available if name == dataset)
        offered = offered or [datasets.serving_split(dataset).protocol]  # of a set without results
        protocol = st.segmented_control(
            _("Protocol"),
            offered,
            default=offered[0],
            required=True,
            format_func=words.protocol,
            key=f"protocol-{dataset}",
            wrap=True,
            persist_state="session",
        )
    return dataset, protocol


def _dataset(names: list[str]) -> str:
    """A data set: the one that is open, where it has results, until another is chosen."""
    state, current = st.session_state, st.session_state.data
    changed = state.get("results_for", current) != current  # on another page
    if (changed and current in names) or state.get("results_of", names[0]) not in names:
        state.results_of = current if current in names else names[0]
    state.results_for = current
    return st.selectbox(
        _("Films from"),
        names,
        index=names.index(current) if current in names else 0,
        format_func=cache.dataset_title,
        key="results_of",
        width=230,
        persist_state="session",
    )


def metric() -> str:
    """The metric, the same in all sections."""
    return st.selectbox(
        _("Metric"),
        results.METRICS,
        index=results.METRICS.index("ndcg@10"),
        format_func=words.metric_name,
        key="metric",
        width=130,
        persist_state="session",
    )


def recommenders(shown: Shown, variants: list[str], first: list[str], key: str, most: int = 6) -> list[str]:
    """Some of the variants, in the order of the leaderboard."""
    chosen = st.multiselect(
        _("Recommenders"),
        variants,
        select_all=False,
        default=first,
        format_func=shown.title,
        max_selections=most,
        placeholder=_("Choose at least one recommender."),
        key=f"{key}-{shown.name}",
        width=620,
        wrap=True,
        persist_state="session",
    )
    return [variant for variant in variants if variant in chosen]
