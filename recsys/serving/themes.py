"""Films by theme: what somebody is in the mood for, compared with what people say about each film.

A theme is taken apart into aspects, each of which a film has to some degree by its tags, its genres and, a little, its
title. The sentence encoder, where it is, knows that a detective solves crimes: it finds further tags for each aspect
and for the whole theme, and compares the theme with the text about each film. Of equally good films the better known
come first. Shapes: I films, T common tags, D numbers per vector.

What a theme asks for, taken apart: years, and aspects that a film has or has not, by tags, genres and title.

"Slasher from the 80s" asks for the years 1980–1989 and for one aspect; "cold war spies" for two, the second is "spies".
Only whole words count, give or take an ending: a heart is no art. Shapes: I films, T tags.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from recsys.data.dataset import Catalog, Dataset
from recsys.data.download import DownloadError
from recsys.errors import MissingLibraryError
from recsys.progress import ProgressCallback, no_progress
from recsys.serving.search.normalize import normalize
from recsys.text import encoder
from recsys.text.films import genre_matrix, load_vectors
from recsys.text.tags import TagTable, stem, stems

MAX_PHRASE_WORDS = 4  # words
PARTIAL_TAG_WEIGHT, PREFIX_TAG_WEIGHT = (
    0.8,
    0.7,
)  # worth of a tag with more words, and of one with a word that only begins alike
MIN_COMMON_PREFIX = 7  # letters that are alike: "apocalypse" and "apocalyptic"
GENRE_WEIGHT, SYNONYM_WEIGHT, TITLE_WEIGHT = (
    0.5,
    0.3,
    0.1,
)  # a title is a name: "The Great Mouse Detective" is not about rain

_SMALL_WORDS = (
    "a an the of in on at to for with and or about from that this some any by into its it is are be was my our your "
    "his her their film films movie movies picture something someone who which where when how want mood like please "
    "good great best very really story stories set"
)
STOP_WORDS = frozenset(_SMALL_WORDS.split())
GENRE_SYNONYMS = {  # what people call genres, or what is mostly of one, as MovieLens writes it
    "sci fi": "Sci-Fi",
    "science fiction": "Sci-Fi",
    "scifi": "Sci-Fi",
    "noir": "Film-Noir",
    "detective": "Mystery",
    "whodunit": "Mystery",
    "murder mystery": "Mystery",
    "heist": "Crime",
    "gangster": "Crime",
    "kids": "Children",
    "family": "Children",
    "animated": "Animation",
    "cartoon": "Animation",
    "scary": "Horror",
    "slasher": "Horror",
    "funny": "Comedy",
    "love": "Romance",
    "love story": "Romance",
    "romantic": "Romance",
}
_DECADES = ("twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties")
_FULL_YEARS = re.compile(r"\b((?:18|19|20)\d\d)('?s)?\b")
_SHORT_DECADE = re.compile(r"(?<!\d)'?(\d)0'?s\b")


@dataclass
class ThemeAspect:
    """One thing that is asked for, and how far each film has it."""

    text: str
    weight: float  # how much it counts: rare things more
    coverage: np.ndarray  # (I,) 0…1
    tags: dict[int, float] = field(default_factory=dict)  # tag → how much it says, 0…1
    genre: str = ""


def parse_years(theme: str) -> tuple[str, tuple[int, int] | None]:
    """A plain theme without its years, and the first and the last of them: "slasher from the 80s" → 1980–1989."""
    for number, word in enumerate(_DECADES):
        theme = re.sub(rf"\b{word}\b", f"19{number + 2}0s", theme)
    if match := _FULL_YEARS.search(theme):
        first = int(match[1])
        return theme.replace(match[0], " "), (first, first + 9) if match[2] else (first, first)
    if match := _SHORT_DECADE.search(theme):
        decade = 10 * int(match[1])
        first = 1900 + decade if decade > 10 else 2000 + decade
        return theme.replace(match[0], " "), (first, first + 9)
    return theme, None


class ThemeParser:
    """Takes themes apart for the films of one catalogue."""

    def __init__(self, catalog: Catalog, table: TagTable) -> None:
        self.table, self._n = table, len(catalog)
        matrix, names = genre_matrix(catalog)
        self._genres = {name: matrix[:, column] for column, name in enumerate(names)}
        self._genre_of = {stems(name): genre for name, genre in GENRE_SYNONYMS.items() if genre in self._genres}
        self._own_names = {stems(normalize(name)): name for name in names}
        self._genre_of |= self._own_names
        self._in_titles: dict[str, list[int]] = {}
        for item, film in enumerate(catalog.films[: len(catalog)]):
            for word in set(stems(normalize(film.title))):
                self._in_titles.setdefault(word, []).append(item)

    def read(self, theme: str) -> list[ThemeAspect]:
        """The aspects of a theme without its years."""
        return [self._aspect(phrase, text) for phrase, text in self._phrases(normalize(theme.replace("-", " ")))]

    def _phrases(self, theme: str) -> list[tuple[tuple[str, ...], str]]:
        """Its words that matter, as stems and as written; those that are a tag or a genre together stay together."""
        words, found, start = theme.split(), [], 0
        while start < len(words):
            for length in range(MAX_PHRASE_WORDS, 0, -1):
                part = words[start : start + length]
                phrase = tuple(map(stem, part))
                if len(part) == length and (length == 1 or self._is_notion(part, phrase)):
                    break
            if not set(part) <= STOP_WORDS:
                found.append((phrase, " ".join(part)))
            start += length
        return found

    def _is_notion(self, part: list[str], phrase: tuple[str, ...]) -> bool:
        inner = part[0] not in STOP_WORDS and part[-1] not in STOP_WORDS
        return inner and (phrase in self._genre_of or self.table.is_common(phrase, min_films=2))

    def _aspect(self, phrase: tuple[str, ...], text: str) -> ThemeAspect:
        """How far films have an aspect, by tags, genre and title."""
        tags, genre = self._tags_of(phrase), self._genre_of.get(phrase, "")
        coverage = tag_match(self.table, tags)
        for item in set.intersection(*(set(self._in_titles.get(word, ())) for word in phrase)):
            coverage[item] = max(coverage[item], TITLE_WEIGHT)
        if genre:
            worth = GENRE_WEIGHT if phrase in self._own_names else SYNONYM_WEIGHT
            coverage = np.maximum(coverage, worth * self._genres[genre])
        known = bool(genre) or self.table.is_common(phrase)
        return ThemeAspect(text, self._weight(int(np.count_nonzero(coverage)), known), coverage, tags, genre)

    def _tags_of(self, phrase: tuple[str, ...]) -> dict[int, float]:
        """Tags that say something of an aspect, and how much."""
        table = self.table
        tags: dict[int, float] = {}
        if len(phrase) == 1 and len(phrase[0]) >= MIN_COMMON_PREFIX:
            for word, holding in table.by_stem.items():
                if word.startswith(phrase[0][:MIN_COMMON_PREFIX]):
                    tags |= {tag: PREFIX_TAG_WEIGHT / len(table.words[tag].split()) for tag in holding}
        for tag in set.intersection(*(set(table.by_stem.get(word, ())) for word in phrase)):
            tags[tag] = max(tags.get(tag, 0), PARTIAL_TAG_WEIGHT * len(phrase) / len(table.words[tag].split()))
        return tags | dict.fromkeys(table.by_phrase.get(phrase, ()), 1.0)

    def _weight(self, n_films: int, known: bool) -> float:
        """Rare aspects count more, up to three times; what is no tag and no genre ("gone wrong") counts little."""
        rarity = min(max(np.log(self._n / (n_films + 5)), 1), 3)
        return float(rarity if known else 0.3 * rarity)


def tag_match(table: TagTable, tags: dict[int, float]) -> np.ndarray:
    """(I,) how far each film has one of these tags, each worth so much."""
    if not tags:
        return np.zeros(table.strength.shape[0])
    columns = list(tags)
    worth = np.fromiter(tags.values(), np.float64, len(tags))
    return table.strength[:, columns].multiply(worth[None, :]).max(axis=1).toarray().ravel()


MAX_THEME_CHARS = 300  # characters of a theme that are read
POWER_MEAN_EXPONENT = (
    0.5  # exponent of a power mean: below 1, so that a film with a bit of each aspect beats one with one of them
)
MIN_TAG_COSINE, SIMILAR_TAG_WEIGHT = (
    0.5,
    0.8,
)  # cosine above which a tag is like an aspect; what the likest one is worth
N_NEAREST_TAGS = 20  # of the whole theme
TAG_WEIGHT, TEXT_WEIGHT, POPULARITY_WEIGHT = (
    0.15,
    0.6,
    0.3,
)  # worth of those tags, of the text, and of being watched most
CHILDREN_GENRES = frozenset({"Children", "Children's"})  # as one set writes it, and another
CHILDREN_WEIGHT = 0.8  # weight of such films where a theme does not ask for one
MAX_REASONS = 3  # tags or genres named for a film


class Missing(Enum):
    """What a comparison by meaning lacks, so that themes are compared word by word."""

    NOTHING = "nothing"  # they are compared by meaning
    VECTORS = "vectors"  # the films of this set were never encoded, which takes minutes for a large one
    ENCODER = "encoder"  # it is not on this machine
    LIBRARY = "library"  # sentence-transformers is not installed


@dataclass(frozen=True)
class ThemeMatch:
    """One film that fits a theme."""

    item: int
    score: float  # above 0; comparable within one theme
    because: tuple[str, ...] = ()  # tags and genres of the film that fit, the best first


@dataclass(frozen=True)
class SentenceVectors:
    """What the encoder knows of a data set."""

    encode: Callable[[Sequence[str]], np.ndarray]  # n texts → (n, D), rows of length 1
    films: np.ndarray  # (I, D)
    tags: np.ndarray  # (T, D)


class ThemeIndex:
    """Searches the films of a data set by theme."""

    def __init__(
        self, dataset: Dataset, table: TagTable, meaning: SentenceVectors | None, missing: Missing = Missing.NOTHING
    ) -> None:
        self.missing, self._meaning, self._table = missing, meaning, table
        self._reader = ThemeParser(dataset.catalog, table)
        self._years = dataset.catalog.movies["year"].fillna(0).to_numpy(np.int64)  # (I,)
        self._genres = [set(genres.split("|")) for genres in dataset.catalog.movies["genres"]]
        children = np.array([bool(own & CHILDREN_GENRES) for own in self._genres], bool)
        self._not_asked = np.where(children, CHILDREN_WEIGHT, 1.0)  # (I,)
        known = np.log1p(dataset.counts)
        self._fame = 1 + POPULARITY_WEIGHT * known / max(known.max(initial=0), 1)  # (I,)

    def search(self, theme: str, limit: int = 8) -> list[ThemeMatch]:
        """Up to `limit` films that fit, the best first, equally good ones by item."""
        theme = " ".join(theme.split())[:MAX_THEME_CHARS]
        if not theme:
            return []
        rest, years = parse_years(theme.lower())
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
        if not any(aspect.genre in CHILDREN_GENRES | {"Animation"} for aspect in aspects):
            score = score * self._not_asked
        score = score * self._fame
        order = np.argsort(-score, kind="stable")[: max(0, limit)]
        return [
            ThemeMatch(item, float(score[item]), self._because(item, aspects))
            for item in order.tolist()
            if score[item] > 0
        ]

    def _widen(self, aspect: ThemeAspect, vector: np.ndarray) -> None:
        """Let an aspect be covered by tags that mean the same."""
        assert self._meaning is not None
        cosines = self._meaning.tags @ vector  # (T,)
        for number in np.flatnonzero(cosines > MIN_TAG_COSINE).tolist():
            tag = int(self._table.common[number])
            worth = SIMILAR_TAG_WEIGHT * (float(cosines[number]) - MIN_TAG_COSINE) / (1 - MIN_TAG_COSINE)
            aspect.tags[tag] = max(aspect.tags.get(tag, 0), worth)
        aspect.coverage = np.maximum(aspect.coverage, tag_match(self._table, aspect.tags))

    def _by_aspects(self, aspects: Sequence[ThemeAspect]) -> np.ndarray:
        """(I,) 0…1 how much of the theme each film has: a power mean over its aspects."""
        total = sum(aspect.weight for aspect in aspects)
        if not total:
            return np.zeros(len(self._years))
        powers = sum(aspect.weight * aspect.coverage**POWER_MEAN_EXPONENT for aspect in aspects)
        return np.asarray((powers / total) ** (1 / POWER_MEAN_EXPONENT))

    def _by_meaning(self, vector: np.ndarray) -> np.ndarray:
        """(I,) what the encoder says of the theme as a whole: its nearest tags, and the text about each film."""
        assert self._meaning is not None
        score = TEXT_WEIGHT * (self._meaning.films @ vector)
        cosines = self._meaning.tags @ vector  # (T,)
        nearest = np.argsort(-cosines, kind="stable")[:N_NEAREST_TAGS]
        if len(nearest):
            above = np.maximum(cosines[nearest] - cosines[nearest[-1]] + 0.02, 0)
            score = score + TAG_WEIGHT * (self._table.strength[:, self._table.common[nearest]] @ (above / above.max()))
        return np.asarray(score)

    def _because(self, item: int, aspects: Sequence[ThemeAspect]) -> tuple[str, ...]:
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
        return tuple(dict.fromkeys(found))[:MAX_REASONS]


def open_index(dataset: Dataset, report: ProgressCallback = no_progress) -> ThemeIndex:
    """The best index that needs neither a download nor minutes of work; it takes seconds, so keep it.

    The tags are encoded once, which takes some seconds; reports {"stage": "encode", "done", "total"}.
    """
    table = TagTable(dataset.catalog, [normalize(word) for word in dataset.catalog.tags.words])
    vectors = load_vectors(dataset.name, dataset.catalog)
    if vectors is None:
        return ThemeIndex(dataset, table, None, Missing.VECTORS)
    try:
        encode = encoder.load(no_progress, fetch=False)
        meaning = SentenceVectors(
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
