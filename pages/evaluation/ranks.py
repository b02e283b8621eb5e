"""Protocols: how the ranks of the same recommenders change from protocol to protocol."""

import pandas as pd
import streamlit as st

from pages.evaluation import choice, measured, words
from pages.evaluation.charts import ranks as charts
from pages.evaluation.measured import Shown
from pages.ui import loaders
from pages.ui import words as common
from pages.ui.charts import chart
from pages.ui.i18n import number
from recsys.evaluation import protocols, results, tables
from recsys.evaluation.significance import FEW_USERS


def show(shown: Shown) -> None:
    """Protocols and a metric to choose; ranks as lines, and how much of the order they share."""
    st.markdown(common.plain(words.SAMPLED_MISLEADS))
    available = protocols.in_order(protocol for dataset, protocol in results.available() if dataset == shown.dataset)
    if len(available) < 2:
        st.info(words.ONE_PROTOCOL.format(data=loaders.data_title(shown.dataset)), icon=":material/info:")
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        chosen = choose(shown, available)
        metric = choice.metric()
    boards = {name: measured.board(shown.dataset, name)[0] for name in chosen}
    table = tables.orders(boards, metric) if chosen else pd.DataFrame()
    if len(chosen) < 2 or table.empty:
        st.info(words.NONE_IN_COMMON if len(chosen) > 1 else words.CHOOSE_TWO_PROTOCOLS, icon=":material/info:")
        return
    st.caption(words.PROTOCOLS_HELP)
    st.markdown("\n".join(f"- {common.plain(line)}" for line in lines(table, chosen)))
    about = words.RANKS_ALT.format(
        n=len(table), metric=words.metric_name(metric), protocols=", ".join(map(words.protocol, chosen))
    )
    chart(charts.bump(table, chosen), about, table, f"protocols-{shown.dataset}-{metric}")


def choose(shown: Shown, available: list[str]) -> list[str]:
    """Some of the protocols, in their order."""
    chosen = st.pills(
        words.PROTOCOLS,
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
    return words.PROTOCOL_PEOPLE.format(protocol=words.protocol(protocol), n=n)


def compared(table: pd.DataFrame, first: str, other: str) -> str:
    """How many pairs are in the opposite order, or why that is not said."""
    share = tables.discordant_share(table, first, other)
    if share is not None:
        return words.OPPOSITE_ORDER.format(first=words.protocol(first), share=number(share, ".0%"))
    return words.NO_ORDER.format(few=FEW_USERS) if len(table) > 1 else ""
