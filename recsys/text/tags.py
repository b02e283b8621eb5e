"""The tags of the films of a catalogue: a matrix of films and tags, an index by word stem, and sentence vectors.

A theme of a film counts as a tag of this film with the strength THEME_STRENGTH.

Shapes: I films, W distinct tags.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np
from scipy import sparse

from recsys.data.dataset import Catalog
from recsys.progress import ProgressCallback
from recsys.text import encoder, films
from recsys.text.fields import count_pairs, tag_counts

Encode = Callable[[Sequence[str], ProgressCallback], np.ndarray]  # n texts → (n, 384), rows of length 1
THEME_STRENGTH = 0.6  # strength of a theme of a film if no user gave it to the film as a tag
MIN_FILMS = 3  # of a common tag; a tag of fewer films is often a private note of its author


def stem(word: str) -> str:
    """Return a normalised word without its ending, such as "spi" for both "spies" and "spy"."""
    if word.endswith(("knives", "wives")):
        word = f"{word[:-3]}fe"
    elif word.endswith(("ches", "shes", "xes", "sses")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        word = word[:-1]
    if word.endswith(("cing", "ving")):  # "dancing" → "dance", "loving" → "love"
        word = f"{word[:-3]}e"
    elif word.endswith("ing") and len(word) > 6:  # "fighting" → "fight", but "boxing" → "boxing"
        word = word[:-3]
    if word.endswith("oe") and len(word) > 4:  # "heroe" of "heroes" → "hero"
        word = word[:-1]
    elif word.endswith(("lve", "arve", "ieve")):  # "wolve" of "wolves" → "wolf", "thieve" → "thief"
        word = f"{word[:-2]}f"
    if word.endswith(("ie", "y")) and not word.endswith(("ay", "ey", "oy")) and len(word) > 2:
        word = word.removesuffix("ie").removesuffix("y") + "i"  # "spie" of "spies", and "spy" → "spi"
    return word[:-1] if word.endswith("i") and len(word) > 4 else word  # "creepi" → "creep"


def stems(text: str) -> tuple[str, ...]:
    """Return the stem of each word of a normalised text."""
    return tuple(map(stem, text.split()))


def _strength(counts: sparse.csc_array) -> sparse.csc_array:
    """Return n / (n + 1) · (1 + √s) / 2 for a film that got a tag n times, (I, W) sparse.

    The share s is n divided by the uses of the most frequent tag of the film. A popular film has many tags, and only
    the frequent ones describe its subject: *Die Hard* has "christmas" three times and "action" eight times.
    """
    max_uses = np.zeros(counts.shape[0], np.float32)
    np.maximum.at(max_uses, counts.indices, counts.data)
    strength = counts.copy()
    share = counts.data / max_uses[counts.indices]
    strength.data = counts.data / (counts.data + 1) * (1 + np.sqrt(share)) / 2
    return strength


class TagTable:
    """The tags of the films of a catalogue.

    Attributes:
        texts: The W distinct tags and themes in alphabetical order. Elsewhere, a tag is its index in this list.
        n_films: The number of films that have each tag or theme, (W,).
        n_tagged_films: The number of films to which users gave each tag, (W,).
        strength: How much a film is about a tag, 0…1, (I, W), sparse; see `_strength`. A theme raises the strength s
            of the tag of that name to 1 − (1 − s) · (1 − THEME_STRENGTH).
        by_phrase: Stems → tags that consist of exactly these stems, in this order.
        by_stem: Stem → tags that contain it.
    """

    def __init__(self, catalog: Catalog, normalised_tags: Sequence[str], themes: Mapping[int, Sequence[str]]) -> None:
        """Count how often each film has each tag.

        `normalised_tags` has the normalised form of each of `catalog.tags.texts`. Tags with equal forms become one tag,
        and tags with the form "" are left out. `themes` has the normalised themes of films by movie id.
        """
        self.texts = sorted({*normalised_tags, *itertools.chain.from_iterable(themes.values())} - {""})
        index_of = {text: index for index, text in enumerate(self.texts)}
        shape = len(catalog), len(self.texts)
        uses = tag_counts(catalog).tocoo()  # column: index of `catalog.tags.texts`
        tags = np.array([index_of.get(text, -1) for text in normalised_tags], np.int64)[uses.col]
        is_listed = tags >= 0
        counts = sparse.coo_array((uses.data[is_listed], (uses.row[is_listed], tags[is_listed])), shape).tocsc()
        theme_pairs = [
            (item, index_of[theme])
            for item, movie_id in enumerate(catalog.movie_ids.tolist())
            for theme in set(themes.get(movie_id, ()))
        ]
        items_with_theme, theme_tags = np.array(theme_pairs, np.int64).reshape(-1, 2).T
        has_theme = count_pairs(items_with_theme, theme_tags, shape).tocsc()
        self.n_tagged_films = np.diff(counts.indptr)
        self.n_films = np.diff((counts + has_theme).indptr)
        phrases = list(map(stems, self.texts))
        self.by_phrase = films.rows_by_value([phrase] for phrase in phrases)
        self.by_stem = films.rows_by_value(map(set, phrases))
        tag_strength = _strength(self._sum_equal_phrases(counts.astype(np.float32)))
        theme_strength = THEME_STRENGTH * self._sum_equal_phrases(has_theme.astype(np.float32)).minimum(1)
        self.strength = (tag_strength + theme_strength - tag_strength * theme_strength).tocsc()

    def _sum_equal_phrases(self, counts: sparse.csc_array) -> sparse.csc_array:
        """Return the uses of each tag and of tags with equal stems, (I, W): "dance" and "dancing" count as one tag."""
        pairs = [(tag, other) for tags in self.by_phrase.values() for tag in tags for other in tags]
        rows, columns = np.array(pairs, np.int64).reshape(-1, 2).T
        is_equal = count_pairs(rows, columns, (len(self.texts),) * 2).astype(np.float32)
        return (counts @ is_equal).tocsc()

    @cached_property
    def encoded_tags(self) -> np.ndarray:
        """The tags with a sentence vector, which users gave to at least MIN_FILMS films, ascending, (n,) int64.

        Themes do not count, so that the stored vectors of these tags stay valid when the table of themes changes.
        """
        return np.flatnonzero(self.n_tagged_films >= MIN_FILMS)

    def is_common(self, phrase: tuple[str, ...], min_films: int = MIN_FILMS) -> bool:
        """Return whether at least `min_films` films have a tag or theme that consists of the stems `phrase`."""
        return any(self.n_films[tag] >= min_films for tag in self.by_phrase.get(phrase, ()))

    def load_or_encode_vectors(self, dataset: str, encode: Encode, report: ProgressCallback) -> np.ndarray:
        """Return the sentence vectors of `encoded_tags`: shipped, stored earlier, or encoded and stored now.

        They are (n, 384) float32 with rows of length 1. `report` receives the progress of `encode`.
        """
        texts = [self.texts[tag] for tag in self.encoded_tags]
        fingerprint = films.texts_fingerprint(texts)
        if (vectors := films.read_vectors("tag", dataset, fingerprint)) is not None:
            return vectors
        if not texts:
            return np.zeros((0, encoder.DIM), np.float32)
        return films.save_vectors("tag", dataset, fingerprint, encode(texts, report))
