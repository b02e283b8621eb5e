"""Every sentence that the app shows, in one place: plain English, ready to translate."""

import re
from html import escape

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
SURPRISE, SURPRISE_AGAIN = "Surprise me with a real viewer", "*Take the films of another real viewer*"
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

# Why a film is recommended
WHY = "Why this film?"
WHY_TITLE = "Why {film}?"
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

# What if
WHAT_IF = "What if …"
WHAT_IF_HELP = "Drop or move one of your films and see which predictions rise and fall. Your list stays as it is."
WHAT_IF_EMPTY = "Add a film first; then you can see what it changes."
WHAT_IF_FILM = "What if this film"
WHAT_IF_ACTION = "were"
DROPPED, MOVED = "Not watched", "Watched at another time"
TO_PLACE = "Place in your list, from 1"
THERE_ALREADY = "It stands at place {place} already. Choose another place."
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
SAME_FILMS = "Your films, oldest first"
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
NAMED = 4  # names in a sentence, at most
AND = "{most} and {last}"
NOWHERE, EVERYWHERE = "No film is in every list.", "In every list: {films}."
SHARED_TABLE = "How many films each two lists share"
ONLY_ONE_SHOWS = "Shown by one alone"
TABS = ("The lists", "The rank of any film", "What order does", "Hide one of yours")
LISTS_FILE, OVERLAP_FILE = "Lists as CSV", "Overlap as CSV"
SILENT = "Without {models}: not trained on these films, or out of order. The lists say what to do."
RECOMMENDER, ITS_PLACE, CHANCE = "Recommender", "Place in its list", "Probability"

# Compare: the rank of any film
SEEK = "Which film?"
SEEK_HELP = "Type any title to see how near to the top each recommender puts it. The bar is full for the first place "
SEEK_HELP += "and empty for the last, and each tenfold rank takes an equal step."
SEEK_WATCHED = "You have watched {film}, so no list shows it. This is its place if watched films counted too."
SEEK_LOST = "{film} is not in {data}. Type another title."
OF = "of {n}"
RULED_OUT = "not in its list"
RANKS_OF = "The rank of {film} in each recommender's list"

# Compare: what order does
ORDER_HELP = (
    "The same films, once latest first and {n} times shuffled. 1 means the very same list, 0 no film in common; "
)
ORDER_HELP += "the top of the list counts most (rank-biased overlap, p = {p})."
ONE_HAS_NO_ORDER = "One film has no order. Add a second one, or see the demonstration below."
ORDER_TABLE = "How alike each recommender's lists are when the same films come in another order"
ORDER_LEGEND = ("shuffled", "latest first", "mean")
ALIKE, KEPT = "Overlap, from 0 to 1", "Films kept"
MEAN_KEPT = "{kept} of {k}"
BLIND_ONE = "{models} gives the same list whatever the order: it knows what you watched, not when."
BLIND_MANY = "{models} give the same list whatever the order: they know what you watched, not when."
MOST_MOVED = "{model} minds the order most: of its {k} films, another order keeps {kept} on average."
WHICH_ORDER = "The lists for another order"
ORDER_SLIDER = "Drag to another order of the same films"
AS_WATCHED, BACKWARDS, SHUFFLED = "As watched", "Latest first", "Shuffle {n}"
NEW_HERE, SAME_PLACE, WAS = "new", "same place", "was {n}"
MOODS = "The pet shop: why order matters"
MOODS_STORY = (
    "Somebody bought at the **pet shop**, the supermarket, the metro, the **pet shop**, the café, the supermarket and "
    "the cinema: is it time to recommend the pet shop?",
    "In this order, yes: more purchases have passed since the last visit than between the first two; right after a "
    "visit, no; and from the bare set of shops nobody can tell.",
    "Here are two evenings with the same films: whoever ignores the order must answer both alike, and whoever reads it "
    "can tell which mood came last.",
)
ENDS_IN = "Last: {mood}"
TAKE_ORDER = "Take as your films: {mood} last"
SHARED_OF = "{n} of {k} the same"
MOODS_TABLE = "What each recommender answers to the same films in two orders"
NO_MOODS = "This set of films lacks those of the demonstration."

# Compare: hide one of your films
HIDE = "Hide this film"
HIDE_HELP = (
    "Each recommender is told the films you watched before it and nothing else: what came later was not known yet."
)
HIDE_NEEDS_TWO = "Add a second film: to hide one, there must be another before it."
TOLD = "Told"
THEY_SHOW = "{models} would have shown you {film} among the first {k}."
SO_MANY_SHOW = "**{n} of {all}** recommenders would have shown you {film} among the first {k}."
NONE_SHOWS = "Nobody here would have shown you {film} among the first {k}."
FOUND_TAG = "found"
ASK_ALL = "Ask all {n} that are trained"
ASKING = "Asking {model}: {n} of {all}"
STOP = "Stop"
HIDE_ALL = "Do it for all of your films"
HIDE_ALL_TABLE = "The rank of each of your films, hidden in turn, in each recommender's list"
HIDE_ALL_HELP = (
    "Each film is hidden in turn and looked for with those before it. The figure is its rank; the stronger the "
)
HIDE_ALL_HELP += "shade, the nearer to the top."
HIDE_NEWEST = "Your newest {n} films are asked for."
FILM, FOUND_ROW, MRR_ROW = "Film", "Among the first {k}", "Mean of 1 / rank"
PROVES_ONE = "One film proves nothing: it is found or it is not."
PROVES = (
    "{n} films prove little: a single one, found or not, moves a share by {points:.0f} points. The Evaluation page "
)
PROVES += (
    "asks hundreds of people or more. And where the films are those of somebody in the data, the recommenders may "
)
PROVES += "have learnt from them."

# Evaluation
PROTOCOL = "Protocol"
PROTOCOL_NAMES = {  # in the order in which they are shown
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
SECTION = "What to show"
SECTIONS = {
    "leaderboard": "Leaderboard",
    "protocols": "Protocols",
    "measures": "Trade-offs",
    "curves": "Learning",
    "slices": "For whom",
    "calibration": "Confidence",
    "pair": "Two of them",
    "person": "One person",
    "studies": "Studies",
}
METRIC = "Metric"
METRIC_MEANING = {
    "hr": "HR@k is the share of people whose next film is among the first k.",
    "ndcg": "NDCG@k is the share of people whose next film is among the first k, where a lower place counts less: "
    "1 for the first, 0.5 for the third, 0.29 for the tenth.",
    "mrr": "MRR is one over the rank of the next film, averaged over people.",
}
DOWNLOAD = "Download as CSV"

# Evaluation: the leaderboard
LEADERBOARD = "Leaderboard"
LEADERBOARD_ALT = "{metric} of every recommender, the best first, measured here and published"
LEADERBOARD_HELP = (
    "The bar is the 95 % interval over people: where the figure would fall for other people like these. Figures are "
    "means over the trained seeds."
)
PUBLISHED_NOTE = "Letters tell the rules of published figures: All figures has them in words, with the sources."
NOT_TOLD_APART = (
    "≈ marks those that cannot be told from the best here: paired randomisation test on the same people, corrected for "
    "all comparisons (Holm), p of 0.05 and more."
)
TESTING = "Testing which differences are more than chance"
FAMILIES, ALL_FAMILIES = "Families", "All families"
VIEW_BOARD, VIEW_FIGURES = "Intervals", "All figures"
PLACE, INTERVAL, AGAINST_BEST = "Place", "95 % interval", "Against the best"
THE_BEST, LIKE_THE_BEST, BEHIND = "the best", "may be chance, p = {p:.2f}", "{by:.4f} behind"
LIKE_IN_WORDS = "cannot be told from the best"
FROM_TO = "95 % interval from {low:.4f} to {high:.4f}"
NO_INTERVAL = "no interval"
NONE_OF_FAMILY = "No recommender of these families has been measured here. Choose others, or none to see all."
COLUMNS = {
    "title": "Recommender",
    "family": "Family",
    "seeds": "Seeds",
    "date": "Measured",
    "rules": "Protocol",
    "source": "Source",
}
PUBLISHED = "Published"
PUBLISHED_TITLE = "Published figures"
PUBLISHED_HELP = "From papers and public repositories, not measured by us. The table says how the rules of each differ."
NOTHING_OF_OURS = "Nothing that can be read has been measured under this protocol yet. To measure, type in a terminal:"
EVALUATE_ALL_LINE = "python -m recsys evaluate all --dataset {data} --protocol {protocol}"

# Evaluation: protocols
PROTOCOLS = "Under which protocols"
PROTOCOLS_HELP = (
    "A recommender's place under each protocol, among those measured under all that are chosen. Lines that cross are "
    "recommenders that change places."
)
SAMPLED_MISLEADS = (
    "Where only 100 other films compete, a rank of 1,000 among all films can still be a top ten, so the figures are "
    "far higher and say little about the first places that people see. Krichene and Rendle (KDD 2020) prove that such "
    "sampled metrics can order recommenders differently from the metrics over all films, even on average, which is why "
    "the leaderboard ranks every film."
)
SWAPS = "“{other}” turns round the order of {share} of all pairs of recommenders, compared with “{first}”."
CHOOSE_TWO_PROTOCOLS = "Choose at least two protocols."
ONE_PROTOCOL = "Results on {data} exist under one protocol only, so there is nothing to set beside it."
NONE_IN_COMMON = "No recommender has been measured under all of these protocols. Choose fewer."
PLACES_ALT = "Places of {n} recommenders by {metric} under {protocols}"

# Evaluation: trade-offs
ACROSS, UPWARDS = "Across", "Upwards"
MEASURES = {
    "coverage@10": "Coverage of the catalogue",
    "novelty@10": "Novelty, bits",
    "diversity@10": "Diversity of genres in a list",
    "popularity@10": "Mean popularity of what is shown",
    "gini@10": "Concentration (Gini)",
    "calibration error": "Calibration error",
}
MEASURES_HELP = (
    "Being right is one thing, showing more than the same few films another. Names stand where there is room; point at "
    "a mark for the others."
)
MEASURES_ALT = "{y} against {x} for {n} recommenders, a colour and a shape for each family"
MEASURE_MEANING = {
    "coverage@10": "Coverage: the share of all films that stand in anybody's top ten.",
    "novelty@10": "Novelty: how rarely the films of a top ten were watched, in bits; one more is half as often.",
    "diversity@10": "Diversity: how little the films of a top ten share genres, from 0 to 1.",
    "popularity@10": "Mean popularity: how often the films of a top ten were watched in training.",
    "gini@10": "Concentration: 0 if all films are shown equally often, 1 if one film takes every place.",
    "calibration error": "Calibration error: how far probabilities lie from how often they come true; lower is better.",
}

# Evaluation: learning
RECOMMENDERS, CHOOSE_SOME = "Recommenders", "Choose at least one recommender."
BY, BY_EPOCH, BY_TIME = "Against", "Epochs", "Seconds"
CURVE_HELP = (
    "The loss in training, and NDCG@10 on the last film but one, which decides when to stop. Losses of different "
    "recommenders are different quantities: compare their shapes, not their heights."
)
LOSS, VALIDATION, EPOCH, SECONDS = "Training loss", "Validation NDCG@10", "Epoch", "Seconds of training"
CURVES_ALT = "{title} of {names}"
NO_CURVE = "No recommender has kept a training log on {data} yet. To train one, type in a terminal:"
TRAIN_LINE = "python -m recsys train {variant} --dataset {data}"
COST = "What quality costs"
COST_HELP = (
    "Filled marks: seconds of one logged training. Open marks, for recommenders without a log: seconds of the longest "
    "evaluation, which is loading, fitting where it was due, and ranking everybody. The axis is logarithmic; the "
    "machines may differ."
)
COST_ALT = "{metric} of {n} recommenders against seconds on a logarithmic axis"
COST_SECONDS = "Seconds, one seed"

# Evaluation: slices
SLICING = "Split people by"
SLICINGS = {
    "history length": "Films watched before",
    "popularity of the film": "Popularity of the hidden film",
    "genre": "Genre of the hidden film",
    "decade": "Decade of the hidden film",
}
SLICES_HELP = "The same figure for groups of people; n is how many are in a group, the bar the 95 % interval over them."
SLICES_ALT = "{metric} of {names}, by: {slicing}"
SLICING_NOW = "Drawing people anew, group by group, for the intervals"
PEOPLE = "n = {n:,}"
OTHER_DATA = (
    "The results were measured on another form of {data} than the one on this machine, so they cannot be read person "
    "by person. To measure anew, type in a terminal:"
)

# Evaluation: calibration
SURE = "How sure, and how often right"
SURE_HELP = (
    "Each mark is a tenth of all recommended films, by the probability given to them. On the line, 20 % means right in "
    "one case of five; below it the recommender is too sure of itself. Both axes are logarithmic."
)
BY_RANK = "Too sure by rank"
BY_RANK_HELP = (
    "How many times surer than right, at each place of the list; 1 is honest. Training with few negatives makes "
    "recommenders too sure, as Petrov and Macdonald show (gSASRec, arXiv:2308.07192)."
)
PREDICTED, OBSERVED, TIMES, RANK = "Predicted probability", "Share that came true", "Predicted over observed", "Rank"
HONEST = "honest"
SURE_ALT = "Share of recommended films that came true against their predicted probability, for {names}"
BY_RANK_ALT = "Predicted probability over the share that came true, by rank, for {names}"
NO_CALIBRATION = (
    "No result here holds probabilities. They are measured where all films are ranked, for recommenders whose scores "
    "are a probability."
)

# Evaluation: two recommenders
ONE, OTHER = "One", "The other"
DIFFERENCE, P_VALUE, P_CORRECTED = "Difference in {metric}", "p", "p, corrected"
DIFFERENCE_RANGE = "95 % interval from {low:+.4f} to {high:+.4f}"
P_HELP = "How often chance alone would show a difference as large, were it chance which recommender is which."
P_CORRECTED_HELP = "p times the {n} pairs that could be chosen here (Bonferroni), for whoever tries all of them."
VERDICT = "On the same {n:,} people, {one} {verdict} {other}."
BETTER, WORSE, EVEN = "is better than", "is worse than", "cannot be told from"
DUEL = "Who puts the hidden film higher"
WINS = "{one} for {a:,} people, {other} for {b:,}, even for {even:,}."
MARGINS = {-4: "≥ 8×", -3: "4–8×", -2: "2–4×", -1: "< 2×", 0: "even", 1: "< 2×", 2: "2–4×", 3: "4–8×", 4: "≥ 8×"}
DUEL_HELP = "A rank of 5 against 10 is 2× higher, as is 50 against 100. Of several seeds it is the (geometric) mean."
DUEL_ALT = "On how many people {one} or {other} puts the hidden film higher, and by how much"
N_PEOPLE = "People"
TWO_DIFFERENT = "Choose two different recommenders."
ONE_MODEL = "Only one recommender has been measured here. Two are needed."

# Evaluation: one person
PERSON, SOMEBODY = "Test person", "Somebody else"
PERSON_OF = "{n:,} people took part in the test. This one is user {id} of the ratings, with {films} films before it."
HIDDEN_FILM = "The film that was hidden"
PAST = "Watched before"
PAST_LATEST = "Watched before, the latest {n}"
WHO_FOUND = "{n} of {all} recommenders found it in their first ten: {names}."
NOBODY_FOUND = "None of {all} recommenders found it in their first ten."
PERSON_RANKS = "Where each recommender put it"
PERSON_HELP = (
    "Rank among the films that competed: the median over seeds, the bar from the best seed to the worst. Left of the "
    "dotted line are the first ten. The axis is logarithmic."
)
PERSON_ALT = "Rank of {film} with each of {n} recommenders"

# Evaluation: studies
STUDY = "Study"
STUDY_ALT = "{title}: {y} by {x}"
STUDY_TABLE = "All figures of the study"

# Inside the model
INSIDE = "Inside the model"
INSIDE_HELP = (
    "What the network does with your films: what it looks at, what it would put into a gap, what it finds alike."
)
INSIDE_FIRST_ADD = "The network needs films to look at. Take a ready-made list, or build your own first."
INSIDE_SECTION = "What to look at"
HOW_IT_WORKS, ATTENTION, BLANKS, MAP = "How it works", "Attention", "Fill a blank", "Map"

STEP_MASK = "Hide"
STEP_MASK_TEXT = (
    "BERT4Rec learns as one learns a language from cloze tests: some films of a history are covered by `[mask]`, "
    "and the network guesses them from what stands **before and after**. To ask what comes next, a `[mask]` is put "
    "behind your films."
)
TO_LEARN, TO_ASK = "To learn, with your films", "To ask"
COVERED = "Covered here: {films}."
STEP_EMBED = "Turn into numbers"
STEP_EMBED_TEXT = (
    "Every film, and `[mask]` too, is a list of {n} numbers that training has found; every place in the order is "
    "another. **Their sum** goes into the network. Each row below is one film: teal is above zero, orange below."
)
STEP_EMBED_ALONE = (
    "Every film, and `[mask]` too, is a list of {n} numbers that training has found. They go into the network. Each "
    "row is one film: teal is above zero, orange below. Where a film stands counts in the next step."
)
STEP_EMBED_EXAMPLE = (
    "The first number of `[mask]`: {film:+.2f} for itself and {place:+.2f} for its place make {sum:+.2f}."
)
STEP_ATTEND = "Look at the others"
STEP_ATTEND_TEXT = (
    "Every place asks how much each other matters to it and takes that share of its numbers. {layers} layers with "
    "{heads} such looks each do so in turn. This is where `[mask]` looks, on average over them all; the shares of "
    "all places add up to 100%."
)
STEP_ATTEND_FADES = (
    "The further away a film stands, the less each look gives it; how fast that fades, training has found too."
)
STEP_ATTEND_ITSELF = "The rest, {share}, stays with `[mask]` itself."
STEP_ATTEND_REST = "The rest, {share}, goes to other films and to `[mask]` itself."
STEP_SOFTMAX = "Compare and choose"
STEP_SOFTMAX_TEXT = (
    "What `[mask]` has become is compared with the numbers of all {n:,} films, which gives each a **score**. The "
    "softmax takes e to the power of every score and divides by the sum of all: the scores become "
    "**probabilities** that add up to 100%. Films that you have already watched compete here too; the other pages "
    "leave them out."
)
SCORE_NOTE = "score {score:.2f}, e^score {weight:.0%} of the first"
SCORE_NOTE_WATCHED = "score {score:.2f}, e^score {weight:.0%} of the first, already watched"
EMBEDDING_CHART = "The numbers that stand for each of the newest films and for [mask], as colours"
NUMBER = "Number"

LAYER, HEAD, ALL_OF_THEM = "Layer", "Head", "All"
ROWS_LOOK = "Each row looks at the columns. The stronger the colour, the more of its attention a film gives to another."
MASK_ROW = "The framed row is `[mask]`, which asks for your next film."
LAST_ROW = "The framed row is your newest film, which asks for the next one. Nobody can look at later films."
NEWEST_SHOWN = "Only the newest {n} of {all} are drawn; the network reads them all."
HEAT_CHART = (
    "How much each of your films looks at each other in {model}; what asks for the next film looks most at {film}"
)
HEAT_HOVER = "<b>%{customdata[0]}</b><br>looks at <b>%{customdata[1]}</b><br>with %{z:.1%} of its attention"
MASK_LOOKS_AT, NEWEST_LOOKS_AT = "What the mask looks at", "What the newest film looks at"
NOT_INFLUENCE = (
    "Attention is not influence. It says what a layer reads; how the answer would change without a film, only leaving "
    "the film out can tell."
)
INFLUENCE = "Influence: leave each film out and look at the first prediction again"
BY_PLACE = "How far back it looks"
BY_PLACE_HELP = (
    "Averaged over {n} people of {data}, drawn at random: from the newest film of their history to the 30th."
)
BY_PLACE_START = "Average over {n} people"
BY_PLACE_PROGRESS = "Reading histories: {done} of {all} people"
BY_PLACE_CHART = "Mean attention by distance: {share} goes to the newest film"
DISTANCE, MEAN_ATTENTION = "Films back from the next one", "Mean attention"
HEAD_N, LAYER_N = "Head {n}", "Layer {n}"

BLANKS_HELP = (
    "Only a network that was trained by covering films can do this: put `[mask]` anywhere, and it says what "
    "belongs there, from what you watched before **and after**. SASRec and the others read from the first film to "
    "the last and can only continue."
)
HIDE_FILMS, HIDE_FILMS_HINT = "Cover films", "None is covered"
PUT_BLANKS, PUT_BLANKS_HINT = "Put a blank into a gap", "No gap is filled"
GAP_START, GAP_END, GAP = "before {film}", "after {film}", "between {before} and {after}"
HIDE_LISTED = "Hide films of your list"
CHOOSE_BLANK = "Cover a film of your list, or put a blank into a gap."
BLANK_N = "Blank at place {n}"
BLANK_FOUND = "You watched {film} here: rank {rank:,} with {probability}."
BLANK_FOUND_PLAIN = "You watched {film} here: rank {rank:,}."
BLANK_TWICE = "You watched {film} here. It stands elsewhere in your list, so it is not offered."
BLANK_FREE = "Nobody knows what belongs here."
ONLY_NEWEST = "The network reads {n} places at most, so only your newest films can be covered."

MAP_HELP = (
    "Every film is a list of {n} numbers to {model}. The map shows the films by the two directions in which these "
    "numbers differ most. Search for a film, or click a point."
)
MAP_SHARE = (
    "The picture keeps {share} of the differences ({x} from left to right, {y} upwards); the neighbours use them all."
)
MAP_UMAP = "UMAP keeps neighbours together; distances across the map mean little. The neighbours use all numbers."
MAP_CHART = "A map of {n:,} films as {model} sees them, coloured by {colour}; {film} is marked"
MAP_PART = "The {n:,} films watched most are drawn, of {all:,}."
PROJECTION, COLOUR_BY = "Projection", "Colour by"
COLOURS = {"genre": "Genre", "year": "Year", "views": "Popularity"}
OTHER_GENRES, YOUR_FILMS_ON_MAP, CHOSEN_ON_MAP, NEAR_ON_MAP = (
    "Other genres",
    "Your films",
    "Chosen film",
    "Its neighbours",
)
NO_YEAR = "no year"
FIND_ON_MAP = "Find a film"
NEAREST = "Nearest to {film}"
NEAREST_HELP = (
    "By the angle between their numbers, all of them: 1.00 is the same direction, 0.00 has nothing in common."
)
MAP_WATCHED = "watched {n:,} times"


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


def protocol_name(protocol: str) -> str:
    """A protocol for reading."""
    return PROTOCOL_NAMES.get(protocol, protocol)


def protocol_place(protocol: str) -> int:
    """Where a protocol stands in a row of them; one without a name comes last."""
    known = list(PROTOCOL_NAMES)
    return known.index(protocol) if protocol in known else len(known)


def metric_name(metric: str) -> str:
    """ "ndcg@10" for reading: "NDCG@10"."""
    return MEASURES.get(metric, metric.upper())


def listed(names: list[str]) -> str:
    """Names in bold Markdown, as some hold a comma: **A**, **B** and **C**."""
    *most, last = (f"**{plain(name)}**" for name in names)
    return AND.format(most=", ".join(most), last=last) if most else last


def who_found(finders: list[str], n_asked: int, film: str, k: int) -> str:
    """Who would have shown a film, as Markdown: by name, or only how many where the names would fill lines."""
    sentence = NONE_SHOWS if not finders else THEY_SHOW if len(finders) <= NAMED else SO_MANY_SHOW
    named = listed(finders) if finders else ""
    return sentence.format(models=named, n=len(finders), all=n_asked, film=plain(film), k=k)


def mean(number: float) -> str:
    """A mean count with one digit, and none where it is whole: "4.5", "10"."""
    return f"{number:.1f}".removesuffix(".0")


def was(before: int | None, rank: int) -> str:
    """Where a film stood before its list changed."""
    if before is None:
        return NEW_HERE
    return SAME_PLACE if before == rank else WAS.format(n=before)


def order_name(place: int) -> str:
    """What an order of the same films is called: 0 as watched, 1 latest first, then shuffles."""
    return (AS_WATCHED, BACKWARDS)[place] if place < 2 else SHUFFLED.format(n=place - 1)


def in_chart(text: str) -> str:
    """Text for a chart, where a few HTML tags mean something: as it is."""
    return escape(text, quote=False)


def plain(text: str) -> str:
    """Text with every sign escaped that Markdown would take as its own."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)
