"""What Watch next says."""

from collections.abc import Sequence

from pages.ui.i18n import _, joined, say, speak

# The sequence
FEW_RATED = "few people rated it, so a similar film stands in for it"
SHARE_HELP = {
    "everybody": "Whoever opens this link sees the same films in the same order.",
    "network": "The link works in this network only: there it opens the same films in the same order. Send a file "
    "to people elsewhere.",
    "computer": "The link works on this computer only: keep it as a bookmark. To share your films, send a file.",
}

# Ratings of one's own
RATINGS = "Ratings"
STARS = "Stars"
DISLIKES_UNTOLD = {
    1: "{model} learnt from what people watched, not what they liked, so it is not told of the film you disliked.",
    2: "{model} learnt from what people watched, not what they liked, so it is not told of the {n} films you disliked.",
}

# Predictions
NEXT = "What comes next"
PROBABILITIES = {  # by what the films are chosen from
    "all": "How probable {model} finds each film as the next one you watch, among all {n} films of this set.",
    "unwatched": "How probable {model} finds each film as the next one you watch, among the {n} you have not watched.",
    "allowed": "How probable {model} finds each film as the next one you watch, among the {n} that pass your filters.",
}
TIMES = {
    "all": "None of the {n} films of this set stands out.",
    "unwatched": "None of the {n} films you have not watched stands out.",
    "allowed": "{n} films pass your filters, and none of them stands out.",
}

# Filters, and films that are not wanted
NO_GENRE = "Nothing left out"
FILTER_NAMES = {
    "years": "the years",
    "genres": "the genres you want",
    "without": "the genres you left out",
    "known": "how well known the films are",
    "no_newer": "nothing newer than your last film",
}

# A real viewer, and files
SURPRISE_ASK = {
    1: "This replaces the film of your list by those of a real person, drawn at random. Undo brings it back.",
    2: "This replaces the {n} films of your list by those of a real person, drawn at random. Undo brings them back.",
}
LINK = "A link"

# What if
MOVED = "Watched at another time"
TURNS = {
    "entered": "enters at rank {after}, from {before}",
    "rose": "rises from rank {before} to {after}",
    "stayed": "stays at rank {after}",
    "fell": "falls from rank {before} to {after}",
    "left": "drops out, from rank {before} to {after}",
}
TURN_COUNTS = {
    "entered": "{n} enter",
    "rose": "{n} rise",
    "stayed": "{n} stay",
    "fell": "{n} fall",
    "left": "{n} drop out",
}
ONE_TURNS = {"entered": "1 enters", "rose": "1 rises", "stayed": "1 stays", "fell": "1 falls", "left": "1 drops out"}

# An evening
PLAN_SHORT = {1: "Only 1 film is left to plan with.", 2: "Only {n} films are left to plan with."}
PLAN_BECAUSE = {1: "Because of {one}", 2: "Because of {one} and {two}"}

# Search by theme
THEME_MISSING = {
    "encoder": "The sentence encoder, which understands a theme in other words, is not on this machine yet.",
    "vectors": "The films of this set have not been read by the sentence encoder yet.",
    "library": "The package sentence-transformers, which understands a theme in other words, is not installed.",
}


def too_strict(names: list[str]) -> str:
    """What to do when filters leave no film; `names`: those of which each alone is in the way."""
    if not names:
        return _("No film passes your filters, and loosening one alone is not enough. Reset them to start again.")
    return _(
        "No film passes all your filters. Loosen one: {filters}.",
        filters=_(", or ").join(say(FILTER_NAMES)[name] for name in names),
    )


def stands_in(labels: Sequence[str]) -> str:
    """Which films stand in for one; "" where none has to."""
    *most, last = labels or [""]
    if most:
        return _("Few people rated it, so {films} stand in for it.", films=joined([*most, last]))
    return _("Few people rated it, so {films} stands in for it.", films=last) if last else ""


speak(__name__)
