"""What several pages say, in one place: plain English, ready to translate."""

import re

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
PARSING = "Reading the ratings"
RETRY = "Try again"
TYPE = "In a terminal, type:"
LOOK_AGAIN = "Look again"
NOT_SHOWN = "{n} files cannot be shown"
STRANGE_DATA = "The link names a data set that does not exist, so this shows the films that come with the app."
LOST = "{n} of your {all} films are not in {data}."

# The sequence
SEARCH_HINT = "Type a title"
NOTHING_FOUND = "No film of this set is called that. Try fewer letters, or another title."
TAKE = "Start with these *films: {example}*"
LATEST = "latest"

# Predictions
MODEL = "Recommender"
HOW_MANY = "How many"
VIEW, CARDS, LIST = "Show as", "Cards", "List"

# A film
LINKS = {"IMDb": "{film} on IMDb, in a new tab", "TMDB": "{film} on TMDB, in a new tab"}

# A real viewer
VIEWER = "A real viewer of {data}, who watched {n} films. These are the newest {kept}."
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


def genres(text: str) -> str:
    """ "Action|Sci-Fi" for reading: "Action, Sci-Fi"."""
    return text.replace("|", ", ")


def percent(probability: float) -> str:
    """ "4.2%"; very small ones as "<0.1%"."""
    return f"{probability:.1%}" if probability >= 0.001 else "<0.1%"


def viewer(watched: int, kept: int, data: str) -> str:
    """Whose films these are."""
    return (WHOLE_VIEWER if kept == watched else VIEWER).format(n=f"{watched:,}", kept=kept, data=data)


def was(before: int | None, rank: int) -> str:
    """The rank of a film before its list changed."""
    if before is None:
        return NEW_HERE
    return SAME_RANK if before == rank else WAS.format(n=before)


def ordinal(n: int) -> str:
    """A rank in a sentence: "1st", "22nd", "113th"."""
    last = {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n:,}{'th' if n % 100 in (11, 12, 13) else last}"


def plain(text: str) -> str:
    """Text with every sign escaped that Markdown would take as its own."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)
