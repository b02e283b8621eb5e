"""Steps 1 to 4 of the lesson: the whole network, masks, embeddings and the order of films.

The function of a step shows a text, and an example in the container `example`.
"""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.inside import common
from pages.inside.common import BARE_AXIS, LINE_COLOURS, MAX_TOKENS, SIGNED_SCALE, Lesson
from pages.inside.network_drawing import COLUMN_CENTRES, PARTS, NetworkDrawing
from pages.ui import charts, film_cards
from pages.ui.format import escape_markdown
from pages.ui.i18n import N_, _, ngettext, number
from recsys.serving.insight import attention, embedding_map

N_NEIGHBOURS = 5
# chart of the position bias
MAX_BIAS_DISTANCE = 15  # films before and after the attending film
FACTORS_CHART_HEIGHT_PX = 360
# heat map with a row for each token
MARGIN_PX = 70  # above and below the rows, together
ROW_HEIGHT_PX = 22
# name of a difference (see `bert4rec_values.paper_differences`) → aspect, text about the paper, text about this network
PAPER_DIFFERENCES = {
    "relative_bias": (
        N_("Order"),
        N_("Adds an embedding of the position to the embedding of the film."),
        N_("Adds a bias to the attention. The bias depends on the distance between two films."),
    ),
    "pre_norm": (
        N_("Normalisation"),
        N_("After each part of a layer."),
        N_("Before each part of a layer, and once more at the end."),
    ),
    "projection": (
        N_("Before the output"),
        N_("One more linear map with a GELU."),
        N_("None. The vector is compared with the films directly."),
    ),
    "pmi_init": (
        N_("Initial embeddings"),
        N_("Random."),
        N_("From pointwise mutual information: films that people watched close together start with similar numbers."),
    ),
    "last_only": (
        N_("Masks in training"),
        N_("Random films. Some extra samples mask only the last film. Their number is not given."),
        N_("Random films. In {share:.0%} of the samples, only the last film."),
    ),
    "average": (
        N_("Final weights"),
        N_("The weights after the last training step."),
        N_("A moving average of the weights over the training steps."),
    ),
    "only_unseen": (
        N_("Films in the softmax"),
        N_("All films, including watched ones."),
        N_("Only films that the person has not watched, because watched films are normally not recommended."),
    ),
    "redraw": (
        N_("Films rated in the same second"),
        N_("They keep the same order in all epochs."),
        N_("They are shuffled in each epoch, because their real order is unknown."),
    ),
    "memory": (
        N_("Memory"),
        N_("None."),
        N_(
            "A **memory** adds counts of films that follow each other, or that the same people watch, to the scores. "
            "The lesson leaves it out, so other pages show slightly different lists."
        ),
    ),
}


def show_overview(lesson: Lesson, example: DeltaGenerator) -> None:
    """Describe and draw the network. List its differences from the paper."""
    text = _(
        "BERT4Rec reads your films in order and gives each film in the data set a **probability** of being the next "
        "one. Together the probabilities add up to 100%. The drawing shows the whole network, with your latest films "
        "at the bottom. Read it upwards. Each of the next steps explains one part."
    )
    st.markdown(text)
    text = _(
        "The drawing follows figure 1b of the [paper]({paper}) (Sun et al., 2019). The lines show real "
        "attention: the thicker a line, the more attention the upper position pays to the lower one. It is the "
        "mean over the heads of the layer.",
        paper="https://arxiv.org/abs/1904.06690",
    )
    st.markdown(text)
    if lesson.paper_differences:
        st.markdown(_("Orange and dashed: only in the paper. Teal words: the replacement in this network."))
        share = lesson.predictor.model.config.last_item_mask_prob
        rows = [[_(cell, share=share) for cell in PAPER_DIFFERENCES[name]] for name in lesson.paper_differences]
        table = pd.DataFrame(rows, columns=[_("Aspect"), _("In the paper"), _("Here")]).set_index(_("Aspect"))
        title = _("Differences from the paper")
        with st.expander(title, icon=":material/compare_arrows:", key="departures"):
            st.table(table, alt=title, border="horizontal")
    alt = ngettext(
        "The network from the bottom to the top: {films}. Each token has an embedding. Layers: {layers}. In each "
        "layer, every position attends to all positions and then passes through a feed-forward network. The vector "
        "of [mask] is compared with {n:,} film, and a softmax turns the scores into probabilities. The top film is "
        "{answer}.",
        "The network from the bottom to the top: {films}. Each token has an embedding. Layers: {layers}. In each "
        "layer, every position attends to all positions and then passes through a feed-forward network. The vector "
        "of [mask] is compared with {n:,} films, and a softmax turns the scores into probabilities. The top film is "
        "{answer}.",
        lesson.values.n_items,
        films=", ".join(lesson.values.attention.labels[-len(COLUMN_CENTRES) :]),
        layers=lesson.n_layers,
        answer=lesson.top_unwatched_title,
    )
    with example:
        st.image(NetworkDrawing(lesson, PARTS).svg(), width=520, alt=alt)


def show_mask(lesson: Lesson, example: DeltaGenerator) -> None:
    """Describe the cloze task. Show the films with random masks, as in training, and with a mask at the end."""
    text = _(
        "A cloze test is a text with gaps. BERT4Rec learns from histories in which some films are replaced by "
        "`[mask]`. It predicts these films from the films **before and after** them. This is why it is called "
        "bidirectional."
    )
    st.markdown(text)
    st.markdown(
        _("To predict your next film, a `[mask]` is placed after your films. Here only the films before it can help.")
    )
    if (n := len(lesson.values.training_labels)) < 3:
        st.info(common.short_list_note(n))
    with example:
        st.caption(_("In training: a history with masks"))
        token_strip(lesson.values.training_labels)
        st.caption(escape_markdown(_("Masked here: {films}.", films=", ".join(lesson.values.masked_labels))))
        st.caption(_("In prediction: your films, then a mask"))
        token_strip(lesson.values.attention.labels)


def token_strip(labels: list[str]) -> None:
    """Show the newest tokens in a row. labels: Of all tokens, oldest first."""
    chips = [(position, label, label == attention.MASK_LABEL) for position, label in enumerate(labels, start=1)]
    st.html(film_cards.sequence_chips(chips[-MAX_TOKENS:]))


def show_embedding(lesson: Lesson, example: DeltaGenerator) -> None:
    """Describe the embeddings. Show their numbers as colours, and the films nearest to the newest film."""
    values = lesson.values
    text = _(
        "A network works with numbers. The **embedding** of a film is a row of numbers that describes it, here "
        "{n} numbers found in training. `[mask]` has an embedding too. In the chart, each row is a film. Teal is "
        "above zero, orange is below.",
        n=values.token_embeddings.shape[1],
    )
    st.markdown(text)
    if "pmi_init" in lesson.paper_differences:
        text = _(
            "In the paper, training starts with random numbers. Here it started with pointwise mutual information: "
            "films that people watched close together had similar numbers from the beginning."
        )
        st.markdown(text)
    st.latex(input_formula(lesson))
    st.markdown(
        _(
            "$v_i$ is the embedding of the film at position $i$. LN is layer normalisation: it gives each row mean 0 "
            "and the same spread."
        )
        if lesson.has_pre_norm
        else _("$v_i$ is the embedding of the film at position $i$.")
    )
    table = pd.DataFrame(values.token_embeddings, values.attention.labels)
    charts.download_buttons(table.reset_index(), f"embedding-{common.slug(lesson.predictor)}", _("Embedding"))
    newest_film = int(values.attention.tokens[-2])  # the last token is [mask]
    unit_vectors = embedding_map.to_unit_length(lesson.predictor.model.item_embeddings())
    with example:
        alt = _("Embeddings of your latest films and of [mask], as colours")
        common.plot(numbers_chart(values.token_embeddings, values.attention.labels), alt, "embedding")
        text = _(
            "A single number has no meaning on its own. Taken together, the numbers are similar for films that have a "
            "similar place in people's histories. The films below are nearest to {film} by the angle between the rows: "
            "1.00 is the same direction, 0.00 means unrelated.",
            film=escape_markdown(lesson.films[newest_film].label),
        )
        st.caption(text)
        common.show_neighbours(lesson.films, embedding_map.neighbours(unit_vectors, newest_film, N_NEIGHBOURS))


def input_formula(lesson: Lesson) -> str:
    """Return LaTeX for the input of the first layer."""
    embedding_sum = "v_i + p_i" if lesson.has_position_embeddings else "v_i"
    return rf"h_i^0 = \mathrm{{LN}}({embedding_sum})" if lesson.has_pre_norm else f"h_i^0 = {embedding_sum}"


def numbers_chart(values: np.ndarray, labels: list[str]) -> go.Figure:
    """Return a heat map of values (T, D) with a row for each of the newest tokens. labels: Of all T tokens."""
    values, labels = values[-MAX_TOKENS:], labels[-MAX_TOKENS:]
    names = np.array([common.plotly_text(label) for label in labels], object)
    scale_end = float(np.quantile(np.abs(values), 0.98)) or 1.0  # not the maximum: an outlier would make the rest pale
    figure = common.heat_map(
        values,
        MARGIN_PX + ROW_HEIGHT_PX * len(values),
        "<b>%{customdata}</b><br>%{z:+.3f}",
        np.broadcast_to(names[:, None], values.shape),
        colorscale=SIGNED_SCALE,
        zmin=-scale_end,
        zmax=scale_end,
        ygap=2,
    )
    figure.update_yaxes(**BARE_AXIS, tickvals=list(range(len(values))), ticktext=common.tick_labels(labels))
    return figure.update_xaxes(title=_("Number"), showgrid=False, zeroline=False)


def show_order(lesson: Lesson, example: DeltaGenerator) -> None:
    """Describe how the network reads the order of the films: from position embeddings or from a position bias."""
    st.markdown(_("So far the network does not know the order of your films."))
    if lesson.values.position_embeddings is not None:
        show_position_embeddings(lesson, lesson.values.position_embeddings, example)
    if lesson.values.layers.slopes is not None:
        show_position_bias(lesson.values.layers.slopes, example)


def show_position_embeddings(lesson: Lesson, position_embeddings: np.ndarray, example: DeltaGenerator) -> None:
    """Describe the position embeddings (T, D), and show them as colours."""
    mask_number = float(lesson.values.token_embeddings[-1, 0])  # the first number of [mask], which is the last token
    position_number = float(position_embeddings[-1, 0])
    text = _(
        "As in the paper, each position has an embedding $p_i$, which is added to the embedding of the film. In the "
        "chart, each row is a position. The first number of `[mask]` is {film:+.2f}. With {position:+.2f} for its "
        "position, the sum is {sum:+.2f}.",
        film=mask_number,
        position=position_number,
        sum=mask_number + position_number,
    )
    st.markdown(text)
    st.latex(input_formula(lesson))
    alt = _("Embeddings of the latest positions, as colours")
    with example:
        common.plot(numbers_chart(position_embeddings, lesson.values.attention.labels), alt, "positions")


def show_position_bias(slopes: np.ndarray, example: DeltaGenerator) -> None:
    """Describe the relative position bias, and plot its effect on attention. slopes: See `attention_factors`."""
    text = _(
        "The paper adds an embedding of the position, $p_i$. This network uses a **relative position bias** instead: "
        "the attention between two films depends on the distance between them."
    )
    st.markdown(text)
    st.latex(r"b_h(i, j) = -s_h \cdot \log(1 + |i - j|)")
    st.latex(r"e^{\,b_h(i,j)} = (1 + |i - j|)^{-s_h}")
    table = attention_factors(slopes)
    steepest = table.loc[-1].idxmin()  # name of the head
    text = _(
        "The slopes $s_h$ are learned in training. Each **head** (see step 6) has one slope for earlier films and one "
        "for later films. The chart shows $e^b$, the factor by which the attention is multiplied. {steepest} has the "
        "steepest slope for earlier films: its factor is {previous:.2f} for the previous film and {tenth:.2f} for the "
        "tenth.",
        steepest=steepest,
        previous=table.loc[-1, steepest],
        tenth=table.loc[-10, steepest],
    )
    st.markdown(text)
    title = _("Attention factor by distance in films, for each head")
    with example:
        common.plot(factors_chart(table), title, "order")
        rows = table.loc[[-10, -5, -2, -1, 0, 1, 2, 5, 10]]
        common.show_table_expander(rows.map(lambda value: number(value, ".2f")), title, "order")


def attention_factors(slopes: np.ndarray) -> pd.DataFrame:
    """Return exp(bias), the factor on attention: a row for each distance in films, a column for each head.

    Earlier films have negative distances. slopes: (L, H, 2), the slopes for earlier and for later films.
    """
    distances = np.arange(-MAX_BIAS_DISTANCE, MAX_BIAS_DISTANCE + 1)
    names = [common.head_name(*indices) for indices in np.ndindex(slopes.shape[:2])]
    earlier, later = slopes.reshape(-1, 2).T
    slope_by_distance = np.where(distances[:, None] > 0, later, earlier)  # (distances, L · H)
    factors = (1 + np.abs(distances))[:, None] ** -slope_by_distance
    index = pd.Index(distances, name=_("Distance in films (negative: earlier, positive: later)"))
    return pd.DataFrame(factors, index, names)


def factors_chart(table: pd.DataFrame) -> go.Figure:
    """Return a chart of `attention_factors` with a line for each head."""
    figure, dashes = go.Figure(), ("solid", "dash", "dot")
    for index, name in enumerate(table.columns):
        dash = dashes[index // 2 % len(dashes)]  # two heads share a dash, because a layer usually has two heads
        line = {"color": LINE_COLOURS[index % len(LINE_COLOURS)], "dash": dash}
        figure.add_scatter(x=table.index, y=table[name], name=name, mode="lines", line=line, hovertemplate="%{y:.2f}")
    charts.set_layout(figure, FACTORS_CHART_HEIGHT_PX).update_layout(showlegend=True, hovermode="x unified")
    figure.update_xaxes(title=charts.wrap_title(str(table.index.name)), zeroline=False)
    return figure.update_yaxes(title=_("Attention factor"), rangemode="tozero")
