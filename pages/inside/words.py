"""What Inside the model says."""

from html import escape

# Inside the model
INSIDE_FIRST_ADD = "The network needs films to look at. Take a ready-made list, or build your own first."
INSIDE_SECTION = "What to look at"
HOW_IT_WORKS, ATTENTION, BLANKS, MAP = "How it works", "Attention", "Fill a blank", "Map"
STEP_MASK = "Hide"
STEP_MASK_TEXT = (
    "BERT4Rec learns as one learns a language from cloze tests: some films of a history are covered by `[mask]`, "
    "and the network predicts them from what comes **before and after**. To predict what comes next, a `[mask]` is put "
    "behind your films."
)
TO_LEARN, TO_PREDICT = "In training, with your films", "To predict"
COVERED = "Covered here: {films}."
STEP_EMBED = "Turn into numbers"
STEP_EMBED_TEXT = (
    "Every film, and `[mask]` too, has an embedding of {n} numbers that training has found; so has every position in "
    "the sequence. **Their sum** goes into the network. Each row is one film: teal is above zero, orange below."
)
STEP_EMBED_ALONE = (
    "Every film, and `[mask]` too, has an embedding of {n} numbers that training has found. They go into the network. "
    "Each row is one film: teal is above zero, orange below. The position of a film counts in the next step."
)
STEP_EMBED_EXAMPLE = (
    "The first number of `[mask]`: {film:+.2f} for itself and {position:+.2f} for its position make {sum:+.2f}."
)
STEP_ATTEND = "Attend to the others"
STEP_ATTEND_TEXT = (
    "Every position decides how much attention each other one gets, and takes that share of its numbers. {layers} "
    "layers of {heads} attention heads do so in turn. This is what `[mask]` attends to, on average over them all; the "
    "shares of all positions add up to 100%."
)
STEP_ATTEND_BIAS = (
    "A relative position bias lowers the attention to films further back; how steeply, each head has learnt in "
    "training."
)
STEP_ATTEND_ITSELF = "The rest, {share}, stays with `[mask]` itself."
STEP_ATTEND_REST = "The rest, {share}, goes to other films and to `[mask]` itself."
STEP_SOFTMAX = "Compare and choose"
STEP_SOFTMAX_TEXT = (
    "What `[mask]` has become is compared with the embeddings of all {n:,} films, which gives each a **score**. The "
    "softmax takes e to the power of every score and divides by the sum of all: the scores become **probabilities** "
    "that add up to 100%. Here films that you have already watched compete too. The other pages leave them out before "
    "they divide, so the same film has a higher probability there."
)
SCORE_NOTE = "score {score:.2f}, e^score {weight:.0%} of the first"
SCORE_NOTE_WATCHED = "score {score:.2f}, e^score {weight:.0%} of the first, already watched"
EMBEDDING_CHART = "The numbers that stand for each of the newest films and for [mask], as colours"
NUMBER = "Number"
LAYER, HEAD, ALL_OF_THEM = "Layer", "Head", "All"
ROWS_LOOK = "Each row attends to the columns. The stronger the colour, the more attention a film gives to another."
MASK_ROW = "The framed row is `[mask]`, from which your next film is predicted."
LAST_ROW = "The framed row is your newest film, from which the next one is predicted. No film attends to later ones."
NEWEST_SHOWN = "Only the newest {n} of {all} are drawn; the network reads them all."
HEAT_CHART = (
    "How much each of your films attends to each other in {model}; the row that predicts the next film attends most to "
    "{film}"
)
HEAT_HOVER = "<b>%{customdata[0]}</b><br>gives <b>%{customdata[1]}</b><br>%{z:.1%} of its attention"
MASK_LOOKS_AT, NEWEST_LOOKS_AT = "What the mask attends to", "What the newest film attends to"
NOT_INFLUENCE = (
    "Attention is not influence. It says what a layer reads, not how the prediction would change without a film. That "
    "is found out by leaving the film out."
)
INFLUENCE = "Influence: leave each film out and look at the first prediction again"
BY_DISTANCE = "How far back it attends"
BY_DISTANCE_HELP = (
    "Averaged over {n} people of {data}, drawn at random: from the newest film of their history to the 30th."
)
BY_DISTANCE_START = "Average over {n} people"
BY_DISTANCE_PROGRESS = "Reading histories: {done} of {all} people"
BY_DISTANCE_CHART = "Mean attention by distance: {share} goes to the newest film"
DISTANCE, MEAN_ATTENTION = "Films back from the next one", "Mean attention"
HEAD_N, LAYER_N = "Head {n}", "Layer {n}"
BLANKS_HELP = (
    "Only a network that was trained by covering films can do this: put `[mask]` anywhere, and it predicts what "
    "belongs there, from what you watched before **and after**. SASRec and the others read from the first film to "
    "the last and can only continue."
)
HIDE_FILMS, HIDE_FILMS_HINT = "Cover films", "None is covered"
PUT_BLANKS, PUT_BLANKS_HINT = "Put a blank into a gap", "No gap is filled"
GAP_START, GAP_END, GAP = "before {film}", "after {film}", "between {before} and {after}"
HIDE_LISTED = "Hide films of your list"
CHOOSE_BLANK = "Cover a film of your list, or put a blank into a gap."
BLANK_N = "Blank at position {n}"
BLANK_FOUND = "You watched {film} here: rank {rank:,}, at {probability}."
BLANK_FOUND_PLAIN = "You watched {film} here: rank {rank:,}."
BLANK_TWICE = "You watched {film} here. It is in your list a second time, so it is not offered."
BLANK_FREE = "Nobody knows what belongs here."
ONLY_NEWEST = "The network reads {n} positions at most, so only your newest films can be covered."
MAP_HELP = (
    "Every film is an embedding of {n} numbers to {model}. The map shows the films along the two directions in which "
    "these differ most. Search for a film, or click a point."
)
MAP_SHARE = (
    "These two axes explain {share} of the variance ({x} from left to right, {y} upwards); the neighbours use all "
    "numbers."
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


def in_chart(text: str) -> str:
    """Text for a chart, where a few HTML tags mean something: as it is."""
    return escape(text, quote=False)
