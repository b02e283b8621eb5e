"""The section Attention: lines or a heat map for the visitor's films, and mean attention by distance.

In all functions, `layer` and `head` are indices from 0. None: the mean over all layers or heads.
"""

from collections.abc import Sequence
from itertools import cycle

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.inside import common
from pages.inside.common import BARE_AXIS, LINE_COLOURS
from pages.ui import cache, charts, explanation, film_cards, recommenders
from pages.ui.charts import GREY
from pages.ui.format import escape_markdown, percent
from pages.ui.i18n import _, ngettext, number
from pages.ui.url import CHART_TYPES
from pages.ui.widgets import segmented_control, selectbox, translate
from recsys.data.dataset import Dataset
from recsys.serving.insight.attention import (
    MAX_DISTANCE,
    Attention,
    DistanceAttention,
    attention_by_distance,
    most_attended,
    read_attention,
    sample_histories,
)
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import Request, recommend

N_TOP_FILMS = 12  # films in the list of films with the most attention
N_SAMPLED_USERS = 200
DISTANCE_CHART_HEIGHT_PX = 320
# heat map, with a row and a column for each token
MAX_MAP_TOKENS = 31  # newest tokens
MAX_TITLE_COLUMNS = 16  # with more columns, their labels are positions in place of titles
HEAT_MAP_MARGIN_PX = 150  # for the labels of the columns
MIN_HEAT_MAP_PX = 160  # minimum height of all rows together
HEAT_MAP_ROW_PX = 20
# chart of lines, with a row for each token
MAX_LINE_FILMS = 12  # with more films, lines overlap too much, so there is only the heat map
N_OPACITY_LEVELS = 8  # of lines
HEAD_OFFSET_ROWS = 0.06  # vertical distance between the lines of two heads, which would cover each other otherwise
MIN_LINE_WEIGHT = 0.02  # weaker attention has no line
HOVER_TOP_K = 4  # tokens in a hover text
LINES_MARGIN_PX = 90  # above and below the rows, together
LINES_ROW_PX = 34


def show(dataset: Dataset, films: tuple[int, ...]) -> None:
    """Show the attention of the visitor's films, the influence of each film, and the mean attention by distance.

    films: Items of the visitor's list.
    """
    text = _(
        "**Attention** shows which positions a model reads. Each position divides 100% of its attention among the "
        "positions. This happens in several **heads** side by side, and again in each **layer**. The lesson explains "
        "the computation."
    )
    st.markdown(text)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="attention-controls"):
        name = common.choose_recommender(lambda model: model.has_attention, dataset, "attending")
        layer_and_head = st.container(horizontal=True, gap="medium", width="content")
    predictor = recommenders.predictor(name, dataset)
    if predictor is None:
        return
    attention = read_attention(predictor, films)
    n_layers, n_heads = attention.weights.shape[:2]
    with layer_and_head:
        layer, head = common.choose_index_or_all("layer", n_layers), common.choose_index_or_all("head", n_heads)
    chart_column, film_column = st.columns([5, 3], gap="large")
    top_films = most_attended(attention, layer, head, N_TOP_FILMS)
    max_weight = top_films[0][1]
    with chart_column:
        show_attention(predictor, attention, layer, head, top_films)
    with film_column:
        st.header(_("Attention of the mask") if attention.ends_with_mask else _("Attention of the latest film"))
        listed_films = [dataset.catalog.films[attention.tokens[position]] for position, _weight in top_films]
        common.show_film_rows(
            film_cards.film_bar_row(position + 1, film, weight / (max_weight or 1), percent(weight))
            for film, (position, weight) in zip(listed_films, top_films, strict=True)
        )
        text = _(
            "Attention is not influence. To see how the prediction changes without a film, open the influence "
            "panel below."
        )
        st.caption(text)
    show_influence(predictor, films)
    show_distances(predictor, layer, head)


def show_attention(
    predictor: Predictor, attention: Attention, layer: int | None, head: int | None, top_films: list[tuple[int, float]]
) -> None:
    """Show the attention as lines or as a heat map, with a table.

    Args:
        predictor: The recommender.
        attention: The attention of its network for the visitor's films.
        layer: The chosen layer.
        head: The chosen head.
        top_films: The attended films as (position, weight), see `most_attended`.
    """
    n_films = int(attention.is_film.sum())
    is_short = n_films <= MAX_LINE_FILMS
    chart_type = "heat-map"
    if is_short:
        labels = translate(CHART_TYPES)
        chart_type = segmented_control(_("Chart"), labels, "attention_drawn", label_visibility="collapsed")
    position, weight = top_films[0]
    fields = {"model": cache.recommender_title(predictor), "film": attention.labels[position], "share": percent(weight)}
    if chart_type == "lines":
        show_lines(attention, layer, head, fields)
    else:
        show_heat_map(attention, layer, head, fields)
    # names with positions are unique, although a film can be in the list as itself and as a substitute
    positions = [f"{n}. {label}" for n, label in enumerate(attention.labels, 1)]
    table = pd.DataFrame(attention.mean_weights(layer, head), positions, positions)
    if is_short:
        title = _("attention between positions, rows attend to columns")
        common.show_table_expander(table.rename_axis(_("Attends to …")).map(percent), title, "attention")
    else:
        st.caption(_("With up to {n} films, you can also see attention as lines.", n=MAX_LINE_FILMS))
    n_in_map = int(attention.is_film[-MAX_MAP_TOKENS:].sum())
    if n_films > n_in_map:
        text = _("The chart shows the latest {n} of {all} films. The model reads all of them.", n=n_in_map, all=n_films)
        st.caption(text)
    charts.download_buttons(table.reset_index(), f"attention-{common.slug(predictor)}", _("Attention"))


def show_heat_map(attention: Attention, layer: int | None, head: int | None, fields: dict[str, str]) -> None:
    """Show the heat map with a caption. fields: Placeholder of the description for screen readers → value."""
    text = _("Each row attends to the columns. Stronger colours mean more attention.")
    masked_text = _("Your next film is predicted from the framed row, `[mask]`.")
    causal_text = _(
        "Your next film is predicted from the framed row, your latest film. Films do not attend to later films."
    )
    st.caption(f"{text} {masked_text if attention.ends_with_mask else causal_text}")
    alt = _(
        "Attention between your films in {model}. The row that predicts the next film attends most to {film}.", **fields
    )
    common.plot(token_map(attention, layer, head), alt, "heat")


def token_map(attention: Attention, layer: int | None, head: int | None) -> go.Figure:
    """Return a heat map of the attention between the newest MAX_MAP_TOKENS tokens."""
    labels = attention.labels[-MAX_MAP_TOKENS:]
    n = len(labels)
    weights = attention.mean_weights(layer, head)[-n:, -n:]
    names = [common.plotly_text(label) for label in labels]
    height_px = HEAT_MAP_MARGIN_PX + max(MIN_HEAT_MAP_PX, HEAT_MAP_ROW_PX * n)
    figure = common.attention_map(weights, names, height_px)
    ticks = common.tick_labels(labels)
    ticks[-1] = f"<b>{ticks[-1]}</b>"
    axis = BARE_AXIS | {"tickvals": list(range(n)), "ticktext": ticks, "tickfont": {"size": 11}}
    figure.update_yaxes(**axis)
    figure.update_xaxes(**axis, tickangle=-90)
    if n > MAX_TITLE_COLUMNS:  # the columns are labelled with positions, so the titles of the rows also get positions
        oldest = len(attention.labels) - n + 1  # position of the first row, from 1
        figure.update_yaxes(ticktext=[f"{tick}  {position}" for position, tick in enumerate(ticks, oldest)])
        figure.update_xaxes(tickvals=list(range(0, n, 5)), ticktext=list(range(oldest, oldest + n, 5)), tickangle=0)
    return figure


def show_lines(attention: Attention, layer: int | None, head: int | None, fields: dict[str, str]) -> None:
    """Show a menu of positions, and the lines from the chosen position or from all positions.

    fields: Placeholder of the description for screen readers → value.
    """
    text = _("Each position on the left attends to positions on the right. Thicker lines mean more attention.")
    masked_text = _("Your next film is predicted from `[mask]`.")
    causal_text = _("Your next film is predicted from your latest film. Films do not attend to later films.")
    st.caption(f"{text} {masked_text if attention.ends_with_mask else causal_text}")
    alt = _(
        "Lines from each of your films to the films it attends to in {model}. The position that predicts the next "
        "film attends most to {film}, with {share}.",
        **fields,
    )
    n = len(attention.tokens)
    labels = {index: f"{index + 1}. {attention.labels[index]}" for index in range(n - 1, -1, -1)}  # newest first
    position = selectbox(_("Lines from"), {None: _("all positions")} | labels, f"lines-from-{n}", width=300)
    heads = list(range(attention.weights.shape[1])) if head is None else [head]
    common.plot(lines_chart(attention, layer, heads, range(n) if position is None else [position]), alt, "lines")


def lines_chart(attention: Attention, layer: int | None, heads: Sequence[int], positions: Sequence[int]) -> go.Figure:
    """Return a chart with a line from each attending position on the left to each attended position on the right.

    heads: Indices of the heads, each with a colour. positions: Attending positions that have lines.
    """
    figure, n, n_heads = go.Figure(), len(attention.tokens), attention.weights.shape[1]
    for head in heads:
        weights, colour = attention.mean_weights(layer, head), LINE_COLOURS[head % len(LINE_COLOURS)]
        levels = np.minimum(weights * N_OPACITY_LEVELS, N_OPACITY_LEVELS - 1).astype(int)
        has_line = (weights >= MIN_LINE_WEIGHT) & np.isin(np.arange(n), positions)[:, None]
        offset = HEAD_OFFSET_ROWS * (head - (n_heads - 1) / 2)
        for level in range(N_OPACITY_LEVELS):  # Plotly has one opacity per trace
            strength = (level + 1) / N_OPACITY_LEVELS
            pairs = np.argwhere(has_line & (levels == level)).tolist()  # [row, column] of the weight of each line
            figure.add_scatter(
                x=[0, 1, None] * len(pairs),
                y=[y for row, column in pairs for y in (row + offset, column + offset, None)],
                mode="lines",
                line={"color": colour, "width": 0.6 + 5 * strength},
                opacity=0.2 + 0.75 * strength,
                hoverinfo="skip",
                showlegend=False,
            )
        legend_line = {"color": colour, "width": 4}
        figure.add_scatter(x=[None], y=[None], mode="lines", name=_("Head {n}", n=head + 1), line=legend_line)
    hover_texts = [_hover_text(attention, layer, heads, row) for row in positions]
    hover = {"text": hover_texts, "hovertemplate": "%{text}<extra></extra>"}  # only of the points on the left
    points = {"mode": "markers", "showlegend": False}
    left_marker, right_marker = {"color": GREY, "size": 9}, {"color": GREY, "size": 6}
    figure.add_scatter(x=[0] * len(positions), y=list(positions), marker=left_marker, **hover, **points)
    figure.add_scatter(x=[1] * n, y=list(range(n)), yaxis="y2", marker=right_marker, hoverinfo="skip", **points)
    labels = common.tick_labels(attention.labels, max_length=15)
    axis = BARE_AXIS | {"tickvals": list(range(n)), "ticktext": labels, "range": [n - 0.5, -0.5], "automargin": True}
    return figure.update_layout(
        height=LINES_MARGIN_PX + LINES_ROW_PX * n,
        margin={"l": 0, "r": 0, "t": 36, "b": 0},
        legend={"orientation": "h", "y": 1.01, "yanchor": "bottom"},
        yaxis=axis,
        yaxis2={**axis, "overlaying": "y", "side": "right"},
        xaxis={"visible": False, "range": [-0.02, 1.02], "fixedrange": True},
        showlegend=True,
    )


def _hover_text(attention: Attention, layer: int | None, heads: Sequence[int], row: int) -> str:
    """Return the hover text of a position (row): the positions with the most of its attention, averaged over heads."""
    shares = np.mean([attention.mean_weights(layer, head)[row] for head in heads], 0)
    labels = [common.plotly_text(label) for label in attention.labels]
    top = np.argsort(-shares, kind="stable")[:HOVER_TOP_K]
    lines = [f"{labels[column]}: {number(shares[column], '.1%')}" for column in top]
    return "<br>".join([f"<b>{_('{film} attends to', film=labels[row])}</b>", *lines])


def show_influence(predictor: Predictor, films: tuple[int, ...]) -> None:
    """Show an expander with the influence of each film on the top prediction. It is computed while it is open."""
    label = _("Influence: how does the top prediction change without each film?")
    panel = st.expander(label, icon=":material/balance:", key="influence", on_change="rerun")
    if panel.open:
        request = Request(films, k=1)
        with panel:
            for pick in recommend(predictor, request):
                st.markdown(f"**{escape_markdown(pick.film.label)}**")
                explanation.dialog_body(predictor, request, pick.item)


def show_distances(predictor: Predictor, layer: int | None, head: int | None) -> None:
    """Show the mean attention of sampled users by distance, after a click on a button that starts the computation."""
    st.header(_("Attention by distance"))
    dataset, name = predictor.dataset, common.slug(predictor)
    n_users = min(N_SAMPLED_USERS, dataset.n_users)
    text = ngettext(
        "Mean attention to the latest 30 films in the history of {n} random person from {data}.",
        "Mean attention to the latest 30 films in the histories of {n} random people from {data}.",
        n_users,
        data=cache.dataset_title(dataset.name),
    )
    st.caption(text)
    requested = st.session_state.setdefault("averaged", set())  # `slug` of each predictor whose button was clicked
    if name not in requested:
        label = ngettext("Compute for {n} person", "Compute for {n} people", n_users)
        st.button(label, key=f"average-{name}", icon=":material/groups:", on_click=requested.add, args=(name,))
        return
    with st.spinner(ngettext("Reading the history of {n} person", "Reading the histories of {n} people", n_users)):
        by_distance = _attention_by_distance(predictor)
    table = by_distance.table(layer, head)
    share = percent(float(table["attention"].iloc[0]))
    alt = _("Mean attention by distance. The latest film gets {share}.", share=share)
    common.plot(distance_chart(by_distance, layer, head), alt, "distance")
    names = {"distance": _("Distance"), "attention": _("Attention"), "people": _("People")}
    display_table = table.rename(columns=names).set_index(names["distance"])
    common.show_table_expander(display_table, _("mean attention and number of people by distance"), "distance")
    charts.download_buttons(table, f"distance-{name}", _("Attention by distance"))


@cache.cached_for_predictor(max_entries=12)
def _attention_by_distance(predictor: Predictor) -> DistanceAttention:
    """Return the attention of sampled users by distance. This takes two seconds on two cores."""
    return attention_by_distance(predictor, sample_histories(predictor.dataset, N_SAMPLED_USERS))


def distance_chart(by_distance: DistanceAttention, layer: int | None, head: int | None) -> go.Figure:
    """Return a chart with a line for each layer, for each head of the chosen layer, or for the chosen head alone."""
    n_layers, n_heads = by_distance.sums.shape[:2]
    series: dict[str, tuple[int | None, int | None]]  # name of a line → layer and head, None: the mean
    if layer is None and head is None:
        series = {_("Layer {n}", n=index + 1): (index, None) for index in range(n_layers)}
    else:
        heads = range(n_heads) if head is None else [head]
        series = {_("Head {n}", n=index + 1): (layer, index) for index in heads}
    figure = go.Figure()
    for colour, (name, indices) in zip(cycle(LINE_COLOURS), series.items(), strict=False):
        table = by_distance.table(*indices)
        marker = {"size": 5, "color": colour}
        figure.add_scatter(x=table["distance"], y=table["attention"], name=name, mode="lines+markers", marker=marker)
    figure.update_traces(hovertemplate="%{x}: %{y:.1%}")
    charts.set_layout(figure, DISTANCE_CHART_HEIGHT_PX).update_layout(showlegend=True)
    figure.update_yaxes(title=_("Mean attention"), tickformat=".0%", rangemode="tozero")
    x_range = [0.5, MAX_DISTANCE + 0.5]
    return figure.update_xaxes(title=_("Films before the next film"), range=x_range, zeroline=False)
