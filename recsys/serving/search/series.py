"""Series of films, read off their titles: which film is the third Harry Potter, and what "lotr" stands for.

Titles of a series have their beginning in common: up to a colon or a dash ("The Lord of the Rings: …"), up to "and the"
("Harry Potter and the …"), or up to a number ("Rocky II"). That beginning is the series' stem, in plain form.

Films that an evening has room for one of: parts of one series, by their titles and a few tags. Shapes: I items.

No data set says it, so this guesses, and more freely than the search does (`series`): it would rather keep two
strangers apart ("Casino", "Casino Royale") than let two parts through, as an evening has plenty of other films.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np

from recsys.data.dataset import Dataset, Film
from recsys.serving.search.normalize import (
    MAX_CHAR,
    initials,
    normalize,
    numbers_to_digits,
    sorted_between,
    strip_article,
)

MAX_GAP_YEARS = 12  # years between a film of the stem's own name and the next one; a remake of a classic has more
_SUBTITLE_SEPARATOR = re.compile(r":\s+|\s+[-–—]\s+")
_AND_THE = re.compile(r"^(\w+ \w+(?: \w+)?) and the ")
_BEFORE_NUMBER = re.compile(r"^(\D*\S) \d{1,2}$")


@dataclass
class Series:
    """The films of one stem."""

    named: dict[int, int | None] = field(default_factory=dict)  # row → the number in its title
    plain: list[int] = field(default_factory=list)  # rows of films that are called like the stem itself
    order: list[int] = field(default_factory=list)  # rows by year; empty where the numbers in titles say otherwise

    @property
    def rows(self) -> list[int]:
        """All its films."""
        return list(dict.fromkeys([*self.order, *self.named]))

    def numbered(self, number: int) -> int | None:
        """The film of that number: by its title, else by year; None where there is none."""
        titled = next((row for row, own in self.named.items() if own == number), None)
        return titled if titled is not None or not 0 < number <= len(self.order) else self.order[number - 1]


def find_series(names: Iterable[tuple[str, str, int]], years: Sequence[int] | np.ndarray) -> dict[str, Series]:
    """Stem → series of two films or more. names: as written, in figures, and the film's row; years: by row."""
    found: dict[str, Series] = {}
    whole: dict[str, list[int]] = {}
    for name, figures, row in names:
        figures = strip_article(figures)
        whole.setdefault(figures, []).append(row)
        for stem in _series_prefixes(name, figures):
            series = found.setdefault(stem, Series())
            if row not in series.named or series.named[row] is None:
                series.named[row] = _number_after(stem, figures)
    for stem, series in found.items():
        series.plain = [row for row in whole.get(stem, []) if row not in series.named]
    found = {stem: series for stem, series in found.items() if len(series.named) + bool(series.plain) > 1}
    ordered = sorted(whole)
    for stem, series in found.items():
        begun = itertools.chain(*(whole[name] for name in sorted_between(ordered, f"{stem} ", f"{stem} {MAX_CHAR}")))
        if set(begun) <= set(series.named):  # "Batman Returns" is of the series too, but not called so
            series.order = _order_by_year(series, years)
    return found


def series_by_initials(found: dict[str, Series]) -> dict[str, list[str]]:
    """Initials of two letters or more → the stems that have them: {"lotr": ["lord of the rings"]}."""
    stems: dict[str, list[str]] = {}
    for stem in found:
        if len(short := initials(stem)) > 1:
            stems.setdefault(short, []).append(stem)
    return stems


def title_initials(names: Iterable[tuple[str, str, int]]) -> dict[str, list[int]]:
    """Initials of three letters or more → rows of the films with such a name or subtitle; names as in `find`."""
    found: dict[str, list[int]] = {}
    for name, figures, row in names:
        parts = [figures, *(normalize(subtitle) for subtitle in _SUBTITLE_SEPARATOR.split(name)[1:])]
        for short in {initials(form) for part in parts for form in (part, strip_article(part)) if part.count(" ") > 1}:
            if len(short) > 2:
                found.setdefault(short, []).append(row)
    return found


def _series_prefixes(name: str, figures: str) -> set[str]:
    """The stems that a name may have; figures: the whole name in figures, without article."""
    heads = [name[: match.start()] for match in _SUBTITLE_SEPARATOR.finditer(name)]
    stems = {strip_article(numbers_to_digits(normalize(head))) for head in heads}
    stems |= {match[1] for stem in [*stems, figures] if (match := _BEFORE_NUMBER.match(stem))}
    if match := _AND_THE.match(figures):
        stems.add(match[1])
    return {stem for stem in stems if not stem[-1:].isdigit() and stem}


def _number_after(stem: str, figures: str) -> int | None:
    """The number that follows the stem in a name."""
    following = figures.removeprefix(stem).split()
    return int(following[0]) if following and following[0].isdigit() and len(following[0]) < 3 else None


def _order_by_year(series: Series, years: Sequence[int] | np.ndarray) -> list[int]:
    """The films by year; empty where a title's number is another one, or nobody knows which film is the first."""
    order = sorted(series.named, key=lambda row: (years[row], row))
    first = [row for row in series.plain if 0 <= years[order[0]] - years[row] <= MAX_GAP_YEARS]
    if len(first) > 1 or not all(years[row] for row in order):
        return []
    order = [*first, *order]
    return order if all(own in (None, order.index(row) + 1) for row, own in series.named.items()) else []


MIN_PREFIX_CHARS = 5  # letters of a whole title for longer titles that begin with it to count: "Rocky", but not "Up"
MAX_FIRST_WORD_FILMS = (
    10  # films whose titles begin with the same word: from so many on the word is a word, such as "American"
)
SERIES_TAGS = {  # tag → the series that it names; titles such as "Goldfinger" do not
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
_OTHER_TITLE = re.compile(r"\s*\([^()]*\)")  # "Seven (a.k.a. Se7en)"
_ARTICLE = re.compile(r"^(?:the|a|an)\s+")
_NUMBER = r"(?:[1-9]|1[0-2]|[ivx]+|one|two|three|four|five|six|seven|eight|nine|ten|first|second|third|final|last)"
_PART = re.compile(rf"[\s,:-]+(?:(?:the\s+)?(?:part|episode|chapter|volume|vol\.?)\s+)?{_NUMBER}[³²]?$|[²³]$")
_HERO_AND = re.compile(r"^(\S+(?:\s+\S+){1,2}?)\s+(?:and|&)\s+the\s")  # "Harry Potter and the Goblet of Fire"
_SUBTITLE = re.compile(r":\s|\s[-–]\s")

_indexes: WeakKeyDictionary[Dataset, tuple[list[frozenset[str]], dict[str, list[int]]]] = WeakKeyDictionary()
_lock = Lock()


def series_names(film: Film, tags: str = "") -> frozenset[str]:
    """What a film's series may be called: {"star wars", …} for "Star Wars: Episode IV - A New Hope".

    Two films that share a name are taken for parts of one series. A film of its own has its own title as a name.
    tags: separated by ", ", as in the catalogue.
    """
    whole = _ARTICLE.sub("", _OTHER_TITLE.sub("", film.title).casefold()).strip()
    found = {_without_number(whole), _without_number(_SUBTITLE.split(whole)[0])}
    if hero := _HERO_AND.match(whole):
        found.add(hero[1])
    found |= {SERIES_TAGS[tag] for tag in tags.casefold().split(", ") if tag in SERIES_TAGS}
    return frozenset(found)


def same_series(dataset: Dataset, item: int) -> np.ndarray:
    """The items (n,) int64 that seem to be of one series with an item, itself included."""
    with _lock:
        if dataset not in _indexes:
            _indexes[dataset] = _build_series_index(dataset)
        of, called = _indexes[dataset]
    parts = {item}
    for name in of[item]:
        parts.update(called.get(name, ()))
    return np.array(sorted(parts), np.int64)


def _build_series_index(dataset: Dataset) -> tuple[list[frozenset[str]], dict[str, list[int]]]:
    """The names of each item's series, and the items of each name; long titles have the names that they begin with."""
    movies = dataset.catalog.movies
    films = dataset.catalog.films[: len(movies)]
    own = [series_names(film, tags) for film, tags in zip(films, movies["tags"].fillna(""), strict=True)]
    first_words = Counter(word for one in own for word in {name.split()[0] for name in one if name})
    known = {
        name
        for one in own
        for name in one
        if len(name) >= MIN_PREFIX_CHARS and first_words[name] < MAX_FIRST_WORD_FILMS
    }
    of = [one | _prefix_names(one, known) for one in own]
    called: dict[str, list[int]] = {}
    for item, one in enumerate(of):
        for name in one:
            called.setdefault(name, []).append(item)
    return of, called


def _prefix_names(own: frozenset[str], known: set[str]) -> set[str]:
    """The known names with which a longer one begins ("dark knight rises": "dark knight"), or that it has in plural."""
    words = [name.split() for name in own]
    singular = {name.removesuffix("s") for name in own}
    return ({" ".join(one[:n]) for one in words for n in range(1, len(one))} | singular) & known


def _without_number(title: str) -> str:
    """ "rocky ii", "rocky, part two" → "rocky"; a title that is nothing but a number stays."""
    return _PART.sub("", title).strip() or title
