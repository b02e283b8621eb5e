"""What Watch next says."""

# The sequence
YOURS = "Your films"
YOURS_HELP = "In the order you watched them, the latest last. Move a film and the predictions follow."
SEARCH = "Add a film"
ALREADY = "already in your list"
START = "Type a title, or start with what a real person watched, or with a ready-made list."
UP, DOWN, REMOVE = "Move {film} up", "Move {film} down", "Remove {film}"
UNDO, CLEAR, SHARE = "Undo", "Clear", "Share"
SHARE_HELP = "Whoever opens this link sees the same films in the same order."

# Predictions
NEXT = "What comes next"
HIDE_SEEN = "Hide watched"
ADD = "Add *{film} to your films*"
NEWCOMER = "Nothing watched yet, so this is what {model} shows to anybody. Add a film to make it yours."
PROBABILITIES = (
    "The percentage is the probability that {model} gives to this film as the next one, if the next one is {among}; "
    "bars compare it with the first."
)
AMONG_ALL, AMONG_UNWATCHED, AMONG_ALLOWED = (
    "any film of this set",
    "a film that you have not watched",
    "a film that your filters allow",
)
NO_PROBABILITIES = "{model} ranks films without a probability."
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

# A real viewer, and files
SURPRISE, SURPRISE_AGAIN = "Surprise me with a real viewer", "*Take the films of another real viewer*"
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
INSTEAD = "Until then, this shows what {model} recommends."

# Why a film is recommended
WHY = "Why this film?"

# What if
WHAT_IF = "What if …"
WHAT_IF_HELP = "Drop or move one of your films and see which predictions rise and fall. Your list stays as it is."
WHAT_IF_EMPTY = "Add a film first; then you can see what it changes."
WHAT_IF_FILM = "What if this film"
WHAT_IF_ACTION = "were"
DROPPED, MOVED = "Not watched", "Watched at another time"
TO_POSITION = "Position in your list, from 1"
THERE_ALREADY = "It is at position {position} already. Choose another one."
UNCHANGED = "Nothing changes among the first {k}: {model} predicts the same films in the same order."
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
PROBABILITY_SHIFT = "{before} → {after}"

# An evening
PLAN = "Plan an evening"
PLAN_HELP = "Five films in a row, each chosen with those before it in mind, as if you had just watched them."
PLAN_TOGETHER = "Of all sequences that {model} compared, this one is the most probable as a whole."
PLAN_BY_RANK = "{model} gives no probabilities, so each film is simply its top prediction after the one before."
PLAN_EMPTY = "No film is left to plan with. Take back a film, or loosen the filters."
PLAN_SHORT = "Only {n} films are left to plan with."
NOT_THIS = "*Not {film}: plan the rest again*"
PLAN_ADD = "Add all to my films"
PLAN_AFRESH = "Start over"

# Search by theme
THEME = "Find by theme"
THEME_HELP = "Describe what you are in the mood for, and see the films whose title, genres and tags are most similar."
THEME_LABEL = "Theme"
THEME_HINT = "rainy detective story"
THEME_WAKING = "Waking the sentence encoder. The first time takes some seconds."
THEME_NONE = "No film shares a word with that. Try other words."
THEME_BY_WORDS = "Films are compared word by word (TF-IDF), so only words of a title, a genre or a tag count."
THEME_MISSING = {
    "encoder": "The sentence encoder, which understands a theme in other words, is not on this machine yet.",
    "vectors": "The films of this set have not been read by the sentence encoder yet.",
    "library": "The package sentence-transformers, which understands a theme in other words, is not installed.",
}
THEME_FETCH = "Fetch it (90 MB, once)"
THEME_FETCHING = "Fetching the sentence encoder"

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


def too_strict(names: list[str]) -> str:
    """What to do when filters leave no film; `names`: those of which each alone is in the way."""
    if not names:
        return ALL_TOO_STRICT
    return TOO_STRICT.format(filters=", or ".join(FILTER_NAMES[name] for name in names))
