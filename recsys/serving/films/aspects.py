"""What a theme asks for, taken apart: years, and aspects that a film has or has not, by tags, genres and title.

"Slasher from the 80s" asks for the years 1980–1989 and for one aspect; "cold war spies" for two, the second is "spies".
Only whole words count, give or take an ending: a heart is no art. Shapes: I films, T tags.
"""

import re
from dataclasses import dataclass, field

import numpy as np

from recsys.data.dataset import Catalog
from recsys.serving.films.names import normalise
from recsys.text.films import genre_matrix
from recsys.text.tags import TagTable, stem, stems

LONGEST_PHRASE = 4  # words
PART_OF_TAG, SAME_START = 0.8, 0.7  # worth of a tag with more words, and of one with a word that only begins alike
LIKE_START = 7  # letters that are alike: "apocalypse" and "apocalyptic"
GENRE, NEAR_GENRE, TITLE = 0.5, 0.3, 0.1  # a title is a name: "The Great Mouse Detective" is not about rain

_SMALL = (
    "a an the of in on at to for with and or about from that this some any by into its it is are be was my our your "
    "his her their film films movie movies picture something someone who which where when how want mood like please "
    "good great best very really story stories set"
)
STOP_WORDS = frozenset(_SMALL.split())
GENRES = {  # what people call genres, or what is mostly of one, as MovieLens writes it
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
class Aspect:
    """One thing that is asked for, and how far each film has it."""

    text: str
    weight: float  # how much it counts: rare things more
    coverage: np.ndarray  # (I,) 0…1
    tags: dict[int, float] = field(default_factory=dict)  # tag → how much it says, 0…1
    genre: str = ""


def years_of(theme: str) -> tuple[str, tuple[int, int] | None]:
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


class AspectReader:
    """Takes themes apart for the films of one catalogue."""

    def __init__(self, catalog: Catalog, table: TagTable) -> None:
        self.table, self._n = table, len(catalog)
        matrix, names = genre_matrix(catalog)
        self._genres = {name: matrix[:, column] for column, name in enumerate(names)}
        self._genre_of = {stems(name): genre for name, genre in GENRES.items() if genre in self._genres}
        self._own_names = {stems(normalise(name)): name for name in names}
        self._genre_of |= self._own_names
        self._in_titles: dict[str, list[int]] = {}
        for item, film in enumerate(catalog.films[: len(catalog)]):
            for word in set(stems(normalise(film.title))):
                self._in_titles.setdefault(word, []).append(item)

    def read(self, theme: str) -> list[Aspect]:
        """The aspects of a theme without its years."""
        return [self._aspect(phrase, text) for phrase, text in self._phrases(normalise(theme.replace("-", " ")))]

    def _phrases(self, theme: str) -> list[tuple[tuple[str, ...], str]]:
        """Its words that matter, as stems and as written; those that are a tag or a genre together stay together."""
        words, found, start = theme.split(), [], 0
        while start < len(words):
            for length in range(LONGEST_PHRASE, 0, -1):
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

    def _aspect(self, phrase: tuple[str, ...], text: str) -> Aspect:
        """How far films have an aspect, by tags, genre and title."""
        tags, genre = self._tags_of(phrase), self._genre_of.get(phrase, "")
        coverage = covered(self.table, tags)
        for item in set.intersection(*(set(self._in_titles.get(word, ())) for word in phrase)):
            coverage[item] = max(coverage[item], TITLE)
        if genre:
            worth = GENRE if phrase in self._own_names else NEAR_GENRE
            coverage = np.maximum(coverage, worth * self._genres[genre])
        known = bool(genre) or self.table.is_common(phrase)
        return Aspect(text, self._weight(int(np.count_nonzero(coverage)), known), coverage, tags, genre)

    def _tags_of(self, phrase: tuple[str, ...]) -> dict[int, float]:
        """Tags that say something of an aspect, and how much."""
        table = self.table
        tags: dict[int, float] = {}
        if len(phrase) == 1 and len(phrase[0]) >= LIKE_START:
            for word, holding in table.by_stem.items():
                if word.startswith(phrase[0][:LIKE_START]):
                    tags |= {tag: SAME_START / len(table.words[tag].split()) for tag in holding}
        for tag in set.intersection(*(set(table.by_stem.get(word, ())) for word in phrase)):
            tags[tag] = max(tags.get(tag, 0), PART_OF_TAG * len(phrase) / len(table.words[tag].split()))
        return tags | dict.fromkeys(table.by_phrase.get(phrase, ()), 1.0)

    def _weight(self, n_films: int, known: bool) -> float:
        """Rare aspects count more, up to three times; what is no tag and no genre ("gone wrong") counts little."""
        rarity = min(max(np.log(self._n / (n_films + 5)), 1), 3)
        return float(rarity if known else 0.3 * rarity)


def covered(table: TagTable, tags: dict[int, float]) -> np.ndarray:
    """(I,) how far each film has one of these tags, each worth so much."""
    if not tags:
        return np.zeros(table.strength.shape[0])
    columns = list(tags)
    worth = np.fromiter(tags.values(), np.float64, len(tags))
    return table.strength[:, columns].multiply(worth[None, :]).max(axis=1).toarray().ravel()
