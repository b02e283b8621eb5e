"""SVG drawing of a BERT4Rec network, in the style of figure 1b of the paper (arXiv:1904.06690).

As in the paper, it is read from the bottom to the top. Orange dashed parts are only in the paper, and teal parts only
in this network.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import streamlit as st

from pages.inside.common import Lesson, short_title
from pages.ui.charts import ACCENT, GREY, SECOND
from pages.ui.i18n import _, ngettext

WIDTH = 420
COLUMN_CENTRES = (60, 160, 260, 360)  # x of each token
LAYER_HEIGHT = 122
MAX_LAYERS = 2  # drawn layers; a text has the number of further layers
PARTS = ("tokens", "embedding", "order", "attention", "layer", "output")  # parts that can be highlighted


@dataclass(frozen=True)
class Network:
    """The values in a drawing."""

    labels: Sequence[str]  # the newest tokens, at most four; the last one is [mask]
    n_layers: int
    n_heads: int
    weights: Sequence[Sequence[Sequence[float]]]  # (L, T, T) mean attention of each layer; rows attend to columns
    answer: str  # title of the predicted film
    n_films: int
    has_position_embeddings: bool  # as in the paper
    has_projection: bool  # as in the paper


def show(lesson: Lesson, parts: Iterable[str], alt: str, width: int) -> None:
    """Show the network with some of PARTS highlighted. alt: Description for screen readers."""
    steps = lesson.steps
    labels = steps.attention.labels[-len(COLUMN_CENTRES) :]
    weights = steps.attention.weights.mean(1)[:, -len(labels) :, -len(labels) :]
    network = Network(
        labels,
        lesson.n_layers,
        lesson.n_heads,
        weights.tolist(),
        lesson.top_new_film,
        steps.n_items,
        steps.positions is not None,
        lesson.has_projection,
    )
    st.image(svg(network, parts, st.context.theme.type == "dark"), width=width, alt=alt)


def svg(network: Network, parts: Iterable[str], is_dark: bool) -> str:
    """Return the drawing as SVG. The highlighted parts are opaque, the other parts are faint."""
    ink = "#ecebe8" if is_dark else "#1d1d1f"
    n_drawn = min(network.n_layers, MAX_LAYERS)
    height = 300 + n_drawn * LAYER_HEIGHT + (20 if network.n_layers > n_drawn else 0)
    sheet = _Sheet(COLUMN_CENTRES[-len(network.labels) :], set(parts), ink, network)
    y = height - 40
    pieces = [sheet.tokens(y), sheet.embedding(y - 56), sheet.order(y - 106)]
    y -= 128
    for layer in range(n_drawn):
        pieces.append(sheet.layer(y, layer))
        y -= LAYER_HEIGHT
    if network.n_layers > n_drawn:
        more = _("… and {n} more", n=network.n_layers - n_drawn)
        pieces.append(sheet.part("layer", sheet.text(WIDTH / 2, y + 4, more, 13)))
        y -= 20
    pieces.append(sheet.output(y))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'font-family="system-ui, sans-serif" fill="{ink}">{"".join(pieces)}</svg>'
    )


@dataclass(frozen=True)
class _Sheet:
    """Draws the parts of a network. y coordinates grow downwards."""

    columns: Sequence[int]
    highlighted: set[str]
    ink: str
    network: Network

    def part(self, name: str, *pieces: str) -> str:
        """Group the pieces of a part, faint unless the part is highlighted."""
        faint = "" if name in self.highlighted else ' opacity="0.45"'
        return f"<g{faint}>{''.join(pieces)}</g>"

    def text(self, x: float, y: float, label: str, size: int = 14, bold: bool = False, anchor: str = "middle") -> str:
        weight = ' font-weight="600"' if bold else ""
        return f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}"{weight}>{escape(label)}</text>'

    def box(self, x: float, y: float, w: float, h: float, colour: str, dashed: bool = False, fill: float = 0.14) -> str:
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        return (
            f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="7" fill="{colour}" fill-opacity="{fill}" '
            f'stroke="{colour}" stroke-width="1.5"{dash}/>'
        )

    def arrows(self, bottom: float, top: float) -> str:
        """Draw an arrow upwards in every column."""
        return "".join(
            f'<path d="M{x} {bottom}V{top + 4}M{x - 4} {top + 9}L{x} {top + 3}L{x + 4} {top + 9}" stroke="{self.ink}" '
            'stroke-width="1.3" fill="none"/>'
            for x in self.columns
        )

    def line_up(self, x: float, bottom: float, top: float) -> str:
        return f'<path d="M{x} {bottom}V{top}" stroke="{self.ink}" stroke-width="1.3"/>'

    def tokens(self, y: float) -> str:
        pieces, labels = [], self.network.labels
        for x, label in zip(self.columns, labels, strict=True):
            is_mask = label == labels[-1]
            colour = SECOND if is_mask else self.ink
            pieces.append(self.box(x - 47, y, 94, 34, colour, dashed=is_mask, fill=0.12))
            pieces.append(self.text(x, y + 21, short_title(label, 13), 12, bold=is_mask))
        return self.part("tokens", *pieces)

    def embedding(self, y: float) -> str:
        pieces = [self.arrows(y + 56, y + 30)]
        for x in self.columns:
            pieces += [self.box(x - 40, y, 80, 28, GREY), self.text(x, y + 19, _("embedding"), 12)]
        return self.part("embedding", *pieces)

    def order(self, y: float) -> str:
        """Draw the position embeddings of the paper, dashed if the network has none."""
        has_positions = self.network.has_position_embeddings
        pieces = [self.part("embedding", self.arrows(y + 50, y + 30), self.arrows(y, y - 22))]
        for x in self.columns:
            colour, fill = (GREY, 0.14) if has_positions else (SECOND, 0.04)
            pieces.append(self.box(x - 40, y, 80, 28, colour, dashed=not has_positions, fill=fill))
            pieces.append(self.text(x, y + 19, _("+ position"), 12))
        return self.part("order", *pieces)

    def layer(self, bottom: float, layer: int) -> str:
        """Draw a layer: attention between all positions, then feed-forward in each position."""
        title = _("Layer {n}: self-attention, heads: {heads}", n=layer + 1, heads=self.network.n_heads)
        heading = self.text(14, bottom - 86, title, 12, bold=True, anchor="start")
        has_bias = not self.network.has_position_embeddings
        bias = self.text(WIDTH - 14, bottom - 86, _("+ bias for distance"), 12, True, "end") if has_bias else ""
        lines = [
            f'<path d="M{x} {bottom - 2}L{x_to} {bottom - 54}" stroke="{ACCENT}" '
            f'stroke-width="{0.4 + 5 * weight:.1f}" stroke-opacity="{0.25 + 0.75 * min(1, 2 * weight):.2f}"/>'
            for x_to, row in zip(self.columns, self.network.weights[layer], strict=True)
            for x, weight in zip(self.columns, row, strict=True)
        ]
        forward = [
            self.box(x - 46, bottom - 76, 92, 22, GREY) + self.text(x, bottom - 61, _("feed-forward"), 11)
            for x in self.columns
        ]
        frame = self.box(4, bottom - 104, WIDTH - 8, 104, GREY, fill=0.05)
        return (
            self.part("layer", frame, heading, *forward, self.arrows(bottom - 104, bottom - LAYER_HEIGHT - 3))
            + self.part("attention", *lines)
            + self.part("order", f'<g fill="{ACCENT}">{bias}</g>')
        )

    def output(self, bottom: float) -> str:
        """Draw the way from the mask to the probabilities."""
        x, has_projection = self.columns[-1], self.network.has_projection
        n_films = self.network.n_films
        softmax = ngettext("compare · softmax over {n:,} film", "compare · softmax over {n:,} films", n_films)
        colour, fill = (GREY, 0.14) if has_projection else (SECOND, 0.04)
        return self.part(
            "output",
            self.box(x - 150, bottom - 30, 196, 26, colour, dashed=not has_projection, fill=fill),
            self.text(x - 52, bottom - 13, _("linear map, GELU"), 12),
            self.line_up(x, bottom - 30, bottom - 46),
            self.box(x - 250, bottom - 76, 296, 30, ACCENT),
            self.text(x - 102, bottom - 56, softmax, 13),
            self.line_up(x, bottom - 76, bottom - 88),
            self.text(x + 46, bottom - 94, short_title(self.network.answer, 40), 14, bold=True, anchor="end"),
        )
