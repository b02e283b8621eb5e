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
START = "Start with a ready-made list, or type a title above."
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
WAKING = "Waking the recommenders"
GETTING_READY = "Getting {model} ready for {data}. The first time takes a moment."
INSTEAD = "Until then, this shows what {model} recommends."

# Why a film is recommended
WHY = "Why these?"
WHY_TITLE = "Why {film}?"
WHY_CHOOSE = "Choose a film to see which of yours moved it"
WHY_STANDS = "It stands at place {rank} of what {model} expects next, with a chance of {chance}."
WHY_RANKED = "It stands at place {rank} of what {model} expects next."
WHY_RULED_OUT = "{model} rules it out."
WHY_NEWCOMER = "You have watched nothing yet, so this is what {model} expects of anybody."
WHY_UNMOVED = "None of your films moves it: {model} expects it of anybody."
WHY_LIFTED = {1: "Mostly because you watched {one}.", 2: "Mostly because you watched {one}, then {two}."}
WHY_DESPITE = "Your films speak against it. It would stand higher without {one}."
WHY_LOWERED = "Without {one} it would stand higher."
WHY_HOW = "Each of your films was left out in turn, and {model} was asked again. The longer the bar, the more it moved."
WHY_ALONE = "Your only film was left out, and {model} was asked as if for a newcomer."
WHY_NEWEST = "Only your newest {n} films were weighed."
WHY_REST = "{n} more of your films moved it less."
LIFTS, LOWERS, NO_MATTER = "lifts it", "holds it back", "makes no difference"
CHANCE_WITHOUT, PLACE_WITHOUT, OUT_WITHOUT = "{chance} without it", "place {rank} without it", "ruled out without it"
READ_ON = "Read about it on"
NEW_TAB = "opens in a new tab"

# What if
WHAT_IF = "What if …"
WHAT_IF_HELP = "Drop or move one of your films and see which predictions rise and fall. Your list stays as it is."
WHAT_IF_EMPTY = "Add a film first; then you can see what it changes."
WHAT_IF_FILM = "What if this film"
WHAT_IF_ACTION = "were"
DROPPED, MOVED = "Not watched", "Watched at another time"
TO_PLACE = "Place in your list, from 1"
SAME_PLACE = "It stands at place {place} already. Choose another place."
UNCHANGED = "Nothing changes among the first {k}: {model} expects the same films in the same order."
APPLY = "Make it so"
TURNS = {
    "entered": "came in at {after}, from {before}",
    "rose": "rose from {before} to {after}",
    "stayed": "stays at {after}",
    "fell": "fell from {before} to {after}",
    "left": "dropped out, from {before} to {after}",
}
NEWLY_FREE, NO_LONGER = "came in at {after}, as it can now be recommended", "dropped out, from {before}"
TURN_COUNTS = {
    "entered": "{n} came in",
    "rose": "{n} rose",
    "stayed": "{n} stayed",
    "fell": "{n} fell",
    "left": "{n} dropped out",
}
CHANCE_SHIFT = "{before} → {after}"

# An evening
PLAN = "Plan an evening"
PLAN_HELP = "Five films in a row, each chosen with those before it in mind, as if you had just watched them."
PLAN_TOGETHER = "Of all evenings that {model} looked at, these films are the likeliest together, in this order."
PLAN_BY_RANK = "{model} gives no probabilities, so each film is simply its first choice after the one before."
PLAN_EMPTY = "No film is left to plan with. Take back a film, or loosen the filters."
PLAN_SHORT = "Only {n} films are left to plan with."
NOT_THIS = "*Not {film}: plan the rest again*"
PLAN_ADD = "Add all to my films"
PLAN_AFRESH = "Start over"

# Search by theme
THEME = "Find by theme"
THEME_HELP = "Describe what you are in the mood for; films whose title, genres and tags come near are shown."
THEME_LABEL = "Theme"
THEME_HINT = "rainy detective story"
THEME_WAKING = "Waking the sentence encoder. The first time takes some seconds."
THEME_NONE = "No film shares a word with that. Try other words."
THEME_BY_WORDS = (
    "Films are compared word by word (TF-IDF), so only words that stand in a title, a genre or a tag count."
)
THEME_LACKING = {
    "encoder": "The sentence encoder, which understands a theme in other words, is not on this machine yet.",
    "vectors": "The films of this set have not been read by the sentence encoder yet.",
    "library": "The package sentence-transformers, which understands a theme in other words, is not installed.",
}
THEME_FETCH = "Fetch it (90 MB, once)"
THEME_FETCHING = "Fetching the sentence encoder"
CONTENT_LINE = "python -m recsys train content-sentence --dataset {data}"
LIBRARY_LINE = "pip install sentence-transformers"

# Posters
POSTERS = "Posters"
POSTERS_HELP = "Posters come from TMDB, with a key of your own. It stays in this session and is forgotten with it."
POSTER_KEY = "TMDB key or read access token"
POSTER_KEY_HELP = "Free for personal use: themoviedb.org, Settings, API. A token begins with eyJ; a key has 32 letters."
POSTER_KEY_HINT = "Paste it and press Enter"
POSTER_STRANGE = "That is neither a TMDB token, which begins with eyJ, nor a key of 32 letters from 0 to f."
POSTER_REFUSED = "TMDB refuses this key. Check that it was copied whole."
POSTER_SLOW = "TMDB does not answer at the moment. Drawn cards stand in, and posters come once it does."
POSTER_ON = "Posters are on."
POSTER_FROM_HOST = "Posters are on, with the key of this server."
POSTER_FORGET = "Forget the key"
ATTRIBUTION = "This product uses the TMDB API but is not endorsed or certified by TMDB."

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
