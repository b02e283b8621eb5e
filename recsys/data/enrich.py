"""Richer films: who made them, who is in them, what they are about and are called elsewhere, from Wikidata (CC0).

Every answer is kept as it comes, by the IMDb ids that were asked for, for all sets together: what was had is not asked
for again, whatever ended the last run. Of what is known, the table of one set is made (`recsys.data.film_details`).
"""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from recsys import paths, storage
from recsys.data import datasets, film_details, wikidata
from recsys.data.dataset import Catalog, DataError, Dataset
from recsys.data.download import DownloadError, exclusive_folder, plain_disk_errors
from recsys.errors import recsys_command
from recsys.progress import ProgressCallback, no_progress

BATCH_SIZE = 100  # films in a question
BETWEEN = 1.0  # seconds between two questions
OTHER_IDS = ("ml-100k",)  # sets of MovieLens that number films in a way of their own


class Outcome(NamedTuple):
    """What came of it."""

    films: int  # of the set
    asked: int  # that have an IMDb id
    known: int  # that Wikidata knows


def enrich(name: str, report: ProgressCallback = no_progress, sleep: Callable[[float], None] = time.sleep) -> Outcome:
    """Ask Wikidata about the films of a set, as far as that was not done before, and keep what it knows.

    Reports {"stage": "describe", "done", "total"} in films, and "wait". Raises DataError for a set that is not here or
    has no IMDb ids, DownloadError when Wikidata cannot be asked. Whatever ends it, what was had until then counts, and
    the next run goes on from there.
    """
    dataset = datasets.ensure(name, report)
    if dataset.noun != "film":
        raise DataError(f"{name} is not of films, and Wikidata is asked about films alone")
    ids = imdb_ids(dataset)
    if not ids:
        raise DataError(
            f"no film of {name} has an IMDb id, by which Wikidata knows films, nor the title and year of one"
        )
    with exclusive_folder(paths.wikidata()):
        had = kept()
        try:
            _ask_for([one for one in dict.fromkeys(ids.values()) if one not in had], had, report, sleep)
        except DownloadError as error:
            advice = f"what was had is kept, and everything else works without it ({_share(ids, had)})"
            raise DownloadError(error.message, advice, recsys_command("data", "enrich", name)) from error
        finally:
            found = {movie: had[imdb] for movie, imdb in ids.items() if had.get(imdb)}
            if found:
                film_details.write(name, found)
    return Outcome(len(dataset.catalog.films), len(ids), len(found))


def _ask_for(
    wanted: list[str], had: dict[str, wikidata.Facts], report: ProgressCallback, sleep: Callable[[float], None]
) -> None:
    """Ask for the films that are not known yet, AT_ONCE at a time, and add each answer to `had` and to the disk."""
    for start in range(0, len(wanted), BATCH_SIZE):
        report({"stage": "describe", "done": start, "total": len(wanted)})
        if start:
            wikidata.pause(BETWEEN, report, sleep)
        batch = wanted[start : start + BATCH_SIZE]
        answer = wikidata.facts(batch, report, sleep)
        with plain_disk_errors(paths.wikidata()):
            storage.write_document(_place(batch), {"films": answer})
        had |= answer


def kept() -> dict[str, wikidata.Facts]:
    """All answers that lie here, by IMDb id; those of damaged files have to be asked for again."""
    found: dict[str, wikidata.Facts] = {}
    for path in sorted(paths.wikidata().glob("*.json")):
        with suppress(OSError, storage.DamagedFileError, KeyError, TypeError, ValueError):
            found |= storage.read_document(path)["films"]
    return found


def imdb_ids(dataset: Dataset) -> dict[int, str]:
    """Film → its IMDb id. Where a set has none, that of the film in the first set, which has links.

    The ids of MovieLens are the same in all its sets but one; there, and in anybody's own, title and year must agree.
    """
    own = _ids(dataset.catalog)
    if own:
        return own
    links = datasets.ensure(datasets.DEFAULT_DATASET).catalog
    same_ids = dataset.name in datasets.SETS and dataset.name not in OTHER_IDS
    return _by_number(dataset.catalog, links) if same_ids else _by_title(dataset.catalog, links)


def _ids(catalog: Catalog) -> dict[int, str]:
    """Those that stand in the film table."""
    films = catalog.complete.movies
    pairs = zip(films["movie_id"].tolist(), films["imdb_id"].tolist(), strict=True)
    return {movie: imdb for movie, imdb in pairs if wikidata.is_id(imdb)}


def _by_number(catalog: Catalog, links: Catalog) -> dict[int, str]:
    known = _ids(links)
    return {film.movie_id: known[film.movie_id] for film in catalog.films if film.movie_id in known}


def _by_title(catalog: Catalog, links: Catalog) -> dict[int, str]:
    """By title and year, where only one film of `links` has both."""
    known = _ids(links)
    called = pd.Series({film.movie_id: film.label for film in links.films if film.year and film.movie_id in known})
    only = called[~called.duplicated(keep=False)] if len(called) else called
    movie_of = dict(zip(only, only.index, strict=True))
    return {film.movie_id: known[movie_of[film.label]] for film in catalog.films if film.label in movie_of}


def _place(batch: list[str]) -> Path:
    """The file of the answer to a question."""
    return paths.wikidata() / f"{storage.sha256(' '.join(batch).encode())[:16]}.json"


def _share(ids: dict[int, str], had: dict[str, wikidata.Facts]) -> str:
    n = sum(imdb in had for imdb in ids.values())
    return f"{n:,} of {len(ids):,} films were asked for so far"
