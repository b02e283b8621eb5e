"""Attention by layer and head: over the visitor's films, and by distance over real people's histories."""

from functools import reduce
from itertools import cycle
from operator import add

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.inside import charts, lines, offered, words
from pages.inside.step import attention_bars, one_of
from pages.ui import cache, errors, explanation, format, recommenders
from pages.ui import charts as ui_charts
from pages.ui.i18n import _, localised, ngettext
from recsys.data.dataset import Dataset
from recsys.serving.insight import attention
from recsys.serving.insight.attention import Attention, ByDistance
from recsys.serving.predictor import Predictor
from recsys.serving.recommend import Request, recommend

NAMED = 16  # columns that have room for titles
NEWEST = 30  # tokens that can still be told apart in a heat map, beside the last one
PEOPLE, AT_ONCE = 200, 20  # people whose attention is averaged, and how many between two looks at the progress bar


@st.fragment
@errors.show_errors()
def show(dataset: Dataset, films: tuple[int, ...]) -> None:
    """The controls and what they choose."""
    st.markdown(
        _(
            "**Attention** is how a network reads: at every position it divides 100% over all positions, "
            "and takes that share of what each of them holds. It does so several times side by side, in "
            "its **heads**, and again in each **layer**. The lesson explains it in numbers."
        )
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="attention-controls"):
        name = offered.choose(offered.attending(), dataset.name, "attending", width=230)
        choices = st.container(horizontal=True, gap="medium", width="content")
    predictor = recommenders.predictor(name, dataset)
    if predictor is None:
        return
    with choices:
        seen = attention.attention(predictor, films)
        layer, head = choose(seen)
    look(predictor, seen, layer, head)
    influence(predictor, films)
    by_distance(predictor, layer, head)


def choose(seen: Attention) -> tuple[int | None, int | None]:
    """Layer and head, from 0; None: all of them."""
    n_layers, n_heads = seen.weights.shape[:2]
    return one_of("layer", n_layers), one_of("head", n_heads)


def look(predictor: Predictor, seen: Attention, layer: int | None, head: int | None) -> None:
    """The lines or the heat map, and beside it what the last token attends to."""
    chart, bars = st.columns([5, 3], gap="large")
    looked_at = attention.looked_at(seen, layer, head, 12)
    most = looked_at[0] if looked_at else (len(seen.tokens) - 1, 1.0)
    with chart:
        short = lines.fits(seen)
        as_lines = short and drawn_as() == "lines"
        who = (
            _("The framed row is `[mask]`, from which your next film is predicted.")
            if seen.by_mask
            else _(
                "The framed row is your newest film, from which the next one is predicted. No film attends "
                "to later ones."
            )
        )
        about = {
            "model": cache.recommender_title(predictor),
            "film": seen.labels[most[0]],
            "share": format.percent(most[1]),
        }
        if as_lines:
            st.caption(
                _("Each position on the left attends to those on the right. The thicker a line, the larger the share.")
                + " "
                + (
                    _("Your next film is predicted from `[mask]`.")
                    if seen.by_mask
                    else _("Your next film is predicted from your newest one. No film attends to later ones.")
                )
            )
            lines.show(
                seen,
                layer,
                head,
                _(
                    "Lines from each of your films to those that it attends to in {model}; the position that "
                    "predicts the next film attends most to {film}, with {share}",
                    **about,
                ),
            )
        else:
            st.caption(
                _(
                    "Each row attends to the columns. The stronger the colour, the more attention a film gives "
                    "to another."
                )
                + f" {who}"
            )
            st.plotly_chart(
                localised(heat_map(seen, layer, head)),
                alt=_(
                    "How much each of your films attends to each other in {model}; the row that predicts the "
                    "next film attends most to {film}",
                    **about,
                ),
                config=charts.STILL,
                key="heat",
            )
        if not short:
            st.caption(_("With {n} films or fewer, attention can be drawn as lines too.", n=lines.MOST_FILMS))
        if len(seen.tokens) > NEWEST + 1:
            st.caption(
                _(
                    "Only the newest {n} of {all} are drawn; the network reads them all.",
                    n=NEWEST,
                    all=len(seen.tokens) - 1,
                )
            )
        if short:
            charts.as_table(
                attention.table(seen, layer, head).rename_axis(_("Attends …")).map(format.percent),
                _("who attends to whom; rows attend to columns"),
                "attention",
            )
        ui_charts.download_buttons(attention.table(seen, layer, head), f"attention-{name_of(predictor)}", index=True)
    with bars:
        st.header(_("What the mask attends to") if seen.by_mask else _("What the newest film attends to"))
        attention_bars(predictor.dataset, seen, looked_at)
        st.caption(
            _(
                "Attention is not influence. It says what a layer reads, not how the prediction would change "
                "without a film. That is found out by leaving the film out."
            )
        )


def drawn_as() -> str:
    """A key of words.DRAWN_AS."""
    return st.segmented_control(
        _("Draw as"),
        list(words.DRAWN_AS),
        default="lines",
        required=True,
        format_func=lambda way: words.DRAWN_AS[way],
        label_visibility="collapsed",
        key="attention_drawn",
        persist_state="session",
    )


def name_of(predictor: Predictor) -> str:
    """Recommender and data set, for names of files and keys of widgets."""
    return f"{predictor.variant.name}-{predictor.dataset.name}"


def influence(predictor: Predictor, films: tuple[int, ...]) -> None:
    """What attention does not say: how the first prediction changes as each film is left out; computed when opened."""
    panel = st.expander(
        _("Influence: leave each film out and look at the first prediction again"),
        icon=":material/balance:",
        key="influence",
        on_change="rerun",
    )
    if not panel.open:
        return
    with panel:
        request = Request(films, k=1)
        for first in recommend(predictor, request):
            st.markdown(f"**{format.escape_markdown(first.film.label)}**")
            explanation.dialog_body(predictor, request, first.item)


def heat_map(seen: Attention, layer: int | None, head: int | None) -> go.Figure:
    """Rows attend to columns, the newest last; the last row, from which the next film is predicted, is framed."""
    square = seen.view(layer, head)[-NEWEST - 1 :, -NEWEST - 1 :]
    labels, n = seen.labels[-NEWEST - 1 :], len(square)
    names = np.array(charts.in_chart(labels), object)
    rows, columns = np.meshgrid(names, names, indexing="ij")
    figure = go.Figure(
        go.Heatmap(
            z=square,
            x=list(range(n)),
            y=list(range(n)),
            customdata=np.stack([rows, columns], -1),
            hovertemplate=_("<b>%{customdata[0]}</b><br>gives <b>%{customdata[1]}</b><br>%{z:.1%} of its attention")
            + "<extra></extra>",
            colorscale=charts.AMOUNT,
            zmin=0,
            showscale=False,
            xgap=1,
            ygap=1,
        )
    )
    figure.add_shape(
        type="rect", x0=-0.5, x1=n - 0.5, y0=n - 1.5, y1=n - 0.5, line={"color": charts.SECOND, "width": 2}
    )
    first = len(seen.labels) - n + 1
    ticks = charts.ticks(labels)
    ticks[-1] = f"<b>{ticks[-1]}</b>"
    look = {
        "tickvals": list(range(n)),
        "ticktext": ticks,
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "tickfont": {"size": 11},
    }
    figure.update_yaxes(**look, autorange="reversed")
    figure.update_xaxes(**look, tickangle=-90)
    if n > NAMED:  # too narrow for names on a phone: positions, as behind the names of the rows
        figure.update_yaxes(ticktext=[f"{tick}  {first + row}" for row, tick in enumerate(ticks)])
        figure.update_xaxes(tickvals=list(range(0, n, 5)), ticktext=list(range(first, first + n, 5)), tickangle=0)
    figure.update_layout(height=150 + max(160, 20 * n), margin={"l": 0, "r": 0, "t": 8, "b": 0})
    return figure


def by_distance(predictor: Predictor, layer: int | None, head: int | None) -> None:
    """The mean over many people, once somebody has asked for it."""
    st.header(_("How far back it attends"))
    dataset = predictor.dataset
    people, wanted = min(PEOPLE, dataset.n_users), name_of(predictor)
    st.caption(
        ngettext(
            "Averaged over {n} person of {data}, drawn at random: from the newest film of the history to the 30th.",
            "Averaged over {n} people of {data}, drawn at random: from the newest film of their history to the 30th.",
            people,
            data=cache.dataset_title(dataset.name),
        )
    )
    asked = st.session_state.setdefault("averaged", set())
    if wanted not in asked:
        label = ngettext("Average over {n} person", "Average over {n} people", people)
        st.button(label, key=f"average-{wanted}", icon=":material/groups:", on_click=asked.add, args=(wanted,))
        return
    found = averaged(predictor, people)
    table = found.table(layer, head)
    share = format.percent(float(table["attention"].iloc[0]))
    chart = localised(distance_chart(found, layer, head))
    st.plotly_chart(
        chart,
        alt=_("Mean attention by distance: {share} goes to the newest film", share=share),
        config=charts.STILL,
        key="distance",
    )
    named = table.rename(columns=words.BY_DISTANCE_COLUMNS).set_index(words.BY_DISTANCE_COLUMNS["distance"])
    charts.as_table(named, _("mean attention and number of people by distance"), "distance")
    ui_charts.download_buttons(table, f"distance-{wanted}")


def averaged(predictor: Predictor, people: int) -> ByDistance:
    """The sum over all people, some at a time, while a bar shows how far it is."""
    bar, parts = st.progress(0.0, _("Reading histories: {done} of {all} people", done=0, all=people)), []
    for first in range(0, people, AT_ONCE):
        parts.append(_some(predictor, first))
        done = min(first + AT_ONCE, people)
        bar.progress(done / people, _("Reading histories: {done} of {all} people", done=done, all=people))
    bar.empty()
    return reduce(add, parts)


@st.cache_resource(max_entries=100, show_spinner=False, hash_funcs=cache.PREDICTOR_HASH)
def _some(predictor: Predictor, first: int) -> ByDistance:
    """The sum over `AT_ONCE` of the people drawn."""
    people = attention.sample(predictor.dataset, PEOPLE)[first : first + AT_ONCE]
    return attention.by_distance(predictor, people)


def distance_chart(found: ByDistance, layer: int | None, head: int | None) -> go.Figure:
    """A line for each layer, or for each head of the layer that was chosen; the one head that was, alone."""
    n_layers, n_heads = found.total.shape[:2]
    lines: dict[str, tuple[int | None, int | None]]
    if head is not None:
        lines = {_("Head {n}", n=head + 1): (layer, head)}
    elif layer is not None:
        lines = {_("Head {n}", n=n + 1): (layer, n) for n in range(n_heads)}
    else:
        lines = {_("Layer {n}", n=n + 1): (n, None) for n in range(n_layers)}
    figure = go.Figure()
    for colour, (title, (of_layer, of_head)) in zip(cycle(charts.LINES), lines.items(), strict=False):
        table = found.table(of_layer, of_head)
        figure.add_scatter(
            x=table["distance"],
            y=table["attention"],
            name=title,
            mode="lines+markers",
            marker={"size": 5, "color": colour},
        )
    figure.update_traces(hovertemplate="%{x}: %{y:.1%}")
    figure.update_layout(height=320, margin={"l": 0, "r": 0, "t": 30, "b": 0}, showlegend=True)
    figure.update_layout(legend={"orientation": "h", "y": 1, "yanchor": "bottom"})
    figure.update_yaxes(title=_("Mean attention"), tickformat=".0%", rangemode="tozero")
    figure.update_xaxes(title=_("Films back from the next one"), range=[0.5, attention.FARTHEST + 0.5], zeroline=False)
    return figure
