"""What the dialog about a history of one's own says, and the panel that measures recommenders by it."""

from collections.abc import Mapping

from pages.ui.i18n import say, speak

BRING = "Bring your history"
BRING_HELP = "Films that you marked or rated elsewhere: Letterboxd, IMDb, Trakt, Netflix, MovieLens, or any list."
ABOUT = (
    "Bring what you exported: Letterboxd (the ZIP, or files of it), IMDb, Trakt, Netflix, MovieLens, files of this "
    "app, or any CSV. Several files at once are fine: films that are in more than one are counted once."
)
PRIVATE = "Your files are read in memory for this visit. They are not kept, not logged and not sent on."
CHOOSE = "History files: CSV, JSON or ZIP"
WHERE = "Where to find the files"
WHERE_TO = {
    "Letterboxd": "letterboxd.com → Settings → Data → Export your data: the ZIP.",
    "IMDb": "imdb.com → Your ratings → Export: a CSV.",
    "Trakt": "trakt.tv → Settings → Data → Export: the ZIP, or its JSON files.",
    "Netflix": "netflix.com → Account → Profile → Viewing activity → Download all: a CSV.",
    "MovieLens": "movielens.org → About your ratings → Export: a CSV.",
    "NextReel": "Share → Files: your films as CSV or JSON.",
}

# A file
TOO_MANY = "Only the first {n} files were read. Bring the others in another round."
READ = {
    0: "**{file}** · {source} · no line about a film that was watched",
    1: "**{file}** · {source} · one line about a film that was watched",
    2: "**{file}** · {source} · {n:,} lines about films that were watched",
}
UNKNOWN = "a list of its own kind"
DATES = "What does {cell} in {file} mean?"
KIND = "What are the films in {file}?"
WATCHED, WANTED = "Films I watched", "A watchlist"
COLUMNS = "What is in the columns of {file}?"
COLUMNS_OPEN = "Choose at least the column with titles, or one with numbers of films."
NO_COLUMN = "in no column"
ROLES = {
    "title": "Title",
    "year": "Year",
    "watched": "Date of watching",
    "rating": "Rating",
    "imdb_id": "Number at IMDb",
    "tmdb_id": "Number at TMDB",
}
SCALE, SCALES = "Best rating", {5: "5", 10: "10", 100: "100"}
LINES = "Without dates: which film comes first?"
OLDEST, NEWEST = "The oldest", "The newest"

# The review
LOOKING = "Looking your films up"
NONE_FOUND = "None of these films is in {data}. Another data set may have them: close this and choose one at the top."
SUMMARY = {1: "**One** film of yours is in {data}", 2: "**{n:,}** films of yours are in {data}"}
HOW = {
    "by its number": "{n:,} found by their numbers",
    "by title and year": "{n:,} by title and year",
    "by title; the year differs by one": "{n:,} by title, with a year that differs by one",
    "by title alone": "{n:,} by title alone",
}
UNDATED = {
    1: "One of them has no date of watching: it stands where it was rated or logged, or at the beginning.",
    2: "{n:,} of them have no date of watching: they stand where they were rated or logged, or at the beginning.",
}
FEW_RATED = {
    1: "One was rated by few people here, so a film like it stands in for it.",
    2: "{n:,} were rated by few people here, so a film like each stands in for it.",
}
ASK = "Which film is meant? {n:,} to check"
ASK_HELP = "A proposal is made where title and year leave little doubt. What you leave at “none” is not taken."
NONE_OF_THESE = "None of these"
SAID = "{file}, line {line}"
LOST = {1: "Not taken: one film or line", 2: "Not taken: {n:,} films and lines"}
LOST_HELP = "Everything in your files that is not in your list afterwards, with the reason."
FOUND = "How each film was found"
USE = {1: "Use this film", 2: "Use these {n:,} films"}
REPLACES = {
    1: "This replaces the film of your list; Undo brings it back.",
    2: "This replaces the {n:,} films of your list; Undo brings them back.",
}
KEEP = "Keep this history in this browser"
KEEP_HELP = (
    "Saves titles, dates and stars in this browser's own storage, so that the next visit can load them. Nothing of it "
    "stays on the server. Leave it off on a machine that you share."
)

# Kept in the browser
KEPT = {1: "This browser keeps one film, saved on {date}.", 2: "This browser keeps {n:,} films, saved on {date}."}
LOAD, FORGET = "Load it", "Forget it"
FROM_BROWSER = "The history kept in this browser"
REFUSED = "This browser did not save the history: its storage is full or switched off."
SAVED = "This browser keeps your history now. “Bring your history” loads it or forgets it."

# In the list
TIMES = {1: "Watched on {date}.", 2: "Watched {n} times, last on {date}."}
TIMES_ALONE = "Watched {n} times."
HALF = "You gave it {stars} stars."
LINK_FULL = (
    "The address has room for your newest {n:,} films, not for the {earlier:,} before them: a link, or a reload of the "
    "page, begins with those."
)

# How well would each recommender have guessed the last films
GUESSED = "How well would each recommender have guessed your last ten films?"
GUESSED_HELP = (
    "Each of your last {n} films is hidden in turn, and every recommender that is ready is asked for it, given the "
    "films before it. Nothing is trained or fitted for this."
)
GUESSED_NEEDS = "Add a second film: to hide one, there must be another before it."
GUESS = "Ask {n} recommenders"
ASKING = "Asking {model}: {n} of {all}"
TABLE = "How many of your last {n} films each recommender had in its top {k}, with intervals of 95%"
HEADS = ("Recommender", "In its top {k}", "", "95% interval", "NDCG@{k}", "Median rank")
OF = "of {n}"
BEST = "**{best}** would have shown you {found} of your last {n} films in its top {k}."
BEST_OF = "**{best}** and {alike} more would have shown you {found} of your last {n} films in their top {k}."
NONE_SHOWS = "No recommender would have shown you one of your last {n} films in its top {k}."
SAME = (
    "That is little to go by: the intervals of {n} of the {others} others overlap with its own, so these films cannot "
    "tell them apart. The Evaluation page takes hundreds of people."
)
APART = "Its interval lies above those of all {n} others, so these films are enough to tell it from them."
INTERVALS = (
    "Both intervals are 95% intervals for your films alone: Wilson's for the share, order statistics for the median "
    "rank."
)


def counted(sentences: Mapping[int, str], n: int, **said: str) -> str:
    """The sentence for none, one or many of n things."""
    return sentences[min(n, 2)].format(n=n, **said)


def found_how(counts: Mapping[str, int]) -> str:
    """How films were found, as a list in one sentence."""
    return ", ".join(say(HOW)[how].format(n=n) for how, n in counts.items() if n)


def verdict(found: list[int], intervals: list[tuple[float, float]], names: list[str], n: int, k: int) -> str:
    """What a table of guesses comes to, the best first; names are Markdown."""
    if not found[0]:
        return say(NONE_SHOWS).format(n=n, k=k)
    others, as_good = len(names) - 1, found.count(found[0]) - 1
    said = say(BEST_OF if as_good else BEST).format(best=names[0], alike=as_good, found=found[0], n=n, k=k)
    if not others:
        return said
    alike = sum(high >= intervals[0][0] for _, high in intervals[1:])
    told = say(SAME).format(n=alike, others=others) if alike else say(APART).format(n=others)
    return f"{said} {told}"


speak(__name__)
