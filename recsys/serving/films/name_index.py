"""The names of films in plain form, and how well each film's names match what was typed, by text alone.

The surest comparison first: the whole name, its beginning, its words, its letters. Shapes: F films, N names, W words
that differ; a film has several names, and each name stands in every form that can be typed.
"""

from collections.abc import Sequence

import numpy as np
from rapidfuzz import fuzz, process

from recsys.serving.films import spelling
from recsys.serving.films.names import LAST_LETTER, bare, in_figures, span

# What a match is worth, in percent: the whole name, its first words, the name without blanks, its beginning, words
# within it, all words in any order, and the beginning without blanks.
EXACT, WHOLE_WORDS, TIGHT, PREFIX, PHRASE, ALL_WORDS, TIGHT_PREFIX = 100, 97, 96, 95, 85, 80, 78
MISSPELT, MISSPELT_WORDS = 74, 70  # weights of similarity: of whole names, word by word
LEAST_GUESS = 0.9  # of the best guess's worth; what is further off was not meant
LOOKS_LIKE = 75  # percent of letters that a name has in common with what was typed, to ask whether it was meant
OTHER_ARTICLE = 9  # deducted for an article that the query has and the name has not; not the other way round


class NameIndex:
    """Compares queries in plain form with the names of films."""

    def __init__(self, forms: set[tuple[str, int]], n_films: int) -> None:
        """forms: (name in plain form, row of its film)."""
        self._n_films = n_films
        self._index_names(forms)
        self._index_words()

    def _index_names(self, forms: set[tuple[str, int]]) -> None:
        """Names with their films, sorted with and without article and without blanks, to look prefixes up in each."""
        ordered = sorted(form for form in forms if form[0])
        self._names = [name for name, _ in ordered]  # N, sorted
        self._film_of = np.array([row for _, row in ordered], np.int64)  # (N,)
        self._bare = [bare(name) for name in self._names]  # N, without a leading article
        self._bare_order = np.array(sorted(range(len(self._bare)), key=self._bare.__getitem__), np.int64)  # (N,)
        self._bare_sorted = [self._bare[name] for name in self._bare_order]
        tight = [name.replace(" ", "") for name in self._bare]
        self._tight_order = np.array(sorted(range(len(tight)), key=tight.__getitem__), np.int64)  # (N,)
        self._tight_sorted = [tight[name] for name in self._tight_order]

    def _index_words(self) -> None:
        """Word w is in the names _postings[_starts[w]:_starts[w + 1]]."""
        words = [name.split() for name in self._names]
        self._words = sorted({word for name in words for word in name})  # W, sorted
        number = {word: index for index, word in enumerate(self._words)}
        flat = np.array([number[word] for name in words for word in name], np.int64)
        name_of = np.repeat(np.arange(len(words)), [len(name) for name in words])
        self._postings = name_of[np.argsort(flat, kind="stable")]
        self._starts = np.searchsorted(np.sort(flat), np.arange(len(self._words) + 1))

    def called(self, name: str) -> list[int]:
        """The films with a name that is exactly this."""
        rows: list[int] = self._film_of[span(self._names, name, name + "\0")].tolist()
        return rows

    def looking_like(self, query: str) -> np.ndarray:
        """(F,) how much each film's name looks like a text, in percent; 0 below LOOKS_LIKE."""
        scores = np.zeros(self._n_films)
        if query and self._names:
            alike = process.cdist([query], self._bare, scorer=fuzz.ratio, score_cutoff=LOOKS_LIKE, dtype=np.float32)[0]
            np.maximum.at(scores, self._film_of, alike)
        return scores

    def titled(self, query: str) -> np.ndarray:
        """(F,) scores of films whose name has every word of the query, with numbers in any form."""
        scores = self._sure(query)
        self._run_together(scores, query, "\0", TIGHT)
        figures = in_figures(query)
        return scores if figures == query else np.maximum(scores, self._sure(figures))

    def _sure(self, query: str) -> np.ndarray:
        """(F,) scores of films whose name has every word of the query, the last one perhaps half typed."""
        scores = np.zeros(self._n_films)
        if not query:
            return scores
        names = np.flatnonzero(self._holding(query.split()))
        scores[self._film_of[names]] = ALL_WORDS
        scores[self._film_of[[name for name in names if f" {query}" in f" {self._names[name]}"]]] = PHRASE
        short = bare(query)
        less = 0 if short == query else OTHER_ARTICLE
        whole = (WHOLE_WORDS, " ", "!") if len(short) > 1 else (PREFIX, "", LAST_LETTER)  # "t" is no word yet
        for worth, first, end in ((PREFIX, "", LAST_LETTER), whole, (EXACT, "", "\0")):
            at_least(scores, self._film_of[span(self._names, query + first, query + end)], worth)
            others = self._bare_order[span(self._bare_sorted, short + first, short + end)]
            at_least(scores, self._film_of[others], worth - less)
        return scores

    def _holding(self, words: list[str]) -> np.ndarray:
        """(N,) bool: which names have all the words; of the last word the beginning is enough."""
        held = np.ones(len(self._names), bool)
        for word, end in zip(words, ["\0"] * (len(words) - 1) + [LAST_LETTER], strict=True):
            found = span(self._words, word, word + end)
            holds = np.zeros(len(self._names), bool)
            holds[self._postings[self._starts[found.start] : self._starts[found.stop]]] = True
            held &= holds
        return held

    def guesses(self, query: str, alone: bool) -> np.ndarray:
        """(F,) scores of films with a name that is spelt almost like the query, as a whole or word by word.

        When there are other matches, so that guesses are not `alone`, only whole names count.
        """
        scores = np.zeros(self._n_films)
        if len(query) < 4 or not self._names:
            return scores
        worth = MISSPELT * spelling.similar_names(bare(query), self._bare)
        if alone:
            self._run_together(scores, query, LAST_LETTER, TIGHT_PREFIX)
            words = spelling.similar_words(in_figures(query).split(), self._words, self._spread)
            worth = np.maximum(worth, MISSPELT_WORDS * words)
        names = np.flatnonzero(worth > LEAST_GUESS * worth.max())
        np.maximum.at(scores, self._film_of[names], worth[names])
        return scores

    def _run_together(self, scores: np.ndarray, query: str, end: str, worth: float) -> None:
        """Raise films whose name, without blanks, is or begins with the query: "walle"."""
        tight = bare(query).replace(" ", "")
        if tight:
            found = self._tight_order[span(self._tight_sorted, tight, tight + end)]
            at_least(scores, self._film_of[found], worth)

    def _spread(self, similarity: np.ndarray) -> np.ndarray:
        """(N,) the similarity of each name's best word, from that of all words (W,)."""
        similar = np.zeros(len(self._names))
        near = np.flatnonzero(similarity)
        for word in near[np.argsort(similarity[near], kind="stable")]:  # the best one last, so that it counts
            similar[self._postings[self._starts[word] : self._starts[word + 1]]] = similarity[word]
        return similar


def at_least(scores: np.ndarray, rows: Sequence[int] | np.ndarray, worth: float) -> None:
    """Give the films of `rows` at least this score."""
    if len(rows):
        scores[rows] = np.maximum(scores[rows], worth)
