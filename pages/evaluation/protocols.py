"""The section Protocols: the ranks of the same recommenders under several protocols."""

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.evaluation import data
from pages.evaluation.charts import LETTER_HEIGHT_PX, LETTER_WIDTH_PX, look
from pages.evaluation.data import EvaluationView, protocol_title
from pages.ui import cache, format
from pages.ui.charts import set_layout, show_chart
from pages.ui.i18n import _, ngettext
from recsys.evaluation import protocols, results, tables
from recsys.evaluation.significance import FEW_USERS

RANK_HEIGHT_PX = 19  # height of each rank on the vertical axis
PHONE_CHART_WIDTH_PX = 350
LEFT_MARGIN_PX = 26
TOP_PADDING_PX = 16  # above the titles of protocols
LABEL_SHIFT_PX = 10  # between a mark and the title of its recommender


def show(view: EvaluationView) -> None:
    """Show the menus, the share of pairs of recommenders that change their order, and a chart of the ranks."""
    text = _(
        "With only 100 other candidates, a rank of 1,000 among all films can still be in the top ten. Such sampled "
        "metrics are much higher and say little about the top ranks, which people see. Krichene and Rendle (KDD 2020) "
        "prove that they can even order recommenders differently. Therefore, the leaderboard ranks all films."
    )
    st.markdown(format.escape_markdown(text))
    available = protocols.sort_names(protocol for dataset, protocol in results.available() if dataset == view.dataset)
    if len(available) < 2:
        title = format.escape_markdown(cache.dataset_title(view.dataset))
        st.info(_("{data} has results for one protocol only.", data=title), icon=":material/info:")
        return
    # not the protocols with shortened histories, because the chart would have too many columns
    default = [name for name in available if protocols.get_current_or_former(name).has_whole_histories]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        selected = st.pills(
            _("Protocols to compare"),
            available,
            selection_mode="multi",
            default=default,
            format_func=protocol_title,
            key=f"protocols-{view.dataset}",
            wrap=True,
            persist_state="session",
        )
        metric = data.select_metric()
    names = [name for name in available if name in selected]
    if len(names) < 2:
        st.info(_("Select at least two protocols."), icon=":material/info:")
        return
    table = tables.compare_protocols({name: data.leaderboard(view.dataset, name)[0] for name in names}, metric)
    if table.empty:
        text = _("No recommender has results for all of these protocols. Select fewer.")
        st.info(text, icon=":material/info:")
        return
    text = _(
        "Ranks among the recommenders with results for all selected protocols. "
        "Where two lines cross, two recommenders change places."
    )
    st.caption(text)
    st.markdown("\n".join(f"- {format.escape_markdown(describe_protocol(table, names[0], name))}" for name in names))
    alt = ngettext(
        "Ranks of {n} recommender by {metric} for the protocols {protocols}",
        "Ranks of {n} recommenders by {metric} for the protocols {protocols}",
        len(table),
        metric=data.metric_title(metric),
        protocols=", ".join(map(protocol_title, names)),
    )
    show_chart(plot_ranks(table, names), alt, table, f"protocols-{view.dataset}-{metric}", _("Protocols"))


def describe_protocol(table: pd.DataFrame, base: str, protocol: str) -> str:
    """Return a text about a protocol: number of test users, and share of pairs of recommenders that change their order.

    Args:
        table: Result of `tables.compare_protocols`.
        base: Name of the protocol with whose order the order is compared. Its own text has no share.
        protocol: Name of the described protocol.

    With few users, a warning replaces the share.
    """
    n = int(table[f"users {protocol}"].iloc[0])
    title = protocol_title(protocol)
    users_text = ngettext("“{protocol}”: {n:,} person.", "“{protocol}”: {n:,} people.", n, protocol=title)
    if protocol == base or len(table) < 2:
        return users_text
    share = tables.discordant_share(table, base, protocol)
    if share is None:
        comparison = _(
            "The order is not compared, because with fewer than {few} people it is mostly chance.", few=FEW_USERS
        )
    else:
        comparison = _(
            "Compared with “{base}”, {share:.0%} of all pairs of recommenders are in the opposite order.",
            share=share,
            base=protocol_title(base),
        )
    return f"{users_text} {comparison}"


def plot_ranks(table: pd.DataFrame, names: Sequence[str]) -> go.Figure:
    """Return a bump chart of `tables.compare_protocols`: a line per recommender with a label at its right end."""
    figure = go.Figure()
    titles = [protocol_title(name) for name in names]
    for row in table.to_dict("records"):
        style = look(row["family"])
        figure.add_scatter(
            x=list(range(len(names))),
            y=[row[f"rank {name}"] for name in names],
            customdata=[[title, row[name]] for title, name in zip(titles, names, strict=True)],
            mode="lines+markers",
            line={"color": style.colour, "width": 1.8},
            marker={"symbol": style.symbol, "size": 8},
            name=row["title"],
            hovertemplate=_("%{customdata[0]}: rank %{y}, %{customdata[1]:.4f}"),
        )
    by_last_rank = table.sort_values(f"rank {names[-1]}", kind="stable")
    # labels are at successive positions, because labels of equal ranks would overlap
    for position, title in enumerate(by_last_rank["title"], start=1):
        figure.add_annotation(
            x=len(names) - 1,
            y=position,
            text=title,
            xanchor="left",
            xshift=LABEL_SHIFT_PX,
            showarrow=False,
            font={"size": 11},
        )
    right = LABEL_SHIFT_PX + round(LETTER_WIDTH_PX * max(map(len, table["title"])))
    x_range = [-0.25, len(titles) - 0.9]  # protocols are at 0, 1, …; a mark needs a margin
    max_title_width = (PHONE_CHART_WIDTH_PX - LEFT_MARGIN_PX - right) / (x_range[1] - x_range[0])
    longest_word = max(len(word) for title in titles for word in title.split())
    is_horizontal = LETTER_WIDTH_PX * longest_word <= max_title_width  # wider titles would overlap on a phone
    ticks, title_height = titles, LETTER_WIDTH_PX * max(map(len, titles))  # of vertical titles
    if is_horizontal:
        ticks = [title.replace(" ", "<br>") for title in titles]
        title_height = LETTER_HEIGHT_PX * max(title.count(" ") + 1 for title in titles)
    top = TOP_PADDING_PX + round(title_height)
    height = top + RANK_HEIGHT_PX * (len(table) + 1)
    set_layout(figure, height, left=LEFT_MARGIN_PX, right=right).update_layout(showlegend=False, margin_t=top)
    figure.update_xaxes(tickvals=list(range(len(ticks))), ticktext=ticks, tickangle=0 if is_horizontal else -90)
    figure.update_xaxes(side="top", automargin=False, showgrid=False, zeroline=False, range=x_range, tickfont_size=11)
    tick_ranks = [1, *range(5, len(table) + 1, 5)]
    return figure.update_yaxes(range=[len(table) + 0.7, 0.3], showgrid=False, tickvals=tick_ranks)  # rank 1 on top
