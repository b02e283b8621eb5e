"""SVG drawing of a BERT4Rec network, in the style of figure 1b of the paper (arXiv:1904.06690).

The drawing is read from the bottom to the top, as in the paper. Orange dashed parts are only in the paper, and teal
parts only in this network.
"""

from collections.abc import Collection
from dataclasses import dataclass
from html import escape

from pages.inside.common import Lesson, short_title
from pages.ui.charts import ACCENT, GREY, SECOND_ACCENT
from pages.ui.i18n import _, ngettext

# Lengths and coordinates in this file are in units of the SVG. y grows downwards.
WIDTH = 420
COLUMN_CENTRES = (60, 160, 260, 360)  # x of each token
# heights of the parts, from the top to the bottom of the drawing
OUTPUT_HEIGHT = 132
MORE_LAYERS_HEIGHT = 20  # a text with the number of further layers
LAYER_HEIGHT = 122
INPUT_HEIGHT = 128  # embeddings and positions
TOKENS_HEIGHT = 40
# The browser applies the colour scheme of the page to the picture, and updates it when the visitor changes the theme.
STYLE = "svg { color: #1d1d1f } @media (prefers-color-scheme: dark) { svg { color: #ecebe8 } }"
MAX_LAYERS = 2  # drawn layers
PARTS = ("tokens", "embedding", "order", "attention", "layer", "output")  # parts that can be highlighted


@dataclass(frozen=True)
class NetworkDrawing:
    """The drawing of the network of a lesson, with its newest tokens.

    All private methods return SVG. Their arguments `top` and `bottom` are the y of an edge of the drawn part.
    """

    lesson: Lesson
    highlighted: Collection[str]  # of PARTS; other parts are faint

    @property
    def labels(self) -> list[str]:
        """The labels of the drawn tokens, at most one for each column. The last token is [mask]."""
        return self.lesson.values.attention.labels[-len(COLUMN_CENTRES) :]

    @property
    def centres(self) -> tuple[int, ...]:
        """The x of each drawn token."""
        return COLUMN_CENTRES[-len(self.labels) :]

    def svg(self) -> str:
        """Return the drawing as SVG."""
        n_drawn = min(self.lesson.n_layers, MAX_LAYERS)
        n_more = self.lesson.n_layers - n_drawn
        layers_height = n_drawn * LAYER_HEIGHT + (MORE_LAYERS_HEIGHT if n_more else 0)
        top = OUTPUT_HEIGHT + layers_height + INPUT_HEIGHT  # of the tokens
        height = top + TOKENS_HEIGHT
        pieces = [self._tokens(top), self._embedding(top - 56), self._order(top - 106)]
        bottom = top - INPUT_HEIGHT  # of the next part
        for layer in range(n_drawn):
            pieces.append(self._layer(bottom, layer))
            bottom -= LAYER_HEIGHT
        if n_more:
            pieces.append(self._part("layer", self._text(WIDTH / 2, bottom + 4, _("… and {n} more", n=n_more), 13)))
            bottom -= MORE_LAYERS_HEIGHT
        pieces.append(self._output(bottom))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
            f'font-family="system-ui, sans-serif" fill="currentColor"><style>{STYLE}</style>{"".join(pieces)}</svg>'
        )

    def _part(self, name: str, *pieces: str) -> str:
        """Group the pieces of a part, faint unless the part is highlighted. name: One of PARTS."""
        faint = "" if name in self.highlighted else ' opacity="0.45"'
        return f"<g{faint}>{''.join(pieces)}</g>"

    def _text(self, x: float, y: float, label: str, size: int = 14, bold: bool = False, anchor: str = "middle") -> str:
        """Draw a text. anchor: Which point of the text is at x: "start", "middle" or "end"."""
        weight = ' font-weight="600"' if bold else ""
        return f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}"{weight}>{escape(label)}</text>'

    def _box(
        self, x: float, y: float, w: float, h: float, colour: str, dashed: bool = False, opacity: float = 0.14
    ) -> str:
        """Draw a box with rounded corners. x, y: Left and upper edge. opacity: Opacity of the area."""
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        return (
            f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="7" fill="{colour}" fill-opacity="{opacity}" '
            f'stroke="{colour}" stroke-width="1.5"{dash}/>'
        )

    def _paper_box(self, x: float, y: float, w: float, h: float, is_here: bool) -> str:
        """Draw the box of a part of the network in the paper. is_here: Whether this network also has the part."""
        return self._box(x, y, w, h, GREY) if is_here else self._box(x, y, w, h, SECOND_ACCENT, True, opacity=0.04)

    def _arrows(self, bottom: float, top: float) -> str:
        """Draw an arrow upwards in every column."""
        return "".join(
            f'<path d="M{x} {bottom}V{top + 4}M{x - 4} {top + 9}L{x} {top + 3}L{x + 4} {top + 9}" '
            'stroke="currentColor" stroke-width="1.3" fill="none"/>'
            for x in self.centres
        )

    def _line_up(self, x: float, bottom: float, top: float) -> str:
        """Draw a vertical line."""
        return f'<path d="M{x} {bottom}V{top}" stroke="currentColor" stroke-width="1.3"/>'

    def _tokens(self, top: float) -> str:
        """Draw the titles of the films, and the mask."""
        pieces = []
        for x, label in zip(self.centres, self.labels, strict=True):
            is_mask = x == self.centres[-1]
            colour = SECOND_ACCENT if is_mask else "currentColor"
            pieces.append(self._box(x - 47, top, 94, 34, colour, dashed=is_mask, opacity=0.12))
            pieces.append(self._text(x, top + 21, short_title(label, 13), 12, bold=is_mask))
        return self._part("tokens", *pieces)

    def _embedding(self, top: float) -> str:
        """Draw the embeddings of the tokens."""
        boxes = [
            self._box(x - 40, top, 80, 28, GREY) + self._text(x, top + 19, _("embedding"), 12) for x in self.centres
        ]
        return self._part("embedding", self._arrows(top + 56, top + 30), *boxes)

    def _order(self, top: float) -> str:
        """Draw the position embeddings of the paper. The arrows around them belong to the part "embedding"."""
        boxes = [
            self._paper_box(x - 40, top, 80, 28, self.lesson.has_position_embeddings)
            + self._text(x, top + 19, _("+ position"), 12)
            for x in self.centres
        ]
        arrows = self._part("embedding", self._arrows(top + 50, top + 30), self._arrows(top, top - 22))
        return arrows + self._part("order", *boxes)

    def _layer(self, bottom: float, layer: int) -> str:
        """Draw a layer: attention from the upper to the lower positions, and above it feed-forward in each position."""
        title = _("Layer {n}: self-attention, heads: {heads}", n=layer + 1, heads=self.lesson.n_heads)
        heading = self._text(14, bottom - 86, title, 12, bold=True, anchor="start")
        bias = ""
        if not self.lesson.has_position_embeddings:
            bias = self._text(WIDTH - 14, bottom - 86, _("+ bias for distance"), 12, bold=True, anchor="end")
        n = len(self.labels)
        weights = self.lesson.values.attention.weights[layer].mean(0)[-n:, -n:].tolist()  # mean over the heads
        lines = [
            f'<path d="M{x} {bottom - 2}L{x_above} {bottom - 54}" stroke="{ACCENT}" '
            f'stroke-width="{0.4 + 5 * weight:.1f}" stroke-opacity="{0.25 + 0.75 * min(1, 2 * weight):.2f}"/>'
            for x_above, row in zip(self.centres, weights, strict=True)
            for x, weight in zip(self.centres, row, strict=True)
        ]
        feed_forward = [
            self._box(x - 46, bottom - 76, 92, 22, GREY) + self._text(x, bottom - 61, _("feed-forward"), 11)
            for x in self.centres
        ]
        frame = self._box(4, bottom - 104, WIDTH - 8, 104, GREY, opacity=0.05)
        return (
            self._part("layer", frame, heading, *feed_forward, self._arrows(bottom - 104, bottom - LAYER_HEIGHT - 3))
            + self._part("attention", *lines)
            + self._part("order", f'<g fill="{ACCENT}">{bias}</g>')
        )

    def _output(self, bottom: float) -> str:
        """Draw the linear map of the paper, the softmax and the predicted film above the mask."""
        x, n_films, title = self.centres[-1], self.lesson.values.n_items, self.lesson.top_unwatched_title
        softmax = ngettext("compare · softmax over {n:,} film", "compare · softmax over {n:,} films", n_films)
        return self._part(
            "output",
            self._paper_box(x - 150, bottom - 30, 196, 26, self.lesson.has_projection),
            self._text(x - 52, bottom - 13, _("linear map, GELU"), 12),
            self._line_up(x, bottom - 30, bottom - 46),
            self._box(x - 250, bottom - 76, 296, 30, ACCENT),
            self._text(x - 102, bottom - 56, softmax, 13),
            self._line_up(x, bottom - 76, bottom - 88),
            self._text(x + 46, bottom - 94, short_title(title, 40), 14, bold=True, anchor="end"),
        )
