"""Draw a poster from genres, title and year if the real poster of a film is not available, as SVG or as pixels.

The most distinctive genre of a film sets the colour. A word of the title can set the motif: "Full Moon" has a moon.
Otherwise, a random motif of the two most distinctive genres is drawn. Title and year seed the random generator, so that
a film has the same poster on every machine.
"""

import base64
import colorsys
import random
import re
import zlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageColor, ImageDraw

from recsys.serving import motifs
from recsys.serving.motifs import HEIGHT, WIDTH, Motif, Point, Shape

Style = tuple[str, tuple[Motif, ...]]  # colour, possible motifs
# genre → style, the most distinctive genre first: an animated comedy has the style of "Animation"
STYLES: dict[str, Style] = {
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
# motifs of genres that are not in STYLES
_PLAIN_MOTIFS = [motifs.frames, motifs.dots, motifs.waves, motifs.rings, motifs.arches, motifs.bubbles, motifs.checkers]
UNKNOWN_STYLE: Style = ("#66676b", (motifs.frames, motifs.dots, motifs.waves))

TITLE_MOTIFS: tuple[tuple[str, Motif], ...] = (  # pattern of words in a title → motif
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

SUPERSAMPLING = 2  # shapes are drawn larger by this factor and then scaled down, so that their edges are smooth
SHADE = ((0.3, 0.0), (0.5, 0.6), (1.0, 0.76))  # (part of the height, opacity of black), so that white text is legible
MAX_HUE_SHIFT = 0.055  # maximum random shift of the hue of the first colour; a hue is 0…1
MAX_SECOND_HUE_SHIFT = 0.13  # of the second colour


class Background(NamedTuple):
    """A linear gradient or, with a radius, a radial gradient around `start`."""

    start: Point
    end: Point  # not used by a radial gradient
    stops: tuple[tuple[float, str], ...]  # (offset 0…1, colour); two stops with equal offsets make an edge
    radius: float = 0.0


class Poster(NamedTuple):
    """A drawing in a box of WIDTH × HEIGHT: the background, white shapes, and SHADE over both."""

    background: Background
    shapes: Sequence[Shape]


def design_poster(title: str, year: int | None, genres: str) -> Poster:
    """Return a poster for a film. Genres are "Action|Sci-Fi", as in the catalogue. A film without genres is grey."""
    rng = random.Random(zlib.crc32(f"{title} {year}".encode()))
    (colour, possible_motifs), *other_styles = _film_styles(genres)
    second_colour = colour
    if other_styles:
        second_colour, second_motifs = other_styles[0]
        possible_motifs = (*possible_motifs, *second_motifs[:2])
    title_motifs = (motif for words, motif in TITLE_MOTIFS if re.search(rf"\b(?:{words})\b", title.casefold()))
    motif = next(title_motifs, None) or rng.choice(possible_motifs)
    colours = _vary_colour(colour, rng, MAX_HUE_SHIFT), _vary_colour(second_colour, rng, MAX_SECOND_HUE_SHIFT)
    background = _background(*colours, rng)
    return Poster(background, motif(rng))


def _film_styles(genres: str) -> list[Style]:
    """Return the styles of the genres that are in STYLES, the most distinctive first.

    Without such a genre, the styles are generated from the names of the genres. Without any genre, the only style is
    UNKNOWN_STYLE.
    """
    names = genres.replace("Children's", "Children").split("|")  # old data sets have "Children's"
    styles = [style for genre, style in STYLES.items() if genre in names]
    return styles or [_generated_style(genre) for genre in names if genre] or [UNKNOWN_STYLE]


def _generated_style(genre: str) -> Style:
    """Return a random style, seeded by the name of a genre."""
    rng = random.Random(zlib.crc32(genre.encode()))
    colour = colorsys.hls_to_rgb(rng.random(), 0.4, 0.4)
    return _hex(round(255 * channel) for channel in colour), tuple(rng.sample(_PLAIN_MOTIFS, 4))


def _hex(channels: Iterable[int]) -> str:
    """Return the colour of red, green and blue values 0…255, such as "#a55f36"."""
    return "#" + "".join(f"{channel:02x}" for channel in channels)


def _vary_colour(colour: str, rng: random.Random, max_hue_shift: float) -> str:
    """Return a colour with a random change of hue and lightness. It is dark enough for white shapes."""
    hue, lightness, saturation = colorsys.rgb_to_hls(*(channel / 255 for channel in ImageColor.getrgb(colour)))
    hue = (hue + rng.uniform(-max_hue_shift, max_hue_shift)) % 1
    lightness = min(lightness * rng.uniform(0.72, 1.12), 0.5)
    return _hex(round(255 * channel) for channel in colorsys.hls_to_rgb(hue, lightness, saturation))


def _background(colour: str, other: str, rng: random.Random) -> Background:
    """Return a background of two colours, of a random kind and direction."""
    if rng.random() < 0.5:
        colour, other = other, colour
    kind = rng.choice(("glow", "cut", "horizon", "bands", "gradient"))
    top, bottom = (WIDTH // 2, 0), (WIDTH // 2, HEIGHT)
    start, end = rng.choice((((0, 0), (WIDTH, HEIGHT)), ((WIDTH, 0), (0, HEIGHT)), (top, bottom)))
    if kind == "glow":
        centre = rng.randint(40, 160), rng.randint(30, 110)
        return Background(centre, (0, 0), ((0, colour), (1, other)), radius=240)
    if kind == "cut":
        cut = rng.uniform(0.3, 0.5)
        return Background(start, end, ((0, colour), (cut, colour), (cut, other), (1, other)))
    if kind == "horizon":
        horizon, mixed = rng.uniform(0.3, 0.48), _mix_colours(colour, other)
        return Background(top, bottom, ((0, colour), (horizon, mixed), (horizon, other), (1, other)))
    if kind == "bands":
        band, mixed = rng.uniform(0.14, 0.2), _mix_colours(colour, other)
        edges = ((0, colour), (band, colour), (band, mixed), (2 * band, mixed), (2 * band, other), (1, other))
        return Background(start, end, edges)
    return Background(start, end, ((0, colour), (1, other)))


def _mix_colours(colour: str, other: str) -> str:
    """Return the mean of two colours."""
    return _hex((a + b) // 2 for a, b in zip(ImageColor.getrgb(colour), ImageColor.getrgb(other), strict=True))


def poster_svg(title: str, year: int | None, genres: str) -> str:
    """Return the poster of a film as SVG, without text. Its lower half is dark enough for white text (WCAG AA)."""
    poster = design_poster(title, year, genres)
    shade = "".join(f'<stop offset="{offset}" stop-opacity="{opacity}"/>' for offset, opacity in SHADE)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"><defs>'
        f"{_gradient_svg(poster.background)}"
        f'<linearGradient id="b" x2="0" y2="1">{shade}</linearGradient></defs>'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="url(#a)"/>{_shapes_svg(poster.shapes)}'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="url(#b)"/></svg>'
    )


def _gradient_svg(background: Background) -> str:
    """Return the gradient of a background as SVG, with the id "a"."""
    stops = "".join(f'<stop offset="{offset:.3f}" stop-color="{colour}"/>' for offset, colour in background.stops)
    (x1, y1), (x2, y2) = background.start, background.end
    if background.radius:
        circle = f'cx="{x1}" cy="{y1}" r="{background.radius}"'
        return f'<radialGradient id="a" gradientUnits="userSpaceOnUse" {circle}>{stops}</radialGradient>'
    line = f'x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"'
    return f'<linearGradient id="a" gradientUnits="userSpaceOnUse" {line}>{stops}</linearGradient>'


def _shapes_svg(shapes: Sequence[Shape]) -> str:
    """Return shapes as SVG, in order. Consecutive shapes with equal opacity and line width are one group."""
    groups = []
    for (opacity, line_width), group in groupby(shapes, _opacity_and_line_width):
        stroke = f'fill="none" stroke="#fff" stroke-opacity="{opacity}" stroke-width="{line_width}"'
        attributes = stroke if line_width else f'fill="#fff" fill-opacity="{opacity}"'
        groups.append(f"<g {attributes}>{''.join(map(_shape_svg, group))}</g>")
    return "".join(groups)


def _opacity_and_line_width(shape: Shape) -> tuple[float, float]:
    """Return the opacity and the line width of a shape."""
    return shape.opacity, shape.line_width


def _shape_svg(shape: Shape) -> str:
    """Return a shape as SVG, without its opacity and line width."""
    if shape.radius:
        x, y = shape.points[0]
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{shape.radius:.1f}"/>'
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in shape.points)
    return f'<{"polygon" if shape.is_closed else "polyline"} points="{corners}"/>'


@lru_cache(maxsize=4096)
def poster_url(title: str, year: int | None, genres: str) -> str:
    """Return `poster_svg` as a data URL for an <img>."""
    return "data:image/svg+xml;base64," + base64.b64encode(poster_svg(title, year, genres).encode()).decode()


def poster_image(poster: Poster, width: int, height: int) -> Image.Image:
    """Draw a poster. Width and height are in pixels."""
    pixels = _gradient(poster.background, width, height)
    for (opacity, line_width), group in groupby(poster.shapes, _opacity_and_line_width):
        pixels += (1 - pixels) * opacity * _coverage(group, line_width, width, height)[..., None]  # towards white
    row_centres = (np.arange(height) + 0.5) / height  # 0…1 from the top
    offsets, opacities = zip(*SHADE, strict=True)
    pixels *= 1 - np.interp(row_centres, offsets, opacities)[:, None, None]  # towards black
    return Image.fromarray((255 * pixels).round().astype(np.uint8), "RGB")


def _gradient(background: Background, width: int, height: int) -> np.ndarray:
    """Return the background, (height, width, 3) 0…1."""
    # centres of the pixels in the box of WIDTH × HEIGHT
    x = (np.arange(width) + 0.5)[None, :] * WIDTH / width
    y = (np.arange(height) + 0.5)[:, None] * HEIGHT / height
    (start_x, start_y), (end_x, end_y) = background.start, background.end
    if background.radius:
        position = np.hypot(x - start_x, y - start_y) / background.radius
    else:
        dx, dy = end_x - start_x, end_y - start_y
        position = ((x - start_x) * dx + (y - start_y) * dy) / (dx**2 + dy**2)  # 0 at the start, 1 at the end
    offsets = [offset for offset, _ in background.stops]
    colours = np.array([[channel / 255 for channel in ImageColor.getrgb(colour)] for _, colour in background.stops])
    return np.stack([np.interp(position, offsets, colours[:, channel]) for channel in range(3)], axis=-1)


def _coverage(shapes: Iterable[Shape], line_width: float, width: int, height: int) -> np.ndarray:
    """Return the fraction of each pixel that the shapes cover, (height, width) 0…1."""
    mask = Image.new("L", (width * SUPERSAMPLING, height * SUPERSAMPLING), 0)
    draw, scale = ImageDraw.Draw(mask), width * SUPERSAMPLING / WIDTH
    line_pixels = max(1, round(line_width * scale))
    for shape in shapes:
        points = [(x * scale, y * scale) for x, y in shape.points]
        if shape.radius:
            (x, y), radius = points[0], shape.radius * scale
            bounds = (x - radius, y - radius, x + radius, y + radius)
            draw.ellipse(bounds, fill=None if line_width else 255, outline=255, width=line_pixels)
        elif line_width:
            draw.line([*points, points[0]] if shape.is_closed else points, 255, line_pixels, joint="curve")
        else:
            draw.polygon(points, fill=255)
    return np.asarray(mask.resize((width, height), Image.Resampling.BOX), np.float64) / 255
