"""What Library says."""

from datetime import UTC, datetime

import pandas as pd

from pages.ui.i18n import _, count, ngettext, number, say, speak
from recsys.data.statistics import Lengths, LongTail, Size

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
WATCHED = "{n} people"
STARS = "{mean:.1f} stars"
UNLEARNT = {1: "Nobody’s ratings", 2: "Under {n} ratings"}
UNLEARNT_HELP = {
    1: "Recommenders know only films that somebody rated. You can put the others into your list all the same: the film "
    "most like each of them stands in for it.",
    2: "Recommenders do not know films with fewer than {n} ratings, whose ratings are not kept. You can put them into "
    "your list all the same: the film most like each of them stands in for it.",
}

# Statistics
PEOPLE = "People"
FILMS = "Films"
RATINGS = "Ratings"

BETWEEN = "{first} to {n} films"


YEARS_SAID = "Most films are of the {films}s; most ratings are for films of the {events}s."
YEARS_ALIKE = "Most films, and most ratings, are of the {films}s."


TIMES = "When people rated"

GAPS = {
    "the same second": "The same second",
    "under a minute": "Under a minute",
    "under an hour": "Under an hour",
    "under a day": "Under a day",
    "a day or more": "A day or more",
}

# Watch together
LINK = "Link to their films"
RULES = {"fair": "Fair to both", "average": "Best on average"}
RULES_SAID = {
    "fair": "Fair to both: first comes the film whose shorter bar is longest, so that nobody has to sit through what "
    "they would never choose (least misery; Masthoff 2011).",
    "average": "Best on average: first comes the film whose two bars are longest together, even where one of you wants "
    "it much more than the other.",
}
OTHER = "Other"


def size(found: Size) -> str:
    """When the ratings were made, and how many films are not counted."""
    days = [datetime.fromtimestamp(time, UTC).strftime("%Y-%m") for time in (found.first_time, found.last_time)]
    said = [_("Rated from {first} to {last}.", first=days[0], last=days[1])] if found.last_time else []
    return " ".join(
        [
            *said,
            *(
                [
                    _(
                        "Films with too few ratings to learn from are not counted here: {n}. Browse has them.",
                        n=count(found.left_out),
                    )
                ]
                if found.left_out
                else []
            ),
        ]
    )


def between(first: int, last: int) -> str:
    """A bin of lengths: "5 films", "5 to 7 films"."""
    if first == last:
        return ngettext("{n:,} film", "{n:,} films", first)
    return ngettext("{first} to {n:,} films", "{first} to {n:,} films", last, first=count(first))


def lengths(found: Lengths) -> str:
    """Half of the people, a tenth, and the one with the most."""
    median, p90 = number(found.median, ",.0f"), number(found.p90, ",.0f")
    return ngettext(
        "Half of the people rated {median} film or none; one in ten rated more than {p90}, and one {longest}.",
        "Half of the people rated {median} films or fewer; one in ten rated more than {p90}, and one {longest}.",
        round(found.median),
        median=median,
        p90=p90,
        longest=count(found.longest),
    )


def long_tail(found: LongTail) -> str:
    """What the top shares have, and the Gini coefficient."""
    one, ten, twenty = (number(share, ".0%") for share in found.top.values())
    return _(
        "The most watched 1% of the films have {one} of all ratings, 10% have {ten}, and 20% have "
        "{twenty}. The Gini coefficient is {gini:.2f}: it would be 0 if all were watched equally "
        "often, and near 1 if one film had it all.",
        one=one,
        ten=ten,
        twenty=twenty,
        gini=found.gini,
    )


def years(table: pd.DataFrame) -> str:
    """The decades of most films and of most ratings."""
    if table.empty:
        return ""
    films, events = (table["decade"].iloc[int(table[column].argmax())] for column in ("films", "events"))
    return _(YEARS_ALIKE if films == events else YEARS_SAID, films=films, events=events)


def genres(table: pd.DataFrame) -> str:
    """The most watched genre, and those that are watched most and least by what there is of them."""
    if table.empty:
        return ""
    beyond, names = table["events"] - table["films"], [say(genre) for genre in table["genre"]]
    over, under = names[int(beyond.argmax())], names[int(beyond.argmin())]
    return _(
        "{most} has the most ratings. {over} is watched most beyond its share of the films, {under} "
        "least. A film counts for each of its genres.",
        most=names[0],
        over=over,
        under=under,
    )


def stars(table: pd.DataFrame) -> str:
    """The mean, and how many are high."""
    mean = float((table["stars"] * table["share"]).sum())
    return _(
        "The mean is {mean:.2f} stars, and {high:.0%} of the ratings have four or more: people "
        "mostly rate films that they chose to watch.",
        mean=mean,
        high=float(table.loc[table["stars"] >= 4, "share"].sum()),
    )


def times(table: pd.DataFrame) -> str:
    """The month or year of most ratings."""
    if table.empty:
        return ""
    most = table.loc[table["ratings"].astype(int).idxmax()]
    share = float(most["ratings"] / table["ratings"].sum())
    return ngettext(
        "Most ratings are of {when}: {share:.0%} of them, by {n:,} person.",
        "Most ratings are of {when}: {share:.0%} of them, by {n:,} people.",
        most["people"],
        when=most["when"],
        share=share,
    )


def gaps(table: pd.DataFrame) -> str:
    """How many share their second."""
    if table.empty:
        return ""
    return _(
        "{same:.0%} of the films share their second with the film rated before. People rate a page "
        "of films at once, long after they watched them, so the order within a second says nothing "
        "about the order of watching.",
        same=float(table["share"].iloc[0]),
    )


speak(__name__)
