"""The lesson, first part: the whole network, the gaps, the embeddings, the order."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.inside import charts, drawing
from pages.inside import lesson_words as words
from pages.inside.step import IN_DRAWING, NEWEST, Lesson, draw, first_new, head_name, rows, say, strip
from pages.ui import download, film_cards, i18n
from pages.ui import words as common
from recsys.serving.insight import embedding_map

NEIGHBOURS = 5
FARTHEST = 15  # films to either side of one, in the chart of the bias


def tell_whole(lesson: Lesson) -> None:
    """What goes in, what comes out, and where the paper has it otherwise."""
    say(words.WHOLE_TEXT, words.WHOLE_DRAWN.format(paper=words.PAPER))
    if not lesson.departs:
        return
    say(words.WHOLE_COLOURS)
    share = lesson.predictor.model.config.last_item_mask_prob
    rows_ = {words.DEPARTURES[name][0]: words.DEPARTURES[name][1:] for name in lesson.departs}
    table = pd.DataFrame.from_dict(rows_, orient="index", columns=[words.IN_THE_PAPER, words.HERE])
    table.index.name = words.ABOUT
    table[words.HERE] = [text.format(share=share) for text in table[words.HERE]]
    with st.expander(words.DEPARTS, icon=":material/compare_arrows:", key="departures"):
        st.table(table, alt=words.DEPARTS, border="horizontal")


def show_whole(lesson: Lesson) -> None:
    """The drawing."""
    found = lesson.found
    about = words.WHOLE_ALT.format(
        films=", ".join(found.prediction[-IN_DRAWING:]),
        layers=lesson.sizes[0],
        n=found.n_items,
        answer=first_new(lesson),
    )
    draw(lesson, drawing.ALL, about, 520)


def tell_hiding(lesson: Lesson) -> None:
    """What a cloze test is."""
    say(words.HIDE_TEXT, words.HIDE_NEXT)
    if (n := len(lesson.found.training)) < 3:
        st.info(words.FEW_FILMS.format(n=n))


def show_hiding(lesson: Lesson) -> None:
    """The sequence with blanks: once as in training, once as in prediction."""
    st.caption(words.TO_LEARN)
    strip(lesson.found.training)
    st.caption(common.plain(words.COVERED.format(films=", ".join(lesson.found.hidden))))
    st.caption(words.TO_PREDICT)
    strip(lesson.found.prediction)


def tell_embedding(lesson: Lesson) -> None:
    """What an embedding is, and the formula."""
    found = lesson.found
    say(words.EMBED_TEXT.format(n=found.embeddings.shape[1]))
    if "pmi_init" in lesson.departs:
        say(words.EMBED_START)
    st.latex(input_formula(lesson))
    say(words.EMBED_FORMULA_TEXT if "pre_norm" in lesson.departs else words.EMBED_FORMULA_TEXT_POST)
    download.csv(pd.DataFrame(found.embeddings, found.prediction), f"embedding-{lesson.name}", index=True)


def input_formula(lesson: Lesson) -> str:
    """What the first layer is given."""
    if "pre_norm" in lesson.departs:
        return words.EMBED_FORMULA if lesson.found.positions is None else words.EMBED_FORMULA_SUM
    return words.EMBED_FORMULA_POST if lesson.found.positions is None else words.EMBED_FORMULA_SUM_POST


def show_embedding(lesson: Lesson) -> None:
    """The rows of numbers, and the films that are nearest to the newest one."""
    found = lesson.found
    figure = numbers_chart(found.embeddings[-NEWEST:], found.prediction[-NEWEST:])
    st.plotly_chart(i18n.localised(figure), alt=words.EMBEDDING_ALT, config=charts.STILL, key="embedding")
    newest = int(found.attention.tokens[-2])
    films = lesson.dataset.catalog.films
    directions = embedding_map.directions(lesson.predictor.model.item_embeddings())
    near = embedding_map.neighbours(directions, newest, NEIGHBOURS)
    st.caption(words.EMBED_NEAR.format(film=common.plain(films[newest].label)))
    rows(
        film_cards.measured(rank, films[item], cos, i18n.number(cos, ".2f"))
        for rank, (item, cos) in enumerate(near, start=1)
    )


def numbers_chart(values: np.ndarray, labels: list[str]) -> go.Figure:
    """A row for each token (T), the last at the bottom; a column for each of D numbers."""
    shown = np.broadcast_to(np.array(charts.in_chart(labels), object)[:, None], values.shape)
    furthest = float(np.quantile(np.abs(values), 0.98)) or 1.0  # a few outliers would leave the rest pale
    figure = go.Figure(
        go.Heatmap(
            z=values,
            y=list(range(len(values))),
            customdata=shown,
            hovertemplate="<b>%{customdata}</b><br>%{z:+.3f}<extra></extra>",
            colorscale=charts.SIGNED,
            zmin=-furthest,
            zmax=furthest,
            showscale=False,
            ygap=2,
        )
    )
    figure.update_layout(height=70 + 22 * len(values), margin={"l": 0, "r": 0, "t": 8, "b": 0})
    ticks = charts.ticks(labels)
    figure.update_yaxes(
        tickvals=list(range(len(values))), ticktext=ticks, autorange="reversed", showgrid=False, ticks=""
    )
    figure.update_xaxes(title=words.NUMBER, showgrid=False, zeroline=False)
    return figure


def tell_order(lesson: Lesson) -> None:
    """Position embeddings, or the bias that stands in for them."""
    found, slopes = lesson.found, lesson.found.layers.slopes
    if found.positions is not None:
        film, position, total = (float(of[-1, 0]) for of in (found.embeddings, found.positions, found.input))
        say(words.ORDER_POSITIONS.format(film=film, position=position, sum=total))
        st.latex(input_formula(lesson))
    if slopes is not None:
        say(words.ORDER_TEXT)
        st.latex(words.ORDER_FORMULA)
        st.latex(words.ORDER_FORMULA_POWER)
        layer, head = np.unravel_index(slopes[:, :, 0].argmax(), slopes.shape[:2])
        near, far = (i18n.number(factor(slopes[layer, head, 0], distance), ".2f") for distance in (1, 10))
        name = head_name(int(layer), int(head))
        say(words.ORDER_FORMULA_TEXT.format(steepest=name, near=near, far=far))


def show_order(lesson: Lesson) -> None:
    """A line for each head, or the position embeddings."""
    found, slopes = lesson.found, lesson.found.layers.slopes
    if found.positions is not None:
        figure = numbers_chart(found.positions[-NEWEST:], found.prediction[-NEWEST:])
        st.plotly_chart(i18n.localised(figure), alt=words.ORDER_POSITIONS_CHART, config=charts.STILL, key="positions")
    if slopes is not None:
        table = factors(slopes)
        st.plotly_chart(i18n.localised(order_chart(table)), alt=words.ORDER_CHART, config=charts.STILL, key="order")
        at = [-10, -5, -2, -1, 0, 1, 2, 5, 10]
        charts.as_table(table.loc[at].map(lambda value: i18n.number(value, ".2f")), words.ORDER_CHART, "order")


def factor(slope: float, distance: int) -> float:
    """By how much a bias multiplies attention at a distance in films."""
    return float((1 + abs(distance)) ** -slope)


def factors(slopes: np.ndarray) -> pd.DataFrame:
    """`factor` for slopes (L, H, 2): a row for each distance, below 0 towards earlier films, a column for each head."""
    far = range(-FARTHEST, FARTHEST + 1)
    n_layers, n_heads = slopes.shape[:2]
    return pd.DataFrame(
        {
            head_name(layer, head): [factor(slopes[layer, head, int(distance > 0)], distance) for distance in far]
            for layer in range(n_layers)
            for head in range(n_heads)
        },
        index=pd.Index(far, name=words.BACK_IN_TIME),
    )


def order_chart(table: pd.DataFrame) -> go.Figure:
    """`factors` as lines."""
    figure = go.Figure()
    for number, name in enumerate(table.columns):
        look = {"color": charts.LINES[number % len(charts.LINES)], "dash": ("solid", "dash", "dot")[number // 2 % 3]}
        figure.add_scatter(x=table.index, y=table[name], name=name, mode="lines", line=look, hovertemplate="%{y:.2f}")
    figure.update_layout(height=360, margin={"l": 0, "r": 0, "t": 30, "b": 0}, hovermode="x unified")
    figure.update_layout(legend={"orientation": "h", "y": 1, "yanchor": "bottom"}, showlegend=True)
    figure.update_xaxes(title=words.BACK_IN_TIME, zeroline=False)
    figure.update_yaxes(title=words.FACTOR, rangemode="tozero")
    return figure
