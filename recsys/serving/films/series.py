"""Series of films, read off their titles: which film is the third Harry Potter, and what "lotr" stands for.

Titles of a series have their beginning in common: up to a colon or a dash ("The Lord of the Rings: …"), up to "and the"
("Harry Potter and the …"), or up to a number ("Rocky II"). That beginning is the series' stem, in plain form.
"""

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from recsys.serving.films.names import LAST_LETTER, bare, between, in_figures, initials, normalise

LONGEST_GAP = 12  # years between a film of the stem's own name and the next one; a remake of a classic has more
_BREAK = re.compile(r":\s+|\s+[-–—]\s+")
_AND_THE = re.compile(r"^(\w+ \w+(?: \w+)?) and the ")
_TO_NUMBER = re.compile(r"^(\D*\S) \d{1,2}$")


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


def find(names: Iterable[tuple[str, str, int]], years: Sequence[int] | np.ndarray) -> dict[str, Series]:
    """Stem → series of two films or more. names: as written, in figures, and the film's row; years: by row."""
    found: dict[str, Series] = {}
    whole: dict[str, list[int]] = {}
    for name, figures, row in names:
        figures = bare(figures)
        whole.setdefault(figures, []).append(row)
        for stem in _stems(name, figures):
            series = found.setdefault(stem, Series())
            if row not in series.named or series.named[row] is None:
                series.named[row] = _number_after(stem, figures)
    for stem, series in found.items():
        series.plain = [row for row in whole.get(stem, []) if row not in series.named]
    found = {stem: series for stem, series in found.items() if len(series.named) + bool(series.plain) > 1}
    ordered = sorted(whole)
    for stem, series in found.items():
        begun = itertools.chain(*(whole[name] for name in between(ordered, f"{stem} ", f"{stem} {LAST_LETTER}")))
        if set(begun) <= set(series.named):  # "Batman Returns" is of the series too, but not called so
            series.order = _in_order(series, years)
    return found


def by_initials(found: dict[str, Series]) -> dict[str, list[str]]:
    """Initials of two letters or more → the stems that have them: {"lotr": ["lord of the rings"]}."""
    stems: dict[str, list[str]] = {}
    for stem in found:
        if len(short := initials(stem)) > 1:
            stems.setdefault(short, []).append(stem)
    return stems


def initials_of_names(names: Iterable[tuple[str, str, int]]) -> dict[str, list[int]]:
    """Initials of three letters or more → rows of the films with such a name or subtitle; names as in `find`."""
    found: dict[str, list[int]] = {}
    for name, figures, row in names:
        parts = [figures, *(normalise(subtitle) for subtitle in _BREAK.split(name)[1:])]
        for short in {initials(form) for part in parts for form in (part, bare(part)) if part.count(" ") > 1}:
            if len(short) > 2:
                found.setdefault(short, []).append(row)
    return found


def _stems(name: str, figures: str) -> set[str]:
    """The stems that a name may have; figures: the whole name in figures, without article."""
    heads = [name[: match.start()] for match in _BREAK.finditer(name)]
    stems = {bare(in_figures(normalise(head))) for head in heads}
    stems |= {match[1] for stem in [*stems, figures] if (match := _TO_NUMBER.match(stem))}
    if match := _AND_THE.match(figures):
        stems.add(match[1])
    return {stem for stem in stems if not stem[-1:].isdigit() and stem}


def _number_after(stem: str, figures: str) -> int | None:
    """The number that follows the stem in a name."""
    following = figures.removeprefix(stem).split()
    return int(following[0]) if following and following[0].isdigit() and len(following[0]) < 3 else None


def _in_order(series: Series, years: Sequence[int] | np.ndarray) -> list[int]:
    """The films by year; empty where a title's number is another one, or nobody knows which film is the first."""
    order = sorted(series.named, key=lambda row: (years[row], row))
    first = [row for row in series.plain if 0 <= years[order[0]] - years[row] <= LONGEST_GAP]
    if len(first) > 1 or not all(years[row] for row in order):
        return []
    order = [*first, *order]
    return order if all(own in (None, order.index(row) + 1) for row, own in series.named.items()) else []
