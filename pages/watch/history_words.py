"""What the dialog about a history of one's own says, and the panel that measures recommenders by it."""

from collections.abc import Mapping

from pages.ui.i18n import _, ngettext, say, speak

ABOUT = (
    "Bring what you exported: Letterboxd (the ZIP, or files of it), IMDb, Trakt, Netflix, MovieLens, files of this "
    "app, or any CSV. Several files at once are fine: films that are in more than one are counted once."
)
CHOOSE = "History files: CSV, JSON or ZIP"
WHERE_TO = {
    "Letterboxd": "letterboxd.com → Settings → Data → Export your data: the ZIP.",
    "IMDb": "imdb.com → Your ratings → Export: a CSV.",
    "Trakt": "trakt.tv → Settings → Data → Export: the ZIP, or its JSON files.",
    "Netflix": "netflix.com → Account → Profile → Viewing activity → Download all: a CSV.",
    "MovieLens": "movielens.org → About your ratings → Export: a CSV.",
    "NextReel": "Share → Files: your films as CSV or JSON.",
}

# A file
READ = {
    0: "**{file}** · {source} · no line about a film that was watched",
    1: "**{file}** · {source} · one line about a film that was watched",
    2: "**{file}** · {source} · {n:,} lines about films that were watched",
}
UNKNOWN = "a list of its own kind"
KIND = "What are the films in {file}?"
WATCHED, WANTED = "Films I watched", "A watchlist"
COLUMNS = "What is in the columns of {file}?"
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
NEWEST = "The newest"

# The review
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
SAID = "{file}, line {line}"
LOST = {1: "Not taken: one film or line", 2: "Not taken: {n:,} films and lines"}
FOUND = "How each film was found"
USE = {1: "Use this film", 2: "Use these {n:,} films"}
REPLACES = {
    1: "This replaces the film of your list; Undo brings it back.",
    2: "This replaces the {n:,} films of your list; Undo brings them back.",
}

# Kept in the browser
KEPT = {1: "This browser keeps one film, saved on {date}.", 2: "This browser keeps {n:,} films, saved on {date}."}
REFUSED = "This browser did not save the history: its storage is full or switched off."

# In the list
TIMES = {1: "Watched on {date}.", 2: "Watched {n} times, last on {date}."}

# How well would each recommender have guessed the last films
HEADS = ("Recommender", "In its top {k}", "", "95% interval", "NDCG@{k}", "Median rank")
BEST = "**{best}** would have shown you {found} of your last {n} films in its top {k}."
BEST_OF = "**{best}** and {alike} more would have shown you {found} of your last {n} films in their top {k}."


def counted(sentences: Mapping[int, str], n: int, **said: str) -> str:
    """The sentence for none, one or many of n things."""
    return sentences[min(n, 2)].format(n=n, **said)


def found_how(counts: Mapping[str, int]) -> str:
    """How films were found, as a list in one sentence."""
    return ", ".join(say(HOW)[how].format(n=n) for how, n in counts.items() if n)


def verdict(found: list[int], intervals: list[tuple[float, float]], names: list[str], n: int, k: int) -> str:
    """What a table of guesses comes to, the best first; names are Markdown."""
    if not found[0]:
        return ngettext(
            "No recommender would have shown you your last film in its top {k}.",
            "No recommender would have shown you one of your last {n} films in its top {k}.",
            n,
            k=k,
        )
    others, as_good = len(names) - 1, found.count(found[0]) - 1
    said = _(BEST_OF if as_good else BEST, best=names[0], alike=as_good, found=found[0], n=n, k=k)
    if not others:
        return said
    alike = sum(high >= intervals[0][0] for _unused, high in intervals[1:])
    told = (
        ngettext(
            "That is little to go by: the interval of {n} other overlaps with its own, so these films "
            "cannot tell them apart. The Evaluation page takes hundreds of people.",
            "That is little to go by: the intervals of {n} of the {others} others overlap with its own, "
            "so these films cannot tell them apart. The Evaluation page takes hundreds of people.",
            alike,
            others=others,
        )
        if alike
        else ngettext(
            "Its interval lies above that of the other one, so these films are enough to tell them apart.",
            "Its interval lies above those of all {n} others, so these films are enough to tell it from them.",
            others,
        )
    )
    return f"{said} {told}"


speak(__name__)
