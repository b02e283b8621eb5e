"""Search films by a part of a title, with typing errors, moved articles, numbers, a year, initials or a nickname.

A film has several names: its title, alternative titles in brackets, and names from a table (`recsys.data.film_names`).
Names and queries are normalized and compared (name_index.py). Cyrillic names and queries are also compared in Latin
letters. A query can also be a nickname, initials, or a series with a number ("rocky 4"). For an exact title that the
data set lacks, the search does not return another film. If the data set lists a film twice, the search only returns the
film number with more ratings.

Shapes: F films.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, takewhile

import numpy as np

from recsys.data import film_names
from recsys.data.dataset import Catalog, Film
from recsys.serving.search import series
from recsys.serving.search.name_index import (
    EXACT,
    MISSPELT_NAME,
    OTHER_TITLE,
    WHOLE_WORDS,
    NameIndex,
    NameMatches,
    PeopleAndTitles,
    name_similarities,
    raise_scores,
)
from recsys.serving.search.normalize import (
    comparable_name,
    normalize,
    numbers_to_digits,
    romanizations,
    separate_number,
    split_year,
    strip_article,
    title_names,
)

TOO_FEW_RATINGS = "too few ratings to learn from"  # why models have no score for an infrequent film
MAX_QUERY_CHARS = 200  # the longest title of MovieLens has fewer
# scores in percent, see also name_index.py
SERIES_MATCH = 90
INITIALS_MATCH = 88
YEAR_MATCH = 75
MISSPELT_SERIES = 68  # multiplied by the similarity 0…1 to the name of a series
MIN_CONFIDENT = 40  # minimum score of a film that the visitor probably means
ADJACENT_YEAR_WEIGHT = 0.9  # factor of a score if the year of the film differs by one from the year in the query
# factor that keeps scores below MIN_CONFIDENT, for films of another year or number in a series, and for suggestions
UNLIKELY_WEIGHT = 0.39
# minimum letters of a Cyrillic query that is compared with parts of names in Latin letters. A shorter query must be a
# whole name, and other films are unlikely: "бокс" does not mean "Boksuneun naui geot".
MIN_LETTERS_OF_PART = 6
MIN_TAG_USES = 2  # a tag that was used once can be a typing error
N_NEAREST = 3  # films that `TitleIndex.nearest` suggests
# A film with a subtitle ranks above the film whose title equals the query if it has many more ratings:
# "lord of the rings" means the films of 2001 to 2003 rather than the film of 1978.
MIN_RATINGS_RATIO = 5
EXTRA_RATINGS = 10  # added to the ratings of the film with the equal title, because small numbers differ by chance

_MOVIE_ID = re.compile(r"^#\s*(\d{1,9})$")
_YEAR_ALONE = re.compile(r"^\(?((?:18|19|20)\d\d)\)?$")
_POSSESSIVE = re.compile(r"(?<=\w)['’]s(?=\s)")
_NAME_AND_NUMBER = re.compile(r"^(\D*\S) (\d{1,2})$")


@dataclass(frozen=True)
class SearchResult:
    """A film that matches a query."""

    number: int  # film number, index of `Catalog.films`
    movie_id: int
    title: str
    year: int | None
    genres: str
    score: float  # 0…100
    is_infrequent: bool = False  # models have no score for the film, so it has no rank and no place on the map
    matched_person: str = ""  # the director or actor that the query matched

    @property
    def unscored_reason(self) -> str:
        """Why models have no score for the film; "" if they have one."""
        return TOO_FEW_RATINGS if self.is_infrequent else ""

    @property
    def is_confident(self) -> bool:
        """Whether the visitor probably means this film. False for a film of another year or number, or a suggestion."""
        return self.score >= MIN_CONFIDENT

    @property
    def label(self) -> str:
        """Title and year: "Toy Story (1995)"."""
        return Film(self.movie_id, self.title, self.year, self.genres).label


class TitleIndex:
    """Searches the films of a catalogue, infrequent films included."""

    def __init__(self, catalog: Catalog, counts: Sequence[int] | np.ndarray | None = None) -> None:
        """Index the titles. Films of equal score are ordered by `counts` (I,), the numbers of ratings of the items."""
        self._films = catalog.films  # F, the items first; in this class, a row is a film number
        self.n_items = len(catalog)
        self._popularity = np.zeros(len(self._films), np.int64)  # (F,) 0 for infrequent films
        if counts is not None:
            self._popularity[: self.n_items] = counts
        self._years = np.array([film.year or 0 for film in self._films])  # (F,)
        forms: set[tuple[str, int]] = set()  # (normalized name, row)
        item_names: list[series.ItemName] = []
        name_table = film_names.read().by_corrected_title
        self._nicknames: dict[str, list[int]] = {}  # normalized nickname without spaces → rows
        self._subtitles: dict[str, list[int]] = {}  # normalized subtitle without article → rows of items
        self._main_titles: dict[str, list[int]] = {}  # title before the subtitle → rows of items
        for row, film in enumerate(self._films):
            names = name_table.get((film.title, film.year), film_names.FilmNames(film.title))
            forms |= {(form, row) for name in split_titles(names) for form in name_forms(name)}
            if row < self.n_items:
                for name in title_names(film.title):
                    normalized = numbers_to_digits(normalize(name))
                    item_names.append(series.ItemName(name, normalized, row))
                    for main_title in series.main_titles(name, strip_article(normalized)):
                        self._main_titles.setdefault(main_title, []).append(row)
                for subtitle in series.subtitles(film.title):
                    self._subtitles.setdefault(strip_article(normalize(subtitle)), []).append(row)
            for nickname in names.nicknames:
                self._nicknames.setdefault(normalize(nickname).replace(" ", ""), []).append(row)
        self._names = NameIndex(forms, len(self._films))
        # rows that are never returned, because the data set lists their film twice
        self._duplicates = np.array([*catalog.main_film_by_duplicate(self._popularity)], np.int64)
        self._series = series.find_series(item_names, self._years)
        self._series_by_initials = series.series_by_initials(self._series)
        self._rows_by_initials = series.title_initials(item_names)
        self._details, self._tags = catalog.details, catalog.tags

    def __len__(self) -> int:
        """The number of films, infrequent films included."""
        return len(self._films)

    @property
    def years(self) -> tuple[int, int] | None:
        """The years of the oldest and the newest film; None if no film has a year."""
        years = self._years[self._years > 0]
        return (int(years.min()), int(years.max())) if len(years) else None

    @cached_property
    def _people_and_titles(self) -> PeopleAndTitles | None:
        """The index of people and of titles in other languages, or None if the film details have neither."""
        return PeopleAndTitles(self._details, self._films) if self._details.has_people_or_titles else None

    @cached_property
    def _tag_words(self) -> frozenset[str]:
        """The normalized tags with at least MIN_TAG_USES uses, and the words of these tags.

        Most are people and subjects. A query that is such a tag or word has no typing error: "lynch" is the director,
        not a misspelt "Naked Lunch".
        """
        uses = np.bincount(np.asarray(self._tags.tag_index), minlength=len(self._tags.texts))
        tags = [normalize(self._tags.texts[number]) for number in np.flatnonzero(uses >= MIN_TAG_USES)]
        return frozenset(word for tag in tags for word in (tag, *tag.split()))

    @cached_property
    def _row_by_movie_id(self) -> dict[int, int]:
        """Movie id → row."""
        return {film.movie_id: row for row, film in enumerate(self._films)}

    @cached_property
    def _row_by_label(self) -> dict[str, int]:
        """Label, "Toy Story (1995)", → row, for the labels that only one film has. Duplicates are left out."""
        labels = [film.label for film in self._films]
        n_films, duplicates = Counter(labels), set(self._duplicates.tolist())
        return {label: row for row, label in enumerate(labels) if n_films[label] == 1 and row not in duplicates}

    def search(self, text: str, limit: int = 8) -> list[SearchResult]:
        """Return at most `limit` films, best match first, then most popular first.

        Any text is valid. It can end in a year ("heat 1995") or in a moved article ("Matrix, The"). "#2571" is a
        movie id.
        """
        return list(islice(self._ranked_films(text, min_matches=limit), max(0, limit)))

    def nearest(self, text: str) -> list[SearchResult]:
        """Return at most N_NEAREST films with the most similar names, as suggestions if `search` returns no film."""
        query = strip_article(_normalize_query(split_year(text[:MAX_QUERY_CHARS].strip())[0]))
        scores = self._names.letter_similarities(query) * UNLIKELY_WEIGHT
        return list(islice(self._results(NameMatches(scores, {})), N_NEAREST))

    def find_all_exact(self, text: str) -> list[SearchResult]:
        """Return all films whose title equals the text, most popular first.

        Case and accents are ignored, and so is an article of the title that the text lacks: "matrix" is "The Matrix".
        Films that have the name only in the table `recsys.data.film_names` come last. If the text has a year, only
        films of that year are returned. If there is no film, films with this title in another language are returned.
        """
        films = list(takewhile(lambda film: film.score >= OTHER_TITLE, self._ranked_films(text, titles_only=True)))
        name = comparable_name(title_names(split_year(text.strip())[0])[0])
        exact_matches = [film for film in films if film.score == EXACT]
        exact_matches.sort(key=lambda film: name not in map(comparable_name, title_names(film.title)))
        return exact_matches or [film for film in films if film.score == OTHER_TITLE]

    def find_by_label(self, label: str) -> SearchResult | None:
        """Return the film with this label, such as "Heat (1995)", or None if no film or several films have it."""
        row = self._row_by_label.get(label)
        return None if row is None else self._result(row, EXACT)

    def find_exact(self, text: str) -> SearchResult | None:
        """Return the most popular film of `find_all_exact`, or None."""
        return next(iter(self.find_all_exact(text)), None)

    def _ranked_films(self, text: str, min_matches: int = 0, titles_only: bool = False) -> Iterator[SearchResult]:
        """Yield matching films, best first.

        Args:
            text: The query.
            min_matches: If fewer films match, films with similar titles are added.
            titles_only: Whether to leave out films with a longer title ("endgame": "Avengers: Endgame"), and films of a
                misspelt series or with another number in a series.
        """
        text = text[:MAX_QUERY_CHARS].strip()
        if match := _MOVIE_ID.match(text):
            if (row := self._row_by_movie_id.get(int(match[1]))) is not None:
                yield self._result(row, EXACT)
            return
        yield from self._results(self._scores(text, min_matches, titles_only))

    def _results(self, matches: NameMatches) -> Iterator[SearchResult]:
        """Yield the films with a score above 0, best first, then most popular first. Duplicates are skipped."""
        scores, people = matches
        rows = np.setdiff1d(np.flatnonzero(scores), self._duplicates)
        for row in rows[np.lexsort((rows, -self._popularity[rows], -scores[rows]))].tolist():
            yield self._result(row, float(scores[row]), people.get(row, ""))

    def _result(self, row: int, score: float, person: str = "") -> SearchResult:
        """Return the result for a row. `person` is the person that the query matched, "" for none."""
        is_infrequent = row >= self.n_items
        return SearchResult(row, *self._films[row], score=score, is_infrequent=is_infrequent, matched_person=person)

    def _scores(self, text: str, min_matches: int, titles_only: bool) -> NameMatches:
        """Return the scores of all films, 0…100. A final year in the text can also be a part of the title.

        For the arguments, see `_ranked_films`.
        """
        title, year = split_year(text)
        query = _normalize_query(title)
        scores, people = self._add_people_and_titles(query, self._title_scores(query, min_matches, titles_only))
        for latin in romanizations(title):
            latin_query = _normalize_query(latin)
            latin_scores = self._title_scores(latin_query, min_matches, titles_only)
            if len(title) < MIN_LETTERS_OF_PART:
                latin_scores *= np.where(self._has_whole_name(latin_query, latin_scores), 1, UNLIKELY_WEIGHT)
            scores = np.maximum(scores, latin_scores)
        if match := _YEAR_ALONE.match(text):
            raise_scores(scores, np.flatnonzero(self._years == int(match[1])), YEAR_MATCH)
        if year is None:
            return NameMatches(scores, people)
        year_gap = np.abs(self._years - year)
        scores *= np.where(year_gap == 0, 1, np.where(year_gap == 1, ADJACENT_YEAR_WEIGHT, UNLIKELY_WEIGHT))
        query_with_year = _normalize_query(text)  # "Blade Runner 2049" is a title of 2017
        if query_with_year != query:
            scores = np.maximum(scores, self._names.match_scores(query_with_year))
        return NameMatches(scores, people)

    def _add_people_and_titles(self, query: str, scores: np.ndarray) -> NameMatches:
        """Raise the title scores (F,) of films whose people or titles in other languages match better than their title.

        If a person matches, the query has no typing error, so scores of misspelt titles become 0.
        """
        if self._people_and_titles is None:
            return NameMatches(scores, {})
        matches = self._people_and_titles.search(query)
        if matches.people:
            scores = np.where(scores > MISSPELT_NAME, scores, 0)
        people = {row: name for row, name in matches.people.items() if matches.scores[row] > scores[row]}
        return NameMatches(np.maximum(scores, matches.scores), people)

    def _has_whole_name(self, query: str, scores: np.ndarray) -> np.ndarray:
        """Return True for the films whose whole name or initials match the query, (F,) bool. A name can be misspelt.

        `scores` (F,) is the result of `_title_scores` for the query.
        """
        is_exact = np.isin(scores, (EXACT, SERIES_MATCH, INITIALS_MATCH))
        return is_exact | (self._names.misspelt_scores(query, compare_words=False) > 0)

    def _title_scores(self, query: str, min_matches: int, titles_only: bool) -> np.ndarray:
        """Return the scores of all films by title, (F,), ignoring years. For the arguments, see `_ranked_films`."""
        scores = self._names.match_scores(query)
        spaced_query = numbers_to_digits(separate_number(query))  # "hp3" and "hp three" → "hp 3"
        for nickname in (query, spaced_query):
            raise_scores(scores, self._nicknames.get(nickname.replace(" ", ""), []), EXACT)
        is_exact = scores == EXACT
        if not titles_only and is_exact.any() and not is_exact[: self.n_items].any():
            # "endgame" means Avengers: Endgame rather than an infrequent film of this title
            raise_scores(scores, self._subtitles.get(strip_article(query), []), EXACT)
        if not titles_only and is_exact.any():
            raise_scores(scores, self._popular_films_with_main_title(query, scores), EXACT)
        match = _NAME_AND_NUMBER.match(strip_article(spaced_query))
        name, number = (match[1], int(match[2])) if match else ("", 0)
        series_names = [name] if name in self._series else self._series_with_initials(name)
        raise_scores(scores, self._rows_of_number(series_names, number), SERIES_MATCH)
        if not scores.any():
            self._add_initials(scores, query, spaced_query)
        if np.count_nonzero(scores) < min_matches and query not in self._tag_words:
            scores = np.maximum(scores, self._names.misspelt_scores(query, compare_words=not scores.any()))
        query_without_tag = series.strip_series_tag(query)
        if query_without_tag != query and not titles_only and not scores.any():
            return self._title_scores(query_without_tag, min_matches, titles_only)
        if match and not titles_only and not scores.any():
            scores = self._other_number_scores(name, number)
        return scores

    def _popular_films_with_main_title(self, query: str, scores: np.ndarray) -> np.ndarray:
        """Return the rows (n,) of the films with the query before a subtitle: "Star Wars: …" for "star wars".

        There are none unless one of these films has many more ratings than each film whose title is the query. At least
        one of the `scores` (F,) is EXACT.
        """
        rows = np.array(self._main_titles.get(strip_article(numbers_to_digits(query)), []), np.int64)
        # only names with the article of the query: "the mission" is not "Mission: Impossible"
        rows = rows[scores[rows] >= WHOLE_WORDS]
        n_ratings_of_title = self._popularity[scores == EXACT].max()
        n_ratings = self._popularity[rows].max(initial=0)
        return rows if n_ratings >= MIN_RATINGS_RATIO * (n_ratings_of_title + EXTRA_RATINGS) else rows[:0]

    def _series_with_initials(self, letters: str) -> list[str]:
        """Return the names of the series with these initials. The initial of "the" is optional: "lotr" or "tlotr"."""
        names = self._series_by_initials.get(letters, [])
        if not names and len(letters) > 3 and letters.startswith("t"):
            return self._series_by_initials.get(letters[1:], [])
        return names

    def _rows_of_number(self, series_names: Sequence[str], number: int) -> list[int]:
        """Return the rows of the films with a number in any of the series."""
        rows = [self._series[name].row_of_number(number) for name in series_names]
        return [row for row in rows if row is not None]

    def _other_number_scores(self, name: str, number: int) -> np.ndarray:
        """Return the scores of films for a name and a number that no film has together, (F,).

        The film with the number in the most similar series gets a score, because the name can be misspelt. Films that
        match the name without the number get unlikely scores.
        """
        scores = self._names.match_scores(name) * UNLIKELY_WEIGHT
        series_names = list(self._series)
        similarities = name_similarities(name, series_names)
        if similarities.any():
            best = int(similarities.argmax())
            rows = self._rows_of_number([series_names[best]], number)
            raise_scores(scores, rows, MISSPELT_SERIES * similarities[best])
        return scores

    def _add_initials(self, scores: np.ndarray, query: str, spaced_query: str) -> None:
        """Raise the scores (F,) of films by initials, in place: "lotr", "lotr two towers", or the initials of a title.

        `spaced_query` is the query with a final number as a separate word.
        """
        word, _, rest = spaced_query.partition(" ")
        for name in self._series_with_initials(word):
            if not rest:
                raise_scores(scores, self._series[name].rows, SERIES_MATCH)
            elif not rest.isdigit():
                full_name_scores = self._names.match_scores(f"{name} {rest}")
                np.maximum(scores, full_name_scores * (SERIES_MATCH / EXACT), out=scores)
        raise_scores(scores, self._rows_by_initials.get(query, []), INITIALS_MATCH)


def split_titles(film: film_names.FilmNames) -> list[str]:
    """Return the names in all titles of a film, without nicknames."""
    return [name for title in (film.title, *film.other_titles) for name in title_names(title)]


def name_forms(name: str) -> set[str]:
    """Return the normalized forms of a name: as written, without "'s", in Latin letters, and each form with digits.

    Without "'s", "Bridget Jones's Diary" begins with the words "bridget jones".
    """
    plain = {normalize(form) for form in (name, _POSSESSIVE.sub("", name), *romanizations(name))}
    return plain | set(map(numbers_to_digits, plain))


def _normalize_query(query: str) -> str:
    """Return the first name in a query, normalized."""
    return normalize(title_names(query)[0])
