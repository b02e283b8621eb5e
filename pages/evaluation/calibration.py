"""Confidence: how sure recommenders are, and how often right; over all people, then for one of them."""

import pandas as pd
import streamlit as st

from pages.evaluation import choice, sure, words
from pages.evaluation.charts import lines
from pages.evaluation.measured import Shown
from pages.ui.charts import chart
from recsys.evaluation import tables


def show(shown: Shown) -> None:
    """Predicted against observed, by probability and by rank; then one person's list."""
    bins, by_rank = tables.reliability(shown.dataset, shown.protocol, shown.board["variant"].tolist())
    if bins.empty:
        st.info(words.NO_CALIBRATION, icon=":material/info:")
        return
    known = list(dict.fromkeys(bins["variant"]))
    chosen = choice.recommenders(shown, known, known[:6], "calibration")
    if chosen:
        over_people(shown, bins, by_rank, chosen)
    sure.show(shown, known)


def over_people(shown: Shown, bins: pd.DataFrame, by_rank: pd.DataFrame, chosen: list[str]) -> None:
    """What was measured over all test people."""
    if over_all := over_all_films(bins, chosen):
        names = words.ALL_CHOSEN if len(over_all) == len(chosen) > 1 else shown.names(over_all)
        own = by_rank[by_rank["variant"] == over_all[0]]
        predicted, observed = own["predicted"].sum(), own["hit_rate"].sum()
        first = shown.title(over_all[0])
        st.caption(words.OVER_ALL.format(names=names, first=first, predicted=predicted, observed=observed))
    with st.grid(2, min_column_width=320):
        with st.container():
            by_probability(shown, bins, chosen)
        with st.container():
            overconfidence(shown, by_rank, chosen)


def over_all_films(bins: pd.DataFrame, chosen: list[str]) -> list[str]:
    """Those of the chosen whose probabilities were measured over all films, already watched ones included."""
    found = set(bins.loc[bins["over"] == tables.ALL_ITEMS, "variant"])
    return [variant for variant in chosen if variant in found]


def by_probability(shown: Shown, bins: pd.DataFrame, chosen: list[str]) -> None:
    """Share that came true against predicted probability."""
    st.header(words.SURE)
    st.caption(words.SURE_HELP)
    figure = lines.reliability(by_variant(bins, chosen), shown.titles)
    chart(figure, words.SURE_ALT.format(names=shown.names(chosen)), bins, f"reliability-{shown.name}")


def overconfidence(shown: Shown, by_rank: pd.DataFrame, chosen: list[str]) -> None:
    """Predicted over observed, by rank."""
    st.header(words.BY_RANK)
    st.caption(words.BY_RANK_HELP)
    figure = lines.overconfidence(by_variant(by_rank, chosen), shown.titles)
    chart(figure, words.BY_RANK_ALT.format(names=shown.names(chosen)), by_rank, f"sure-by-rank-{shown.name}")


def by_variant(table: pd.DataFrame, chosen: list[str]) -> dict[str, pd.DataFrame]:
    """Variant → its rows."""
    return {variant: table[table["variant"] == variant] for variant in chosen}
