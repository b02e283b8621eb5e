"""Draw a generated poster as pixels. `poster_art.poster_svg` draws it as SVG."""

from collections.abc import Iterable
from itertools import groupby

import numpy as np
from PIL import Image, ImageDraw

from recsys.serving import poster_art
from recsys.serving.motifs import HEIGHT, WIDTH, Shape

SUPERSAMPLING = 2  # factor by which shapes are drawn larger, so that edges are smooth


def poster_image(poster: poster_art.Poster, width: int, height: int) -> Image.Image:
    """Draw a poster. Width and height are in pixels."""
    canvas = _gradient(poster.background, width, height)
    for (opacity, line), shapes in groupby(poster.shapes, lambda shape: (shape.opacity, shape.line)):
        canvas += (1 - canvas) * opacity * _mask(shapes, line, width, height)[..., None]
    rows = (np.arange(height) + 0.5) / height  # 0…1 from the top
    offsets, blacks = zip(*poster_art.SHADE, strict=True)
    canvas *= 1 - np.interp(rows, offsets, blacks)[:, None, None]
    return Image.fromarray((255 * canvas).round().astype(np.uint8), "RGB")


def _gradient(background: poster_art.Background, width: int, height: int) -> np.ndarray:
    """Return the background, (height, width, 3) 0…1."""
    x = (np.arange(width) + 0.5)[None, :] * WIDTH / width
    y = (np.arange(height) + 0.5)[:, None] * HEIGHT / height
    (u, v), (end_u, end_v) = background.start, background.end
    if background.radius:
        offset = np.hypot(x - u, y - v) / background.radius
    else:
        dx, dy = end_u - u, end_v - v
        offset = ((x - u) * dx + (y - v) * dy) / (dx**2 + dy**2)
    offsets = [offset for offset, _ in background.stops]
    colours = np.array([[channel / 255 for channel in poster_art.channels(colour)] for _, colour in background.stops])
    return np.stack([np.interp(offset, offsets, colours[:, channel]) for channel in range(3)], axis=-1)


def _mask(shapes: Iterable[Shape], line: float, width: int, height: int) -> np.ndarray:
    """Return how much of each pixel the shapes cover, (height, width) 0…1."""
    mask = Image.new("L", (width * SUPERSAMPLING, height * SUPERSAMPLING), 0)
    draw, scale = ImageDraw.Draw(mask), width * SUPERSAMPLING / WIDTH
    line_width = max(1, round(line * scale))
    for shape in shapes:
        points = [(x * scale, y * scale) for x, y in shape.points]
        if shape.radius:
            (x, y), r = points[0], shape.radius * scale
            disc = (x - r, y - r, x + r, y + r)
            draw.ellipse(disc, outline=255, width=line_width) if line else draw.ellipse(disc, fill=255)
        elif line:
            draw.line([*points, points[0]] if shape.closed else points, 255, line_width, joint="curve")
        else:
            draw.polygon(points, fill=255)
    return np.asarray(mask.resize((width, height), Image.Resampling.BOX), np.float64) / 255
