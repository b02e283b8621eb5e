"""The tags of a catalogue's films: which film has which and how surely, their words, and their sentence vectors.

Shapes: I films, T different tags.
"""

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from scipy import sparse

from recsys import paths
from recsys.data.schema import Catalog
from recsys.progress import Report, ignore
from recsys.text import encoder, films

Encode = Callable[[Sequence[str], Report], np.ndarray]  # n texts → (n, 384), rows of length 1
COMMON = 3  # films that have a tag which is a notion of many people, rather than one person's note


def stem(word: str) -> str:
    """A plain word without its ending: "spies" and "spy" are one word, "rainy" and "rain", not "art" and "heart"."""
    if word.endswith(("ches", "shes", "xes", "sses")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        word = word[:-1]
    if word.endswith("ing") and len(word) > 6:
        word = word[:-3]
    if word.endswith(("ie", "y")) and not word.endswith(("ay", "ey", "oy")) and len(word) > 2:
        word = word.removesuffix("ie").removesuffix("y") + "i"
    return word[:-1] if word.endswith("i") and len(word) > 4 else word


def stems(text: str) -> tuple[str, ...]:
    """The words of a plain text, each without its ending."""
    return tuple(map(stem, text.split()))


class TagTable:
    """Which film has which tag; films left out of training are not in it."""

    def __init__(self, catalog: Catalog, plain: Sequence[str]) -> None:
        """plain: (W,) the plain form of each of `catalog.tags.words`; tags of one form are one."""
        given = catalog.tags
        self.words = sorted(set(plain) - {""})  # T
        number = {word: index for index, word in enumerate(self.words)}
        item = np.array([catalog.item_of.get(movie, -1) for movie in given.movie.tolist()], np.int64)
        tag = np.array([number.get(plain[word], -1) for word in given.word.tolist()], np.int64)
        known = (item >= 0) & (tag >= 0)
        shape = (len(catalog), len(self.words))
        times = sparse.coo_array((np.ones(known.sum(), np.float32), (item[known], tag[known])), shape=shape).tocsc()
        self.n_films = np.diff(times.indptr)  # (T,) films that have it
        times.data = times.data / (times.data + 1)  # given once ½, twice ⅔, …
        self.strength = times  # (I, T)
        self.by_phrase: dict[tuple[str, ...], list[int]] = {}  # stems → tags that consist of them
        self.by_stem: dict[str, list[int]] = {}  # stem → tags that contain it
        for index, word in enumerate(self.words):
            self.by_phrase.setdefault(stems(word), []).append(index)
            for part in set(stems(word)):
                self.by_stem.setdefault(part, []).append(index)

    @cached_property
    def common(self) -> np.ndarray:
        """The tags that COMMON films or more have, ascending."""
        return np.flatnonzero(self.n_films >= COMMON)

    def is_common(self, phrase: tuple[str, ...], least: int = COMMON) -> bool:
        """Whether a tag of these stems is known from that many films."""
        return any(self.n_films[tag] >= least for tag in self.by_phrase.get(phrase, ()))

    def vectors(self, dataset: str, encode: Encode, report: Report = ignore) -> np.ndarray:
        """(common tags, 384) float32, rows of length 1: shipped, kept from an earlier call, or encoded now and kept."""
        texts = [self.words[tag] for tag in self.common]
        known_as = films.texts_fingerprint(texts)
        own = paths.tag_vectors(dataset, known_as)
        if (found := films.read([paths.shipped_tag_vectors(dataset), own], known_as)) is not None:
            return found
        if not texts:
            return np.zeros((0, encoder.DIM), np.float32)
        return films.keep(encode(texts, report), own, known_as)
