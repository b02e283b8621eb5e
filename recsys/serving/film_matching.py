"""Match entries of history files with films of a data set: by ids, then by title and year.

An entry without a confident match gets at most MAX_CANDIDATES films for the visitor to choose from. A title that no
film has exactly is compared with the titles of all films, which takes the most time.

Shapes: F films, N names, Q entries.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from typing import NamedTuple

import numpy as np
from rapidfuzz import fuzz, process

from recsys.data import film_names
from recsys.data.dataset import Dataset
from recsys.data.history_import.entries import Entry
from recsys.errors import N_
from recsys.serving.search.name_index import MIN_MISSPELT_CHARS, name_similarities
from recsys.serving.search.normalize import comparable_name, normalize, romanizations, sorted_span, title_names
from recsys.serving.search.search import split_titles

MAX_CANDIDATES = 5  # films to choose from
BATCH_TITLES = 64  # titles that are compared with all names at a time; 6 MB for 100,000 names
# similarities of titles are percentages of common letters, as `rapidfuzz.fuzz.ratio` counts them
MIN_SIMILARITY = 80  # of the titles of a candidate and the entry
MIN_SIMILARITY_WITHOUT_YEAR = 88  # instead, if the year of the candidate or the entry is unknown
PREFIX_SIMILARITY = 92  # similarity of a title and a longer title that begins with it
YEAR_BONUS = 10  # added to the similarity if both have the same year
MIN_LIKELY_SCORE = 102  # similarity plus bonus of a likely candidate; reached by PREFIX_SIMILARITY + YEAR_BONUS
MIN_POPULARITY_RATIO = 10  # ratings of a likely film / ratings of the second most popular film with the same title
MIN_SHARE_OF_VIEWERS = 0.02  # share of users who have watched a likely film, if the entry is newer than the data set
MAX_YEAR_GAP = 3  # between a candidate with the same title and the entry
DATASET_WITH_OTHER_IDS = "ml-100k"  # its ids differ from the ids of the MovieLens site


class MatchMethod(Enum):
    """How an entry was matched, or why its match is not confident."""

    ID = N_("by ID")
    TITLE_YEAR = N_("by title and year")
    NEXT_YEAR = N_("by title; the year differs by one")
    TITLE = N_("by title alone")
    UNSURE = N_("not sure")
    SERIES = N_("a series, not a film")
    NOT_FOUND = N_("not in this data set")


# methods of confident matches, the most reliable first
CONFIDENT_METHODS = (MatchMethod.ID, MatchMethod.TITLE_YEAR, MatchMethod.NEXT_YEAR, MatchMethod.TITLE)


@dataclass(frozen=True)
class Match:
    """The films that an entry can mean."""

    method: MatchMethod
    films: tuple[int, ...] = ()  # film numbers: the film of a confident match, otherwise candidates, best first
    is_likely: bool = False  # whether the first candidate is likely, if the match is not confident

    @property
    def is_confident(self) -> bool:
        """Whether the film is certain, so that the visitor need not choose."""
        return self.method in CONFIDENT_METHODS

    @property
    def accepted_film(self) -> int | None:
        """The film of a confident match or the likely candidate, None if there is neither."""
        return self.films[0] if self.is_confident or self.is_likely else None


class _Candidate(NamedTuple):
    """A film whose title is similar to the title of an entry."""

    film: int
    similarity: float  # in percent
    is_prefix: bool  # whether the shorter title is the beginning of the longer title


class Matcher:
    """Finds the films of a data set by id, title and similar title."""

    def __init__(self, dataset: Dataset) -> None:
        catalog = dataset.catalog
        self._films = catalog.films  # F films
        self._counts = np.zeros(len(self._films), np.int64)  # ratings (F,), 0 for infrequent films
        self._counts[: dataset.n_items] = dataset.counts
        self._n_users = dataset.n_users
        self._last_rating_time = _last_rating_time(dataset)
        # for each of F films: the main film of a duplicate, otherwise the film itself
        main_films = [dataset.main_film_by_duplicate.get(film, film) for film in range(len(self._films))]
        movies = catalog.complete.movies
        self._imdb_ids = movies["imdb_id"].tolist()  # F ids, "" if unknown
        self._film_by_imdb_id = {imdb_id: main_films[film] for film, imdb_id in enumerate(self._imdb_ids) if imdb_id}
        self._film_by_tmdb_id: dict[int | None, int] = {
            int(tmdb_id): main_films[film] for film, tmdb_id in movies["tmdb_id"].dropna().items()
        }
        movielens_ids = catalog.film_number_of if dataset.name != DATASET_WITH_OTHER_IDS else {}
        self._film_by_movielens_id: dict[int | None, int] = {
            movie_id: main_films[film] for movie_id, film in movielens_ids.items()
        }
        name_table = film_names.read().by_corrected_title
        self._titles = [  # the titles of each of F films
            split_titles(name_table.get((film.title, film.year), film_names.FilmNames(film.title)))
            for film in self._films
        ]
        names = {
            (comparable_name(spelling), film)
            for film, titles in enumerate(self._titles)
            if main_films[film] == film
            for title in titles
            for spelling in (title, *romanizations(title))
        }
        sorted_names = sorted((name, film) for name, film in names if name)
        self._names = [name for name, _ in sorted_names]  # N names
        self._film_of_name = [film for _, film in sorted_names]  # the film of each of N names
        self._films_by_spaceless_name: dict[str, list[int]] = defaultdict(list)
        for name, film in sorted_names:
            self._films_by_spaceless_name[name.replace(" ", "")].append(film)  # "Spider-Man" equals "Spiderman"

    def match(self, entries: Sequence[Entry]) -> list[Match]:
        """Return a match for each of Q entries."""
        matches = [self._match_exactly(entry) for entry in entries]
        unmatched = [entry for entry, match in zip(entries, matches, strict=True) if match is None]
        similar_matches = self._match_similar_titles(unmatched)
        return [next(similar_matches) if match is None else match for match in matches]

    def _match_exactly(self, entry: Entry) -> Match | None:
        """Match an entry by its ids or its exact title. Returns None if no film has them."""
        if (match_by_ids := self._match_by_ids(entry)) is not None:
            return match_by_ids
        films = self._films_titled(entry)
        if entry.year is None:
            return self._match_by_title_alone(entry, films)
        for year_gap, method in ((0, MatchMethod.TITLE_YEAR), (1, MatchMethod.NEXT_YEAR)):
            near_films = [film for film in films if abs((self._films[film].year or 0) - entry.year) == year_gap]
            if near_films:
                is_confident = len(near_films) == 1 and not self._has_other_imdb_id(entry, near_films[0])
                return Match(method, tuple(near_films)) if is_confident else self._unsure_match(near_films)
        with_year = replace(entry, title=f"{entry.title} {entry.year}", original_title="", year=None)
        match = self._match_by_title_alone(with_year, self._films_titled(with_year))
        if match and match.is_confident:  # the year is a part of the title: "Blade Runner 2049"
            return match
        # films without a year are candidates, too
        others = [film for film in films if abs((self._films[film].year or entry.year) - entry.year) <= MAX_YEAR_GAP]
        return self._unsure_match(others) if others else None

    def _match_by_ids(self, entry: Entry) -> Match | None:
        """Match by the ids of IMDb, TMDB and MovieLens. Returns None if no film has them.

        The match is unsure if the ids belong to different films. The ids of a duplicate belong to its main film.
        """
        movielens_film = self._film_by_movielens_id.get(entry.movie_id)
        if movielens_film is not None and entry.title and movielens_film not in self._films_titled(entry):
            movielens_film = None  # the film with this MovieLens id has another title, so the id is of another site
        imdb_film, tmdb_film = self._film_by_imdb_id.get(entry.imdb_id), self._film_by_tmdb_id.get(entry.tmdb_id)
        films = list(dict.fromkeys(film for film in (imdb_film, tmdb_film, movielens_film) if film is not None))
        if len(films) > 1:
            return self._unsure_match(films)
        return Match(MatchMethod.ID, tuple(films)) if films else None

    def _films_titled(self, entry: Entry) -> list[int]:
        """Return the films with the title or original title of an entry. Articles and spaces are ignored.

        If several films have the title, films with the same article and, if known, the same year are preferred.
        """
        titles = [name for title in (entry.title, entry.original_title) if title for name in title_names(title)]
        spellings = [spelling for title in titles for spelling in (title, *romanizations(title))]
        names = [comparable_name(spelling).replace(" ", "") for spelling in spellings]
        films = list(dict.fromkeys(film for name in names for film in self._films_by_spaceless_name.get(name, ())))
        if len(films) < 2:
            return films
        titles_with_article = set(map(normalize, titles))
        preferred = [film for film in films if titles_with_article & set(map(normalize, self._titles[film]))]
        if entry.year is not None:
            preferred = [film for film in preferred if self._films[film].year == entry.year]
        return preferred or films

    def _match_by_title_alone(self, entry: Entry, films: list[int]) -> Match | None:
        """Match an entry without a year with the films of its title (`films`) that were released by its date.

        Returns None if there are none. If there is only one, the match is confident. If there are several, a candidate
        is likely if it is far more popular than the others. An entry after the last rating of the data set can mean
        a newer film, which the data set lacks. Its match is not confident, and a candidate is likely only if it is well
        known.
        """
        date = entry.watch_date
        released = [film for film in films if not date or (self._films[film].year or 0) <= date.year]
        is_within_data = not date or date <= self._last_rating_time
        if len(released) == 1 and is_within_data and not self._has_other_imdb_id(entry, released[0]):
            return Match(MatchMethod.TITLE, tuple(released))
        is_likely = self._has_dominant_film(released) if is_within_data else self._has_well_known_film(entry, released)
        return self._unsure_match(released, is_likely) if released else None

    def _has_dominant_film(self, films: Sequence[int]) -> bool:
        """Return whether the most popular of several films is far more popular than the others."""
        counts = sorted((self._counts[film] for film in films), reverse=True)
        return len(films) > 1 and bool(counts[0] > MIN_POPULARITY_RATIO * counts[1])

    def _has_well_known_film(self, entry: Entry, films: Sequence[int]) -> bool:
        """Return whether the most popular film has exactly the title of the entry, and many viewers."""
        best = max(films, key=lambda film: self._counts[film], default=None)
        if best is None or normalize(entry.title) not in map(normalize, self._titles[best]):
            return False
        return bool(self._counts[best] >= MIN_SHARE_OF_VIEWERS * self._n_users)

    def _has_other_imdb_id(self, entry: Entry, film: int) -> bool:
        """Return whether entry and film have different IMDb ids. A missing id is not different."""
        return bool(entry.imdb_id) and self._imdb_ids[film] not in ("", entry.imdb_id)

    def _unsure_match(self, films: Iterable[int], is_likely: bool = False) -> Match:
        """Return an unsure match with the most popular candidates first."""
        candidates = sorted(films, key=lambda film: -self._counts[film])[:MAX_CANDIDATES]
        return Match(MatchMethod.UNSURE, tuple(candidates), is_likely)

    def _match_similar_titles(self, entries: Sequence[Entry]) -> Iterator[Match]:
        """Yield a match for each entry, see `_match_by_similarity`."""
        for start in range(0, len(entries), BATCH_TITLES):
            batch = entries[start : start + BATCH_TITLES]
            titles = [comparable_name(title_names(entry.title)[0]) for entry in batch]
            rows = process.cdist(titles, self._names, scorer=fuzz.ratio, score_cutoff=MIN_SIMILARITY, dtype=np.uint8)
            for entry, title, similarity in zip(batch, titles, rows, strict=True):
                yield self._match_by_similarity(entry, title, similarity)

    def _match_by_similarity(self, entry: Entry, title: str, similarity: np.ndarray) -> Match:
        """Match an entry with films of a similar title, and with films whose title is a longer or shorter form.

        Args:
            entry: The entry.
            title: Its title, normalized by `comparable_name`.
            similarity: Similarity of the title to each name, (N,) in percent, 0 below MIN_SIMILARITY.
        """
        if entry.may_be_series:
            return Match(MatchMethod.SERIES)
        rows = np.flatnonzero(similarity).tolist() if title else []
        candidates = [_Candidate(self._film_of_name[row], float(similarity[row]), is_prefix=False) for row in rows]
        candidates += [_Candidate(film, PREFIX_SIMILARITY, is_prefix=True) for film in self._films_with_prefix(title)]
        scores: dict[int, float] = {}
        for candidate in candidates:
            film = candidate.film
            if self._year_fits(entry, candidate):
                has_same_year = entry.year is not None and self._films[film].year == entry.year
                scores[film] = max(scores.get(film, 0), candidate.similarity + YEAR_BONUS * has_same_year)
        best = sorted(scores, key=lambda film: (-scores[film], -self._counts[film]))[:MAX_CANDIDATES]
        if (misspelt_film := self._misspelt_film(entry, title)) is not None:
            films = dict.fromkeys([misspelt_film, *best])
            return Match(MatchMethod.UNSURE, tuple(films)[:MAX_CANDIDATES], is_likely=True)
        if not scores:
            return Match(MatchMethod.NOT_FOUND)
        has_unique_best = len(best) == 1 or scores[best[0]] > scores[best[1]]
        is_likely = has_unique_best and scores[best[0]] >= MIN_LIKELY_SCORE
        return Match(MatchMethod.UNSURE, tuple(best), is_likely)

    def _misspelt_film(self, entry: Entry, title: str) -> int | None:
        """Return the most popular film whose name is spelt almost like a title, or None.

        The search box has the same rules for typing errors, see `name_similarities`. Only an entry without year and
        date is corrected, because it may have been typed. An infrequent film is never returned. There are many such
        films, so a title that the data set lacks often resembles one by chance.
        """
        if entry.year is not None or entry.watch_date or len(title) < MIN_MISSPELT_CHARS:
            return None
        similarity = name_similarities(title, self._names)
        if not similarity.any():
            return None
        films = [self._film_of_name[row] for row in np.flatnonzero(similarity == similarity.max())]
        best = max(films, key=self._counts.__getitem__)
        return best if self._counts[best] else None

    def _films_with_prefix(self, title: str) -> list[int]:
        """Return the films with a name that begins with a title or is the beginning of the title.

        "Star Wars" is the beginning of "Star Wars: Episode IV". For a title of fewer than four characters, no films are
        returned. A name of one word does not count as the beginning of a longer title.
        """
        words = title.split()
        if len(title) < 4:
            return []
        # the names that begin with the title and a space; "!" is the character after the space
        spans = [sorted_span(self._names, f"{title} ", f"{title}!")]
        prefixes = [" ".join(words[:length]) for length in range(2, len(words))]
        # the names that equal the first words of the title; "\0" is the lowest character
        spans += [sorted_span(self._names, prefix, f"{prefix}\0") for prefix in prefixes]
        return [film for span in spans for film in self._film_of_name[span]]

    def _year_fits(self, entry: Entry, candidate: _Candidate) -> bool:
        """Return whether the years differ by at most 1 or, if a year is unknown, the titles are very similar."""
        year = self._films[candidate.film].year
        if entry.year is None or year is None:
            return candidate.similarity >= MIN_SIMILARITY_WITHOUT_YEAR and not candidate.is_prefix
        return abs(year - entry.year) <= 1


def _last_rating_time(dataset: Dataset) -> datetime:
    """Return the time of the last rating, or the latest possible time if it is unknown."""
    times = dataset.interactions.timestamp
    if not dataset.has_times or not len(times):
        return datetime.max
    return datetime.fromtimestamp(int(times.max()), UTC).replace(tzinfo=None)
