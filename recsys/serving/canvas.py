"""Pictures made on this machine: text, lines and images on a sheet, saved as PNG.

Places and lengths are unscaled pixels; a picture is saved SCALE times as large.
"""

import io
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

SCALE = 1.5
Font = ImageFont.FreeTypeFont | ImageFont.ImageFont
Place = tuple[float, float]  # from the left, from the top


@dataclass(frozen=True)
class Fonts:
    """Files of a variable font for titles and of one for the rest; without them Pillow's own, which has no accents."""

    title: Path | None = None
    text: Path | None = None


PLAIN = Fonts()


class Canvas:
    """A picture that is being drawn."""

    def __init__(self, fonts: Fonts, width: float, height: float, paper: str) -> None:
        self.image = Image.new("RGB", (scaled(width), scaled(height)), paper)
        self.draw = ImageDraw.Draw(self.image)
        self.fonts = fonts

    def text(self, place: Place, text: str, size: float, colour: str, title: bool = False) -> None:
        """One line, its upper left corner at a place."""
        at = (place[0] * SCALE, place[1] * SCALE)
        self.draw.text(at, legible(self.fonts, text, title), colour, font=_font(self._file(title), scaled(size)))

    def wrapped(self, text: str, width: float, size: float, most: int, title: bool = False) -> list[str]:
        """A text in no more than `most` lines, see `wrapped`."""
        return wrapped(self.fonts, text, width, size, most, title)

    def badge(self, place: Place, text: str) -> None:
        """A number in a dark disc."""
        left, top = (edge * SCALE for edge in place)
        self.draw.ellipse((left, top, left + 30 * SCALE, top + 30 * SCALE), fill="#1b1c20")
        centre = (left + 15 * SCALE, top + 15 * SCALE)
        self.draw.text(centre, text, "#ffffff", font=_font(self.fonts.text, scaled(18)), anchor="mm")

    def arrow(self, place: Place, colour: str) -> None:
        """An arrow to the right."""
        x, y = place[0] * SCALE, (place[1] + 14) * SCALE
        self.draw.line((x, y, x + 34 * SCALE, y), colour, scaled(4))
        head = [(x + 38 * SCALE, y), (x + 24 * SCALE, y - 11 * SCALE), (x + 24 * SCALE, y + 11 * SCALE)]
        self.draw.polygon(head, fill=colour)

    def rule(self, place: Place, width: float, colour: str) -> None:
        """A thin horizontal line."""
        x, y = place[0] * SCALE, place[1] * SCALE
        self.draw.line((x, y, x + width * SCALE, y), colour, 2)

    def paste(self, place: Place, picture: Image.Image, round_by: float = 0.0) -> None:
        """An image, with round corners."""
        corners = Image.new("L", picture.size, 0)
        ImageDraw.Draw(corners).rounded_rectangle((0, 0, *picture.size), scaled(round_by), fill=255)
        self.image.paste(picture, (scaled(place[0]), scaled(place[1])), corners)

    def saved(self) -> bytes:
        """The picture as a PNG."""
        file = io.BytesIO()
        self.image.save(file, "PNG", optimize=True)
        return file.getvalue()

    def _file(self, title: bool) -> Path | None:
        return self.fonts.title if title else self.fonts.text


def scaled(length: float) -> int:
    """A length in pixels of the file."""
    return round(length * SCALE)


def legible(fonts: Fonts, text: str, title: bool = False) -> str:
    """A text as the font can write it: Pillow's own has no accents, and "Amélie" becomes "Amelie"."""
    if fonts.title if title else fonts.text:
        return text
    plain = unicodedata.normalize("NFKD", text.replace("…", "...").replace("×", "x"))
    return plain.encode("ascii", "ignore").decode()


def length(fonts: Fonts, text: str, size: float, title: bool = False) -> float:
    """How wide a line of text is."""
    file = fonts.title if title else fonts.text
    return _font(file, scaled(size)).getlength(legible(fonts, text, title)) / SCALE


def wrapped(fonts: Fonts, text: str, width: float, size: float, most: int, title: bool = False) -> list[str]:
    """A text in no more than `most` lines, broken at spaces, or within a word that is wider than a line.

    Where it is longer it ends in "…".
    """

    def fits(line: str) -> bool:
        return length(fonts, line, size, title) <= width

    rows = [""]
    for piece in _pieces(text, fits):
        if rows[-1] and not fits(rows[-1] + piece.rstrip()):
            rows.append("")
        rows[-1] += piece
    rows = [row.rstrip() for row in rows if row.strip()]
    if len(rows) <= most:
        return rows
    last = rows[most - 1]
    while last and not fits(f"{last}…"):
        last = last[:-1]
    return [*rows[: most - 1], f"{last.rstrip()}…"]


def _pieces(text: str, fits: Callable[[str], bool]) -> Iterator[str]:
    """The words of a text, each with the space after it; those that do not fit a line letter by letter."""
    for word in text.split():
        if fits(word):
            yield f"{word} "
        else:
            yield from word
            yield " "


@lru_cache(maxsize=64)
def _font(path: Path | None, size: int) -> Font:
    """A font of some pixels, somewhat bolder than its normal weight, as it is white on dark or small."""
    if path is None:
        return ImageFont.load_default(size)
    font = ImageFont.truetype(path, size)
    font.set_variation_by_axes(
        [560.0 if axis["name"] == b"Weight" else float(axis["default"] or 0) for axis in font.get_variation_axes()]
    )
    return font
