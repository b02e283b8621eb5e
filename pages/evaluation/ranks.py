"""Protocols: how the ranks of the same recommenders change from protocol to protocol."""

import pandas as pd
import streamlit as st

from pages.evaluation import choice, measured, words
from pages.evaluation.charts import ranks as charts
from pages.evaluation.measured import Shown
from pages.ui import cache, format
from pages.ui.charts import chart
from pages.ui.i18n import _, ngettext, number
from recsys.evaluation import protocols, results, tables
from recsys.evaluation.significance import FEW_USERS


def show(shown: Shown) -> None:
    """Protocols and a metric to choose; ranks as lines, and how much of the order they share."""
    st.markdown(
        format.escape_markdown(
            _(
                "Where only 100 other films compete, a rank of 1,000 among all films can still be a top ten, "
                "so the figures are far higher and say little about the first ranks, which people see. "
                "Krichene and Rendle (KDD 2020) prove that such sampled metrics can order recommenders "
                "differently from the metrics over all films, even on average, which is why the leaderboard "
                "ranks every film."
            )
        )
    )
    available = protocols.in_order(protocol for dataset, protocol in results.available() if dataset == shown.dataset)
    if len(available) < 2:
        st.info(
            _(
                "Results on {data} exist under one protocol only, so there is nothing to set beside it.",
                data=cache.dataset_title(shown.dataset),
            ),
            icon=":material/info:",
        )
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        chosen = choose(shown, available)
        metric = choice.metric()
    boards = {name: measured.board(shown.dataset, name)[0] for name in chosen}
    table = tables.orders(boards, metric) if chosen else pd.DataFrame()
    if len(chosen) < 2 or table.empty:
        st.info(
            _("No recommender has been measured under all of these protocols. Choose fewer.")
            if len(chosen) > 1
            else _("Choose at least two protocols."),
            icon=":material/info:",
        )
        return
    st.caption(
        _(
            "A recommender's rank under each protocol, among those measured under all that are chosen. "
            "Where lines cross, two recommenders change ranks."
        )
    )
    st.markdown("\n".join(f"- {format.escape_markdown(line)}" for line in lines(table, chosen)))
    about = ngettext(
        "Ranks of {n} recommender by {metric} under {protocols}",
        "Ranks of {n} recommenders by {metric} under {protocols}",
        len(table),
        metric=words.metric_name(metric),
        protocols=", ".join(map(words.protocol, chosen)),
    )
    chart(charts.bump(table, chosen), about, table, f"protocols-{shown.dataset}-{metric}")


def choose(shown: Shown, available: list[str]) -> list[str]:
    """Some of the protocols, in their order."""
    chosen = st.pills(
        _("Under which protocols"),
        available,
        selection_mode="multi",
        default=available,
        format_func=words.protocol,
        key=f"protocols-{shown.dataset}",
        wrap=True,
        persist_state="session",
    )
    return [protocol for protocol in available if protocol in chosen]


def lines(table: pd.DataFrame, chosen: list[str]) -> list[str]:
    """For each protocol its people, and for all but the first how much of the first one's order it reverses."""
    first, *others = chosen
    return [people(table, first), *(f"{people(table, other)} {compared(table, first, other)}" for other in others)]


def people(table: pd.DataFrame, protocol: str) -> str:
    """How many people a protocol of `tables.orders` has."""
    n = int(table[f"users {protocol}"].iloc[0])
    return ngettext("“{protocol}”: {n:,} person.", "“{protocol}”: {n:,} people.", n, protocol=words.protocol(protocol))


def compared(table: pd.DataFrame, first: str, other: str) -> str:
    """How many pairs are in the opposite order, or why that is not said."""
    share = tables.discordant_share(table, first, other)
    if share is not None:
        return _(
            "It flips the ranking of {share} of recommender pairs, compared with “{first}”.",
            first=words.protocol(first),
            share=number(share, ".0%"),
        )
    return (
        _("The ranking is not compared: with fewer than {few} people it is noise.", few=FEW_USERS)
        if len(table) > 1
        else ""
    )
