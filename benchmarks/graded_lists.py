"""Compare recommendations with grades of language models, and fit the weights of favourites to the grades.

    python -m benchmarks.graded_lists          the recommenders NAMES, built-in data set
    python -m benchmarks.graded_lists --ship   also write the study for the Evaluation page
    python -m benchmarks.graded_lists --fit    print fitted weights; those in recsys/models/favourites.py are rounded

`graded_lists.json` has lists of one to ten favourites, with grades from 0 (unrelated) to 3 (excellent) for films.

- "part": "fit": The lists of one favourite are for the fit. The others selected BALANCED_WEIGHT and
  UNORDERED_TRAIT_BONUS.
- "part": "test": These lists were graded on 2026-11-28, after the fit. They have a grade for each film in the top ten
  of each recommender in NAMES. Films of other recommenders, and of recommenders that were changed later, may have no
  grade. They count as unrelated.

Shapes: L lists, C graded and random films of a list, K features.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from benchmarks.script import parser, write_json
from recsys import machine
from recsys.data import datasets
from recsys.data.dataset import Dataset, Queries
from recsys.errors import exit_on_error
from recsys.evaluation.significance import bootstrap
from recsys.models.favourites import GRADED_WEIGHTS, mean_ratings
from recsys.models.length_weights import member_scores
from recsys.models.visitor_pool import VisitorPool
from recsys.serving.predictor import for_unordered_list, load
from recsys.studies.run import write as write_study

GRADES_FILE = Path(__file__).parent / "graded_lists.json"
NAMES = (  # the answer of the study compares the first and the last
    "pool",
    "content-fields",
    "ease-low-rank",
    "item-knn",
    "markov-both",
    "bert4rec",
    "sasrec-softmax",
    "popular",
)
N_RECOMMENDATIONS = 10  # per list
MIN_GOOD_GRADE = 2
N_RANDOM = 60  # at most so many random films without a grade are added to each list in the fit, with grade 0
PENALTY_STRENGTH = 1.0  # factor of ½ Σ (weight · standard deviation of the feature)² in the fit
EASE_WEIGHT = GRADED_WEIGHTS["ease-low-rank"]  # set by hand, see docs/experiments.md
COLUMNS = [
    {"name": "recommender", "title": "Recommender"},
    {"name": "good", "title": "Good films out of ten", "digits": 1},
    {"name": "unrelated", "title": "Unrelated films out of ten", "digits": 1},
    {"name": "ndcg", "title": "NDCG@10", "digits": 3},
    {"name": "low", "title": "From", "digits": 3},
    {"name": "high", "title": "To", "digits": 3},
]


class GradedList(NamedTuple):
    """Favourites, and films with grades. All of them are items."""

    favourites: np.ndarray  # (n,)
    grades: dict[int, int]  # item → grade


@exit_on_error()
def main(argv: Sequence[str] | None = None) -> None:
    """Print a line for each recommender, or the fitted weights."""
    arguments = parser(__doc__)
    arguments.add_argument("recommenders", nargs="*", help=f"names; default: {' '.join(NAMES)}")
    arguments.add_argument("--fit", action="store_true", help="fit the weights")
    arguments.add_argument("--ship", action="store_true", help="write the study into assets/")
    options = arguments.parse_args(argv)
    if options.ship and options.recommenders:
        arguments.error("--ship writes the rows of all recommenders, so name none")
    dataset = datasets.ensure(datasets.DEFAULT_DATASET)
    if options.fit:
        for name, weight in fit_weights(load("pool", dataset).model, dataset, read_lists(dataset, "fit")).items():
            print(f"{name:20s} {weight:.3f}")
        return
    lists = read_lists(dataset, "test")
    rows = []
    for name in options.recommenders or NAMES:
        predictor = for_unordered_list(load(name, dataset))
        top = list(top_films(predictor.model.score, lists, dataset.n_items))
        n_ungraded = np.mean([len(set(items) - graded.grades.keys()) for items, graded in zip(top, lists, strict=True)])
        rows.append([predictor.title, *summary(lists, top)])
        figures = "  ".join(
            f"{column['name']} {value}" for column, value in zip(COLUMNS[1:], rows[-1][1:], strict=True)
        )
        print(f"{name:16s}{figures}  without a grade {n_ungraded:.1f}", flush=True)
    write_json(options.json, {"dataset": dataset.name, "machine": machine.describe(), "rows": rows})
    if options.ship:
        write_study("graded", dataset.name, study(dataset, rows, len(lists)), ship=True)


def read_lists(dataset: Dataset, part: str) -> list[GradedList]:
    """Return the lists of a part, "fit" or "test"."""
    item_of = dataset.catalog.item_of  # movie id → item
    return [
        GradedList(
            np.array([item_of[movie] for movie in row["favourites"]]),
            {item_of[movie]: int(grade) for grade, movies in row["grades"].items() for movie in movies},
        )
        for row in json.loads(GRADES_FILE.read_text("utf-8"))["lists"]
        if row["part"] == part
    ]


def top_films(score: Callable[[Queries], np.ndarray], lists: Sequence[GradedList], n_items: int) -> Iterator[list[int]]:
    """Yield the recommended items for each list, best first, without the favourites.

    Args:
        score: The method `Model.score`. Its result is changed in place.
        lists: The L lists.
        n_items: The number of items. Content models may score further films.
    """
    for favourites, _ in lists:
        scores = score(Queries([favourites]))[0][:n_items]
        scores[favourites] = -np.inf
        yield np.argsort(-scores, kind="stable")[:N_RECOMMENDATIONS].tolist()


def summary(lists: Sequence[GradedList], top: Sequence[Sequence[int]]) -> list[float]:
    """Return the values of all COLUMNS except the first, for the recommended items `top` of each list."""
    grades = np.array(
        [[graded.grades.get(item, 0) for item in items] for graded, items in zip(lists, top, strict=True)]
    )
    good, unrelated = (grades >= MIN_GOOD_GRADE).sum(1).mean(), (grades == 0).sum(1).mean()
    ndcg = np.array([_ndcg(row, graded.grades) for row, graded in zip(grades, lists, strict=True)])
    low, high = bootstrap(ndcg[:, None])
    return [round(float(value), 4) for value in (good, unrelated, ndcg.mean(), low[0], high[0])]


def _ndcg(grades: Sequence[int], all_grades: Mapping[int, int]) -> float:
    """Return the NDCG of recommended films with the gain 2^grade - 1, relative to the best of all graded films."""
    best = sorted(all_grades.values(), reverse=True)[:N_RECOMMENDATIONS]
    dcg, best_dcg = (
        sum((2**grade - 1) / np.log2(position + 2) for position, grade in enumerate(row)) for row in (grades, best)
    )
    return float(dcg / best_dcg) if best_dcg else 0.0


def study(dataset: Dataset, rows: list[list[Any]], n_lists: int) -> dict[str, Any]:
    """Return the document of the study, see `recsys.evaluation.studies.Study`."""
    run = machine.describe()
    return {
        "title": "Graded favourites",
        "dataset": dataset.name,
        "question": "How many of the first ten recommendations suit a visitor who enters one to ten favourite films?",
        "answer": f"On average, {rows[0][1]:.1f} of the first ten films from “{rows[0][0]}” are good, compared with "
        f"{rows[-1][1]:.1f} from “{rows[-1][0]}”. Most recommenders learn only from histories, so they are not "
        "designed for this task.",
        "how": f"{n_lists} lists: single films, random films, and films with something in common. Language models "
        "graded the films without knowing which recommender chose them. Good films have a clear connection to a "
        "favourite, unrelated films have none, and other films have a loose one. The weights of “Best guess” for "
        "favourites were fitted to other graded lists. “From” and “To” are the ends of the 95% confidence interval "
        f"over lists (bootstrap). {run['cpu']}, {run['date'][:10]}.",
        "columns": COLUMNS,
        "rows": rows,
        "chart": {"kind": "rows", "x": "recommender", "y": "ndcg", "low": "low", "high": "high"},
    }


def fit_weights(pool: VisitorPool, dataset: Dataset, lists: Sequence[GradedList]) -> dict[str, float]:
    """Return the weights ≥ 0 with the lowest penalised loss on the lists of one favourite.

    The loss of a list is the cross-entropy between two distributions over its films: the gains 2^grade - 1 divided by
    their sum, and the softmax of the scores. ListNet (Cao et al., ICML 2007) uses the softmax of the grades as
    the first one. The films are the graded ones and N_RANDOM others. The weight of EASE is EASE_WEIGHT.
    """
    rng = np.random.default_rng(0)
    names = [*GRADED_WEIGHTS, "popularity", "rating"]
    models = [pool.models[pool.members.index(name)] for name in GRADED_WEIGHTS]
    train = datasets.serving_splitting(dataset.name)(dataset).train
    priors = [pool.log_shares, mean_ratings(train)]
    examples = []  # features (C, K) and targets (C,) of each list
    for favourites, grades in lists:
        gains = {item: 2**grade - 1 for item, grade in grades.items()}
        if len(favourites) > 1 or not any(gains.values()):
            continue
        others = np.setdiff1d(rng.integers(dataset.n_items, size=N_RANDOM), [*grades, *favourites])
        items = np.append(list(grades), others)
        values = [member_scores(model, Queries([favourites]), dataset.n_items)[0] for model in models]
        gain = np.array([gains.get(item, 0) for item in items.tolist()], float)
        examples.append((np.stack([*values, *priors], 1)[items].astype(float), gain / gain.sum()))
    scale = np.concatenate([features for features, _ in examples]).std(0)  # (K,)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the penalised loss and its gradient (K,)."""
        value, gradient = PENALTY_STRENGTH / 2 * ((weights * scale) ** 2).sum(), PENALTY_STRENGTH * weights * scale**2
        for features, targets in examples:
            scores = features @ weights
            value += logsumexp(scores) - targets @ scores
            gradient = gradient + features.T @ (softmax(scores) - targets)
        return value, gradient

    bounds = [(EASE_WEIGHT, EASE_WEIGHT) if name == "ease-low-rank" else (0, None) for name in names]
    fitted = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", bounds=bounds).x
    return dict(zip(names, fitted.tolist(), strict=True))


if __name__ == "__main__":
    main()
