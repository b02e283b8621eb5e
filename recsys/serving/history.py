"""A watch sequence from outside: titles somebody typed, a link, a ready-made example. Nothing here trusts its input."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recsys.data.schema import Catalog, Dataset
from recsys.serving.search import TOO_FEW, Found, TitleIndex

LONGEST = 1000  # films of a sequence that are kept, the newest: five times what the models read
FARTHEST = 15  # points of search score behind the nearest title up to which another one is worth suggesting
_DASH = re.compile(r"(?<!-)(?<!^)-")  # between two ids; the second of two dashes is a minus sign

EXAMPLES: dict[str, tuple[str, tuple[str, ...]]] = {
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


class UnknownTitle(LookupError):
    """A title that names no film, or one that no model knows; the message says what to try."""


@dataclass(frozen=True)
class Example:
    """A ready-made watch sequence."""

    name: str
    description: str
    items: tuple[int, ...]  # oldest first


def examples(index: TitleIndex) -> list[Example]:
    """The ready-made sequences, as far as the data set has their films."""
    made = []
    for name, (description, titles) in EXAMPLES.items():
        films = [index.exact(title) for title in titles]
        items = dict.fromkeys(film.item for film in films if film is not None and film.item is not None)
        if items:
            made.append(Example(name, description, tuple(items)))
    return made


@dataclass(frozen=True)
class Viewer:
    """What a real person of the data set watched; nothing else is told of them."""

    items: tuple[int, ...]  # the newest, oldest first, no film twice
    watched: int  # films in all


def random_viewer(dataset: Dataset, rng: np.random.Generator, newest: int = 20) -> Viewer | None:
    """One of the people who watched something; None when nobody did."""
    busy = np.flatnonzero(np.diff(dataset.offsets))
    if not len(busy):
        return None
    films = dataset.history(int(rng.choice(busy))).tolist()[::-1]
    last_seen = list(dict.fromkeys(films))  # newest first
    return Viewer(tuple(last_seen[:newest][::-1]), len(last_seen))


def parse_titles(index: TitleIndex, titles: Sequence[str]) -> tuple[list[int], list[str]]:
    """Titles in watching order → items, and a sentence for each title that several films share.

    Raises UnknownTitle, with the nearest titles, or with why the film cannot be used.
    """
    items, notes = [], []
    for title in titles:
        film, *others = _usable(index, title)
        assert film.item is not None
        items.append(film.item)
        if others:
            labels = ", ".join(other.label for other in others[:3])
            notes.append(f'"{title}" is taken as {film.label}; there is also {labels}')
    return items, notes


def _usable(index: TitleIndex, title: str) -> list[Found]:
    """The films of that title that a model knows, the most popular first; never empty."""
    called = index.matches(title)
    if usable := [film for film in called if film.selectable]:
        return usable
    shown = title if len(title) <= 80 else f"{title[:80]}…"
    if called:
        raise UnknownTitle(f'"{shown}" cannot be used: {called[0].label} has {called[0].reason}; choose another film')
    nearest = [film for film in index.search(title, limit=20) if film.selectable][:3]
    near = [film.label for film in nearest if film.score > nearest[0].score - FARTHEST]
    advice = f"did you mean {' or '.join(near)}?" if near else "check the spelling, or search for it in the app"
    raise UnknownTitle(f'no film is called "{shown}"; {advice}')


def to_query(dataset_name: str, catalog: Catalog, items: Sequence[int]) -> dict[str, str]:
    """The link of a sequence: {"data": "ml-100k", "s": "1-260-1196"}, in MovieLens ids; no "s" when it is empty."""
    link = {"data": dataset_name}
    if len(items):
        link["s"] = "-".join(str(movie) for movie in catalog.movie_ids[list(items)])
    return link


def from_query(params: Mapping[str, str], catalog: Catalog) -> tuple[list[int], list[str]]:
    """The sequence of a link as items, and a sentence for each kind of thing in it that had to be skipped.

    Whatever the link holds, nothing is raised. The `data` part is for the caller, who chose the catalogue by it.
    """
    parts = [part for part in _DASH.split(params.get("s", "")) if part]
    movies = [int(part) for part in parts if part.isascii() and part.isdigit() and len(part) < 10]
    distinct = list(dict.fromkeys(movies))
    items = [catalog.item_of[movie] for movie in distinct if movie in catalog.item_of]
    strange = [movie for movie in distinct if movie not in catalog.item_of]
    left_out = int(np.isin(strange, catalog.left_out["movie_id"].to_numpy()).sum()) if strange else 0
    notices = {
        "A part of the link could not be read and was skipped.": len(parts) - len(movies),
        f"Skipped {_films(len(strange) - left_out)} of the link: not in this data set.": len(strange) - left_out,
        f"Skipped {_films(left_out)} of the link: {TOO_FEW}.": left_out,
        "Films that stand in the link twice are kept once.": len(movies) - len(distinct),
        f"The link is long; its newest {LONGEST:,} films are kept.": len(items) > LONGEST,
    }
    return items[-LONGEST:], [sentence for sentence, happened in notices.items() if happened]


def _films(count: int) -> str:
    return "1 film" if count == 1 else f"{count:,} films"
