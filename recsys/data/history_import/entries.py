"""The content of a history file, before its films are matched with a data set."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from recsys.data.dataset import DataError
from recsys.errors import N_, Message

MAX_FILE_BYTES = 10 << 20  # of one file; a diary of 3,000 films has 0.3 MB
MAX_LINES = 100_000  # of one file


class HistoryError(DataError):
    """A file that cannot be read as a history."""


class Reason(Enum):
    """Why a line was skipped."""

    SERIES = N_("a series, not a film")
    OTHER_MEDIA = N_("a game, a book, a podcast or music, not a film")
    UNWATCHED = N_("on a watchlist, so not watched yet")
    NAMELESS = N_("no film title or film ID")
    EXTRA_CELLS = N_("more cells than the file has columns")
    NO_HISTORY = N_("not about films that were watched")


@dataclass(frozen=True)
class Entry:
    """One watched film. Missing values are None, or "" for text."""

    file: str
    line: int  # line number from 1; in a JSON file, number of the entry
    title: str = ""
    original: str = ""  # title in the original language
    year: int | None = None
    imdb_id: str = ""  # "tt0114709"
    tmdb_id: int | None = None
    movie_id: int | None = None  # of MovieLens
    watched: datetime | None = None  # midnight if the file has no time
    logged: datetime | None = None  # when it was rated or added, possibly long after it was watched
    rating: float | None = None  # stars, 0.5…5
    times: int = 1  # number of times it was watched
    page: str = ""  # address on the site; distinguishes films of equal title and year
    perhaps_series: bool = False  # whether the title can be the title of an episode

    @property
    def name(self) -> str:
        """Title and year, or an id."""
        if self.title:
            return self.title if self.year is None else f"{self.title} ({self.year})"
        return self.imdb_id or f"film {self.tmdb_id or self.movie_id}"


@dataclass(frozen=True)
class Skipped:
    """A skipped line, or a skipped file of an archive."""

    file: str
    line: int  # 0: the whole file
    text: str
    reason: Reason


@dataclass(frozen=True)
class Columns:
    """The column of each kind of content: its name in lower case, "" if there is none."""

    title: str = ""
    original: str = ""
    year: str = ""
    watched: str = ""
    logged: str = ""
    rating: str = ""
    scale: int = 5  # maximum rating: 5, 10 or 100
    imdb_id: str = ""
    tmdb_id: str = ""
    movie_id: str = ""
    rewatch: str = ""
    times: str = ""
    kind: str = ""  # column of "film", "series" …
    page: str = ""
    newest_first: bool = False  # whether a file without dates begins with the newest film

    @property
    def identifies_films(self) -> bool:
        """Whether a column identifies films."""
        return bool(self.title or self.imdb_id or self.tmdb_id or self.movie_id)


@dataclass(frozen=True)
class DateQuestion:
    """A question about dates that can be read in two ways."""

    cell: str  # an example, as written
    day_first_date: datetime  # the example, if its day is before its month
    month_first_date: datetime
    is_day_first_likely: bool  # by the order of the lines, else by the language of the user


@dataclass(frozen=True)
class ColumnQuestion:
    """A question about the columns of a CSV file of unknown origin."""

    header: tuple[str, ...]  # as written
    names: tuple[str, ...]  # in lower case, as in `Columns`
    sample: tuple[tuple[str, ...], ...]  # first rows
    guess: Columns


@dataclass(frozen=True)
class Answers:
    """Answers of the user to the questions about a file. None means not answered."""

    day_first: bool | None = None
    watchlist: bool | None = None  # whether the films were not watched yet
    columns: Columns | None = None
    prefers_month_first: bool = False  # not an answer: whether the user's language writes the month before the day


NO_ANSWERS = Answers()


@dataclass(frozen=True)
class Imported:
    """The content of one file."""

    file: str
    format_title: str  # "Letterboxd diary"; "" if the format is unknown
    entries: tuple[Entry, ...] = ()  # oldest first, by dates or else by the order of the lines
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[Message, ...] = ()  # sentences for the user
    date_question: DateQuestion | None = None
    may_be_watchlist: bool = False  # whether watchlists have the same format
    looks_like_watchlist: bool = False  # whether the file name contains "watchlist"
    column_question: ColumnQuestion | None = None  # only for an unknown format
