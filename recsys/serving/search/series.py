"""Find series of films by their titles: for searches such as "harry potter 3", and for plans of an evening.

Titles of a series have a common prefix: up to a colon or a dash ("The Lord of the Rings: …"), up to "and the" ("Harry
Potter and the …"), or up to a number ("Rocky II"). The normalized prefix identifies the series.

The data has no series, so both functions guess. `find_series`, for searches, only accepts clear titles.
`items_of_series`, for plans, accepts more, because a plan must not have two films of a series. It even takes "Casino"
and "Casino Royale" for a series.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from recsys.data.dataset import Dataset, Film, cache_by_dataset
from recsys.serving.search.normalize import MAX_CHAR, comparable_name, initials, normalize, sorted_span, strip_article
from recsys.text.films import rows_by_value

_SUBTITLE_SEPARATOR = re.compile(r":\s+|\s+[-–—]\s+")

# for `find_series`
MAX_GAP_YEARS = 12  # from a film titled like the series ("Rocky") to the next film; with a longer gap, it is unrelated
_HERO_AND_THE = re.compile(r"^(\w+ \w+(?: \w+)?) and the ")  # of a normalized name: "harry potter and the …"
_BEFORE_NUMBER = re.compile(r"^(\D*\S) \d{1,2}$")

# for `items_of_series`
MIN_PREFIX_CHARS = 5  # a shorter title, such as "Up", does not count as the prefix of other titles
MIN_COMMON_WORD_FILMS = 10  # a word at the beginning of as many titles, such as "American", is not a series
SERIES_TAGS = {  # tag → series, for titles such as "Goldfinger"
    "007": "james bond",
    "007 (series)": "james bond",
    "james bond": "james bond",
    "batman": "batman",
    "harry potter": "harry potter",
    "indiana jones": "indiana jones",
    "marvel cinematic universe": "marvel",
    "mcu": "marvel",
    "star trek": "star trek",
    "star wars": "star wars",
    "x-men": "x-men",
}
_SERIES_TAG = re.compile(rf"^(?:{'|'.join(map(normalize, SERIES_TAGS))}) (?=.*[^\W\d])")
_TITLE_IN_BRACKETS = re.compile(r"\s*\([^()]*\)")  # " (a.k.a. Se7en)"
_ARTICLE = re.compile(r"^(?:the|a|an)\s+")
_NUMBER = r"(?:[1-9]|1[0-2]|[ivx]+|one|two|three|four|five|six|seven|eight|nine|ten|first|second|third|final|last)"
_PART_NUMBER = re.compile(rf"[\s,:-]+(?:(?:the\s+)?(?:part|episode|chapter|volume|vol\.?)\s+)?{_NUMBER}[³²]?$|[²³]$")
_HERO_IN_TITLE = re.compile(r"^(\S+(?:\s+\S+){1,2}?)\s+(?:and|&)\s+the\s")  # "indiana jones & the last crusade"


class ItemName(NamedTuple):
    """A name in the title of an item."""

    written: str  # as in the title
    normalized: str  # with numbers as digits
    row: int  # number of the item


@dataclass
class Series:
    """The films with a common title prefix. A row is a film number."""

    title_numbers: dict[int, int | None] = field(default_factory=dict)  # row → number after the prefix, or None
    rows_titled_like_series: list[int] = field(default_factory=list)  # rows of films whose title is only the prefix
    rows_by_year: list[int] = field(default_factory=list)  # empty if this order is not reliable

    @property
    def rows(self) -> list[int]:
        """The rows of all films."""
        return list(dict.fromkeys([*self.rows_by_year, *self.title_numbers]))

    def row_of_number(self, number: int) -> int | None:
        """Return the row of the film with this number in its title, else of the n-th film by year, else None."""
        for row, title_number in self.title_numbers.items():
            if title_number == number:
                return row
        return self.rows_by_year[number - 1] if 0 < number <= len(self.rows_by_year) else None


def find_series(names: Iterable[ItemName], years: Sequence[int] | np.ndarray) -> dict[str, Series]:
    """Return the series with at least two films, by prefix.

    Args:
        names: Names of films. A film can have several names.
        years: Year of each row; 0 if unknown.
    """
    candidates: dict[str, Series] = {}
    rows_by_name: dict[str, list[int]] = {}
    for name, normalized, row in names:
        normalized = strip_article(normalized)
        rows_by_name.setdefault(normalized, []).append(row)
        for prefix in _series_prefixes(name, normalized):
            series = candidates.setdefault(prefix, Series())
            if series.title_numbers.get(row) is None:
                series.title_numbers[row] = _number_after(prefix, normalized)
    result = {}
    sorted_names = sorted(rows_by_name)
    for prefix, series in candidates.items():
        series.rows_titled_like_series = [
            row for row in rows_by_name.get(prefix, []) if row not in series.title_numbers
        ]
        if not series.rows_titled_like_series and len(series.title_numbers) < 2:
            continue
        longer_names = sorted_names[sorted_span(sorted_names, f"{prefix} ", f"{prefix} {MAX_CHAR}")]
        rows_with_prefix = {row for name in longer_names for row in rows_by_name[name]}
        # "Batman Returns" has the prefix, but no number or subtitle, so the order by year would not be reliable
        if rows_with_prefix <= set(series.title_numbers):
            series.rows_by_year = _rows_by_year(series, years)
        result[prefix] = series
    return result


def series_by_initials(series: dict[str, Series]) -> dict[str, list[str]]:
    """Return the prefixes by their initials of at least two letters: {"lotr": ["lord of the rings"]}."""
    prefixes: dict[str, list[str]] = {}
    for prefix in series:
        if len(letters := initials(prefix)) > 1:
            prefixes.setdefault(letters, []).append(prefix)
    return prefixes


def subtitles(name: str) -> list[str]:
    """Return the parts of a name after a colon or a dash: "Avengers: Endgame" → ["Endgame"]."""
    return _SUBTITLE_SEPARATOR.split(name)[1:]


def strip_series_tag(query: str) -> str:
    """Return a normalized query without one of SERIES_TAGS at its beginning: "007 skyfall" → "skyfall"."""
    return _SERIES_TAG.sub("", query)


def title_initials(names: Iterable[ItemName]) -> dict[str, list[int]]:
    """Return the rows by the initials of names and subtitles of three words or more.

    Initials are with and without a leading article, and have at least three letters.
    """
    rows: dict[str, list[int]] = {}
    for name, normalized, row in names:
        parts = [normalized, *map(normalize, subtitles(name))]
        long_parts = [part for part in parts if part.count(" ") >= 2]
        for letters in {initials(form) for part in long_parts for form in (part, strip_article(part))}:
            if len(letters) >= 3:
                rows.setdefault(letters, []).append(row)
    return rows


def main_titles(name: str, normalized: str) -> set[str]:
    """Return the normalized parts of a name before a subtitle or "and the": {"lord of the rings"}.

    A part can end with a number. `normalized` is the normalized name with digits and without its article.
    """
    titles = {comparable_name(name[: match.start()]) for match in _SUBTITLE_SEPARATOR.finditer(name)}
    if match := _HERO_AND_THE.match(normalized):
        titles.add(match[1])
    return titles - {""}


def _series_prefixes(name: str, normalized: str) -> set[str]:
    """Return the possible series prefixes of a name. For the arguments, see `main_titles`."""
    titles = main_titles(name, normalized)
    prefixes = titles | {match[1] for text in [*titles, normalized] if (match := _BEFORE_NUMBER.match(text))}
    return {prefix for prefix in prefixes if not prefix[-1].isdigit()}


def _number_after(prefix: str, normalized: str) -> int | None:
    """Return the number of one or two digits after the prefix of a name, or None."""
    words = normalized.removeprefix(prefix).split()
    return int(words[0]) if words and words[0].isdigit() and len(words[0]) <= 2 else None


def _rows_by_year(series: Series, years: Sequence[int] | np.ndarray) -> list[int]:
    """Return `Series.rows_by_year`.

    It is empty if a year is unknown, if several films titled like the series can be the first film, or if a number in a
    title is not the position of the film.
    """
    order = sorted(series.title_numbers, key=lambda row: (years[row], row))
    first_films = [row for row in series.rows_titled_like_series if 0 <= years[order[0]] - years[row] <= MAX_GAP_YEARS]
    if len(first_films) > 1 or not all(years[row] for row in order):
        return []
    order = [*first_films, *order]
    is_consistent = all(number in (None, order.index(row) + 1) for row, number in series.title_numbers.items())
    return order if is_consistent else []


def series_names(film: Film, tags: str = "") -> frozenset[str]:
    """Return the possible names of a film's series: {"star wars", …} for "Star Wars: Episode IV - A New Hope".

    Two films with a common name are treated as parts of a series. A film without a series has its title as a name.
    `tags` are the film's tags, separated by ", ".
    """
    title = _ARTICLE.sub("", _TITLE_IN_BRACKETS.sub("", film.title).casefold()).strip()
    names = {_without_number(title), _without_number(_SUBTITLE_SEPARATOR.split(title)[0])}
    if match := _HERO_IN_TITLE.match(title):
        names.add(match[1])
    names |= {SERIES_TAGS[tag] for tag in tags.casefold().split(", ") if tag in SERIES_TAGS}
    return frozenset(names)


def items_of_series(dataset: Dataset, item: int) -> np.ndarray:
    """Return the items that seem to be in the same series as an item, the item included, (n,) int64."""
    names_of_item, items_of_name = _series_index(dataset)
    items = {item}.union(*(items_of_name[name] for name in names_of_item[item]))
    return np.array(sorted(items), np.int64)


@cache_by_dataset
def _series_index(dataset: Dataset) -> tuple[list[frozenset[str]], dict[str, list[int]]]:
    """Return the series names of each item, and the items of each name.

    If a name is the beginning of another film's name, the other film has both names.
    """
    movies = dataset.catalog.movies
    films = dataset.catalog.films[: len(movies)]
    item_names = [series_names(film, tags) for film, tags in zip(films, movies["tags"].fillna(""), strict=True)]
    first_word_counts: Counter[str] = Counter()  # word → number of films with a name that begins with this word
    for names in item_names:
        first_word_counts.update({name.split()[0] for name in names if name})
    long_names = {name for names in item_names for name in names if len(name) >= MIN_PREFIX_CHARS}
    prefixes = {name for name in long_names if first_word_counts[name] < MIN_COMMON_WORD_FILMS}  # 0 for several words
    names_of_item = [names | _prefix_names(names, prefixes) for names in item_names]
    return names_of_item, rows_by_value(names_of_item)


def _prefix_names(names: frozenset[str], prefixes: set[str]) -> set[str]:
    """Return the prefixes that are the beginning of a name or its singular.

    "dark knight" is the beginning of "dark knight rises", and "alien" is the singular of "aliens".
    """
    beginnings: set[str] = set()
    for name in names:
        words = name.split()
        beginnings |= {" ".join(words[:n]) for n in range(1, len(words))}
    singulars = {name.removesuffix("s") for name in names}
    return (beginnings | singulars) & prefixes


def _without_number(title: str) -> str:
    """Return a title without its part number: "rocky ii", "rocky, part two" → "rocky". A number as title stays."""
    return _PART_NUMBER.sub("", title).strip() or title
