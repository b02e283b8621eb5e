"""Which film of a data set a line of a history means: by its numbers first, then by title and year.

What is not sure is not decided here: it comes with up to MOST films for a person to choose from. The work grows with
the number of lines, not with lines times films, but for titles that no film has: those are compared with all.
Shapes: F films, N names, Q lines.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from rapidfuzz import fuzz, process

from recsys.data.dataset import Dataset
from recsys.data.history_import.entries import Entry
from recsys.errors import N_
from recsys.serving.search.normalize import normalize, numbers_to_digits, sorted_span, strip_article, title_names

MAX_CANDIDATES = 5  # films to choose from
BATCH_TITLES = 64  # titles that are compared with all names at a time: 8 MB for 100,000 names
MIN_SIMILARITY, HIGH_SIMILARITY = 80, 92  # percent of letters in common: to be offered, and to be offered first
MIN_SIMILARITY_WITHOUT_YEAR = 88  # where no year speaks for it
MIN_POPULARITY_RATIO = 10  # times as often as its namesakes, to be offered first where no year is known
MAX_YEAR_GAP = 3  # years by which a namesake may differ to be offered
OTHER_ID_SCHEME = "ml-100k"  # the one set whose films have other numbers than the site's


class MatchMethod(Enum):
    """How a film was found."""

    NUMBER = N_("by its number")
    TITLE_YEAR = N_("by title and year")
    NEXT_YEAR = N_("by title; the year differs by one")
    TITLE = N_("by title alone")
    UNSURE = N_("not sure")
    SERIES = N_("a series, not a film")
    NOT_FOUND = N_("not in this data set")


CONFIDENT = (MatchMethod.NUMBER, MatchMethod.TITLE_YEAR, MatchMethod.NEXT_YEAR, MatchMethod.TITLE)


@dataclass(frozen=True)
class Match:
    """What a line may mean."""

    how: MatchMethod
    films: tuple[int, ...] = ()  # as `Catalog.films` numbers them: one that is sure, or those to choose from
    likely: bool = False  # whether the first of those to choose from is probably meant

    @property
    def sure(self) -> bool:
        """Whether nobody has to be asked."""
        return self.how in CONFIDENT


class Matcher:
    """Finds the films of a data set."""

    def __init__(self, dataset: Dataset) -> None:
        catalog = dataset.catalog
        self._films = catalog.films  # F
        self._counts = np.zeros(len(self._films), np.int64)  # (F,) 0 for those that training left out
        self._counts[: dataset.n_items] = dataset.counts
        whole = catalog.complete.movies
        self._imdb = {number: film for film, number in enumerate(whole["imdb_id"].tolist()) if number}
        self._imdb_of = {film: number for number, film in self._imdb.items()}
        known = whole["tmdb_id"].notna().to_numpy()
        rows = np.flatnonzero(known).tolist()
        self._tmdb = dict(zip(whole["tmdb_id"][known].astype(int).tolist(), rows, strict=True))
        self._site = catalog.number_of if dataset.name != OTHER_ID_SCHEME else {}
        self._index_names()

    def _index_names(self) -> None:
        """Names in plain form, and the films that are called so."""
        called = [
            (comparable_name(name), film)
            for film, (_, title, *_) in enumerate(self._films)
            for name in title_names(title)
        ]
        ordered = sorted({pair for pair in called if pair[0]})
        self._names = [name for name, _ in ordered]  # N, sorted
        self._film_of = [film for _, film in ordered]  # N
        self._called: dict[str, list[int]] = defaultdict(list)
        for name, film in ordered:
            self._called[remove_blanks(name)].append(film)

    def match(self, entries: Sequence[Entry]) -> list[Match]:
        """What each of Q lines may mean."""
        found = [self._exact(entry) for entry in entries]
        open_ones = [row for row, match in enumerate(found) if match is None]
        for row, match in zip(open_ones, self._similar([entries[row] for row in open_ones]), strict=True):
            found[row] = match
        return [match for match in found if match is not None]

    def _exact(self, entry: Entry) -> Match | None:
        """By numbers or by the very title; None where neither leads to a film."""
        if (numbered := self._by_numbers(entry)) is not None:
            return numbered
        rows = self._titled(entry)
        if entry.year is None:
            return self._by_title_alone(entry, rows)
        for years_off, how in ((0, MatchMethod.TITLE_YEAR), (1, MatchMethod.NEXT_YEAR)):
            near = [film for film in rows if abs((self._films[film].year or 0) - entry.year) == years_off]
            if near:
                sure = len(near) == 1 and not self._has_another_number(entry, near[0])
                return Match(how, tuple(near)) if sure else self._ask(near, likely=False)
        others = [film for film in rows if abs((self._films[film].year or entry.year) - entry.year) <= MAX_YEAR_GAP]
        return self._ask(others, likely=False) if others else None

    def _by_numbers(self, entry: Entry) -> Match | None:
        """By the numbers of IMDb, TMDB and MovieLens; where they name different films, a question."""
        numbers = (self._imdb.get(entry.imdb_id), self._tmdb.get(entry.tmdb_id or 0), self._by_site(entry))
        films = list(dict.fromkeys(film for film in numbers if film is not None))
        if len(films) > 1:
            return self._ask(films, likely=False)
        return Match(MatchMethod.NUMBER, tuple(films)) if films else None

    def _by_site(self, entry: Entry) -> int | None:
        """By the number of MovieLens, unless the title says that it is one of another numbering."""
        film = self._site.get(entry.movie_id or 0)
        return film if film is None or not entry.title or film in self._titled(entry) else None

    def _titled(self, entry: Entry) -> list[int]:
        """The films with that title, in any of its forms; those with the very article where there are some."""
        titles = [name for title in (entry.title, entry.original) if title for name in title_names(title)]
        rows = list(
            dict.fromkeys(
                film for title in titles for film in self._called.get(remove_blanks(comparable_name(title)), ())
            )
        )
        if len(rows) < 2:
            return rows
        written = {normalize(title) for title in titles}
        very = [film for film in rows if written & {normalize(name) for name in title_names(self._films[film].title)}]
        if entry.year is not None:
            very = [film for film in very if self._films[film].year == entry.year]
        return very or rows

    def _by_title_alone(self, entry: Entry, rows: list[int]) -> Match | None:
        """Sure where one film alone is called so, of those that had been made when it was watched."""
        made = [film for film in rows if not entry.watched or (self._films[film].year or 0) <= entry.watched.year]
        if len(made) == 1 and not self._has_another_number(entry, made[0]):
            return Match(MatchMethod.TITLE, tuple(made))
        return self._ask(made, likely=self._stands_out(made)) if made else None

    def _stands_out(self, films: Sequence[int]) -> bool:
        """Whether one of some namesakes is watched far more than the others."""
        first, second = sorted((self._counts[film] for film in films), reverse=True)[:2] if len(films) > 1 else (0, 0)
        return bool(first > MIN_POPULARITY_RATIO * second)

    def _has_another_number(self, entry: Entry, film: int) -> bool:
        """Whether IMDb knows the line and the film as two."""
        return bool(entry.imdb_id) and self._imdb_of.get(film, entry.imdb_id) != entry.imdb_id

    def _ask(self, films: Iterable[int], likely: bool) -> Match:
        """The most watched first."""
        return Match(
            MatchMethod.UNSURE, tuple(sorted(films, key=lambda film: -self._counts[film])[:MAX_CANDIDATES]), likely
        )

    def _similar(self, entries: Sequence[Entry]) -> Iterable[Match]:
        """For Q lines that no film is called like: films that look like it, or whose title goes on or ends earlier."""
        for start in range(0, len(entries), BATCH_TITLES):
            block = entries[start : start + BATCH_TITLES]
            titles = [comparable_name(title_names(entry.title or " ")[0]) for entry in block]
            alike = process.cdist(titles, self._names, scorer=fuzz.ratio, score_cutoff=MIN_SIMILARITY, dtype=np.uint8)
            for entry, title, row in zip(block, titles, alike, strict=True):
                yield self._guessed(entry, title, row)

    def _guessed(self, entry: Entry, title: str, alike: np.ndarray) -> Match:
        """alike: (N,) percent of letters in common with each name."""
        if entry.perhaps_series:
            return Match(MatchMethod.SERIES)
        worth: dict[int, float] = {}
        names = np.flatnonzero(alike).tolist() if title else []
        for film, percent in [(self._film_of[name], float(alike[name])) for name in names] + self._longer(title):
            if self._fits(entry, film, percent):
                worth[film] = max(worth.get(film, 0), percent + (10 if self._films[film].year == entry.year else 0))
        if not worth:
            return Match(MatchMethod.NOT_FOUND)
        best = sorted(worth, key=lambda film: (-worth[film], -self._counts[film]))[:MAX_CANDIDATES]
        apart = len(best) == 1 or worth[best[0]] > worth[best[1]]
        return Match(MatchMethod.UNSURE, tuple(best), likely=apart and worth[best[0]] >= HIGH_SIMILARITY + 10)

    def _longer(self, title: str) -> list[tuple[int, float]]:
        """Films whose title begins with this one, or is its beginning, word by word: "Star Wars"."""
        words = title.split()
        if len(title) < 4:
            return []
        longer = self._film_of[sorted_span(self._names, f"{title} ", f"{title}!")]
        heads = (" ".join(words[:n]) for n in range(2, len(words)))
        shorter = [film for head in heads for film in self._film_of[sorted_span(self._names, head, f"{head}\0")]]
        return [(film, HIGH_SIMILARITY) for film in (*longer, *shorter)]

    def _fits(self, entry: Entry, film: int, percent: float) -> bool:
        """Whether a year speaks for it; without one only letters can."""
        year = self._films[film].year
        if entry.year is None or year is None:
            return percent >= MIN_SIMILARITY_WITHOUT_YEAR and percent != HIGH_SIMILARITY
        return abs(year - entry.year) <= 1


def comparable_name(name: str) -> str:
    """A name to compare: without accents and a leading article, with numbers as figures."""
    return strip_article(numbers_to_digits(normalize(name)))


def remove_blanks(name: str) -> str:
    """A plain name without blanks: "Spider-Man" and "Spiderman" are one."""
    return name.replace(" ", "")
