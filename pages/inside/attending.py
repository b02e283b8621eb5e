"""The lesson, second part: self-attention in numbers, the heads beside each other, the layers one above the other."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.inside import charts
from pages.inside import lesson_words as words
from pages.inside import words as page_words
from pages.inside.step import NEWEST, Lesson, head_name, one_of, rows, say
from pages.ui import film_cards, format, i18n
from pages.ui.i18n import _
from recsys.serving.insight import steps

MOST = 6  # films that one head attends to most
FIRST = 4  # films that each layer would predict


def tell_attention(lesson: Lesson) -> None:
    """Query, key and value."""
    _(
        "Now the films learn of each other. Every position asks a question, its **query** $q$. Every "
        "position offers an answer to look for, its **key** $k$, and something to take along, its "
        "**value** $v$: three linear maps of its row. The better key and query match, the larger the "
        "share of its value that is taken. It is called **self-attention** because a sequence "
        "attends to itself."
    )
    biased = lesson.found.layers.bias is not None
    st.latex(
        _(r"\mathrm{Attention}(Q, K, V) = \mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt{d/h}} + B\right) V")
        if biased
        else _(r"\mathrm{Attention}(Q, K, V) = \mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt{d/h}}\right) V")
    )
    if biased:
        _("The paper has the same without $B$, the bias of step 4.")


def show_attention(lesson: Lesson) -> None:
    """The sums of one head, for the mask."""
    n_layers, n_heads = lesson.sizes
    with st.container(horizontal=True, gap="medium"):
        layer, head = one_of("layer", n_layers, whole=False), one_of("head", n_heads, whole=False)
    table = sums(lesson, layer or 0, head or 0)
    films = table[lesson.found.attention.films].sort_values("share", ascending=False, kind="stable").head(MOST)
    st.caption(
        _("What `[mask]` attends to in layer {layer}, head {head}", layer=(layer or 0) + 1, head=(head or 0) + 1)
    )
    note = (
        _("match {match:+.2f}")
        if lesson.found.layers.bias is None
        else _("match {match:+.2f}, bias {bias:+.2f}, together {sum:+.2f}")
    )
    known, most = lesson.dataset.catalog.films, films["share"].max() or 1
    rows(
        film_cards.film_bar_row(
            row.position, known[row.token], row.share / most, format.percent(row.share), note.format(**row._asdict())
        )
        for row in films.itertuples()
    )
    rest = max(1 - films["share"].sum(), 0)
    sentence = (
        _("The rest, {share}, stays with `[mask]` itself.")
        if len(films) == len(table) - 1
        else _("The rest, {share}, goes to other films and to `[mask]` itself.")
    )
    st.caption(sentence.format(share=format.percent(rest)))
    st.markdown(example(films.iloc[0], table))
    shown = table[["label", "match", "bias", "share"]].tail(NEWEST)
    shown.columns = pd.Index([_("Position"), _("Match"), _("Bias"), _("Weight")])
    charts.as_table(
        shown.set_index(_("Position")).map(lambda value: i18n.number(value, ".3f")),
        _("match, bias and share for every position"),
        "sums",
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
    return _(
        "For {film}: e to the power of {sum:+.2f} is {exponential:.2f}. All positions together make "
        "{total:.2f}, so the share is {share}.",
        film=format.escape_markdown(first["label"]),
        sum=first["sum"],
        exponential=np.exp(first["sum"]),
        total=total,
        share=format.percent(first["share"]),
    )


def tell_heads(lesson: Lesson) -> None:
    """Why there are several."""
    n_heads, dim = lesson.sizes[1], lesson.found.embeddings.shape[1]
    say(
        _(
            "One attention can look for one thing at a time. So each layer has {heads} side by side, "
            "called **heads**, each with queries, keys and values of its own: {size} numbers each. What "
            "they bring back is put together and mixed by one more linear map.",
            heads=n_heads,
            size=dim // n_heads,
        )
        if n_heads > 1
        else _("The paper has several attentions side by side, called **heads**. This network has one in each layer.")
    )
    st.latex(_(r"\mathrm{MH}(H) = [\mathrm{head}_1; \ldots; \mathrm{head}_h]\, W^O"))
    say(
        _(
            "The section **{attention}** shows the lines from every position to every other one.",
            attention=page_words.SECTIONS["attention"],
        )
    )


def show_heads(lesson: Lesson) -> None:
    """What the mask attends to, a row for each head."""
    table = by_head(lesson)
    st.caption(_("What `[mask]` attends to, head by head. Each row adds up to 100% over the whole history."))
    st.plotly_chart(
        i18n.localised(heads_chart(table)),
        alt=_("What [mask] attends to: a row for each head, a column for each of the newest positions"),
        config=charts.STILL,
        key="heads",
    )
    films = table.loc[:, lesson.found.attention.films]
    most = [
        _(
            "{head}: of the films, most to {film} ({share}).",
            head=name,
            film=f"**{format.escape_markdown(row.index[row.argmax()])}**",
            share=format.percent(row.max()),
        )
        for name, row in films.iterrows()
    ]
    say("\n".join(f"- {line}" for line in most))
    charts.as_table(
        table.iloc[:, -NEWEST:].T.rename_axis(_("Position")).map(format.percent),
        _("attention of [mask], head by head"),
        "heads",
    )


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
    say(
        _(
            "Attention mixes the positions. A small **feed-forward** network then works on each position "
            "by itself. Both together are one **layer**, and this network has {n}, one on top of the "
            "other: what a layer has found, the next one can ask about.",
            n=lesson.sizes[0],
        )
    )
    st.latex(r"\mathrm{PFFN}(x) = \mathrm{GELU}(x W_1 + b_1)\, W_2 + b_2")
    for formula in words.LAYERS_FORMULA if before else words.LAYERS_FORMULA_POST:
        st.latex(formula)
    say(
        _(
            "Each part adds to what is there instead of replacing it: a residual connection. The paper "
            "normalises after the addition, LN(x + …); this network before it."
        )
        if before
        else _(
            "Each part adds to what is there instead of replacing it, a residual connection, and the sum "
            "is normalised, as in the paper."
        )
    )


def show_layers(lesson: Lesson) -> None:
    """What would be predicted after each layer."""
    same = "" if lesson.found.positions is not None else (" " + _("So that list is the same for everybody."))
    st.caption(
        _(
            "What the network would predict if it stopped there. Before the first layer, `[mask]` knows "
            "nothing of your films."
        )
        + f"{same}"
    )
    read = steps.readings(lesson.predictor, lesson.found.layers, FIRST)
    films = lesson.dataset.catalog.films
    best = max((float(table["probability"].iloc[0]) for table in read), default=0.0)  # one scale for all lists
    for number, table in enumerate(read):
        st.markdown("**" + (_("After layer {n}", n=number) if number else _("Before the first layer")) + "**")
        rows(
            film_cards.row(rank, films[row.item], row.probability, best)
            for rank, row in enumerate(table.itertuples(), 1)
        )
