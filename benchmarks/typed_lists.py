"""Print ten recommendations for each of thirty lists of favourites, such as visitors type, for a person to judge.

    python -m benchmarks.typed_lists                     the default recommender, built-in data set
    python -m benchmarks.typed_lists sasrec-memory

The output is Markdown. docs/typed-lists.md has the output of two versions of the default recommender.
"""

import argparse
from collections.abc import Sequence

import recsys
from recsys.data.published import DEFAULT_DATASET
from recsys.errors import exit_on_error
from recsys.serving import predictor

LISTS: dict[str, tuple[str, ...]] = {
    "one favourite: The Matrix": ("The Matrix (1999)",),
    "one favourite: Amelie": ("Amelie (2001)",),
    "one favourite: Titanic": ("Titanic (1997)",),
    "one favourite: Shrek": ("Shrek (2001)",),
    "French New Wave": ("The 400 Blows (1959)", "Breathless (1960)", "Jules and Jim (1961)"),
    "French thrillers of the 1950s": ("Rififi (1955)", "Diabolique (1955)", "The Wages of Fear (1953)"),
    "Korean": ("Old Boy (2003)", "Memories of Murder (2003)", "The Host (2006)"),
    "Kurosawa": ("Seven Samurai (1954)", "Rashomon (1950)", "Yojimbo (1961)"),
    "anime": ("Spirited Away (2001)", "Akira (1988)", "Ghost in the Shell (1995)"),
    "Hong Kong": ("Chungking Express (1994)", "In the Mood For Love (2000)", "Infernal Affairs (2002)"),
    "Indian": ("3 Idiots (2009)", "Lagaan: Once Upon a Time in India (2001)", "Like Stars on Earth (2007)"),
    "Tarkovsky and Soviet films": ("Stalker (1979)", "Andrei Rublev (1969)", "Come and See (1985)"),
    "Iranian": ("Taste of Cherry (1997)", "The Children of Heaven (1997)", "A Separation (2011)"),
    "Italian": ("8 1/2 (1963)", "Bicycle Thieves (1948)", "Cinema Paradiso (1989)"),
    "Almodóvar": ("All About My Mother (1999)", "Talk to Her (2002)", "Bad Education (2004)"),
    "Latin American": ("City of God (2002)", "Amores Perros (2000)", "The Motorcycle Diaries (2004)"),
    "German": ("Run Lola Run (1998)", "The Lives of Others (2006)", "Downfall (2004)"),
    "Bergman": ("The Seventh Seal (1957)", "Wild Strawberries (1957)", "Persona (1966)"),
    "silent films": ("Metropolis (1927)", "Nosferatu (1922)", "The General (1926)"),
    "film noir": ("Double Indemnity (1944)", "The Maltese Falcon (1941)", "The Big Sleep (1946)"),
    "Hitchcock": ("Vertigo (1958)", "Rear Window (1954)", "Psycho (1960)"),
    "documentaries": ("Hoop Dreams (1994)", "Bowling for Columbine (2002)", "Super Size Me (2004)"),
    "horror of the 1980s": ("The Shining (1980)", "A Nightmare on Elm Street (1984)", "The Thing (1982)"),
    "westerns": ("Unforgiven (1992)", "The Good, the Bad and the Ugly (1966)", "High Noon (1952)"),
    "musicals": ("Singin' in the Rain (1952)", "West Side Story (1961)", "The Sound of Music (1965)"),
    "romantic comedies": ("When Harry Met Sally... (1989)", "Notting Hill (1999)", "Sleepless in Seattle (1993)"),
    "Pixar": ("Toy Story (1995)", "Finding Nemo (2003)", "Up (2009)"),
    "Marvel": ("Iron Man (2008)", "The Avengers (2012)", "Black Panther (2017)", "Thor: Ragnarok (2017)"),
    "science fiction of the 2010s": ("Arrival (2016)", "Interstellar (2014)", "Ex Machina (2015)"),
    "five of one mood": (
        "Lost in Translation (2003)",
        "Her (2013)",
        "Before Sunrise (1995)",
        "Eternal Sunshine of the Spotless Mind (2004)",
        "Garden State (2004)",
    ),
}


@exit_on_error()
def main(argv: Sequence[str] | None = None) -> None:
    """Print a Markdown table of all lists."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recommender", nargs="?", default="", help="name; default: the default recommender")
    parser.add_argument("--dataset", default=DEFAULT_DATASET)
    options = parser.parse_args(argv)
    dataset = recsys.load(options.dataset)
    recommender = recsys.recommender(options.recommender or predictor.default_name(dataset.name), dataset)
    print("| list | films | first ten |\n|---|---|---|")
    for name, titles in LISTS.items():
        recommendations = recommender.recommend(list(titles), in_order=False)
        films = " · ".join(recommendation.film.title.partition(" (")[0] for recommendation in recommendations)
        print(f"| {name} | {' · '.join(titles)} | {films} |")


if __name__ == "__main__":
    main()
