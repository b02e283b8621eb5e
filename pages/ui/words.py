"""What several pages say, in one place: plain English, ready to translate."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pages.ui.i18n import ENGLISH, METRIC, _, count, current, joined, ngettext, number, say, speak

if TYPE_CHECKING:
    from recsys.data.film_details import Detail
    from recsys.serving.films.tmdb import Story


# Pages
WATCH = "Watch next"
COMPARE = "Compare"
EVALUATION = "Evaluation"

# Data
DATA = "Films from"
LOST = "{n} of your {all} films are not in {data}."

# Predictions
CARDS = "Cards"
LIST = "List"

# Filters
FILTERS = "Filters"
KNOWN = "How well known"
KNOWN_STEPS = {
    "mainstream": "Mainstream",
    "well known": "Well known",
    "any": "Any",
    "lesser known": "Lesser known",
    "hidden gems": "Hidden gems",
}

# A film
ABOUT_IT = {
    "directors": "Directed by",
    "cast": "With",
    "subjects": "About",
    "countries": "Made in",
    "languages": "Spoken in",
    "length": "Length",
}
PLOT = "What it is about"
LINKS = {"IMDb": "{film} on IMDb, in a new tab", "TMDB": "{film} on TMDB, in a new tab"}

# Why a film is recommended
WHY_LIFTED = {1: "Mostly because you watched {one}.", 2: "Mostly because you watched {one}, then {two}."}

# Inside the model
INSIDE = "Inside the model"

# Library
LIBRARY = "Library"

# Train
TRAIN = "Train"

# Data sets
NOUNS = {"item": "items", "film": "films"}  # what a set is of

# A set of one's own
OWN_COLUMNS = {"user": "Person", "item": "Item", "time": "Time", "rating": "Rating"}


# Richer films
GOOD = "OK"

# Recommenders that are not there yet
UNTRAINED = "{model} · not trained"
STOPPING = "Stopping"
SOON = "a few seconds"
HOLDS = {"film": "{n:,} films", "item": "{n:,} items"}


def genres(text: str) -> str:
    """ "Action|Sci-Fi" for reading: "Action, Sci-Fi"."""
    return ", ".join(say(genre) for genre in text.split("|"))


def length(minutes: int | None) -> str:
    """A running time: "2 h 16 min"; "" where it is not known."""
    if minutes is None:
        return ""
    hours, rest = divmod(minutes, 60)
    if not hours:
        return _("{minutes} min", minutes=rest)
    return _("{hours} h {minutes} min", hours=hours, minutes=rest)


def made(detail: "Detail") -> str:
    """How long a film is, and who directed it: "2 h 34 min · Quentin Tarantino"; "" where neither is known."""
    return " · ".join(filter(None, [length(detail.minutes), ", ".join(detail.directors)]))


def about_it(detail: "Detail") -> list[tuple[str, str]]:
    """What is known of a film, a line each: ("Directed by", "Quentin Tarantino")."""
    known = detail._asdict() | {"length": length(detail.minutes)}
    lines = [(said, known[what]) for what, said in say(ABOUT_IT).items()]
    return [(said, what if isinstance(what, str) else ", ".join(what)) for said, what in lines if what]


def story(told: "Story") -> list[str]:
    """The plot and the cast in lines."""
    people = [_("{name} as {role}", name=name, role=role) if role else name for name, role in told.cast]
    return [line for line in (told.plot, ", ".join(people)) if line]


def term(name: str) -> str:
    """A genre, a decade or a group of films or people: "Sci-Fi", "1980s"; tags stay as people wrote them."""
    decade = re.fullmatch(r"(\d{4})s", name)
    return str(_("{year}s", year=decade[1]) if decade else say(name))


def percent(probability: float) -> str:
    """ "4.2%"; very small ones as "<0.1%"."""
    return number(probability, ".1%") if probability >= 0.001 else _("<{percent}", percent=number(0.001, ".1%"))


def viewer(watched: int, kept: int, data: str) -> str:
    """Whose films these are."""
    if kept == watched:
        return _("A real viewer of {data}, and all {n:,} films that they watched.", n=watched, data=data)
    return _(
        "A real viewer of {data}, who watched {n:,} films. These are the newest {kept}.",
        n=watched,
        kept=kept,
        data=data,
    )


def was(before: int | None, rank: int) -> str:
    """The rank of a film before its list changed."""
    if before is None:
        return _("new")
    return _("same rank") if before == rank else _("was {n}", n=before)


def metric(value: float | None, sign: bool = False) -> str:
    """A metric as all pages, tables and charts write it: "0.0981", "10.7740"; "–" for a missing value.

    Numbers follow one rule. Metrics and p-values have a leading zero and four decimals (METRIC, also for Plotly),
    percentages one decimal (`percent`; `fine_percent` keeps two digits of small ones), and counts the thousands
    separator of the language (`language.count`). sign: write a plus as well.
    """
    return "–" if value is None or value != value else number(value, f"{'+' if sign else ''}{METRIC}")


def ordinal(n: int) -> str:
    """A rank in a sentence: "1st", "22nd", "113th"; in other languages the number alone."""
    if current() != ENGLISH:
        return count(n)
    last = {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n:,}{'th' if n % 100 in (11, 12, 13) else last}"


def plain(text: str, links: bool = False) -> str:
    """Text with every sign escaped that Markdown would take as its own; links: addresses in it can be clicked.

    Markdown finds addresses behind escapes, too, so a sign that nobody sees (a word joiner) takes them apart.
    """
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text if links else _IN_ADDRESS.sub("\u2060", text))


_IN_ADDRESS = re.compile(r"(?<=:/)(?=/)|(?<=www)(?=\.)|(?<=@)(?=[\w-]+\.\w)", re.IGNORECASE)


def listed(names: Sequence[str]) -> str:
    """Names in a sentence, none of them Markdown: "A, B and C"."""
    return joined([plain(name) for name in names])


def about(seconds: float) -> str:
    """A time that nobody knows exactly: "a few seconds", "about 20 seconds", "about 3 minutes", "about 2 hours"."""
    if seconds <= 5:
        return _("a few seconds")
    if seconds < 45:
        return ngettext("about {n} seconds", "about {n} seconds", max(1, round(seconds / 10)) * 10)
    if seconds < 90:
        return _("about a minute")
    return (
        ngettext("about {n} minutes", "about {n} minutes", round(seconds / 60))
        if seconds < 5400
        else ngettext("about {n} hours", "about {n} hours", round(seconds / 3600))
    )


def fine_percent(probability: float, more: int = 0) -> str:
    """Two digits of small ones: "12.3%", "4.2%", "0.42%", "0.042%"; "<0.001%" below that. more: further digits."""
    if probability >= 0.01:
        return number(probability, f".{1 + more}%")
    if probability < 1e-5:
        return _("<{percent}", percent=number(1e-5, ".3%"))
    return number(100 * probability, f"#.{2 + more}g") + "%"


def times(factor: float) -> str:
    """How many times as much: "120×", "12×", "1.2×", "0.031×"."""
    return number(factor, ",.0f" if factor >= 9.95 else "#.2g") + "×"


def years(oldest: int | None, newest: int | None) -> str:
    """When the films of a set were made: "1919–2000", "to 2019" where nobody knows the first."""
    if newest is None:
        return _("of unknown years")
    return _("to {year}", year=newest) if oldest is None else f"{oldest}–{newest}"


def counted(n: int, noun: str) -> str:
    """ "3,883 films"."""
    return say(HOLDS[noun], noun).format(n=n)


def things(noun: str) -> str:
    """What a data set is of: "films" or "items"."""
    return str(say(NOUNS[noun], noun))


def holds(people: int, n: int, noun: str = "film") -> str:
    """What a data set holds: "6,040 people, 3,883 films"."""
    return ngettext("{n:,} person", "{n:,} people", people) + ", " + counted(n, noun)


def trained(titles: Sequence[str]) -> str:
    """Which recommenders are trained for a data set."""
    if not titles:
        return _("None is trained for it yet; recommenders that need no training are fitted when you choose them.")
    if len(titles) <= 3:
        return _("Trained for it: {models}.", models=listed(titles))
    return _("Trained for it: {models} and {n} more.", models=", ".join(map(plain, titles[:2])), n=len(titles) - 2)


# Messages for screen readers
MOVED = "{film} is now number {n} of {all}."
REFUSED = "{film} will not be recommended again."

# The tour
TOUR_STEPS = (
    ("Your films.", "Type a title to add a film, or start with a ready-made list. The latest one goes last."),
    ("What comes next.", "The films you are likely to watch next. Add one, or open its menu to ask why."),
    ("Order matters.", "Move or drop a film, and the predictions change. Undo or your browser's Back takes it back."),
    ("More pages.", "Compare recommenders, see how well they do, and look inside the network that predicts."),
)


# Headings of tables that the app writes to files.
HEADINGS = (
    "alone",
    "attended to",
    "attends",
    "attention",
    "baseline",
    "bucket",
    "calibration error",
    "cosine",
    "date",
    "decade",
    "difference",
    "differs",
    "distance",
    "epoch",
    "events",
    "family",
    "file",
    "film",
    "films",
    "fingerprint",
    "found",
    "from",
    "gap",
    "genre",
    "genres",
    "head",
    "high",
    "in your files",
    "kept",
    "layer",
    "line",
    "lists",
    "loss",
    "low",
    "margin",
    "model",
    "movie_id",
    "name",
    "of",
    "order",
    "other",
    "overlap",
    "paper",
    "people",
    "position",
    "probability",
    "rank",
    "rating",
    "ratings",
    "recommender",
    "same second",
    "score",
    "seconds",
    "seeds",
    "setting",
    "share",
    "stars",
    "std",
    "their_probability",
    "their_rank",
    "title",
    "to",
    "untied",
    "users",
    "value",
    "variant",
    "weight",
    "when",
    "why it is not taken",
    "year",
    "your_probability",
    "your_rank",
)


TRANSLATED_HEADINGS = frozenset(HEADINGS)  # the English texts, which `say` translates


def heading(column: str) -> str:
    """Return the heading of a table column. Of "rank Markov chain", the first word is translated."""
    if column in TRANSLATED_HEADINGS:
        return str(say(column))
    first, _unused, rest = column.partition(" ")
    return f"{say(first)} {rest}" if rest and first in TRANSLATED_HEADINGS else column


speak(__name__)
