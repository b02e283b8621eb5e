"""Shared parts of the sections of Inside the model: the data of the lesson, charts, tables, film rows and menus."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.ui import cache, film_cards, recommenders
from pages.ui.charts import ACCENT, GREY, SECOND_ACCENT
from pages.ui.format import escape_markdown, metric
from pages.ui.i18n import N_, _, localize_chart, ngettext, number
from pages.ui.widgets import segmented_control, selectbox
from recsys.data.dataset import Dataset, Film
from recsys.serving.insight.bert4rec_values import NetworkValues
from recsys.serving.predictor import Predictor

MAX_TOKENS = 12  # newest tokens in a chart of the lesson
LINE_COLOURS = (ACCENT, SECOND_ACCENT, "#8a75c4", "#a08c2e", "#cf5b7f", "#5487c8", "#5f9e5a", GREY)
BARE_AXIS = {"showgrid": False, "zeroline": False, "ticks": ""}  # an axis of Plotly without lines
LayerOrHead = Literal["layer", "head"]
MENU_LABELS: dict[LayerOrHead, str] = {"layer": N_("Layer"), "head": N_("Head")}


def translucent(colour: str, opacity: float) -> str:
    """Return a colour #rrggbb with an opacity (0 … 1), in the notation of Plotly."""
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return f"rgba({red}, {green}, {blue}, {opacity})"


# colour scales of heat maps: from 0 to the maximum, and from negative to positive values
AMOUNT_SCALE = [[0, translucent(ACCENT, 0.05)], [0.35, translucent(ACCENT, 0.62)], [1, ACCENT]]
SIGNED_SCALE = [[0, SECOND_ACCENT], [0.5, translucent(GREY, 0.08)], [1, ACCENT]]


@dataclass(frozen=True)
class Lesson:
    """A BERT4Rec and the values that it computes from the visitor's films, for all steps of the lesson."""

    predictor: Predictor
    values: NetworkValues
    paper_differences: Sequence[str]  # keys of `lesson_input.PAPER_DIFFERENCES`

    @property
    def films(self) -> Sequence[Film]:
        """The films of the data set. The index is the item."""
        return self.predictor.dataset.catalog.films

    @property
    def n_layers(self) -> int:
        """The number of layers."""
        return int(self.values.attention.weights.shape[0])

    @property
    def n_heads(self) -> int:
        """The number of attention heads in each layer."""
        return int(self.values.attention.weights.shape[1])

    @property
    def has_pre_norm(self) -> bool:
        """Whether each part of a layer normalises its input. In the paper, each part normalises its output."""
        return "pre_norm" in self.paper_differences

    @property
    def has_position_embeddings(self) -> bool:
        """Whether the order comes from position embeddings, as in the paper."""
        return self.values.position_embeddings is not None

    @property
    def has_projection(self) -> bool:
        """Whether a linear map and GELU precede the output, as in the paper."""
        return "projection" not in self.paper_differences

    @property
    def top_unwatched_title(self) -> str:
        """The title of the most probable unwatched film, or of the most probable film if all are watched."""
        predictions, attention = self.values.predictions, self.values.attention
        watched = attention.tokens[attention.is_film]
        unwatched = predictions[~predictions["item"].isin(watched)]
        return str((predictions if unwatched.empty else unwatched)["title"].iloc[0])


def slug(predictor: Predictor) -> str:
    """Return "bert4rec-ml-20m": the names of recommender and data set, for file names and widget keys."""
    return f"{predictor.recommender.name}-{predictor.dataset.name}"


def short_title(label: str, max_length: int = 18) -> str:
    """Return a title without its year, shortened to `max_length` characters."""
    title = label.rpartition(" (")[0] or label
    return title if len(title) <= max_length else f"{title[: max_length - 1].rstrip()}…"


def plotly_text(text: str) -> str:
    """Escape a text for Plotly, which parses HTML in labels."""
    return escape(text, quote=False)


def tick_labels(labels: Iterable[str], max_length: int = 18) -> list[str]:
    """Return short titles for the ticks of an axis."""
    return [plotly_text(short_title(label, max_length)) for label in labels]


def plot(figure: go.Figure, alt: str, key: str) -> None:
    """Show a chart without a toolbar. alt: Description for screen readers. key: Widget key."""
    with st.container(key=f"chart-{key}"):  # the style sheet sets the colour of the texts in it
        st.plotly_chart(localize_chart(figure), alt=alt, config={"displayModeBar": False}, key=key)


def heat_map(values: np.ndarray, height: int, hover: str, customdata: np.ndarray, **options: Any) -> go.Figure:
    """Return a heat map with the first row on top.

    Args:
        values: (rows, columns).
        height: Height of the chart in pixels.
        hover: Hover text, a template of Plotly.
        customdata: (rows, columns, …), values for the hover text.
        options: Further arguments of `go.Heatmap`.
    """
    options = {"colorscale": AMOUNT_SCALE, "showscale": False} | options
    trace = go.Heatmap(z=values, customdata=customdata, hovertemplate=f"{hover}<extra></extra>", **options)
    figure = go.Figure(trace).update_yaxes(autorange="reversed")
    return figure.update_layout(height=height, margin={"l": 0, "r": 0, "t": 8, "b": 0})


def attention_map(weights: np.ndarray, names: Sequence[str], height: int) -> go.Figure:
    """Return a heat map of attention. Rows attend to columns. A frame marks the last row.

    Args:
        weights: (T, T), NaN for empty cells.
        names: Names of the T tokens, in the HTML of Plotly.
        height: Height of the chart in pixels.
    """
    n, name_array = len(names), np.array(names, object)
    pairs = np.stack(np.meshgrid(name_array, name_array, indexing="ij"), -1)  # (T, T, 2) names of row and column
    hover = _("<b>%{customdata[0]}</b><br>gives <b>%{customdata[1]}</b><br>%{z:.1%} of its attention")
    figure = heat_map(weights, height, hover, pairs, zmin=0, zmax=np.nanmax(weights), xgap=1, ygap=1)
    frame = {"color": SECOND_ACCENT, "width": 2}
    return figure.add_shape(type="rect", x0=-0.5, x1=n - 0.5, y0=n - 1.5, y1=n - 0.5, line=frame)


def show_table_expander(table: pd.DataFrame, title: str, key: str) -> None:
    """Show an expander with a table, which is rendered only while the expander is open."""
    panel = st.expander(
        _("Table: {title}", title=title), icon=":material/table:", key=f"table-{key}", on_change="rerun"
    )
    if panel.open:
        cells = table.map(_format_cell).rename(index=_format_cell, columns=_format_cell)
        panel.table(cells, alt=title, border="horizontal")


def _format_cell(value: Any) -> Any:
    """Format a float in the visitor's language. Escape a text, because `st.table` renders Markdown."""
    if isinstance(value, float):
        return metric(value)
    return escape_markdown(value) if isinstance(value, str) else value


def show_film_rows(rows: Iterable[str]) -> None:
    """Show a list of films. rows: The HTML of each film, from a function of `film_cards`."""
    st.html(film_cards.join_rows(rows))


def show_neighbours(films: Sequence[Film], neighbours: Sequence[tuple[int, float]]) -> None:
    """Show the nearest films with their similarity as bars. neighbours: Pairs (item, cosine), the nearest first."""
    show_film_rows(
        film_cards.film_bar_row(rank, films[item], cosine, number(cosine, ".2f"))
        for rank, (item, cosine) in enumerate(neighbours, start=1)
    )


def head_name(layer: int, head: int) -> str:
    """Return "Layer 1, head 2" for the indices 0 and 1."""
    return _("Layer {layer}, head {head}", layer=layer + 1, head=head + 1)


def short_list_note(n: int) -> str:
    """Return the sentence for a list of n films, fewer than three."""
    return ngettext(
        "With three or more films, a masked film can have films on both sides. Your list has {n} film.",
        "With three or more films, a masked film can have films on both sides. Your list has {n} films.",
        n,
    )


def choose_index_or_all(kind: LayerOrHead, n: int) -> int | None:
    """Show a menu of n layers or heads, and "All". Return the chosen index, None for all of them or if n is 1."""
    if n == 1:
        return None
    labels: dict[int | str, str] = {"all": _("All")} | {index: str(index + 1) for index in range(n)}
    choice = segmented_control(_(MENU_LABELS[kind]), labels, f"{kind}-of-{n}")
    return None if isinstance(choice, str) else choice


def choose_index(kind: LayerOrHead, n: int) -> int:
    """Show a menu of n layers or heads. Return the chosen index."""
    if n == 1:
        return 0
    labels = {index: str(index + 1) for index in range(n)}
    return segmented_control(_(MENU_LABELS[kind]), labels, f"one-{kind}-of-{n}")


def recommenders_with(capability: Callable[[Any], bool]) -> list[str]:
    """Return the names of the recommenders whose model class has a capability, the default recommender first."""
    names = [name for name, recommender in cache.all_recommenders().items() if capability(recommender.model())]
    return sorted(names, key=lambda name: name != cache.DEFAULT_MODEL)


def choose_recommender(capability: Callable[[Any], bool], dataset: Dataset, key: str) -> str:
    """Show a menu of the recommenders whose model class has a capability. Return the name of the chosen recommender.

    Args:
        capability: Reads an attribute of the model class, such as `has_attention`.
        dataset: The open data set. Labels mark recommenders that are not ready for it.
        key: Widget key.
    """
    all_labels = recommenders.menu_labels(dataset.name)
    labels = {name: all_labels[name] for name in recommenders_with(capability)}
    recommenders.preserve_widget_value(key)
    return selectbox(_("Recommender"), labels, key, width=240)
