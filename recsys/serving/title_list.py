"""Read lists of titles, and find their films: favourites, a watchlist, a festival programme, or names of video files.

Each line is a film: "Heat (1995)", "Heat, 1995", "1. Heat", "Heat - 4/5", or "Heat.1995.1080p.BluRay.mkv".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from recsys.data.history_import import read as history_files
from recsys.data.history_import.entries import Answers, Entry
from recsys.serving.film_matching import Matcher
from recsys.serving.search.normalize import split_year

MAX_TITLES = 1000  # titles of a list
MAX_LINE_CHARS = 300
MAX_CHARS = MAX_TITLES * 60  # of a pasted text, 60 for each title on average
VIDEO_SUFFIXES = frozenset({".avi", ".iso", ".m4v", ".mkv", ".mov", ".mp4", ".mpg", ".ts", ".webm", ".wmv"})
# words that end the title in the name of a video file
_RELEASE_WORDS = "1080p 2160p 480p 4k 720p bdrip bluray brrip dvdrip hdrip hdtv uhd web webdl webrip"
RELEASE_WORDS = frozenset(_RELEASE_WORDS.split())
_RATING = re.compile(r"\s*[-–—:,]?\s+\(?\d+([.,]\d)?/(5|10|100)\)?$")  # " - 4/5" after a title, which is removed
# range of years of release in names of video files
FIRST_YEAR = 1888
LAST_YEAR = 2035  # a later number is a part of the title: "Blade Runner 2049"


@dataclass(frozen=True)
class TitleList:
    """The films of a list."""

    films: tuple[int, ...]  # film numbers, each once, in the order of the list
    missing: tuple[str, ...]  # titles without a confident or likely match


def read_file(name: str, content: bytes) -> list[Entry]:
    """Return the entries of a file: a text with a title in each line, or an export such as a watchlist of Letterboxd.

    Raises:
        HistoryError: If an export cannot be read.
    """
    if PurePath(name).suffix.lower() == ".txt":
        return parse(content.decode("utf-8-sig", "replace"))
    # a watchlist is a list of titles here; with `is_watchlist=True` its films would be skipped as not yet watched
    parts = history_files.read(name, content, Answers(is_watchlist=False))
    return [entry for part in parts for entry in part.entries][:MAX_TITLES]


def find_films(matcher: Matcher, entries: Sequence[Entry]) -> TitleList:
    """Find the films of the entries of a list, by confident and likely matches."""
    films = [match.accepted_film for match in matcher.match(entries)]
    missing = [entry.name for entry, film in zip(entries, films, strict=True) if film is None]
    return TitleList(tuple(dict.fromkeys(film for film in films if film is not None)), tuple(missing))


def parse(text: str) -> list[Entry]:
    """Return an entry for each line with a title, among the first MAX_TITLES lines that are not blank."""
    titles = [_title_and_year(line.strip()[:MAX_LINE_CHARS]) for line in text.splitlines() if line.strip()]
    numbered_titles = enumerate(titles[:MAX_TITLES], start=1)
    return [Entry(file="", line=line, title=title, year=year) for line, (title, year) in numbered_titles if title]


def _title_and_year(line: str) -> tuple[str, int | None]:
    """Split a line into title and year, None if it has no year. A folder, bullet or number before it is removed."""
    if PurePath(line).suffix.lower() in VIDEO_SUFFIXES:
        return _from_file_name(PurePath(line.replace("\\", "/")).stem)
    words = line.strip("•-–—* \t").split()
    is_numbered = len(words) > 1 and words[0][-1] in ".)" and words[0].rstrip(".)").isdigit()  # "1." or "1)"
    if is_numbered:
        words = words[1:]
    title, year = split_year(_RATING.sub("", " ".join(words)).rstrip(","))
    return title.rstrip(" ,;"), year


def _from_file_name(stem: str) -> tuple[str, int | None]:
    """Return title and year from the name of a video file without its suffix: "Heat.1995.1080p" → ("Heat", 1995).

    The title ends before the year or the first of RELEASE_WORDS. A title can contain a year, so the last year counts.
    """
    words: Sequence[str] = stem.replace(".", " ").replace("_", " ").split()
    bare_words = [word.strip("()[]") for word in words]
    release_positions = [
        position
        for position, word in enumerate(bare_words)
        if position and word.replace("-", "").lower() in RELEASE_WORDS  # the first word belongs to the title
    ]
    end = min(release_positions, default=len(words))
    year_positions = [position for position in range(1, end) if _is_year(bare_words[position])]
    if year_positions:
        return " ".join(words[: year_positions[-1]]), int(bare_words[year_positions[-1]])
    return " ".join(words[:end]), None


def _is_year(word: str) -> bool:
    """Return whether a word of a file name can be a year of release."""
    return len(word) == 4 and word.isdecimal() and FIRST_YEAR <= int(word) <= LAST_YEAR
