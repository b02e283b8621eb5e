"""Watch sequences from outside: typed titles, a link, a ready-made example. Nothing here trusts its input."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from recsys.data.dataset import Catalog, Dataset
from recsys.errors import Message, RecsysError
from recsys.serving.search.search import SearchResult, TitleIndex

MAX_FILMS = 1000  # films of a sequence that are kept, the newest: five times what the models read
MAX_SCORE_GAP = 15  # points of search score below the best suggestion: a title further below is not suggested
MAX_ID_CHARS = 3_500  # characters of ids in an address: with all else it stays below the 8 KB that web servers take
OMITTED_PREFIX = re.compile(r"^e(\d{1,6})-")  # how many films had no room before those of a link
_DASH = re.compile(r"(?<!-)(?<!^)-")  # between two ids; the second of two dashes is a minus sign

# Name → what it is and its films, oldest first. The first SHOWN of which a data set has FEWEST films are offered: those
# of today where it has them, else those further down.
EXAMPLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "Mind-benders": (
        "Christopher Nolan, from Memento to Tenet",
        (
            "Memento (2000)",
            "The Prestige (2006)",
            "The Dark Knight (2008)",
            "Inception (2010)",
            "Interstellar (2014)",
            "Dunkirk (2017)",
            "Tenet (2020)",
        ),
    ),
    "Family night": (
        "Animated films for children, and for whoever watches with them",
        (
            "Finding Nemo (2003)",
            "Up (2009)",
            "Toy Story 3 (2010)",
            "Inside Out (2015)",
            "Zootopia (2016)",
            "Coco (2017)",
        ),
    ),
    "Marvel heroes": (
        "Ten years of the Avengers and their friends",
        (
            "Iron Man (2008)",
            "The Avengers (2012)",
            "Guardians of the Galaxy (2014)",
            "Captain America: Civil War (2016)",
            "Black Panther (2017)",
            "Avengers: Infinity War - Part I (2018)",
        ),
    ),
    "Talked about lately": (
        "Get Out, Parasite and what came after",
        (
            "Get Out (2017)",
            "Knives Out (2019)",
            "Parasite (2019)",
            "Dune (2021)",
            "Everything Everywhere All at Once (2022)",
        ),
    ),
    "The great classics": (
        "Hollywood from Casablanca to The Godfather",
        (
            "Citizen Kane (1941)",
            "Casablanca (1942)",
            "Rear Window (1954)",
            "12 Angry Men (1957)",
            "Psycho (1960)",
            "The Godfather (1972)",
        ),
    ),
    "Science-fiction evening": (
        "Space, robots and time machines",
        (
            "Star Wars (1977)",
            "Star Wars: Episode IV - A New Hope (1977)",  # the same film in the larger sets
            "Blade Runner (1982)",
            "Alien (1979)",
            "The Terminator (1984)",
            "Back to the Future (1985)",
            "Twelve Monkeys (1995)",
        ),
    ),
    "Animated family films": (
        "Drawn and rendered, for all ages",
        (
            "Aladdin (1992)",
            "The Lion King (1994)",
            "Beauty and the Beast (1991)",
            "Pinocchio (1940)",
            "Toy Story (1995)",
        ),
    ),
    "Crime of the nineties": (
        "Heists, hit men and detectives",
        (
            "GoodFellas (1990)",
            "Reservoir Dogs (1992)",
            "Pulp Fiction (1994)",
            "Seven (1995)",
            "Heat (1995)",
            "Fargo (1996)",
        ),
    ),
}
MAX_EXAMPLES = 5  # examples that are offered, at most
MIN_EXAMPLE_FILMS = 4  # films of an example that a data set must have


class UnknownTitleError(RecsysError):
    """A title that names no film; the message says what to try."""


@dataclass(frozen=True)
class Example:
    """A ready-made watch sequence."""

    name: str
    description: str
    items: tuple[int, ...]  # oldest first


def examples(index: TitleIndex) -> list[Example]:
    """The ready-made sequences of which the data set has enough films."""
    made = []
    for name, (description, titles) in EXAMPLES.items():
        films = [index.exact(title) for title in titles]
        items = tuple(dict.fromkeys(film.item for film in films if film is not None and film.selectable))
        if len(items) >= MIN_EXAMPLE_FILMS:
            made.append(Example(name, description, items))
    return made[:MAX_EXAMPLES]


@dataclass(frozen=True)
class UserHistory:
    """What a real person of the data set watched; nothing else of them is given away."""

    items: tuple[int, ...]  # their newest films, oldest first, none twice
    watched: int  # number of films in all


def sample_user(dataset: Dataset, rng: np.random.Generator, newest: int = 20) -> UserHistory | None:
    """A random one of the people who watched something; None when nobody did."""
    people = np.flatnonzero(np.diff(dataset.offsets))
    return user_history(dataset, int(rng.choice(people)), newest) if len(people) else None


def user_history(dataset: Dataset, row: int, newest: int = 20) -> UserHistory:
    """What the person of a row 0…U-1 watched."""
    films = list(dict.fromkeys(dataset.history(row).tolist()[::-1]))  # the newest first
    return UserHistory(tuple(films[:newest][::-1]), len(films))


def parse_titles(index: TitleIndex, titles: Sequence[str]) -> tuple[list[int], list[str]]:
    """Titles, oldest first → films as numbered by `Catalog.films`, and a sentence for each title that needs one.

    It says which film was taken where several share the title, and that another film stands in for one that training
    left out. Raises UnknownTitleError, with the nearest titles.
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
    """The films of that title, the most popular first; those that no model knows only where there are no others."""
    if called := index.matches(title):
        return [film for film in called if film.selectable] or called
    shown = title if len(title) <= 80 else f"{title[:80]}…"
    nearest = [film for film in index.search(title, limit=20) or index.nearest(title) if film.selectable][:3]
    near = [film.label for film in nearest if film.score > nearest[0].score - MAX_SCORE_GAP]
    spelling = Message("check the spelling, or search for it in the app")
    advice = Message("did you mean {near}?", near=" or ".join(near)) if near else spelling
    raise UnknownTitleError('no film is called "{title}"; {advice}', title=shown, advice=advice)


def to_url_params(dataset_name: str, catalog: Catalog, items: Sequence[int]) -> dict[str, str]:
    """The link of a sequence: {"data": "ml-100k", "s": "1-260-1196"}, in MovieLens ids; no "s" when it is empty.

    Of a long sequence the newest films that fit, after the number of those that do not: "e2400-1-260-…".
    """
    link, ids = {"data": dataset_name}, _movie_ids(catalog, items)
    if fit := newest_that_fit(ids, MAX_ID_CHARS):
        earlier = [f"e{len(ids) - len(fit)}"] if len(fit) < len(ids) else []
        link["s"] = "-".join([*earlier, *fit])
    return link


def count_that_fits(catalog: Catalog, items: Sequence[int]) -> int:
    """How many films of a sequence, the newest, a link has room for."""
    return len(newest_that_fit(_movie_ids(catalog, items), MAX_ID_CHARS))


def _movie_ids(catalog: Catalog, items: Sequence[int]) -> list[str]:
    return [str(catalog.films[item].movie_id) for item in items]


def newest_that_fit(parts: Sequence[str], room: int) -> list[str]:
    """The last of some parts that, with a sign between each two, have no more than `room` characters."""
    lengths = accumulate(len(part) + 1 for part in reversed(parts))
    return list(parts[len(parts) - sum(length <= room + 1 for length in lengths) :])


def from_url_params(params: Mapping[str, str], catalog: Catalog) -> tuple[list[int], list[Message]]:
    """The films of a link, as numbered by `Catalog.films`, and a message for each kind of part that had to be skipped.

    Nothing is raised, whatever the link holds. `data` is not read: the caller chose the catalogue by it.
    """
    text = params.get("s", "")
    earlier = int(match[1]) if (match := OMITTED_PREFIX.match(text)) else 0
    parts = [part for part in _DASH.split(OMITTED_PREFIX.sub("", text)) if part]
    movies = [int(part) for part in parts if part.isascii() and part.isdigit() and len(part) < 10]
    distinct = list(dict.fromkeys(movies))
    items = [catalog.number_of[movie] for movie in distinct if movie in catalog.number_of]
    unknown = len(distinct) - len(items)
    notices = {
        Message("A part of the link could not be read and was skipped."): len(parts) - len(movies),
        Message(
            "Skipped {n:,} film of the link: not in this data set.",
            plural="Skipped {n:,} films of the link: not in this data set.",
            n=unknown,
        ): unknown,
        Message("Films that are in the link twice are kept once."): len(movies) - len(distinct),
        Message(
            "The link had room for the newest {n:,} film, not for the {earlier:,} before it.",
            plural="The link had room for the newest {n:,} films, not for the {earlier:,} before them.",
            n=len(items),
            earlier=earlier,
        ): earlier,
        Message("The link is long; its newest {max_films:,} films are kept.", max_films=MAX_FILMS): len(items)
        > MAX_FILMS,
    }
    return items[-MAX_FILMS:], [notice for notice, happened in notices.items() if happened]
