"""What Compare says."""

from pages.shared.words import plain

# Compare
CHOOSE = "Recommenders"
CHOOSE_HINT = "Choose two or more"
CHOOSE_HELP = "Up to {n} at a time. Type to find one: there are simple counts, neighbours, factorisations and networks."
FIRST_ADD = "There is nothing to compare yet. Take a ready-made list, or build your own first."
FIRST_CHOOSE = "Choose at least two recommenders to compare."
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
RECOMMENDER, RANK, PROBABILITY = "Recommender", "Rank", "Probability"

# Compare: the rank of any film
SEEK = "Which film?"
SEEK_HELP = (
    "Type any title to see its rank with each recommender. The bar is full for rank 1 and empty for the last rank, on "
    "a logarithmic scale."
)
SEEK_WATCHED = "You have watched {film}, so no list shows it. This is its rank if watched films were listed too."
SEEK_LOST = "{film} is not in {data}. Type another title."
OF = "of {n}"
RULED_OUT = "not in its list"
RANKS_OF = "The rank of {film} in each recommender's list"

# Compare: what order does
ORDER_HELP = (
    "The same films, once latest first and {n} times shuffled. 1 means the very same list, 0 no film in common; the "
    "top of the list counts most (rank-biased overlap, p = {p})."
)
ONE_HAS_NO_ORDER = "One film has no order. Add a second one, or see the demonstration below."
ORDER_TABLE = "How much each recommender's lists agree when the same films come in another order"
ORDER_LEGEND = ("shuffled", "latest first", "mean")
ALIKE, KEPT = "Overlap, from 0 to 1", "Films kept"
MEAN_KEPT = "{kept} of {k}"
IGNORES_ONE = "{models} gives the same list whatever the order: it knows what you watched, not when."
IGNORES_MANY = "{models} give the same list whatever the order: they know what you watched, not when."
MOST_MOVED = "{model} depends on the order most: of its {k} films, another order keeps {kept} on average."
WHICH_ORDER = "The lists for another order"
ORDER_SLIDER = "Drag to another order of the same films"
AS_WATCHED, BACKWARDS, SHUFFLED = "As watched", "Latest first", "Shuffle {n}"
MOODS = "The pet shop: why order matters"
MOODS_STORY = (
    "Somebody bought at the **pet shop**, the supermarket, the metro, the **pet shop**, the café, the supermarket and "
    "the cinema: is it time to recommend the pet shop?",
    "In this order, yes: more purchases have passed since the last visit than between the first two; right after a "
    "visit, no; from the set of shops alone, without their order, there is no telling.",
    "Here are two evenings with the same films: a recommender that ignores the order must answer both alike, and one "
    "that reads it sees which mood came last.",
)
ENDS_IN = "Last: {mood}"
TAKE_ORDER = "Take as your films: {mood} last"
SHARED_OF = "{n} of {k} the same"
MOODS_TABLE = "What each recommender predicts after the same films in two orders"
NO_MOODS = "This set of films lacks those of the demonstration."

# Compare: hide one of your films
HIDE = "Hide this film"
HIDE_HELP = "Each recommender is given the films that you watched before it, not those that came later."
HIDE_NEEDS_TWO = "Add a second film: to hide one, there must be another before it."
GIVEN = "Given"
THEY_SHOW = "{models} would have shown you {film} among the first {k}."
SO_MANY_SHOW = "**{n} of {all}** recommenders would have shown you {film} among the first {k}."
NONE_SHOWS = "None of these would have shown you {film} among the first {k}."
FOUND_TAG = "found"
TRY_ALL = "Try all {n} others that are trained"
TRYING = "Trying {model}: {n} of {all}"
STOP = "Stop"
HIDE_ALL = "Do it for all of your films"
HIDE_ALL_TABLE = "The rank of each of your films, hidden in turn, in each recommender's list"
HIDE_ALL_HELP = (
    "Each film is hidden in turn and predicted from those before it. The figure is its rank; the stronger the shade, "
    "the nearer to the top."
)
HIDE_NEWEST = "Only your newest {n} films are hidden."
FILM, FOUND_ROW, MRR_ROW = "Film", "Among the first {k}", "Mean of 1 / rank"
PROVES_ONE = "One film proves nothing: it is found or it is not."
PROVES = (
    "{n} films prove little: a single one, found or not, moves a share by {points:.0f} percentage points. The "
    "Evaluation page takes hundreds of people or more. And where the films are those of somebody in the data, the "
    "recommenders may have been trained on them."
)


def everywhere(films: list[str]) -> str:
    """Which films are in every list."""
    return EVERYWHERE.format(films=", ".join(films)) if films else NOWHERE


def listed(names: list[str]) -> str:
    """Names in bold Markdown, as some hold a comma: **A**, **B** and **C**."""
    *most, last = (f"**{plain(name)}**" for name in names)
    return AND.format(most=", ".join(most), last=last) if most else last


def who_found(finders: list[str], n_all: int, film: str, k: int) -> str:
    """Who would have shown a film, as Markdown: by name, or only how many where the names would fill lines."""
    sentence = NONE_SHOWS if not finders else THEY_SHOW if len(finders) <= NAMED else SO_MANY_SHOW
    named = listed(finders) if finders else ""
    return sentence.format(models=named, n=len(finders), all=n_all, film=plain(film), k=k)


def proves(n: int) -> str:
    """How little n films prove."""
    return PROVES.format(n=n, points=100 / n) if n > 1 else PROVES_ONE


def mean(number: float) -> str:
    """A mean count with one digit, and none where it is whole: "4.5", "10"."""
    return f"{number:.1f}".removesuffix(".0")


def order_name(number: int) -> str:
    """What an order of the same films is called: 0 as watched, 1 latest first, then shuffles."""
    return (AS_WATCHED, BACKWARDS)[number] if number < 2 else SHUFFLED.format(n=number - 1)
