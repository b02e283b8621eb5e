"""Steps 5 to 9 of the lesson: self-attention, heads, layers, softmax and training.

The function of a step shows a text, and an example in the container `example`.
"""

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.inside import common
from pages.inside.common import BARE_AXIS, MAX_TOKENS, Lesson, translucent
from pages.ui import charts, film_cards
from pages.ui.charts import ACCENT
from pages.ui.format import escape_markdown, percent
from pages.ui.i18n import _, ngettext, number
from recsys.serving.insight.bert4rec_values import layer_predictions

MAX_FILMS = 6  # films with the most attention in a head
N_PREDICTIONS = 4  # predicted films after each layer
# heat map with a row for each head
MARGIN_PX = 150  # above and below the rows, together
ROW_HEIGHT_PX = 46


def show_self_attention(lesson: Lesson, example: DeltaGenerator) -> None:
    """Describe query, key and value. Show the attention of the mask in one head."""
    text = _(
        "Now the films exchange information. Each position has three vectors, computed by linear maps of its row: "
        "a **query** $q$, a **key** $k$ and a **value** $v$. The better a query matches a key, the larger the "
        "share of the value that is used. The sequence attends to itself, hence the name **self-attention**."
    )
    st.markdown(text)
    has_bias = lesson.values.layers.bias is not None
    bias = " + B" if has_bias else ""
    st.latex(
        rf"\mathrm{{Attention}}(Q, K, V) = \mathrm{{softmax}}\!\left(\frac{{QK^\top}}{{\sqrt{{d/h}}}}{bias}\right) V"
    )
    if has_bias:
        st.markdown(_("$B$ is the bias of step 4. The paper has no $B$."))
    with example:
        show_mask_attention(lesson)


def show_mask_attention(lesson: Lesson) -> None:
    """Show menus of layer and head, and the attention of the mask in the chosen head with its computation."""
    with st.container(horizontal=True, gap="medium"):
        layer, head = common.choose_index("layer", lesson.n_layers), common.choose_index("head", lesson.n_heads)
    table = mask_attention(lesson, layer, head)
    is_film = lesson.values.attention.is_film
    top = table[is_film].sort_values("share", ascending=False, kind="stable").head(MAX_FILMS)
    st.caption(_("Attention of `[mask]` in layer {layer}, head {head}", layer=layer + 1, head=head + 1))
    max_share = top["share"].max() or 1
    common.show_film_rows(
        film_cards.film_bar_row(
            row.position,
            lesson.films[row.token],
            row.share / max_share,
            percent(row.share),
            _("match {match:+.2f}", match=row.match)
            if lesson.values.layers.bias is None
            else _("match {match:+.2f}, bias {bias:+.2f}, sum {sum:+.2f}", match=row.match, bias=row.bias, sum=row.sum),
        )
        for row in top.itertuples()
    )
    rest = percent(max(1 - top["share"].sum(), 0))
    st.caption(
        _("The rest, {share}, goes to `[mask]` itself.", share=rest)
        if len(top) == is_film.sum()
        else _("The rest, {share}, goes to other films and to `[mask]` itself.", share=rest)
    )
    strongest = top.iloc[0]
    text = _(
        "For {film}, e to the power of {sum:+.2f} is {exponential:.2f}. The total over all positions is {total:.2f}, "
        "so the share is {share}.",
        film=escape_markdown(strongest["label"]),
        sum=strongest["sum"],
        exponential=np.exp(strongest["sum"]),
        total=float(np.exp(table["sum"]).sum()),
        share=percent(strongest["share"]),
    )
    st.markdown(text)
    newest = table[["label", "match", "bias", "share"]].tail(MAX_TOKENS)
    newest.columns = pd.Index([_("Position"), _("Match"), _("Bias"), _("Attention")])
    common.show_table_expander(
        newest.set_index(_("Position")).map(lambda value: number(value, ".3f")),
        _("match, bias and attention for each position"),
        "sums",
    )


def mask_attention(lesson: Lesson, layer: int, head: int) -> pd.DataFrame:
    """Return the attention of the mask in a head, with a row for each token.

    Columns: token, label, match (scaled dot product), bias, sum (match + bias), position (from 1) and share (attention
    weight).
    """
    outputs, attention = lesson.values.layers, lesson.values.attention
    match = outputs.scaled_dot_product[layer, head, -1].astype(np.float64)  # the last row is [mask]
    bias = np.zeros_like(match) if outputs.bias is None else outputs.bias[layer, head, -1].astype(np.float64)
    table = pd.DataFrame(
        {"token": attention.tokens, "label": attention.labels, "match": match, "bias": bias, "sum": match + bias}
    )
    exponentials = np.exp(table["sum"])
    return table.assign(position=range(1, len(table) + 1), share=exponentials / exponentials.sum())


def show_heads(lesson: Lesson, example: DeltaGenerator) -> None:
    """Describe the attention heads. Show the attention of the mask in each head."""
    n_heads, dim = lesson.n_heads, lesson.values.token_embeddings.shape[1]
    st.markdown(
        _(
            "One attention computation can look for only one thing at a time. So each layer has {heads} of them side "
            "by side, called **heads**. Each head has its own queries, keys and values of {size} numbers. The "
            "results are joined and mixed by one more linear map.",
            heads=n_heads,
            size=dim // n_heads,
        )
        if n_heads > 1
        else _(
            "In the paper, several attention computations run side by side, called **heads**. This network has "
            "one per layer."
        )
    )
    st.latex(r"\mathrm{MH}(H) = [\mathrm{head}_1; \ldots; \mathrm{head}_h]\, W^O")
    st.markdown(_("The section **{attention}** shows the attention between all positions.", attention=_("Attention")))
    attention = lesson.values.attention
    names = [common.head_name(*indices) for indices in np.ndindex(attention.weights.shape[:2])]
    table = pd.DataFrame(attention.weights[:, :, -1].reshape(len(names), -1), names, attention.labels)
    lines = [
        _(
            "{head}: most attention to {film} ({share}).",
            head=name,
            film=f"**{escape_markdown(row.idxmax())}**",
            share=percent(row.max()),
        )
        for name, row in table.loc[:, attention.is_film].iterrows()
    ]
    with example:
        st.caption(_("Attention of `[mask]` by head. Each row adds up to 100% over the whole history."))
        alt = _("Attention of [mask]: a row for each head, a column for each of the latest positions")
        common.plot(heads_chart(table), alt, "heads")
        st.markdown("\n".join(f"- {line}" for line in lines))
        newest = table.iloc[:, -MAX_TOKENS:].T.rename_axis(_("Position"))
        common.show_table_expander(newest.map(percent), _("attention of [mask] by head"), "heads")


def heads_chart(table: pd.DataFrame) -> go.Figure:
    """Return a heat map of attention with a row and a colour scale for each head. table: (heads, all tokens)."""
    newest = table.iloc[:, -MAX_TOKENS:]
    row_max = newest.max(axis=1).clip(lower=1e-9)
    labels = np.broadcast_to(np.array([common.plotly_text(label) for label in newest.columns], object), newest.shape)
    figure = common.heat_map(
        newest.div(row_max, axis=0).to_numpy(),
        height=MARGIN_PX + ROW_HEIGHT_PX * len(newest),
        hover="%{y}<br><b>%{customdata[0]}</b><br>%{customdata[1]:.1%}",
        customdata=np.stack([labels, newest.to_numpy(object)], -1),
        y=list(newest.index),
        text=[[number(share, ".0%") if share >= 0.005 else "" for share in row] for row in newest.to_numpy()],
        texttemplate="%{text}",
        colorscale=[[0, translucent(ACCENT, 0.05)], [1, translucent(ACCENT, 0.6)]],
        zmin=0,
        xgap=2,
        ygap=2,
    )
    ticks = common.tick_labels(newest.columns, max_length=14)
    figure.update_xaxes(**BARE_AXIS, tickvals=list(range(len(ticks))), ticktext=ticks, tickangle=-60)
    return figure.update_yaxes(**BARE_AXIS)


def show_layers(lesson: Lesson, example: DeltaGenerator) -> None:
    """Describe feed-forward networks, residual connections and normalisation. Show predictions after each layer."""
    text = _(
        "Attention mixes the positions. Then a small **feed-forward** network processes each position separately. Both "
        "together are a **layer**. Layers in this network: {n}. Each layer reads the result of the previous one.",
        n=lesson.n_layers,
    )
    st.markdown(text)
    st.latex(r"\mathrm{PFFN}(x) = \mathrm{GELU}(x W_1 + b_1)\, W_2 + b_2")
    for part in (r"\mathrm{MH}", r"\mathrm{PFFN}"):
        output = rf"x + {part}(\mathrm{{LN}}(x))" if lesson.has_pre_norm else rf"\mathrm{{LN}}(x + {part}(x))"
        st.latex(rf"x \leftarrow {output}")
    pre_norm_text = _(
        "Each part adds its result to its input. This is a residual connection. The paper normalises after the "
        "addition, LN(x + …). This network normalises before it."
    )
    paper_text = _(
        "Each part adds its result to its input. This is a residual connection. The sum is normalised, as in the paper."
    )
    st.markdown(pre_norm_text if lesson.has_pre_norm else paper_text)
    caption = _(
        "The predictions if the network stopped after a layer. Before the first layer, `[mask]` has no information "
        "about your films."
    )
    if not lesson.has_position_embeddings:  # then [mask] always has the same input
        caption += " " + _(
            "So the first list is the same for everyone, apart from any watched films that are left out."
        )
    tables = layer_predictions(lesson.predictor, lesson.values, N_PREDICTIONS)
    # one scale of the bars for all lists
    max_probability = max((float(table["probability"].iloc[0]) for table in tables), default=0.0)
    with example:
        st.caption(caption)
        for n_layers, table in enumerate(tables):
            title = _("After layer {n}", n=n_layers) if n_layers else _("Before the first layer")
            st.markdown(f"**{title}**")
            common.show_film_rows(
                film_cards.row(rank, lesson.films[row.item], row.probability, max_probability)
                for rank, row in enumerate(table.itertuples(), 1)
            )


def show_softmax(lesson: Lesson, example: DeltaGenerator) -> None:
    """Describe scores, softmax and ranks. Show the top films with their scores and probabilities."""
    text = ngettext(
        "The final vector of `[mask]` is compared with the embedding of {n:,} film. The **score** of a film is the "
        "dot product of the two vectors. The **softmax** turns scores into probabilities: it takes e to the power "
        "of each score and divides by the total. The most probable film has **rank** 1.",
        "The final vector of `[mask]` is compared with the embeddings of all {n:,} films. The **score** of a film "
        "is the dot product of the two vectors. The **softmax** turns scores into probabilities: it takes e to the "
        "power of each score and divides by the total. The most probable film has **rank** 1.",
        lesson.values.n_items,
    )
    st.markdown(text)
    vector = r"\mathrm{GELU}(h_t W^P + b^P)" if lesson.has_projection else "h_t"
    score = rf"{vector} E^\top + b"
    if (factor := lesson.values.calibration_factor) != 1:
        score = rf"c\,({score})"
    st.latex(rf"P(v) = \mathrm{{softmax}}\!\left({score}\right)_v = \frac{{e^{{s_v}}}}{{\sum_u e^{{s_u}}}}")
    if factor != 1:
        text = _(
            "All scores are multiplied by $c$ = {factor:.2f}, so that films with a probability of 5% really are the "
            "next film in about 5% of cases. The order of the films stays the same. $c$ is chosen after training, and "
            "it depends on the number of your films.",
            factor=factor,
        )
        st.markdown(text)
    if not lesson.has_projection:
        text = _(
            "$E$ contains the embeddings of step 3. The paper has a linear map and a GELU between $h_t$ and $E$ "
            "(equation 7). This network does not."
        )
        st.markdown(text)
    st.markdown(
        _("Watched films are excluded, as in the training of this network.")
        if "only_unseen" in lesson.paper_differences
        else _(
            "Here your watched films compete too. The other pages exclude them before the softmax, so the "
            "probabilities are higher there."
        )
    )
    charts.download_buttons(lesson.values.predictions, f"softmax-{common.slug(lesson.predictor)}", _("Softmax"))
    attention = lesson.values.attention
    watched = set(attention.tokens[attention.is_film].tolist())
    with example:
        common.show_film_rows(
            film_cards.film_bar_row(
                rank,
                lesson.films[film.item],
                film.weight,
                percent(film.probability),
                _(
                    "score {score:.2f}, e^score is {weight:.0%} of that of the top film",
                    score=film.score,
                    weight=film.weight,
                )
                + (f" · {_('watched')}" if film.item in watched else ""),
            )
            for rank, film in enumerate(lesson.values.predictions.itertuples(), start=1)
        )


def show_training(lesson: Lesson, example: DeltaGenerator) -> None:
    """Describe the loss. Show the probability, rank and loss of each masked film of step 2."""
    text = _(
        "All these numbers come from training. The network predicts masked films in the histories of real people. "
        "The **loss** is large if the masked film gets a low probability. After each batch of histories, every "
        "number changes a little so that the loss becomes smaller."
    )
    st.markdown(text)
    st.latex(
        r"\mathcal{L} = \frac{1}{|\mathcal{S}^m|} \sum_{v_m \in \mathcal{S}^m} -\log P(v_m = v_m^* \mid \mathcal{S}')"
    )
    st.markdown(
        _("$\\mathcal{S}'$ is the history with masks, $\\mathcal{S}^m$ the masks, and $v_m^*$ the film behind a mask.")
    )
    with example:
        table, n = lesson.values.masked_films, lesson.values.n_items
        st.caption(_("The masked films of step 2 and their probabilities in the trained network"))
        if lesson.values.calibration_factor != 1:
            st.caption(_("As in training, the probabilities are without the factor $c$ of step 8."))
        max_probability = table["probability"].max() or 1
        common.show_film_rows(
            film_cards.film_bar_row(
                index,
                lesson.films[row.item],
                row.probability / max_probability,
                percent(row.probability),
                _("rank {rank:,}, loss {loss:.2f}", rank=row.rank, loss=row.loss),
            )
            for index, row in enumerate(table.itertuples(), start=1)
        )
        text = ngettext(
            "The mean loss here is {mean:.2f}. A random guess among {n:,} film has a loss of {uniform:.2f}.",
            "The mean loss here is {mean:.2f}. A random guess among {n:,} films has a loss of {uniform:.2f}, the "
            "logarithm of {n:,}.",
            n,
            mean=table["loss"].mean(),
            uniform=math.log(n),
        )
        st.markdown(text)
        names = {"title": _("Film"), "rank": _("Rank"), "probability": _("Probability"), "loss": _("Loss")}
        columns = table[list(names)].rename(columns=names).set_index(names["title"])
        common.show_table_expander(columns, _("rank, probability and loss of each masked film"), "learning")
