"""Read histories from titles, links, sample lists and users of a data set. Titles and links are untrusted input."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from recsys import paths, storage
from recsys.data.dataset import Catalog, Dataset
from recsys.errors import Message, RecsysError
from recsys.serving.search.search import TOO_FEW_RATINGS, SearchResult, TitleIndex

MAX_FILMS = 1000  # of a list; the newest films are kept. Models read 200 at most
MAX_SCORE_GAP = 15  # between the search scores 0…100 of the best suggestion and of any other suggestion
MAX_SUGGESTIONS = 3
MAX_TITLE_CHARS = 80  # of a title in an error message
MAX_ID_DIGITS = 15  # of a movie id, as in `own_data.INTEGER_ID`, because data of users can have ISBNs as ids
MAX_ID_CHARS = 3_500  # characters of the movie ids in a link, because web servers accept at most 8 KB
OMITTED_PREFIX = re.compile(r"^e(\d{1,6})-")  # "e2400-": number of older films that do not fit in a link
MAX_SAMPLE_LISTS = 5
MIN_SAMPLE_FILMS = 4  # films of a sample list that the data set must have
_DASH = re.compile(r"(?<!-)(?<!^)-")  # between ids. "1--5" has the id "-5", which is skipped as invalid, not read as 5


class UnknownTitleError(RecsysError):
    """No film has this title. The message has suggestions."""


@dataclass(frozen=True)
class SampleList:
    """A sample list for a data set."""

    name: str
    description: str
    items: tuple[int, ...]  # oldest first


def sample_lists() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return name → (description, titles of films) of the sample lists. Titles are oldest first.

    Lists of recent films come first.
    """
    return storage.read_shipped_json(paths.sample_lists(), _parse_sample_lists, {})


def _parse_sample_lists(content: list[dict[str, Any]]) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Convert the content of the file to the result of `sample_lists`."""
    return {entry["name"]: (entry["description"], tuple(entry["films"])) for entry in content}


def available_sample_lists(index: TitleIndex) -> list[SampleList]:
    """Return the first MAX_SAMPLE_LISTS sample lists with at least MIN_SAMPLE_FILMS films of the data set."""
    lists = []
    for name, (description, titles) in sample_lists().items():
        films = [index.find_exact(title) for title in titles]
        items = tuple(dict.fromkeys(film.number for film in films if film is not None and not film.is_infrequent))
        if len(items) >= MIN_SAMPLE_FILMS:
            lists.append(SampleList(name, description, items))
    return lists[:MAX_SAMPLE_LISTS]


@dataclass(frozen=True)
class UserHistory:
    """The films of a user of the data set."""

    items: tuple[int, ...]  # each film once, at most `n_newest` films, oldest first
    n_watched: int  # number of films in the whole history, each counted once


def sample_user(dataset: Dataset, rng: np.random.Generator, n_newest: int = 20) -> UserHistory | None:
    """Return the history of a random user, or None if all histories are empty."""
    users = np.flatnonzero(np.diff(dataset.offsets))
    return user_history(dataset, int(rng.choice(users)), n_newest) if len(users) else None


def user_history(dataset: Dataset, row: int, n_newest: int = 20) -> UserHistory:
    """Return the history of the user in row 0…U-1, with at most `n_newest` films."""
    newest_first = list(dict.fromkeys(dataset.history(row).tolist()[::-1]))
    return UserHistory(tuple(newest_first[:n_newest][::-1]), len(newest_first))


def parse_titles(index: TitleIndex, titles: Sequence[str]) -> tuple[list[int], list[str]]:
    """Return the film number of each title, in the order of `titles`, and notes on ambiguous and infrequent films.

    Raises:
        UnknownTitleError: If there is no film with a title. The message has similar titles.
    """
    numbers, notes = [], []
    for title in titles:
        film, *others = _films_named(index, title)
        numbers.append(film.number)
        if film.is_infrequent:
            notes.append(f"{film.label} has {TOO_FEW_RATINGS}, so the most similar film is used instead")
        if others:
            labels = ", ".join(other.label for other in others[:MAX_SUGGESTIONS])
            notes.append(f"“{title}” was read as {film.label}; other films with this title: {labels}")
    return numbers, notes


def _films_named(index: TitleIndex, title: str) -> list[SearchResult]:
    """Return the films with a title, most popular first. Infrequent films are only returned if there are no others.

    Raises:
        UnknownTitleError: If there is no film with the title.
    """
    if labelled_film := index.find_by_label(title):
        return [labelled_film]
    if films := index.find_all_exact(title):
        return [film for film in films if not film.is_infrequent] or films
    short_title = title if len(title) <= MAX_TITLE_CHARS else f"{title[:MAX_TITLE_CHARS]}…"
    results = index.search(title, limit=20) or index.nearest(title)
    suggestions = [film for film in results if not film.is_infrequent][:MAX_SUGGESTIONS]
    labels = [film.label for film in suggestions if film.score > suggestions[0].score - MAX_SCORE_GAP]
    advice = Message("check the spelling, or search for it in the app")
    if labels:
        advice = Message("did you mean {near}?", near=" or ".join(labels))
    raise UnknownTitleError("no film is called “{title}”; {advice}", title=short_title, advice=advice)


def to_url_params(dataset_name: str, catalog: Catalog, films: Sequence[int]) -> dict[str, str]:
    """Return the URL parameters of a list of film numbers, {"data": "ml-100k", "s": "1-260-1196"}.

    "s" has movie ids of the data set, oldest first. An empty list has no "s". If a list is too long, "s" has the number
    of the omitted older films, and the newest films: "e2400-1-260-…".
    """
    params, ids = {"data": dataset_name}, [str(catalog.films[film].movie_id) for film in films]
    newest_ids = newest_that_fit(ids, MAX_ID_CHARS)
    if newest_ids:
        n_omitted = len(ids) - len(newest_ids)
        params["s"] = "-".join([f"e{n_omitted}", *newest_ids] if n_omitted else newest_ids)
    return params


def count_films_in_link(catalog: Catalog, films: Sequence[int]) -> int:
    """Return how many of these film numbers fit in a link. If not all fit, the newest are in the link."""
    return len(newest_that_fit([str(catalog.films[film].movie_id) for film in films], MAX_ID_CHARS))


def newest_that_fit(parts: Sequence[str], max_chars: int) -> list[str]:
    """Return the last `parts` that, joined by a separator of one character, have at most `max_chars` characters."""
    total_chars = accumulate(len(part) + 1 for part in reversed(parts))  # of the last n parts, each with a separator
    n_fitting = sum(total - 1 <= max_chars for total in total_chars)
    return list(parts[len(parts) - n_fitting :])


def from_url_params(params: Mapping[str, str], catalog: Catalog) -> tuple[list[int], list[Message]]:
    """Return the film numbers in the parameter "s" of a link, and a notice for each reason that films are missing.

    `catalog` belongs to the data set in the parameter "data", see `to_url_params`. Never raises an exception.
    """
    text = params.get("s", "")
    n_omitted = int(match[1]) if (match := OMITTED_PREFIX.match(text)) else 0
    parts = [part for part in _DASH.split(OMITTED_PREFIX.sub("", text)) if part]
    movie_ids = [int(part) for part in parts if part.isascii() and part.isdigit() and len(part) <= MAX_ID_DIGITS]
    distinct_ids = list(dict.fromkeys(movie_ids))
    films = [catalog.film_number_of[movie_id] for movie_id in distinct_ids if movie_id in catalog.film_number_of]
    n_unknown = len(distinct_ids) - len(films)
    notices = []
    if len(movie_ids) < len(parts):
        notices.append(Message("Part of the link could not be read and was skipped."))
    if n_unknown:
        notices.append(
            Message(
                "Skipped {n:,} film in the link: not in this data set.",
                plural="Skipped {n:,} films in the link: not in this data set.",
                n=n_unknown,
            )
        )
    if len(distinct_ids) < len(movie_ids):
        notices.append(Message("Films that are in the link more than once are added only once."))
    if n_omitted:
        notices.append(
            Message(
                "The link had room for the latest {n:,} film, not for the {earlier:,} before it.",
                plural="The link had room for the latest {n:,} films, not for the {earlier:,} before them.",
                n=len(films),
                earlier=n_omitted,
            )
        )
    if len(films) > MAX_FILMS:
        notices.append(
            Message("The link has too many films; only the latest {max_films:,} are used.", max_films=MAX_FILMS)
        )
    return films[-MAX_FILMS:], notices
