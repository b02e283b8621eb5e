"""The MovieLens sets: where each one is, how to know it, what may be done with it, and how it becomes a Dataset."""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recsys import paths, storage
from recsys.data import movielens_files, prepared
from recsys.data.dataset import Catalog, DataError, Dataset, Interactions, Ties
from recsys.data.download import DiskError, DownloadError, Wheel, exclusive_folder, fetch, fetch_wheel
from recsys.data.prepared import MissingData
from recsys.data.split import LEAVE_ONE_OUT, UNTIED, Splitting
from recsys.data.tie_breaking import by_user_then_time, equals_previous, is_duplicate, random_sort_keys
from recsys.errors import recsys_command
from recsys.progress import ProgressCallback, no_progress

DEFAULT_DATASET = "ml-latest-sample"  # comes with the project, so that a first start needs no network
FEWEST = 5  # ratings that a film needs to be trained on, where a set says nothing else
TIES_SEED = 0
SITE = "https://files.grouplens.org/datasets/movielens/"
SITE_TIMEOUT_SECONDS = 15.0  # seconds to wait for the site in all, where the package index has the same ratings
RECBOLE = Wheel("recbole==1.2.1", sha256="9c9948202011f37eb0a7c6768129313f00d6403ad221ec940d5e2d5d5f33a407")
CLOSED = "research only; passed on or used commercially only with GroupLens' permission"
BUNDLED = paths.ASSETS / "data"
OPEN = "research only; may be passed on under the same terms, used commercially only with GroupLens' permission"


@dataclass(frozen=True)
class MovieLens:
    """One published set."""

    title: str
    md5: str | None  # of the archive; None: the set changes over time
    films: int
    ratings: int
    megabytes: int  # of the archive
    licence: str
    parse: movielens_files.Parser
    people: int  # who rate something in it
    years: tuple[int | None, int]  # of the oldest film, where somebody looked it up, and of the newest
    wheel: Wheel | None = None  # carries the same ratings on the package index
    sha256: str | None = None  # of an archive that comes with the project
    ties: Ties = "file"  # how films of one second are put in order
    at_random: bool = False  # they stand in random order in the file, which then leaks nothing
    min_ratings: int = FEWEST  # ratings that a film needs to be trained on: as behind the figures published for the set


SETS: dict[str, MovieLens] = {
    DEFAULT_DATASET: MovieLens(
        "MovieLens latest (sample)",
        None,
        15_037,
        306_797,
        2,
        OPEN,
        movielens_files.parse_csv,
        2_752,
        (1895, 2023),
        sha256="57d0a81bee2fd8d53c71037216dd908da438fda4acea99b13788b8c1abc8aafe",
        ties="drawn",
    ),
    "ml-100k": MovieLens(
        "MovieLens 100K",
        "0e33842e24a9c977be4e0107933c0723",
        1_682,
        100_000,
        5,
        CLOSED,
        movielens_files.parse_100k,
        943,
        (1922, 1998),
        RECBOLE,
        at_random=True,
    ),
    "ml-1m": MovieLens(
        "MovieLens 1M",
        "c4d9eecfca2ab87c1945afe126590906",
        3_883,
        1_000_209,
        6,
        CLOSED,
        movielens_files.parse_dat,
        6_040,
        (1919, 2000),
    ),
    "ml-10m": MovieLens(
        "MovieLens 10M",
        "ce571fd55effeba0271552578f2648bd",
        10_681,
        10_000_054,
        66,
        CLOSED,
        movielens_files.parse_dat,
        69_878,
        (None, 2008),
    ),
    "ml-20m": MovieLens(
        "MovieLens 20M",
        "cd245b17a1ae2cc31bb14903e1204af3",
        27_278,
        20_000_263,
        199,
        CLOSED,
        movielens_files.parse_csv,
        138_493,
        (None, 2015),
        min_ratings=1,  # all 26,744 films that somebody rated
    ),
    "ml-25m": MovieLens(
        "MovieLens 25M",
        "6b51fb2759a8657d3bfcbfc42b592ada",
        62_423,
        25_000_095,
        262,
        CLOSED,
        movielens_files.parse_csv,
        162_541,
        (None, 2019),
    ),
    "ml-32m": MovieLens(
        "MovieLens 32M",
        "d472be332d4daa821edc399621853b57",
        87_585,
        32_000_204,
        251,
        OPEN,
        movielens_files.parse_csv,
        200_948,
        (None, 2023),
    ),
    "ml-latest-small": MovieLens(
        "MovieLens latest-small",
        None,
        9_742,
        100_836,
        1,
        OPEN,
        movielens_files.parse_csv,
        610,
        (1902, 2018),
        ties="drawn",
    ),
}


class Row(NamedTuple):
    """A line of `data list`."""

    name: str
    people: int
    items: int
    ratings: int
    megabytes: int | None  # of the archive; None: somebody's own
    licence: str
    present: bool


def table() -> list[Row]:
    """Every set that can be had or is here: what was loaded where it is on this machine, else what was published."""
    here, rows = prepared_names(), []
    for name in [*SETS, *(name for name in here if name not in SETS)]:
        published = SETS.get(name)
        people, items, ratings = _size(name) or _published_size(published)
        licence = published.licence if published else "yours"
        megabytes = published.megabytes if published else None
        rows.append(Row(name, people, items, ratings, megabytes, licence, name in here))
    return rows


def _size(name: str) -> tuple[int, int, int] | None:
    """People, items and ratings of a prepared set; None where it is not here, or damaged."""
    about = prepared.about(name)
    return (about["people"], about["items"] + about["left_out"], about["ratings"]) if about else None


def _published_size(published: MovieLens | None) -> tuple[int, int, int]:
    return (published.people, published.films, published.ratings) if published else (0, 0, 0)


def prepared_names() -> list[str]:
    """The data sets that `load` can read, in alphabetical order."""
    return prepared.names()


def load(name: str) -> Dataset:
    """Read a set that is on this machine. Raises MissingData with the command, DataError for an unknown name."""
    if name in SETS:
        dataset = prepared.load(name)
        if differs_from_bundled(name):
            raise MissingData(f"{name} was not prepared from the archive that comes with the project", how_to_get(name))
        return dataset
    if name not in prepared.names():
        raise _unknown(name)
    try:
        return prepared.load(name)
    except MissingData as error:
        raise MissingData(error.message, how_to_get(name)) from error


def differs_from_bundled(name: str) -> bool:
    """Whether a set has an archive in the project but was prepared from another one."""
    published = SETS.get(name)
    if not (published and published.sha256):
        return False
    archive: dict[str, Any] = prepared.about(name).get("archive", {})
    return archive.get("sha256") != published.sha256


def how_to_get(name: str) -> str:
    """The command that brings a set to this machine, or makes it whole: FILE is to be put in for one's own."""
    own = ("data", "add", name, "--replace", "--interactions", "FILE")
    return recsys_command("data", "get", name) if name in SETS else recsys_command(*own)


def archives(name: str) -> dict[Path, bool]:
    """Each archive of a set, and whether it is what was published, or what the set was made of.

    Those that were fetched, and the one that comes with the project, be it there or not.
    """
    published, known = SETS.get(name), {prepared.about(name).get("archive", {}).get("sha256")}
    here = sorted(path for path in _downloads(name).glob("*") if path.suffix in (".zip", ".whl"))
    if published:
        known |= {published.md5, published.sha256, published.wheel and published.wheel.sha256}
        here = [*([BUNDLED / f"{name}.zip"] if published.sha256 else []), *here]
    hashes = {path: {storage.digest(path, kind) for kind in ("sha256", "md5")} for path in here if path.is_file()}
    return {path: bool(known & hashes.get(path, set())) for path in here}


def ensure(name: str, report: ProgressCallback = no_progress) -> Dataset:
    """Read a set; the first one comes with the project and is prepared when it is missing.

    It is prepared again when its copy is damaged or was made from another archive than the one in the project.
    Where the disk takes no files that one is read from its archive, for this process alone.
    """
    try:
        return load(name)
    except MissingData:
        if name != DEFAULT_DATASET:
            raise
    try:
        with exclusive_folder(_downloads(name)):
            try:
                return load(name)  # another process may have prepared it while this one waited
            except MissingData:
                return _get(name, None, report)
    except DiskError as error:
        warnings.warn(f"{error}; until then {name} is read from its archive at each start", stacklevel=2)
        return prepared.keep_in_memory(*_parsed(name, None, report))


def get(name: str, source: Path | None = None, report: ProgressCallback = no_progress) -> Dataset:
    """Fetch a set, or take it from the archive `source`; verify, parse and keep it.

    Reports {"stage": "download", "done", "total", "from"}, {"stage": "note", "text"}, {"stage": "parse"} and "keep".
    Raises DownloadError when it cannot be had, DataError when it cannot be used; what was kept before stays.
    """
    if name not in SETS:
        raise _unknown(name)
    with exclusive_folder(_downloads(name)):
        return _get(name, source, report)


def serving_split(name: str) -> Splitting:
    """How a set is split for the recommenders that people meet: untied where its file leaks an order within seconds.

    A visitor's list was never sorted by a hash table, so what a recommender learnt of one would mislead it.
    """
    published = SETS.get(name)
    leaks = published is not None and published.ties == "file" and not published.at_random
    return UNTIED if leaks else LEAVE_ONE_OUT


def min_ratings(name: str) -> int:
    """The ratings that a film of a set needs to be trained on."""
    own: int = prepared.about(name).get("archive", {}).get("fewest", FEWEST)
    return SETS[name].min_ratings if name in SETS else own


def assemble(
    name: str, raw: movielens_files.RawRatings, min_ratings: int = FEWEST, ties: Ties = "file", seed: int = TIES_SEED
) -> Dataset:
    """Sort ratings by user, then time, and leave out the films with fewer than `min_ratings` of them.

    Within one second the order is that of the file, or drawn: it then depends on seed, person and film alone. Users
    ascend by original id, items by film id. Raises DataError when ratings and films do not fit together.
    """
    if ties == "drawn":
        raw = raw.reordered(np.argsort(random_sort_keys(raw.user, raw.movie, seed), kind="stable"))
    films = raw.films.sort_values("movie_id", ignore_index=True)
    row = _rows(films["movie_id"].to_numpy(np.int64), raw.movie)  # (E,)
    kept = np.bincount(row, minlength=len(films)) >= min_ratings  # (F,)
    order = by_user_then_time(raw.user, raw.timestamp)
    order = order[kept[row[order]]]
    if not len(order):
        raise DataError(f"{name}: no film has {min_ratings} ratings, so there is nothing to learn from")
    item_of_row = (np.cumsum(kept) - 1).astype(np.int32)
    user = raw.user[order]
    is_first = np.concatenate([[True], user[1:] != user[:-1]])
    events = Interactions(
        np.cumsum(is_first, dtype=np.int32) - np.int32(1),
        item_of_row[row[order]],
        raw.rating[order],
        raw.timestamp[order],
    )
    catalog = Catalog(films[kept].reset_index(drop=True), films[~kept].reset_index(drop=True), raw.tags)
    user_ids = user[is_first].astype(np.int64)
    return Dataset(name, catalog, events, user_ids, ties, _of(user_ids, raw.user_profiles))


def _of(user_ids: np.ndarray, people: pd.DataFrame | None) -> pd.DataFrame | None:
    """(U, 3) the rows of these users in a table (P, 3) by id; "" for those who are not in it."""
    if people is None:
        return None
    if people.index.has_duplicates:
        raise DataError(f"person {people.index[people.index.duplicated()][0]} is described twice")
    return people.reindex(user_ids, fill_value="").reset_index(drop=True)


def _rows(ids: np.ndarray, movie: np.ndarray) -> np.ndarray:
    """(E,) the index of every rated film in the ascending `ids`."""
    if (np.diff(ids) == 0).any():
        raise DataError(f"film {ids[:-1][np.diff(ids) == 0][0]} is listed twice")
    row = np.searchsorted(ids, movie).astype(np.int32)
    stray = row == len(ids)
    stray[~stray] = ids[row[~stray]] != movie[~stray]
    if stray.any():
        raise DataError(f"film {movie[stray][0]} is rated but not listed")
    return row


def _get(name: str, source: Path | None, report: ProgressCallback) -> Dataset:
    """`get`, once nobody else does the same."""
    dataset, about = _parsed(name, source, report)
    report({"stage": "keep"})
    prepared.save(dataset, about)
    return prepared.load(name)


def _parsed(name: str, source: Path | None, report: ProgressCallback) -> tuple[Dataset, dict[str, Any]]:
    """A set as its archive has it, and what is to be remembered of that."""
    published = SETS[name]
    path, parse = (source, published.parse) if source else _fetch(name, report)
    about = _identify(path, published, report)
    if published.sha256 and not about["official"]:
        raise DataError(f"{path} is not the archive of {name} that comes with the project", how_to_get(name))
    report({"stage": "parse"})
    with movielens_files.opened(path, published.title, about["official"]) as archive:
        raw = parse(archive)
        if not about.get("official"):
            raw = _once(raw, report)
        dataset = assemble(name, raw, published.min_ratings, published.ties)
    _say_who_is_left_out(raw, dataset, published.min_ratings, report)
    return dataset, about


def _once(raw: movielens_files.RawRatings, report: ProgressCallback) -> movielens_files.RawRatings:
    """Ratings without those that repeat an earlier one: the same person, film and time. Says how many there were."""
    keys = random_sort_keys(raw.user, raw.movie, TIES_SEED) + raw.timestamp.astype(
        np.uint64
    )  # equal rows have equal ones
    ordered = np.sort(keys)
    shared = ordered[1:][equals_previous(ordered)]
    if not len(shared):  # as in all published sets; to compare the rows themselves would take six times as long
        return raw
    alike = np.flatnonzero(np.isin(keys, shared))
    repeated = np.zeros(len(keys), bool)
    repeated[alike] = is_duplicate(raw.user[alike], raw.movie[alike], raw.timestamp[alike])
    if not repeated.any():
        return raw
    note = f"ratings that repeat another (same person, film and time) and count once: {repeated.sum():,}"
    report({"stage": "note", "text": note})
    return raw.reordered(np.flatnonzero(~repeated))


def _say_who_is_left_out(
    raw: movielens_files.RawRatings, dataset: Dataset, min_ratings: int, report: ProgressCallback
) -> None:
    """People vanish with their films; nobody should wonder where they are."""
    if gone := pd.Series(raw.user).nunique() - dataset.n_users:
        text = f"people left out because none of their films has {min_ratings} ratings: {gone:,}"
        report({"stage": "note", "text": text})


def _fetch(name: str, report: ProgressCallback) -> tuple[Path, movielens_files.Parser]:
    """Download the archive, or the wheel with the same ratings when the site fails in any way."""
    published, folder = SETS[name], _downloads(name)
    if published.sha256:
        return _bundled(name, published.sha256), published.parse
    target, address, largest = folder / f"{name}.zip", f"{SITE}{name}.zip", 2_000_000 * (published.megabytes + 8)
    if not published.wheel:
        fetch(address, target, md5=published.md5, largest=largest, report=report)
        return target, published.parse
    try:
        fetch(
            address, target, md5=published.md5, largest=largest, seconds=SITE_TIMEOUT_SECONDS, attempts=1, report=report
        )
        return target, published.parse
    except DownloadError as error:
        site = error.reason
        report({"stage": "note", "text": f"{site}; taking the same ratings from the package index"})
    try:
        return fetch_wheel(published.wheel, folder, report), movielens_files.parse_recbole
    except DownloadError as index:
        failures = f"neither the site ({site}) nor the package index ({index.reason}) has sent it"
        advice = f"check the network, or fetch {address} elsewhere and add --from FILE.zip"
        raise DownloadError(failures, advice, recsys_command("data", "get", name)) from index


def _bundled(name: str, sha256: str) -> Path:
    """An archive of the project, verified."""
    path = BUNDLED / f"{name}.zip"
    if not path.exists() or storage.digest(path, "sha256") != sha256:
        state = "damaged" if path.exists() else "missing"
        raise DataError(f"{path}, which belongs to the project, is {state}", storage.restore_command(path))
    return path


def _identify(path: Path, published: MovieLens, report: ProgressCallback) -> dict[str, Any]:
    """What is to be remembered of an archive; says when it is not the published one."""
    try:
        sha256, official = storage.digest(path, "sha256"), storage.digest(path, "md5") == published.md5
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}; check the path") from error
    official |= sha256 in (published.sha256, published.wheel.sha256 if published.wheel else None)
    if not (published.md5 or published.sha256):
        text = f"{published.title} changes over time, so it has no official hash; this one's SHA-256 is {sha256}"
        report({"stage": "note", "text": text})
    elif not official:
        text = f"{path.name} is not the official archive of {published.title}: its hash is another one"
        report({"stage": "note", "text": text})
    return {"file": path.name, "sha256": sha256, "official": official}


def _downloads(name: str) -> Path:
    """The folder of one set's archives; a folder each, so that two sets can be fetched at once."""
    return paths.downloads() / name


def _unknown(name: str) -> DataError:
    own = [other for other in prepared.names() if other not in SETS]
    return DataError(f"no data set is called {name}; there are: {', '.join([*SETS, *own])}")
