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

# Inside the model
INSIDE = "Inside the model"
INSIDE_HELP = (
    "What the network does with your films: what it looks at, what it would put into a gap, what it finds alike."
)
INSIDE_FIRST_ADD = "The network needs films to look at. Take a ready-made list, or build your own first."
YOURS_IN_ORDER = "Your films, oldest first"
SECTION = "What to look at"
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
STEP_EMBED_EXAMPLE = (
    "The first number of `[mask]`: {film:+.2f} for itself and {place:+.2f} for its place make {sum:+.2f}."
)
STEP_ATTEND = "Look at the others"
STEP_ATTEND_TEXT = (
    "Every place asks how much each other matters to it and takes that share of its numbers. {layers} layers with "
    "{heads} such looks each do so in turn. This is where `[mask]` looks, on average over them all; the shares of "
    "all places add up to 100%."
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
EMBEDDING_HOVER = "film %{customdata[1]:+.3f}, place %{customdata[2]:+.3f}, sum %{z:+.3f}"
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


def everywhere(films: list[str]) -> str:
    """Which films stand in every list."""
    return EVERYWHERE.format(films=", ".join(films)) if films else NOWHERE


def bar_label(title: str, whose: str) -> str:
    """The name of a bar, in lines short enough for a phone; ours in bold."""
    lines = "<br>".join(wrap(escape(title, quote=False), 22))
    return f"<b>{lines}</b>" if whose == OURS else lines


def in_chart(text: str) -> str:
    """Text for a chart, where a few HTML tags mean something: as it is."""
    return escape(text, quote=False)


def plain(text: str) -> str:
    """Text with every sign escaped that Markdown would take as its own."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)
