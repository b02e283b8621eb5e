"""Draw the motifs of generated posters. A motif is a function that returns shapes in a box of WIDTH × HEIGHT.

x increases to the right, y increases downwards. Positions and sizes in a motif are random, so that posters differ. The
ranges of random values were chosen by eye. `poster_art` darkens the lower half of a poster for a title.
"""

import math
from collections.abc import Callable, Iterable
from random import Random
from typing import NamedTuple

WIDTH = 200
HEIGHT = 300  # film posters have a ratio of 2:3
RAY_LENGTH = 330  # long enough that rays from any point of a motif end outside the box
Point = tuple[float, float]  # (x, y)


class Shape(NamedTuple):
    """A white shape: a polygon, a line or, if it has a radius, a circle."""

    points: tuple[Point, ...]  # corners, or the centre of a circle
    radius: float = 0.0
    opacity: float = 0.22
    line_width: float = 0.0  # 0: filled
    is_closed: bool = True  # whether the line connects the last corner with the first


Motif = Callable[[Random], list[Shape]]  # random generator → shapes in the order in which they are drawn


def circle(x: float, y: float, radius: float, opacity: float = 0.22, line_width: float = 0.0) -> Shape:
    """Return a disc around (x, y) or, with a line width, a ring."""
    return Shape(((x, y),), radius, opacity, line_width)


def polygon(*points: Point, opacity: float = 0.22) -> Shape:
    """Return a filled polygon."""
    return Shape(points, opacity=opacity)


def polyline(points: Iterable[Point], opacity: float = 0.4, line_width: float = 2.5) -> Shape:
    """Return an open line through points."""
    return Shape(tuple(points), opacity=opacity, line_width=line_width, is_closed=False)


def box(x: float, y: float, width: float, height: float, opacity: float = 0.22) -> Shape:
    """Return a rectangle with its upper left corner at (x, y)."""
    return polygon((x, y), (x + width, y), (x + width, y + height), (x, y + height), opacity=opacity)


def rotate(shapes: Iterable[Shape], degrees: float, centre: Point = (100, 100)) -> list[Shape]:
    """Return shapes rotated clockwise around `centre`."""
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    centre_x, centre_y = centre

    def rotated(x: float, y: float) -> Point:
        dx, dy = x - centre_x, y - centre_y
        return centre_x + dx * cos - dy * sin, centre_y + dx * sin + dy * cos

    return [shape._replace(points=tuple(rotated(*point) for point in shape.points)) for shape in shapes]


def rings(rng: Random) -> list[Shape]:
    """Return ripples."""
    x, y, gap = rng.randint(40, 160), rng.randint(40, 120), rng.randint(12, 24)
    return [circle(x, y, gap * ring, 0.4, 2.5) for ring in range(1, rng.randint(5, 10))]


def orbits(rng: Random) -> list[Shape]:
    """Return a sun with its planets."""
    x, y, tilt_degrees = 100, rng.randint(70, 100), rng.randint(-40, 40)
    shapes = [circle(x, y, rng.randint(16, 26), 0.85)]
    for radius in (48, 72, 98)[: rng.randint(2, 3)]:
        angles = [2 * math.pi * step / 48 for step in range(49)]
        ellipse = [(x + radius * math.cos(a), y + 0.36 * radius * math.sin(a)) for a in angles]
        planet = rng.choice(ellipse)
        orbit = [polyline(ellipse, 0.5, 2), circle(*planet, rng.randint(4, 9), 0.9)]
        shapes += rotate(orbit, tilt_degrees, (x, y))
    return shapes


def constellation(rng: Random) -> list[Shape]:
    """Return large stars, connected by a line from left to right, and small stars."""
    centres = [(rng.randint(16, 184), rng.randint(20, 170)) for _ in range(rng.randint(7, 10))]
    small_stars = [circle(rng.randint(4, 196), rng.randint(4, 190), rng.choice((0.8, 1.2)), 0.7) for _ in range(40)]
    large_stars = [circle(*centre, rng.choice((3, 4, 6)), 0.9) for centre in centres]
    return [*small_stars, polyline(sorted(centres), 0.45, 1.6), *large_stars]


def moon(rng: Random) -> list[Shape]:
    """Return a moon with a halo, and stars."""
    x, y, radius = rng.randint(55, 145), rng.randint(62, 100), rng.randint(30, 52)
    stars = [circle(rng.randint(6, 194), rng.randint(6, 180), rng.choice((1, 1.5, 2)), 0.6) for _ in range(26)]
    halo = circle(x, y, radius + rng.randint(10, 22), 0.14)
    return [*stars, halo, circle(x, y, radius, 0.8)]


def rays(rng: Random) -> list[Shape]:
    """Return beams from one point, with gaps of equal width. Half of the posters have a sun at the point."""
    x, y, offset, n_beams = rng.randint(40, 160), rng.randint(70, 160), rng.random(), rng.choice((9, 11, 13, 16))
    beams = []
    for beam in range(n_beams):
        angles = [2 * math.pi * (beam + offset + edge) / n_beams for edge in (0, 0.5)]  # 0.5 to 1 is a gap
        beams.append(polygon((x, y), *((x + RAY_LENGTH * math.cos(a), y + RAY_LENGTH * math.sin(a)) for a in angles)))
    return [*beams, circle(x, y, rng.randint(14, 34), 0.8)] if rng.random() < 0.5 else beams


def blinds(rng: Random) -> list[Shape]:
    """Return slanted bars, like light through a blind."""
    step = rng.randint(18, 32)
    bars = [box(-200, y, 600, step * 0.45) for y in range(-140, 400, step)]
    return rotate(bars, rng.choice((-58, -32, -20, 20, 32, 58)))


def rain(rng: Random) -> list[Shape]:
    """Return slanted strokes."""
    slant = rng.randint(-26, 26)
    starts = [(rng.randint(-20, 220), rng.randint(-20, 180)) for _ in range(60)]
    return [polyline([(x, y), (x + slant * 0.5, y + rng.randint(14, 40))], 0.45, 1.8) for x, y in starts]


def dots(rng: Random) -> list[Shape]:
    """Return a halftone of dots that grow towards one point."""
    step, centre_x, centre_y = rng.randint(20, 30), rng.randint(20, 180), rng.randint(30, 130)
    return [
        circle(x, y, max(1.5, step * 0.44 - math.hypot(x - centre_x, y - centre_y) / 20), 0.4)
        for y in range(step // 2, 230, step)
        for x in range(step // 2, WIDTH + step, step)
    ]


def bubbles(rng: Random) -> list[Shape]:
    """Return discs of several sizes."""
    radii = [rng.choice((8, 13, 20, 30, 44)) for _ in range(rng.randint(9, 14))]
    return [
        circle(rng.randint(5, 195), rng.randint(10, 190), radius, rng.choice((0.16, 0.24, 0.4))) for radius in radii
    ]


def checkers(rng: Random) -> list[Shape]:
    """Return a chequerboard, straight or rotated by 45°."""
    side, degrees = rng.choice((20, 25, 40)), rng.choice((0, 45))
    squares = [
        box(column * side, row * side, side, side)
        for row in range(-8, 16)
        for column in range(-8, 16)
        if (row + column) % 2
    ]
    return rotate(squares, degrees)


def waves(rng: Random) -> list[Shape]:
    """Return wavy lines."""
    amplitude, wavelength, gap = rng.randint(6, 15), rng.choice((40, 67, 100)), rng.randint(14, 24)
    shapes = []
    for y in range(24, 200, gap):
        shift = rng.randint(0, 100)
        points = [(x, y + amplitude * math.sin(2 * math.pi * (x + shift) / wavelength)) for x in range(-4, 206, 4)]
        shapes.append(polyline(points, 0.45))
    return shapes


def peaks(rng: Random) -> list[Shape]:
    """Return mountains and a sun."""
    shapes = [circle(rng.randint(30, 170), rng.randint(40, 80), rng.randint(16, 34), 0.8)]
    for base in (150, 185, 220):
        step = rng.choice((32, 40, 52))
        ridge = [(x, base - rng.randint(5, 75)) for x in range(-20, 241, step)]
        shapes.append(polygon((-20, HEIGHT), *ridge, (240, HEIGHT)))
    return shapes


def forest(rng: Random) -> list[Shape]:
    """Return rows of firs and a sun."""
    shapes = [circle(rng.randint(40, 160), rng.randint(40, 70), rng.randint(14, 26), 0.7)]
    for base, opacity in ((150, 0.16), (185, 0.22), (225, 0.28)):
        for x in range(-10, 220, rng.randint(18, 28)):
            height, half_width = rng.randint(60, 110), rng.randint(10, 17)
            corners = (x - half_width, base), (x, base - height), (x + half_width, base)
            shapes.append(polygon(*corners, opacity=opacity))
    return shapes


def skyline(rng: Random) -> list[Shape]:
    """Return houses with lit windows, and a moon."""
    shapes = [circle(rng.randint(40, 160), rng.randint(40, 70), rng.randint(14, 26), 0.7)]
    left = -6
    while left < WIDTH:
        width, top = rng.randint(18, 34), rng.randint(60, 150)
        house = box(left, top, width - 3, HEIGHT - top)
        windows = [
            box(left + x, top + y, 3, 5, 0.75)
            for y in range(8, 170 - top, 13)
            for x in range(5, width - 8, 8)
            if rng.random() < 0.45
        ]
        shapes += [house, *windows]
        left += width
    return shapes


def road(rng: Random) -> list[Shape]:
    """Return a road to the horizon, and a sun."""
    x, y = rng.randint(60, 140), rng.randint(60, 100)  # the end of the road
    centre_line = []
    for distance, length in ((12, 10), (34, 18), (66, 30), (112, 46)):  # from the horizon; nearer dashes are larger
        width = 2 + distance / 12
        centre_line.append(box(x - width / 2, y + distance, width, length, 0.8))
    sun = circle(x, y - 8, rng.randint(18, 36), 0.6)
    return [sun, polygon((x - 2, y), (x + 2, y), (210, HEIGHT), (-10, HEIGHT)), *centre_line]


def shards(rng: Random) -> list[Shape]:
    """Return splinters around one point."""
    x, y = rng.randint(70, 130), rng.randint(70, 120)
    angles = sorted(rng.uniform(0, 2 * math.pi) for _ in range(rng.randint(8, 12)))
    ends = [(x + RAY_LENGTH * math.cos(a), y + RAY_LENGTH * math.sin(a)) for a in angles]
    neighbours = zip(ends, [*ends[1:], ends[0]], strict=True)
    return [polygon((x, y), *pair, opacity=rng.choice((0.05, 0.14, 0.26, 0.4))) for pair in neighbours]


def spiral(rng: Random) -> list[Shape]:
    """Return an Archimedean spiral."""
    x, y = rng.randint(60, 140), rng.randint(60, 110)
    # a start angle of at most one turn, in radians, and the increase of the radius per radian
    start_angle, growth = rng.random() * 6.28, rng.uniform(2.2, 3.6)
    angles = [step / 6 for step in range(240)]
    points = [(x + growth * a * math.cos(a + start_angle), y + growth * a * math.sin(a + start_angle)) for a in angles]
    return [polyline(points, 0.5, 4)]


def hearts(rng: Random) -> list[Shape]:
    """Return a large heart and small hearts."""

    def heart(x: float, y: float, size: float, opacity: float) -> Shape:
        """Return a heart by a well-known parametric curve (mathworld.wolfram.com/HeartCurve.html)."""
        angles = [2 * math.pi * step / 90 for step in range(90)]
        x_offsets = [16 * math.sin(a) ** 3 for a in angles]
        y_offsets = [13 * math.cos(a) - 5 * math.cos(2 * a) - 2 * math.cos(3 * a) - math.cos(4 * a) for a in angles]
        corners = ((x + size * dx, y - size * dy) for dx, dy in zip(x_offsets, y_offsets, strict=True))
        return polygon(*corners, opacity=opacity)

    small = [heart(rng.randint(10, 190), rng.randint(15, 180), rng.uniform(0.5, 1.2), 0.25) for _ in range(9)]
    return [*small, heart(rng.randint(70, 130), rng.randint(75, 100), rng.uniform(2.4, 3.4), 0.75)]


def arches(rng: Random) -> list[Shape]:
    """Return concentric arches."""
    x, base, gap = rng.randint(50, 150), rng.randint(150, 190), rng.choice((14, 18, 22))
    angles = [math.pi * step / 24 for step in range(25)]
    shapes = []
    for radius in range(gap, 9 * gap, gap):
        half_circle = [(x - radius * math.cos(a), base - radius * math.sin(a)) for a in angles]
        pillars_and_arch = [(x - radius, HEIGHT), *half_circle, (x + radius, HEIGHT)]
        shapes.append(polyline(pillars_and_arch, 0.42, rng.choice((2, 5))))
    return shapes


def frames(rng: Random) -> list[Shape]:
    """Return nested frames, slightly rotated."""
    y, gap = rng.randint(80, 120), rng.randint(14, 20)
    shapes = []
    for half_width in range(16, 150, gap):
        left, right = 100 - half_width, 100 + half_width
        top, bottom = y - half_width * 0.7, y + half_width * 0.7
        corners = ((left, top), (right, top), (right, bottom), (left, bottom))
        shapes.append(Shape(corners, opacity=0.4, line_width=2.5))
    return rotate(shapes, rng.randint(-24, 24), (100, y))
