"""Art for films without a poster: drawn from genre, title and year, the same on every machine, without a network.

The most distinctive genre gives the colour, the first two of them what may be drawn, and a word of the title may ask
for something else: "Full Moon" has a moon. Title and year decide the rest: films of one genre are a family, not twins.
"""

import base64
import colorsys
import random
import re
import zlib
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from recsys.serving import motifs
from recsys.serving.motifs import HEIGHT, WIDTH, Motif, Shape

# Genre → colour and motifs, the most distinctive genre first: an animated comedy looks like an animated film.
STYLES: dict[str, tuple[str, tuple[Motif, ...]]] = {
    "Film-Noir": ("#43464f", (motifs.blinds, motifs.rain, motifs.skyline, motifs.shards)),
    "Western": ("#a55f36", (motifs.peaks, motifs.road, motifs.rays, motifs.arches)),
    "Documentary": ("#61785a", (motifs.frames, motifs.checkers, motifs.peaks, motifs.waves, motifs.rings)),
    "Animation": ("#2f8f86", (motifs.bubbles, motifs.dots, motifs.peaks, motifs.rays)),
    "Musical": ("#b0508c", (motifs.arches, motifs.waves, motifs.bubbles, motifs.rays)),
    "Horror": ("#852230", (motifs.moon, motifs.forest, motifs.shards, motifs.blinds)),
    "Sci-Fi": ("#1d7d96", (motifs.orbits, motifs.rings, motifs.constellation, motifs.skyline, motifs.frames)),
    "War": ("#6b6a3d", (motifs.rays, motifs.shards, motifs.peaks, motifs.blinds)),
    "Mystery": ("#3f4f8f", (motifs.moon, motifs.rain, motifs.frames, motifs.spiral)),
    "Fantasy": ("#5568bd", (motifs.forest, motifs.peaks, motifs.moon, motifs.constellation)),
    "Children": ("#cf6f93", (motifs.dots, motifs.bubbles, motifs.rays, motifs.checkers)),
    "Crime": ("#4d5570", (motifs.skyline, motifs.blinds, motifs.road, motifs.frames)),
    "Romance": ("#bd5569", (motifs.hearts, motifs.waves, motifs.bubbles, motifs.moon)),
    "Adventure": ("#b8742a", (motifs.peaks, motifs.road, motifs.forest, motifs.waves)),
    "Action": ("#c2452d", (motifs.rays, motifs.shards, motifs.road, motifs.skyline)),
    "Thriller": ("#3b5d70", (motifs.blinds, motifs.spiral, motifs.rain, motifs.shards)),
    "Comedy": ("#c9952b", (motifs.dots, motifs.checkers, motifs.arches, motifs.bubbles)),
    "Drama": ("#7a5791", (motifs.arches, motifs.waves, motifs.rain, motifs.moon, motifs.skyline, motifs.shards)),
    "IMAX": ("#2b6cb0", (motifs.frames, motifs.rings)),
}
_PLAIN_MOTIFS = [motifs.frames, motifs.dots, motifs.waves, motifs.rings, motifs.arches, motifs.bubbles, motifs.checkers]
UNKNOWN_STYLE: tuple[str, tuple[Motif, ...]] = ("#66676b", (motifs.frames, motifs.dots, motifs.waves))

TITLE_MOTIFS: tuple[tuple[str, Motif], ...] = (  # words of a title that are drawn
    ("moon|night|midnight|dark|darkness|vampire", motifs.moon),
    ("star|stars|galaxy|astronaut|universe", motifs.constellation),
    ("planet|space|gravity|interstellar|martian|apollo", motifs.orbits),
    ("city|street|manhattan|york|chicago|casablanca|metropolis", motifs.skyline),
    ("love|heart|hearts|valentine|romance|kiss", motifs.hearts),
    ("sea|ocean|river|water|island|titanic|jaws|nemo|beach|lake", motifs.waves),
    ("mountain|mountains|hill|hills|valley|ridge|everest", motifs.peaks),
    ("forest|wood|woods|tree|jungle", motifs.forest),
    ("road|highway|drive|driver|fury|fast", motifs.road),
    ("rain|storm|tears|cloud", motifs.rain),
    ("sun|sunshine|dawn|sunset|sunrise|fire|burning", motifs.rays),
    ("glass|broken|break|shattered|splinter", motifs.shards),
    ("ring|rings|circle|echo", motifs.rings),
    ("vertigo|dream|dreams|inception|memento|mind|memory|tenet", motifs.spiral),
    ("wall|window|windows|matrix|cube|room", motifs.frames),
)


class Background(NamedTuple):
    """A gradient: from one point to another or, with a radius, outwards from the first one."""

    start: tuple[float, float]
    end: tuple[float, float]
    stops: tuple[tuple[float, str], ...]  # (0…1, colour); two stops at one place make an edge
    radius: float = 0.0


class Poster(NamedTuple):
    """What is to be drawn, in a box of 200 × 300: the background, the shapes in white, and over both `SHADE`."""

    background: Background
    shapes: Sequence[Shape]


SHADE = ((0.3, 0.0), (0.5, 0.6), (1.0, 0.76))  # (share of the height, black): white words can be read on its lower half


def poster(title: str, year: int | None, genres: str) -> Poster:
    """The poster of a film. genres: "Action|Sci-Fi", as in the catalogue; "" is drawn in grey."""
    rng = random.Random(zlib.crc32(f"{title} {year}".encode()))
    (colour, drawn), *others = _film_styles(genres)
    second = others[0][0] if others else colour
    choice = [*drawn, *(others[0][1][:2] if others else ())]
    motif = _title_motif(title) or rng.choice(choice)
    return Poster(_background(_vary_colour(colour, rng), _vary_colour(second, rng, 0.13), rng), motif(rng))


def _film_styles(genres: str) -> list[tuple[str, tuple[Motif, ...]]]:
    """The styles of a film's genres, the most distinctive first; older sets write "Children's".

    Genres of other things, such as "Soap", have a hue of their own each, after their name.
    """
    own = genres.replace("Children's", "Children").split("|")
    known = [style for genre, style in STYLES.items() if genre in own]
    return known or [_generated_style(genre) for genre in own if genre] or [UNKNOWN_STYLE]


def _generated_style(genre: str) -> tuple[str, tuple[Motif, ...]]:
    """A style for a genre that films do not have."""
    rng = random.Random(zlib.crc32(genre.encode()))
    colour = colorsys.hls_to_rgb(rng.random(), 0.4, 0.4)
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in colour), tuple(rng.sample(_PLAIN_MOTIFS, 4))


def _title_motif(title: str) -> Motif | None:
    """What a word of the title asks to be drawn."""
    return next((motif for words, motif in TITLE_MOTIFS if re.search(rf"\b(?:{words})\b", title.casefold())), None)


def _vary_colour(colour: str, rng: random.Random, reach: float = 0.055) -> str:
    """A neighbour of a colour: another hue, lighter or darker; never so light that white on it cannot be seen."""
    hue, light, strength = colorsys.rgb_to_hls(*(int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)))
    hue, light = (hue + rng.uniform(-reach, reach)) % 1, min(light * rng.uniform(0.72, 1.12), 0.5)
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in colorsys.hls_to_rgb(hue, light, strength))


def _background(one: str, other: str, rng: random.Random) -> Background:
    """A gradient, a glow, a diagonal cut, a horizon or bands."""
    if rng.random() < 0.5:
        one, other = other, one
    kind, down = rng.randrange(5), rng.choice(((0, 0, 200, 300), (200, 0, 0, 300), (100, 0, 100, 300)))
    start, end = (down[0], down[1]), (down[2], down[3])
    if kind == 0:
        return Background((rng.randint(40, 160), rng.randint(30, 110)), (0, 0), ((0, one), (1, other)), 240)
    if kind == 1:
        cut = rng.uniform(0.3, 0.5)
        return Background(start, end, ((0, one), (cut, one), (cut, other), (1, other)))
    if kind == 2:
        at = rng.uniform(0.3, 0.48)
        return Background((100, 0), (100, 300), ((0, one), (at, _mix_colours(one, other)), (at, other), (1, other)))
    if kind == 3:
        middle, at = _mix_colours(one, other), rng.uniform(0.14, 0.2)
        edges = ((0, one), (at, one), (at, middle), (2 * at, middle), (2 * at, other), (1, other))
        return Background(start, end, edges)
    return Background(start, end, ((0, one), (1, other)))


def _mix_colours(one: str, other: str) -> str:
    """The colour half-way between two."""
    pairs = ((int(one[at : at + 2], 16), int(other[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{(a + b) // 2:02x}" for a, b in pairs)


def poster_svg(title: str, year: int | None, genres: str) -> str:
    """The poster of a film as an SVG without words; its lower half is dark enough for white text (WCAG AA)."""
    drawn = poster(title, year, genres)
    shade = "".join(f'<stop offset="{at}" stop-opacity="{black}"/>' for at, black in SHADE)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"><defs>'
        f"{_gradient_svg(drawn.background)}"
        f'<linearGradient id="b" x2="0" y2="1">{shade}</linearGradient></defs>'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="url(#a)"/>{_shapes_svg(drawn.shapes)}'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="url(#b)"/></svg>'
    )


def _gradient_svg(one: Background) -> str:
    stops = "".join(f'<stop offset="{at:.3f}" stop-color="{colour}"/>' for at, colour in one.stops)
    (x, y), (u, v) = one.start, one.end
    if one.radius:
        place = f'cx="{x}" cy="{y}" r="{one.radius}"'
        return f'<radialGradient id="a" gradientUnits="userSpaceOnUse" {place}>{stops}</radialGradient>'
    place = f'x1="{x}" y1="{y}" x2="{u}" y2="{v}"'
    return f'<linearGradient id="a" gradientUnits="userSpaceOnUse" {place}>{stops}</linearGradient>'


def _shapes_svg(shapes: Sequence[Shape]) -> str:
    """The shapes in their order, those that are painted alike in one group."""
    alike = groupby(shapes, lambda shape: (shape.opacity, shape.line))
    return "".join(f"<g {_paint(*look)}>{''.join(map(_shape_svg, members))}</g>" for look, members in alike)


def _paint(opacity: float, line: float) -> str:
    if line:
        return f'fill="none" stroke="#fff" stroke-opacity="{opacity}" stroke-width="{line}"'
    return f'fill="#fff" fill-opacity="{opacity}"'


def _shape_svg(shape: Shape) -> str:
    """One shape as an element."""
    if shape.radius:
        x, y = shape.points[0]
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{shape.radius:.1f}"/>'
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in shape.points)
    return f'<{"polygon" if shape.closed else "polyline"} points="{corners}"/>'


@lru_cache(maxsize=4096)
def poster_url(title: str, year: int | None, genres: str) -> str:
    """`art` as an address that an <img> can hold."""
    return "data:image/svg+xml;base64," + base64.b64encode(poster_svg(title, year, genres).encode()).decode()
