"""Score the names of films for a query, by exact comparison and by edit distance.

`NameIndex` compares titles. `PeopleAndTitles` compares people and titles in other languages, which come from film
details. A large data set has half a million of them. A comparison that accepts typing errors would be too slow for so
many names, so only `NameIndex` accepts typing errors.

Scores are highest for the whole name, then for its beginning, for its words, and for misspelt names. The accepted
number of typing errors grows with the length of a word, and is at most a fifth of the letters of a query.

Names are sorted. `sorted_span(names, start, end)` returns the slice of names from `start` up to, not including, `end`:

    start        end               names in the slice
    query        query + MIN_CHAR  only the query itself
    query        query + MAX_CHAR  all names that begin with the query
    query + " "  query + "!"       the names whose first words are the query ("!" is the character after the space)

Shapes: F films, N names, W distinct words. A film can have several names, and a name several normalized forms.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

from recsys.data.dataset import Film
from recsys.data.film_details import Details
from recsys.serving.search.normalize import (
    MAX_CHAR,
    MIN_CHAR,
    normalize,
    numbers_to_digits,
    sorted_span,
    strip_article,
    title_names,
)
from recsys.text.films import rows_by_value

# scores in percent
EXACT = 100  # the whole name
WHOLE_WORDS = 97  # the first words of the name
WITHOUT_SPACES = 96  # the name without spaces, in percent of the score of the name with spaces
PREFIX = 95  # the beginning of the name
PHRASE = 85  # adjacent words within the name
ALL_WORDS = 80  # all words in any order
PREFIX_WITHOUT_SPACES = 78  # the beginning of the name without spaces
MISSPELT_NAME = 74  # multiplied by the similarity 0…1 of the whole name
MISSPELT_WORDS = 70  # multiplied by the mean similarity 0…1 of the words
MIN_LETTER_SIMILARITY = 75  # percentage of common letters, for the suggestion of a similar title
ARTICLE_PENALTY = 9  # subtracted if the query has an article that the name lacks
# scores of `PeopleAndTitles`: above misspelt names, below most other matches
OTHER_TITLE = 84  # the whole title in another language
PART_OF_OTHER_TITLE = 77  # some words of the title
PERSON = 79  # the whole name
PART_OF_PERSON = 76  # some words of the name
# misspelt names
MIN_MISSPELT_RATIO = 0.9  # minimum ratio of the score of a misspelt name to the best score of a misspelt name
MIN_MISSPELT_CHARS = 4  # characters of a query; a shorter query is not corrected
SWAP_ONLY_LENGTH = 4  # length of a word in which only a swap is accepted; for longer words see `max_word_edits`
MAX_QUERY_WORDS = 8  # words of a query that are corrected one by one
INFLECTED_SIMILARITY = 0.95  # similarity of a word to its singular, its plural, and words that begin with it
# minimum lengths of a query for `PeopleAndTitles`
MIN_ASCII_CHARS = 3
MIN_OTHER_CHARS = 2  # of a query that is not ASCII, such as Chinese


class NameIndex:
    """Scores films by their names for normalized queries.

    The number of a name is its index in the sorted list of N names. The row of a film is 0…F-1.
    """

    def __init__(self, names: set[tuple[str, int]], n_films: int) -> None:
        """Index pairs (normalized name, row of the film). Empty names are left out."""
        self._n_films = n_films
        sorted_pairs = sorted(pair for pair in names if pair[0])
        self._names = [name for name, _ in sorted_pairs]  # N
        self._film_of_name = np.array([row for _, row in sorted_pairs], np.int64)  # (N,) row of the film
        # `_bare`: names without article. `_spaceless`: also without spaces. `_sorted`: the sorted names. `_order`: the
        # number of the name at each position of the sorted names.
        self._bare = [strip_article(name) for name in self._names]
        self._bare_order, self._bare_sorted = _sort(self._bare)
        self._spaceless_order, self._spaceless_sorted = _sort([name.replace(" ", "") for name in self._bare])
        # inverted index: word w is in the names with the numbers _postings[_starts[w]:_starts[w + 1]]
        name_words = [name.split() for name in self._names]
        self._words = sorted({word for words in name_words for word in words})  # W, sorted
        word_numbers = {word: number for number, word in enumerate(self._words)}
        words_of_names = np.array([word_numbers[word] for words in name_words for word in words], np.int64)
        names_of_words = np.repeat(np.arange(len(name_words)), [len(words) for words in name_words])
        self._postings = names_of_words[np.argsort(words_of_names, kind="stable")]
        self._starts = np.searchsorted(np.sort(words_of_names), np.arange(len(self._words) + 1))

    def letter_similarities(self, query: str) -> np.ndarray:
        """Return the percentage of letters that the query and a film's most similar name share, (F,).

        It is 0 below MIN_LETTER_SIMILARITY.
        """
        scores = np.zeros(self._n_films)
        if query and self._names:
            similarities = process.cdist(
                [query], self._bare, scorer=fuzz.ratio, score_cutoff=MIN_LETTER_SIMILARITY, dtype=np.float32
            )[0]
            np.maximum.at(scores, self._film_of_name, similarities)
        return scores

    def match_scores(self, query: str) -> np.ndarray:
        """Return the scores of films whose name has all words of the query, (F,); 0 for other films.

        Numbers in the query can be digits, words or Roman numerals. If a name without spaces equals the query without
        spaces, films are also scored for this name: "spiderman" finds the films that "spider man" finds.
        """
        scores = self._word_scores(query)
        for spelling in {self._bare[number] for number in self._matches_without_spaces(query, MIN_CHAR)}:
            scores = np.maximum(scores, self._word_scores(spelling) * (WITHOUT_SPACES / EXACT))
        with_digits = numbers_to_digits(query)
        return scores if with_digits == query else np.maximum(scores, self._word_scores(with_digits))

    def _word_scores(self, query: str) -> np.ndarray:
        """Return the scores of films whose name has all words of the query as it is spelt, (F,); 0 for other films.

        The last word can be the beginning of a word.
        """
        scores = np.zeros(self._n_films)
        if not query:
            return scores
        numbers = np.flatnonzero(self._has_words(query.split()))
        scores[self._film_of_name[numbers]] = ALL_WORDS
        has_phrase = [f" {query}" in f" {self._names[number]}" for number in numbers]
        scores[self._film_of_name[numbers[has_phrase]]] = PHRASE
        bare = strip_article(query)
        penalty = 0 if bare == query else ARTICLE_PENALTY
        # score, characters after the query at the start and the end of a slice of names, see the module docstring
        for score, start_char, end_char in ((PREFIX, "", MAX_CHAR), (WHOLE_WORDS, " ", "!"), (EXACT, "", MIN_CHAR)):
            if score == WHOLE_WORDS and len(bare) < 2:
                continue  # one letter is not a word yet
            span = sorted_span(self._names, query + start_char, query + end_char)
            raise_scores(scores, self._film_of_name[span], score)
            bare_matches = self._bare_order[sorted_span(self._bare_sorted, bare + start_char, bare + end_char)]
            raise_scores(scores, self._film_of_name[bare_matches], score - penalty)
        return scores

    def _has_words(self, words: list[str]) -> np.ndarray:
        """Return True for the names that have all words, (N,) bool. The last word can be the beginning of a word."""
        result = np.ones(len(self._names), bool)
        for word, end_char in zip(words, [MIN_CHAR] * (len(words) - 1) + [MAX_CHAR], strict=True):
            span = sorted_span(self._words, word, word + end_char)
            has_word = np.zeros(len(self._names), bool)
            has_word[self._postings[self._starts[span.start] : self._starts[span.stop]]] = True
            result &= has_word
        return result

    def misspelt_scores(self, query: str, compare_words: bool) -> np.ndarray:
        """Return the scores of films whose name is spelt almost like the query, (F,); 0 for other films.

        With `compare_words`, names are also compared word by word, and by their beginning without spaces.
        """
        scores = np.zeros(self._n_films)
        if len(query) < MIN_MISSPELT_CHARS or not self._names:
            return scores
        bare = strip_article(query)
        name_scores = MISSPELT_NAME * name_similarities(bare, self._bare)
        if compare_words:
            longer_names = self._matches_without_spaces(query, MAX_CHAR)
            raise_scores(scores, self._film_of_name[longer_names], PREFIX_WITHOUT_SPACES)
            # if a whole name is similar, an article of the query is no match of a longer name: "the jokker" is "Joker"
            words = numbers_to_digits(bare if name_scores.any() else query).split()
            name_scores = np.maximum(name_scores, MISSPELT_WORDS * self._mean_word_similarities(words))
        numbers = np.flatnonzero(name_scores > MIN_MISSPELT_RATIO * name_scores.max())
        np.maximum.at(scores, self._film_of_name[numbers], name_scores[numbers])
        return scores

    def _matches_without_spaces(self, query: str, end_char: str) -> np.ndarray:
        """Return the numbers of the names that match the query if spaces are ignored: "walle" matches "wall e".

        `end_char` is MIN_CHAR for names that equal the query, MAX_CHAR for names that begin with it.
        """
        spaceless = strip_article(query).replace(" ", "")
        if not spaceless:
            return np.zeros(0, np.int64)
        return self._spaceless_order[sorted_span(self._spaceless_sorted, spaceless, spaceless + end_char)]

    def _mean_word_similarities(self, query_words: list[str]) -> np.ndarray:
        """Return the mean similarity 0…1 of the words of a query to the most similar word of each name, (N,).

        It is 0 if a word of the query has no similar word in the name. The last word can be the beginning of a word.
        """
        max_edits = max_query_edits(" ".join(query_words))
        total, has_all = np.zeros(len(self._names)), np.ones(len(self._names), bool)
        for index, word in enumerate(query_words[:MAX_QUERY_WORDS]):
            is_last = index == len(query_words) - 1
            similarities = self._best_similarities(_word_similarities(word, self._words, max_edits, is_last))
            total += similarities
            has_all &= similarities > 0
            if not has_all.any():
                break
        return np.where(has_all, total, 0) / min(len(query_words), MAX_QUERY_WORDS)

    def _best_similarities(self, word_similarities: np.ndarray) -> np.ndarray:
        """Return the similarity of the most similar word of each name, (N,), from the similarities of words, (W,)."""
        result = np.zeros(len(self._names))
        words = np.flatnonzero(word_similarities)
        for word in words[np.argsort(word_similarities[words], kind="stable")]:  # ascending: the best is written last
            result[self._postings[self._starts[word] : self._starts[word + 1]]] = word_similarities[word]
        return result


def _sort(names: list[str]) -> tuple[np.ndarray, list[str]]:
    """Return the numbers of names in sorted order, (N,) int64, and the sorted names."""
    order = sorted(range(len(names)), key=names.__getitem__)
    return np.array(order, np.int64), [names[index] for index in order]


def raise_scores(scores: np.ndarray, rows: Sequence[int] | np.ndarray, score: float) -> None:
    """Raise the scores (F,) of `rows` to at least `score`, in place."""
    if len(rows):
        scores[rows] = np.maximum(scores[rows], score)


def max_word_edits(n_letters: int) -> int:
    """Return how many letters of a word or name may be wrong: 1 from 5 letters, 2 from 9, 3 from 14, else 0."""
    return int(np.searchsorted([5, 9, 14], n_letters, side="right"))


def max_query_edits(query: str) -> int:
    """Return how many letters of a query may be wrong: a fifth.

    With two of nine letters, "tarantino" would match "Tarnation".
    """
    return len(query.replace(" ", "")) // 5


def name_similarities(query: str, names: list[str]) -> np.ndarray:
    """Return the similarity 0…1 of names that are spelt almost like the query, (N,); 0 for other names."""
    max_edits = min(max_word_edits(len(query)), max_query_edits(query))
    if not max_edits or not names:
        return np.zeros(len(names))
    similarities = _edit_similarities(query, names, max_edits)
    for index in np.flatnonzero(similarities).tolist():
        if not _is_plausible(query, names[index]):
            similarities[index] = 0
    return similarities


def _edit_similarities(text: str, others: list[str], max_edits: int, max_similarity: float = 1.0) -> np.ndarray:
    """Return `max_similarity` minus the share of wrong letters, for each of n other texts, (n,).

    The similarity is 0 for a text with more than `max_edits` wrong letters.
    """
    edits = process.cdist([text], others, scorer=OSA.distance, score_cutoff=max_edits, dtype=np.int16)[0]
    return np.where(edits <= max_edits, max_similarity - edits / len(text), 0.0)


def _is_plausible(query: str, name: str) -> bool:
    """Return whether a query can be a misspelt name: equal numbers, an equal start, and few wrong letters per word.

    Words are compared only if query and name have the same number of words.
    """
    words, others = query.split(), name.split()
    if _number_words(words) != _number_words(others) or not _same_start(query, name):
        return False
    return len(words) != len(others) or all(map(_is_misspelling, words, others))


def _is_misspelling(word: str, other: str) -> bool:
    """Return whether two words differ in at most `max_word_edits` letters, or have equal letters in another order."""
    max_edits = max_word_edits(max(len(word), len(other)))
    return sorted(word) == sorted(other) or OSA.distance(word, other) <= max_edits


def _word_similarities(word: str, words: list[str], max_edits: int, allow_prefix: bool) -> np.ndarray:
    """Return the similarity 0…1 of each of the sorted `words` to `word`, (W,).

    It is 0 if more letters differ than `max_edits` or `max_word_edits` allows. With `allow_prefix`, the beginnings of
    `words` are also compared.
    """
    if any(letter.isdigit() for letter in word):
        max_edits = 0
    forms: dict[str, float] = {}  # form → similarity
    if max_edits and len(word) == SWAP_ONLY_LENGTH:  # "stra" is similar to "star"
        for position in range(len(word) - 1):
            swapped = word[:position] + word[position + 1] + word[position] + word[position + 2 :]
            forms[swapped] = 1 - 1 / len(word)
    if word.endswith("s") and len(word) > 3:
        forms[word[:-1]] = INFLECTED_SIMILARITY
    forms |= {f"{word}s": INFLECTED_SIMILARITY, word: 1.0}
    result = np.zeros(len(words))
    for form, similarity in forms.items():
        result[sorted_span(words, form, f"{form}{MIN_CHAR}")] = similarity
    max_edits = min(max_word_edits(len(word)), max_edits)
    if not max_edits:
        return result
    similarities = _edit_similarities(word, words, max_edits)
    if allow_prefix:
        prefixes = [other[: len(word)] for other in words]
        prefix_similarities = _edit_similarities(word, prefixes, max_edits, INFLECTED_SIMILARITY)
        similarities = np.maximum(similarities, prefix_similarities)
    has_same_start = [
        similarity > 0 and _same_start(word, other) for similarity, other in zip(similarities, words, strict=True)
    ]
    return np.maximum(result, np.where(has_same_start, similarities, 0))


def _same_start(word: str, other: str) -> bool:
    """Return whether two words have the same first letter: "poker" is not "joker". The first two can be swapped."""
    return word[0] == other[:1] or word[:2] == other[:2][::-1]


def _number_words(words: list[str]) -> list[str]:
    """Return the words that are numbers, sorted."""
    return sorted(word for word in words if word.isdigit())


class NameMatches(NamedTuple):
    """Scores of films for a query."""

    scores: np.ndarray  # (F,)
    people: dict[int, str]  # row of a film → name of the matched person


class NameLines:
    """Searches names as lines of one text, which is built and searched faster than an index of words."""

    def __init__(self, names: Sequence[str]) -> None:
        """Index N normalized names."""
        self._names = names
        self._text = "".join(f" {name}\n" for name in names)
        self._ends = list(accumulate(len(name) + 2 for name in names))  # position after each line of the text

    def search(self, query: str) -> dict[int, bool]:
        """Return index of each matching name → whether the query is the whole name, ignoring articles.

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
        film_details = [details.get(film.movie_id) for film in films]
        titles = rows_by_value(  # normalized title → rows of films
            set(map(normalize, detail.titles)) - set(map(normalize, title_names(film.title))) if detail.titles else ()
            for film, detail in zip(films, film_details, strict=True)
        )
        # name → rows of films
        people = rows_by_value(dict.fromkeys([*detail.directors, *detail.cast]) for detail in film_details)
        self._titles, self._films_of_title = NameLines(list(titles)), list(titles.values())
        self._people, self._films_of_person = list(people), list(people.values())
        self._person_names = NameLines([normalize(person) for person in people])
        self._n_films = len(films)

    def search(self, query: str) -> NameMatches:
        """Return the scores of films with a matching title or person, and the person if it has the higher score."""
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
