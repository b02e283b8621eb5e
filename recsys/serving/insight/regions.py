"""Regions of a map of films, and what sets each apart: genres, decades and tags that are over-represented there.

Regions are groups by k-means of the points; nothing is said of them but shares of films that were counted.
Shapes: I films, W terms.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from recsys.data.dataset import Catalog
from recsys.text.films import genre_matrix

MOST, SMALLEST = 18, 40  # regions of a map; films of a region, on average, below which there are fewer
SURE = 6.0  # standard errors above the share in the whole catalogue; below that nothing is said
LEAST = {
    "decade": 0.35,
    "genre": 0.12,
    "tag": 0.1,
    "views": 0.4,
}  # share of a region's films that have what it is called by
TIMES = 1.5  # by how much the share must exceed that of the catalogue
AGREED, FILMS = 2, 5  # a tag counts when it was given to so many films so many times: not one person's own list
WIDELY, SELDOM = ("widely watched", 0.9, 1.0), ("seldom watched", 0.0, 0.33)  # name, and from which to which share
OLD = 1960  # decades before are one
FORMATS = ("IMAX",)  # in the data they are genres, but they say nothing of what a film is about


@dataclass(frozen=True)
class Term:
    """Something that sets a region apart."""

    name: str
    kind: str  # a key of LEAST
    here: float  # share of the region's films that have it
    everywhere: float  # share of all films


@dataclass(frozen=True, eq=False)
class Region:
    """A group of films that lie together."""

    x: float
    y: float
    items: np.ndarray  # its films, the most watched first
    terms: tuple[Term, ...]  # the surest first, at most one decade and one of WIDELY and SELDOM

    @property
    def tells_what(self) -> bool:
        """Whether a genre or a tag sets it apart."""
        return any(term.kind in ("genre", "tag") for term in self.terms)

    @property
    def label(self) -> str:
        """ "Horror · 1980s": what it is about, else how widely watched, then when; "" where nothing sets it apart."""
        by_kind: dict[str, str] = {}
        for term in self.terms:
            by_kind.setdefault("about" if term.kind in ("genre", "tag") else term.kind, term.name)
        first = by_kind.get("about", by_kind.get("views"))
        return " · ".join(filter(None, [first, by_kind.get("decade")]))


def regions(points: np.ndarray, catalog: Catalog, views: np.ndarray, most: int = MOST) -> list[Region]:
    """The regions of points (I, 2), the largest first; views (I,): how often each film was watched."""
    n = max(1, min(most, len(points) // SMALLEST))
    group = _grouped(points, n)
    has, terms = _terms(catalog, views)
    everywhere = has.mean(0)
    found = []
    for number in range(n):
        items = np.flatnonzero(group == number)
        if not len(items):
            continue
        here = has[items].mean(0)
        error = np.sqrt(np.maximum(everywhere * (1 - everywhere), 1e-12) / len(items))
        middle = points[items].mean(0)
        by_views = items[np.argsort(-views[items], kind="stable")]
        apart = _apart(terms, here, everywhere, (here - everywhere) / error)
        found.append(Region(float(middle[0]), float(middle[1]), by_views, apart))
    return sorted(found, key=lambda region: -len(region.items))


def _grouped(points: np.ndarray, n: int) -> np.ndarray:
    """(I,) the number of each point's group, the same for the same points."""
    from sklearn.cluster import KMeans

    return KMeans(n, n_init=4, random_state=0).fit_predict(np.asarray(points, np.float64))


def _apart(
    terms: list[tuple[str, str]], here: np.ndarray, everywhere: np.ndarray, surely: np.ndarray
) -> tuple[Term, ...]:
    """What is over-represented beyond doubt, the surest first; of decades the surest alone, and of views too."""
    found: list[Term] = []
    for number in np.argsort(-surely, kind="stable"):
        name, kind = terms[number]
        enough = here[number] >= max(LEAST[kind], TIMES * everywhere[number]) and surely[number] >= SURE
        another = kind in ("decade", "views") and any(term.kind == kind for term in found)
        same = any(term.name.lower() == name.lower() for term in found)
        if enough and not another and not same:
            found.append(Term(name, kind, float(here[number]), float(everywhere[number])))
    return tuple(found)


def _terms(catalog: Catalog, views: np.ndarray) -> tuple[np.ndarray, list[tuple[str, str]]]:
    """Which film has what, (I, W) bool, and the name and kind of each of the W terms."""
    genres, names = genre_matrix(catalog)
    kept = [number for number, name in enumerate(names) if name not in FORMATS]
    years = catalog.movies["year"]
    decades = (years // 10 * 10).where(years >= OLD, 0).fillna(-1).astype(int).to_numpy()
    known = sorted({decade for decade in decades.tolist() if decade >= 0})
    by_decade = decades[:, None] == np.array(known, int)[None, :]
    tags, words = _tags(catalog)
    among = np.argsort(np.argsort(views, kind="stable")) / max(1, len(views) - 1)  # 0: watched least, 1: most
    watched = np.stack([(low <= among) & (among <= high) for _, low, high in (WIDELY, SELDOM)], 1)
    terms = [(names[number], "genre") for number in kept]
    terms += [(f"{decade}s" if decade else f"before {OLD}", "decade") for decade in known]
    terms += [(name, "views") for name, *_ in (WIDELY, SELDOM)]
    return np.hstack([genres[:, kept], by_decade, watched, tags]), [*terms, *((word, "tag") for word in words)]


def _tags(catalog: Catalog) -> tuple[np.ndarray, list[str]]:
    """Which film was given which tag, (I, W) bool, of the tags on which people agree."""
    given = pd.DataFrame({"movie": np.asarray(catalog.tags.movie), "word": np.asarray(catalog.tags.word)})
    times = given.groupby(["movie", "word"]).size().reset_index(name="times")
    agreed = times[times["times"] >= AGREED].groupby("word").size()
    words = agreed[agreed >= FILMS].index.to_numpy()
    column = {word: number for number, word in enumerate(words.tolist())}
    has = np.zeros((len(catalog), len(words)), bool)
    for movie, word in times[["movie", "word"]].itertuples(index=False):
        if word in column and movie in catalog.item_of:
            has[catalog.item_of[movie], column[word]] = True
    return has, [catalog.tags.words[word] for word in words.tolist()]
