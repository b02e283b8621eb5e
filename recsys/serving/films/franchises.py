"""Films that an evening has room for one of: parts of one series, by their titles and a few tags. Shapes: I items.

No data set says it, so this guesses, and more freely than the search does (`series`): it would rather keep two
strangers apart ("Casino", "Casino Royale") than let two parts through, as an evening has plenty of other films.
"""

import re
from collections import Counter
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np

from recsys.data.dataset import Dataset, Film

SHORTEST = 5  # letters of a whole title for longer titles that begin with it to count: "Rocky", but not "Up"
COMMON = 10  # films whose titles begin with the same word: from so many on the word is a word, such as "American"
TAGS = {  # tag → the series that it names; titles such as "Goldfinger" do not
    "007": "james bond",
    "007 (series)": "james bond",
    "james bond": "james bond",
    "batman": "batman",
    "harry potter": "harry potter",
    "indiana jones": "indiana jones",
    "marvel cinematic universe": "marvel",
    "mcu": "marvel",
    "star trek": "star trek",
    "star wars": "star wars",
    "x-men": "x-men",
}
_OTHER_TITLE = re.compile(r"\s*\([^()]*\)")  # "Seven (a.k.a. Se7en)"
_ARTICLE = re.compile(r"^(?:the|a|an)\s+")
_NUMBER = r"(?:[1-9]|1[0-2]|[ivx]+|one|two|three|four|five|six|seven|eight|nine|ten|first|second|third|final|last)"
_PART = re.compile(rf"[\s,:-]+(?:(?:the\s+)?(?:part|episode|chapter|volume|vol\.?)\s+)?{_NUMBER}[³²]?$|[²³]$")
_HERO_AND = re.compile(r"^(\S+(?:\s+\S+){1,2}?)\s+(?:and|&)\s+the\s")  # "Harry Potter and the Goblet of Fire"
_SUBTITLE = re.compile(r":\s|\s[-–]\s")

_indexes: WeakKeyDictionary[Dataset, tuple[list[frozenset[str]], dict[str, list[int]]]] = WeakKeyDictionary()
_indexing = Lock()


def names(film: Film, tags: str = "") -> frozenset[str]:
    """What a film's series may be called: {"star wars", …} for "Star Wars: Episode IV - A New Hope".

    Two films that share a name are taken for parts of one series. A film of its own has its own title as a name.
    tags: separated by ", ", as in the catalogue.
    """
    whole = _ARTICLE.sub("", _OTHER_TITLE.sub("", film.title).casefold()).strip()
    found = {_without_number(whole), _without_number(_SUBTITLE.split(whole)[0])}
    if hero := _HERO_AND.match(whole):
        found.add(hero[1])
    found |= {TAGS[tag] for tag in tags.casefold().split(", ") if tag in TAGS}
    return frozenset(found)


def same_series(dataset: Dataset, item: int) -> np.ndarray:
    """The items (n,) int64 that seem to be of one series with an item, itself included."""
    with _indexing:
        if dataset not in _indexes:
            _indexes[dataset] = _index(dataset)
        of, called = _indexes[dataset]
    parts = {item}
    for name in of[item]:
        parts.update(called.get(name, ()))
    return np.array(sorted(parts), np.int64)


def _index(dataset: Dataset) -> tuple[list[frozenset[str]], dict[str, list[int]]]:
    """The names of each item's series, and the items of each name; long titles have the names that they begin with."""
    movies = dataset.catalog.movies
    films = dataset.catalog.films[: len(movies)]
    own = [names(film, tags) for film, tags in zip(films, movies["tags"].fillna(""), strict=True)]
    first_words = Counter(word for one in own for word in {name.split()[0] for name in one if name})
    known = {name for one in own for name in one if len(name) >= SHORTEST and first_words[name] < COMMON}
    of = [one | _beginnings(one, known) for one in own]
    called: dict[str, list[int]] = {}
    for item, one in enumerate(of):
        for name in one:
            called.setdefault(name, []).append(item)
    return of, called


def _beginnings(own: frozenset[str], known: set[str]) -> set[str]:
    """The known names with which a longer one begins ("dark knight rises": "dark knight"), or that it has in plural."""
    words = [name.split() for name in own]
    singular = {name.removesuffix("s") for name in own}
    return ({" ".join(one[:n]) for one in words for n in range(1, len(one))} | singular) & known


def _without_number(title: str) -> str:
    """ "rocky ii", "rocky, part two" → "rocky"; a title that is nothing but a number stays."""
    return _PART.sub("", title).strip() or title
