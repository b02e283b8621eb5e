"""Dates as accounts of all countries write them. The order of day, month and year is found over a whole file."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from recsys.data.history_import.entries import Answers, DateQuestion

Order = str  # "ymd", "dmy" or "mdy"
_NUMBERS = re.compile(r"^\D{0,3}(\d{1,4})\s*[-/. 年]\s*(\d{1,2})\s*[-/. 月]\s*(\d{1,4})(?!\d)")
_TIME = re.compile(r"(?<=[T ,])(\d{1,2}):(\d{2})(?::(\d{2}))?")
_SECONDS, _COMPACT = re.compile(r"^(\d{9,10})(\d{3})?$"), re.compile(r"^((?:19|20)\d\d)(\d\d)(\d\d)$")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMED = re.compile(rf"\b({'|'.join(_MONTHS)})[a-z]*\b", re.IGNORECASE)
_DOTTED = re.compile(r"^\s*\d{1,2}\.\s*\d{1,2}\.\s*\d{2,4}\b")  # nobody writes the month first with dots
_KOREAN = re.compile(r"^\s*\d{2}\.\s?\d{1,2}\.\s?\d{1,2}\.")  # "24. 1. 23." is the 23rd of January 2024

Reader = Callable[[str], datetime | None]


def reader(cells: Sequence[str], answers: Answers, now: datetime | None = None) -> tuple[Reader, DateQuestion | None]:
    """What reads the cells of a column, and a question where two orders fit all of them alike.

    answers: also to that question. A date after `now` (today) is no date on which a film was watched.
    """
    until = (now or datetime.now()) + timedelta(days=2)
    counts = Counter(cell for cell in cells if cell.strip())  # days return: each is read once
    written = list(counts)
    fits = {order: {cell: _until(read(cell, order), until) for cell in written} for order in _orders(written)}
    n_read = {order: sum(counts[cell] for cell in written if dates[cell]) for order, dates in fits.items()}
    best = [order for order, n in n_read.items() if n == max(n_read.values())]
    unclear = {"dmy", "mdy"} <= set(best) and "ymd" not in best
    question = _question(fits["dmy"], fits["mdy"], answers.month_first) if unclear else None
    order = best[0]
    if question:
        order = "dmy" if (question.likely if answers.day_first is None else answers.day_first) else "mdy"
    return fits[order].get, question


def _orders(cells: Sequence[str]) -> list[Order]:
    """The orders that are thinkable for a column."""
    if any(_KOREAN.match(cell) for cell in cells):
        return ["ymd"]
    return ["ymd", "dmy"] if any(_DOTTED.match(cell) for cell in cells) else ["ymd", "dmy", "mdy"]


def _question(
    days: dict[str, datetime | None], months: dict[str, datetime | None], month_first: bool
) -> DateQuestion | None:
    """None where both orders read every date alike; both are by cell, in the order of the lines."""
    for cell, day in days.items():
        month = months[cell]
        if day and month and day != month:
            is_sorted = _goes_one_way(days.values()), _goes_one_way(months.values())
            return DateQuestion(cell.strip(), day, month, is_sorted[0] if len({*is_sorted}) > 1 else not month_first)
    return None


def _goes_one_way(dates: Iterable[datetime | None]) -> bool:
    """Whether a list is sorted by these dates, as those of all services are."""
    steps = [(one - other).total_seconds() for one, other in pairwise(filter(None, dates))]
    return all(step >= 0 for step in steps) or all(step <= 0 for step in steps)


def _until(date: datetime | None, until: datetime) -> datetime | None:
    return date if date and date <= until else None


def read(cell: str, order: Order) -> datetime | None:
    """A date in that order, with its time where there is one; a number of seconds since 1970; None for no date."""
    text = cell.strip()[:60]
    if match := _SECONDS.match(text):
        return datetime.fromtimestamp(int(match[1]), UTC).replace(tzinfo=None)
    if match := _COMPACT.match(text):
        return _date(*map(int, match.groups()))
    if _NAMED.search(text):
        return _with_name(text)
    if not (match := _NUMBERS.match(text)):
        return None
    parts = dict(zip(order, match.groups(), strict=True))
    if len(parts["y"]) not in (2, 4) or max(len(parts["m"]), len(parts["d"])) > 2:
        return None
    if order == "ymd" and len(parts["y"]) == 2 and not _KOREAN.match(text):
        return None
    return _with_time(_date(_century(parts["y"]), int(parts["m"]), int(parts["d"])), text[match.end() :])


def _with_name(text: str) -> datetime | None:
    """ "19 Jun 2025", "June 19, 2025", "Fri Jun 19 10:00:00 2025"."""
    rest = _TIME.sub(" ", text)
    found = _NAMED.search(rest)
    numbers = re.findall(r"\d+", rest)
    if not found or len(numbers) != 2:
        return None
    day, year = sorted(numbers, key=len)
    return _with_time(_date(_century(year), _MONTHS.index(found[1].lower()) + 1, int(day)), text)


def _century(year: str) -> int:
    """Two digits as POSIX has them: 69…99 are of the last century."""
    return int(year) if len(year) > 2 else int(year) + (1900 if int(year) >= 69 else 2000)


def _with_time(date: datetime | None, text: str) -> datetime | None:
    match = _TIME.search(text)
    if not (date and match):
        return date
    hour, minute, second = (int(part or 0) for part in match.groups())
    return date.replace(hour=hour, minute=minute, second=second) if hour < 24 and minute < 60 and second < 60 else date


def _date(year: int, month: int, day: int) -> datetime | None:
    try:
        return datetime(year, month, day) if year >= 1890 else None
    except ValueError:
        return None
