"""What the sections of the Evaluation page share: the choice of a metric, of models, a chart with its data."""

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages import _download as downloads
from pages import _shared as shared
from pages import _words as words
from pages._measured import Shown
from recsys.data.schema import Dataset
from recsys.evaluation import results

__all__ = ["Shown", "chart", "choose_metric", "choose_models", "data_of", "download"]

PLAIN = {"displayModeBar": False}


def choose_metric() -> str:
    """The metric, the same in all sections."""
    return st.selectbox(
        words.METRIC,
        results.METRICS,
        index=results.METRICS.index("ndcg@10"),
        format_func=words.metric_name,
        key="metric",
        width=130,
        persist_state="session",
    )


def choose_models(shown: Shown, variants: list[str], first: list[str], key: str, most: int = 6) -> list[str]:
    """Some of the variants, in the order of the leaderboard."""
    chosen = st.multiselect(
        words.RECOMMENDERS,
        variants,
        default=first,
        format_func=lambda variant: shown.titles.get(variant, variant),
        max_selections=most,
        placeholder=words.CHOOSE_SOME,
        key=f"{key}-{shown.name}",
        width=620,
        wrap=True,
        persist_state="session",
    )
    return [variant for variant in variants if variant in chosen]


def chart(figure: go.Figure, about: str, table: pd.DataFrame, name: str) -> None:
    """A chart and, below it, its numbers to take away."""
    with st.container(key=f"chart-{name.replace('@', '-')}"):
        st.plotly_chart(figure, alt=about, config=PLAIN)
    download(table, name)


def download(table: pd.DataFrame, name: str) -> None:
    """The numbers behind a table or a chart."""
    downloads.csv(table, name, quiet=True)


def data_of(shown: Shown) -> Dataset | None:
    """The data set that was measured on; None after having said what to do where it is not on this machine."""
    try:
        dataset = shared.dataset(shown.dataset)
    except shared.TROUBLE as error:
        shared.explain(error)
        return None
    if dataset.fingerprint in set(shown.board["fingerprint"]):
        return dataset
    st.info(words.OTHER_DATA.format(data=shared.data_title(shown.dataset)), icon=":material/info:")
    st.code(words.EVALUATE_ALL_LINE.format(data=shown.dataset, protocol=shown.protocol), language=None, wrap_lines=True)
    return None
