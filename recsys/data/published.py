"""The published MovieLens data sets: addresses, hashes, licences, and the download of their archives."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from recsys import paths
from recsys.data.assemble import MIN_RATINGS
from recsys.data.dataset import DataError, Ties, read_errors
from recsys.data.download import DownloadError, Hashes, fetch, file_hashes
from recsys.data.movielens_files import Parser, parse_100k, parse_csv, parse_dat, parse_recbole
from recsys.data.wheel import Wheel, fetch_wheel
from recsys.errors import N_, Message, recsys_command, restore_command
from recsys.progress import ProgressCallback

DEFAULT_DATASET = "ml-latest-sample"  # shipped with the project, so that the first start needs no network
SITE = "https://files.grouplens.org/datasets/movielens/"  # of MovieLens
SITE_TIMEOUT_SECONDS = 15.0  # for a data set that can also be downloaded from the package index
SHIPPED_ARCHIVES = paths.ASSETS / "data"  # folder
RECBOLE = Wheel("recbole==1.2.1", sha256="9c9948202011f37eb0a7c6768129313f00d6403ad221ec940d5e2d5d5f33a407")
# licences
NOT_SHAREABLE = "research only; sharing and commercial use require permission from GroupLens"
SHAREABLE = "research only; may be shared under the same terms; commercial use requires permission from GroupLens"


@dataclass(frozen=True)
class PublishedDataset:
    """A MovieLens data set, with its published counts."""

    title: str
    md5: str | None  # of the archive; None: the archive changes over time
    films: int  # including films without ratings
    ratings: int
    megabytes: int  # of the archive
    licence: str
    parse: Parser
    users: int  # with at least one rating
    years: tuple[int | None, int]  # years of the oldest (None: unknown) and the newest film
    ties: Ties = "file"  # `Dataset.ties` of the prepared data set
    sha256: str | None = None  # of the archive that is shipped with the project
    wheel: Wheel | None = None  # a package with the same ratings
    has_random_file_order: bool = False  # whether the order of ties in the file is random
    min_ratings: int = MIN_RATINGS  # ratings that a film needs to be an item

    @property
    def hashes(self) -> set[str]:
        """The published hashes of all files with the ratings of this data set."""
        wheel_sha256 = self.wheel.sha256 if self.wheel else None
        return {text for text in (self.md5, self.sha256, wheel_sha256) if text}


# fmt: off
PUBLISHED: dict[str, PublishedDataset] = {
    # title, MD5 of the archive, films, ratings, megabytes, licence, parser, users, years
    DEFAULT_DATASET: PublishedDataset(
        "MovieLens latest (sample)", None, 15_037, 306_797, 2, SHAREABLE, parse_csv, 2_752, (1895, 2023),
        ties="drawn", sha256="57d0a81bee2fd8d53c71037216dd908da438fda4acea99b13788b8c1abc8aafe"),
    "ml-100k": PublishedDataset(
        "MovieLens 100K", "0e33842e24a9c977be4e0107933c0723", 1_682, 100_000, 5, NOT_SHAREABLE, parse_100k, 943,
        (1922, 1998), wheel=RECBOLE, has_random_file_order=True),
    "ml-1m": PublishedDataset(
        "MovieLens 1M", "c4d9eecfca2ab87c1945afe126590906", 3_883, 1_000_209, 6, NOT_SHAREABLE, parse_dat, 6_040,
        (1919, 2000)),
    "ml-10m": PublishedDataset(
        "MovieLens 10M", "ce571fd55effeba0271552578f2648bd", 10_681, 10_000_054, 66, NOT_SHAREABLE, parse_dat,
        69_878, (None, 2008)),
    "ml-20m": PublishedDataset(
        "MovieLens 20M", "cd245b17a1ae2cc31bb14903e1204af3", 27_278, 20_000_263, 199, NOT_SHAREABLE, parse_csv,
        138_493, (None, 2015), min_ratings=1),  # all 26,744 rated films, as in published evaluations of this data set
    "ml-25m": PublishedDataset(
        "MovieLens 25M", "6b51fb2759a8657d3bfcbfc42b592ada", 62_423, 25_000_095, 262, NOT_SHAREABLE, parse_csv,
        162_541, (None, 2019)),
    "ml-32m": PublishedDataset(
        "MovieLens 32M", "d472be332d4daa821edc399621853b57", 87_585, 32_000_204, 251, SHAREABLE, parse_csv, 200_948,
        (None, 2023)),
    "ml-latest-small": PublishedDataset(
        "MovieLens latest-small", None, 9_742, 100_836, 1, SHAREABLE, parse_csv, 610, (1902, 2018), ties="drawn"),
}
# fmt: on


class ArchiveFile(NamedTuple):
    """An archive of a data set on this machine."""

    path: Path
    parse: Parser  # for the layout of this archive
    sha256: str
    is_official: bool  # whether the hash is one of `PublishedDataset.hashes`

    @property
    def provenance(self) -> dict[str, str | bool]:
        """The facts about the archive that are stored with the prepared data set."""
        return {"file": self.path.name, "sha256": self.sha256, "official": self.is_official}


def has_common_movie_ids(name: str) -> bool:
    """Return whether a data set has the common movie ids of MovieLens. ML-100K and own data sets have other ids."""
    return name in PUBLISHED and name != "ml-100k"


def downloads(name: str) -> Path:
    """Return the folder of the archives of one data set."""
    return paths.downloads() / name


def archive_of(name: str, source: Path | None, report: ProgressCallback) -> ArchiveFile:
    """Return the archive of a data set: `source` if given, else the shipped archive, else a downloaded archive.

    Without `source`, a wheel with the same ratings is used if the site of MovieLens does not deliver the archive.
    Raises DownloadError. Raises DataError if `source` is unreadable, or if the shipped archive is missing or damaged.
    """
    entry = PUBLISHED[name]
    if source:
        with read_errors(source):
            return _archive_file(name, source, file_hashes(source), report)
    if entry.sha256:
        path = SHIPPED_ARCHIVES / f"{name}.zip"
        hashes = file_hashes(path) if path.exists() else None
        if not hashes or hashes.sha256 != entry.sha256:
            state = N_("damaged") if hashes else N_("missing")
            text = "{path}, which belongs to the project, is {state}"
            raise DataError(text, restore_command(path), path=path, state=Message(state))
        return ArchiveFile(path, entry.parse, hashes.sha256, True)
    target, address = downloads(name) / f"{name}.zip", f"{SITE}{name}.zip"
    max_bytes = 2_000_000 * (entry.megabytes + 8)  # twice the published size plus 16 MB
    limits: dict[str, Any] = {"seconds": SITE_TIMEOUT_SECONDS, "attempts": 1} if entry.wheel else {}
    try:
        hashes = fetch(address, target, md5=entry.md5, max_bytes=max_bytes, report=report, **limits)
        return _archive_file(name, target, hashes, report)
    except DownloadError as error:
        if not entry.wheel:
            raise
        site_reason = error.reason
        text = "{site}; downloading the same ratings from the package index"
        report({"stage": "note", "text": Message(text, site=site_reason)})
    try:
        path = fetch_wheel(entry.wheel, target.parent, report)
        return _archive_file(name, path, file_hashes(path), report)
    except DownloadError as error:
        text = "neither the site ({site}) nor the package index ({index}) delivered {title}"
        advice = Message(
            "check the network, or download {address} elsewhere and add --from FILE.zip",
            app_text="check the network and try again",
            address=address,
        )
        command = recsys_command("data", "get", name)
        reasons = {"site": site_reason, "index": error.reason}
        raise DownloadError(text, advice, command, title=entry.title, **reasons) from error


def _archive_file(name: str, path: Path, hashes: Hashes, report: ProgressCallback) -> ArchiveFile:
    """Recognise an archive or wheel by its hashes, and report a note if they are not published.

    Raises DataError if the project ships an archive of the data set, and this is another archive.
    """
    entry = PUBLISHED[name]
    is_official = not entry.hashes.isdisjoint(hashes)
    if entry.sha256 and not is_official:
        text = "{path} is not the archive of {name} that comes with the project"
        raise DataError(text, how_to_get(name), path=path, name=name)
    if not entry.hashes:
        text = "{title} changes over time, so it has no official hash; this one's SHA-256 is {sha256}"
        report({"stage": "note", "text": Message(text, title=entry.title, sha256=hashes.sha256)})
    elif not is_official:
        text = "{name} is not the official archive of {title}: its hash is different"
        report({"stage": "note", "text": Message(text, name=path.name, title=entry.title)})
    is_wheel = entry.wheel is not None and hashes.sha256 == entry.wheel.sha256
    return ArchiveFile(path, parse_recbole if is_wheel else entry.parse, hashes.sha256, is_official)


def how_to_get(name: str) -> str:
    """Return the command that downloads a published data set, or adds another data set again from a file FILE."""
    if name in PUBLISHED:
        return recsys_command("data", "get", name)
    return recsys_command("data", "add", name, "--replace", "--interactions", "FILE")
