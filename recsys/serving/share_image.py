"""Draw images to share: a watch list with its recommendations, and tables. The result is a PNG.

The posters are generated (poster_art.py), so nothing is downloaded and there are no copyright issues. Positions and
lengths are in units of SCALE pixels.
"""

import io
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pandas as pd
from PIL import Image, ImageDraw, ImageFont

from recsys.data.dataset import Film
from recsys.serving import poster_art

SCALE = 1.5  # pixels of the PNG per unit of length
WIDTH = 1200
MARGIN = 60
MAX_WATCHED = 7  # films
MAX_NEXT = 5  # films
BACKGROUND = "#15171c"
TEXT = "#f4f2ee"
MUTED_TEXT = "#a8a7a3"
ACCENT = "#3fb3ab"
MAX_TABLE_ROWS = 60
MAX_TABLE_COLUMNS = 12
MAX_COLUMN_WIDTH = 380
COLUMN_GAP = 28
ROW_HEIGHT = 36
TABLE_MARGIN = 40
TABLE_BACKGROUND = "#fbfaf8"
TABLE_TEXT = "#1d1d1f"
TABLE_MUTED_TEXT = "#5f5e5b"
TABLE_LINE = "#dcd9d3"

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont
Point = tuple[float, float]  # (distance from the left, distance from the top)
_OTHER_TITLE = re.compile(r"\s*\([^()]*\)$")  # the original title or an "a.k.a.", which are omitted


@dataclass(frozen=True)
class Fonts:
    """Files of variable fonts for titles and for other text. None: the default font of Pillow, which is ASCII only."""

    title: Path | None = None
    text: Path | None = None


DEFAULT_FONTS = Fonts()


class Canvas:
    """An image with drawing functions."""

    def __init__(self, fonts: Fonts, width: float, height: float, background: str) -> None:
        self.image = Image.new("RGB", (scaled(width), scaled(height)), background)
        self.draw = ImageDraw.Draw(self.image)
        self.fonts = fonts

    def text(self, point: Point, text: str, size: float, colour: str, title: bool = False) -> None:
        """Draw a line of text with its upper left corner at a point."""
        corner = (point[0] * SCALE, point[1] * SCALE)
        self.draw.text(corner, supported_text(self.fonts, text, title), colour, _font(self.fonts, size, title))

    def badge(self, point: Point, text: str) -> None:
        """Draw a short text in a dark disc around a point."""
        x, y = point[0] * SCALE, point[1] * SCALE
        self.draw.circle((x, y), 15 * SCALE, "#1b1c20")
        self.draw.text((x, y), text, "#ffffff", _font(self.fonts, 18), anchor="mm")

    def arrow(self, point: Point, colour: str) -> None:
        """Draw an arrow to the right."""
        x, y = point[0] * SCALE, (point[1] + 14) * SCALE
        self.draw.line((x, y, x + 34 * SCALE, y), colour, scaled(4))
        head = [(x + 38 * SCALE, y), (x + 24 * SCALE, y - 11 * SCALE), (x + 24 * SCALE, y + 11 * SCALE)]
        self.draw.polygon(head, fill=colour)

    def rule(self, point: Point, width: float, colour: str) -> None:
        """Draw a thin horizontal line."""
        x, y = point[0] * SCALE, point[1] * SCALE
        self.draw.line((x, y, x + width * SCALE, y), colour, 2)

    def paste(self, point: Point, image: Image.Image, radius: float = 0.0) -> None:
        """Draw an image with round corners."""
        corners = Image.new("L", image.size, 0)
        ImageDraw.Draw(corners).rounded_rectangle((0, 0, *image.size), scaled(radius), fill=255)
        self.image.paste(image, (scaled(point[0]), scaled(point[1])), corners)

    def to_png(self) -> bytes:
        """Return the image as a PNG."""
        file = io.BytesIO()
        self.image.save(file, "PNG", optimize=True)
        return file.getvalue()


def scaled(length: float) -> int:
    """Return a length in pixels."""
    return round(length * SCALE)


def supported_text(fonts: Fonts, text: str, title: bool = False) -> str:
    """Return a text that the font supports: with the default font of Pillow, "Amélie" becomes "Amelie"."""
    path = fonts.title if title else fonts.text
    if path is not None:
        return text
    plain = unicodedata.normalize("NFKD", text.replace("…", "...").replace("×", "x"))
    return plain.encode("ascii", "ignore").decode()


def text_width(fonts: Fonts, text: str, size: float, title: bool = False) -> float:
    """Return the width of a line of text."""
    return _font(fonts, size, title).getlength(supported_text(fonts, text, title)) / SCALE


def wrap_text(fonts: Fonts, text: str, width: float, size: float, max_lines: int, title: bool = False) -> list[str]:
    """Break a text into lines of at most `width`, at blanks or within long words. A longer text is cut, with "…"."""

    def fits(line: str) -> bool:
        return text_width(fonts, line, size, title) <= width

    rows = [""]
    for word in text.split():
        for piece in [f"{word} "] if fits(word) else [*word, " "]:
            if rows[-1] and not fits(rows[-1] + piece.rstrip()):
                rows.append("")
            rows[-1] += piece
    rows = [row.rstrip() for row in rows if row.strip()]
    if len(rows) <= max_lines:
        return rows
    last = rows[max_lines - 1]
    while last and not fits(f"{last}…"):
        last = last[:-1]
    return [*rows[: max_lines - 1], f"{last.rstrip()}…"]


@lru_cache(maxsize=64)
def _font(fonts: Fonts, size: float, title: bool = False) -> Font:
    """Return a font. It is slightly bold, so that small text is legible on a dark background."""
    path = fonts.title if title else fonts.text
    if path is None:
        return ImageFont.load_default(scaled(size))
    font = ImageFont.truetype(path, scaled(size))
    font.set_variation_by_axes(
        [560.0 if axis["name"] == b"Weight" else float(axis["default"] or 0) for axis in font.get_variation_axes()]
    )
    return font


@dataclass(frozen=True)
class ShareTexts:
    """The texts of an image beside the titles."""

    watched: str  # heading of the watched films
    earlier: str  # note on older films that are not drawn, "" if there are none
    next: str  # heading of the recommendations
    by: str  # name of the recommender
    link: str  # URL of the list, "" for no link


def share_png(
    watched: Sequence[Film], picks: Sequence[tuple[Film, str]], texts: ShareTexts, fonts: Fonts = DEFAULT_FONTS
) -> bytes:
    """Draw the newest MAX_WATCHED of `watched` (oldest first) and the first MAX_NEXT of `picks`.

    Each pick has a caption, such as "4.2%".
    """
    sheet = Canvas(fonts, WIDTH, 868 if texts.link else 816, BACKGROUND)
    sheet.text((MARGIN, 44), texts.watched, 40, TEXT, title=True)
    if texts.earlier:
        left = MARGIN + text_width(fonts, texts.watched, 40, title=True) + 16
        sheet.text((left, 60), texts.earlier, 22, MUTED_TEXT)
    for number, film in enumerate(watched[-MAX_WATCHED:]):
        _draw_poster(sheet, (MARGIN + number * 159, 112), 126, film)
    sheet.arrow((MARGIN, 346), ACCENT)
    sheet.text((MARGIN + 54, 330), texts.next, 40, TEXT, title=True)
    for number, (film, caption) in enumerate(picks[:MAX_NEXT]):
        left = MARGIN + number * 220
        _draw_poster(sheet, (left, 398), 200, film)
        sheet.badge((left + 25, 423), str(number + 1))
        sheet.text((left, 708), caption, 24, ACCENT)
    sheet.text((MARGIN, 764), texts.by, 22, TEXT)
    for number, row in enumerate(wrap_text(fonts, texts.link, WIDTH - 2 * MARGIN, 19, max_lines=2)):
        sheet.text((MARGIN, 798 + 26 * number), row, 19, MUTED_TEXT)
    return sheet.to_png()


def _draw_poster(sheet: Canvas, point: Point, width: float, film: Film) -> None:
    """Draw a poster with title and year."""
    height, inset, size = width * 1.5, width * 0.08, width * 0.115
    poster = poster_art.poster(film.title, film.year, film.genres)
    sheet.paste(point, poster_art.poster_image(poster, scaled(width), scaled(height)), radius=8)
    title = _OTHER_TITLE.sub("", film.title) or film.title
    rows = wrap_text(sheet.fonts, title, width - 2 * inset, size, max_lines=4, title=True)
    bottom = point[1] + height - inset
    if film.year is not None:
        bottom -= size
        sheet.text((point[0] + inset, bottom), str(film.year), size * 0.82, "#dddddd")
        bottom -= size * 0.3
    for row in reversed(rows):
        bottom -= size * 1.16
        sheet.text((point[0] + inset, bottom), row, size, "#ffffff", title=True)


def fits_image(table: pd.DataFrame) -> bool:
    """Return whether a table is small enough for an image."""
    return 0 < len(table) <= MAX_TABLE_ROWS and 0 < table.shape[1] <= MAX_TABLE_COLUMNS


def table_png(table: pd.DataFrame, title: str, by: str, fonts: Fonts = DEFAULT_FONTS) -> bytes:
    """Draw a table that `fits_image`. Numbers are aligned right. `by` is drawn below the table."""
    columns = {str(name): list(map(_cell_text, table.iloc[:, number])) for number, name in enumerate(table.columns)}
    is_number = [pd.api.types.is_numeric_dtype(kind) for kind in table.dtypes]
    widths = [
        min(MAX_COLUMN_WIDTH, max(text_width(fonts, text, 20) for text in (name, *cells))) + COLUMN_GAP
        for name, cells in columns.items()
    ]
    width = max(sum(widths) + 2 * TABLE_MARGIN, text_width(fonts, title, 30, title=True) + 100)
    sheet = Canvas(fonts, width, 170 + ROW_HEIGHT * len(table), TABLE_BACKGROUND)
    sheet.text((TABLE_MARGIN, 28), title, 30, TABLE_TEXT, title=True)
    left: float = TABLE_MARGIN
    for (name, cells), column_width, align_right in zip(columns.items(), widths, is_number, strict=True):
        for number, text in enumerate((name, *cells)):
            cell_width = column_width - COLUMN_GAP
            line = "".join(wrap_text(fonts, text, cell_width + 1, 20, max_lines=1))
            indent = cell_width - text_width(fonts, line, 20) if align_right else 0
            sheet.text((left + indent, 84 + ROW_HEIGHT * number), line, 20, TABLE_TEXT if number else TABLE_MUTED_TEXT)
        left += column_width
    for number in range(len(table) + 1):
        sheet.rule((TABLE_MARGIN, 115 + ROW_HEIGHT * number), width - 2 * TABLE_MARGIN, TABLE_LINE)
    sheet.text((TABLE_MARGIN, 126 + ROW_HEIGHT * len(table)), by, 17, TABLE_MUTED_TEXT)
    return sheet.to_png()


def _cell_text(value: object) -> str:
    """Return a number with at most four decimals, another value as text, "" for a missing value."""
    if pd.isna(value):
        return ""
    if not isinstance(value, float):
        return str(value)
    if value.is_integer():
        return f"{value:,.0f}"
    return f"{value:,.4f}" if abs(value) >= 1e-4 else f"{value:.2g}"
