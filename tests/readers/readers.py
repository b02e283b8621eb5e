"""Every reader of bytes from users and other machines, with intact bytes to start from.

A reader returns or raises a RecsysError. Every other exception is a bug.
"""

import json
import random
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path

from recsys.data import columns, movielens_files, own_data, tables, wikidata, zip_files
from recsys.data.assemble import assemble
from recsys.data.dataset import Catalog
from recsys.data.history_import import dates
from recsys.data.history_import.entries import Answers
from recsys.data.history_import.read import read as read_history
from recsys.data.titles import title_and_year
from recsys.errors import RecsysError
from recsys.serving.film_matching import Matcher
from recsys.serving.group import list_from_link
from recsys.serving.history import from_url_params, parse_titles
from recsys.serving.search.search import TitleIndex
from tests import toys
from tests.data import archives as toy_archives
from tests.data.history_import import files as histories

MEMBER_SEPARATOR = b"\n\0\n"  # between the members of an archive
ODD = (  # pieces that may break readers
    *(b"\0", b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", b"\xe9", b"\x83\x7d", b"\r", b"\n", b'"', b"'", b",", b";"),
    *(b"\t", b"::", b"|", b"{", b"[" * 99, b"]", b"(1999)", b"-99", b"1e30", b"1e999", b"-1e999", b"NaN", b"inf", b"-"),
    *(b"9" * 19, b"9" * 400, b"0" * 40, b" " * 99, b"\\ud800", b"\\u0000", b"99999999999999", b"0001-01-01", b"tt"),
    *("٣".encode(), "½".encode(), "\u202e".encode(), "\u2028".encode(), b"=cmd|", b"../", b"PK\5\6", b"PK\1\2", b"%d"),
)


@dataclass(frozen=True)
class Reader:
    """A function that reads bytes, and examples of bytes that it accepts."""

    read: Callable[[bytes], object]
    intact: Sequence[bytes]


def accepts(reader: Reader, data: bytes) -> bool:
    """Return whether a reader accepts the bytes. Exceptions other than RecsysError are passed on."""
    try:
        reader.read(data)
    except RecsysError:
        return False
    return True


def altered(data: bytes, rng: random.Random) -> bytes:
    """Return the bytes with one to five pieces cut out, replaced, repeated or moved."""
    for _ in range(rng.randint(1, 5)):
        start = rng.randint(0, len(data))
        end = min(len(data), start + int(rng.paretovariate(0.7)))
        piece = rng.choice((b"", rng.choice(ODD), rng.randbytes(rng.randint(1, 4)), data[start:end] * 3, data[:end]))
        data = data[:start] + piece + data[end:]
    return data[: 1 << 16]


def _archive(data: bytes) -> object:
    with zip_files.open_archive(BytesIO(data), 1 << 20) as archive:
        return [archive.read(path) for path in archive.paths]


@cache
def _archive_path() -> Path:
    return Path(tempfile.mkdtemp(prefix="readers-")) / "some.zip"


def _movielens(parse: movielens_files.Parser, files: dict[str, bytes]) -> Reader:
    """Read the archive of a MovieLens set. Its members are joined in one byte string."""

    def read(data: bytes) -> object:
        _archive_path().write_bytes(toy_archives.zipped(dict(zip(files, data.split(MEMBER_SEPARATOR), strict=False))))
        with movielens_files.open_archive(_archive_path(), "a set") as archive:
            return assemble("set", parse(archive))

    return Reader(read, [MEMBER_SEPARATOR.join(files.values())])


def _table(data: bytes) -> object:
    checked = own_data.check(tables.parse("some.file", data))
    n_dropped = sum(checked.counts.get(name, 0) for name in ("incomplete", "untimed", "duplicates"))
    assert checked.counts["rows"] == checked.counts["events"] + n_dropped, "rows are lost"
    return list(map(str, checked.messages))


def _items(data: bytes) -> object:
    """Read a file of items next to a file of events."""
    events = tables.parse("events", b"user,item\n1,10\n1,20\n2,10\n")
    return own_data.check(events, tables.parse("some.file", data)).raw


def _history(data: bytes) -> object:
    """Read a history, check its entries and look up its films."""
    parts = read_history("some.file", data)
    for entry in (entry for part in parts for entry in part.entries):
        assert entry.title or entry.imdb_id or entry.tmdb_id or entry.movie_id
        assert entry.rating is None or 0.5 <= entry.rating <= 5
        assert entry.year is None or 1880 <= entry.year <= 2099
    return [_matcher().match(part.entries) for part in parts]


@cache
def _matcher() -> Matcher:
    return Matcher(toys.cycle(9))


@cache
def _index() -> TitleIndex:
    return TitleIndex(_catalog())


@cache
def _catalog() -> Catalog:
    return toys.catalog(9)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _titles(data: bytes) -> object:
    title, year = title_and_year(_text(data))
    assert len(title) <= 301, "a title that is too long"
    return title, year


def _dates(data: bytes) -> object:
    cells = _text(data).split("\n")
    read, _ = dates.date_reader(cells, Answers())
    return [read(cell) for cell in cells], columns.parse_timestamps(tables.pd.Series(cells, dtype="str"))


def _typed(data: bytes) -> object:
    return parse_titles(_index(), _text(data).split("\n"))


def _wikidata(data: bytes) -> object:
    with suppress(ValueError, RecursionError):  # the caller catches these
        return wikidata.parse_answer(json.loads(data), ["tt0000001"])
    return None


def _binding(**values: object) -> dict[str, object]:
    return {name: {"value": value, "xml:lang": "en"} for name, value in values.items()}


FACT = _binding(imdb="tt0000001", film="http://www.wikidata.org/entity/Q1", fact="cast", thing="x", text="A", pages="9")
ANSWER = {
    "results": {"bindings": [FACT, FACT | _binding(fact="seconds", text="+5400"), FACT | _binding(fact="titles")]}
}
EVENTS = b"user,item,rating,timestamp\n" + b"".join(b"%d,%d,4,%d\n" % (n % 3, n, 10**9 + n) for n in range(9))
GOODS = b'asin,title,year,genres,imageURL,tmdbId\n10,"Tea, green",1999,A|B,https://x.example/a.png,7\n20,Soap,,,,\n'
READERS = {
    "archive": Reader(_archive, [toy_archives.zipped(toy_archives.comma()), histories.letterboxd()]),
    "double colon": _movielens(movielens_files.parse_dat, toy_archives.double_colon()),
    "double colon with tags": _movielens(movielens_files.parse_dat, toy_archives.double_colon("utf-8", tags=True)),
    "100K": _movielens(movielens_files.parse_100k, toy_archives.hundred_k()),
    "comma": _movielens(movielens_files.parse_csv, toy_archives.comma()),
    "wheel": _movielens(movielens_files.parse_recbole, toy_archives.recbole()),
    "table": Reader(
        _table,
        [
            *(EVENTS, EVENTS.replace(b",", b"::"), EVENTS.partition(b"\n")[2].replace(b",", b" ")),
            *(EVENTS.decode().encode("utf-16"), b'{"user": "a", "item": 1, "time": 2.5}\n' * 3),
            tables.pd.DataFrame({"user": [1, 2], "item": ["a", None], "rating": [1.0, 2.0]}).to_parquet(),
        ],
    ),
    "items": Reader(_items, [GOODS, b'[{"asin": "10", "title": ["a", 1], "genres": {"a": 1}}]']),
    "history": Reader(
        _history,
        [
            *map(str.encode, (histories.DIARY, histories.RATINGS, histories.FILMS, histories.IMDB, histories.SITE)),
            *map(str.encode, (histories.DATASET, histories.OURS, histories.OURS_JSON, histories.NETFLIX)),
            *(json.dumps(histories.HISTORY).encode(), histories.letterboxd(), histories.trakt()),
        ],
    ),
    "title": Reader(_titles, [title.encode() for _, title, _ in toy_archives.FILMS]),
    "dates": Reader(_dates, [b"2024-01-31\n2024-02-01T10:00:00Z", b"31.1.24\n1.2.24", b"1700000000\n1700000001"]),
    "link": Reader(lambda data: from_url_params({"s": _text(data)}, _catalog()), [b"100-101", b"e12-100-101"]),
    "link of somebody else": Reader(lambda data: list_from_link(_text(data)), [b"?data=ml-1m&s=1-2-3"]),
    "typed titles": Reader(_typed, [b"Film 1\nFilm 2 (1992)", b"#101"]),
    "answer of Wikidata": Reader(_wikidata, [json.dumps(ANSWER).encode()]),
}
