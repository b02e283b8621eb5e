"""Confidence: how sure recommenders are, and how often right; over all people, then for one of them."""

import pandas as pd
import streamlit as st

from pages.evaluation import choice, sure
from pages.evaluation.charts import lines
from pages.evaluation.measured import Shown
from pages.ui.charts import chart
from pages.ui.i18n import _
from recsys.evaluation import tables


def show(shown: Shown) -> None:
    """Predicted against observed, by probability and by rank; then one person's list."""
    bins, by_rank = tables.reliability(shown.dataset, shown.protocol, shown.board["variant"].tolist())
    if bins.empty:
        st.info(
            _(
                "No result here holds probabilities. They are measured where all films are ranked, for "
                "recommenders whose scores are a probability."
            ),
            icon=":material/info:",
        )
        return
    known = list(dict.fromkeys(bins["variant"]))
    chosen = choice.recommenders(shown, known, known[:6], "calibration")
    if chosen:
        over_people(shown, bins, by_rank, chosen)
    sure.show(shown, known)


def over_people(shown: Shown, bins: pd.DataFrame, by_rank: pd.DataFrame, chosen: list[str]) -> None:
    """What was measured over all test people."""
    if over_all := over_all_films(bins, chosen):
        names = _("All of these") if len(over_all) == len(chosen) > 1 else shown.names(over_all)
        own = by_rank[by_rank["variant"] == over_all[0]]
        predicted, observed = own["predicted"].sum(), own["hit_rate"].sum()
        first = shown.title(over_all[0])
        st.caption(
            _(
                "{names}: measured over all films, including those already watched, which never come next in "
                "this test; what a recommender gives to them is missing from the others. {first} gives its "
                "top ten {predicted:.0%} in all, and {observed:.0%} come true. The page Watch next shows "
                "probabilities among films not watched yet.",
                names=names,
                first=first,
                predicted=predicted,
                observed=observed,
            )
        )
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
    st.header(_("How sure, and how often right"))
    st.caption(
        _(
            "Each mark is a tenth of all recommended films, by the probability given to them. On the "
            "line, 20% means right in one case of five; below it the recommender is overconfident. Both "
            "axes are logarithmic."
        )
    )
    figure = lines.reliability(by_variant(bins, chosen), shown.titles)
    chart(
        figure,
        _(
            "Share of recommended films that came true against their predicted probability, for {names}",
            names=shown.names(chosen),
        ),
        bins,
        f"reliability-{shown.name}",
    )


def overconfidence(shown: Shown, by_rank: pd.DataFrame, chosen: list[str]) -> None:
    """Predicted over observed, by rank."""
    st.header(_("Overconfidence by rank"))
    st.caption(
        _(
            "Predicted probability over the share that came true, at each rank of the list; 1 is "
            "calibrated. Training with few negatives makes recommenders overconfident, as Petrov and "
            "Macdonald show (gSASRec, arXiv:2308.07192)."
        )
    )
    figure = lines.overconfidence(by_variant(by_rank, chosen), shown.titles)
    chart(
        figure,
        _("Predicted probability over the share that came true, by rank, for {names}", names=shown.names(chosen)),
        by_rank,
        f"sure-by-rank-{shown.name}",
    )


def by_variant(table: pd.DataFrame, chosen: list[str]) -> dict[str, pd.DataFrame]:
    """Variant → its rows."""
    return {variant: table[table["variant"] == variant] for variant in chosen}
