"""Films by theme: what somebody is in the mood for, compared with what people say about each film.

A theme is taken apart into aspects, each of which a film has to some degree by its tags, its genres and, a little, its
title. The sentence encoder, where it is, knows that a detective solves crimes: it finds further tags for each aspect
and for the whole theme, and compares the theme with the text about each film. Of equally good films the better known
come first. Shapes: I films, T common tags, D numbers per vector.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from recsys.data.dataset import Dataset
from recsys.data.download import DownloadError
from recsys.errors import MissingLibraryError
from recsys.progress import ProgressCallback, no_progress
from recsys.serving.films.aspects import Aspect, AspectReader, covered, years_of
from recsys.serving.films.names import normalise
from recsys.text import encoder
from recsys.text.films import load_vectors
from recsys.text.tags import TagTable

LONGEST = 300  # characters of a theme that are read
ALL_OF_IT = (
    0.5  # exponent of a power mean: below 1, so that a film with a bit of each aspect beats one with one of them
)
ALIKE, ALIKE_TAG = 0.5, 0.8  # cosine above which a tag is like an aspect; what the likest one is worth
NEAREST_TAGS = 20  # of the whole theme
BY_TAGS, BY_TEXT, WELL_KNOWN = 0.15, 0.6, 0.3  # worth of those tags, of the text, and of being watched most
FOR_CHILDREN = frozenset({"Children", "Children's"})  # as one set writes it, and another
NOT_ASKED = 0.8  # weight of such films where a theme does not ask for one
REASONS = 3  # tags or genres named for a film


class Missing(Enum):
    """What a comparison by meaning lacks, so that themes are compared word by word."""

    NOTHING = "nothing"  # they are compared by meaning
    VECTORS = "vectors"  # the films of this set were never encoded, which takes minutes for a large one
    ENCODER = "encoder"  # it is not on this machine
    LIBRARY = "library"  # sentence-transformers is not installed


@dataclass(frozen=True)
class Near:
    """One film that fits a theme."""

    item: int
    score: float  # above 0; comparable within one theme
    because: tuple[str, ...] = ()  # tags and genres of the film that fit, the best first


@dataclass(frozen=True)
class Meaning:
    """What the encoder knows of a data set."""

    encode: Callable[[Sequence[str]], np.ndarray]  # n texts → (n, D), rows of length 1
    films: np.ndarray  # (I, D)
    tags: np.ndarray  # (T, D)


class ThemeIndex:
    """Searches the films of a data set by theme."""

    def __init__(
        self, dataset: Dataset, table: TagTable, meaning: Meaning | None, missing: Missing = Missing.NOTHING
    ) -> None:
        self.missing, self._meaning, self._table = missing, meaning, table
        self._reader = AspectReader(dataset.catalog, table)
        self._years = dataset.catalog.movies["year"].fillna(0).to_numpy(np.int64)  # (I,)
        self._genres = [set(genres.split("|")) for genres in dataset.catalog.movies["genres"]]
        children = np.array([bool(own & FOR_CHILDREN) for own in self._genres], bool)
        self._not_asked = np.where(children, NOT_ASKED, 1.0)  # (I,)
        known = np.log1p(dataset.counts)
        self._fame = 1 + WELL_KNOWN * known / max(known.max(initial=0), 1)  # (I,)

    def search(self, theme: str, limit: int = 8) -> list[Near]:
        """Up to `limit` films that fit, the best first, equally good ones by item."""
        theme = " ".join(theme.split())[:LONGEST]
        if not theme:
            return []
        rest, years = years_of(theme.lower())
        aspects = self._reader.read(rest)
        vectors = self._meaning.encode([theme, *(aspect.text for aspect in aspects)]) if self._meaning else None
        if vectors is not None:
            for aspect, vector in zip(aspects, vectors[1:], strict=True):
                self._widen(aspect, vector)
        score = self._by_aspects(aspects)
        if vectors is not None:
            score += self._by_meaning(vectors[0])
        if years:
            score = (score if aspects else self._fame) * ((self._years >= years[0]) & (self._years <= years[1]))
        if not any(aspect.genre in FOR_CHILDREN | {"Animation"} for aspect in aspects):
            score = score * self._not_asked
        score = score * self._fame
        order = np.argsort(-score, kind="stable")[: max(0, limit)]
        return [
            Near(item, float(score[item]), self._because(item, aspects)) for item in order.tolist() if score[item] > 0
        ]

    def _widen(self, aspect: Aspect, vector: np.ndarray) -> None:
        """Let an aspect be covered by tags that mean the same."""
        assert self._meaning is not None
        cosines = self._meaning.tags @ vector  # (T,)
        for number in np.flatnonzero(cosines > ALIKE).tolist():
            tag = int(self._table.common[number])
            worth = ALIKE_TAG * (float(cosines[number]) - ALIKE) / (1 - ALIKE)
            aspect.tags[tag] = max(aspect.tags.get(tag, 0), worth)
        aspect.coverage = np.maximum(aspect.coverage, covered(self._table, aspect.tags))

    def _by_aspects(self, aspects: Sequence[Aspect]) -> np.ndarray:
        """(I,) 0…1 how much of the theme each film has: a power mean over its aspects."""
        total = sum(aspect.weight for aspect in aspects)
        if not total:
            return np.zeros(len(self._years))
        powers = sum(aspect.weight * aspect.coverage**ALL_OF_IT for aspect in aspects)
        return np.asarray((powers / total) ** (1 / ALL_OF_IT))

    def _by_meaning(self, vector: np.ndarray) -> np.ndarray:
        """(I,) what the encoder says of the theme as a whole: its nearest tags, and the text about each film."""
        assert self._meaning is not None
        score = BY_TEXT * (self._meaning.films @ vector)
        cosines = self._meaning.tags @ vector  # (T,)
        nearest = np.argsort(-cosines, kind="stable")[:NEAREST_TAGS]
        if len(nearest):
            above = np.maximum(cosines[nearest] - cosines[nearest[-1]] + 0.02, 0)
            score = score + BY_TAGS * (self._table.strength[:, self._table.common[nearest]] @ (above / above.max()))
        return np.asarray(score)

    def _because(self, item: int, aspects: Sequence[Aspect]) -> tuple[str, ...]:
        """For each aspect the tag of the film that says most of it, else its genre."""
        found: list[str] = []
        for aspect in sorted(aspects, key=lambda aspect: -aspect.weight):
            tags = list(aspect.tags)
            worth = (
                self._table.strength[:, tags][[item], :].toarray().ravel() * list(aspect.tags.values()) if tags else []
            )
            if len(tags) and np.max(worth) > 0:
                found.append(self._table.words[tags[int(np.argmax(worth))]])
            elif aspect.genre and aspect.genre in self._genres[item]:
                found.append(aspect.genre)
        return tuple(dict.fromkeys(found))[:REASONS]


def open_index(dataset: Dataset, report: ProgressCallback = no_progress) -> ThemeIndex:
    """The best index that needs neither a download nor minutes of work; it takes seconds, so keep it.

    The tags are encoded once, which takes some seconds; reports {"stage": "encode", "done", "total"}.
    """
    table = TagTable(dataset.catalog, [normalise(word) for word in dataset.catalog.tags.words])
    vectors = load_vectors(dataset.name, dataset.catalog)
    if vectors is None:
        return ThemeIndex(dataset, table, None, Missing.VECTORS)
    try:
        encode = encoder.load(no_progress, fetch=False)
        meaning = Meaning(
            lambda texts: encode(texts, no_progress), vectors, table.vectors(dataset.name, encode, report)
        )
    except DownloadError:
        return ThemeIndex(dataset, table, None, Missing.ENCODER)
    except MissingLibraryError:
        return ThemeIndex(dataset, table, None, Missing.LIBRARY)
    return ThemeIndex(dataset, table, meaning)


def fetch_encoder(report: ProgressCallback) -> None:
    """Download the sentence encoder, 90 MB, once; reports {"stage": "download", "done", "total"}.

    Raises DownloadError, and MissingLibraryError without sentence-transformers.
    """
    encoder.load(report)
