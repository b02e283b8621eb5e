"""The lesson, first part: the whole network, the gaps, the embeddings, the order."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.inside import charts, drawing
from pages.inside import lesson_words as words
from pages.inside.step import IN_DRAWING, NEWEST, Lesson, draw, first_new, head_name, rows, say, strip
from pages.ui import charts as ui_charts
from pages.ui import film_cards, format, i18n
from pages.ui.i18n import _, ngettext
from recsys.serving.insight import embedding_map

NEIGHBOURS = 5
FARTHEST = 15  # films to either side of one, in the chart of the bias


def tell_whole(lesson: Lesson) -> None:
    """What goes in, what comes out, and where the paper has it otherwise."""
    say(
        words.WHOLE_TEXT,
        _(
            "Drawn after figure 1b of the [paper]({paper}) (Sun and others, 2019). The lines are real: "
            "the thicker a line, the more attention the position above pays to the one below, on average "
            "over the heads of that layer.",
            paper="https://arxiv.org/abs/1904.06690",
        ),
    )
    if not lesson.departs:
        return
    _("Dashed and orange: what the paper has and this network does not. Teal words: what it has instead.")
    share = lesson.predictor.model.config.last_item_mask_prob
    rows_ = {words.DEPARTURES[name][0]: words.DEPARTURES[name][1:] for name in lesson.departs}
    table = pd.DataFrame.from_dict(rows_, orient="index", columns=[_("In the paper"), _("Here")])
    table.index.name = _("What")
    table[_("Here")] = [text.format(share=share) for text in table[_("Here")]]
    with st.expander(
        _("Where this network departs from the paper"), icon=":material/compare_arrows:", key="departures"
    ):
        st.table(table, alt=_("Where this network departs from the paper"), border="horizontal")


def show_whole(lesson: Lesson) -> None:
    """The drawing."""
    found = lesson.found
    about = ngettext(
        "A drawing of the network, from the bottom to the top: {films}. Each has an embedding. "
        "Layers: {layers}. In each, every position attends to every other and is then worked on by "
        "itself. The vector of [mask] is compared with {n:,} films, and a softmax makes "
        "probabilities of it. The first is {answer}.",
        "A drawing of the network, from the bottom to the top: {films}. Each has an embedding. "
        "Layers: {layers}. In each, every position attends to every other and is then worked on by "
        "itself. The vector of [mask] is compared with {n:,} films, and a softmax makes "
        "probabilities of it. The first is {answer}.",
        found.n_items,
        films=", ".join(found.prediction[-IN_DRAWING:]),
        layers=lesson.sizes[0],
        answer=first_new(lesson),
    )
    draw(lesson, drawing.ALL, about, 520)


def tell_hiding(lesson: Lesson) -> None:
    """What a cloze test is."""
    say(
        words.HIDE_TEXT,
        _(
            "To predict what you watch next, one `[mask]` is put behind your films. Nothing comes after "
            "it, so the films before it have to do."
        ),
    )
    if (n := len(lesson.found.training)) < 3:
        st.info(_("With three films or more, a covered film would have films before and after it. You have {n}.", n=n))


def show_hiding(lesson: Lesson) -> None:
    """The sequence with blanks: once as in training, once as in prediction."""
    st.caption(_("In training: a history like yours, with gaps"))
    strip(lesson.found.training)
    st.caption(format.escape_markdown(_("Covered here: {films}.", films=", ".join(lesson.found.hidden))))
    st.caption(_("To predict: your films, and a gap at the end"))
    strip(lesson.found.prediction)


def tell_embedding(lesson: Lesson) -> None:
    """What an embedding is, and the formula."""
    found = lesson.found
    say(
        _(
            "A network computes with numbers. An **embedding** is the row of numbers that stands for a "
            "film: here {n} of them, found in training. `[mask]` has one too. Each row of the chart is a "
            "film; teal is above zero, orange below.",
            n=found.embeddings.shape[1],
        )
    )
    if "pmi_init" in lesson.departs:
        _(
            "The paper starts training from random numbers. These started from pointwise mutual "
            "information: films that people watched close together were alike from the beginning."
        )
    st.latex(input_formula(lesson))
    say(
        _(
            "$v_i$ is the embedding of the film at position $i$, LN the layer normalisation, which gives "
            "each row mean 0 and the same spread."
        )
        if "pre_norm" in lesson.departs
        else _("$v_i$ is the embedding of the film at position $i$.")
    )
    ui_charts.download_buttons(pd.DataFrame(found.embeddings, found.prediction), f"embedding-{lesson.name}", index=True)


def input_formula(lesson: Lesson) -> str:
    """What the first layer is given."""
    if "pre_norm" in lesson.departs:
        return r"h_i^0 = \mathrm{LN}(v_i)" if lesson.found.positions is None else r"h_i^0 = \mathrm{LN}(v_i + p_i)"
    return r"h_i^0 = v_i" if lesson.found.positions is None else r"h_i^0 = v_i + p_i"


def show_embedding(lesson: Lesson) -> None:
    """The rows of numbers, and the films that are nearest to the newest one."""
    found = lesson.found
    figure = numbers_chart(found.embeddings[-NEWEST:], found.prediction[-NEWEST:])
    st.plotly_chart(
        i18n.localised(figure),
        alt=_("The numbers that stand for each of your newest films and for [mask], as colours"),
        config=charts.STILL,
        key="embedding",
    )
    newest = int(found.attention.tokens[-2])
    films = lesson.dataset.catalog.films
    directions = embedding_map.directions(lesson.predictor.model.item_embeddings())
    near = embedding_map.neighbours(directions, newest, NEIGHBOURS)
    st.caption(
        _(
            "No single number means anything by itself. Together they put films that are watched in the "
            "same company close to each other. These are nearest to {film}, by the angle between the "
            "rows: 1.00 is the same direction, 0.00 has nothing in common.",
            film=format.escape_markdown(films[newest].label),
        )
    )
    rows(
        film_cards.film_bar_row(rank, films[item], cos, i18n.number(cos, ".2f"))
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
    figure.update_xaxes(title=_("Number"), showgrid=False, zeroline=False)
    return figure


def tell_order(lesson: Lesson) -> None:
    """Position embeddings, or the bias that stands in for them."""
    found, slopes = lesson.found, lesson.found.layers.slopes
    if found.positions is not None:
        film, position, total = (float(of[-1, 0]) for of in (found.embeddings, found.positions, found.input))
        say(
            _(
                "So far a history is a heap of films: nothing says which one came first. As in the paper, "
                "every position has an embedding of its own, $p_i$, which is added to that of the film. Each "
                "row of the chart is a position. The first number of `[mask]`: {film:+.2f} for itself and "
                "{position:+.2f} for its position make {sum:+.2f}.",
                film=film,
                position=position,
                sum=total,
            )
        )
        st.latex(input_formula(lesson))
    if slopes is not None:
        _(
            "So far a history is a heap of films: nothing says which one came first. The paper adds an "
            "embedding of the position, $p_i$. This network does it in another way: a **relative "
            "position bias** changes how much one film attends to another, by how many films lie between "
            "them."
        )
        st.latex(r"b_h(i, j) = -s_h \cdot \log(1 + |i - j|)")
        st.latex(r"e^{\,b_h(i,j)} = (1 + |i - j|)^{-s_h}")
        layer, head = np.unravel_index(slopes[:, :, 0].argmax(), slopes.shape[:2])
        near, far = (i18n.number(factor(slopes[layer, head, 0], distance), ".2f") for distance in (1, 10))
        name = head_name(int(layer), int(head))
        say(
            _(
                "The slope $s_h$ is learnt, two for each **head** (one of several attentions side by side, "
                "see step 6): one towards earlier films, one towards later ones. The chart shows $e^b$, by "
                "which attention is multiplied. {steepest} is the steepest towards earlier films: {near} for "
                "the film just before, {far} for the tenth.",
                steepest=name,
                near=near,
                far=far,
            )
        )


def show_order(lesson: Lesson) -> None:
    """A line for each head, or the position embeddings."""
    found, slopes = lesson.found, lesson.found.layers.slopes
    if found.positions is not None:
        figure = numbers_chart(found.positions[-NEWEST:], found.prediction[-NEWEST:])
        st.plotly_chart(
            i18n.localised(figure),
            alt=_("The numbers that stand for each of the newest positions, as colours"),
            config=charts.STILL,
            key="positions",
        )
    if slopes is not None:
        table = factors(slopes)
        st.plotly_chart(
            i18n.localised(order_chart(table)),
            alt=_("By how much attention is multiplied, by distance in films: one line for each head"),
            config=charts.STILL,
            key="order",
        )
        at = [-10, -5, -2, -1, 0, 1, 2, 5, 10]
        charts.as_table(
            table.loc[at].map(lambda value: i18n.number(value, ".2f")),
            _("By how much attention is multiplied, by distance in films: one line for each head"),
            "order",
        )


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
        index=pd.Index(far, name=_("Films later (right) or earlier (left)")),
    )


def order_chart(table: pd.DataFrame) -> go.Figure:
    """`factors` as lines."""
    figure = go.Figure()
    for number, name in enumerate(table.columns):
        look = {"color": charts.LINES[number % len(charts.LINES)], "dash": ("solid", "dash", "dot")[number // 2 % 3]}
        figure.add_scatter(x=table.index, y=table[name], name=name, mode="lines", line=look, hovertemplate="%{y:.2f}")
    figure.update_layout(height=360, margin={"l": 0, "r": 0, "t": 30, "b": 0}, hovermode="x unified")
    figure.update_layout(legend={"orientation": "h", "y": 1, "yanchor": "bottom"}, showlegend=True)
    figure.update_xaxes(title=_("Films later (right) or earlier (left)"), zeroline=False)
    figure.update_yaxes(title=_("Factor on attention"), rangemode="tozero")
    return figure
