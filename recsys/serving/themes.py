"""Search films by theme, for example "slasher from the 80s", with tags, genres, titles and the sentence encoder.

Terms:

- A query is the text that a visitor types. It has years and phrases: "slasher from the 80s" has the years 1980–1989 and
  the phrase "slasher". "cold war spies" has the phrases "cold war" and "spies".
- An aspect is a phrase with a match score for each film, from tags, genres and, with little weight, title. Words are
  compared by their stems.
- A tag is given by users, or it is a theme from `recsys.data.film_tables.themes`.

Rules:

- The sentence encoder, if available, adds tags of similar meaning to each aspect. It also compares the whole query with
  all tags and with the text of each film.
- More popular films get higher scores.
- A negation, such as "not too long", excludes the films that have the negated tag or genre.
- An audience, such as "for a 5 year old", excludes the films that are not for children.
- If a query has only languages and genres, such as "turkish comedy", films in other languages are excluded, unless they
  have the tag "turkish". Only such a query finds infrequent films.

Shapes: I items, T encoded tags, D dimensions.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from typing import NamedTuple

import numpy as np

from recsys.data.dataset import Dataset, cache_by_dataset
from recsys.data.download import DownloadError
from recsys.data.film_tables import original_languages, themes
from recsys.errors import MissingLibraryError
from recsys.progress import ProgressCallback, no_progress
from recsys.serving.search.normalize import normalize, numbers_to_digits, strip_article
from recsys.text import encoder
from recsys.text.films import genre_matrix, rows_by_value, stored_film_vectors
from recsys.text.tags import TagTable, stem, stems

MAX_QUERY_CHARS = 300  # further characters of a query are ignored
MAX_PHRASE_WORDS = 4
MIN_TAG_FILMS = 2  # a tag of fewer films is not recognised as a phrase of a query
MAX_REASONS = 3  # tags or genres that explain a match
POWER_MEAN_EXPONENT = 0.5  # below 1, so that weak matches with all aspects score above a match with only one aspect

# weights of matches with an aspect; a tag that equals the aspect has the weight 1
PARTIAL_TAG_WEIGHT = 0.8  # a tag that also has other words; multiplied by the share of its words that are in the aspect
PREFIX_TAG_WEIGHT = 0.7  # a tag with a word that begins like the aspect; divided by the number of words of the tag
COMMON_PREFIX_LETTERS = 7  # equal letters at the beginning of such a word: "apocalypse" and "apocalyptic"
GENRE_WEIGHT = 0.5  # a genre that the aspect names
SYNONYM_WEIGHT = 0.3  # a genre that the aspect names by one of GENRE_SYNONYMS
# a film in the language that the aspect names; above most tags such as "italian", which users also give to films in
# English about Italy
LANGUAGE_WEIGHT = 0.8
TITLE_WEIGHT = 0.1  # low, because a word of a title need not be what the film is about

# weight of an aspect: its rarity, the logarithm of I / (matching films + RARITY_OFFSET), within these bounds
RARITY_OFFSET = 5
MIN_RARITY = 1
MAX_RARITY = 3
UNKNOWN_ASPECT_FACTOR = 0.3  # of the weight of an aspect that is neither a common tag nor a genre, such as "gone wrong"

# weights of the sentence encoder
MIN_TAG_COSINE = 0.5  # of a tag and an aspect, for the tag to be added to the aspect; its weight is 0 at this cosine
SIMILAR_TAG_WEIGHT = 0.8  # weight of an added tag with a cosine of 1
N_NEAREST_TAGS = 20  # number of tags, by their cosine with the whole query, that raise the scores of their films
NEAREST_TAGS_WEIGHT = 0.15
NEAREST_TAG_MARGIN = 0.02  # added to the cosines, so that the last of the nearest tags has a weight above 0
TEXT_WEIGHT = 0.6  # weight of the cosine between the query and the text of a film

POPULARITY_WEIGHT = 0.3  # the score of the most watched film is multiplied by 1.3
CHILDREN_GENRES = frozenset({"Children", "Children's"})  # the name differs between data sets
CHILDREN_FACTOR = 0.8  # of the scores of films for children if the query names neither such a genre nor "Animation"

_SMALL_WORDS = (
    "a an the of in on at to for with and or about from that this some any by into its it is are be was my our your "
    "his her their film films movie movies picture something someone who which where when how want mood like please "
    "good great best very really story stories set"
)
STOP_WORDS = frozenset(_SMALL_WORDS.split())
NEGATIONS = frozenset({"not", "no", "without"})  # words that exclude the tag or genre after them
DEGREE_WORDS = frozenset({"too", "very", "so"})  # ignored after a negation: "not very scary" excludes "scary"
GENRE_SYNONYMS = {  # genre of MovieLens → phrases
    "Animation": ("animated", "cartoon"),
    "Children": ("kids", "family"),
    "Comedy": ("funny",),
    "Crime": ("heist", "gangster"),
    "Film-Noir": ("noir",),
    "Horror": ("scary", "slasher"),
    "Mystery": ("detective", "whodunit", "murder mystery"),
    "Romance": ("love", "love story", "romantic"),
    "Sci-Fi": ("sci fi", "science fiction", "scifi"),
}
LANGUAGES = {  # phrase → codes in the table of original languages
    "african": ("am", "bm", "wo", "zu"),
    "arabic": ("ar",),
    "bulgarian": ("bg",),
    "cantonese": ("yue",),
    "chinese": ("zh", "yue"),
    "czech": ("cs",),
    "danish": ("da",),
    "dutch": ("nl",),
    "estonian": ("et",),
    "finnish": ("fi",),
    "french": ("fr",),
    "georgian": ("ka",),
    "german": ("de",),
    "greek": ("el",),
    "hebrew": ("he",),
    "hindi": ("hi",),
    "hungarian": ("hu",),
    "icelandic": ("is",),
    "indian": ("hi", "bn", "ml", "pa", "ta", "te", "ur"),
    "indonesian": ("id",),
    "iranian": ("fa",),
    "israeli": ("he",),
    "italian": ("it",),
    "japanese": ("ja",),
    "korean": ("ko",),
    "kurdish": ("ku",),
    "mandarin": ("zh",),
    "norwegian": ("no",),
    "persian": ("fa",),
    "polish": ("pl",),
    "portuguese": ("pt",),
    "romanian": ("ro",),
    "russian": ("ru",),
    "scandinavian": ("da", "no", "sv"),
    "serbian": ("sr",),
    "spanish": ("es",),
    "swedish": ("sv",),
    "thai": ("th",),
    "turkish": ("tr",),
    "ukrainian": ("uk",),
    "vietnamese": ("vi",),
}
_FOR_CHILDREN = re.compile(  # an audience, in a normalized query
    r"\b(?P<no>not )?for (?:(?:my|our|a|an|the|small|little|young) )*"
    r"(?:kids?|child(?:ren)?|toddlers?|(?:[1-9]|1[0-2]) years? olds?(?: (?:kid|child|boy|girl|son|daughter))?)\b"
    r"|\b(?:kids?|childrens?) (?:films?|movies?)\b"
)
# separators between the parts of the name of a theme; "football (soccer)" has only the part "soccer", because users
# give the tag "football" to films about American football
_THEME_SEPARATORS = re.compile(r" and | or |^.*\(|\)")
_DECADES = ("twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties")
_FULL_YEAR = re.compile(r"\b(?P<year>(?:18|19|20)\d\d)(?P<plural>'?s)?\b")
_SHORT_DECADE = re.compile(r"(?<!\d)'?(\d)0'?s\b")


class Phrase(NamedTuple):
    """One or more words of a query: a tag, a genre, or a single other word."""

    stems: tuple[str, ...]  # of the words of `text`
    text: str


@dataclass(frozen=True, eq=False)
class ThemeQuery:
    """The parts of a query."""

    phrases: list[Phrase]
    years: tuple[int, int] | None  # first and last year of release
    is_for_audience: np.ndarray  # True for the films for the audience, (I,) bool; all True if there is no audience
    is_negated: np.ndarray  # True for the films with a negated tag or genre, (I,) bool
    encoded_text: str  # text for the sentence encoder, "" if everything is negated

    @property
    def has_audience(self) -> bool:
        """Whether the query requests films for children, or films that are not for children."""
        return not self.is_for_audience.all()

    @property
    def excludes_films(self) -> bool:
        """Whether the audience or a negation excludes films."""
        return self.has_audience or bool(self.is_negated.any())


@dataclass(frozen=True, eq=False)
class ThemeAspect:
    """A phrase of a query, such as "cold war", and the films that match it."""

    text: str
    weight: float  # larger for a rare aspect
    match_scores: np.ndarray  # how well each film matches, (I,) 0…1
    tags: dict[int, float]  # index in `TagTable.texts` → relevance, 0…1
    genre: str  # the genre that the aspect names, "" if none
    languages: tuple[str, ...] = ()  # codes of the languages that the aspect requires; () if it requires none


class Missing(Enum):
    """Why an index has no sentence encoder, NOTHING if it has one. Without the encoder, only words are compared."""

    NOTHING = "nothing"
    VECTORS = "vectors"  # the films of this data set are not encoded, which takes minutes for a large data set
    ENCODER = "encoder"  # the encoder is not downloaded
    LIBRARY = "library"  # sentence-transformers is not installed


@dataclass(frozen=True)
class ThemeMatch:
    """A film that matches a query."""

    number: int  # film number
    score: float  # above 0 for an item, 0 for an infrequent film; comparable only within one query
    reasons: tuple[str, ...] = ()  # tags and genres of the film that match the query, at most MAX_REASONS


@dataclass(frozen=True)
class SentenceVectors:
    """The sentence encoder, and its vectors of the films and the encoded tags of a data set."""

    encode: Callable[[Sequence[str]], np.ndarray]  # n texts → (n, D), rows of length 1
    films: np.ndarray  # (I, D)
    tags: np.ndarray  # (T, D)


def parse_years(query: str) -> tuple[str, tuple[int, int] | None]:
    """Return a query without its years, and its (first, last) year: "slasher from the 80s" → (1980, 1989).

    If the query has several years or decades, the range includes all of them: "1980 or 1983" → (1980, 1983). If it has
    none, the range is None. "20s" to "90s" are decades of the 20th century, "00s" and "10s" of the 21st. The query must
    be in lower case.
    """
    for digit, word in enumerate(_DECADES, start=2):
        query = re.sub(rf"\b{word}\b", f"19{digit}0s", query)
    years: list[int] = []
    for match in _FULL_YEAR.finditer(query):
        year = int(match["year"])
        years += (year, year + 9) if match["plural"] else (year,)
    query = _FULL_YEAR.sub(" ", query)
    for match in _SHORT_DECADE.finditer(query):
        decade = 10 * int(match[1])  # 80 for "80s"
        year = 1900 + decade if decade > 10 else 2000 + decade
        years += (year, year + 9)
    return _SHORT_DECADE.sub(" ", query), (min(years), max(years)) if years else None


def _words(query: str) -> list[str]:
    """Return the normalized words of a query. A hyphen separates words."""
    return normalize(query.replace("-", " ")).split()


class ThemeParser:
    """Divides queries into phrases, and matches the phrases with the films of a catalogue."""

    def __init__(self, dataset: Dataset, table: TagTable) -> None:
        catalog = dataset.catalog
        self.table, self._n_items = table, len(catalog)
        language_by_movie = original_languages(dataset.name)  # movie id → code; {} if unknown
        languages = [language_by_movie.get(movie_id, "") for movie_id in catalog.movie_ids.tolist()]
        self._language_of_item = np.array(languages, object)  # (I,), "" if unknown
        # stems → codes of languages; {} if the languages of films are unknown
        self._languages_by_phrase = (
            {stems(name): codes for name, codes in LANGUAGES.items()} if language_by_movie else {}
        )
        matrix, names = genre_matrix(catalog)
        self.has_genre = {name: matrix[:, column] for column, name in enumerate(names)}  # genre → (I,) bool
        children_columns = [column for column, name in enumerate(names) if name in CHILDREN_GENRES]
        self.is_for_children = np.asarray(matrix[:, children_columns].any(axis=1))  # (I,) bool
        self._genre_by_name = {stems(normalize(name)): name for name in names}
        self._genre_by_phrase: dict[tuple[str, ...], str] = {}  # stems of a name or synonym → genre
        for genre, synonyms in GENRE_SYNONYMS.items():
            if genre in CHILDREN_GENRES and children_columns:
                genre = names[children_columns[0]]  # its name in this data set
            if genre in self.has_genre:
                self._genre_by_phrase |= dict.fromkeys(map(stems, synonyms), genre)
        self._genre_by_phrase |= self._genre_by_name
        # stem → items with the stem in their title
        self._items_by_stem = rows_by_value(
            set(stems(normalize(film.title))) for film in catalog.films[: self._n_items]
        )

    def is_theme_query(self, text: str) -> bool:
        """Return whether a text is only a query of this search, so that the search box of titles offers this search.

        It must have an audience or at least one phrase, and each phrase must be a genre, a language, or a tag of at
        least MIN_TAG_FILMS films. It can also have years.
        """
        query = self.parse(text)
        return (bool(query.phrases) or query.has_audience) and all(
            phrase.stems in self._languages_by_phrase or self._is_tag_or_genre(phrase.stems) for phrase in query.phrases
        )

    def parse(self, text: str) -> ThemeQuery:
        """Divide a text into the parts of a query. Only the first MAX_QUERY_CHARS characters are read."""
        text = " ".join(text.split())[:MAX_QUERY_CHARS]
        without_years, years = parse_years(text.lower())
        words, is_for_audience = self._split_audience(_words(without_years))
        wanted_words, is_negated = self._split_negations(words)
        # with a negation, only the wanted part is encoded, because the encoder would match the negated part
        encoded_text = " ".join(wanted_words) if len(wanted_words) < len(words) else text
        return ThemeQuery(self._phrases(wanted_words), years, is_for_audience, is_negated, encoded_text)

    def _split_audience(self, words: list[str]) -> tuple[list[str], np.ndarray]:
        """Return the words without an audience such as "for kids", and `ThemeQuery.is_for_audience`.

        If no film has a genre for children, an audience is not recognised.
        """
        text = " ".join(words)
        match = _FOR_CHILDREN.search(text)
        if match is None or not self.is_for_children.any():
            return words, np.ones(self._n_items, bool)
        is_for_audience = ~self.is_for_children if match["no"] else self.is_for_children
        return _FOR_CHILDREN.sub(" ", text).split(), is_for_audience

    def _split_negations(self, words: list[str]) -> tuple[list[str], np.ndarray]:
        """Return the words that are not negated, and `ThemeQuery.is_negated`."""
        wanted_words: list[str] = []
        is_negated = np.zeros(self._n_items, bool)
        while words:
            word, *following_words = words
            if following_words and word in NEGATIONS and self._phrase_length(words) == 1:
                n_words, has_negated_part = self._negated_part(following_words)
                is_negated |= has_negated_part
                words = following_words[n_words:]
            else:
                wanted_words.append(word)
                words = following_words
        return wanted_words, is_negated

    def _negated_part(self, words: list[str]) -> tuple[int, np.ndarray]:
        """Return how many of the words after a negation are negated, and True for the films they exclude, (I,) bool.

        The longest phrase at the beginning that names a genre, or whose words are all in one tag, is negated. A single
        word must be the whole tag: "not long" does not exclude films with the tag "long con". Without such a phrase,
        one word and a degree word before it are negated, and exclude no films.
        """
        n_degree_words = 1 if words[0] in DEGREE_WORDS and len(words) > 1 else 0
        # (start, length) of phrases, in the order in which they are tried; phrases with the degree word come first,
        # because a tag can begin with a degree word
        spans = [(0, length) for length in range(MAX_PHRASE_WORDS, 1, -1)]
        spans += [(1, 2), (1, 1)] if n_degree_words else [(0, 1)]
        for start, length in spans:
            phrase = tuple(map(stem, words[start : start + length]))
            if len(phrase) < length:  # the query has fewer words
                continue
            tags = set(self.table.by_phrase.get(phrase, ()))
            if length > 1:
                tags |= _with_all_stems(self.table.by_stem, phrase)
            has_phrase = tag_match_scores(self.table, dict.fromkeys(tags, 1.0)) > 0
            if genre := self._genre_by_phrase.get(phrase):
                has_phrase |= self.has_genre[genre]
            if has_phrase.any():
                return start + length, has_phrase
        return n_degree_words + 1, np.zeros(self._n_items, bool)

    def _phrases(self, words: list[str]) -> list[Phrase]:
        """Divide words into phrases: the longest tags and genres, and single other words. Stop words are removed."""
        phrases = []
        while words:
            length = self._phrase_length(words)
            phrase_words, words = words[:length], words[length:]
            if not STOP_WORDS.issuperset(phrase_words):
                phrases.append(Phrase(tuple(map(stem, phrase_words)), " ".join(phrase_words)))
        return phrases

    def _phrase_length(self, words: list[str]) -> int:
        """Return the number of words of the longest tag or genre at the beginning of `words`, such as "no dialogue".

        Returns 1 if `words` do not begin with a tag or genre of several words. A tag or genre that begins or ends with
        a stop word is ignored.
        """
        for length in range(min(MAX_PHRASE_WORDS, len(words)), 1, -1):
            has_stop_word = words[0] in STOP_WORDS or words[length - 1] in STOP_WORDS
            if not has_stop_word and self._is_tag_or_genre(tuple(map(stem, words[:length]))):
                return length
        return 1

    def _is_tag_or_genre(self, phrase: tuple[str, ...]) -> bool:
        """Return whether the stems of a phrase name a genre, or a tag of at least MIN_TAG_FILMS films."""
        return phrase in self._genre_by_phrase or self.table.is_common(phrase, MIN_TAG_FILMS)

    def aspects(self, query: ThemeQuery) -> list[ThemeAspect]:
        """Return an aspect for each phrase of a query."""
        aspects = [self._aspect(*phrase) for phrase in query.phrases]
        # "italian comedy" is a comedy in Italian, but "italian mafia" need not be in Italian
        names = self._languages_by_phrase.keys() | self._genre_by_phrase.keys()
        if not names.issuperset(phrase.stems for phrase in query.phrases):
            return aspects
        return [self._in_language(aspect, phrase.stems) for aspect, phrase in zip(aspects, query.phrases, strict=True)]

    def _in_language(self, aspect: ThemeAspect, phrase: tuple[str, ...]) -> ThemeAspect:
        """Return an aspect that only matches films in the language that a phrase names, or films with its tag.

        The aspect of a phrase that names no language is returned unchanged.
        """
        codes = self._languages_by_phrase.get(phrase)
        if not codes:
            return aspect
        tags = dict.fromkeys(self.table.by_phrase.get(phrase, ()), 1.0)
        is_in_language = np.isin(self._language_of_item, codes)
        match_scores = np.maximum(tag_match_scores(self.table, tags), LANGUAGE_WEIGHT * is_in_language)
        return replace(aspect, match_scores=match_scores, tags=tags, languages=codes)

    def _aspect(self, phrase: tuple[str, ...], text: str) -> ThemeAspect:
        """Return the aspect of a phrase, matched by tags, genre and title."""
        tags, genre = self._matching_tags(phrase), self._genre_by_phrase.get(phrase, "")
        match_scores = tag_match_scores(self.table, tags)
        items_by_title = list(_with_all_stems(self._items_by_stem, phrase))
        match_scores[items_by_title] = np.maximum(match_scores[items_by_title], TITLE_WEIGHT)
        if genre:
            genre_weight = GENRE_WEIGHT if phrase in self._genre_by_name else SYNONYM_WEIGHT
            match_scores = np.maximum(match_scores, genre_weight * self.has_genre[genre])
        n_matches = int(np.count_nonzero(match_scores))
        weight = float(np.clip(np.log(self._n_items / (n_matches + RARITY_OFFSET)), MIN_RARITY, MAX_RARITY))
        if not genre and not self.table.is_common(phrase):
            weight *= UNKNOWN_ASPECT_FACTOR
        return ThemeAspect(text, weight, match_scores, tags, genre)

    def _matching_tags(self, phrase: tuple[str, ...]) -> dict[int, float]:
        """Return the tags that match a phrase, as in `ThemeAspect.tags`."""
        table = self.table
        tags: dict[int, float] = {}
        if len(phrase) == 1 and len(phrase[0]) >= COMMON_PREFIX_LETTERS:
            for tag_stem, tags_with_stem in table.by_stem.items():
                if tag_stem.startswith(phrase[0][:COMMON_PREFIX_LETTERS]):
                    tags |= {tag: PREFIX_TAG_WEIGHT / len(table.texts[tag].split()) for tag in tags_with_stem}
        for tag in _with_all_stems(table.by_stem, phrase):
            tags[tag] = max(tags.get(tag, 0), PARTIAL_TAG_WEIGHT * len(phrase) / len(table.texts[tag].split()))
        return tags | dict.fromkeys(table.by_phrase.get(phrase, ()), 1.0)  # tags that equal the phrase


def _with_all_stems(by_stem: Mapping[str, Sequence[int]], phrase: tuple[str, ...]) -> set[int]:
    """Return the tags or items that `by_stem` has for every stem of a phrase."""
    return set.intersection(*(set(by_stem.get(phrase_stem, ())) for phrase_stem in phrase))


def tag_match_scores(table: TagTable, tags: dict[int, float]) -> np.ndarray:
    """Return how well each film matches tags, index → relevance: the maximum of strength × relevance, (I,) 0…1."""
    if not tags:
        return np.zeros(table.strength.shape[0])
    relevance = np.fromiter(tags.values(), np.float64, len(tags))
    return table.strength[:, list(tags)].multiply(relevance[None, :]).max(axis=1).toarray().ravel()


class ThemeIndex:
    """Searches the films of a data set by theme."""

    def __init__(
        self, dataset: Dataset, table: TagTable, vectors: SentenceVectors | None, missing: Missing = Missing.NOTHING
    ) -> None:
        self.missing, self._vectors, self._table = missing, vectors, table
        self._parser = ThemeParser(dataset, table)
        self._language_by_movie = original_languages(dataset.name)
        self._years = dataset.catalog.movies["year"].fillna(0).to_numpy(np.int64)  # (I,)
        self._children_factor = np.where(self._parser.is_for_children, CHILDREN_FACTOR, 1.0)  # (I,)
        log_counts = np.log1p(dataset.counts)
        self._popularity = 1 + POPULARITY_WEIGHT * log_counts / max(log_counts.max(initial=0), 1)  # (I,)
        films = dataset.catalog.films
        newest_first = sorted(range(dataset.n_items, len(films)), key=lambda number: -(films[number].year or 0))
        duplicates = dataset.main_film_by_duplicate
        self._is_duplicate = np.isin(np.arange(dataset.n_items), [*duplicates])  # (I,)
        # film number → infrequent film, the newest first
        self._infrequent = {number: films[number] for number in newest_first if number not in duplicates}

    def search(self, text: str, limit: int = 8) -> list[ThemeMatch]:
        """Return at most `limit` films, best first. Equal scores are ordered by item number."""
        query, limit = self._parser.parse(text), max(0, limit)
        aspects = self._parser.aspects(query)
        vector_scores = np.zeros(len(self._years))
        if self._vectors and query.encoded_text:
            texts = [query.encoded_text, *(aspect.text for aspect in aspects)]
            query_vector, *aspect_vectors = self._vectors.encode(texts)
            aspects = [
                self._with_similar_tags(self._vectors, aspect, vector)
                for aspect, vector in zip(aspects, aspect_vectors, strict=True)
            ]
            vector_scores = self._vector_scores(self._vectors, query_vector)
        scores = self._aspect_scores(aspects) + vector_scores
        if not aspects and (query.years or query.excludes_films):
            # A query such as "80s" has no aspects, so films are ordered by popularity. `_final_scores` multiplies by
            # the popularity again, which keeps the order among films with equal factors.
            scores = self._popularity
        scores = self._final_scores(scores, query, aspects)
        best = np.argsort(-scores, kind="stable")[:limit].tolist()
        matches = [
            ThemeMatch(item, float(scores[item]), self._reasons(item, aspects)) for item in best if scores[item] > 0
        ]
        if not query.excludes_films:
            matches += [ThemeMatch(number, 0.0) for number in self._infrequent_matches(query, aspects)]
        return matches[:limit]

    def _final_scores(self, scores: np.ndarray, query: ThemeQuery, aspects: Sequence[ThemeAspect]) -> np.ndarray:
        """Return scores, (I,), multiplied by the factors for popularity and for films for children.

        They are 0 for films that the query excludes, and for duplicates.
        """
        if not query.has_audience and not any(aspect.genre in CHILDREN_GENRES | {"Animation"} for aspect in aspects):
            scores = scores * self._children_factor
        is_allowed = query.is_for_audience & ~query.is_negated & ~self._is_duplicate
        if query.years:
            is_allowed &= (self._years >= query.years[0]) & (self._years <= query.years[1])
        for aspect in aspects:
            if aspect.languages:
                is_allowed &= aspect.match_scores > 0
        return scores * self._popularity * is_allowed

    def _infrequent_matches(self, query: ThemeQuery, aspects: Sequence[ThemeAspect]) -> list[int]:
        """Return the numbers of the infrequent films that match the languages of a query, the newest first.

        They must also have all genres of the query, and be of its years. Without a language, no films are returned.
        """
        codes = {code for aspect in aspects for code in aspect.languages}
        if not codes:
            return []
        genres = {aspect.genre for aspect in aspects if not aspect.languages}
        first_year, last_year = query.years or (-math.inf, math.inf)
        return [
            number
            for number, film in self._infrequent.items()
            if self._language_by_movie.get(film.movie_id) in codes
            and genres <= set(film.genres.split("|"))
            and first_year <= (film.year or 0) <= last_year
        ]

    def _with_similar_tags(self, vectors: SentenceVectors, aspect: ThemeAspect, vector: np.ndarray) -> ThemeAspect:
        """Add encoded tags of similar meaning to an aspect with the vector (D,), and return the new aspect.

        The aspect of a language is returned unchanged, because a tag of similar meaning can be another language.
        """
        if aspect.languages:
            return aspect
        cosines, tags = vectors.tags @ vector, dict(aspect.tags)  # cosines: (T,)
        for row in np.flatnonzero(cosines > MIN_TAG_COSINE).tolist():
            tag = int(self._table.encoded_tags[row])
            relevance = SIMILAR_TAG_WEIGHT * (float(cosines[row]) - MIN_TAG_COSINE) / (1 - MIN_TAG_COSINE)
            tags[tag] = max(tags.get(tag, 0), relevance)
        return replace(
            aspect, tags=tags, match_scores=np.maximum(aspect.match_scores, tag_match_scores(self._table, tags))
        )

    def _aspect_scores(self, aspects: Sequence[ThemeAspect]) -> np.ndarray:
        """Return the weighted power mean of the match scores of all aspects for each film, (I,) 0…1."""
        total = sum(aspect.weight for aspect in aspects)
        if not total:
            return np.zeros(len(self._years))
        powers = sum(aspect.weight * aspect.match_scores**POWER_MEAN_EXPONENT for aspect in aspects)
        return np.asarray((powers / total) ** (1 / POWER_MEAN_EXPONENT))

    def _vector_scores(self, vectors: SentenceVectors, vector: np.ndarray) -> np.ndarray:
        """Return the scores, (I,), of the vector (D,) of the whole query: similarity of film texts and nearest tags."""
        score = TEXT_WEIGHT * (vectors.films @ vector)
        cosines = vectors.tags @ vector  # (T,)
        nearest = np.argsort(-cosines, kind="stable")[:N_NEAREST_TAGS]
        if len(nearest):
            weights = cosines[nearest] - cosines[nearest[-1]] + NEAREST_TAG_MARGIN
            strength = self._table.strength[:, self._table.encoded_tags[nearest]]  # (I, nearest tags)
            score = score + NEAREST_TAGS_WEIGHT * (strength @ (weights / weights.max()))
        return np.asarray(score)

    def _reasons(self, item: int, aspects: Sequence[ThemeAspect]) -> tuple[str, ...]:
        """Return, for each aspect that a film matches, the film's best matching tag or, without such a tag, the genre.

        The reason of the aspect with the largest weight comes first.
        """
        reasons: list[str] = []
        for aspect in sorted(aspects, key=lambda aspect: -aspect.weight):
            tags, relevance = list(aspect.tags), np.array(list(aspect.tags.values()))
            matches = self._table.strength[:, tags][[item], :].toarray().ravel() * relevance
            if matches.any():
                # of equally good tags, such as "zombie" and "zombies", the tag that more films have is the reason
                n_films = self._table.n_films[tags]
                reasons.append(self._table.texts[tags[int(np.lexsort((n_films, matches))[-1])]])
            elif aspect.genre and self._parser.has_genre[aspect.genre][item]:
                reasons.append(aspect.genre)
        return tuple(dict.fromkeys(reasons))[:MAX_REASONS]


@cache_by_dataset  # a table of a large data set takes seconds and much memory
def tag_table(dataset: Dataset) -> TagTable:
    """Return the table of the normalized tags and themes of a data set."""
    catalog, cached_phrases = dataset.catalog, cache(_theme_phrases)
    phrases_by_movie = {
        movie_id: [phrase for theme in film_themes for phrase in cached_phrases(theme)]
        for movie_id, film_themes in themes(dataset.name).items()
    }
    return TagTable(catalog, [normalize(tag) for tag in catalog.tags.texts], phrases_by_movie)


def _theme_phrases(theme: str) -> list[str]:
    """Return the normalized name of a theme, the name with digits for numbers, and the parts of the name.

    "food and cooking" has the parts "food" and "cooking".
    """
    name, parts = normalize(theme), _THEME_SEPARATORS.split(theme)
    return [name, numbers_to_digits(name), *(strip_article(normalize(part)) for part in parts if part)]


def open_index(dataset: Dataset, report: ProgressCallback = no_progress) -> ThemeIndex:
    """Build the index of a data set, with the sentence encoder if it is available. It takes seconds.

    If the encoder is not available, `ThemeIndex.missing` is the reason. Nothing is downloaded. The first call for a
    data set encodes its tags, with progress events {"stage": "encode", "done", "total"}.
    """
    table = tag_table(dataset)
    films = stored_film_vectors(dataset.name, dataset.catalog)
    if films is None:
        return ThemeIndex(dataset, table, None, Missing.VECTORS)
    try:
        encode = encoder.load(no_progress, fetch=False)
        tags = table.load_or_encode_vectors(dataset.name, encode, report)
    except DownloadError:
        return ThemeIndex(dataset, table, None, Missing.ENCODER)
    except MissingLibraryError:
        return ThemeIndex(dataset, table, None, Missing.LIBRARY)
    return ThemeIndex(dataset, table, SentenceVectors(lambda texts: encode(texts, no_progress), films, tags))


def fetch_encoder(report: ProgressCallback) -> None:
    """Download the sentence encoder, 90 MB. Progress events are {"stage": "download", "done", "total"}.

    Raises:
        DownloadError: If the download fails.
        MissingLibraryError: If sentence-transformers is not installed.
    """
    encoder.load(report)
