"""Movie recommenders as a library: load a data set, recommend films, evaluate a recommender.

    import recsys
    data = recsys.load()
    bert4rec = recsys.recommender("bert4rec", data)
    for row in bert4rec.recommend(["Inception (2010)", "Interstellar (2014)"], k=5):
        print(row.rank, row.film.label, row.probability)
    print(recsys.evaluate("markov", data)["mean"]["ndcg@10"])

The import is fast, because NumPy, pandas and torch are imported inside the functions. Expected errors are subclasses of
`recsys.errors.RecsysError`. Their messages end with the command that solves the problem, if there is such a command.
"""

import warnings
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recsys.data.dataset import Dataset
    from recsys.progress import ProgressCallback
    from recsys.serving.filters import Filters
    from recsys.serving.predictor import Predictor
    from recsys.serving.recommend import Recommendation
    from recsys.serving.search.search import TitleIndex

__all__ = ["TitleRecommender", "evaluate", "load", "recommender", "recommenders"]

DEFAULT_DATASET = "ml-latest-sample"  # a copy of `data.published.DEFAULT_DATASET`, because importing it is slow


def load(name: str = DEFAULT_DATASET, report: "ProgressCallback | None" = None) -> "Dataset":
    """Load a data set. `report` is called with progress events, see `recsys.progress`.

    Raises DataError for an unknown name. Raises MissingData, with a command for the download, if the data set
    is not on this computer.
    """
    from recsys.data import datasets
    from recsys.progress import no_progress

    return datasets.ensure(name, report or no_progress)


def recommenders() -> list[str]:
    """Return the names of all recommenders, in the order of the menus of the app."""
    from recsys.models import registry

    return registry.names()


def recommender(
    name: str | None = None, data: "Dataset | None" = None, report: "ProgressCallback | None" = None
) -> "TitleRecommender":
    """Load a recommender, or fit it on first use. From this call on, NumPy and torch compute on one thread.

    The defaults are the data set that comes with the project, and the default recommender of the app. Raises
    UnknownModelError for an unknown name, and CheckpointError if the recommender must be trained first.
    """
    from recsys.data import prepared
    from recsys.progress import no_progress
    from recsys.serving import predictor

    data = _default_dataset(prepared.version(DEFAULT_DATASET), report) if data is None else data
    return TitleRecommender(predictor.load(name or predictor.default_name(data.name), data, report or no_progress))


def evaluate(name: str, data: "Dataset", protocol: str = "full", seeds: Sequence[int] = ()) -> dict[str, Any]:
    """Evaluate a recommender, store the result and return it: {"mean": {"ndcg@10": …}, "interval": …, "seeds": …, …}.

    Protocol "full" ranks the held-out film among all films that the user has not watched, "popularity-100" and
    "uniform-100" among 100 sampled films. "untied" shuffles films that a user rated in the same second. "time" splits
    by date. `recsys.evaluation.protocols.PROTOCOLS` has all
    protocols. Without `seeds`, the models of all trained seeds are evaluated. Raises RecsysError if the recommender is
    unknown or not trained, or if the result would be misleading.
    """
    from recsys.evaluation.evaluate import evaluate as measure

    return measure(name, data, protocol, seeds)


class TitleRecommender:
    """A recommender that takes film titles. Pass its `predictor` to the functions of `recsys.serving`."""

    def __init__(self, predictor: "Predictor") -> None:
        self.predictor = predictor

    def __repr__(self) -> str:
        return f"<{self.predictor.title} for {self.predictor.dataset.name}>"

    def recommend(
        self, titles: Sequence[str] | str = (), k: int = 10, filters: "Filters | None" = None, in_order: bool = False
    ) -> "list[Recommendation]":
        """Recommend at most k films, best first.

        `titles` are favourites in no order: "Toy Story (1995)". With in_order=True, they are the watched films, oldest
        first. Only `pool` and `pool-favourites` treat the two differently. Without titles, the recommendations are for
        a new user. Raises UnknownTitleError, whose message lists similar titles. Warns if several films have the same
        title, or if a film has too few ratings, so that a similar film replaces it.
        """
        from recsys.serving.filters import Filters
        from recsys.serving.history import parse_titles
        from recsys.serving.predictor import for_unordered_list
        from recsys.serving.recommend import Request, recommend

        predictor = self.predictor if in_order else for_unordered_list(self.predictor)
        titles = [titles] if isinstance(titles, str) else titles
        history, notes = parse_titles(_title_index(self.predictor.dataset), titles) if titles else ([], [])
        for note in notes:
            warnings.warn(note, stacklevel=2)
        return recommend(predictor, Request(tuple(history), k, filters or Filters()))


@lru_cache(maxsize=1)
def _default_dataset(version: str, report: "ProgressCallback | None") -> "Dataset":
    """Return DEFAULT_DATASET. `version`, its version on disk, is only part of the cache key."""
    return load(report=report)


@lru_cache(maxsize=1)  # building an index takes 0.2 to 0.8 s
def _title_index(data: "Dataset") -> "TitleIndex":
    """Return the search index of a data set."""
    from recsys.serving.search.search import TitleIndex

    return TitleIndex(data.catalog, data.counts)
