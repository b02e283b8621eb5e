"""Measure how many of the first ten recommendations match the taste of a visitor with five films of one group.

    python -m benchmarks.taste                                    the default recommender, built-in data set
    python -m benchmarks.taste pool sasrec-memory --json benchmarks/taste.json

A group is a language or region, a genre (sometimes of one period), a series or studio, or a director. Each group has
N_VISITORS visitors with HISTORY_LENGTH random films of the group. The share of a visitor is the number of recommended
films that belong to the group, divided by the highest possible number: ten, or fewer if the group has fewer other
films. `mean` is the mean of all groups, `worst_third` the mean of the third of the groups with the lowest shares.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.script import parser, write_json
from recsys import checkpoints, machine
from recsys.data import datasets
from recsys.data.dataset import Dataset, Film, Queries
from recsys.data.film_tables import original_languages
from recsys.errors import exit_on_error
from recsys.models.base import Model
from recsys.serving import predictor

HISTORY_LENGTH = 5  # films of a visitor
N_RECOMMENDATIONS = 10  # per visitor
N_VISITORS = 12  # of each group
MIN_FILMS = 8  # of a group

# film, its genres, its original language → whether the film belongs to a group
GroupRule = Callable[[Film, set[str], str], bool]


def language_rule(*codes: str, is_animated: bool = False) -> GroupRule:
    """Return a rule for films of some languages: only animated films if `is_animated`, else only other films."""
    return lambda film, genres, language: language in codes and ("Animation" in genres) == is_animated


def genre_rule(*names: str, years: tuple[int, int] = (0, 9999), excluded: tuple[str, ...] = ()) -> GroupRule:
    """Return a rule for films with all of some genres and no excluded genre. years: First and last year."""
    return lambda film, genres, language: (
        genres >= set(names) and genres.isdisjoint(excluded) and years[0] <= (film.year or 0) <= years[1]
    )


def title_rule(*prefixes: str, years: tuple[int, int], genre: str = "") -> GroupRule:
    """Return a rule for films whose title starts with one of the prefixes. years: First and last year."""
    return lambda film, genres, language: (
        film.title.startswith(prefixes) and years[0] <= (film.year or 0) <= years[1] and (not genre or genre in genres)
    )


GROUPS: dict[str, GroupRule] = {
    "French": language_rule("fr"),
    "Korean": language_rule("ko"),
    "Hindi": language_rule("hi"),
    "Russian": language_rule("ru", "uk"),
    "Italian": language_rule("it"),
    "Spanish": language_rule("es"),
    "German": language_rule("de"),
    "Scandinavian": language_rule("sv", "da", "no"),
    "Chinese and Cantonese": language_rule("zh", "yue"),
    "Japanese": language_rule("ja"),
    "anime": language_rule("ja", is_animated=True),
    "documentaries": genre_rule("Documentary"),
    "film noir": genre_rule("Film-Noir"),
    "westerns": genre_rule("Western"),
    "horror, 1968 to 1989": genre_rule("Horror", years=(1968, 1989)),
    "musicals until 1969": genre_rule("Musical", years=(0, 1969)),
    "romantic comedies, 1989 to 2001": genre_rule(
        "Romance", "Comedy", years=(1989, 2001), excluded=("Action", "Animation", "Fantasy", "Crime")
    ),
    "Pixar": title_rule(
        *("Toy Story", "A Bug's Life", "Finding ", "Monsters, Inc", "Monsters University", "The Incredibles"),
        *("Incredibles 2", "Cars", "Ratatouille", "WALL", "Up", "Brave", "Inside Out", "Coco", "The Good Dinosaur"),
        *("Soul", "Luca", "Onward"),
        years=(1995, 2022),
        genre="Animation",
    ),
    "Marvel": title_rule(
        *("Iron Man", "Captain America", "Captain Marvel", "Thor", "Avengers", "The Avengers", "Guardians of the Gal"),
        *("Ant-Man", "Doctor Strange", "Black Panther", "Spider-Man", "The Amazing Spider-Man", "Untitled Spider"),
        *("X-Men", "X2", "Deadpool", "Logan", "The Wolverine", "Fantastic Four", "Black Widow", "Eternals"),
        years=(2000, 2023),
        genre="Action",
    ),
    "James Bond": title_rule(
        *("GoldenEye", "Tomorrow Never Dies", "The World Is Not Enough", "Die Another Day", "Casino Royale"),
        *("Quantum of Solace", "Skyfall", "Spectre", "No Time to Die", "Goldfinger", "Dr. No", "From Russia with Love"),
        *("Thunderball", "You Only Live Twice", "Diamonds Are Forever", "Live and Let Die", "Moonraker", "Octopussy"),
        *("The Man with the Golden Gun", "The Spy Who Loved Me", "For Your Eyes Only", "A View to a Kill"),
        *("The Living Daylights", "Licence to Kill", "On Her Majesty", "Never Say Never Again"),
        years=(1962, 2022),
    ),
    "Star Trek": title_rule("Star Trek", years=(1979, 2017)),
    "Hitchcock": title_rule(
        *("Vertigo", "Rear Window", "Psycho", "North by Northwest", "Rebecca", "Notorious", "Rope", "The Birds"),
        *("Strangers on a Train", "Dial M for Murder", "To Catch a Thief", "Spellbound", "Shadow of a Doubt"),
        *("The 39 Steps", "Lifeboat", "Suspicion", "The Lady Vanishes", "Frenzy", "Marnie", "Torn Curtain"),
        *("The Trouble with Harry", "Family Plot", "Foreign Correspondent", "The Wrong Man", "Saboteur", "I Confess"),
        *("Topaz", "The Man Who Knew Too Much", "Sabotage", "Stage Fright"),
        years=(1930, 1976),
    ),
    "Coen brothers": title_rule(
        *("Blood Simple", "Raising Arizona", "Miller's Crossing", "Barton Fink", "The Hudsucker Proxy", "Fargo"),
        *("The Big Lebowski", "O Brother", "The Man Who Wasn't There", "Intolerable Cruelty", "The Ladykillers"),
        *("No Country for Old Men", "Burn After Reading", "A Serious Man", "True Grit", "Inside Llewyn"),
        "Hail, Caesar",
        years=(1984, 2016),
    ),
    "Woody Allen": title_rule(
        *("Annie Hall", "Manhattan", "Hannah and Her Sisters", "Crimes and Misdemeanors", "Sleeper", "Bananas"),
        *("Love and Death", "The Purple Rose of Cairo", "Radio Days", "Zelig", "Mighty Aphrodite", "Match Point"),
        *("Bullets Over Broadway", "Deconstructing Harry", "Everyone Says I Love You", "Scoop", "Husbands and Wives"),
        *("Midnight in Paris", "Vicky Cristina", "Sweet and Lowdown", "Small Time Crooks", "Interiors", "Blue Jasmine"),
        *("Stardust Memories", "Take the Money", "Broadway Danny Rose", "Whatever Works", "Shadows and Fog"),
        years=(1969, 2016),
    ),
}


@exit_on_error()
def main(argv: Sequence[str] | None = None) -> None:
    """Measure the named recommenders and print a line for each."""
    arguments = parser(__doc__)
    arguments.add_argument("recommenders", nargs="*", help="names; default: the default recommender")
    arguments.add_argument("--dataset", default=datasets.DEFAULT_DATASET)
    arguments.add_argument("--seed", type=int, default=0, help="of the random histories")
    options = arguments.parse_args(argv)
    dataset = datasets.ensure(options.dataset)
    splitting = datasets.serving_splitting(dataset.name)
    groups = items_of_groups(dataset)
    rows: dict[str, Any] = {}
    for name in options.recommenders or [predictor.default_name(dataset.name)]:
        model = checkpoints.load_or_fit(name, dataset, splitting=splitting)
        shares = {group: mean_share(model, items, dataset, options.seed) for group, items in groups.items()}
        values = np.sort(list(shares.values()))
        rows[name] = {"mean": values.mean(), "worst_third": values[: max(1, len(values) // 3)].mean()} | shares
        print(f"{name:20s} mean {rows[name]['mean']:.3f}  worst third {rows[name]['worst_third']:.3f}", flush=True)
    settings = {"dataset": dataset.name, "seed": options.seed, "given": HISTORY_LENGTH, "lists_per_group": N_VISITORS}
    figures = {
        "machine": machine.describe(),
        "films": {group: len(items) for group, items in groups.items()},
        "rows": {name: {key: round(float(value), 3) for key, value in row.items()} for name, row in rows.items()},
    }
    write_json(options.json, settings | figures)


def items_of_groups(dataset: Dataset) -> dict[str, np.ndarray]:
    """Return the items (n,) of each group. Groups with fewer than MIN_FILMS items are left out."""
    languages = original_languages(dataset.name)
    films = dataset.catalog.films[: dataset.n_items]
    facts = [(film, set(film.genres.split("|")), languages.get(film.movie_id, "en")) for film in films]
    groups = {
        name: np.flatnonzero([is_member(film, genres, language) for film, genres, language in facts])
        for name, is_member in GROUPS.items()
    }
    return {name: items for name, items in groups.items() if len(items) >= MIN_FILMS}


def mean_share(model: Model, items: np.ndarray, dataset: Dataset, seed: int) -> float:
    """Return the mean share of the visitors of a group. items: The items of the group, (n,)."""
    rng = np.random.default_rng(seed)
    histories = [rng.choice(items, HISTORY_LENGTH, replace=False) for _ in range(N_VISITORS)]
    scores = model.score(Queries(histories))[:, : dataset.n_items]
    shares = []
    for row, history in zip(scores, histories, strict=True):
        row[history] = -np.inf
        recommended = np.argpartition(-row, N_RECOMMENDATIONS)[:N_RECOMMENDATIONS]
        max_matches = min(N_RECOMMENDATIONS, len(items) - HISTORY_LENGTH)
        shares.append(np.isin(recommended, items).sum() / max_matches)
    return float(np.mean(shares))


if __name__ == "__main__":
    main()
