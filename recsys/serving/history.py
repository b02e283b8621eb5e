"""Read watch lists from outside: titles, links, sample lists and users of a data set. The input is not trusted."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from recsys import paths, storage
from recsys.data.dataset import Catalog, Dataset
from recsys.errors import Message, RecsysError
from recsys.serving.search.search import SearchResult, TitleIndex

MAX_FILMS = 1000  # newest films of a list that are kept: five times what the models read
MAX_SCORE_GAP = 15  # of the search: titles with a lower score than the best suggestion minus this are not suggested
MAX_ID_CHARS = 3_500  # of a link: with the rest it stays below the 8 KB that web servers accept
OMITTED_PREFIX = re.compile(r"^e(\d{1,6})-")  # number of films that do not fit in a link
MAX_EXAMPLES = 5
MIN_EXAMPLE_FILMS = 4  # of an example that the data set must have
_DASH = re.compile(r"(?<!-)(?<!^)-")  # separates ids; in "1--5" the second id is -5, which is rejected later


class UnknownTitleError(RecsysError):
    """A title that is not the title of a film. The message has suggestions."""


@dataclass(frozen=True)
class Example:
    """A ready-made watch list."""

    name: str
    description: str
    items: tuple[int, ...]  # oldest first


def sample_lists() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return description and film titles, oldest first, of each ready-made list. Lists of recent films come first.

    The file is read at each call, which takes 0.03 ms.
    """
    lists = storage.read_shipped_json(paths.sample_lists(), _is_sample_lists) or []
    return {entry["name"]: (entry["description"], tuple(entry["films"])) for entry in lists}


def _is_sample_lists(content: Any) -> bool:
    texts = [text for entry in content for text in (entry["name"], entry["description"], *entry["films"])]
    return isinstance(content, list) and len(texts) > 0 and all(isinstance(text, str) for text in texts)


def examples(index: TitleIndex) -> list[Example]:
    """Return the first MAX_EXAMPLES sample lists of which the data set has enough films."""
    usable = []
    for name, (description, titles) in sample_lists().items():
        films = [index.exact(title) for title in titles]
        items = tuple(dict.fromkeys(film.item for film in films if film is not None and film.selectable))
        if len(items) >= MIN_EXAMPLE_FILMS:
            usable.append(Example(name, description, items))
    return usable[:MAX_EXAMPLES]


@dataclass(frozen=True)
class UserHistory:
    """The films of a user of the data set."""

    items: tuple[int, ...]  # the newest distinct films, oldest first
    watched: int  # number of distinct films


def sample_user(dataset: Dataset, rng: np.random.Generator, newest: int = 20) -> UserHistory | None:
    """Return a random user with a history, or None if there is none."""
    users = np.flatnonzero(np.diff(dataset.offsets))
    return user_history(dataset, int(rng.choice(users)), newest) if len(users) else None


def user_history(dataset: Dataset, row: int, newest: int = 20) -> UserHistory:
    """Return the newest films of the user in a row 0…U-1."""
    films = list(dict.fromkeys(dataset.history(row).tolist()[::-1]))  # newest first
    return UserHistory(tuple(films[:newest][::-1]), len(films))


def parse_titles(index: TitleIndex, titles: Sequence[str]) -> tuple[list[int], list[str]]:
    """Return film numbers of `Catalog.films` for titles, oldest first, and notes about ambiguous and infrequent films.

    Raises:
        UnknownTitleError: If there is no film with a title. The message has similar titles.
    """
    items, notes = [], []
    for title in titles:
        film, *others = _films_named(index, title)
        items.append(film.item)
        if film.not_trained:
            notes.append(f"{film.label} has {film.reason}, so the film most like it stands in for it")
        if others:
            labels = ", ".join(other.label for other in others[:3])
            notes.append(f'"{title}" is taken as {film.label}; there is also {labels}')
    return items, notes


def _films_named(index: TitleIndex, title: str) -> list[SearchResult]:
    """Return the films with a title, most popular first. Infrequent films are dropped if there are others."""
    if films := index.matches(title):
        return [film for film in films if film.selectable] or films
    short_title = title if len(title) <= 80 else f"{title[:80]}…"
    nearest = [film for film in index.search(title, limit=20) or index.nearest(title) if film.selectable][:3]
    near = [film.label for film in nearest if film.score > nearest[0].score - MAX_SCORE_GAP]
    spelling = Message("check the spelling, or search for it in the app")
    advice = Message("did you mean {near}?", near=" or ".join(near)) if near else spelling
    raise UnknownTitleError('no film is called "{title}"; {advice}', title=short_title, advice=advice)


def to_url_params(dataset_name: str, catalog: Catalog, items: Sequence[int]) -> dict[str, str]:
    """Return the URL parameters of a list, {"data": "ml-100k", "s": "1-260-1196"}, in MovieLens ids.

    An empty list has no "s". A long list has the number of films that do not fit, and the newest films that fit:
    "e2400-1-260-…".
    """
    params, ids = {"data": dataset_name}, _movie_ids(catalog, items)
    if fit := newest_that_fit(ids, MAX_ID_CHARS):
        omitted = [f"e{len(ids) - len(fit)}"] if len(fit) < len(ids) else []
        params["s"] = "-".join([*omitted, *fit])
    return params


def count_that_fits(catalog: Catalog, items: Sequence[int]) -> int:
    """Return the number of newest films of a list that fit in a link."""
    return len(newest_that_fit(_movie_ids(catalog, items), MAX_ID_CHARS))


def _movie_ids(catalog: Catalog, items: Sequence[int]) -> list[str]:
    return [str(catalog.films[item].movie_id) for item in items]


def newest_that_fit(parts: Sequence[str], max_chars: int) -> list[str]:
    """Return the longest suffix of `parts` that has at most `max_chars` characters when joined by one character."""
    lengths = accumulate(len(part) + 1 for part in reversed(parts))
    return list(parts[len(parts) - sum(length <= max_chars + 1 for length in lengths) :])


def from_url_params(params: Mapping[str, str], catalog: Catalog) -> tuple[list[int], list[Message]]:
    """Return the film numbers of `Catalog.films` in a link, and a notice for each kind of part that was skipped.

    Never raises an exception. "data" is not read, because the caller chose the catalogue by it.
    """
    text = params.get("s", "")
    n_omitted = int(match[1]) if (match := OMITTED_PREFIX.match(text)) else 0
    parts = [part for part in _DASH.split(OMITTED_PREFIX.sub("", text)) if part]
    movie_ids = [int(part) for part in parts if part.isascii() and part.isdigit() and len(part) < 10]
    distinct = list(dict.fromkeys(movie_ids))
    items = [catalog.number_of[movie_id] for movie_id in distinct if movie_id in catalog.number_of]
    n_unknown = len(distinct) - len(items)
    notices = [
        (len(parts) - len(movie_ids), Message("A part of the link could not be read and was skipped.")),
        (
            n_unknown,
            Message(
                "Skipped {n:,} film of the link: not in this data set.",
                plural="Skipped {n:,} films of the link: not in this data set.",
                n=n_unknown,
            ),
        ),
        (len(movie_ids) - len(distinct), Message("Films that are in the link twice are kept once.")),
        (
            n_omitted,
            Message(
                "The link had room for the newest {n:,} film, not for the {earlier:,} before it.",
                plural="The link had room for the newest {n:,} films, not for the {earlier:,} before them.",
                n=len(items),
                earlier=n_omitted,
            ),
        ),
        (
            len(items) > MAX_FILMS,
            Message("The link is long; its newest {max_films:,} films are kept.", max_films=MAX_FILMS),
        ),
    ]
    return items[-MAX_FILMS:], [notice for condition, notice in notices if condition]
