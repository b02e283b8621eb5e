"""NextReel as a library: load a data set, have films recommended, measure a recommender.

    import recsys
    data = recsys.load()
    bert4rec = recsys.recommender("bert4rec", data)
    for one in bert4rec.recommend(["Inception (2010)", "Interstellar (2014)"], k=5):
        print(one.rank, one.film.label, one.probability)
    print(recsys.evaluate("markov", data)["mean"]["ndcg@10"])

Without a name, `recommender` gives the one that the app begins with. Importing this costs nothing: NumPy, pandas and
torch are loaded by the first call that needs them. Every error that a person can mend is a
`recsys.errors.RecsysError`, with a sentence and, where there is one, the command that mends it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recsys.data.dataset import Dataset
    from recsys.progress import ProgressCallback
    from recsys.serving.filters import Filters
    from recsys.serving.predictor import Predictor
    from recsys.serving.recommend import Recommendation

__all__ = ["TitleRecommender", "evaluate", "load", "recommender", "recommenders"]


def load(name: str = "ml-latest-sample", report: "ProgressCallback | None" = None) -> "Dataset":
    """A MovieLens data set (Harper and Konstan, 2015): U users, I films, and who watched what in which order.

    ml-latest-sample comes with the project; the others are there after `python -m recsys data get NAME`. `report` is
    called with events (`recsys.progress`). Raises MissingData, with that command, DataError for a name that no set
    has.
    """
    from recsys.data import datasets
    from recsys.progress import no_progress

    return datasets.ensure(name, report or no_progress)


def recommenders() -> list[str]:
    """The names of all recommenders, in alphabetical order."""
    from recsys.models import registry

    return registry.names()


def recommender(
    name: str | None = None, data: "Dataset | None" = None, report: "ProgressCallback | None" = None
) -> "TitleRecommender":
    """Return a recommender that is ready to answer: loaded, or fitted on first use and kept.

    From here on NumPy and torch compute on one thread: one history is too little work to divide.

    Args:
        name: One of `recommenders()`; None: the default of the data set, the one that the app begins with.
        data: A data set from `load`; None: the built-in one.
        report: Called with events while something is fitted, see `recsys.progress`.

    Raises:
        UnknownModelError: No recommender has this name.
        StoreError: The model has to be trained first; the error has the command.
    """
    from recsys.progress import no_progress
    from recsys.serving import predictor

    data = load() if data is None else data
    return TitleRecommender(predictor.load(name or predictor.default(data.name), data, report or no_progress))


def evaluate(name: str, data: "Dataset", protocol: str = "full", seeds: Sequence[int] = ()) -> dict[str, Any]:
    """How good a recommender is: the rank of a film that was held out, for every user, and what follows from it.

    protocol: "full" (among all films), "popularity-100" and "uniform-100" (among 100 drawn ones), "time" (by date).
    seeds: which trained models; without any, all. The document ({"mean": {"ndcg@10": …}, "interval", "seeds", …}, see
    `recsys.evaluation.results`) is written to the results of this machine too. Raises UnknownModelError,
    ProtocolError, EvaluationError for an evaluation that would not be honest, StoreError for a model that has not been
    trained on this data.
    """
    from recsys.evaluation.evaluate import evaluate as measure

    return measure(name, data, protocol, seeds)


class TitleRecommender:
    """A recommender that is asked by titles. `predictor` is what the functions of `recsys.serving` take."""

    def __init__(self, predictor: "Predictor") -> None:
        self.predictor = predictor

    def __repr__(self) -> str:
        return f"<{self.predictor.title} for {self.predictor.dataset.name}>"

    def recommend(
        self, titles: Sequence[str] = (), k: int = 10, filters: "Filters | None" = None
    ) -> "list[Recommendation]":
        """The k films to watch after `titles` (oldest first, such as "Toy Story (1995)"), best first.

        Each has a rank, a film, a score and, where the model has probabilities, a probability of 0…1. Without titles:
        what a newcomer is shown. filters: see `recsys.serving.filters`. Fewer films come back when they run out.
        Raises UnknownTitleError, which names the nearest titles.
        """
        from recsys.serving.films.search import TitleIndex
        from recsys.serving.filters import Filters
        from recsys.serving.history import parse_titles
        from recsys.serving.recommend import Request, recommend

        data = self.predictor.dataset
        history, _ = parse_titles(TitleIndex(data.catalog, data.counts), titles)
        return recommend(self.predictor, Request(tuple(history), k, filters or Filters()))
