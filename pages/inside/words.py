"""What Inside the model says."""

from collections.abc import Sequence
from html import escape

from pages.ui.i18n import count, say, speak
from pages.ui.words import term

# Inside the model
INSIDE_FIRST_ADD = "The network needs films to look at. Take a ready-made list, or build your own first."
INSIDE_SECTION = "What to look at"
SECTIONS = {
    "lesson": "Lesson",
    "attention": "Attention",
    "mean": "Mean attention",
    "blanks": "Fill a blank",
    "map": "Map",
}
AS_TABLE = "As a table: {what}"
STANDS_IN = "The network has not learnt {film}: too few people of this set rated it. Here {others} stands in for it."
PARTS, ALL_OF_THEM = {"layer": "Layer", "head": "Head"}, "All"
ATTENTION_HELP = (
    "**Attention** is how a network reads: at every position it divides 100% over all positions, and takes that share "
    "of what each of them holds. It does so several times side by side, in its **heads**, and again in each **layer**. "
    "The lesson explains it in numbers."
)
DRAW_AS, DRAWN_AS = "Draw as", {"lines": "Lines", "heat-map": "Heat map"}
LINES_FROM, ALL_POSITIONS = "Lines from", "all positions"
LINES_HELP = "Each position on the left attends to those on the right. The thicker a line, the larger the share."
LINES_MASK = "Your next film is predicted from `[mask]`."
LINES_LAST = "Your next film is predicted from your newest one. No film attends to later ones."
LINES_HOVER = "{film} attends to"
LINES_CHART = (
    "Lines from each of your films to those that it attends to in {model}; the position that predicts the next film "
    "attends most to {film}, with {share}"
)
NO_LINES = "With {n} films or fewer, attention can be drawn as lines too."
WHO_ATTENDS = "Attends …"
ATTENTION_TABLE = "who attends to whom; rows attend to columns"
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
BY_DISTANCE_COLUMNS = {"distance": "distance", "attention": "attention", "people": "people"}
BY_DISTANCE_TABLE = "mean attention and number of people by distance"
BY_DISTANCE_CHART = "Mean attention by distance: {share} goes to the newest film"
DISTANCE, MEAN_ATTENTION = "Films back from the next one", "Mean attention"
HEAD_N, LAYER_N = "Head {n}", "Layer {n}"
MEAN_HELP = (
    "Your list says how a network reads *you*. Here its attention is averaged over {n} people of {data}, drawn at "
    "random from those who watched {least} films or more: the pictures of the papers "
    "([SASRec](https://arxiv.org/abs/1808.09781), figures 4 and 5, "
    "[BERT4Rec](https://arxiv.org/abs/1904.06690), figure 2), drawn for the networks of this app."
)
MEAN_READING = "Reading the histories of {n} people"
MEAN_POSITIONS = "How the newest {n} positions attend to each other"
MEAN_READ = (
    "A square for each head. Each row attends to the columns; 1 is the newest film, 2 the one before it, and so on. "
    "The stronger the colour, the more attention. Each square has a scale of its own, up to the share named above it."
)
MEAN_MASK = "The framed row is `[mask]`, from which the next film is predicted. It is read from both sides."
MEAN_LAST = (
    "The framed row is the newest film, from which the next one is predicted. The upper right stays empty: no film "
    "attends to later ones."
)
MEAN_WITHIN = (
    "Nothing is rescaled: what falls on films further back is left out. “Within” says how much of the framed row's "
    "attention is drawn here."
)
MEAN_PANEL = "up to {most} · {within} within"
MEAN_HOVER = "<b>%{customdata[0]}</b> gives <b>%{customdata[1]}</b><br>%{z:.1%} of its attention"
MEAN_CHART = (
    "Mean attention of the newest {n} positions to each other in {model}, {head}; the position that predicts the next "
    "film attends most to {position}, with {share}"
)
MEAN_TABLE = "what the framed row attends to, by head"
POSITION, POSITION_N = "Films back", "film {n}"
FURTHER_BACK = "further back"
GENRES_ATTEND = "Attention between genres"
GENRES_HELP = (
    "Do films attend to films of their own kind? Each row attends to the columns: 1.2× is a fifth more attention from "
    "a film of one genre to one of the other than if the network looked at nothing but how far apart they stand. "
    "A film's attention to itself is not counted."
)
GENRES_SURE = (
    "Coloured where 1× lies outside the 95% interval over people; empty where fewer than {n} people have watched such "
    "a pair. Counted among the newest {kept} positions. From the second layer on, a position holds some of the films "
    "that it attended to before, so its genre is less clear-cut."
)
GENRES, ALL_GENRES, CHOOSE_GENRES = "Genres", "All genres", "Choose at least two genres."
GENRES_CHART = (
    "Attention from films of one genre to films of another in {layer} of {model}, relative to distance alone: within "
    "their own genre {same}, between different ones {other} in the middle"
)
GENRES_HOVER = "<b>%{y}</b> to <b>%{x}</b><br>%{customdata[0]}<br>%{customdata[1]:,} people"
TIMES, TIMES_RANGE, TIMES_UNKNOWN = "{times:.2f}×", "{times:.2f}× (95%: {low:.2f}–{high:.2f})", "too few people"
GENRES_TABLE = "attention between genres in {layer}"
BLANKS_HELP = (
    "Put `[mask]` anywhere, and a network that was trained by covering films predicts what belongs there, from what "
    "you watched before **and after**. item2vec (CBOW) can do it too: it is like a BERT4Rec of one layer whose "
    "attention is fixed. SASRec and the others read from the first film to the last and can only continue."
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
BLANK_BETWEEN, BLANK_AFTER, BLANK_BEFORE = "Between {before} and {after}", "After {film}", "Before {film}"
BOTH_SIDES = "What do the two sides bring? Where {film} ranks when the network is shown only a part:"
BOTH_SIDES_TABLE = "Rank and probability of {film} by the films before it, by those after it, and by both"
BY_BEFORE, BY_AFTER, BY_BOTH = "Only the films before", "Only the films after", "Both"
SHOWN, RANK, PROBABILITY, UNRANKED = "Shown", "Rank", "Probability", "not in the list"
TOO_FEW_FOR_BOTH = "With three films or more, one can be covered that has films before **and** after it. You have {n}."
ONLY_NEWEST = "The network reads {n} positions at most, so only your newest films can be covered."
MAP_HELP = (
    "Every film is an **embedding** of {n} numbers to {model}: films that are watched in the same company have similar "
    "ones. The map puts all of them on a plane. Search for a film, or click a point."
)
MAP_SHARE = (
    "These two axes explain {share} of the variance ({x} from left to right, {y} upwards). The neighbours are found "
    "with all numbers."
)
MAP_TSNE = (
    "t-SNE keeps films together that are neighbours in all numbers. Who is near whom means something; the distance "
    "between far regions, and the axes, do not."
)
MAP_REGIONS = (
    "The regions were found by k-means. Each is called by the genre, tag or decade that is more frequent there than in "
    "the whole set, by six standard errors and more. The tenth of the films with the most ratings are widely watched, "
    "the third with the fewest seldom."
)
NO_TSNE = (
    "The t-SNE map of {model} on this set has not been computed yet, so this is PCA. Computing it for {n:,} films runs "
    "on this machine, once."
)
COMPUTE_TSNE, COMPUTING_TSNE = "Compute the t-SNE map", "Computing the map: {share}"
REGION, REGION_FILMS, REGION_APART, REGION_FIRST = "Region", "Films", "More frequent here", "Watched most"
REGION_UNNAMED, REGION_TERM = "(nothing stands out)", "{name} {here:.0%}, of all films {everywhere:.0%}"
REGION_TABLE = "the regions of the map"
BEFORE = "before {year}"
MAP_CHART = "A map of {n:,} films as {model} sees them, coloured by {colour}; {film} is marked"
MAP_PART = "The {n:,} films watched most are drawn, of {all:,}."
PROJECTION, COLOUR_BY = "Projection", "Colour by"
GENRE_OF = "A film with several genres has the colour of the rarest one that at least 5% of the films have."
COLOURS = {"decade": "Decade", "genre": "Genre", "views": "Popularity"}
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


def stands_in(film: str, others: Sequence[str]) -> str:
    """What stands in for a film that training left out."""
    return say(STANDS_IN).format(film=film, others=", ".join(others))


def region(label: str) -> str:
    """The name of a region of the map: "Horror · 1980s"."""
    return " · ".join(map(term, label.split(" · ")))


def rank(number: int | None) -> str:
    """ "1,204"; a film that is not in the list has none."""
    return say(UNRANKED) if number is None else count(number)


def in_chart(text: str) -> str:
    """Text for a chart, where a few HTML tags mean something: as it is."""
    return escape(text, quote=False)


speak(__name__)
