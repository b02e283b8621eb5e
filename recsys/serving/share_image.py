"""Draw PNG images that visitors can share: a watch list with recommendations, or a table.

The posters are drawn by `poster_art`, so nothing is downloaded and there are no copyright issues. Positions, lengths
and font sizes are in units of SCALE pixels.
"""

import io
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pandas as pd
from PIL import Image, ImageDraw, ImageFont

from recsys.data.dataset import Film
from recsys.serving import poster_art

SCALE = 1.5  # pixels of the PNG per unit of length
FONT_WEIGHT = 560.0  # slightly bold (regular is 400), so that small text is legible on a dark background

# image of a watch list
WIDTH = 1200
HEIGHT = 816
LINK_HEIGHT = 52  # added to HEIGHT if the image contains a link
MARGIN = 60
MAX_WATCHED = 7  # watched films
WATCHED_WIDTH = 126  # of the poster of a watched film
WATCHED_STEP = 159  # between the left edges of the posters of watched films
MAX_RECOMMENDED = 5  # recommended films
RECOMMENDED_WIDTH = 200  # of the poster of a recommended film
RECOMMENDED_STEP = 220  # between the left edges of the posters of recommended films
HEADING_SIZE = 40  # font size
NOTE_SIZE = 22  # font size
BACKGROUND = "#15171c"
TEXT = "#f4f2ee"
MUTED_TEXT = "#a8a7a3"
ACCENT = "#3fb3ab"

# image of a table
MAX_TABLE_ROWS = 60
MAX_TABLE_COLUMNS = 12
MAX_COLUMN_WIDTH = 380
COLUMN_GAP = 28
ROW_HEIGHT = 36
CELL_SIZE = 20  # font size
TABLE_MARGIN = 40
TABLE_BACKGROUND = "#fbfaf8"
TABLE_TEXT = "#1d1d1f"
TABLE_MUTED_TEXT = "#5f5e5b"
TABLE_LINE = "#dcd9d3"

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont
Point = tuple[float, float]  # (distance from the left, distance from the top)
_FINAL_BRACKETS = re.compile(r"\s*\([^()]*\)$")  # original title or "a.k.a." after a title, which posters omit


@dataclass(frozen=True)
class Fonts:
    """Files of variable fonts for titles and for other text. None: the default font of Pillow, which has only ASCII."""

    title: Path | None = None
    text: Path | None = None


DEFAULT_FONTS = Fonts()


class Canvas:
    """An image with drawing functions."""

    def __init__(self, fonts: Fonts, width: float, height: float, background: str) -> None:
        self.image = Image.new("RGB", (scaled(width), scaled(height)), background)
        self.draw = ImageDraw.Draw(self.image)
        self.fonts = fonts

    def text(self, point: Point, text: str, size: float, colour: str, is_title: bool = False) -> None:
        """Draw a line of text with its upper left corner at a point. `is_title` selects the font for titles."""
        corner = (point[0] * SCALE, point[1] * SCALE)
        self.draw.text(corner, supported_text(self.fonts, text, is_title), colour, _font(self.fonts, size, is_title))

    def badge(self, point: Point, text: str) -> None:
        """Draw a short text in a dark disc around a point."""
        x, y = point[0] * SCALE, point[1] * SCALE
        self.draw.circle((x, y), 15 * SCALE, "#1b1c20")
        self.draw.text((x, y), text, "#ffffff", _font(self.fonts, 18), anchor="mm")

    def arrow(self, point: Point, colour: str) -> None:
        """Draw an arrow to the right in a box, 28 high, with its upper left corner at a point."""
        x, y = point[0] * SCALE, (point[1] + 14) * SCALE
        self.draw.line((x, y, x + 34 * SCALE, y), colour, scaled(4))
        head = [(x + 38 * SCALE, y), (x + 24 * SCALE, y - 11 * SCALE), (x + 24 * SCALE, y + 11 * SCALE)]
        self.draw.polygon(head, fill=colour)

    def rule(self, point: Point, width: float, colour: str) -> None:
        """Draw a thin horizontal line with its left end at a point."""
        x, y = point[0] * SCALE, point[1] * SCALE
        self.draw.line((x, y, x + width * SCALE, y), colour, 2)

    def paste(self, point: Point, image: Image.Image, radius: float) -> None:
        """Draw an image with its upper left corner at a point. `radius` rounds the corners."""
        mask = Image.new("L", image.size, 0)
        ImageDraw.Draw(mask).rounded_rectangle((0, 0, *image.size), scaled(radius), fill=255)
        self.image.paste(image, (scaled(point[0]), scaled(point[1])), mask)

    def to_png(self) -> bytes:
        """Return the image as a PNG."""
        file = io.BytesIO()
        self.image.save(file, "PNG", optimize=True)
        return file.getvalue()


def scaled(length: float) -> int:
    """Convert a length to pixels."""
    return round(length * SCALE)


def supported_text(fonts: Fonts, text: str, is_title: bool = False) -> str:
    """Return a text in characters that the font has. For the default font of Pillow, "Amélie" becomes "Amelie"."""
    path = fonts.title if is_title else fonts.text
    if path is not None:
        return text
    plain = unicodedata.normalize("NFKD", text.replace("…", "...").replace("×", "x"))
    return plain.encode("ascii", "ignore").decode()


def text_width(fonts: Fonts, text: str, size: float, is_title: bool = False) -> float:
    """Return the width of a line of text."""
    return _font(fonts, size, is_title).getlength(supported_text(fonts, text, is_title)) / SCALE


def wrap_text(fonts: Fonts, text: str, width: float, size: float, max_lines: int, is_title: bool = False) -> list[str]:
    """Break a text into lines of at most `width`, at spaces or within long words. A cut text ends with "…"."""

    def fits(line: str) -> bool:
        return text_width(fonts, line, size, is_title) <= width

    lines = [""]
    for word in text.split():
        pieces = [f"{word} "] if fits(word) else [*word, " "]  # the letters of a word that is longer than a line
        for piece in pieces:
            if lines[-1] and not fits(lines[-1] + piece.rstrip()):
                lines.append("")
            lines[-1] += piece
    lines = [line.rstrip() for line in lines if line.strip()]
    if len(lines) <= max_lines:
        return lines
    last_line = lines[max_lines - 1]
    while last_line and not fits(f"{last_line}…"):
        last_line = last_line[:-1]
    return [*lines[: max_lines - 1], f"{last_line.rstrip()}…"]


@lru_cache(maxsize=64)
def _font(fonts: Fonts, size: float, is_title: bool = False) -> Font:
    """Return the font for titles or for other text, with FONT_WEIGHT unless it is the default font of Pillow."""
    path = fonts.title if is_title else fonts.text
    if path is None:
        return ImageFont.load_default(scaled(size))
    font = ImageFont.truetype(path, scaled(size))
    axes = font.get_variation_axes()
    values = [FONT_WEIGHT if axis["name"] == b"Weight" else float(axis["default"] or 0) for axis in axes]
    font.set_variation_by_axes(values)
    return font


@dataclass(frozen=True)
class ShareTexts:
    """The texts of an image, except for the titles of films."""

    watched_heading: str
    earlier_note: str  # on older watched films that are not drawn, "" if there are none
    next_heading: str  # of the recommended films
    recommender_line: str  # text with the name of the recommender
    link: str  # URL of the list, "" for no link


def share_png(
    watched: Sequence[Film], recommended: Sequence[tuple[Film, str]], texts: ShareTexts, fonts: Fonts = DEFAULT_FONTS
) -> bytes:
    """Return a PNG of the newest MAX_WATCHED watched films, and the best MAX_RECOMMENDED recommended films.

    Args:
        watched: The watched films, oldest first.
        recommended: The recommended films, best first, each with a caption such as "4.2%".
        texts: The other texts of the image.
        fonts: The fonts.
    """
    canvas = Canvas(fonts, WIDTH, HEIGHT + (LINK_HEIGHT if texts.link else 0), BACKGROUND)
    canvas.text((MARGIN, 44), texts.watched_heading, HEADING_SIZE, TEXT, is_title=True)
    if texts.earlier_note:
        left = MARGIN + text_width(fonts, texts.watched_heading, HEADING_SIZE, is_title=True) + 16
        canvas.text((left, 60), texts.earlier_note, NOTE_SIZE, MUTED_TEXT)
    for column, film in enumerate(watched[-MAX_WATCHED:]):
        _draw_poster(canvas, (MARGIN + column * WATCHED_STEP, 112), WATCHED_WIDTH, film)
    canvas.arrow((MARGIN, 346), ACCENT)
    canvas.text((MARGIN + 54, 330), texts.next_heading, HEADING_SIZE, TEXT, is_title=True)
    for column, (film, caption) in enumerate(recommended[:MAX_RECOMMENDED]):
        left = MARGIN + column * RECOMMENDED_STEP
        _draw_poster(canvas, (left, 398), RECOMMENDED_WIDTH, film)
        canvas.badge((left + 25, 423), str(column + 1))
        canvas.text((left, 708), caption, 24, ACCENT)
    canvas.text((MARGIN, 764), texts.recommender_line, NOTE_SIZE, TEXT)
    for row, line in enumerate(wrap_text(fonts, texts.link, WIDTH - 2 * MARGIN, 19, max_lines=2)):
        canvas.text((MARGIN, 798 + 26 * row), line, 19, MUTED_TEXT)
    return canvas.to_png()


def _draw_poster(canvas: Canvas, point: Point, width: float, film: Film) -> None:
    """Draw a poster with its upper left corner at a point, and title and year at its bottom."""
    height, inset, font_size = width * 1.5, width * 0.08, width * 0.115
    poster = poster_art.design_poster(film.title, film.year, film.genres)
    canvas.paste(point, poster_art.poster_image(poster, scaled(width), scaled(height)), radius=8)
    title = _FINAL_BRACKETS.sub("", film.title) or film.title
    lines = wrap_text(canvas.fonts, title, width - 2 * inset, font_size, max_lines=4, is_title=True)
    y = point[1] + height - inset  # the lines are drawn from the bottom up
    if film.year is not None:
        y -= font_size
        canvas.text((point[0] + inset, y), str(film.year), font_size * 0.82, "#dddddd")
        y -= font_size * 0.3
    for line in reversed(lines):
        y -= font_size * 1.16
        canvas.text((point[0] + inset, y), line, font_size, "#ffffff", is_title=True)


def fits_image(table: pd.DataFrame) -> bool:
    """Return whether a table is small enough for an image."""
    return 0 < len(table) <= MAX_TABLE_ROWS and 0 < table.shape[1] <= MAX_TABLE_COLUMNS


def table_png(
    table: pd.DataFrame,
    title: str,
    footer: str,
    fonts: Fonts = DEFAULT_FONTS,
    format_number: Callable[[float, str], str] = format,
) -> bytes:
    """Return a PNG of a table for which `fits_image` is true, with the title above and the footer below it.

    Numbers are aligned right. `format_number` formats a number by a format specification, like `format`.
    """
    columns = [  # for each column its name, then the texts of its cells
        [str(name), *(_cell_text(value, format_number) for value in table.iloc[:, column])]
        for column, name in enumerate(table.columns)
    ]
    widths = [min(MAX_COLUMN_WIDTH, max(text_width(fonts, text, CELL_SIZE) for text in texts)) for texts in columns]
    table_width = sum(width + COLUMN_GAP for width in widths)
    image_width = max(table_width + 2 * TABLE_MARGIN, text_width(fonts, title, 30, is_title=True) + 100)
    canvas = Canvas(fonts, image_width, 170 + ROW_HEIGHT * len(table), TABLE_BACKGROUND)
    canvas.text((TABLE_MARGIN, 28), title, 30, TABLE_TEXT, is_title=True)
    left: float = TABLE_MARGIN
    for texts, width, dtype in zip(columns, widths, table.dtypes, strict=True):
        for row, text in enumerate(texts):  # row 0 is the header
            lines = wrap_text(fonts, text, width + 1, CELL_SIZE, max_lines=1)  # + 1: tolerance for rounding
            line = lines[0] if lines else ""  # an empty cell has no lines
            indent = width - text_width(fonts, line, CELL_SIZE) if pd.api.types.is_numeric_dtype(dtype) else 0
            colour = TABLE_TEXT if row else TABLE_MUTED_TEXT
            canvas.text((left + indent, 84 + ROW_HEIGHT * row), line, CELL_SIZE, colour)
        left += width + COLUMN_GAP
    for row in range(len(table) + 1):
        canvas.rule((TABLE_MARGIN, 115 + ROW_HEIGHT * row), image_width - 2 * TABLE_MARGIN, TABLE_LINE)
    canvas.text((TABLE_MARGIN, 126 + ROW_HEIGHT * len(table)), footer, 17, TABLE_MUTED_TEXT)
    return canvas.to_png()


def _cell_text(value: object, format_number: Callable[[float, str], str] = format) -> str:
    """Format a float with four decimals or, below 0.0001, two significant digits. Returns "" for a missing value.

    A float that is a whole number has no decimals. Other values are converted by `str`.
    """
    if pd.isna(value):
        return ""
    if not isinstance(value, float):
        return str(value)
    if value.is_integer():
        return format_number(value, ",.0f")
    return format_number(value, ",.4f" if abs(value) >= 1e-4 else ".2g")
