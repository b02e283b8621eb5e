"""Every sentence that the app shows, in one place: plain English, ready to translate."""

import re
from html import escape
from textwrap import wrap

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
FETCHING = "Fetching MovieLens 100K. This happens once."
PARSING = "Reading the ratings"
RETRY = "Try again"
TYPE = "In a terminal, type:"
LOOK_AGAIN = "Look again"
STRANGE_DATA = "The link names a data set that does not exist, so this shows MovieLens 100K."
LOST = "{n} of your {all} films are not in {data}."

# The sequence
YOURS = "Your films"
YOURS_HELP = "In the order you watched them, the latest last. Move a film and the predictions follow."
SEARCH = "Add a film"
SEARCH_HINT = "Type a title"
NOTHING_FOUND = "No film of this set is called that. Try fewer letters, or another title."
ALREADY = "already in your list"
START = "Type a title, or start with what a real person watched, or with a ready-made list."
TAKE = "Start with these *films: {example}*"
UP, DOWN, REMOVE = "Move {film} up", "Move {film} down", "Remove {film}"
UNDO, CLEAR, SHARE = "Undo", "Clear", "Share"
SHARE_HELP = "Whoever opens this link sees the same films in the same order."
LATEST = "latest"

# Predictions
NEXT = "What comes next"
MODEL = "Recommender"
HOW_MANY = "How many"
HIDE_SEEN = "Hide watched"
VIEW, CARDS, LIST = "Show as", "Cards", "List"
ADD = "Add *{film} to your films*"
NEWCOMER = "Nothing watched yet, so this is what {model} shows to anybody. Add a film to make it yours."
CHANCES = "The percentage is how sure {model} is that this very film comes next; bars compare it with the first."
NO_CHANCES = "{model} ranks films without a probability."
NONE_LEFT = "There is no film left to recommend. Remove a film from your list, or show the ones already watched."

# Filters, and films that are not wanted
FILTERS, FILTERS_ON = "Filters", "Filters · {n}"
YEARS, GENRES, WITHOUT = "Made between", "Only these genres", "None of these genres"
ANY_GENRE, NO_GENRE = "Any genre", "Nothing left out"
KNOWN = "How well known"
KNOWN_HELP = (
    "By how many films of this set are watched more often. Mainstream: the top 5 % of the films. Well known: the top "
    "20 %. Lesser known: all but those. Hidden gems: the less watched half."
)
KNOWN_STEPS = {
    "mainstream": "Mainstream",
    "well known": "Well known",
    "any": "Any",
    "lesser known": "Lesser known",
    "hidden gems": "Hidden gems",
}
NO_NEWER = "Nothing newer than your last film"
NO_NEWER_HELP = (
    "Should somebody whose list ends in 2007 be shown a film of 2015? This keeps to what had come out by then."
)
DIVERSITY = "Variety"
DIVERSITY_HELP = (
    "Trades likely films for films of other genres than those above them (maximal marginal relevance, Carbonell and "
    "Goldstein 1998). At 0 the order is the recommender's own."
)
RESET = "Reset filters"
FILTER_NAMES = {
    "years": "the years",
    "genres": "the genres you want",
    "without": "the genres you left out",
    "known": "how well known the films are",
    "no_newer": "nothing newer than your last film",
}
TOO_STRICT = "No film passes all your filters. Loosen one: {filters}."
ALL_TOO_STRICT = "No film passes your filters, and loosening one alone is not enough. Reset them to start again."
MORE = "*More about {film}*"
NOT_FOR_ME = "Not for me"
UNWANTED, UNWANTED_HELP = (
    "Not for me · {n}",
    "These films are not recommended to you. Undo brings the last one back, too.",
)
TAKE_BACK = "Recommend {film} again"
LINKS = {"IMDb": "{film} on IMDb, in a new tab", "TMDB": "{film} on TMDB, in a new tab"}

# A real viewer, and files
SURPRISE, SURPRISE_AGAIN = "Surprise me with a real viewer", "A real viewer"
VIEWER = "A real viewer of {data}, who watched {n} films. These are the newest {kept}."
WHOLE_VIEWER = "A real viewer of {data}, and all {n} films that they watched."
LINK, FILES = "A link", "Files"
FILES_HELP = (
    "Letterboxd reads its file at letterboxd.com/import. Dates and ratings stay empty: a list like this has none."
)
FILMS_FILE, PICKS_FILE, JSON_FILE, LETTERBOXD_FILE = (
    "Your films, CSV",
    "Predictions, CSV",
    "Both, JSON",
    "For Letterboxd",
)
WAKING = "Waking the recommenders"
GETTING_READY = "Getting the recommender ready. The first time takes a moment."
INSTEAD = "Until then, this shows what {model} recommends."

# Compare
SAME_FILMS = "The same films, oldest first"
EDIT = "Change the films"
CHOOSE = "Recommenders"
CHOOSE_HINT = "Choose two or more"
CHOOSE_HELP = "Up to {n} at a time. Type to find one: there are simple counts, neighbours, factorisations and networks."
FIRST_ADD = "There is nothing to compare yet. Take a ready-made list, or build your own first."
FIRST_CHOOSE = "Choose at least two recommenders to compare."
IN_LISTS = "in {n} of {all} lists"
ONLY_HERE = "only here"
AGREEMENT = "How far they agree"
CLOSEST = "Closest: {one} and {other} share {n} of {k} films."
NOWHERE, EVERYWHERE = "No film is in every list.", "In every list: {films}."
SHARED_TABLE = "How many films each two lists share"

# Evaluation
PROTOCOL = "Protocol"
PROTOCOL_NAMES = {
    "full": "All films",
    "popularity-100": "100 popular films",
    "uniform-100": "100 random films",
    "time": "By date",
}
PROTOCOL_MEANING = {
    "full": "Everybody's last film is hidden and has to be found among all films of the set. "
    "Films already watched do not compete; a tie counts against the recommender.",
    "popularity-100": "Everybody's last film is hidden and has to be found among 100 others, drawn by popularity, the "
    "same for every recommender. An easier task, as in the BERT4Rec paper: do not compare its figures with those over "
    "all films.",
    "uniform-100": "Everybody's last film is hidden and has to be found among 100 others, drawn evenly: easier still.",
    "time": "What people watched after a date is hidden and has to be found from what they watched before it.",
}
NO_RESULTS = "No recommender has been measured yet. To measure one, type in a terminal:"
EVALUATE_LINE = "python -m recsys evaluate popular --dataset ml-100k --protocol full"
LEADERBOARD = "Leaderboard"
LEADERBOARD_HELP = "Measured here: the mean over the trained seeds. Higher is better in every column."
COLUMNS = {
    "title": "Recommender",
    "family": "Family",
    "seeds": "Seeds",
    "date": "Measured",
    "rules": "Protocol",
    "source": "Source",
}
METRIC = "Metric"
METRIC_MEANING = {
    "hr": "HR@k is the share of people whose next film is among the first k.",
    "ndcg": "NDCG@k is the share of people whose next film is among the first k, where a lower place counts less: "
    "1 for the first, 0.5 for the third, 0.29 for the tenth.",
    "mrr": "MRR is one over the rank of the next film, averaged over people.",
}
OURS, PUBLISHED = "Measured here", "Published"
PUBLISHED_TITLE = "Published figures"
PUBLISHED_HELP = "From papers and public repositories, not measured by us. The table says how the rules of each differ."
SIDE_BY_SIDE = "Side by side"
CHART = "{metric} of every recommender, measured here and published"
CURVE = "How it learnt"
CURVE_HELP = "Epoch by epoch: the loss in training, and NDCG@10 on the last film but one, which decides when to stop."
LOSS, VALIDATION, EPOCH = "Training loss", "Validation NDCG@10", "Epoch"
NO_CURVE = "No recommender has kept a training log on {data} yet. To train one, type in a terminal:"
TRAIN_LINE = "python -m recsys train {variant} --dataset {data}"
DOWNLOAD = "Download as CSV"


def genres(text: str) -> str:
    """ "Action|Sci-Fi" for reading: "Action, Sci-Fi"."""
    return text.replace("|", ", ")


def percent(probability: float) -> str:
    """ "4.2%"; very small ones as "<0.1%"."""
    return f"{probability:.1%}" if probability >= 0.001 else "<0.1%"


def too_strict(names: list[str]) -> str:
    """What to do when filters leave no film; `names`: those of which each alone is in the way."""
    if not names:
        return ALL_TOO_STRICT
    return TOO_STRICT.format(filters=", or ".join(FILTER_NAMES[name] for name in names))


def viewer(watched: int, kept: int, data: str) -> str:
    """Whose films these are."""
    return (WHOLE_VIEWER if kept == watched else VIEWER).format(n=f"{watched:,}", kept=kept, data=data)


def everywhere(films: list[str]) -> str:
    """Which films stand in every list."""
    return EVERYWHERE.format(films=", ".join(films)) if films else NOWHERE


def bar_label(title: str, whose: str) -> str:
    """The name of a bar, in lines short enough for a phone; ours in bold."""
    lines = "<br>".join(wrap(escape(title, quote=False), 22))
    return f"<b>{lines}</b>" if whose == OURS else lines


def plain(text: str) -> str:
    """Text with every sign escaped that Markdown would take as its own."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)
