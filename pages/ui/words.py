"""What several pages say, in one place: plain English, ready to translate."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pages.ui.i18n import ENGLISH, METRIC, count, current, joined, number, say, speak

if TYPE_CHECKING:
    from recsys.data.film_details import Detail
    from recsys.serving.films.tmdb import Story

APP = "NextReel"

# Pages
WATCH = "Watch next"
WATCH_HELP = "Put films in the order you watched them and see which one comes next."
COMPARE = "Compare"
COMPARE_HELP = "The same films through several recommenders, side by side."
EVALUATION = "Evaluation"
EVALUATION_HELP = "How well each recommender finds the film that people really watched next."

# Data
DATA = "Films from"
DATA_HELP = "Each data set has its own films and its own trained recommenders."
FETCHING = "Getting the films ready. This happens once."
FETCHING_ONE, FETCHED_FROM = "Fetching {data}", "Fetching {data} from {host}"
FETCHED_SO_FAR = "Fetching {data}: {done} of {all} MB"
PARSING, KEEPING = "Reading the ratings of {data}", "Keeping {data}"
RETRY = "Try again"
TYPE, TYPE_THERE = "In a terminal, type:", "Whoever runs this server can type:"
NOT_SHOWN = "{n} files cannot be shown"
STRANGE_DATA = "The link names a data set that does not exist, so this shows the films that come with the app."
SET_REMOVED = "The data set {data} was deleted, so this shows the films that come with the app."
LOST = "{n} of your {all} films are not in {data}."

# The sequence
SEARCH_HINT, SEARCH_HINT_YEARS = "Search {n} films", "Search {n} films, {first}–{last}"
NOTHING_FOUND = "“{text}” is not among the {n} films of this set."
NEAREST = "Nearest to it:"
HAS_IT = "{data} has {film}."
TAKE = "Start with these *films: {example}*"
LATEST = "latest"

# Predictions
MODEL = "Recommender"
HOW_MANY = "How many"
VIEW, CARDS, LIST = "Show as", "Cards", "List"

# Filters
FILTERS, FILTERS_ON = "Filters", "Filters · {n}"
YEARS, GENRES, ANY_GENRE = "Made between", "Only these genres", "Any genre"
KNOWN = "How well known"
KNOWN_HELP = (
    "By how many films of this set are watched more often. Mainstream: the top 5% of the films. Well known: the top "
    "20%. Lesser known: all but those. Hidden gems: the less watched half."
)
KNOWN_STEPS = {
    "mainstream": "Mainstream",
    "well known": "Well known",
    "any": "Any",
    "lesser known": "Lesser known",
    "hidden gems": "Hidden gems",
}
RESET = "Reset filters"

# A film
LENGTH_SHORT, LENGTH = "{minutes} min", "{hours} h {minutes} min"  # blanks that do not break
ABOUT_IT = {
    "directors": "Directed by",
    "cast": "With",
    "subjects": "About",
    "countries": "Made in",
    "languages": "Spoken in",
    "length": "Length",
}
FROM_WIKIDATA = "From Wikidata."
PLOT = "What it is about"
NO_PLOT = "TMDB tells nothing about this film at the moment."
ROLE = "{name} as {role}"
ATTRIBUTION = "This product uses the TMDB API but is not endorsed or certified by TMDB."
DECADE = "{year}s"
LINKS = {"IMDb": "{film} on IMDb, in a new tab", "TMDB": "{film} on TMDB, in a new tab"}

# A real viewer
VIEWER = "A real viewer of {data}, who watched {n} films. These are the newest {kept}."
PERSON, TAKE_THEIRS = "Number of the person in the ratings file", "Take their films"
NO_PERSON = "There is no person {number} here: some numbers are missing."
PERSON_NAMED, NOBODY = "Name of the person in the file", "Nobody here is called that."
WHOLE_VIEWER = "A real viewer of {data}, and all {n} films that they watched."

# Recommenders
WAKING = "Waking the recommenders"
GETTING_READY = "Getting the recommender ready. The first time takes a moment."

# Why a film is recommended
WHY_TITLE = "Why {film}?"
WHY_FIRST, WHY_FIRST_RANKED = "{model}'s top prediction, at {probability}.", "{model}'s top prediction."
WHY_STANDS, WHY_RANKED = "{model} ranks it {rank}, at {probability}.", "{model} ranks it {rank}."
WHY_RULED_OUT = "{model} rules it out."
WHY_NEWCOMER = "You have watched nothing yet, so this is what {model} predicts for anybody."
WHY_UNMOVED = "None of your films makes a difference: {model} predicts it for anybody."
WHY_LIFTED = {1: "Mostly because you watched {one}.", 2: "Mostly because you watched {one}, then {two}."}
WHY_DESPITE = "Your films count against it. It would rank higher without {one}."
WHY_LOWERED = "Without {one} it would rank higher."
WHY_HOW = (
    "Each of your films was left out in turn, and {model} predicted again. The longer the bar, the larger the change."
)
WHY_ALONE = "Your only film was left out, and {model} predicted as for somebody new."
WHY_NEWEST = "Only your newest {n} films were left out in turn."
WHY_REST = "{n} more of your films made a smaller difference."
LIFTS, LOWERS, NO_MATTER = "lifts it", "holds it back", "makes no difference"
NO_VISIBLE = "makes no visible difference"
PROBABILITY_WITHOUT, RANK_WITHOUT, OUT_WITHOUT = (
    "{probability} without it",
    "rank {rank} without it",
    "ruled out without it",
)
READ_ON = "Read about it on"

# Lists, side by side
SAME_FILMS = "Your films, oldest first"
EDIT = "Change the films"
IN_LISTS = "in {n} of {all} lists"
ONLY_HERE = "only here"
NEW_HERE, SAME_RANK, WAS = "new", "same rank", "was {n}"

# Files
DOWNLOAD = "Download as CSV"

# Inside the model
INSIDE = "Inside the model"
INSIDE_HELP = (
    "What the network does with your films: what it looks at, what it would put into a gap, what it finds alike."
)

# Library
LIBRARY = "Library"
LIBRARY_HELP = "All films of a data set to browse, what its numbers say, and what two people could watch tonight."

# Train
TRAIN = "Train"
TRAIN_HELP = "Teach a recommender on this machine; it answers on every page as soon as it is done."

# Data sets
NOUNS = {"item": "items", "film": "films"}  # what a set is of
SET_IN_MENU = "{data} · {things} {years}"
OWN_IN_MENU = "{data} · {holds}"
MORE_SETS, SETS_TITLE = "More data sets", "Data sets"
SETS_HELP = (
    "What people watched, as GroupLens at the University of Minnesota has published it. Your films go along by title "
    "when you open another set."
)
LEFT_OUT = (
    "Recommenders learn from the {learnt} {things} with {fewest} ratings or more. The other {n} can be put into "
    "your list: the one most like each of them stands in for it."
)
LEFT_OUT_UNRATED = (
    "Recommenders learn from the {learnt} {things} that somebody rated. The other {n} can be put into your list: "
    "the one most like each of them stands in for it."
)
BRIEF = "{n} people are left with fewer than three {things}: recommenders learn from them, but are not tested on them."
NO_TRAINED = "None is trained for it yet; recommenders that need no training are fitted when you choose them."
TRAINED_FOR = "Trained for it: {models}."
MANY_TRAINED = "Trained for it: {models} and {n} more."
SIZE = "{n} MB to fetch."
CONDITIONS = "For {licence} ([conditions of {data}]({address}))."
OPEN_NOW = "Open now."
OPEN_SET, GET_SET, CANCEL_GETTING = "Open *{data}*", "Get it *{data}*", "Cancel *fetching {data}*"
BEGUN = "{n} MB of it are here already; it goes on from there."
NOT_FETCHED = "{data} could not be fetched: {why}"
NOT_HERE = "{data} is not on this machine yet."
ARRIVED, PUT_AWAY = "{data} is here.", "Not now"

# A set of one's own
OWN_TITLE = "Add your own data"
OWN_HELP = (
    "A file with one row per event – who watched, read or bought what: CSV, TSV, JSON lines, parquet, or columns "
    "separated by spaces; gzipped or not, up to {mb} MB. It is kept on the computer that runs this app, where whoever "
    "opens the app can see it."
)
OWN_FILE, OWN_ITEMS = (
    "Who had what, and when",
    "What the items are, if you have it: titles, years, genres, pictures, texts",
)
OWN_COLUMNS = {"user": "Person", "item": "Item", "time": "Time", "rating": "Rating"}
OWN_NONE, OWN_PLACE = "none", "column {n}"
OWN_WHICH = "Choose the column of the {roles}."
OWN_NOUN = "These are"
OWN_NAME, OWN_FEWEST = "Name of the data set", "Leave out items with fewer events than"
OWN_FEWEST_HELP = "With 0 nothing is left out."
OWN_ADD, OWN_REPLACE = "Add *{name}*", "Replace *{name}*"
OWN_DELETE, OWN_DELETE_NOW = "Delete *{data}*…", "Delete *{data}* for good"
OWN_DELETE_HELP = "This deletes {data} and everything made of it: trained recommenders, results, pictures of its map."


# Richer films
ENRICH, ENRICH_REST = "Add cast and more *to {data}*", "Ask for the rest *of {data}*"
ENRICH_HELP = (
    "Director, cast, subjects, length and titles in other languages, from Wikidata, where they are free (CC0). A large "
    "set takes a while; it can be stopped at any time, and goes on from there."
)
IS_ENRICHED = "Director, cast and titles in other languages are known, from Wikidata."
ENRICHING, ENRICHED_SO_FAR = (
    "Asking Wikidata about the films of {data}",
    "Asking Wikidata about the films of {data}: {done} of {all}",
)
ENRICHED_NOW = (
    "Wikidata knows {known} of the {films} films of {data}: who made them, and what they are called elsewhere."
)
CANCEL_ENRICHING, GOOD = "Cancel *asking about {data}*", "OK"

# Recommenders that are not there yet
MODEL_HELP = "Some are trained beforehand, for some sets. The others are fitted when you choose them."
UNTRAINED, UNFITTED = "{model} · not trained", "{model} · not fitted"
NOT_TRAINED = "{model} has to be trained, and has not been for {data} yet. Training takes minutes to hours."
NOT_ALL_TRAINED = (
    "{model} mixes several recommenders, and these have not been trained for {data} yet: {members}. Training takes "
    "minutes to hours."
)
TRAIN_HERE = "Train *{model}* here"
FITS_LONG = "{model} has not been fitted for {data} yet, which takes more than a minute."
NOT_FITTED = "{model} has not been fitted for {data} yet. That is done once, and kept."
FIT, FITTING = "Fit {model} ({time})", "Fitting {model} ({time})"
FITTED_AT_ONCE = "These need seconds, and are fitted when you choose them: {models}."
CANCEL_FITTING, STOPPING = "Cancel *fitting {model}*", "Stopping"
SOON, SECONDS = "a few seconds", "about {n} seconds"
MINUTE, MINUTES, HOURS = "about a minute", "about {n} minutes", "about {n} hours"
SMALLER = "<{percent}"
UNKNOWN_YEARS, YEARS_TO = "of unknown years", "to {year}"
HOLDS_PEOPLE, HOLDS = "{n:,} people", {"film": "{n:,} films", "item": "{n:,} items"}


def genres(text: str) -> str:
    """ "Action|Sci-Fi" for reading: "Action, Sci-Fi"."""
    return ", ".join(say(genre) for genre in text.split("|"))


def length(minutes: int | None) -> str:
    """A running time: "2 h 16 min"; "" where it is not known."""
    if minutes is None:
        return ""
    hours, rest = divmod(minutes, 60)
    return say(LENGTH if hours else LENGTH_SHORT).format(hours=hours, minutes=rest)


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
    people = [say(ROLE).format(name=name, role=role) if role else name for name, role in told.cast]
    return [line for line in (told.plot, ", ".join(people)) if line]


def term(name: str) -> str:
    """A genre, a decade or a group of films or people: "Sci-Fi", "1980s"; tags stay as people wrote them."""
    decade = re.fullmatch(r"(\d{4})s", name)
    return str(say(DECADE).format(year=decade[1]) if decade else say(name))


def percent(probability: float) -> str:
    """ "4.2%"; very small ones as "<0.1%"."""
    return number(probability, ".1%") if probability >= 0.001 else say(SMALLER).format(percent=number(0.001, ".1%"))


def viewer(watched: int, kept: int, data: str) -> str:
    """Whose films these are."""
    return say(WHOLE_VIEWER if kept == watched else VIEWER).format(n=count(watched), kept=kept, data=data)


def was(before: int | None, rank: int) -> str:
    """The rank of a film before its list changed."""
    if before is None:
        return say(NEW_HERE)
    return say(SAME_RANK) if before == rank else say(WAS).format(n=before)


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
        return say(SOON)
    if seconds < 45:
        return say(SECONDS).format(n=max(1, round(seconds / 10)) * 10)
    if seconds < 90:
        return say(MINUTE)
    return say(MINUTES).format(n=round(seconds / 60)) if seconds < 5400 else say(HOURS).format(n=round(seconds / 3600))


def fine_percent(probability: float, more: int = 0) -> str:
    """Two digits of small ones: "12.3%", "4.2%", "0.42%", "0.042%"; "<0.001%" below that. more: further digits."""
    if probability >= 0.01:
        return number(probability, f".{1 + more}%")
    if probability < 1e-5:
        return say(SMALLER).format(percent=number(1e-5, ".3%"))
    return number(100 * probability, f"#.{2 + more}g") + "%"


def times(factor: float) -> str:
    """How many times as much: "120×", "12×", "1.2×", "0.031×"."""
    return number(factor, ",.0f" if factor >= 9.95 else "#.2g") + "×"


def years(oldest: int | None, newest: int | None) -> str:
    """When the films of a set were made: "1919–2000", "to 2019" where nobody knows the first."""
    if newest is None:
        return say(UNKNOWN_YEARS)
    return say(YEARS_TO).format(year=newest) if oldest is None else f"{oldest}–{newest}"


def counted(n: int, noun: str) -> str:
    """ "3,883 films"."""
    return say(HOLDS[noun], noun).format(n=n)


def things(noun: str) -> str:
    """What a data set is of: "films" or "items"."""
    return str(say(NOUNS[noun], noun))


def holds(people: int, n: int, noun: str = "film") -> str:
    """What a data set holds: "6,040 people, 3,883 films"."""
    return f"{say(HOLDS_PEOPLE).format(n=people)}, {counted(n, noun)}"


def trained(titles: Sequence[str]) -> str:
    """Which recommenders are trained for a data set."""
    if not titles:
        return say(NO_TRAINED)
    if len(titles) <= 3:
        return say(TRAINED_FOR).format(models=listed(titles))
    return say(MANY_TRAINED).format(models=", ".join(map(plain, titles[:2])), n=len(titles) - 2)


# The frame
TAB = "{page} · {app}"  # the title of the browser's tab

# Messages for screen readers
SKIP = "Skip to the content"
FILMS_FOUND = "Films found: {n}."
ADDED = "{film} added. Films in your list: {n}."
REMOVED = "{film} removed. Films in your list: {n}."
MOVED = "{film} is now number {n} of {all}."
LIST_NOW = "Films in your list: {n}."
REFUSED = "{film} will not be recommended again."
ALLOWED_AGAIN = "{film} can be recommended again."
RECOMMENDED = "Recommendations: {n}. First: {film}."

# The tour
TOUR = "Take the tour"
TOUR_NUMBER = "{n} of {all}"
TOUR_NEXT, TOUR_BACK, TOUR_SKIP, TOUR_DONE = "Next", "Back", "Skip the tour", "Done"
TOUR_STEPS = (
    ("Your films.", "Type a title to add a film, or start with a ready-made list. The latest one goes last."),
    ("What comes next.", "The films you are likely to watch next. Add one, or open its menu to ask why."),
    ("Order matters.", "Move or drop a film, and the predictions change. Undo or your browser's Back takes it back."),
    ("More pages.", "Compare recommenders, see how well they do, and look inside the network that predicts."),
)


DOWNLOAD_PICTURE = "Download as a picture: {table}"

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
    first, _, rest = column.partition(" ")
    return f"{say(first)} {rest}" if rest and first in TRANSLATED_HEADINGS else column


speak(__name__)
