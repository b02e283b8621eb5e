"""The lesson, second part: self-attention in numbers, the heads beside each other, the layers one above the other."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.inside import charts
from pages.inside import lesson_words as words
from pages.inside import words as page_words
from pages.inside.step import NEWEST, Lesson, head_name, one_of, rows, say
from pages.ui import film_cards, i18n
from pages.ui import words as common
from recsys.serving.insight import steps

MOST = 6  # films that one head attends to most
FIRST = 4  # films that each layer would predict


def tell_attention(lesson: Lesson) -> None:
    """Query, key and value."""
    say(words.ATTEND_TEXT)
    biased = lesson.found.layers.bias is not None
    st.latex(words.ATTEND_FORMULA if biased else words.ATTEND_FORMULA_PAPER)
    if biased:
        say(words.ATTEND_FORMULA_TEXT)


def show_attention(lesson: Lesson) -> None:
    """The sums of one head, for the mask."""
    n_layers, n_heads = lesson.sizes
    with st.container(horizontal=True, gap="medium"):
        layer, head = one_of("layer", n_layers, whole=False), one_of("head", n_heads, whole=False)
    table = sums(lesson, layer or 0, head or 0)
    films = table[lesson.found.attention.films].sort_values("share", ascending=False, kind="stable").head(MOST)
    st.caption(words.ATTEND_SHOWN.format(layer=(layer or 0) + 1, head=(head or 0) + 1))
    note = words.ATTEND_NOTE_PLAIN if lesson.found.layers.bias is None else words.ATTEND_NOTE
    known, most = lesson.dataset.catalog.films, films["share"].max() or 1
    rows(
        film_cards.measured(
            row.position, known[row.token], row.share / most, common.percent(row.share), note.format(**row._asdict())
        )
        for row in films.itertuples()
    )
    rest = max(1 - films["share"].sum(), 0)
    sentence = words.ATTEND_ITSELF if len(films) == len(table) - 1 else words.ATTEND_REST
    st.caption(sentence.format(share=common.percent(rest)))
    st.markdown(example(films.iloc[0], table))
    shown = table[["label", "match", "bias", "share"]].tail(NEWEST)
    shown.columns = pd.Index([words.TOKEN, words.MATCH, words.BIAS, words.SHARE])
    charts.as_table(
        shown.set_index(words.TOKEN).map(lambda value: i18n.number(value, ".3f")), words.ATTEND_TABLE, "sums"
    )


def sums(lesson: Lesson, layer: int, head: int) -> pd.DataFrame:
    """Position, token, label, match, bias, sum and share of each token, as the mask attends to it in one head."""
    found, seen = lesson.found.layers, lesson.found.attention
    match = found.match[layer, head, -1].astype(np.float64)
    bias = np.zeros_like(match) if found.bias is None else found.bias[layer, head, -1].astype(np.float64)
    table = pd.DataFrame(
        {"token": seen.tokens, "label": seen.labels, "match": match, "bias": bias, "sum": match + bias}
    )
    exponentials = np.exp(table["sum"])
    return table.assign(position=range(1, len(table) + 1), share=exponentials / exponentials.sum())


def example(first: pd.Series, table: pd.DataFrame) -> str:
    """The softmax of the strongest film, in numbers."""
    total = float(np.exp(table["sum"]).sum())
    return words.ATTEND_EXAMPLE.format(
        film=common.plain(first["label"]),
        sum=first["sum"],
        exponential=np.exp(first["sum"]),
        total=total,
        share=common.percent(first["share"]),
    )


def tell_heads(lesson: Lesson) -> None:
    """Why there are several."""
    n_heads, dim = lesson.sizes[1], lesson.found.embeddings.shape[1]
    say(words.HEADS_TEXT.format(heads=n_heads, size=dim // n_heads) if n_heads > 1 else words.HEADS_TEXT_ONE)
    st.latex(words.HEADS_FORMULA)
    say(words.HEADS_MORE.format(attention=page_words.SECTIONS["attention"]))


def show_heads(lesson: Lesson) -> None:
    """What the mask attends to, a row for each head."""
    table = by_head(lesson)
    st.caption(words.HEADS_SHOWN)
    st.plotly_chart(i18n.localised(heads_chart(table)), alt=words.HEADS_CHART, config=charts.STILL, key="heads")
    films = table.loc[:, lesson.found.attention.films]
    most = [
        words.HEADS_MOST.format(
            head=name, film=f"**{common.plain(row.index[row.argmax()])}**", share=common.percent(row.max())
        )
        for name, row in films.iterrows()
    ]
    say("\n".join(f"- {line}" for line in most))
    charts.as_table(table.iloc[:, -NEWEST:].T.rename_axis(words.TOKEN).map(common.percent), words.HEADS_TABLE, "heads")


def by_head(lesson: Lesson) -> pd.DataFrame:
    """A row for each head of each layer, a column for each token: what the mask attends to."""
    seen = lesson.found.attention
    n_layers, n_heads = lesson.sizes
    names = [head_name(layer, head) for layer in range(n_layers) for head in range(n_heads)]
    return pd.DataFrame(seen.weights[:, :, -1].reshape(len(names), -1), names, seen.labels)


def heads_chart(table: pd.DataFrame) -> go.Figure:
    """The newest columns of `by_head`; each row has its own strongest colour."""
    shown = table.iloc[:, -NEWEST:]
    strongest = shown.max(axis=1).clip(lower=1e-9)
    labels = np.broadcast_to(np.array(charts.in_chart(shown.columns), object), shown.shape)
    figure = go.Figure(
        go.Heatmap(
            z=shown.div(strongest, axis=0),
            x=list(range(shown.shape[1])),
            y=list(shown.index),
            customdata=np.stack([labels, shown.to_numpy(object)], -1),
            text=[[i18n.number(share, ".0%") if share >= 0.005 else "" for share in row] for row in shown.to_numpy()],
            texttemplate="%{text}",
            textfont={"color": "white" if st.context.theme.type == "dark" else "black"},
            hovertemplate="%{y}<br><b>%{customdata[0]}</b><br>%{customdata[1]:.1%}<extra></extra>",
            colorscale=[[0, "rgba(31, 154, 148, 0.05)"], [1, "rgba(31, 154, 148, 0.6)"]],
            zmin=0,
            showscale=False,
            xgap=2,
            ygap=2,
        )
    )
    ticks = charts.ticks(shown.columns, 14)
    figure.update_xaxes(tickvals=list(range(len(ticks))), ticktext=ticks, tickangle=-60, showgrid=False, zeroline=False)
    figure.update_yaxes(autorange="reversed", showgrid=False, ticks="")
    figure.update_layout(height=150 + 46 * len(shown), margin={"l": 0, "r": 0, "t": 8, "b": 0})
    return figure


def tell_layers(lesson: Lesson) -> None:
    """Feed-forward, residual connections, normalisation."""
    before = "pre_norm" in lesson.departs
    say(words.LAYERS_TEXT.format(n=lesson.sizes[0]))
    st.latex(words.LAYERS_FORMULA_PFFN)
    for formula in words.LAYERS_FORMULA if before else words.LAYERS_FORMULA_POST:
        st.latex(formula)
    say(words.LAYERS_FORMULA_TEXT if before else words.LAYERS_FORMULA_TEXT_POST)


def show_layers(lesson: Lesson) -> None:
    """What would be predicted after each layer."""
    same = "" if lesson.found.positions is not None else f" {words.LAYERS_SAME}"
    st.caption(f"{words.LAYERS_SHOWN}{same}")
    read = steps.readings(lesson.predictor, lesson.found.layers, FIRST)
    films = lesson.dataset.catalog.films
    best = max((float(table["probability"].iloc[0]) for table in read), default=0.0)  # one scale for all lists
    for number, table in enumerate(read):
        st.markdown(f"**{words.AFTER_LAYER.format(n=number) if number else words.BEFORE_LAYERS}**")
        rows(
            film_cards.line(rank, films[row.item], row.probability, best)
            for rank, row in enumerate(table.itertuples(), 1)
        )
