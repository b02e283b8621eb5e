"""What Library says."""

from datetime import UTC, datetime

import pandas as pd

from pages.ui.i18n import count, number, say, speak
from recsys.data.statistics import Lengths, LongTail, Size

SECTION = "What to see"
SECTIONS = {"browse": "Browse", "statistics": "Statistics", "together": "Watch together"}

# Browse
TITLE = "Search by title"
ORDER = "Order"
ORDERS = {
    "most watched": "Most watched",
    "best rated": "Best rated",
    "newest": "Newest",
    "oldest": "Oldest",
    "title": "Title",
}
ORDER_HELP = (
    "Best rated: the mean of the stars, as if {n} more people had rated like all people, so that five stars of one "
    "person do not come first. What a search found stands in the order in which it fits."
)
TAGS, TAGS_HINT = "Tagged", "Any tag"
TAGS_HELP = "Only films with all of these tags. You can type any tag; of {all}, those of most films are offered."
COUNT = {
    "all": "{n} films",
    "some": "{n} of {all} films",
    "one": "1 of {all} films",
    "none": "None of the {all} films passes all of this.",
}
TO_LIST = {
    0: "Your list is empty: add a film to see what comes next",
    1: "See what comes next after your film",
    2: "See what comes next after your {n} films",
}
WATCHED, WATCHED_ONE = "{n} people", "1 person"
STARS = "{mean:.1f} stars"
UNLEARNT = {1: "Nobody’s ratings", 2: "Under {n} ratings"}
UNLEARNT_HELP = {
    1: "Recommenders know only films that somebody rated. You can put the others into your list all the same: the film "
    "most like each of them stands in for it.",
    2: "Recommenders do not know films with fewer than {n} ratings, whose ratings are not kept. You can put them into "
    "your list all the same: the film most like each of them stands in for it.",
}
ADD, REMOVE = "Add *{film} to your films*", "In your list *{film}: take it out again*"

# Statistics
COUNTING = "Counting"
PEOPLE, FILMS, RATINGS, DENSITY = "People", "Films", "Ratings", "Density"
DENSITY_HELP = "How many of all pairs of a person and a film were rated. Nearly all of the table is empty."
SIZE = "Rated from {first} to {last}."
LEFT_OUT = "Films with too few ratings to learn from are not counted here: {n}. Browse has them."
CHART_ALT = "Chart: {title}. {said}"

LENGTHS = "How much people watch"
LENGTHS_SAID = "Half of the people rated {median} films or fewer; one in ten rated more than {p90}, and one {longest}."
FILMS_WATCHED = "Films of one person; the bars grow wider to the right"
OF_LENGTH, BETWEEN = "{n} films", "{first} to {n} films"
LENGTHS_HOVER = "%{customdata} · people: %{y:,}<extra></extra>"
MEDIAN, P90 = "half: {n}", "9 of 10: {n}"

TAIL = "A few films for many, many for few"
TAIL_SAID = (
    "The most watched 1% of the films have {one} of all ratings, 10% have {ten}, and 20% have {twenty}. The Gini "
    "coefficient is {gini:.2f}: it would be 0 if all were watched equally often, and near 1 if one film had it all."
)
EQUAL, CURVE = "if all were watched equally often", "as it is"
TAIL_HOVER = "%{x:.1%} of the films, %{y:.1%} of the ratings<extra></extra>"
SHARE_OF_FILMS, SHARE_OF_RATINGS = "Share of the films, the most watched first", "Share of the ratings"

YEARS = "When the films were made"
YEARS_SAID = "Most films are of the {films}s; most ratings are for films of the {events}s."
YEARS_ALIKE = "Most films, and most ratings, are of the {films}s."
OF_FILMS, OF_RATINGS = "of the films", "of the ratings"
DECADE = "{decade}s"
MADE = "Decade"

GENRES = "Genres"
GENRES_SAID = (
    "{most} has the most ratings. {over} is watched most beyond its share of the films, {under} least. A film counts "
    "for each of its genres."
)

STARS_GIVEN = "Stars"
STARS_SAID = (
    "The mean is {mean:.2f} stars, and {high:.0%} of the ratings have four or more: people mostly "
    "rate films that they chose to watch."
)
STARS_AXIS = "Stars"

TIMES = "When people rated"
TIMES_SAID = "Most ratings are of {when}: {share:.0%} of them, by {n} people."
TIME_HOVER = "%{x} · ratings: %{y:,}, people: %{customdata:,}<extra></extra>"

SECONDS = "How fast people rate"
GAPS_SAID = (
    "{same:.0%} of the films share their second with the film rated before. People rate a page of films at once, long "
    "after they watched them, so the order within a second says nothing about the order of watching."
)
GAPS = {
    "the same second": "The same second",
    "under a minute": "Under a minute",
    "under an hour": "Under an hour",
    "under a day": "Under a day",
    "a day or more": "A day or more",
}
SHARE_OF_PAIRS = "Share of a person’s neighbouring ratings"

# Watch together
TOGETHER_HELP = (
    "What shall we watch tonight? Your films, those of somebody else, and the films that one recommender puts near the "
    "top for both of you."
)
YOURS, THEIRS, FOR_BOTH = "Your films", "The other’s films", "For both of you"
PUT_IN = "Put your films into your list first"
OTHER_SEARCH, OTHER_FILMS, OTHER_HAS = "Add a film of theirs", "Their films, oldest first", "already among theirs"
ANYBODY, BY_NUMBER, BY_LINK = "A real viewer", "By number", "A link"
BY_LINK_HELP = "Paste what the other one has copied from their address bar, or from Share."
LINK, LINK_HINT = "Link to their films", "https://…?s=1-260"
NO_LINK = "This is no link to a list of films; copy it from the address bar, or from Share."
PEOPLE_HERE = "{data} has {n} people. Their newest films replace those that are there."
OTHER_SET = "The films of the other are of {data}, which is not on this machine."
OTHER_LOST = "{n} of their {all} films are not in {data}."
NEED_BOTH = "Two lists are needed: yours, and that of the one who watches with you. A real viewer will do to try it."
RULE, RULES = "Best is what is", {"fair": "Fair to both", "average": "Best on average"}
RULES_SAID = {
    "fair": "Fair to both: first comes the film whose shorter bar is longest, so that nobody has to sit through what "
    "they would never choose (least misery; Masthoff 2011).",
    "average": "Best on average: first comes the film whose two bars are longest together, even where one of you wants "
    "it much more than the other.",
}
BARS = (
    "A full bar is the first of somebody’s list, and half a bar is far above the middle: bars go by the logarithm of "
    "the rank. {model} ranks the {n} films that neither of you has watched and that pass the filters."
)
NOTHING_FOR_BOTH = "No film is left for both of you. Loosen the filters."
YOU, OTHER = "You", "Other"
ADD_QUIET = "*Add {film} to your films*"


def size(found: Size) -> str:
    """When the ratings were made, and how many films are not counted."""
    days = [datetime.fromtimestamp(time, UTC).strftime("%Y-%m") for time in (found.first_time, found.last_time)]
    said = [say(SIZE).format(first=days[0], last=days[1])] if found.last_time else []
    return " ".join([*said, *([say(LEFT_OUT).format(n=count(found.left_out))] if found.left_out else [])])


def between(first: int, last: int) -> str:
    """A bin of lengths: "5 films", "5 to 7 films"."""
    if first == last:
        return say(OF_LENGTH).format(n=count(first))
    return say(BETWEEN).format(first=count(first), n=count(last))


def lengths(found: Lengths) -> str:
    """Half of the people, a tenth, and the one with the most."""
    median, p90 = number(found.median, ",.0f"), number(found.p90, ",.0f")
    return say(LENGTHS_SAID).format(median=median, p90=p90, longest=count(found.longest))


def long_tail(found: LongTail) -> str:
    """What the top shares have, and the Gini coefficient."""
    one, ten, twenty = (number(share, ".0%") for share in found.top.values())
    return say(TAIL_SAID).format(one=one, ten=ten, twenty=twenty, gini=found.gini)


def years(table: pd.DataFrame) -> str:
    """The decades of most films and of most ratings."""
    if table.empty:
        return ""
    films, events = (table["decade"].iloc[int(table[column].argmax())] for column in ("films", "events"))
    return say(YEARS_ALIKE if films == events else YEARS_SAID).format(films=films, events=events)


def genres(table: pd.DataFrame) -> str:
    """The most watched genre, and those that are watched most and least by what there is of them."""
    if table.empty:
        return ""
    beyond, names = table["events"] - table["films"], [say(genre) for genre in table["genre"]]
    over, under = names[int(beyond.argmax())], names[int(beyond.argmin())]
    return say(GENRES_SAID).format(most=names[0], over=over, under=under)


def stars(table: pd.DataFrame) -> str:
    """The mean, and how many are high."""
    mean = float((table["stars"] * table["share"]).sum())
    return say(STARS_SAID).format(mean=mean, high=float(table.loc[table["stars"] >= 4, "share"].sum()))


def times(table: pd.DataFrame) -> str:
    """The month or year of most ratings."""
    if table.empty:
        return ""
    most = table.loc[table["ratings"].astype(int).idxmax()]
    share = float(most["ratings"] / table["ratings"].sum())
    return say(TIMES_SAID).format(when=most["when"], share=share, n=count(most["people"]))


def gaps(table: pd.DataFrame) -> str:
    """How many share their second."""
    if table.empty:
        return ""
    return say(GAPS_SAID).format(same=float(table["share"].iloc[0]))


speak(__name__)
