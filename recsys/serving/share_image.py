"""Pictures to show friends and to put on slides: my films and what comes next, and a table. PNGs, made on this machine.

Posters are the drawn ones, so nothing is fetched and nobody's rights are touched.

Pictures made on this machine: text, lines and images on a sheet, saved as PNG.

Places and lengths are unscaled pixels; a picture is saved SCALE times as large.
"""

import io
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pandas as pd
from PIL import Image, ImageDraw, ImageFont

from recsys.data.dataset import Film
from recsys.serving import poster_art, poster_png

SCALE = 1.5
Font = ImageFont.FreeTypeFont | ImageFont.ImageFont
Point = tuple[float, float]  # from the left, from the top


@dataclass(frozen=True)
class Fonts:
    """Files of a variable font for titles and of one for the rest; without them Pillow's own, which has no accents."""

    title: Path | None = None
    text: Path | None = None


DEFAULT_FONTS = Fonts()


class Canvas:
    """A picture that is being drawn."""

    def __init__(self, fonts: Fonts, width: float, height: float, paper: str) -> None:
        self.image = Image.new("RGB", (scaled(width), scaled(height)), paper)
        self.draw = ImageDraw.Draw(self.image)
        self.fonts = fonts

    def text(self, place: Point, text: str, size: float, colour: str, title: bool = False) -> None:
        """One line, its upper left corner at a place."""
        at = (place[0] * SCALE, place[1] * SCALE)
        self.draw.text(at, supported_text(self.fonts, text, title), colour, font=_font(self._file(title), scaled(size)))

    def wrapped(self, text: str, width: float, size: float, most: int, title: bool = False) -> list[str]:
        """A text in no more than `most` lines, see `wrapped`."""
        return wrap_text(self.fonts, text, width, size, most, title)

    def badge(self, place: Point, text: str) -> None:
        """A number in a dark disc."""
        left, top = (edge * SCALE for edge in place)
        self.draw.ellipse((left, top, left + 30 * SCALE, top + 30 * SCALE), fill="#1b1c20")
        centre = (left + 15 * SCALE, top + 15 * SCALE)
        self.draw.text(centre, text, "#ffffff", font=_font(self.fonts.text, scaled(18)), anchor="mm")

    def arrow(self, place: Point, colour: str) -> None:
        """An arrow to the right."""
        x, y = place[0] * SCALE, (place[1] + 14) * SCALE
        self.draw.line((x, y, x + 34 * SCALE, y), colour, scaled(4))
        head = [(x + 38 * SCALE, y), (x + 24 * SCALE, y - 11 * SCALE), (x + 24 * SCALE, y + 11 * SCALE)]
        self.draw.polygon(head, fill=colour)

    def rule(self, place: Point, width: float, colour: str) -> None:
        """A thin horizontal line."""
        x, y = place[0] * SCALE, place[1] * SCALE
        self.draw.line((x, y, x + width * SCALE, y), colour, 2)

    def paste(self, place: Point, picture: Image.Image, round_by: float = 0.0) -> None:
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


def supported_text(fonts: Fonts, text: str, title: bool = False) -> str:
    """A text as the font can write it: Pillow's own has no accents, and "Amélie" becomes "Amelie"."""
    if fonts.title if title else fonts.text:
        return text
    plain = unicodedata.normalize("NFKD", text.replace("…", "...").replace("×", "x"))
    return plain.encode("ascii", "ignore").decode()


def text_width(fonts: Fonts, text: str, size: float, title: bool = False) -> float:
    """How wide a line of text is."""
    file = fonts.title if title else fonts.text
    return _font(file, scaled(size)).getlength(supported_text(fonts, text, title)) / SCALE


def wrap_text(fonts: Fonts, text: str, width: float, size: float, most: int, title: bool = False) -> list[str]:
    """A text in no more than `most` lines, broken at spaces, or within a word that is wider than a line.

    Where it is longer it ends in "…".
    """

    def fits(line: str) -> bool:
        return text_width(fonts, line, size, title) <= width

    rows = [""]
    for piece in _wrap_pieces(text, fits):
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


def _wrap_pieces(text: str, fits: Callable[[str], bool]) -> Iterator[str]:
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


WIDTH, MARGIN = 1200, 60
MAX_WATCHED, MAX_NEXT = 7, 5  # films in the two rows, at most
PAPER, INK, QUIET, TEAL = "#15171c", "#f4f2ee", "#a8a7a3", "#3fb3ab"

MAX_TABLE_ROWS, MAX_TABLE_COLUMNS = 60, 12  # of a table, at most
MAX_COLUMN_WIDTH = 380  # the widest column of a table
SHEET, PRINT, FAINT, LINE = "#fbfaf8", "#1d1d1f", "#5f5e5b", "#dcd9d3"

_OTHER_TITLE = re.compile(r"\s*\([^()]*\)$")  # in its own language, or "a.k.a."; there is little room


@dataclass(frozen=True)
class ShareTexts:
    """What the picture of films says beside titles."""

    watched: str  # above the films that were watched
    earlier: str  # beside that: how many more there are, "" for none
    next: str  # above the films that come next
    by: str  # who predicted them
    link: str  # where to see it, "" for nowhere


def share_png(
    watched: Sequence[Film], picks: Sequence[tuple[Film, str]], words: ShareTexts, fonts: Fonts = DEFAULT_FONTS
) -> bytes:
    """The newest WATCHED films, oldest first, and below them the first NEXT picks, each with its figure ("4.2%")."""
    sheet = Canvas(fonts, WIDTH, 868 if words.link else 816, PAPER)
    sheet.text((MARGIN, 44), words.watched, 40, INK, title=True)
    if words.earlier:
        sheet.text((MARGIN + text_width(fonts, words.watched, 40, title=True) + 16, 60), words.earlier, 22, QUIET)
    for number, film in enumerate(watched[-MAX_WATCHED:]):
        _poster(sheet, (MARGIN + number * 159, 112), 126, film)
    sheet.arrow((MARGIN, 346), TEAL)
    sheet.text((MARGIN + 54, 330), words.next, 40, INK, title=True)
    for number, (film, figure) in enumerate(picks[:MAX_NEXT]):
        left = MARGIN + number * 220
        _poster(sheet, (left, 398), 200, film)
        sheet.badge((left + 10, 408), str(number + 1))
        sheet.text((left, 708), figure, 24, TEAL)
    sheet.text((MARGIN, 764), words.by, 22, INK)
    for number, row in enumerate(wrap_text(fonts, words.link, WIDTH - 2 * MARGIN, 19, most=2)):
        sheet.text((MARGIN, 798 + 26 * number), row, 19, QUIET)
    return sheet.saved()


def _poster(sheet: Canvas, place: Point, width: float, film: Film) -> None:
    """A film's poster with its title and year."""
    height, inset, size = width * 1.5, width * 0.08, width * 0.115
    drawn = poster_art.poster(film.title, film.year, film.genres)
    sheet.paste(place, poster_png.poster_image(drawn, scaled(width), scaled(height)), round_by=8)
    rows = sheet.wrapped(_OTHER_TITLE.sub("", film.title) or film.title, width - 2 * inset, size, most=4, title=True)
    below = place[1] + height - inset
    if film.year is not None:
        below -= size
        sheet.text((place[0] + inset, below), str(film.year), size * 0.82, "#dddddd")
        below -= size * 0.3
    for row in reversed(rows):
        below -= size * 1.16
        sheet.text((place[0] + inset, below), row, size, "#ffffff", title=True)


def fits_image(table: pd.DataFrame) -> bool:
    """Whether a table can be read as a picture: no more than ROWS and COLUMNS."""
    return 0 < len(table) <= MAX_TABLE_ROWS and 0 < table.shape[1] <= MAX_TABLE_COLUMNS


def table_png(table: pd.DataFrame, title: str, by: str, fonts: Fonts = DEFAULT_FONTS) -> bytes:
    """A table that `fits`, its headings above and numbers to the right; by: what stands below it."""
    cells = {
        str(name): [_cell_text(value) for value in table.iloc[:, number]] for number, name in enumerate(table.columns)
    }
    right = [pd.api.types.is_numeric_dtype(kind) for kind in table.dtypes]
    widths = [
        min(MAX_COLUMN_WIDTH, max(text_width(fonts, text, 20) for text in (name, *column))) + 28
        for name, column in cells.items()
    ]
    width = max(sum(widths) + 80, text_width(fonts, title, 30, title=True) + 100)
    sheet = Canvas(fonts, width, 170 + 36 * len(table), SHEET)
    sheet.text((40, 28), title, 30, PRINT, title=True)
    left = 40.0
    for (name, column), room, to_the_right in zip(cells.items(), widths, right, strict=True):
        for number, text in enumerate((name, *column)):
            line = next(iter(wrap_text(fonts, text, room - 27, 20, most=1)), "")
            indent = room - 28 - text_width(fonts, line, 20) if to_the_right else 0
            place = (left + indent, 84 + 36 * number)
            sheet.text(place, line, 20, PRINT if number else FAINT)
        left += room
    for number in range(len(table) + 1):
        sheet.rule((40, 115 + 36 * number), width - 80, LINE)
    sheet.text((40, 126 + 36 * len(table)), by, 17, FAINT)
    return sheet.saved()


def _cell_text(value: object) -> str:
    """A value as pages write it: four decimals, none of whole numbers, and nothing for what is missing."""
    if isinstance(value, float):
        if value != value:
            return ""
        if value.is_integer():
            return f"{value:,.0f}"
        return f"{value:,.4f}" if abs(value) >= 1e-4 else f"{value:.2g}"
    return "" if value is None or value is pd.NA or value is pd.NaT else str(value)
