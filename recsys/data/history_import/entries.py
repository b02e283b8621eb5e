"""The content of a history file, before its films are matched with the films of a data set."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from recsys.data.dataset import DataError
from recsys.errors import N_, Message

MAX_FILE_BYTES = 10 << 20  # of one file; a diary of 3,000 films has 0.3 MB
MAX_LINES = 100_000  # of one file


class HistoryError(DataError):
    """A history file that cannot be read."""


class Reason(Enum):
    """The reason why a line was skipped."""

    SERIES = N_("a series, not a film")
    OTHER_MEDIA = N_("a game, a book, a podcast or music, not a film")
    UNWATCHED = N_("on a watchlist, so not watched yet")
    NAMELESS = N_("no film title or film ID")
    EXTRA_CELLS = N_("more cells than the file has columns")
    NO_HISTORY = N_("not about films that were watched")


@dataclass(frozen=True)
class Entry:
    """A watched film in a line of a history file. Missing values are None, or "" for text."""

    file: str
    line: int  # line number from 1; in a JSON file, number of the object from 1
    title: str = ""
    original_title: str = ""  # title in the original language
    year: int | None = None
    imdb_id: str = ""  # "tt0114709"
    tmdb_id: int | None = None
    movie_id: int | None = None  # of MovieLens
    watch_date: datetime | None = None  # midnight if the file has no time
    log_date: datetime | None = None  # when it was rated or added to the service, possibly long after it was watched
    rating: float | None = None  # stars, 0.5…5
    n_viewings: int = 1  # number of times it was watched
    page: str = ""  # URL on the site of the service; distinguishes films with equal title and year
    may_be_series: bool = False  # whether the title can be the title of an episode

    @property
    def name(self) -> str:
        """Title and year, or an id."""
        if self.title:
            return self.title if self.year is None else f"{self.title} ({self.year})"
        return self.imdb_id or f"film {self.tmdb_id or self.movie_id}"


@dataclass(frozen=True)
class SkippedLine:
    """A skipped line, or a skipped file of an archive, with the reason."""

    file: str
    line: int  # 0: the whole file
    text: str
    reason: Reason


@dataclass(frozen=True)
class Columns:
    """The names of the columns of a history file, and how to read them.

    A field of type str is the name of the column with the values of the `Entry` field of this name. Names are in lower
    case, "" if the file has no such column.
    """

    title: str = ""
    original_title: str = ""
    year: str = ""
    watch_date: str = ""
    log_date: str = ""
    rating: str = ""
    scale: int = 5  # best possible rating: 5, 10 or 100
    imdb_id: str = ""
    tmdb_id: str = ""
    movie_id: str = ""
    rewatch: str = ""  # name of the column that has "yes" for a film that was watched before
    n_viewings: str = ""
    kind: str = ""  # name of the column that has "film", "series" and so on
    page: str = ""
    is_newest_first: bool = False  # whether a file without dates begins with the newest film

    @property
    def identifies_films(self) -> bool:
        """Whether a column identifies films."""
        return bool(self.title or self.imdb_id or self.tmdb_id or self.movie_id)


@dataclass(frozen=True)
class DateQuestion:
    """A question to the visitor about the dates of a file, if the day can be before or after the month."""

    cell: str  # an example, as written in the file
    day_first_date: datetime  # the example, if its day is before its month
    month_first_date: datetime  # the example, if its month is before its day
    is_day_first_likely: bool  # by the order of the lines, else by the language of the visitor


@dataclass(frozen=True)
class ColumnQuestion:
    """A question to the visitor about the columns of a CSV file in an unknown format."""

    header: tuple[str, ...]  # as written in the file
    names: tuple[str, ...]  # header in lower case, as in `Columns`
    sample: tuple[tuple[str, ...], ...]  # cells of the first rows
    guess: Columns  # used until the visitor answers


@dataclass(frozen=True)
class Answers:
    """Answers of the visitor to the questions about a file. None: not answered."""

    is_day_first: bool | None = None  # whether the day is before the month in dates
    is_watchlist: bool | None = None  # whether the films were not watched yet
    columns: Columns | None = None
    # not an answer, but a preference from the visitor's language: whether it writes the month before the day
    prefers_month_first: bool = False


NO_ANSWERS = Answers()


@dataclass(frozen=True)
class ImportedFile:
    """The content of a history file."""

    file: str
    format_title: str  # such as "Letterboxd diary"; "" if the format is unknown
    entries: tuple[Entry, ...] = ()  # oldest first, by dates or, without dates, by the order of the lines
    skipped: tuple[SkippedLine, ...] = ()
    notes: tuple[Message, ...] = ()  # sentences for the visitor
    date_question: DateQuestion | None = None
    may_be_watchlist: bool = False  # whether watchlists have the same format, so that the visitor is asked
    looks_like_watchlist: bool = False  # whether the file name contains "watchlist"
    column_question: ColumnQuestion | None = None  # only for an unknown format
