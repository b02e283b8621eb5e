"""Pictures to show friends and to put on slides: my films and what comes next, and a table. PNGs, made on this machine.

Posters are the drawn ones, so nothing is fetched and nobody's rights are touched.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from recsys.data.dataset import Film
from recsys.serving.canvas import PLAIN, Canvas, Fonts, Place, length, scaled, wrapped
from recsys.serving.films import poster_art, poster_image

WIDTH, MARGIN = 1200, 60
WATCHED, NEXT = 7, 5  # films in the two rows, at most
PAPER, INK, QUIET, TEAL = "#15171c", "#f4f2ee", "#a8a7a3", "#3fb3ab"

ROWS, COLUMNS = 60, 12  # of a table, at most
CELL = 380  # the widest column of a table
SHEET, PRINT, FAINT, LINE = "#fbfaf8", "#1d1d1f", "#5f5e5b", "#dcd9d3"

_OTHER_TITLE = re.compile(r"\s*\([^()]*\)$")  # in its own language, or "a.k.a."; there is little room


@dataclass(frozen=True)
class Words:
    """What the picture of films says beside titles."""

    watched: str  # above the films that were watched
    earlier: str  # beside that: how many more there are, "" for none
    next: str  # above the films that come next
    by: str  # who predicted them
    link: str  # where to see it, "" for nowhere


def png(watched: Sequence[Film], picks: Sequence[tuple[Film, str]], words: Words, fonts: Fonts = PLAIN) -> bytes:
    """The newest WATCHED films, oldest first, and below them the first NEXT picks, each with its figure ("4.2%")."""
    sheet = Canvas(fonts, WIDTH, 868 if words.link else 816, PAPER)
    sheet.text((MARGIN, 44), words.watched, 40, INK, title=True)
    if words.earlier:
        sheet.text((MARGIN + length(fonts, words.watched, 40, title=True) + 16, 60), words.earlier, 22, QUIET)
    for number, film in enumerate(watched[-WATCHED:]):
        _poster(sheet, (MARGIN + number * 159, 112), 126, film)
    sheet.arrow((MARGIN, 346), TEAL)
    sheet.text((MARGIN + 54, 330), words.next, 40, INK, title=True)
    for number, (film, figure) in enumerate(picks[:NEXT]):
        left = MARGIN + number * 220
        _poster(sheet, (left, 398), 200, film)
        sheet.badge((left + 10, 408), str(number + 1))
        sheet.text((left, 708), figure, 24, TEAL)
    sheet.text((MARGIN, 764), words.by, 22, INK)
    for number, row in enumerate(wrapped(fonts, words.link, WIDTH - 2 * MARGIN, 19, most=2)):
        sheet.text((MARGIN, 798 + 26 * number), row, 19, QUIET)
    return sheet.saved()


def _poster(sheet: Canvas, place: Place, width: float, film: Film) -> None:
    """A film's poster with its title and year."""
    height, inset, size = width * 1.5, width * 0.08, width * 0.115
    drawn = poster_art.poster(film.title, film.year, film.genres)
    sheet.paste(place, poster_image.image(drawn, scaled(width), scaled(height)), round_by=8)
    rows = sheet.wrapped(_OTHER_TITLE.sub("", film.title) or film.title, width - 2 * inset, size, most=4, title=True)
    below = place[1] + height - inset
    if film.year is not None:
        below -= size
        sheet.text((place[0] + inset, below), str(film.year), size * 0.82, "#dddddd")
        below -= size * 0.3
    for row in reversed(rows):
        below -= size * 1.16
        sheet.text((place[0] + inset, below), row, size, "#ffffff", title=True)


def fits(table: pd.DataFrame) -> bool:
    """Whether a table can be read as a picture: no more than ROWS and COLUMNS."""
    return 0 < len(table) <= ROWS and 0 < table.shape[1] <= COLUMNS


def table_png(table: pd.DataFrame, title: str, by: str, fonts: Fonts = PLAIN) -> bytes:
    """A table that `fits`, its headings above and numbers to the right; by: what stands below it."""
    cells = {str(name): [_cell(value) for value in table.iloc[:, number]] for number, name in enumerate(table.columns)}
    right = [pd.api.types.is_numeric_dtype(kind) for kind in table.dtypes]
    widths = [
        min(CELL, max(length(fonts, text, 20) for text in (name, *column))) + 28 for name, column in cells.items()
    ]
    width = max(sum(widths) + 80, length(fonts, title, 30, title=True) + 100)
    sheet = Canvas(fonts, width, 170 + 36 * len(table), SHEET)
    sheet.text((40, 28), title, 30, PRINT, title=True)
    left = 40.0
    for (name, column), room, to_the_right in zip(cells.items(), widths, right, strict=True):
        for number, text in enumerate((name, *column)):
            line = next(iter(wrapped(fonts, text, room - 27, 20, most=1)), "")
            indent = room - 28 - length(fonts, line, 20) if to_the_right else 0
            place = (left + indent, 84 + 36 * number)
            sheet.text(place, line, 20, PRINT if number else FAINT)
        left += room
    for number in range(len(table) + 1):
        sheet.rule((40, 115 + 36 * number), width - 80, LINE)
    sheet.text((40, 126 + 36 * len(table)), by, 17, FAINT)
    return sheet.saved()


def _cell(value: object) -> str:
    """A value as pages write it: four decimals, none of whole numbers, and nothing for what is missing."""
    if isinstance(value, float):
        if value != value:
            return ""
        if value.is_integer():
            return f"{value:,.0f}"
        return f"{value:,.4f}" if abs(value) >= 1e-4 else f"{value:.2g}"
    return "" if value is None or value is pd.NA or value is pd.NaT else str(value)
