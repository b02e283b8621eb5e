"""Art for films without a poster: drawn from genre, title and year, the same on every machine, without a network.

Colour and motif follow the genres, so that genres differ by more than their colour; title and year vary the motif.
"""

import base64
import math
import random
import zlib
from collections.abc import Callable
from functools import lru_cache

WIDTH, HEIGHT = 200, 300  # the 2:3 of a film poster
Motif = Callable[[random.Random], str]


def _rings(rng: random.Random) -> str:
    x, y, gap = rng.randint(40, 160), rng.randint(50, 130), rng.randint(14, 22)
    return "".join(f'<circle cx="{x}" cy="{y}" r="{gap * ring}" fill="none"/>' for ring in range(1, 9))


def _rays(rng: random.Random) -> str:
    x, y, turn, count = rng.randint(50, 150), rng.randint(110, 160), rng.random(), rng.choice((9, 11, 13))
    wedges = []
    for wedge in range(count):
        ends = [2 * math.pi * (wedge + turn + side) / count for side in (0, 0.5)]
        points = " ".join(f"{x + 330 * math.cos(end):.0f},{y + 330 * math.sin(end):.0f}" for end in ends)
        wedges.append(f'<polygon points="{x},{y} {points}" stroke="none"/>')
    return "".join(wedges)


def _blinds(rng: random.Random) -> str:
    angle, step = rng.choice((-32, -24, 24, 32)), rng.randint(20, 30)
    bars = (
        f'<rect x="-200" y="{y}" width="600" height="{step * 0.45:.0f}" stroke="none"/>' for y in range(-100, 400, step)
    )
    return f'<g transform="rotate({angle} 100 100)">{"".join(bars)}</g>'


def _dots(rng: random.Random) -> str:
    step, peak = rng.randint(22, 28), rng.randint(40, 160)
    centres = ((x, y) for y in range(step // 2, 220, step) for x in range(step // 2, WIDTH + step, step))
    return "".join(
        f'<circle cx="{x}" cy="{y}" r="{max(1.5, step * 0.42 - math.hypot(x - peak, y - 80) / 22):.1f}" stroke="none"/>'
        for x, y in centres
    )


def _waves(rng: random.Random) -> str:
    lift, long = rng.randint(14, 30), rng.choice((50, 67, 100))
    return "".join(
        f'<path d="M{-shift} {y}q{long / 2} {-lift} {long} 0{f"t{long} 0" * 8}" fill="none"/>'
        for y, shift in zip(range(30, 200, 20), (rng.randint(0, 100) for _ in range(9)), strict=True)
    )


def _peaks(rng: random.Random) -> str:
    sun = f'<circle cx="{rng.randint(40, 160)}" cy="{rng.randint(50, 80)}" r="{rng.randint(18, 30)}" stroke="none"/>'
    ridges = []
    for base in (150, 185, 220):
        heights = [(x, base - rng.randint(10, 70)) for x in range(-20, 241, rng.choice((40, 52)))]
        ridges.append(
            f'<polygon points="-20,{HEIGHT} {" ".join(f"{x},{y}" for x, y in heights)} 240,{HEIGHT}" stroke="none"/>'
        )
    return sun + "".join(ridges)


def _frames(rng: random.Random) -> str:
    turn = rng.randint(-14, 14)
    frames = (
        f'<rect x="{100 - side}" y="{100 - side * 0.7:.0f}" width="{2 * side}" height="{1.4 * side:.0f}" fill="none"/>'
        for side in range(16, 150, rng.randint(14, 20))
    )
    return f'<g transform="rotate({turn} 100 100)">{"".join(frames)}</g>'


def _moon(rng: random.Random) -> str:
    x, y, r = rng.randint(60, 140), rng.randint(70, 100), rng.randint(36, 52)
    stars = (
        f'<circle cx="{rng.randint(6, 194)}" cy="{rng.randint(6, 190)}" r="{rng.choice((1, 1.5, 2))}"/>'
        for _ in range(26)
    )
    return f'<circle cx="{x}" cy="{y}" r="{r}"/><circle cx="{x}" cy="{y}" r="{r + 14}" fill="none"/>{"".join(stars)}'


# Genre → colour and motif, the most distinctive genre first: an animated comedy looks like an animated film.
STYLES: dict[str, tuple[str, Motif]] = {
    "Film-Noir": ("#43464f", _blinds),
    "Western": ("#a55f36", _peaks),
    "Documentary": ("#61785a", _frames),
    "Animation": ("#2f8f86", _dots),
    "Musical": ("#b0508c", _waves),
    "Horror": ("#852230", _moon),
    "Sci-Fi": ("#1d7d96", _rings),
    "War": ("#6b6a3d", _rays),
    "Mystery": ("#3f4f8f", _moon),
    "Fantasy": ("#5568bd", _peaks),
    "Children": ("#cf6f93", _dots),
    "Crime": ("#4d5570", _blinds),
    "Romance": ("#bd5569", _waves),
    "Adventure": ("#b8742a", _peaks),
    "Action": ("#c2452d", _rays),
    "Thriller": ("#3b5d70", _blinds),
    "Comedy": ("#c9952b", _dots),
    "Drama": ("#7a5791", _waves),
    "IMAX": ("#2b6cb0", _frames),
}
UNKNOWN: tuple[str, Motif] = ("#66676b", _frames)


def _styles(genres: str) -> list[tuple[str, Motif]]:
    """The styles of a film's genres, the most distinctive first; older sets write "Children's"."""
    own = genres.replace("Children's", "Children").split("|")
    return [style for genre, style in STYLES.items() if genre in own] or [UNKNOWN]


def art(title: str, year: int | None, genres: str) -> str:
    """An SVG of 200 × 300 without words; its lower half is dark enough for white text (WCAG AA).

    genres: "Action|Sci-Fi", as in the catalogue; "" is drawn in grey.
    """
    (colour, motif), *others = _styles(genres)
    second = others[0][0] if others else colour
    rng = random.Random(zlib.crc32(f"{title} {year}".encode()))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"><defs>'
        f'<linearGradient id="a" x2="1" y2="1"><stop stop-color="{colour}"/><stop offset="1" stop-color="{second}"/>'
        '</linearGradient><linearGradient id="b" x2="0" y2="1"><stop offset=".22" stop-opacity="0"/>'
        '<stop offset=".58" stop-opacity=".58"/><stop offset="1" stop-opacity=".74"/></linearGradient></defs>'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="url(#a)"/>'
        f'<g fill="#fff" fill-opacity=".2" stroke="#fff" stroke-opacity=".34" stroke-width="2.5">{motif(rng)}</g>'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="url(#b)"/></svg>'
    )


@lru_cache(maxsize=4096)
def art_url(title: str, year: int | None, genres: str) -> str:
    """`art` as an address that an <img> can hold."""
    return "data:image/svg+xml;base64," + base64.b64encode(art(title, year, genres).encode()).decode()
