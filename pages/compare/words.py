"""What Compare says."""

from pages.ui.i18n import joined, number, say, speak
from pages.ui.words import plain
from recsys.serving.recommend import Recommendation

# Compare
CHOOSE = "Recommenders"
CHOOSE_HINT = "Choose two or more"
CHOOSE_HELP = (
    "Up to {n} at a time. Type to find one: there are networks, neighbours, factorisations and simple counts. Those "
    "that are not there yet are marked; choose one all the same, and its column says how to get it."
)
FIRST_ADD = "There is nothing to compare yet. Take a ready-made list, or build your own first."
FIRST_CHOOSE = "Choose at least two recommenders to compare."
AGREEMENT = "How far they agree"
CLOSEST = "Closest: {one} and {other} share {n} of {k} films."
NAMED = 4  # names in a sentence, at most
NOWHERE, EVERYWHERE = "No film is in every list.", "In every list: {films}."
SHARED_TABLE = "How many films any two lists share"
ONLY_ONE_SHOWS = "In one list only"
OPENING = "The same films in another order"
WHICH_ORDERS = "Which orders"
YOURS, EVENINGS = "Your films, {order}", "Two evenings"
KNOWS_WHICH = "**{model}** knows which films were watched, not when, and gives the same list both times."
READS_ORDER = "**{model}** reads the films in order: another order replaces {n} of its first {k} films."
READS_RANKS = "**{model}** reads the films in order: another order gives its first {k} films other ranks."
READS_SAME = "**{model}** reads the films in order, but these two orders get the same list from it."
TABS = ("The lists", "The rank of any film", "What order does", "Hide one of yours", "Mix two")
LISTS_FILE, OVERLAP_FILE = "Lists as CSV", "Overlap as CSV"
SILENT = "Without {models}: not trained for this set. The first tab says how to train."
RECOMMENDER, RANK, PROBABILITY = "Recommender", "Rank", "Probability"

# Compare: two mixed by hand
MIX_HELP = (
    "Each film's two log-probabilities are added, one weighted more and the other less; a recommender without "
    "probabilities takes part with its scores, brought to the same scale. “Hybrid” is such a mixture, whose weights "
    "were found on films that people really watched."
)
MIX_NEEDS_TWO = "Choose two recommenders that can answer at once; their columns in the first tab say how to get them."
MIX_ONE, MIX_OTHER, MIX_SHARE = "One recommender", "The other", "How much {model} counts"
IN_LIST, NOT_IN_LIST = "{model}: rank {rank}", "{model}: below rank {k}"


def mixed_ranks(ranks: dict[str, int | None], k: int) -> str:
    """The rank of a film in the lists that were mixed."""
    return " · ".join(
        say(IN_LIST if rank else NOT_IN_LIST).format(model=model, rank=rank, k=k) for model, rank in ranks.items()
    )


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
    "The same films, once latest first and shuffled {n} times. 1 means exactly the same list, 0 no film in common; the "
    "top of the list counts most (rank-biased overlap, p = {p})."
)
ONE_HAS_NO_ORDER = "One film has no order. Add a second one, or see the two evenings at the top of the page."
ORDER_TABLE = "How much each recommender's lists agree when the same films come in another order"
ORDER_LEGEND = ("shuffled", "latest first", "mean")
ALIKE, KEPT = "Overlap, from 0 to 1", "Films kept"
MEAN_KEPT = "{kept} of {k}"
IGNORES_ONE = "{models} gives the same list whatever the order: it knows what you watched, not when."
IGNORES_MANY = "{models} give the same list whatever the order: they know what you watched, not when."
MOST_MOVED = "{model} depends on the order most: another order keeps {kept} of its {k} films on average."
WHICH_ORDER = "The lists for another order"
ORDER_SLIDER = "Drag to another order of the same films"
AS_WATCHED, BACKWARDS, SHUFFLED, SHUFFLED_ONCE = "As watched", "Latest first", "Shuffle {n}", "Shuffled"
MOODS = "Why order matters: the pet shop"
MOODS_STORY = (
    "Somebody paid at the **pet shop**, the supermarket, the metro, the **pet shop**, the café, the supermarket and "
    "the cinema. Is it time to suggest the pet shop again?",
    "In this order, yes: more has been bought since the last visit than between the first two. Right after a visit, "
    "no. And from the set of shops alone, without their order, nobody can tell.",
    "So it is with films: a recommender that ignores the order must answer two orders alike, and one that reads it "
    "sees which mood came last.",
)
ENDS_IN = "{mood} last"
TAKE_ORDER = "Take as your films: {mood}"
SHARED_OF = "{n} of {k} the same"
ORDERS_TABLE = "What each recommender predicts after the same films in two orders"
NO_MOODS = "Add two films to see what their order changes; this set does not have those of the demonstration."

# Compare: hide one of your films
HIDE = "Hide this film"
HIDE_HELP = "Each recommender is given the films that you watched before it, not those that came later."
HIDE_NEEDS_TWO = "Add a second film: to hide one, there must be another before it."
GIVEN = "Given"
THEY_SHOW = "{models} would have shown you {film} in the top {k}."
SO_MANY_SHOW = "Recommenders that would have shown you {film} in the top {k}: **{n} of {all}**."
NONE_SHOWS = "None of these would have shown you {film} in the top {k}."
FOUND_TAG = "found"
TRY_ALL = "Ask {n} more recommenders"
TRY_HELP = "All that are trained for this set or can be fitted in seconds. Each is fitted only once."
TRYING = "Asking {model}: {n} of {all}"
STOP = "Stop"
HIDE_ALL = "Hide each of your films in turn"
HIDE_ALL_TABLE = "The rank of each of your films, hidden in turn, in each recommender's list"
HIDE_ALL_HELP = (
    "Each film is hidden in turn and predicted from those before it. The figure is its rank; the stronger the shade, "
    "the closer to the top."
)
HIDE_NEWEST = "Only your newest {n} films are hidden."
FILM, FOUND_ROW, MRR_ROW = "Film", "In the top {k}", "Mean of 1 / rank"
PROVES_ONE = "One film proves nothing: it is found or it is not."
PROVES = (
    "{n} films prove little: a single one, found or not, moves a share by {points:.0f} percentage points. The "
    "Evaluation page takes hundreds of people or more. And where the films are those of somebody in the data, the "
    "recommenders may have been trained on them."
)


def everywhere(films: list[str]) -> str:
    """Which films are in every list."""
    return say(EVERYWHERE).format(films=", ".join(films)) if films else say(NOWHERE)


def listed(names: list[str]) -> str:
    """Names in bold Markdown, as some hold a comma: **A**, **B** and **C**."""
    return joined([f"**{plain(name)}**" for name in names])


def who_found(finders: list[str], n_all: int, film: str, k: int) -> str:
    """Who would have shown a film, as Markdown: by name, or only how many where the names would fill lines."""
    sentence = say(NONE_SHOWS if not finders else THEY_SHOW if len(finders) <= NAMED else SO_MANY_SHOW)
    named = listed(finders) if finders else ""
    return sentence.format(models=named, n=len(finders), all=n_all, film=plain(film), k=k)


def proves(n: int) -> str:
    """How little n films prove."""
    return say(PROVES).format(n=n, points=100 / n) if n > 1 else say(PROVES_ONE)


def mean(value: float) -> str:
    """A mean count with one digit, and none where it is whole: "4.5", "10"."""
    return number(value, ".0f" if f"{value:.1f}".endswith(".0") else ".1f")


def order_name(number: int) -> str:
    """What an order of the same films is called: 0 as watched, 1 latest first, then shuffles."""
    return say((AS_WATCHED, BACKWARDS)[number]) if number < 2 else say(SHUFFLED).format(n=number - 1)


def told(model: str, lists: list[list[Recommendation]], reads_order: bool) -> str:
    """What two orders of the same films did to a recommender's list, as Markdown."""
    one, other = ([pick.item for pick in picks] for picks in lists)
    replaced = len({*one} - {*other})
    sentence = say(
        KNOWS_WHICH if not reads_order else READS_ORDER if replaced else READS_SAME if one == other else READS_RANKS
    )
    return sentence.format(model=plain(model), n=replaced, k=len(one))


speak(__name__)
