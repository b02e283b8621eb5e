"""Search films by theme, for example "slasher from the 80s", with tags, genres, titles and the sentence encoder.

A query is the text that someone types. A theme is an entry of the table of themes in `recsys.data.film_tables`. The
themes of a film count as tags of the film.

A query has years and aspects: "slasher from the 80s" has the years 1980–1989 and one aspect, "cold war spies" has two
aspects. Each film matches an aspect to a degree, by its tags, its genres and, with little weight, its title. Words are
compared by their stems. The sentence encoder, if available, adds tags of similar meaning to each aspect and to the
whole query, and compares the query with the text of each film. More popular films get higher scores. A negation, such
as "not too long", excludes the films that have the negated tag or genre. An audience, such as "for a 5 year old",
excludes the films that are not for children. If a query has only languages and genres, such as "turkish comedy", films
in other languages are excluded, unless they have the tag "turkish". Infrequent films are only found by such a query.

Shapes: I items, T encoded tags, D dimensions.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache

import numpy as np

from recsys.data.dataset import Dataset, cache_by_dataset
from recsys.data.download import DownloadError
from recsys.data.film_tables import original_languages, themes
from recsys.errors import MissingLibraryError
from recsys.progress import ProgressCallback, no_progress
from recsys.serving.search.normalize import normalize, numbers_to_digits, strip_article
from recsys.text import encoder
from recsys.text.films import genre_matrix, stored_film_vectors
from recsys.text.tags import TagTable, stem, stems

MAX_THEME_CHARS = 300
MAX_PHRASE_WORDS = 4
MIN_TAG_FILMS = 2  # minimum number of films with a tag, for the tag to be a phrase of a query
MAX_REASONS = 3  # tags or genres per film
POWER_MEAN_EXPONENT = 0.5  # below 1, so that a weak match with each aspect scores above a match with only one aspect

# weights of matches with an aspect; a tag that equals the aspect has the weight 1
PARTIAL_TAG_WEIGHT = 0.8  # a tag that also has other words; multiplied by the share of its words that are in the aspect
PREFIX_TAG_WEIGHT = 0.7  # a tag with a word that begins like the aspect; divided by the number of words of the tag
COMMON_PREFIX_LETTERS = 7  # number of equal first letters of such a word: "apocalypse" and "apocalyptic"
GENRE_WEIGHT = 0.5
# higher than most tags with the name of the language, which users also give to films in English about the country
LANGUAGE_WEIGHT = 0.8
SYNONYM_WEIGHT = 0.3  # a genre that the aspect names by one of GENRE_SYNONYMS
TITLE_WEIGHT = 0.1  # low, because a word of a title need not be what the film is about

# weight of an aspect: its rarity, the logarithm of I / (matching films + RARITY_OFFSET), within these bounds
RARITY_OFFSET = 5
MIN_RARITY = 1
MAX_RARITY = 3
UNKNOWN_ASPECT_FACTOR = 0.3  # of the weight of an aspect that is neither a common tag nor a genre, such as "gone wrong"

# weights of the sentence encoder
MIN_TAG_COSINE = 0.5  # minimum cosine of a tag that is added to an aspect; its weight rises from 0 at this cosine
SIMILAR_TAG_WEIGHT = 0.8  # weight of a tag with a cosine of 1
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
NEGATIONS = frozenset({"not", "no", "without"})  # they exclude the next tag or genre
DEGREE_WORDS = frozenset({"too", "very", "so"})  # skipped after a negation: "not very scary" excludes "scary"
GENRE_SYNONYMS = {  # phrase → genre of MovieLens
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
_FOR_CHILDREN = re.compile(  # in a query in the form of `normalize`
    r"\b(?P<no>not )?for (?:(?:my|our|a|an|the|small|little|young) )*"
    r"(?:kids?|child(?:ren)?|toddlers?|(?:[1-9]|1[0-2]) years? olds?(?: (?:kid|child|boy|girl|son|daughter))?)\b"
    r"|\b(?:kids?|childrens?) (?:films?|movies?)\b"
)
# between the parts of the name of a theme. Of "football (soccer)", only "soccer" is a part, because most people who
# gave tags call American football "football".
_THEME_SEPARATORS = re.compile(r" and | or |^.*\(|\)")
_DECADES = ("twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties")
_FULL_YEAR = re.compile(r"\b(?P<year>(?:18|19|20)\d\d)(?P<plural>'?s)?\b")
_SHORT_DECADE = re.compile(r"(?<!\d)'?(\d)0'?s\b")


@dataclass
class ThemeAspect:
    """A part of a query, such as "cold war", and the films that match it."""

    text: str
    weight: float  # larger for a rare aspect
    match: np.ndarray  # how well each film matches, (I,) 0…1
    tags: dict[int, float] = field(default_factory=dict)  # index in `TagTable.texts` → relevance, 0…1
    genre: str = ""  # the genre that the aspect names, "" if none
    languages: tuple[str, ...] = ()  # codes of languages; if it is not empty, films without a match are excluded


class Missing(Enum):
    """What is missing for a search with the sentence encoder. If anything is missing, only words are compared."""

    NOTHING = "nothing"
    VECTORS = "vectors"  # the films of this data set are not encoded, which takes minutes for a large data set
    ENCODER = "encoder"  # the encoder is not downloaded
    LIBRARY = "library"  # sentence-transformers is not installed


@dataclass(frozen=True)
class ThemeMatch:
    """A film that matches a query."""

    item: int  # film number; infrequent films are only found by their language
    score: float  # above 0, but 0 for an infrequent film; comparable within one query
    reasons: tuple[str, ...] = ()  # tags and genres of the film that match the query, at most MAX_REASONS


@dataclass(frozen=True)
class SentenceVectors:
    """The sentence encoder, and the vectors that it made of the films and encoded tags of a data set."""

    encode: Callable[[Sequence[str]], np.ndarray]  # n texts → (n, D), rows of length 1
    films: np.ndarray  # (I, D)
    tags: np.ndarray  # (T, D)


def parse_years(query: str) -> tuple[str, tuple[int, int] | None]:
    """Return a query without its years, and the (first, last) year or None: "slasher from the 80s" → (1980, 1989).

    The years between several years or decades are included: "1980 to 1983" → (1980, 1983). The query must be in lower
    case. "20s" to "90s" are decades of the 20th century, "00s" and "10s" of the 21st.
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
    """Return the normalised words of a query, with hyphens as spaces."""
    return normalize(query.replace("-", " ")).split()


class ThemeParser:
    """Divides queries into aspects, and matches them with the films of a catalogue."""

    def __init__(self, dataset: Dataset, table: TagTable) -> None:
        catalog = dataset.catalog
        self.table, self._n_items = table, len(catalog)
        language_by_movie = original_languages(dataset.name)  # movie id → code
        languages = [language_by_movie.get(movie_id, "") for movie_id in catalog.movie_ids.tolist()]
        self._language_of_item = np.array(languages, object)  # (I,), "" if unknown
        self._languages_by_phrase = {stems(name): codes for name, codes in LANGUAGES.items() if language_by_movie}
        matrix, names = genre_matrix(catalog)
        self._has_genre = {name: matrix[:, column] for column, name in enumerate(names)}  # genre → (I,) bool
        self._is_for_children = np.zeros(self._n_items, bool)
        for genre in CHILDREN_GENRES & self._has_genre.keys():
            self._is_for_children |= self._has_genre[genre]
        self._genre_by_name = {stems(normalize(name)): name for name in names}
        children_genre = min(CHILDREN_GENRES & self._has_genre.keys(), default="")  # its name in this data set
        genre_by_synonym = {
            synonym: children_genre if genre in CHILDREN_GENRES else genre for synonym, genre in GENRE_SYNONYMS.items()
        }
        synonyms = {stems(name): genre for name, genre in genre_by_synonym.items() if genre in self._has_genre}
        self._genre_by_phrase = synonyms | self._genre_by_name  # stems of a name or synonym → genre
        self._items_by_stem: dict[str, list[int]] = {}  # stem → items with the stem in their title
        for item, film in enumerate(catalog.films[: self._n_items]):
            for title_stem in set(stems(normalize(film.title))):
                self._items_by_stem.setdefault(title_stem, []).append(item)

    def split_audience(self, query: str) -> tuple[str, np.ndarray]:
        """Return a query without an audience such as "for kids", and True for the films for this audience, (I,).

        The query is not changed if it has no audience, or if no film has a genre for children.
        """
        normalized = " ".join(_words(query))
        match = _FOR_CHILDREN.search(normalized)
        if match is None or not self._is_for_children.any():
            return query, np.ones(self._n_items, bool)
        is_for_audience = ~self._is_for_children if match["no"] else self._is_for_children
        return _FOR_CHILDREN.sub(" ", normalized), is_for_audience

    def split_negations(self, query: str) -> tuple[str, np.ndarray]:
        """Return a query without its negated parts, and True for the films that have a negated tag or genre, (I,)."""
        words, kept_words = _words(query), []
        excluded = np.zeros(self._n_items, bool)
        while words:
            word, *words = words
            if words and word in NEGATIONS and not self._begins_with_tag([word, *words]):
                n_negated, has_negated = self._negated_part(words)
                excluded |= has_negated
                words = words[n_negated:]
            else:
                kept_words.append(word)
        return " ".join(kept_words), excluded

    def _begins_with_tag(self, words: list[str]) -> bool:
        """Return whether the words begin with a tag or genre of several words, such as the tag "no dialogue"."""
        return any(self._is_tag_or_genre(words[:length]) for length in range(2, MAX_PHRASE_WORDS + 1))

    def _negated_part(self, words: list[str]) -> tuple[int, np.ndarray]:
        """Return how many words a negation before `words` negates, and True for the films with the negated part, (I,).

        The part is the longest phrase at the beginning that names a genre, or whose words are all in one tag. The tag
        of a single word must have no other words: "not long" does not exclude films with the tag "long con". If there
        is no such phrase, one word is negated, after a degree word if any.
        """
        n_degrees = 1 if words[0] in DEGREE_WORDS and len(words) > 1 else 0
        # (start, length) of the phrases to try. A tag can begin with a degree word, so phrases with this word are tried
        # before phrases without it.
        spans = [(0, length) for length in range(MAX_PHRASE_WORDS, 1, -1)]
        spans += [(1, 2), (1, 1)] if n_degrees else [(0, 1)]
        for start, length in spans:
            phrase = tuple(map(stem, words[start : start + length]))
            if len(phrase) < length:  # the query has fewer words
                continue
            tags = set(self.table.by_phrase.get(phrase, ()))
            if length > 1:
                tags |= _with_all_stems(self.table.by_stem, phrase)
            has_phrase = tag_match(self.table, dict.fromkeys(tags, 1.0)) > 0
            if genre := self._genre_by_phrase.get(phrase):
                has_phrase |= self._has_genre[genre]
            if has_phrase.any():
                return start + length, has_phrase
        return n_degrees + 1, np.zeros(self._n_items, bool)

    def is_theme(self, text: str) -> bool:
        """Return whether a text consists of genres, languages and tags of MIN_TAG_FILMS films, or has an audience.

        It can also have years.
        """
        query, is_for_audience = self.split_audience(parse_years(text[:MAX_THEME_CHARS].lower())[0])
        phrases = [phrase for phrase, _text in self._phrases(self.split_negations(query)[0])]
        return (bool(phrases) or not is_for_audience.all()) and all(
            phrase in self._genre_by_phrase
            or phrase in self._languages_by_phrase
            or self.table.is_common(phrase, MIN_TAG_FILMS)
            for phrase in phrases
        )

    def parse(self, query: str) -> list[ThemeAspect]:
        """Return the aspects of a query without years, audience and negations."""
        phrases = self._phrases(" ".join(_words(query)))
        aspects = [self._aspect(phrase, text) for phrase, text in phrases]
        # "italian comedy" is a comedy in Italian, but "italian mafia" need not be in Italian
        if all(phrase in self._languages_by_phrase or phrase in self._genre_by_phrase for phrase, _text in phrases):
            for aspect, (phrase, _text) in zip(aspects, phrases, strict=True):
                self._match_language(aspect, phrase)
        return aspects

    def _match_language(self, aspect: ThemeAspect, phrase: tuple[str, ...]) -> None:
        """If a phrase names a language, match its aspect only with films in this language or with this tag."""
        aspect.languages = self._languages_by_phrase.get(phrase, ())
        if aspect.languages:
            aspect.tags = dict.fromkeys(self.table.by_phrase.get(phrase, ()), 1.0)
            is_in_language = np.isin(self._language_of_item, aspect.languages)
            aspect.match = np.maximum(tag_match(self.table, aspect.tags), LANGUAGE_WEIGHT * is_in_language)

    def _phrases(self, query: str) -> list[tuple[tuple[str, ...], str]]:
        """Divide a query into phrases, each as (stems, text): the longest tags and genres, and the words between them.

        Stop words between them are dropped.
        """
        words, phrases = query.split(), []
        while words:
            lengths = range(min(MAX_PHRASE_WORDS, len(words)), 1, -1)
            length = next((length for length in lengths if self._is_tag_or_genre(words[:length])), 1)
            phrase_words, words = words[:length], words[length:]
            if not STOP_WORDS.issuperset(phrase_words):
                phrases.append((tuple(map(stem, phrase_words)), " ".join(phrase_words)))
        return phrases

    def _is_tag_or_genre(self, words: list[str]) -> bool:
        """Return whether words are a tag of MIN_TAG_FILMS films or a genre, without a stop word at either end."""
        if words[0] in STOP_WORDS or words[-1] in STOP_WORDS:
            return False
        phrase = tuple(map(stem, words))
        return phrase in self._genre_by_phrase or self.table.is_common(phrase, MIN_TAG_FILMS)

    def _aspect(self, phrase: tuple[str, ...], text: str) -> ThemeAspect:
        """Return the aspect of a phrase, matched by tags, genre and title."""
        tags, genre = self._tags_of(phrase), self._genre_by_phrase.get(phrase, "")
        match = tag_match(self.table, tags)
        items_by_title = list(_with_all_stems(self._items_by_stem, phrase))
        match[items_by_title] = np.maximum(match[items_by_title], TITLE_WEIGHT)
        if genre:
            genre_weight = GENRE_WEIGHT if phrase in self._genre_by_name else SYNONYM_WEIGHT
            match = np.maximum(match, genre_weight * self._has_genre[genre])
        n_matches = int(np.count_nonzero(match))
        weight = float(np.clip(np.log(self._n_items / (n_matches + RARITY_OFFSET)), MIN_RARITY, MAX_RARITY))
        if not genre and not self.table.is_common(phrase):
            weight *= UNKNOWN_ASPECT_FACTOR
        return ThemeAspect(text, weight, match, tags, genre)

    def _tags_of(self, phrase: tuple[str, ...]) -> dict[int, float]:
        """Return the tags that match a phrase, tag → relevance."""
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


def tag_match(table: TagTable, tags: dict[int, float]) -> np.ndarray:
    """Return the match of each film with tags (tag → relevance), (I,): the maximum of `table.strength` × relevance."""
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
        self._infrequent = dataset.catalog.films[dataset.n_items :]
        self._duplicates = dataset.main_film_by_duplicate
        self._language_by_id = original_languages(dataset.name)
        self._years = dataset.catalog.movies["year"].fillna(0).to_numpy(np.int64)  # (I,)
        self._genres = [set(genres.split("|")) for genres in dataset.catalog.movies["genres"]]
        for_children = np.array([bool(genres & CHILDREN_GENRES) for genres in self._genres], bool)
        self._children_factor = np.where(for_children, CHILDREN_FACTOR, 1.0)  # (I,)
        log_counts = np.log1p(dataset.counts)
        self._popularity = 1 + POPULARITY_WEIGHT * log_counts / max(log_counts.max(initial=0), 1)  # (I,)

    def search(self, query: str, limit: int = 8) -> list[ThemeMatch]:
        """Return at most `limit` films, best first. Equal scores are ordered by item number."""
        query = " ".join(query.split())[:MAX_THEME_CHARS]
        if not query:
            return []
        query_without_years, years = parse_years(query.lower())
        query_without_audience, is_for_audience = self._parser.split_audience(query_without_years)
        wanted, excluded = self._parser.split_negations(query_without_audience)
        has_audience = not is_for_audience.all()
        aspects = self._parser.parse(wanted)
        # with a negation, only the wanted part is encoded, because the encoder would match the negated part
        has_negation = len(wanted.split()) < len(_words(query_without_audience))
        encoded_text = wanted if has_negation else query
        vectors = self._vectors if encoded_text else None
        if vectors:
            query_vector, *aspect_vectors = vectors.encode([encoded_text, *(aspect.text for aspect in aspects)])
            for aspect, vector in zip(aspects, aspect_vectors, strict=True):
                if not aspect.languages:  # tags of similar meaning can be other languages
                    self._expand_with_tags(vectors, aspect, vector)
        scores = self._aspect_scores(aspects)
        if vectors:
            scores += self._vector_scores(vectors, query_vector)
        if not aspects and (years or has_audience or excluded.any()):
            # A query such as "80s" has no aspects, so films are ordered by popularity. The multiplication at the
            # end squares it.
            scores = self._popularity
        scores = scores * (is_for_audience & ~excluded)
        if years:
            scores *= (self._years >= years[0]) & (self._years <= years[1])
        if not has_audience and not any(aspect.genre in CHILDREN_GENRES | {"Animation"} for aspect in aspects):
            scores *= self._children_factor
        for aspect in aspects:
            if aspect.languages:
                scores *= aspect.match > 0
        scores *= self._popularity
        order = np.argsort(-scores, kind="stable")[: max(0, limit)]
        matches = [
            ThemeMatch(item, float(scores[item]), self._reasons(item, aspects))
            for item in order.tolist()
            if scores[item] > 0
        ]
        if not has_audience and not excluded.any():
            matches += [ThemeMatch(item, 0.0) for item in self._infrequent_matches(aspects, years)]
        return matches[: max(0, limit)]

    def _infrequent_matches(self, aspects: Sequence[ThemeAspect], years: tuple[int, int] | None) -> list[int]:
        """Return the numbers of the infrequent films in a language of a query, the newest first.

        They must have all genres of the query.
        """
        codes = {code for aspect in aspects for code in aspect.languages}
        if not codes:
            return []
        genres = {aspect.genre for aspect in aspects if not aspect.languages}
        numbered = [
            (-(film.year or 0), len(self._years) + row)
            for row, film in enumerate(self._infrequent)
            if self._language_by_id.get(film.movie_id) in codes and genres <= set(film.genres.split("|"))
            if years is None or years[0] <= (film.year or 0) <= years[1]
            if len(self._years) + row not in self._duplicates
        ]
        return [number for _year, number in sorted(numbered)]

    def _expand_with_tags(self, vectors: SentenceVectors, aspect: ThemeAspect, vector: np.ndarray) -> None:
        """Add the encoded tags with a similar meaning to an aspect, given its vector (D,)."""
        cosines = vectors.tags @ vector  # (T,)
        for row in np.flatnonzero(cosines > MIN_TAG_COSINE).tolist():
            tag = int(self._table.encoded_tags[row])
            relevance = SIMILAR_TAG_WEIGHT * (float(cosines[row]) - MIN_TAG_COSINE) / (1 - MIN_TAG_COSINE)
            aspect.tags[tag] = max(aspect.tags.get(tag, 0), relevance)
        aspect.match = np.maximum(aspect.match, tag_match(self._table, aspect.tags))

    def _aspect_scores(self, aspects: Sequence[ThemeAspect]) -> np.ndarray:
        """Return the weighted power mean of the matches of each film with all aspects, (I,) 0…1."""
        total = sum(aspect.weight for aspect in aspects)
        if not total:
            return np.zeros(len(self._years))
        powers = sum(aspect.weight * aspect.match**POWER_MEAN_EXPONENT for aspect in aspects)
        return np.asarray((powers / total) ** (1 / POWER_MEAN_EXPONENT))

    def _vector_scores(self, vectors: SentenceVectors, vector: np.ndarray) -> np.ndarray:
        """Return the scores by the vector (D,) of the whole query, (I,): by the film texts and by the nearest tags."""
        score = TEXT_WEIGHT * (vectors.films @ vector)
        cosines = vectors.tags @ vector  # (T,)
        nearest = np.argsort(-cosines, kind="stable")[:N_NEAREST_TAGS]
        if len(nearest):
            weights = cosines[nearest] - cosines[nearest[-1]] + NEAREST_TAG_MARGIN
            strength = self._table.strength[:, self._table.encoded_tags[nearest]]  # (I, nearest tags)
            score = score + NEAREST_TAGS_WEIGHT * (strength @ (weights / weights.max()))
        return np.asarray(score)

    def _reasons(self, item: int, aspects: Sequence[ThemeAspect]) -> tuple[str, ...]:
        """Return, for each aspect that a film matches, its best matching tag or, without one, the genre.

        The aspect with the largest weight is first.
        """
        reasons: list[str] = []
        for aspect in sorted(aspects, key=lambda aspect: -aspect.weight):
            tags, relevance = list(aspect.tags), np.array(list(aspect.tags.values()))
            matches = self._table.strength[:, tags][[item], :].toarray().ravel() * relevance
            if matches.any():
                # among equally good forms, such as "zombie" and "zombies", the form that more films have comes first
                n_films = self._table.n_films[tags]
                reasons.append(self._table.texts[tags[int(np.lexsort((n_films, matches))[-1])]])
            elif aspect.genre and aspect.genre in self._genres[item]:
                reasons.append(aspect.genre)
        return tuple(dict.fromkeys(reasons))[:MAX_REASONS]


@cache_by_dataset  # a table of a large data set takes seconds and much memory
def tag_table(dataset: Dataset) -> TagTable:
    """Return the table of the tags and themes of a data set in the form of `normalize`."""
    catalog, cached_phrases = dataset.catalog, cache(_theme_phrases)
    phrases_by_movie = {
        movie_id: [phrase for theme in film_themes for phrase in cached_phrases(theme)]
        for movie_id, film_themes in themes(dataset.name).items()
    }
    return TagTable(catalog, [normalize(tag) for tag in catalog.tags.texts], phrases_by_movie)


def _theme_phrases(theme: str) -> list[str]:
    """Return the normalised name of a theme, also with digits, and its parts: "food and cooking", "food", "cooking"."""
    name, parts = normalize(theme), _THEME_SEPARATORS.split(theme)
    return [name, numbers_to_digits(name), *(strip_article(normalize(part)) for part in parts if part)]


def open_index(dataset: Dataset, report: ProgressCallback = no_progress) -> ThemeIndex:
    """Build the index of a data set, with the sentence encoder if it is available. It takes seconds.

    If the encoder is not available, `ThemeIndex.missing` has the reason. Nothing is downloaded. The first call for a
    data set encodes its tags, with progress events {"stage": "encode", "done", "total"}.
    """
    table = tag_table(dataset)
    films = stored_film_vectors(dataset.name, dataset.catalog)
    if films is None:
        return ThemeIndex(dataset, table, None, Missing.VECTORS)
    try:
        encode = encoder.load(no_progress, fetch=False)
        tags = table.vectors(dataset.name, encode, report)
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
