"""The names of films in plain form, and how well each film's names match what was typed, by text alone.

The surest comparison first: the whole name, its beginning, its words, its letters. Shapes: F films, N names, W words
that differ; a film has several names, and each name stands in every form that can be typed.

Which names somebody may have meant who typed another: a few letters wrong, missing, swapped, or a blank too many.

The longer a word, the more of its letters may be wrong; of a whole query at most a fifth.
Shapes: N names, W different words, Q words of the query.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence

import numpy as np
from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

from recsys.serving.search.normalize import MAX_CHAR, numbers_to_digits, sorted_span, strip_article

MAX_QUERY_WORDS = 8  # words of a query that are corrected one by one


def max_word_edits(letters: int) -> int:
    """How many letters of a word or name of that length may be wrong: 0, 1 from 5, 2 from 9, 3 from 14."""
    return int(np.searchsorted([5, 9, 14], letters, side="right"))


def max_query_edits(query: str) -> int:
    """How many letters of a whole query may be wrong: "tarantino" is not "Tarnation", of which two of nine differ."""
    return len(query.replace(" ", "")) // 5


def similar_names(query: str, names: list[str]) -> np.ndarray:
    """(N,) how similar, 0…1, the names are that are spelt almost like the query; 0 for the others."""
    allowed = min(max_word_edits(len(query)), max_query_edits(query))
    if not allowed or not names:
        return np.zeros(len(names))
    wrong = process.cdist([query], names, scorer=OSA.distance, score_cutoff=allowed, dtype=np.int16)[0]
    similar = np.where(wrong <= allowed, 1 - wrong / len(query), 0.0)
    for name in np.flatnonzero(similar).tolist():
        if not _is_plausible(query, names[name]):
            similar[name] = 0
    return similar


def _is_plausible(query: str, name: str) -> bool:
    """Whether the wrong letters are spread over words that are long enough for them, and the numbers are right."""
    words, others = query.split(), name.split()
    if _number_words(words) != _number_words(others) or not _same_start(query, name):
        return False
    return len(words) != len(others) or all(map(_is_misspelling, words, others))


def _is_misspelling(word: str, other: str) -> bool:
    """Whether two words of the same position may be one: few letters wrong for their length, or the same ones moved."""
    allowed = max_word_edits(max(len(word), len(other)))
    return sorted(word) == sorted(other) or OSA.distance(word, other) <= allowed


def similar_words(query: list[str], words: list[str], spread: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """(N,) how similar, 0…1, each name's words are to those of the query; 0 where one of them has no counterpart.

    `words` are sorted; `spread` turns the similarity of each word (W,) into that of each name's best one (N,). Of the
    last word of the query the beginning is enough.
    """
    total: np.ndarray | None = None
    for index, word in enumerate(query[:MAX_QUERY_WORDS]):
        similar = spread(_word_similarity(word, words, max_query_edits(" ".join(query)), half=index == len(query) - 1))
        total = similar if total is None else np.where(similar > 0, total + similar, 0) * (total > 0)
        if not total.any():
            return total
    assert total is not None
    return total / min(len(query), MAX_QUERY_WORDS)


def _word_similarity(word: str, words: list[str], most: int, half: bool) -> np.ndarray:
    """(W,) how similar each word is to one of the query, with at most so many wrong letters; 0 for another word."""
    similar = _plural_similarity(word, words)
    allowed = min(max_word_edits(len(word)), most)
    if not allowed or any(letter.isdigit() for letter in word):
        return similar
    wrong = process.cdist([word], words, scorer=OSA.distance, score_cutoff=allowed, dtype=np.int16)[0]
    near = np.where(wrong <= allowed, 1 - wrong / len(word), 0.0)
    if half:
        begun = [other[: len(word)] for other in words]
        wrong = process.cdist([word], begun, scorer=OSA.distance, score_cutoff=allowed, dtype=np.int16)[0]
        near = np.maximum(near, np.where(wrong <= allowed, 0.95 - wrong / len(word), 0))
    for other in np.flatnonzero(near).tolist():
        if not _same_start(word, words[other]):
            near[other] = 0
    return np.maximum(similar, near)


def _plural_similarity(word: str, words: list[str]) -> np.ndarray:
    """(W,) 1 for the word itself, a little less with or without a last s."""
    similar = np.zeros(len(words))
    alike = {word: 1.0, f"{word}s": 0.95} | ({word[:-1]: 0.95} if word.endswith("s") and len(word) > 3 else {})
    for other, worth in alike.items():
        if (place := bisect_left(words, other)) < len(words) and words[place] == other:
            similar[place] = worth
    return similar


def _same_start(word: str, other: str) -> bool:
    """Whether two words begin alike, so that "poker" is not "joker"; the first two letters may be swapped."""
    return word[0] == other[:1] or word[:2] == other[1::-1]


def _number_words(words: list[str]) -> list[str]:
    return sorted(word for word in words if word.isdigit())


# What a match is worth, in percent: the whole name, its first words, the name without blanks, its beginning, words
# within it, all words in any order, and the beginning without blanks.
EXACT, WHOLE_WORDS, TIGHT, PREFIX, PHRASE, ALL_WORDS, TIGHT_PREFIX = 100, 97, 96, 95, 85, 80, 78
MISSPELT_NAME, MISSPELT_WORDS = 74, 70  # weights of similarity: of whole names, word by word
MIN_GUESS_RATIO = 0.9  # of the best guess's worth; what is further off was not meant
MIN_LETTER_SIMILARITY = (
    75  # percent of letters that a name has in common with what was typed, to ask whether it was meant
)
ARTICLE_PENALTY = 9  # deducted for an article that the query has and the name has not; not the other way round


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
        self._bare = [strip_article(name) for name in self._names]  # N, without a leading article
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
        rows: list[int] = self._film_of[sorted_span(self._names, name, name + "\0")].tolist()
        return rows

    def looking_like(self, query: str) -> np.ndarray:
        """(F,) how much each film's name looks like a text, in percent; 0 below LOOKS_LIKE."""
        scores = np.zeros(self._n_films)
        if query and self._names:
            alike = process.cdist(
                [query], self._bare, scorer=fuzz.ratio, score_cutoff=MIN_LETTER_SIMILARITY, dtype=np.float32
            )[0]
            np.maximum.at(scores, self._film_of, alike)
        return scores

    def titled(self, query: str) -> np.ndarray:
        """(F,) scores of films whose name has every word of the query, with numbers in any form."""
        scores = self._sure(query)
        self._run_together(scores, query, "\0", TIGHT)
        figures = numbers_to_digits(query)
        return scores if figures == query else np.maximum(scores, self._sure(figures))

    def _sure(self, query: str) -> np.ndarray:
        """(F,) scores of films whose name has every word of the query, the last one perhaps half typed."""
        scores = np.zeros(self._n_films)
        if not query:
            return scores
        names = np.flatnonzero(self._holding(query.split()))
        scores[self._film_of[names]] = ALL_WORDS
        scores[self._film_of[[name for name in names if f" {query}" in f" {self._names[name]}"]]] = PHRASE
        short = strip_article(query)
        less = 0 if short == query else ARTICLE_PENALTY
        whole = (WHOLE_WORDS, " ", "!") if len(short) > 1 else (PREFIX, "", MAX_CHAR)  # "t" is no word yet
        for worth, first, end in ((PREFIX, "", MAX_CHAR), whole, (EXACT, "", "\0")):
            raise_scores(scores, self._film_of[sorted_span(self._names, query + first, query + end)], worth)
            others = self._bare_order[sorted_span(self._bare_sorted, short + first, short + end)]
            raise_scores(scores, self._film_of[others], worth - less)
        return scores

    def _holding(self, words: list[str]) -> np.ndarray:
        """(N,) bool: which names have all the words; of the last word the beginning is enough."""
        held = np.ones(len(self._names), bool)
        for word, end in zip(words, ["\0"] * (len(words) - 1) + [MAX_CHAR], strict=True):
            found = sorted_span(self._words, word, word + end)
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
        worth = MISSPELT_NAME * similar_names(strip_article(query), self._bare)
        if alone:
            self._run_together(scores, query, MAX_CHAR, TIGHT_PREFIX)
            words = similar_words(numbers_to_digits(query).split(), self._words, self._spread)
            worth = np.maximum(worth, MISSPELT_WORDS * words)
        names = np.flatnonzero(worth > MIN_GUESS_RATIO * worth.max())
        np.maximum.at(scores, self._film_of[names], worth[names])
        return scores

    def _run_together(self, scores: np.ndarray, query: str, end: str, worth: float) -> None:
        """Raise films whose name, without blanks, is or begins with the query: "walle"."""
        tight = strip_article(query).replace(" ", "")
        if tight:
            found = self._tight_order[sorted_span(self._tight_sorted, tight, tight + end)]
            raise_scores(scores, self._film_of[found], worth)

    def _spread(self, similarity: np.ndarray) -> np.ndarray:
        """(N,) the similarity of each name's best word, from that of all words (W,)."""
        similar = np.zeros(len(self._names))
        near = np.flatnonzero(similarity)
        for word in near[np.argsort(similarity[near], kind="stable")]:  # the best one last, so that it counts
            similar[self._postings[self._starts[word] : self._starts[word + 1]]] = similarity[word]
        return similar


def raise_scores(scores: np.ndarray, rows: Sequence[int] | np.ndarray, worth: float) -> None:
    """Give the films of `rows` at least this score."""
    if len(rows):
        scores[rows] = np.maximum(scores[rows], worth)
