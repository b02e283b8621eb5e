"""Read dates in the formats of many countries. The order of day, month and year is inferred from the whole file."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal

from recsys.data.history_import.entries import Answers, DateQuestion

Order = Literal["ymd", "dmy", "mdy"]  # of year, month and day
Reader = Callable[[str], datetime | None]  # cell → date; None: no valid date
MAX_DATE_LENGTH = 60  # characters of a cell that are read
MIN_YEAR = 1890  # of the first films
# three numbers, perhaps after a few other characters: "'2024-01-31"
_NUMERIC_DATE = re.compile(r"^\D{0,3}(\d{1,4})\s*[-/. 年]\s*(\d{1,2})\s*[-/. 月]\s*(\d{1,4})(?!\d)")
_TIME = re.compile(r"(?<=[T ,])(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s?([AP])M\b)?", re.IGNORECASE)
_SECONDS = re.compile(r"^(\d{9}|\d{10}(\d{3})?)$")  # since 1970; 13 digits: with milliseconds
_COMPACT_DATE = re.compile(r"^((?:19|20)\d\d)(\d\d)(\d\d)$")  # 20240131
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_NAME = re.compile(rf"\b({'|'.join(_MONTHS)})[a-z]*\b", re.IGNORECASE)
_DOTTED_DATE = re.compile(r"^\s*\d{1,2}\.\s*\d{1,2}\.\s*\d{2,4}\b")  # with dots, the month is never the first number
# "24. 1. 23." is 23 January 2024. Without spaces, "24.12.23." is 24 December 2023, as written in Croatia
_KOREAN_DATE = re.compile(r"^\s*\d{2}\.\s\d{1,2}\.\s\d{1,2}\.")


def date_reader(cells: Sequence[str], answers: Answers) -> tuple[Reader, DateQuestion | None]:
    """Return a function that reads these cells, and a question to the visitor, None if the order is certain.

    The function returns None for a cell without a valid date. The order is uncertain if day first and month first give
    equally many valid dates, but different ones.
    """
    latest = now() + timedelta(days=2)  # a later date is invalid; two days allow for all time zones
    counts = Counter(cell for cell in cells if cell.strip())  # dates are often repeated
    dates: dict[Order, dict[str, datetime]] = {}
    for order in _orders(list(counts)):
        parsed = {cell: read(cell, order) for cell in counts}
        dates[order] = {cell: date for cell, date in parsed.items() if date and date <= latest}
    n_valid = {order: sum(counts[cell] for cell in valid) for order, valid in dates.items()}
    best_orders = [order for order, n in n_valid.items() if n == max(n_valid.values())]
    order, question = best_orders[0], None
    if best_orders == ["dmy", "mdy"]:
        question = _question(dates["dmy"], dates["mdy"], answers.prefers_month_first)
    if question:  # until the visitor answers it, the more likely order is used
        is_day_first = question.is_day_first_likely if answers.is_day_first is None else answers.is_day_first
        order = "dmy" if is_day_first else "mdy"
    return dates[order].get, question


def _orders(cells: list[str]) -> list[Order]:
    """Return the possible orders of the dates in these cells, the preferred order first."""
    if any(_KOREAN_DATE.match(cell) for cell in cells):
        return ["ymd"]
    return ["ymd", "dmy"] if any(_DOTTED_DATE.match(cell) for cell in cells) else ["ymd", "dmy", "mdy"]


def _question(
    day_first: dict[str, datetime], month_first: dict[str, datetime], prefers_month_first: bool
) -> DateQuestion | None:
    """Return a question about the order, or None if no date depends on it.

    `day_first` and `month_first` are cell → date in file order.
    """
    ambiguous = [cell for cell in day_first if cell in month_first and day_first[cell] != month_first[cell]]
    if not ambiguous:
        return None
    is_day_first_likely = _is_sorted(list(day_first.values()))
    if is_day_first_likely == _is_sorted(list(month_first.values())):  # the order of the lines does not decide
        is_day_first_likely = not prefers_month_first
    cell = ambiguous[0]
    return DateQuestion(cell.strip(), day_first[cell], month_first[cell], is_day_first_likely)


def _is_sorted(dates: list[datetime]) -> bool:
    """Return whether dates ascend or descend, as in the files of all services."""
    return dates in (sorted(dates), sorted(dates, reverse=True))


def now() -> datetime:
    """Return the current local time."""
    return datetime.now()


def read(cell: str, order: Order) -> datetime | None:
    """Read a date with or without time, or seconds since 1970. Return None for another text."""
    text = cell.strip()[:MAX_DATE_LENGTH]
    if _SECONDS.match(text):
        return datetime.fromtimestamp(int(text[:10]), UTC).replace(tzinfo=None)
    if match := _COMPACT_DATE.match(text):
        return _date(*map(int, match.groups()))
    if _MONTH_NAME.search(text):
        return _parse_with_month_name(text)
    if not (match := _NUMERIC_DATE.match(text)):
        return None
    parts = dict(zip(order, match.groups(), strict=True))
    year, month, day = parts["y"], parts["m"], parts["d"]
    if len(year) not in (2, 4) or len(month) > 2 or len(day) > 2:
        return None
    if order == "ymd" and len(year) == 2 and not _KOREAN_DATE.match(text):
        return None
    return _add_time(_date(_year(year), int(month), int(day)), text[match.end() :])


def _parse_with_month_name(text: str) -> datetime | None:
    """Read "19 Jun 2025", "June 19, 2025" or "Fri Jun 19 10:00:00 2025". Return None for another text."""
    rest = _TIME.sub(" ", text)
    month, numbers = _MONTH_NAME.search(rest), re.findall(r"\d+", rest)
    if not month or len(numbers) != 2:
        return None
    day, year = sorted(numbers, key=len)  # stable: if both have two digits, the first number is the day
    return _add_time(_date(_year(year), _MONTHS.index(month[1].lower()) + 1, int(day)), text)


def _year(text: str) -> int:
    """Read a year. Two digits are a year from 1969 to 2068, as in POSIX."""
    return int(text) if len(text) > 2 else int(text) + (1900 if int(text) >= 69 else 2000)


def _add_time(date: datetime | None, text: str) -> datetime | None:
    """Return a date with the time in a text, if the text has a valid time."""
    match = _TIME.search(text)
    if not (date and match):
        return date
    hour, minute, second = (int(part or 0) for part in match.groups()[:3])
    if match[4]:  # 12:30 AM is half an hour after midnight
        hour = hour % 12 + (12 if match[4] in "pP" else 0)
    return date.replace(hour=hour, minute=minute, second=second) if hour < 24 and minute < 60 and second < 60 else date


def _date(year: int, month: int, day: int) -> datetime | None:
    """Return a date, or None if it does not exist or is before MIN_YEAR."""
    try:
        return datetime(year, month, day) if year >= MIN_YEAR else None
    except ValueError:
        return None
