"""Add details from Wikidata (CC0) to the films of a data set: directors, cast, subjects, titles in other languages.

The facts from Wikidata are stored for all data sets together, so no film is queried twice. An interrupted run continues
where it stopped. `recsys.data.film_details` reads and writes the details of one data set.
"""

from collections import Counter
from contextlib import suppress
from typing import NamedTuple

from recsys import paths, storage
from recsys.data import datasets, film_details, published, wikidata
from recsys.data.dataset import Catalog, DataError, Dataset
from recsys.data.download import DiskError, DownloadError, exclusive_folder, pause
from recsys.errors import Message, disk_errors, recsys_command
from recsys.progress import ProgressCallback, no_progress

BATCH_SIZE = 100  # films in a query
PAUSE_SECONDS = 1.0  # between two queries


class FilmCounts(NamedTuple):
    """The result of `enrich`: numbers of films of the data set."""

    films: int  # all films
    films_with_imdb_id: int
    films_with_details: int  # films that Wikidata has


def enrich(name: str, report: ProgressCallback = no_progress) -> FilmCounts:
    """Query Wikidata for the films of a data set that were not queried before, and write its `film_details`.

    `report` receives {"stage": "describe", "done": films, "total": films} and {"stage": "wait"}. Raises DataError if
    the data set is not on this machine or is not of films, or if `imdb_ids` has no id of its films. Raises
    DownloadError if Wikidata does not answer. The facts received until then are stored.
    """
    dataset = datasets.ensure(name, report)
    if dataset.noun != "film":
        raise DataError("the items of {name} are not films, and Wikidata is only asked about films", name=name)
    imdb_id_of = imdb_ids(dataset)
    if not imdb_id_of:
        raise DataError(
            "the films of {name} cannot be found in Wikidata, because they have neither IMDb IDs nor known titles "
            "with years",
            name=name,
        )
    with exclusive_folder(paths.wikidata()):
        facts_of = stored_facts()
        try:
            new_ids = [imdb for imdb in dict.fromkeys(imdb_id_of.values()) if imdb not in facts_of]
            _query(new_ids, facts_of, report)
        except DownloadError as error:
            n_saved = sum(bool(facts_of.get(imdb)) for imdb in imdb_id_of.values())
            text = "the details of {n:,} of {n_films:,} films are saved, and the app also works without the others"
            advice = Message(text, n=n_saved, n_films=len(imdb_id_of))
            raise DownloadError(error.message, advice, recsys_command("data", "enrich", name)) from error
        finally:  # also after an interruption
            # Wikidata does not have the films whose facts are {}; they are left out
            films = {movie: facts_of[imdb] for movie, imdb in imdb_id_of.items() if facts_of.get(imdb)}
            if films:
                film_details.write(name, films)
    return FilmCounts(len(dataset.catalog.films), len(imdb_id_of), len(films))


def stored_facts() -> dict[str, wikidata.Facts]:
    """Return all stored facts by IMDb id. Damaged files are skipped, so their films are queried again."""
    facts_of: dict[str, wikidata.Facts] = {}
    for path in sorted(paths.wikidata().glob("*.json")):
        with suppress(OSError, storage.DamagedFileError, KeyError, TypeError, ValueError):
            facts_of |= storage.read_document(path)["films"]
    return facts_of


def imdb_ids(dataset: Dataset) -> dict[int, str]:
    """Return movie id → IMDb id.

    If the data set has no IMDb ids, they are taken from DEFAULT_DATASET. Its films are matched by movie id or, if the
    data set does not have the common movie ids of MovieLens, by title and year.
    """
    if listed_ids := _listed_imdb_ids(dataset.catalog):
        return listed_ids
    default_catalog = datasets.ensure(datasets.DEFAULT_DATASET).catalog
    match = _match_by_movie_id if published.has_common_movie_ids(dataset.name) else _match_by_title
    return match(dataset.catalog, default_catalog)


def _query(ids: list[str], facts_of: dict[str, wikidata.Facts], report: ProgressCallback) -> None:
    """Query Wikidata for IMDb ids in batches. The facts of a batch are stored in a file and added to `facts_of`."""
    for start in range(0, len(ids), BATCH_SIZE):
        report({"stage": "describe", "done": start, "total": len(ids)})
        if start:
            pause(PAUSE_SECONDS, report)
        batch = ids[start : start + BATCH_SIZE]
        batch_facts = wikidata.fetch_facts(batch, report)
        file_name = f"{storage.sha256(' '.join(batch).encode())[:16]}.json"
        with disk_errors(paths.wikidata(), DiskError):
            storage.write_document(paths.wikidata() / file_name, {"films": batch_facts})
        facts_of |= batch_facts


def _listed_imdb_ids(catalog: Catalog) -> dict[int, str]:
    """Return movie id → IMDb id for the valid IMDb ids in the film table."""
    films = catalog.complete.movies  # with infrequent films, which are not items
    pairs = zip(films["movie_id"].tolist(), films["imdb_id"].tolist(), strict=True)
    return {movie: imdb for movie, imdb in pairs if wikidata.is_imdb_id(imdb)}


def _match_by_movie_id(catalog: Catalog, default_catalog: Catalog) -> dict[int, str]:
    """Return movie id → IMDb id of the film with the same movie id."""
    ids = _listed_imdb_ids(default_catalog)
    return {film.movie_id: ids[film.movie_id] for film in catalog.films if film.movie_id in ids}


def _match_by_title(catalog: Catalog, default_catalog: Catalog) -> dict[int, str]:
    """Return movie id → IMDb id of the film with the same title and year, if `default_catalog` has exactly one."""
    ids = _listed_imdb_ids(default_catalog)
    candidates = [film for film in default_catalog.films if film.year and film.movie_id in ids]
    counts = Counter(film.label for film in candidates)
    imdb_of = {film.label: ids[film.movie_id] for film in candidates if counts[film.label] == 1}
    return {film.movie_id: imdb_of[film.label] for film in catalog.films if film.label in imdb_of}
