"""The section Same-second ratings: how a ratings file orders films of the same second, and the effect on metrics.

The file order is an order of all films, with positions from 0 to 1. If a user rated several films in the same second,
the ratings file lists them in this order. Other films can be compared in this order, too.
"""

from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.evaluation.charts import LOOKS, ROWS_MARGIN_PX, look
from pages.evaluation.data import EvaluationView, protocol_title
from pages.ui import cache, format
from pages.ui.charts import GREY, localize_table, set_layout, show_chart
from pages.ui.i18n import N_, _, ngettext
from recsys.evaluation import file_order

ORDER_TEXTS = {  # field "order" of the document of `file_order` → text
    "hash": N_(
        "In {data}, this is the order of a hash table of the film numbers. It has nothing to do with the films or "
        "with taste."
    ),
    "ascending": N_("In {data}, this is the order of the film numbers."),
    None: N_("In {data}, this order is neither that of the film numbers nor that of a hash table."),
}
HISTOGRAM_HEIGHT_PX = 300
ROW_HEIGHT_PX = 24  # of the chart with a row per recommender
TIED_COLOUR = LOOKS["Transformers"].colour


def read_statistics(dataset: str) -> dict[str, Any] | None:
    """Return the document of `file_order` about a data set, None if there is no readable one."""
    return file_order.read(dataset, lambda error: None)


def show(view: EvaluationView) -> None:
    """Show the file order, a score that only uses the file order, and metrics with a random order."""
    document = read_statistics(view.dataset)
    assert document is not None, "the page offers the section only with statistics"
    st.header(_("Films rated in the same second"))
    show_file_order(document, view.dataset)
    if document["rules"]:
        st.header(_("Recommending by file order"))
        show_added_scores(document["rules"])
    if document["recommenders"]:
        st.header(_("Results in random order"))
        show_both_orders(pd.DataFrame(document["recommenders"]), view.dataset)
    run = document["run"]
    note = _("Measured at commit {commit} on {date}.", commit=run["commit"], date=run["date"][:10])
    if (uncounted_rating := document["without_rating"]) is not None:
        text = _(
            "Pairs with a film rated {rating:.0f} are not counted, because not all of their times are exact.",
            rating=uncounted_rating,
        )
        note = f"{text} {note}"
    st.caption(format.escape_markdown(note))


def show_file_order(document: dict[str, Any], dataset: str) -> None:
    """Show how many films were rated in the same second as the film before, and a chart of the order of these films."""
    dataset_title = cache.dataset_title(dataset)
    # share of the pairs (film, next film) whose next film is earlier in the file order, by kind of pair: "same second"
    # (rated in the same second) or "alone" (each film is the only film of its second)
    backward_shares = document["lower"]
    shares_text = _(
        "MovieLens users rate a page of films at once. In {data}, {share:.0%} of all ratings, and "
        "{targets:.0%} of those of hidden films, were given in the same second as the one before. Nobody knows in "
        "which order the films were watched. An experiment that sorts by time keeps them in the order of the "
        "ratings file.",
        data=dataset_title,
        share=document["share"],
        targets=document["targets"],
    )
    backwards_text = ngettext(
        "Of {n:,} pair rated in the same second, {same:.0%} is in reverse file order. Of the other pairs, "
        "{other:.0%} are.",
        "Of {n:,} pairs rated in the same second, {same:.0%} are in reverse file order. Of the other pairs, "
        "{other:.0%} are.",
        document["pairs"]["same second"],
        same=backward_shares["same second"],
        other=backward_shares["alone"],
    )
    st.markdown(format.escape_markdown(shares_text))
    st.markdown(format.escape_markdown(f"{_(ORDER_TEXTS[document['order']], data=dataset_title)} {backwards_text}"))
    table = pd.DataFrame(document["distances"])
    alt = _(
        "Share of pairs of consecutive films by their distance in the file order. Pairs rated in the same second "
        "always go forwards. Other pairs go backwards as often as forwards."
    )
    show_chart(plot_distances(table), alt, table, f"file-order-{dataset}", _("Films rated in the same second"))


def show_added_scores(rows: list[dict[str, Any]]) -> None:
    """Show how much a score by file order improves two recommenders, in file order and in random order.

    rows: A row per recommender and protocol. Its fields "alone" and "with the order" are NDCG@10 without and with the
    score. The protocol "full" has the file order, and "untied" a random order.
    """
    text = _(
        "Two simple recommenders get an additional score that depends only on the distance in the file order. Its "
        "weight is tuned on validation films. It helps in file order, but hardly at all in random order."
    )
    st.markdown(format.escape_markdown(text))
    by_protocol = {name: table.set_index("title") for name, table in pd.DataFrame(rows).groupby("protocol")}
    columns = {
        _("File order"): by_protocol["full"]["alone"],
        _("File order, with score"): by_protocol["full"]["with the order"],
        _("Random order"): by_protocol["untied"]["alone"],
        _("Random order, with score"): by_protocol["untied"]["with the order"],
    }
    table = pd.DataFrame(columns).rename(index=_).rename_axis(_("Recommender")).reset_index()
    alt = _("NDCG@10 of two recommenders with and without the score, in file order and in random order")
    st.dataframe(localize_table(table), hide_index=True, alt=alt)
    text = _(
        "Here, the random order was drawn once. Some results below are means over several draws, so they differ "
        "slightly."
    )
    st.caption(text)


def show_both_orders(table: pd.DataFrame, dataset: str) -> None:
    """Show NDCG@10 of every recommender in both orders. table: Columns title, family, full and untied."""
    table = table.assign(title=table["title"].map(_))
    largest_loss = table.loc[(table["full"] - table["untied"]).idxmax()]
    text = _(
        "The same recommenders, trained and tested in file order and in random order (protocol “{protocol}”). "
        "{title} loses most: NDCG@10 falls from {full:.4f} to {untied:.4f}. Most published figures use the file order.",
        protocol=protocol_title("untied"),
        **largest_loss[["title", "full", "untied"]],
    )
    st.markdown(format.escape_markdown(text))
    alt = ngettext(
        "NDCG@10 of {n} recommender when films rated in the same second are in file order and when they are in "
        "random order",
        "NDCG@10 of {n} recommenders when films rated in the same second are in file order and when they are in "
        "random order",
        len(table),
    )
    show_chart(plot_both_orders(table), alt, table, f"untied-{dataset}", _("Results in random order"))


def plot_distances(table: pd.DataFrame) -> go.Figure:
    """Plot histograms of the distance in file order, from -1 to 1. table: A row per bin, a column per kind of pair."""
    figure, n_bins = go.Figure(), len(table)
    bin_centres = [(index + 0.5) * 2 / n_bins - 1 for index in range(n_bins)]
    for column, colour, name in (
        ("alone", GREY, _("rated in different seconds")),  # see `show_file_order`
        ("same second", TIED_COLOUR, _("rated in the same second")),
    ):
        figure.add_bar(
            x=bin_centres, y=table[column], name=name, marker={"color": colour}, opacity=0.85, hovertemplate="%{y:.1%}"
        )
    set_layout(figure, HISTOGRAM_HEIGHT_PX).update_layout(showlegend=True, barmode="overlay", bargap=0.04)
    figure.add_vline(x=0, line={"color": GREY, "dash": "dot", "width": 1.5})
    ticks = [_("earlier in the file"), "", _("later in the file")]
    title = _("Position of the next film in the ratings file")
    figure.update_xaxes(title=title, tickvals=[-0.6, 0, 0.6], ticktext=ticks)
    return figure.update_yaxes(title=_("Share of pairs"), tickformat=".0%")


def plot_both_orders(table: pd.DataFrame) -> go.Figure:
    """Plot a row per recommender with NDCG@10 in both orders, the best in file order on top."""
    table = table.sort_values("full", ascending=False, ignore_index=True)
    colours = [look(family).colour for family in table["family"]]
    figure = go.Figure()
    line_style = {"mode": "lines", "showlegend": False, "hoverinfo": "skip"}
    for row, colour in zip(table.itertuples(), colours, strict=True):
        figure.add_scatter(x=[row.full, row.untied], y=[row.title] * 2, line={"color": colour}, **line_style)
    for column, symbol, name in (
        ("full", "circle-open", _("in file order")),
        ("untied", "circle", _("in random order")),
    ):
        figure.add_scatter(
            x=table[column],
            y=table["title"],
            mode="markers",
            name=name,
            marker={"symbol": symbol, "size": 9, "color": colours},
            hovertemplate="%{y}: %{x:.4f}",
        )
    set_layout(figure, ROWS_MARGIN_PX + ROW_HEIGHT_PX * len(table)).update_layout(showlegend=True)
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return figure.update_xaxes(title="NDCG@10", rangemode="tozero")
