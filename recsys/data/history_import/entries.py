"""What a history file says, line by line, before anybody has looked for the films in a data set."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from recsys.data.dataset import DataError

MOST_BYTES = 10 << 20  # of one file, as it is brought; a diary of 3,000 films has 0.3 MB
MOST_LINES = 100_000  # of one file


class HistoryError(DataError):
    """A file that cannot be read as a history."""


class Reason(Enum):
    """Why a line is no film that was watched."""

    SERIES = "a series, not a film"
    OTHER = "a game, a podcast or music, not a film"
    WANTED = "on a watchlist, so not watched yet"
    NAMELESS = "no title and no number of a film"
    RAGGED = "more cells than the file has columns"
    NOT_READ = "not about films that were watched"


@dataclass(frozen=True)
class Entry:
    """One line about one film that was watched; what the file does not say is None, or "" for text."""

    file: str
    line: int  # in the file, from 1; of a JSON file: the entry
    title: str = ""
    original: str = ""  # the title in the language of the film
    year: int | None = None
    imdb_id: str = ""  # "tt0114709"
    tmdb_id: int | None = None
    movie_id: int | None = None  # of MovieLens
    watched: datetime | None = None  # midnight where the file has only a date
    logged: datetime | None = None  # when it was rated or written down, which may be long after
    rating: float | None = None  # stars, 0.5…5
    times: int = 1  # how often it was watched, as far as this line knows
    page: str = ""  # the address of the film on the site, where two films of one title and year differ in it
    perhaps_series: bool = False  # the title has the form of an episode's

    @property
    def name(self) -> str:
        """What a person calls it: title and year, or a number."""
        if self.title:
            return self.title if self.year is None else f"{self.title} ({self.year})"
        return self.imdb_id or f"film {self.tmdb_id or self.movie_id}"


@dataclass(frozen=True)
class Skipped:
    """A line, or a whole file of an archive, that holds no film that was watched."""

    file: str
    line: int
    text: str
    reason: Reason


@dataclass(frozen=True)
class Columns:
    """Which column of a CSV holds what, by its name in small letters; "": none does."""

    title: str = ""
    original: str = ""
    year: str = ""
    watched: str = ""
    logged: str = ""
    rating: str = ""
    scale: int = 5  # the best rating: 5, 10 or 100
    imdb_id: str = ""
    tmdb_id: str = ""
    movie_id: str = ""
    rewatch: str = ""
    times: str = ""
    kind: str = ""  # film, series …
    page: str = ""
    newest_first: bool = False  # where no column holds a date

    @property
    def names_films(self) -> bool:
        """Whether films can be told by it."""
        return bool(self.title or self.imdb_id or self.tmdb_id or self.movie_id)


@dataclass(frozen=True)
class DateQuestion:
    """Dates that can be read in two ways."""

    cell: str  # one of them, as written
    day_first: datetime
    month_first: datetime
    likely: bool  # whether the day comes first: by the order of the lines, else by the visitor's language


@dataclass(frozen=True)
class ColumnQuestion:
    """A CSV of which nobody knows where it comes from."""

    header: tuple[str, ...]  # as written
    names: tuple[str, ...]  # the same as `Columns` has them
    sample: tuple[tuple[str, ...], ...]  # its first lines
    guess: Columns


@dataclass(frozen=True)
class Answers:
    """What somebody said to the questions of a file; None: nothing yet."""

    day_first: bool | None = None
    watchlist: bool | None = None  # whether the films are still to be watched
    columns: Columns | None = None
    month_first: bool = False  # how dates are written in the visitor's language, for when nothing else tells


@dataclass(frozen=True)
class Imported:
    """What one file holds."""

    file: str
    source: str  # "Letterboxd diary"
    entries: tuple[Entry, ...] = ()  # oldest first, as far as dates or the order of the lines tell
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()  # sentences
    dates: DateQuestion | None = None
    may_be_watchlist: bool = False  # watched films and a watchlist look alike
    looks_like_watchlist: bool = False  # by its name alone
    columns: ColumnQuestion | None = None
