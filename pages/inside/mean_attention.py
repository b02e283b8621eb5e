"""The section Mean attention: attention of sampled users by position and by genre, as in the papers."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.inside import common
from pages.inside.common import BARE_AXIS, SIGNED_SCALE, translucent
from pages.ui import cache, charts, recommenders
from pages.ui.charts import ACCENT, GREY, SECOND_ACCENT
from pages.ui.format import display_tag, percent
from pages.ui.i18n import _, ngettext
from recsys.data.dataset import Dataset
from recsys.serving.insight import attention
from recsys.serving.insight.attention import GenreAttention, MeanAttention
from recsys.serving.predictor import Predictor

# heat maps of positions
MAX_COLUMNS = 4  # maximum number of charts side by side
HEIGHT_PX = 280
TICK_STEP = 5  # films between two labels of an axis
# heat map of genres
DEFAULT_GENRES = ("Sci-Fi", "Romance", "Animation", "Horror")  # as in figure 5 of SASRec
MAX_GENRES_WITH_CELL_TEXT = 8
MAX_GENRES_WITH_WIDE_CELLS = 4
GENRES_MARGIN_PX = 90  # for the names of the columns
MIN_GENRES_PX = 180  # minimum height of all rows together
GENRE_ROW_PX = 20
GENRE_ROW_WITH_TEXT_PX = 46
MIN_COLOUR_RATIO = 1.25  # ratio at the end of the colour scale, if all ratios are lower; keeps noise pale
PALE_SCALE = [  # SIGNED_SCALE with lower opacity, so that cell text stays readable
    [0, translucent(SECOND_ACCENT, 0.65)],
    [0.5, translucent(GREY, 0.08)],
    [1, translucent(ACCENT, 0.65)],
]


def show(dataset: Dataset, _films: tuple[int, ...]) -> None:
    """Show the mean attention by position and by genre. The visitor's films are not used."""
    name = common.choose_recommender(lambda model: model.has_attention, dataset, "attending")
    predictor = recommenders.predictor(name, dataset)
    if predictor is None:
        return
    with st.spinner(
        ngettext("Reading the history of {n} person", "Reading the histories of {n} people", attention.MAX_USERS)
    ):
        by_position, by_genre = _attention_by_position_and_genre(predictor)
    text = ngettext(
        "Mean attention over {n} random person from {data} with at least {min_films} films. The charts follow the "
        "papers ([SASRec](https://arxiv.org/abs/1808.09781), figures 4 and 5, and "
        "[BERT4Rec](https://arxiv.org/abs/1904.06690), figure 2).",
        "Mean attention over {n} random people from {data} with at least {min_films} films. The charts follow the "
        "papers ([SASRec](https://arxiv.org/abs/1808.09781), figures 4 and 5, and "
        "[BERT4Rec](https://arxiv.org/abs/1904.06690), figure 2).",
        by_position.n_users,
        data=cache.dataset_title(dataset.name),
        min_films=by_position.n_tokens,
    )
    st.markdown(text)
    show_positions(predictor, by_position)
    show_genres(predictor, by_genre)


@cache.cached_for_predictor(max_entries=12)
def _attention_by_position_and_genre(predictor: Predictor) -> tuple[MeanAttention, GenreAttention]:
    """Return the attention by position and by genre. This takes two seconds on two cores."""
    batch = attention.collect_attention(predictor)
    genres = attention.genre_attention(batch, predictor.dataset.catalog)
    return attention.mean_attention(batch), genres


def show_positions(predictor: Predictor, by_position: MeanAttention) -> None:
    """Show a heat map of the attention between positions for each head, and a table about the last position."""
    n = by_position.n_tokens
    st.header(ngettext("Attention of the latest position", "Attention between the latest {n} positions", n))
    text = _(
        "One chart for each head. Each row attends to the columns. 1 is the latest film, 2 the film before it, and "
        "so on. Each chart has its own colour scale, up to the share above the chart."
    )
    masked_text = _(
        "The next film is predicted from the framed row, `[mask]`. All positions attend in both directions."
    )
    causal_text = _(
        "The next film is predicted from the framed row, the latest film. The upper right is empty, because films do "
        "not attend to later films."
    )
    st.caption(f"{text} {masked_text if by_position.ends_with_mask else causal_text}")
    by_head = attention_of_last_position(by_position)
    with st.grid(MAX_COLUMNS, min_column_width=230):
        for layer, head in np.ndindex(by_position.weights.shape[:2]):
            with st.container(gap="xsmall"):
                show_head(predictor, by_position, by_head, layer, head)
    text = _(
        "“Inside” is the share of the framed row's attention that stays within the chart. The rest goes to older films."
    )
    st.caption(text)
    common.show_table_expander(by_head.map(percent), _("attention of the framed row by head"), "mean")
    charts.download_buttons(by_position.table(), f"mean-attention-{common.slug(predictor)}", _("Mean attention"))


def show_head(predictor: Predictor, by_position: MeanAttention, by_head: pd.DataFrame, layer: int, head: int) -> None:
    """Show a heat map of positions for one head. by_head: `attention_of_last_position`."""
    name = common.head_name(layer, head)
    shares = by_head[name].drop(_("older"))
    alt = ngettext(
        "Mean attention of the latest position in {model}, {head}. The position that predicts the next film "
        "attends most to {position}, with {share}.",
        "Mean attention between the latest {n} positions in {model}, {head}. The position that predicts the next film "
        "attends most to {position}, with {share}.",
        by_position.n_tokens,
        model=cache.recommender_title(predictor),
        head=name,
        position=position_label(str(shares.idxmax())),
        share=percent(shares.max()),
    )
    st.markdown(f"**{name}**")
    highest = percent(by_position.weights[layer, head].max())
    st.caption(_("up to {share} · {inside} inside", share=highest, inside=percent(shares.sum())))
    common.plot(position_chart(by_position, layer, head), alt, f"mean-{layer}-{head}")


def attention_of_last_position(by_position: MeanAttention) -> pd.DataFrame:
    """Return the attention of the last position, with a column for each head.

    Rows: the attended positions, the newest first, then "older" for all positions outside the chart.
    """
    table = pd.DataFrame(
        {
            common.head_name(*indices): by_position.weights[indices][-1, ::-1]
            for indices in np.ndindex(by_position.weights.shape[:2])
        },
        index=pd.Index(by_position.labels[::-1], name=_("Distance (films back)")),
    )
    table.loc[_("older")] = 1 - table.sum()
    return table


def position_label(label: str) -> str:
    """Return "film 3" for the label "3", the third film before the predicted film. "[mask]" stays "[mask]"."""
    return label if label == attention.MASK_LABEL else _("film {n}", n=label)


def position_chart(by_position: MeanAttention, layer: int, head: int) -> go.Figure:
    """Return a heat map of the attention between positions in one head."""
    weights, n = by_position.weights[layer, head], by_position.n_tokens
    names = [position_label(label) for label in by_position.labels]
    figure = common.attention_map(np.where(weights > 0, weights, np.nan), names, HEIGHT_PX)
    newest_film_row = n - 2 if by_position.ends_with_mask else n - 1
    first_tick = newest_film_row - (TICK_STEP - 1)
    ticks = sorted({*range(first_tick, -1, -TICK_STEP), n - 1})  # films 5, 10, … back, and the last position
    labels = [by_position.labels[tick] for tick in ticks]
    axis = BARE_AXIS | {"tickvals": ticks, "ticktext": labels, "tickfont": {"size": 11}}
    x_title = _("Distance (films back)")
    figure.update_xaxes(**axis, tickangle=0, title=x_title, ticklabeloverflow="allow")  # the label [mask] is wide
    figure.update_yaxes(**axis)
    return figure.update_layout(margin={"r": 14, "t": 4})


def show_genres(predictor: Predictor, by_genre: GenreAttention) -> None:
    """Show menus of genres and heads, and a heat map of the attention between genres for each layer."""
    st.header(_("Attention between genres"))
    text = _(
        "Do films attend to films of the same genre? Each row attends to the columns. 1.2× means 20% more "
        "attention than the distance between the films explains. A film's attention to itself is excluded."
    )
    st.caption(text)
    n_layers, n_heads = by_genre.observed.shape[1:3]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        genres = choose_genres(by_genre)
        st.toggle(_("All genres"), key="mean-all-genres", persist_state="session")
        head = common.choose_index_or_all("head", n_heads)
    if len(genres) < 2:
        st.info(_("Choose at least two genres."))
        return
    table = pd.concat(by_genre.table(genres, layer, head).assign(layer=layer + 1) for layer in range(n_layers))
    table = table.assign(colour=colour_values(table))
    scale_end = float(np.nanmax([np.log(MIN_COLOUR_RATIO), *table["colour"].abs()]))  # one scale for all layers
    with st.grid(2, min_column_width=300):
        for layer, rows in table.groupby("layer"):
            with st.container():
                show_layer(predictor, rows, int(layer), scale_end)
    text = _(
        "Coloured cells: the 95% interval over people excludes 1×. Empty cells: fewer than {min_people} people "
        "watched such a pair. Based on the latest {n} positions. From the second layer on, a position also contains "
        "other films, so its genre is less clear.",
        min_people=attention.MIN_USERS,
        n=attention.MAX_STORED_TOKENS,
    )
    st.caption(text)
    name = f"genre-attention-{common.slug(predictor)}"
    charts.download_buttons(table.drop(columns="colour"), name, _("Attention between genres"))


def show_layer(predictor: Predictor, table: pd.DataFrame, layer: int, scale_end: float) -> None:
    """Show a heat map of genres for one layer, and a table of its ratios.

    Args:
        predictor: The recommender.
        table: See `genre_chart`.
        layer: Number of the layer, from 1.
        scale_end: See `genre_chart`.
    """
    name = _("Layer {n}", n=layer)
    st.subheader(name)
    within_genre = table["from"] == table["to"]
    alt = _(
        "Attention between genres in {layer} of {model}, relative to distance alone. Median within a genre: "
        "{same:.2f}×. Median between genres: {other:.2f}×.",
        layer=name,
        model=cache.recommender_title(predictor),
        same=table.loc[within_genre, "ratio"].median(),
        other=table.loc[~within_genre, "ratio"].median(),
    )
    common.plot(genre_chart(table, scale_end), alt, f"genres-{layer}")
    title = _("attention between genres in {layer}", layer=name)
    common.show_table_expander(ratio_table(table), title, f"genres-{layer}")


def choose_genres(by_genre: GenreAttention) -> list[str]:
    """Show the menu of genres. Return the chosen genres, or all genres if the toggle "All genres" is on."""
    show_all = st.session_state.get("mean-all-genres", False)  # the toggle is rendered after this menu
    default = [genre for genre in DEFAULT_GENRES if genre in by_genre.genres]
    genres = st.multiselect(
        _("Genres"),
        by_genre.genres,
        select_all=False,
        default=default if len(default) > 1 else by_genre.genres[:4],
        key=f"mean-genres-{len(by_genre.genres)}",
        format_func=display_tag,
        width=480,
        wrap=True,
        disabled=show_all,
        persist_state="session",
    )
    return list(by_genre.genres) if show_all else genres


def ratio_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return the ratios of `GenreAttention.table` as texts. Rows are attending genres, columns attended genres."""
    genres = list(dict.fromkeys(table["from"]))
    names = [display_tag(genre) for genre in genres]
    ratios = table["ratio"].to_numpy().reshape(len(genres), -1)
    pivot = pd.DataFrame(ratios, pd.Index(names, name=_("Attends to …")), names)
    return pivot.map(lambda ratio: _("too few people") if np.isnan(ratio) else _("{times:.2f}×", times=ratio))


def colour_values(table: pd.DataFrame) -> pd.Series:
    """Return the colour of the cell of each row: the logarithm of its ratio.

    The colour is 0 if the 95% interval includes 1, and NaN for too few people or a ratio of 0.
    """
    ratio = table["ratio"]
    log_ratio = np.log(ratio.where(ratio > 0))
    is_significant = (table["low"] > 1) | (table["high"] < 1)
    return log_ratio.where(is_significant | ratio.isna(), 0.0)


def genre_chart(table: pd.DataFrame, scale_end: float) -> go.Figure:
    """Return a heat map of the attention between genres in one layer.

    Args:
        table: `GenreAttention.table` with the column "colour", see `colour_values`.
        scale_end: Log ratio that has the strongest colour.
    """
    names = [display_tag(genre) for genre in dict.fromkeys(table["from"])]
    n = len(names)
    has_cell_text = n <= MAX_GENRES_WITH_CELL_TEXT
    row_px = GENRE_ROW_WITH_TEXT_PX if has_cell_text else GENRE_ROW_PX
    interval_texts = [
        _("too few people")
        if np.isnan(row.ratio)
        else _("{times:.2f}× (95%: {low:.2f}–{high:.2f})", times=row.ratio, low=row.low, high=row.high)
        for row in table.itertuples()
    ]
    cell_texts = ["" if np.isnan(ratio) else _("{times:.2f}×", times=ratio) for ratio in table["ratio"]]
    hover_data = np.stack([np.array(interval_texts, object), table["people"].to_numpy(object)], -1)
    figure = common.heat_map(
        table["colour"].to_numpy().reshape(n, n),
        GENRES_MARGIN_PX + max(MIN_GENRES_PX, row_px * n),
        _("<b>%{y}</b> to <b>%{x}</b><br>%{customdata[0]}<br>%{customdata[1]:,} people"),
        hover_data.reshape(n, n, 2),
        x=names,
        y=names,
        zmin=-scale_end,
        zmax=scale_end,
        xgap=2,
        ygap=2,
        colorscale=PALE_SCALE if has_cell_text else SIGNED_SCALE,
        text=np.array(cell_texts, object).reshape(n, n),
        texttemplate="%{text}" if has_cell_text else None,
    )
    # in wide cells, names with one word per line fit a phone; other names would overlap and are rotated
    has_wide_cells = n <= MAX_GENRES_WITH_WIDE_CELLS
    column_names = [name.replace(" ", "<br>") if has_wide_cells else name for name in names]
    axis = BARE_AXIS | {"automargin": True, "tickvals": names, "ticktext": column_names}
    return figure.update_yaxes(**axis).update_xaxes(**axis, side="top", tickangle=0 if has_wide_cells else -90)
