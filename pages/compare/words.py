"""What Compare says."""

from pages.ui.format import escape_markdown
from pages.ui.i18n import _, joined, ngettext, number, speak
from recsys.serving.recommend import Recommendation

# Compare
CHOOSE = "Recommenders"
NAMED = 4  # names in a sentence, at most
KNOWS_WHICH = "**{model}** knows which films were watched, not when, and gives the same list both times."
READS_ORDER = "**{model}** reads the films in order: another order replaces {n} of its first {k} films."
READS_RANKS = "**{model}** reads the films in order: another order gives its first {k} films other ranks."
READS_SAME = "**{model}** reads the films in order, but these two orders get the same list from it."
TABS = ("The lists", "The rank of any film", "What order does", "Hide one of yours", "Mix two")
RANK = "Rank"

# Compare: two mixed by hand
IN_LIST, NOT_IN_LIST = "{model}: rank {rank}", "{model}: below rank {k}"


def mixed_ranks(ranks: dict[str, int | None], k: int) -> str:
    """The rank of a film in the lists that were mixed."""
    return " · ".join(_(IN_LIST if rank else NOT_IN_LIST, model=model, rank=rank, k=k) for model, rank in ranks.items())


# Compare: what order does
ORDER_LEGEND = ("shuffled", "latest first", "mean")
KEPT = "Films kept"
AS_WATCHED = "As watched"
BACKWARDS = "Latest first"
MOODS_STORY = (
    "Somebody paid at the **pet shop**, the supermarket, the metro, the **pet shop**, the café, the supermarket and "
    "the cinema. Is it time to suggest the pet shop again?",
    "In this order, yes: more has been bought since the last visit than between the first two. Right after a visit, "
    "no. And from the set of shops alone, without their order, nobody can tell.",
    "So it is with films: a recommender that ignores the order must answer two orders alike, and one that reads it "
    "sees which mood came last.",
)

# Compare: hide one of your films
HIDE = "Hide this film"
THEY_SHOW = "{models} would have shown you {film} in the top {k}."
SO_MANY_SHOW = "Recommenders that would have shown you {film} in the top {k}: **{n} of {all}**."
NONE_SHOWS = "None of these would have shown you {film} in the top {k}."


def everywhere(films: list[str]) -> str:
    """Which films are in every list."""
    return _("In every list: {films}.", films=", ".join(films)) if films else _("No film is in every list.")


def listed(names: list[str]) -> str:
    """Names in bold Markdown, as some hold a comma: **A**, **B** and **C**."""
    return joined([f"**{escape_markdown(name)}**" for name in names])


def who_found(finders: list[str], n_all: int, film: str, k: int) -> str:
    """Who would have shown a film, as Markdown: by name, or only how many where the names would fill lines."""
    fields = {"models": listed(finders) if finders else "", "all": n_all, "film": escape_markdown(film), "k": k}
    if not finders:
        return _(NONE_SHOWS, **fields)
    if len(finders) <= NAMED:
        return _(THEY_SHOW, **fields)
    return _(SO_MANY_SHOW, n=len(finders), **fields)


def proves(n: int) -> str:
    """How little n films prove."""
    return (
        ngettext(
            "{n} film proves little: found or not, it moves a share by {points:.0f} percentage points. "
            "The Evaluation page takes hundreds of people or more. And where the films are those of "
            "somebody in the data, the recommenders may have been trained on them.",
            "{n} films prove little: a single one, found or not, moves a share by {points:.0f} "
            "percentage points. The Evaluation page takes hundreds of people or more. And where the "
            "films are those of somebody in the data, the recommenders may have been trained on them.",
            n,
            points=100 / n,
        )
        if n > 1
        else _("One film proves nothing: it is found or it is not.")
    )


def mean(value: float) -> str:
    """A mean count with one digit, and none where it is whole: "4.5", "10"."""
    return number(value, ".0f" if f"{value:.1f}".endswith(".0") else ".1f")


def order_name(number: int) -> str:
    """What an order of the same films is called: 0 as watched, 1 latest first, then shuffles."""
    return _((AS_WATCHED, BACKWARDS)[number]) if number < 2 else _("Shuffle {n}", n=number - 1)


def told(model: str, lists: list[list[Recommendation]], reads_order: bool) -> str:
    """What two orders of the same films did to a recommender's list, as Markdown."""
    one, other = ([pick.item for pick in picks] for picks in lists)
    replaced = len({*one} - {*other})
    fields = {"model": escape_markdown(model), "k": len(one)}
    if not reads_order:
        return _(KNOWS_WHICH, **fields)
    if replaced:
        return _(READS_ORDER, n=replaced, **fields)
    return _(READS_SAME if one == other else READS_RANKS, **fields)


speak(__name__)
