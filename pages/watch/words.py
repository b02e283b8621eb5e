"""What Watch next says."""

from collections.abc import Sequence

from pages.ui.i18n import joined, say, speak

# The sequence
YOURS = "Your films"
YOURS_HELP = "In the order you watched them, the latest last. Move a film and the predictions follow."
SEARCH = "Add a film"
ALREADY = "already in your list"
FEW_RATED = "few people rated it, so a similar film stands in for it"
START = "Type a title, or start with what a real person watched, or with a ready-made list."
UP, DOWN, REMOVE = "Move {film} up", "Move {film} down", "Remove {film}"
UNDO, CLEAR, SHARE = "Undo", "Clear", "Share"
SHARE_HELP = {
    "everybody": "Whoever opens this link sees the same films in the same order.",
    "network": "The link works in this network only: there it opens the same films in the same order. Send a file "
    "to people elsewhere.",
    "computer": "The link works on this computer only: keep it as a bookmark. To share your films, send a file.",
}
STANDS_IN, ONE_STANDS_IN = (
    "Few people rated it, so {films} stand in for it.",
    "Few people rated it, so {films} stands in for it.",
)

# Ratings of one's own
LIKE, UNLIKE = "I liked {film}", "Take back that I liked {film}"
DISLIKE, UNDISLIKE = "I did not like {film}", "Take back that I did not like {film}"
RATINGS = "Ratings"
RATE_BY, THUMBS, STARS = "Rate your films with", "Thumbs", "Stars"
RATINGS_HELP = "Rate any film of your list, or none. One or two stars count as not liked."
RATINGS_READ = "{model} reads your ratings."
RATINGS_UNREAD = (
    "{model} learnt from what people watched, not from what they liked: it is not told about the films you dislike, "
    "and takes all others as they are."
)
DISLIKES_UNTOLD = {
    1: "{model} learnt from what people watched, not what they liked, so it is not told of the film you disliked.",
    2: "{model} learnt from what people watched, not what they liked, so it is not told of the {n} films you disliked.",
}
LIKES_UNREAD = "{model} does not read ratings: it knows which films you watched, not whether you liked them."
RATINGS_FORGET = "Clear all ratings"

# Predictions
NEXT = "What comes next"
HIDE_SEEN = "Hide watched"
ADD = "Add *{film} to your films*"
NEWCOMER = "Nothing watched yet, so this is what {model} shows to anybody. Add a film to make it yours."
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
TIMES_MEAN = (
    "So each is compared with their average: {times} means that {model} finds a film {times} as probable as that to be "
    "the next one you watch."
)
BARS = "The bars compare each film with the first."
NO_PROBABILITIES = "{model} ranks films, but gives no probabilities."
NONE_LEFT = "There is no film left to recommend. Remove a film from your list, or show the ones already watched."

# Filters, and films that are not wanted
WITHOUT, NO_GENRE = "None of these genres", "Nothing left out"
NO_NEWER = "Nothing newer than your last film"
NO_NEWER_HELP = (
    "Should somebody whose list ends in 2007 be shown a film of 2015? This keeps to what had come out by then."
)
DIVERSITY = "Variety"
DIVERSITY_HELP = (
    "Trades probable films for films unlike those above them: unlike by what the recommender has learnt, or where it "
    "keeps no vectors of films, by genre (maximal marginal relevance, Carbonell and Goldstein 1998). At 0% the "
    "ranking is the recommender's own."
)
FILTER_NAMES = {
    "years": "the years",
    "genres": "the genres you want",
    "without": "the genres you left out",
    "known": "how well known the films are",
    "no_newer": "nothing newer than your last film",
}
TOO_STRICT = "No film passes all your filters. Loosen one: {filters}."
OR = ", or "  # between filters
ALL_TOO_STRICT = "No film passes your filters, and loosening one alone is not enough. Reset them to start again."
MORE = "*More about {film}*"
NOT_FOR_ME = "Not for me"
UNWANTED, UNWANTED_HELP = (
    "Not for me · {n}",
    "These films are not recommended to you. Undo brings the last one back, too.",
)
TAKE_BACK = "Recommend {film} again"

# A real viewer, and files
SURPRISE = "Surprise me"
SURPRISE_HELP = "Fills the list with the films of a real person of this data set, drawn at random."
SURPRISE_ASK = {
    1: "This replaces the film of your list by those of a real person, drawn at random. Undo brings it back.",
    2: "This replaces the {n} films of your list by those of a real person, drawn at random. Undo brings them back.",
}
SURPRISE_YES = "Replace my films"
BY_NUMBER = "By number"
BY_NUMBER_HELP = "Fills the list with the films of one particular person of this data set."
PEOPLE_HERE = "{data} has {n:,} people. Films of your list are replaced; Undo brings them back."
LINK, FILES = "A link", "Files"
FILES_HELP = "Letterboxd reads its file at letterboxd.com/import. Dates and ratings stay empty."
FILMS_FILE, PICKS_FILE, JSON_FILE, LETTERBOXD_FILE = (
    "Your films, CSV",
    "Predictions, CSV",
    "Both, JSON",
    "For Letterboxd",
)
INSTEAD = "Until then, this shows what {model} recommends."

# A picture for friends
PICTURE = "A picture"
PICTURE_HELP = "Your latest films and the next five, made on this machine."
PICTURE_SAVE = "Save the picture"
PICTURE_ALT = "A picture of your latest films, and of the five that {model} recommends next: {films}"
PICTURE_YOURS, PICTURE_NEXT = "I watched", "and next comes"
PICTURE_MORE = "and {n} before"
PICTURE_BY = "Predicted by {model} with NextReel"

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
APPLY = "Change my list"
TURNS = {
    "entered": "enters at rank {after}, from {before}",
    "rose": "rises from rank {before} to {after}",
    "stayed": "stays at rank {after}",
    "fell": "falls from rank {before} to {after}",
    "left": "drops out, from rank {before} to {after}",
}
THOUGH_LESS, THOUGH_MORE = ", though less probable", ", though more probable"
NEWLY_FREE, NO_LONGER = "enters at rank {after}, as it can now be recommended", "drops out, from rank {before}"
TURN_COUNTS = {
    "entered": "{n} enter",
    "rose": "{n} rise",
    "stayed": "{n} stay",
    "fell": "{n} fall",
    "left": "{n} drop out",
}
ONE_TURNS = {"entered": "1 enters", "rose": "1 rises", "stayed": "1 stays", "fell": "1 falls", "left": "1 drops out"}
PROBABILITY_SHIFT = "{before} → {after}"

# An evening
PLAN = "Plan an evening"
PLAN_HELP = (
    "Films to watch one after another, each chosen as if you had just watched those before it, and no two of one "
    "series. The data does not say how long a film is, so an evening is counted in films."
)
PLAN_LENGTH = "How many films"
PLAN_TOGETHER = "Of all the sequences that {model} compared, this one is the most probable as a whole."
PLAN_BY_RANK = "{model} gives no probabilities, so each film is simply its top prediction after the one before."
PLAN_EMPTY = "No film is left to plan with. Take back a film, or loosen the filters."
PLAN_SHORT = {1: "Only 1 film is left to plan with.", 2: "Only {n} films are left to plan with."}
PLAN_BECAUSE = {1: "Because of {one}", 2: "Because of {one} and {two}"}
PLAN_FOR_ANYBODY = "One that {model} shows to anybody"
NOT_THIS = "*Not {film}: plan the rest again*"
PLAN_ADD = "Add all to my films"
PLAN_AFRESH = "Start over"

# Search by theme
THEME = "Find by theme"
THEME_HELP = (
    "Describe what you are in the mood for, with a decade if you like. Films are found by the tags that people gave "
    "them, by their genres and years, and a little by their titles."
)
THEME_LABEL = "Theme"
THEME_HINT = "rainy detective story"
THEME_WAKING = "Waking the sentence encoder. The first time takes some seconds."
THEME_NONE = "No tag, genre or title of this set has one of these words. Try others."
THEME_BY_WORDS = "Without it, a theme is looked up word by word."
THEME_MISSING = {
    "encoder": "The sentence encoder, which understands a theme in other words, is not on this machine yet.",
    "vectors": "The films of this set have not been read by the sentence encoder yet.",
    "library": "The package sentence-transformers, which understands a theme in other words, is not installed.",
}
THEME_FETCH = "Fetch it (90 MB, once)"
THEME_FETCHING, THEME_READING = "Fetching the sentence encoder", "Reading the tags of this set"

# Posters
POSTERS = "Posters"
POSTERS_HELP = (
    "Posters come from TMDB, with a key of your own; so do the plot and the cast, where you ask why a film is "
    "recommended. The key stays in this session and is forgotten with it."
)
POSTER_KEY = "TMDB key or read access token"
POSTER_KEY_HELP = "Free for personal use: themoviedb.org, Settings, API. A token begins with eyJ; a key has 32 letters."
POSTER_KEY_HINT = "Paste it and press Enter"
POSTER_STRANGE = "That is neither a TMDB token, which begins with eyJ, nor a key of 32 letters from 0 to f."
POSTER_REFUSED = "TMDB refuses this key. Check that it was copied whole."
POSTER_SLOW = "TMDB does not answer at the moment. Drawn cards stand in, and posters come once it does."
POSTER_ON = "Posters are on."
POSTER_FROM_HOST = "Posters are on, with the key of this server."
POSTER_FORGET = "Forget the key"


def too_strict(names: list[str]) -> str:
    """What to do when filters leave no film; `names`: those of which each alone is in the way."""
    if not names:
        return say(ALL_TOO_STRICT)
    return say(TOO_STRICT).format(filters=say(OR).join(say(FILTER_NAMES)[name] for name in names))


def stands_in(labels: Sequence[str]) -> str:
    """Which films stand in for one; "" where none has to."""
    *most, last = labels or [""]
    if most:
        return say(STANDS_IN).format(films=joined([*most, last]))
    return say(ONE_STANDS_IN).format(films=last) if last else ""


speak(__name__)
