"""Films by what else somebody may type: titles in other languages and scripts, and the people who made them.

Known for sets that were enriched, where a large one has half a million such names. Typing errors are forgiven in the
films' own names alone. Shapes: F films, N names.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from recsys.data.dataset import Film
from recsys.data.film_details import Details
from recsys.serving.search.name_index import raise_scores
from recsys.serving.search.normalize import normalize, strip_article, title_names

# What a match is worth, in percent: below films whose own names have what was typed, above guesses.
OTHER_TITLE, PART_OF_OTHER_TITLE = 84, 77  # a whole title, some words of one
PERSON, PART_OF_PERSON = 79, 76  # a whole name, some words of one
MIN_QUERY_CHARS = 3  # letters of a query; two of a script that has more of them


class NameMatches(NamedTuple):
    """What these names add to a search."""

    scores: np.ndarray  # (F,)
    people: dict[int, str]  # film → who it was found by


class NameLines:
    """Names as the lines of one text, which is made and searched more quickly than a list of words."""

    def __init__(self, names: Sequence[str]) -> None:
        """names: (N,) in plain form."""
        self._names = names
        self._text = "".join(f" {name}\n" for name in names)
        self._ends = list(accumulate(len(name) + 2 for name in names))

    def having(self, query: str) -> dict[int, bool]:
        """The names that have every word of a query, of each the beginning: number → whether it is the whole name."""
        words = query.split()
        sign, found, place = f" {max(words, key=len)}", dict[int, bool](), -1
        while (place := self._text.find(sign, place + 1)) >= 0:
            number = bisect_right(self._ends, place)
            name = self._names[number]
            if all(f" {word}" in f" {name}" for word in words):
                found[number] = strip_article(name) == strip_article(query)
        return found


class OtherNames:
    """Compares queries in plain form with what is known of films beside their names."""

    def __init__(self, details: Details, films: Sequence[Film]) -> None:
        titles: dict[str, list[int]] = {}  # in plain form → films
        people: dict[str, list[int]] = {}
        for row, film in enumerate(films):
            known = details.get(film.movie_id)
            own = {normalize(name) for name in title_names(film.title)} if known.titles else set()
            for title in {normalize(title) for title in known.titles} - own:
                titles.setdefault(title, []).append(row)
            for person in dict.fromkeys([*known.directors, *known.cast]):
                people.setdefault(person, []).append(row)
        self._titles, self._of_title = NameLines(list(titles)), list(titles.values())
        self._people, self._of_person = list(people), list(people.values())
        self._names = NameLines([normalize(person) for person in people])
        self._n_films = len(films)

    def find(self, query: str) -> NameMatches:
        """Films that are called so elsewhere, or are by or with somebody who is."""
        scores, people = np.zeros(self._n_films), dict[int, str]()
        if len(query) < MIN_QUERY_CHARS - (not query.isascii()):
            return NameMatches(scores, people)
        titles = self._titles.having(query)
        for worth, wanted in ((PART_OF_OTHER_TITLE, False), (OTHER_TITLE, True)):
            rows = [row for title, whole in titles.items() if whole is wanted for row in self._of_title[title]]
            raise_scores(scores, rows, worth)
        for person, whole in sorted(self._names.having(query).items(), key=lambda one: -one[1]):  # whole names first
            worth = PERSON if whole else PART_OF_PERSON
            for row in self._of_person[person]:
                if scores[row] < worth:
                    scores[row], people[row] = worth, self._people[person]
        return NameMatches(scores, people)
