"""Films by what people type, with typos, moved articles, accents, other titles in brackets, a year, or half a word.

A film has several names: its title, and other titles in brackets. Names and queries are brought to the same plain form
and compared step by step, the surest comparison first. Shapes: F films, N names, W different words.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, takewhile

import numpy as np
from rapidfuzz import fuzz, process

from recsys.data.schema import Catalog, Film, films

TOO_FEW = "too few ratings to learn from"
LONGEST = 200  # characters of a query that are read; the longest title of MovieLens has fewer
WORDS = 8  # words of a query whose typos are corrected one by one

# What a match is worth, in percent; guesses stay below SURE.
EXACT, WHOLE_WORDS, PREFIX, PHRASE, SURE = 100, 97, 95, 85, 80  # the whole name, its first words, its beginning, …
OTHER_ARTICLE = 9  # deducted for an article that the query has and the name has not; not the other way round
GUESS, GUESS_BY_WORD, HALF_WORD = 0.79, 0.7, 0.9  # weights of similarity: of whole names, word by word, of half a word
NEAR, NEARER, NEAR_WORD = 60, 80, 75  # least similarity of a guess: alone, below sure matches, of a single word
NEAREST_WORDS = 20  # words of the catalogue that are tried for a misspelt one
NEXT_YEAR, OTHER_YEAR = 0.9, 0.75  # weights of a film whose year differs from that of the query
LAST_LETTER = "\U0010ffff"  # sorts after every letter, so that word…word + LAST_LETTER spans all that begins so

ARTICLES = "the|a|an|le|la|les|un|une|der|die|das|den|ein|eine|el|los|las|il|lo|gli|una|uno|det|de|het|en|ett|o|os|as"
_MOVED_ARTICLE = re.compile(rf"^(.+), ({ARTICLES}|l')$", re.IGNORECASE)
_FIRST_ARTICLE = re.compile(rf"^(?:{ARTICLES}) (?=.)")
_BRACKETS = re.compile(r"(?:^|(?<=\s))\(((?:[^()]|\(\w+\))*)(?:\)(?!\w)|$)")  # whole words: not "Assassin(s)"
_ALSO = re.compile(r"^(?:a\.?k\.?a\.?|also known as)\s+", re.IGNORECASE)
_YEAR = re.compile(r"^(.*\S)\s*\(((?:18|19|20)\d\d)\)?$|^(.*\S)\s+((?:18|19|20)\d\d)$")
_SPELT = re.compile(r"\b[^\W\d_](?: [^\W\d_]\b)+")
_NUMBERED = re.compile(r"^#\s*(\d{1,9})$")
_ROMAN = {
    numeral: str(number)
    for number, numeral in enumerate(
        ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii"), 1
    )
}


@dataclass(frozen=True)
class Found:
    """One film that a query may have meant."""

    item: int | None  # None: left out of training
    movie_id: int
    title: str
    year: int | None
    genres: str
    score: float  # 0…100, how sure the match is
    reason: str = ""  # why it cannot be selected

    @property
    def selectable(self) -> bool:
        """Whether a model knows the film."""
        return self.item is not None

    @property
    def label(self) -> str:
        """Title and year: "Toy Story (1995)"."""
        return Film(self.movie_id, self.title, self.year, self.genres).label


class _Fold(dict[int, str]):
    """Character → plain form, computed once each: letters of every script stay, accents and apostrophes go."""

    _plain = dict(zip("øłđæœð&'’‘`´", ["o", "l", "d", "ae", "oe", "d", " and ", "", "", "", "", ""], strict=True))

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        if letter.casefold() in self._plain:
            plain = self._plain[letter.casefold()]
        elif letter.isalnum():
            plain = letter.casefold()
        elif unicodedata.category(letter)[0] == "M":  # a mark: part of the letter in Hindi or Thai, an accent in French
            plain = "" if 0x300 <= code < 0x370 or 0xFE00 <= code < 0xFE10 else letter
        else:
            plain = " "
        return self.setdefault(code, plain)


_fold = _Fold()


def normalise(text: str) -> str:
    """The plain form in which names are compared: "Amélie & L.A." → "amelie and la"; "$", without letters, stays."""
    plain = unicodedata.normalize("NFKD", text).translate(_fold)
    text = " ".join((plain if not plain.isspace() else text).split())
    return _SPELT.sub(lambda letters: letters[0].replace(" ", ""), text)  # "m a s h" → "mash"


def names_of(title: str) -> list[str]:
    """A title's names, articles in front: "Seven (a.k.a. Se7en)" → ["Seven", "Se7en"]. Never empty."""
    parts = [_BRACKETS.sub(" ", title), *_BRACKETS.findall(title)] if "(" in title else [title]
    parts = [_ALSO.sub("", part.strip()) for part in parts]
    return [_MOVED_ARTICLE.sub(r"\2 \1", part) if ", " in part else part for part in parts if part] or [title]


def split_year(text: str) -> tuple[str, int | None]:
    """A query without its year, and the year: "heat 1995" → ("heat", 1995). "1984" alone stays a title."""
    if match := _YEAR.match(text):
        return match[1] or match[3], int(match[2] or match[4])
    return text, None


def in_digits(name: str) -> str:
    """A plain name with Roman numerals as figures: "rocky iv" → "rocky 4". The first word stays: "v for vendetta"."""
    first, *others = name.split() or [""]
    return " ".join([first, *(_ROMAN.get(word, word) for word in others)])


class TitleIndex:
    """Searches the films of a catalogue, those left out of training included."""

    def __init__(self, catalog: Catalog, counts: Sequence[int] | np.ndarray | None = None) -> None:
        """`counts`: (I,) how often each item was watched; of equally good matches the more popular comes first."""
        self._films = [*catalog.films, *films(catalog.left_out)]  # F, items first
        self._n_items = len(catalog)
        self._popularity = np.zeros(len(self._films), np.int64)  # (F,) 0 for those left out
        if counts is not None:
            self._popularity[: self._n_items] = counts
        self._years = np.array([film.year or 0 for film in self._films])  # (F,)
        self._index_names()
        self._index_words()

    def _index_names(self) -> None:
        """Names in plain form with their films, sorted with and without article, to look prefixes up in both."""
        plain = {(normalise(name), row) for row, film in enumerate(self._films) for name in names_of(film.title)}
        ordered = sorted({name for name in plain | {(in_digits(name), row) for name, row in plain} if name[0]})
        self._names = [name for name, _ in ordered]  # N, sorted
        self._film_of = np.array([row for _, row in ordered], np.int64)  # (N,)
        self._bare = [_FIRST_ARTICLE.sub("", name) for name in self._names]  # N, without a leading article
        self._bare_order = np.array(sorted(range(len(self._bare)), key=self._bare.__getitem__), np.int64)  # (N,)
        self._bare_sorted = [self._bare[name] for name in self._bare_order]

    def _index_words(self) -> None:
        """Word w is in the names _postings[_starts[w]:_starts[w + 1]]."""
        words = [name.split() for name in self._names]
        self._words = sorted({word for name in words for word in name})  # W, sorted
        number = {word: index for index, word in enumerate(self._words)}
        flat = np.array([number[word] for name in words for word in name], np.int64)
        name_of = np.repeat(np.arange(len(words)), [len(name) for name in words])
        self._postings = name_of[np.argsort(flat, kind="stable")]
        self._starts = np.searchsorted(np.sort(flat), np.arange(len(self._words) + 1))

    @cached_property
    def _row_of(self) -> dict[int, int]:
        """MovieLens id → film."""
        return {film.movie_id: row for row, film in enumerate(self._films)}

    def search(self, text: str, limit: int = 8) -> list[Found]:
        """Up to `limit` films, the best match first; of equally good ones the more popular. Any text is allowed.

        A year may end the query ("heat 1995"), a moved article too ("Matrix, The"); "#2571" is a MovieLens id.
        """
        return list(islice(self._ranked(text, enough=limit), max(0, limit)))

    def matches(self, text: str) -> list[Found]:
        """Every film with that name, with or without an article, case and accents aside, the most popular first.

        With a year, only films of that year. Empty when there is none.
        """
        return list(takewhile(lambda film: film.score == EXACT, self._ranked(text, enough=0)))

    def exact(self, text: str) -> Found | None:
        """The film with that name; the most popular where there are several."""
        return next(iter(self.matches(text)), None)

    def _ranked(self, text: str, enough: int) -> Iterator[Found]:
        """Films that match, the best first; typos are considered where fewer than `enough` match for sure."""
        text = text[:LONGEST].strip()
        if match := _NUMBERED.match(text):
            if (row := self._row_of.get(int(match[1]))) is not None:
                yield self._found(row, EXACT)
            return
        scores = self._scores(text, enough)
        rows = np.flatnonzero(scores)
        for row in rows[np.lexsort((rows, -self._popularity[rows], -scores[rows]))].tolist():
            yield self._found(row, float(scores[row]))

    def _found(self, row: int, score: float) -> Found:
        known = row < self._n_items
        return Found(row if known else None, *self._films[row], score=score, reason="" if known else TOO_FEW)

    def _scores(self, text: str, enough: int) -> np.ndarray:
        """(F,) how well each film matches, 0…100; a number at the end is read as a year and as part of the title."""
        title, year = split_year(text)
        query = _plain(title)
        scores = self._sure(query)
        if np.count_nonzero(scores) < enough:
            scores = np.maximum(scores, self._guesses(query, alone=not scores.any()))
        if year is None:
            return scores
        gap = np.abs(self._years - year)
        scores *= np.where(gap == 0, 1, np.where(gap == 1, NEXT_YEAR, OTHER_YEAR))
        whole = _plain(text)  # "Blade Runner 2049" is of 2017
        return scores if whole == query else np.maximum(scores, self._sure(whole))

    def _sure(self, query: str) -> np.ndarray:
        """(F,) scores of films whose name has every word of the query, the last one perhaps half typed."""
        scores = np.zeros(len(self._films))
        if not query:
            return scores
        names = np.flatnonzero(self._holding(query.split()))
        scores[self._film_of[names]] = SURE
        scores[self._film_of[[name for name in names if f" {query}" in f" {self._names[name]}"]]] = PHRASE
        bare = _FIRST_ARTICLE.sub("", query)
        less = 0 if bare == query else OTHER_ARTICLE
        whole = (WHOLE_WORDS, " ", "!") if len(bare) > 1 else (PREFIX, "", LAST_LETTER)  # "t" is no word yet
        for worth, first, end in ((PREFIX, "", LAST_LETTER), whole, (EXACT, "", "\0")):
            _raise(scores, self._film_of[_between(self._names, query + first, query + end)], worth)
            others = self._bare_order[_between(self._bare_sorted, bare + first, bare + end)]
            _raise(scores, self._film_of[others], worth - less)
        return scores

    def _holding(self, words: list[str]) -> np.ndarray:
        """(N,) bool: which names have all the words; of the last word the beginning is enough."""
        held = np.ones(len(self._names), bool)
        for word, end in zip(words, ["\0"] * (len(words) - 1) + [LAST_LETTER], strict=True):
            found = _between(self._words, word, word + end)
            holds = np.zeros(len(self._names), bool)
            holds[self._postings[self._starts[found.start] : self._starts[found.stop]]] = True
            held &= holds
        return held

    def _guesses(self, query: str, alone: bool) -> np.ndarray:
        """(F,) scores, below SURE, of films with a name that is similar to the query, as a whole or word by word.

        When there are sure matches too, so that guesses are not `alone`, only very similar names count.
        """
        scores = np.zeros(len(self._films))
        if len(query) < 3 or not self._names:  # two letters are similar to everything
            return scores
        bare, least = _FIRST_ARTICLE.sub("", query), NEAR if alone else NEARER
        worth = GUESS * process.cdist([bare], self._bare, scorer=fuzz.ratio, score_cutoff=least, dtype=np.float32)[0]
        if alone:
            worth = np.maximum(worth, GUESS_BY_WORD * self._similar_by_word(query.split()[:WORDS]))
        names = np.flatnonzero(worth)
        np.maximum.at(scores, self._film_of[names], worth[names])
        return scores

    def _similar_by_word(self, words: list[str]) -> np.ndarray:
        """(N,) mean similarity, in percent, of each query word to its nearest in the name; 0 where one has none."""
        similarity = process.cdist(words, self._words, scorer=fuzz.ratio, score_cutoff=NEAR_WORD, dtype=np.float32)
        last = words[-1]
        if len(last) >= 4:  # half a word with a typo in it; its first letter is assumed to be right
            same = _between(self._words, last[0], last[0] + LAST_LETTER)
            halves = [word[: len(last)] for word in self._words[same]]
            half = process.cdist([last], halves, scorer=fuzz.ratio, score_cutoff=NEAR_WORD, dtype=np.float32)[0]
            similarity[-1, same] = np.maximum(similarity[-1, same], HALF_WORD * half)
        similar = np.stack([self._spread(row) for row in similarity])  # (words, N)
        return np.where((similar > 0).all(0), similar.mean(0), 0)

    def _spread(self, similarity: np.ndarray) -> np.ndarray:
        """(N,) the similarity of each name's best word, from that of all words (W,)."""
        similar = np.zeros(len(self._names), np.float32)
        near = np.flatnonzero(similarity)
        for word in near[np.argsort(similarity[near], kind="stable")][
            -NEAREST_WORDS:
        ]:  # the best one last, so that it counts
            similar[self._postings[self._starts[word] : self._starts[word + 1]]] = similarity[word]
        return similar


def _plain(query: str) -> str:
    """The first name in a query, in plain form."""
    return normalise(names_of(query)[0])


def _raise(scores: np.ndarray, rows: np.ndarray, worth: float) -> None:
    """Give the films of `rows` at least this score."""
    scores[rows] = np.maximum(scores[rows], worth)


def _between(ordered: list[str], first: str, end: str) -> slice:
    """The part of a sorted list from `first` up to, not including, `end`."""
    return slice(bisect_left(ordered, first), bisect_left(ordered, end))
