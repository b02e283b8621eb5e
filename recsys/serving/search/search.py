"""Films by what people type: half a title, typos, moved articles, numbers in any form, a year, initials, a by-name.

A film has several names: its title, and other titles in brackets. Names and queries are brought to the same plain form
and compared (name_index.py); by-names, initials and numbers of a series come on top. What is answered is like what was
typed: a film that the set does not have is not answered with another one. Shapes: F films.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, takewhile
from typing import Any

import numpy as np

from recsys import paths, storage
from recsys.data.dataset import Catalog, Film
from recsys.serving.search import name_index, series
from recsys.serving.search.name_index import EXACT, MISSPELT_NAME, NameIndex, raise_scores
from recsys.serving.search.normalize import (
    normalize,
    numbers_to_digits,
    separate_number,
    split_year,
    strip_article,
    title_names,
)
from recsys.serving.search.people_titles import OTHER_TITLE, NameMatches, OtherNames

TOO_FEW = "too few ratings to learn from"
MAX_QUERY_CHARS = 200  # characters of a query that are read; the longest title of MovieLens has fewer

# What else a match is worth, in percent. Below SURE are films that may be shown, but not taken for what was meant.
SERIES_MATCH, INITIALS_MATCH, YEAR_MATCH = 90, 88, 75
MISSPELT_SERIES = 68  # weight of the similarity of a series' stem
MIN_CONFIDENT = 40
NEXT_YEAR_WEIGHT, OTHER_YEAR_WEIGHT = (
    0.9,
    0.39,
)  # weights of a film whose year, or number in its series, differs from that of the query

MIN_TAG_USES = 2  # a tag that was used once may be a typing error

NO_PEOPLE: Mapping[int, str] = {}

_NUMBERED = re.compile(r"^#\s*(\d{1,9})$")
_YEAR_ALONE = re.compile(r"^\(?((?:18|19|20)\d\d)\)?$")
_WITH_NUMBER = re.compile(r"^(\D*\S) (\d{1,2})$")


@dataclass(frozen=True)
class SearchResult:
    """One film that a query may have meant."""

    item: int  # as `Catalog.films` numbers them
    movie_id: int
    title: str
    year: int | None
    genres: str
    score: float  # 0…100, how sure the match is
    not_trained: bool = False  # training left it out: few people rated it
    by: str = ""  # who made it or is in it, where that is what was typed

    @property
    def selectable(self) -> bool:
        """Whether models know the film itself, so that it has a rank and a place on the map."""
        return not self.not_trained

    @property
    def reason(self) -> str:
        """Why models do not know it; "" for one that they know."""
        return TOO_FEW if self.not_trained else ""

    @property
    def sure(self) -> bool:
        """Whether this is what was typed, give or take a few letters, rather than a film of another year or number."""
        return self.score >= MIN_CONFIDENT

    @property
    def label(self) -> str:
        """Title and year: "Toy Story (1995)"."""
        return Film(self.movie_id, self.title, self.year, self.genres).label


class TitleIndex:
    """Searches the films of a catalogue, those left out of training included."""

    def __init__(self, catalog: Catalog, counts: Sequence[int] | np.ndarray | None = None) -> None:
        """`counts`: (I,) how often each item was watched; of equally good matches the more popular comes first."""
        self._films = catalog.films  # F, items first
        self.n_items = len(catalog)  # without those left out of training
        self._popularity = np.zeros(len(self._films), np.int64)  # (F,) 0 for those left out
        if counts is not None:
            self._popularity[: self.n_items] = counts
        self._years = np.array([film.year or 0 for film in self._films])  # (F,)
        called = [(name, row) for row, film in enumerate(self._films) for name in title_names(film.title)]
        plain = [normalize(name) for name, _ in called]
        figures = [numbers_to_digits(name) for name in plain]
        rows = [row for _, row in called]
        forms = {*zip(plain, rows, strict=True), *zip(figures, rows, strict=True)}
        self._names = NameIndex(forms, len(self._films))
        known = [(name, form, row) for (name, row), form in zip(called, figures, strict=True) if row < self.n_items]
        self._series = series.find_series(known, self._years)
        self._stems = series.series_by_initials(self._series)
        self._initials = series.title_initials(known)
        self._details, self._tags = catalog.details, catalog.tags

    def __len__(self) -> int:
        """How many films can be found, those that training left out included."""
        return len(self._films)

    @property
    def years(self) -> tuple[int, int] | None:
        """The years of the oldest and the newest film; None where no year is known."""
        years = self._years[self._years > 0]
        return (int(years.min()), int(years.max())) if len(years) else None

    @cached_property
    def _by_names(self) -> dict[str, list[int]]:
        """By-name in plain form → the films of this set that are called so."""
        return {
            normalize(by_name): [row for label in labels for row in self._called(label)]
            for by_name, labels in nicknames().items()
        }

    @cached_property
    def _others(self) -> OtherNames | None:
        """Titles in other languages and people; None where the set was not enriched. Made for the first query."""
        return OtherNames(self._details, self._films) if len(self._details) else None

    @cached_property
    def _tag_words(self) -> frozenset[str]:
        """Tags that were used at least twice, and their words, in plain form: mostly people and subjects.

        A query like this is spelt correctly: "lynch" is the director, not a misspelt "Naked Lunch".
        """
        used = np.bincount(np.asarray(self._tags.word), minlength=len(self._tags.words))
        tags = [normalize(self._tags.words[number]) for number in np.flatnonzero(used >= MIN_TAG_USES)]
        return frozenset(word for tag in tags for word in (tag, *tag.split()))

    def _called(self, label: str) -> list[int]:
        """The films with that name and year."""
        name, year = split_year(label)
        return [row for row in self._names.called(normalize(name)) if self._years[row] == year]

    @cached_property
    def _row_of(self) -> dict[int, int]:
        """MovieLens id → film."""
        return {film.movie_id: row for row, film in enumerate(self._films)}

    def search(self, text: str, limit: int = 8) -> list[SearchResult]:
        """Up to `limit` films, the best match first; of equally good ones the more popular. Any text is allowed.

        A year may end the query ("heat 1995"), a moved article too ("Matrix, The"); "#2571" is a MovieLens id.
        """
        return list(islice(self._ranked(text, enough=limit), max(0, limit)))

    def nearest(self, text: str, limit: int = 3) -> list[SearchResult]:
        """Films whose names look most like a text that names none: for a question back, not for an answer."""
        query = strip_article(_normalize_query(split_year(text[:MAX_QUERY_CHARS].strip())[0]))
        return list(islice(self._in_order(self._names.looking_like(query) * OTHER_YEAR_WEIGHT), limit))

    def matches(self, text: str) -> list[SearchResult]:
        """Every film with that name, with or without an article, case and accents aside, the most popular first.

        With a year, only films of that year. Where no film is called so, those that are in another language. Empty when
        there is none.
        """
        ranked = list(takewhile(lambda film: film.score >= OTHER_TITLE, self._ranked(text, enough=0)))
        exact = [film for film in ranked if film.score == EXACT]
        return exact or [film for film in ranked if film.score == OTHER_TITLE]

    def exact(self, text: str) -> SearchResult | None:
        """The film with that name; the most popular where there are several."""
        return next(iter(self.matches(text)), None)

    def _ranked(self, text: str, enough: int) -> Iterator[SearchResult]:
        """Films that match, the best first; typos are considered where fewer than `enough` match as they are."""
        text = text[:MAX_QUERY_CHARS].strip()
        if match := _NUMBERED.match(text):
            if (row := self._row_of.get(int(match[1]))) is not None:
                yield self._found(row, EXACT)
            return
        yield from self._in_order(*self._scores(text, enough))

    def _in_order(self, scores: np.ndarray, people: Mapping[int, str] = NO_PEOPLE) -> Iterator[SearchResult]:
        """Films with a score (F,) above 0, the best first; people: film → who it was found by."""
        rows = np.flatnonzero(scores)
        for row in rows[np.lexsort((rows, -self._popularity[rows], -scores[rows]))].tolist():
            yield self._found(row, float(scores[row]), people.get(row, ""))

    def _found(self, row: int, score: float, by: str = "") -> SearchResult:
        return SearchResult(row, *self._films[row], score=score, not_trained=row >= self.n_items, by=by)

    def _scores(self, text: str, enough: int) -> NameMatches:
        """How well each film matches, 0…100; a number at the end is read as a year and as part of the title."""
        title, year = split_year(text)
        query = _normalize_query(title)
        scores, people = self._with_others(query, self._meant(query, enough))
        if match := _YEAR_ALONE.match(text):
            raise_scores(scores, np.flatnonzero(self._years == int(match[1])), YEAR_MATCH)
        if year is None:
            return NameMatches(scores, people)
        gap = np.abs(self._years - year)
        scores *= np.where(gap == 0, 1, np.where(gap == 1, NEXT_YEAR_WEIGHT, OTHER_YEAR_WEIGHT))
        whole = _normalize_query(text)  # "Blade Runner 2049" is of 2017
        return NameMatches(scores if whole == query else np.maximum(scores, self._names.titled(whole)), people)

    def _with_others(self, query: str, scores: np.ndarray) -> NameMatches:
        """Scores (F,) by the films' own names, raised where another title or a person matches better.

        A person's name is spelt correctly, so guesses at misspelt titles do not count beside it.
        """
        if self._others is None:
            return NameMatches(scores, {})
        others = self._others.find(query)
        if others.people:
            scores = np.where(scores > MISSPELT_NAME, scores, 0)
        people = {row: name for row, name in others.people.items() if others.scores[row] > scores[row]}
        return NameMatches(np.maximum(scores, others.scores), people)

    def _meant(self, query: str, enough: int) -> np.ndarray:
        """(F,) scores without regard to a year; guesses only where fewer than `enough` films match."""
        scores = self._names.titled(query)
        apart = numbers_to_digits(separate_number(query))
        raise_scores(scores, self._by_names.get(query, []) + self._by_names.get(apart, []), EXACT)
        match = _WITH_NUMBER.match(strip_article(apart))
        if match:
            stems = [match[1]] if match[1] in self._series else self._stems.get(match[1], [])
            raise_scores(scores, self._numbered(stems, int(match[2])), SERIES_MATCH)
        if not scores.any():
            self._expand(scores, query, apart)
        if np.count_nonzero(scores) < enough and query not in self._tag_words:
            scores = np.maximum(scores, self._names.guesses(query, alone=not scores.any()))
        if match and enough and not scores.any():
            scores = self._numbered_otherwise(match[1], int(match[2]))
        return scores

    def _numbered(self, stems: Sequence[str], number: int) -> list[int]:
        """The films of that number in some series."""
        rows = [self._series[stem].numbered(number) for stem in stems]
        return [row for row in rows if row is not None]

    def _numbered_otherwise(self, stem: str, number: int) -> np.ndarray:
        """(F,) scores for a number of a series that is misspelt, or that the series has not: then other films of it."""
        names = list(self._series)
        similar = name_index.similar_names(stem, names)
        scores = self._names.titled(stem) * OTHER_YEAR_WEIGHT
        if similar.any():
            best = int(similar.argmax())
            raise_scores(scores, self._numbered([names[best]], number), MISSPELT_SERIES * similar[best])
        return scores

    def _expand(self, scores: np.ndarray, query: str, apart: str) -> None:
        """Read the query, or its first word, as initials: "lotr", "eeaao", "lotr two towers"."""
        first, _, rest = apart.partition(" ")
        for stem in self._stems.get(first, []):
            raise_scores(scores, self._series[stem].rows if not rest else [], SERIES_MATCH)
            if rest and not rest.isdigit():
                np.maximum(scores, self._names.titled(f"{stem} {rest}") * (SERIES_MATCH / EXACT), out=scores)
        raise_scores(scores, self._initials.get(query, []), INITIALS_MATCH)


def nicknames() -> dict[str, list[str]]:
    """What people call films that their titles do not tell: {"t2": ["Terminator 2: Judgment Day (1991)"]}."""
    return storage.read_shipped_json(paths.by_names(), _is_nicknames) or {}


def _is_nicknames(content: Any) -> bool:
    """Whether the content is an object of lists of texts."""
    return isinstance(content, dict) and all(
        isinstance(labels, list) and all(isinstance(label, str) for label in labels) for labels in content.values()
    )


def _normalize_query(query: str) -> str:
    """The first name in a query, in plain form."""
    return normalize(title_names(query)[0])
