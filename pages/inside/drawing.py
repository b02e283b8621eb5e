"""A drawing of the network that is predicting: our own, after figure 1b of BERT4Rec (arXiv:1904.06690).

It is read from the bottom to the top, as there. Teal: what this network has in place of the paper's; orange and dashed:
what the paper has and this network has not.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from pages.inside import charts
from pages.ui.i18n import _, ngettext

WIDTH, COLUMNS = 420, (60, 160, 260, 360)  # of the drawing; the middle of each position's column
LAYER, MOST_LAYERS = 122, 2  # height of a layer; layers that are drawn, the others are said
ALL = ("tokens", "embedding", "order", "attention", "layer", "output")  # parts that can stand out


@dataclass(frozen=True)
class Drawn:
    """What there is to draw."""

    labels: Sequence[str]  # of the newest tokens, four at most, [mask] last
    layers: int
    heads: int
    weights: Sequence[Sequence[Sequence[float]]]  # of each layer: how much each of those tokens attends to each, 0…1
    answer: str  # the film that is predicted
    n_films: int
    positions: bool  # whether there are position embeddings, as in the paper
    projection: bool  # whether there is the paper's projection before the output


def svg(drawn: Drawn, parts: Iterable[str], dark: bool) -> str:
    """The drawing, in which some of `ALL` stand out; dark: for a dark page."""
    ink = "#ecebe8" if dark else "#1d1d1f"
    shown, layers = set(parts), min(drawn.layers, MOST_LAYERS)
    height = 300 + layers * LAYER + (20 if drawn.layers > layers else 0)
    sheet = _Sheet(COLUMNS[-len(drawn.labels) :], shown, ink)
    y = height - 40
    pieces = [sheet.tokens(drawn.labels, y), sheet.embedding(y - 56), sheet.order(y - 106, drawn.positions)]
    y -= 128
    for number in range(layers):
        pieces.append(sheet.layer(y, number, drawn))
        y -= LAYER
    if drawn.layers > layers:
        more = _("… and {n} more", n=drawn.layers - layers)
        pieces.append(sheet.part("layer", sheet.text(WIDTH / 2, y + 4, more, 13)))
        y -= 20
    pieces.append(sheet.output(y, drawn))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'font-family="system-ui, sans-serif" fill="{ink}">{"".join(pieces)}</svg>'
    )


@dataclass(frozen=True)
class _Sheet:
    """Where and how things are drawn."""

    columns: Sequence[int]
    shown: set[str]
    ink: str

    def part(self, name: str, *pieces: str) -> str:
        """Pieces that belong to a part: faint where others stand out."""
        faint = "" if name in self.shown else ' opacity="0.45"'
        return f"<g{faint}>{''.join(pieces)}</g>"

    def text(self, x: float, y: float, words_: str, size: int = 14, bold: bool = False, anchor: str = "middle") -> str:
        weight = ' font-weight="600"' if bold else ""
        return f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}"{weight}>{escape(words_)}</text>'

    def box(self, x: float, y: float, w: float, h: float, colour: str, dashed: bool = False, fill: float = 0.14) -> str:
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        return (
            f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="7" fill="{colour}" fill-opacity="{fill}" '
            f'stroke="{colour}" stroke-width="1.5"{dash}/>'
        )

    def arrows(self, bottom: float, top: float) -> str:
        """An arrow up in every column."""
        return "".join(
            f'<path d="M{x} {bottom}V{top + 4}M{x - 4} {top + 9}L{x} {top + 3}L{x + 4} {top + 9}" stroke="{self.ink}" '
            'stroke-width="1.3" fill="none"/>'
            for x in self.columns
        )

    def tokens(self, labels: Sequence[str], y: float) -> str:
        pieces = []
        for x, label in zip(self.columns, labels, strict=True):
            blank = label == labels[-1]
            colour = charts.SECOND if blank else self.ink
            pieces.append(self.box(x - 47, y, 94, 34, colour, dashed=blank, fill=0.12))
            pieces.append(self.text(x, y + 21, charts.short(label, 13), 12, bold=blank))
        return self.part("tokens", *pieces)

    def embedding(self, y: float) -> str:
        rows = [self.arrows(y + 56, y + 30)]
        for x in self.columns:
            rows += [self.box(x - 40, y, 80, 28, charts.GREY), self.text(x, y + 19, _("embedding"), 12)]
        return self.part("embedding", *rows)

    def order(self, y: float, positions: bool) -> str:
        """The paper's position embeddings: there, or only hinted at."""
        rows = [self.part("embedding", self.arrows(y + 50, y + 30), self.arrows(y, y - 22))]
        colour = charts.GREY if positions else charts.SECOND
        for x in self.columns:
            rows.append(self.box(x - 40, y, 80, 28, colour, dashed=not positions, fill=0.14 if positions else 0.04))
            rows.append(self.text(x, y + 19, _("+ position"), 12))
        return self.part("order", *rows)

    def layer(self, bottom: float, number: int, drawn: Drawn) -> str:
        """One layer: everybody attends to everybody, then each position is worked on by itself."""
        title = _("Layer {n}: self-attention, heads: {heads}", n=number + 1, heads=drawn.heads)
        about = self.text(14, bottom - 86, title, 12, bold=True, anchor="start")
        bias = "" if drawn.positions else self.text(WIDTH - 14, bottom - 86, _("+ bias for distance"), 12, True, "end")
        lines, forward = [], []
        for to, row in zip(self.columns, drawn.weights[number], strict=True):
            lines += [
                f'<path d="M{x} {bottom - 2}L{to} {bottom - 54}" stroke="{charts.ACCENT}" '
                f'stroke-width="{0.4 + 5 * weight:.1f}" stroke-opacity="{0.25 + 0.75 * min(1, 2 * weight):.2f}"/>'
                for x, weight in zip(self.columns, row, strict=True)
            ]
        for x in self.columns:
            forward += [self.box(x - 46, bottom - 76, 92, 22, charts.GREY)]
            forward += [self.text(x, bottom - 61, _("feed-forward"), 11)]
        frame = self.box(4, bottom - 104, WIDTH - 8, 104, charts.GREY, fill=0.05)
        return (
            self.part("layer", frame, about, *forward, self.arrows(bottom - 104, bottom - LAYER - 3))
            + self.part("attention", *lines)
            + self.part("order", f'<g fill="{charts.ACCENT}">{bias}</g>')
        )

    def output(self, bottom: float, drawn: Drawn) -> str:
        """From the mask's column to a probability for every film."""
        x = self.columns[-1]
        rows = []
        if not drawn.projection:
            rows.append(self.box(x - 150, bottom - 30, 196, 26, charts.SECOND, dashed=True, fill=0.04))
        else:
            rows.append(self.box(x - 150, bottom - 30, 196, 26, charts.GREY))
        rows.append(self.text(x - 52, bottom - 13, _("linear map, GELU"), 12))
        up = f'<path d="M{x} {bottom - 30}V{bottom - 46}" stroke="{self.ink}" stroke-width="1.3"/>'
        softmax = ngettext("compare · softmax over {n:,} films", "compare · softmax over {n:,} films", drawn.n_films)
        rows += [
            up,
            self.box(x - 250, bottom - 76, 296, 30, charts.ACCENT),
            self.text(x - 102, bottom - 56, softmax, 13),
        ]
        rows.append(f'<path d="M{x} {bottom - 76}V{bottom - 88}" stroke="{self.ink}" stroke-width="1.3"/>')
        answer = charts.short(drawn.answer, 40)
        rows.append(self.text(x + 46, bottom - 94, answer, 14, bold=True, anchor="end"))
        return self.part("output", *rows)
