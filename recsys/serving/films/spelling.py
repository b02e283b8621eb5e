"""Which names somebody may have meant who typed another: a few letters wrong, missing, swapped, or a blank too many.

The longer a word, the more of its letters may be wrong; of a whole query at most a fifth.
Shapes: N names, W different words, Q words of the query.
"""

from bisect import bisect_left
from collections.abc import Callable

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA

WORDS = 8  # words of a query that are corrected one by one


def may_be_wrong(letters: int) -> int:
    """How many letters of a word or name of that length may be wrong: 0, 1 from 5, 2 from 9, 3 from 14."""
    return int(np.searchsorted([5, 9, 14], letters, side="right"))


def most_wrong(query: str) -> int:
    """How many letters of a whole query may be wrong: "tarantino" is not "Tarnation", of which two of nine differ."""
    return len(query.replace(" ", "")) // 5


def similar_names(query: str, names: list[str]) -> np.ndarray:
    """(N,) how similar, 0…1, the names are that are spelt almost like the query; 0 for the others."""
    allowed = min(may_be_wrong(len(query)), most_wrong(query))
    if not allowed or not names:
        return np.zeros(len(names))
    wrong = process.cdist([query], names, scorer=OSA.distance, score_cutoff=allowed, dtype=np.int16)[0]
    similar = np.where(wrong <= allowed, 1 - wrong / len(query), 0.0)
    for name in np.flatnonzero(similar).tolist():
        if not _plausible(query, names[name]):
            similar[name] = 0
    return similar


def _plausible(query: str, name: str) -> bool:
    """Whether the wrong letters are spread over words that are long enough for them, and the numbers are right."""
    words, others = query.split(), name.split()
    if _numbers(words) != _numbers(others) or not _same_start(query, name):
        return False
    return len(words) != len(others) or all(map(_misspelt, words, others))


def _misspelt(word: str, other: str) -> bool:
    """Whether two words of the same position may be one: few letters wrong for their length, or the same ones moved."""
    allowed = may_be_wrong(max(len(word), len(other)))
    return sorted(word) == sorted(other) or OSA.distance(word, other) <= allowed


def similar_words(query: list[str], words: list[str], spread: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """(N,) how similar, 0…1, each name's words are to those of the query; 0 where one of them has no counterpart.

    `words` are sorted; `spread` turns the similarity of each word (W,) into that of each name's best one (N,). Of the
    last word of the query the beginning is enough.
    """
    total: np.ndarray | None = None
    for index, word in enumerate(query[:WORDS]):
        similar = spread(_counterparts(word, words, most_wrong(" ".join(query)), half=index == len(query) - 1))
        total = similar if total is None else np.where(similar > 0, total + similar, 0) * (total > 0)
        if not total.any():
            return total
    assert total is not None
    return total / min(len(query), WORDS)


def _counterparts(word: str, words: list[str], most: int, half: bool) -> np.ndarray:
    """(W,) how similar each word is to one of the query, with at most so many wrong letters; 0 for another word."""
    similar = _plural(word, words)
    allowed = min(may_be_wrong(len(word)), most)
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


def _plural(word: str, words: list[str]) -> np.ndarray:
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


def _numbers(words: list[str]) -> list[str]:
    return sorted(word for word in words if word.isdigit())
