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
NAMED = 4  # names in a sentence, at most
AND = "{most} and {last}"
NOWHERE, EVERYWHERE = "No film is in every list.", "In every list: {films}."
SHARED_TABLE = "How many films each two lists share"
ONLY_ONE_SHOWS = "Shown by one alone"
TABS = ("The lists", "The rank of any film", "What order does", "Hide one of yours")
LISTS_FILE, OVERLAP_FILE = "Lists as CSV", "Overlap as CSV"
SILENT = "Without {models}: not trained on these films, or out of order. The lists say what to do."
RECOMMENDER, PLACE, CHANCE = "Recommender", "Place in its list", "Probability"

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
WHO_FOUND = "{models} would have shown you {film} among the first {k}."
MANY_FOUND = "**{n} of {all}** recommenders would have shown you {film} among the first {k}."
NOBODY_FOUND = "Nobody here would have shown you {film} among the first {k}."
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


def listed(names: list[str]) -> str:
    """Names in bold Markdown, as some hold a comma: **A**, **B** and **C**."""
    *most, last = (f"**{plain(name)}**" for name in names)
    return AND.format(most=", ".join(most), last=last) if most else last


def who_found(finders: list[str], n_asked: int, film: str, k: int) -> str:
    """Who would have shown a film, as Markdown: by name, or only how many where the names would fill lines."""
    sentence = NOBODY_FOUND if not finders else WHO_FOUND if len(finders) <= NAMED else MANY_FOUND
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


def bar_label(title: str, whose: str) -> str:
    """The name of a bar, in lines short enough for a phone; ours in bold."""
    lines = "<br>".join(wrap(escape(title, quote=False), 22))
    return f"<b>{lines}</b>" if whose == OURS else lines


def plain(text: str) -> str:
    """Text with every sign escaped that Markdown would take as its own."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)
