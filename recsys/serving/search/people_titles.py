"""Search films by titles in other languages and scripts, and by people.

Both come from film details. A large data set has half a million of these names. A comparison that accepts typing errors
would be too slow for so many names, so only name_index.py accepts typing errors.

Shapes: F films, N names.
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

# scores in percent: above the misspelt names of name_index.py, below most of its other matches
OTHER_TITLE = 84  # the whole title
PART_OF_OTHER_TITLE = 77  # some words of the title
PERSON = 79  # the whole name
PART_OF_PERSON = 76  # some words of the name
MIN_ASCII_CHARS = 3  # of a query
MIN_OTHER_CHARS = 2  # of a query that is not ASCII, such as Chinese


class NameMatches(NamedTuple):
    """Scores of films for a query."""

    scores: np.ndarray  # (F,)
    people: dict[int, str]  # row of a film → name of the matched person


class NameLines:
    """Names as lines of one text. It is built and searched faster than an index of words."""

    def __init__(self, names: Sequence[str]) -> None:
        """Index N normalized names."""
        self._names = names
        self._text = "".join(f" {name}\n" for name in names)
        self._ends = list(accumulate(len(name) + 2 for name in names))  # position after each line of the text

    def search(self, query: str) -> dict[int, bool]:
        """Return index of a matching name → whether the query is the whole name, ignoring articles.

        A name matches if each word of the query is the beginning of a word of the name.
        """
        words = query.split()
        pattern = f" {max(words, key=len)}"  # the longest word has the fewest matches
        result: dict[int, bool] = {}
        position = -1
        while (position := self._text.find(pattern, position + 1)) >= 0:
            index = bisect_right(self._ends, position)
            name = self._names[index]
            if all(f" {word}" in f" {name}" for word in words):
                result[index] = strip_article(name) == strip_article(query)
        return result


class PeopleAndTitles:
    """Scores films by their other titles, directors and actors for normalized queries."""

    def __init__(self, details: Details, films: Sequence[Film]) -> None:
        """Index the other titles and the people of F films."""
        titles: dict[str, list[int]] = {}  # normalized title → rows of films
        people: dict[str, list[int]] = {}  # name → rows of films
        for row, film in enumerate(films):
            detail = details.get(film.movie_id)
            if detail.titles:
                other_titles = set(map(normalize, detail.titles)) - set(map(normalize, title_names(film.title)))
                for title in other_titles:
                    titles.setdefault(title, []).append(row)
            for person in dict.fromkeys([*detail.directors, *detail.cast]):
                people.setdefault(person, []).append(row)
        self._titles, self._films_of_title = NameLines(list(titles)), list(titles.values())
        self._people, self._films_of_person = list(people), list(people.values())
        self._person_names = NameLines([normalize(person) for person in people])
        self._n_films = len(films)

    def search(self, query: str) -> NameMatches:
        """Return the scores of films with a matching title or person, and the person if it matches better."""
        scores, people = np.zeros(self._n_films), dict[int, str]()
        if len(query) < (MIN_ASCII_CHARS if query.isascii() else MIN_OTHER_CHARS):
            return NameMatches(scores, people)
        for index, is_whole in self._titles.search(query).items():
            raise_scores(scores, self._films_of_title[index], OTHER_TITLE if is_whole else PART_OF_OTHER_TITLE)
        matches = self._person_names.search(query)
        for index, is_whole in sorted(matches.items(), key=lambda match: not match[1]):  # whole names first
            score = PERSON if is_whole else PART_OF_PERSON
            for row in self._films_of_person[index]:
                if scores[row] < score:
                    scores[row], people[row] = score, self._people[index]
        return NameMatches(scores, people)
