"""Generated posters as pixels, the same drawings that `poster_art` gives a page as SVG."""

from collections.abc import Iterable
from itertools import groupby

import numpy as np
from PIL import Image, ImageDraw

from recsys.serving import poster_art
from recsys.serving.motifs import HEIGHT, WIDTH, Shape

SUPERSAMPLING = 2  # shapes are drawn so many times larger and then reduced, so that edges are smooth


def poster_image(poster: poster_art.Poster, width: int, height: int) -> Image.Image:
    """A poster of that many pixels."""
    canvas = _gradient(poster.background, width, height)  # (height, width, 3) 0…1
    for (opacity, line), shapes in groupby(poster.shapes, lambda shape: (shape.opacity, shape.line)):
        canvas += (1 - canvas) * opacity * _mask(shapes, line, width, height)[..., None]
    down = (np.arange(height) + 0.5) / height
    places, blacks = zip(*poster_art.SHADE, strict=True)
    canvas *= 1 - np.interp(down, places, blacks)[:, None, None]
    return Image.fromarray((255 * canvas).round().astype(np.uint8), "RGB")


def _gradient(background: poster_art.Background, width: int, height: int) -> np.ndarray:
    """(height, width, 3) 0…1, the background alone."""
    x = (np.arange(width) + 0.5)[None, :] * WIDTH / width
    y = (np.arange(height) + 0.5)[:, None] * HEIGHT / height
    (u, v), (to_u, to_v) = background.start, background.end
    if background.radius:
        share = np.hypot(x - u, y - v) / background.radius
    else:
        along = (to_u - u, to_v - v)
        share = ((x - u) * along[0] + (y - v) * along[1]) / (along[0] ** 2 + along[1] ** 2)
    places = [at for at, _ in background.stops]
    colours = np.array([[int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)] for _, colour in background.stops])
    return np.stack([np.interp(share, places, colours[:, channel]) for channel in range(3)], axis=-1)


def _mask(shapes: Iterable[Shape], line: float, width: int, height: int) -> np.ndarray:
    """(height, width) 0…1: where some shapes are."""
    mask = Image.new("L", (width * SUPERSAMPLING, height * SUPERSAMPLING), 0)
    draw, by = ImageDraw.Draw(mask), width * SUPERSAMPLING / WIDTH
    thick = max(1, round(line * by))
    for shape in shapes:
        points = [(x * by, y * by) for x, y in shape.points]
        if shape.radius:
            (x, y), r = points[0], shape.radius * by
            disc = (x - r, y - r, x + r, y + r)
            draw.ellipse(disc, outline=255, width=thick) if line else draw.ellipse(disc, fill=255)
        elif line:
            draw.line([*points, points[0]] if shape.closed else points, 255, thick, joint="curve")
        else:
            draw.polygon(points, fill=255)
    return np.asarray(mask.resize((width, height), Image.Resampling.BOX), np.float64) / 255
