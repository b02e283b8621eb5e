"""One pass over the held-out queries: each batch is scored once, and what the measures need of the scores is kept.

Shapes: B queries, I items, K items of a list.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from recsys.data.dataset import Dataset, HeldOut, Queries
from recsys.evaluation.protocols import Protocol
from recsys.models.base import Model
from recsys.progress import ProgressCallback, no_progress
from recsys.ranking.metrics import target_ranks
from recsys.ranking.ranking import Ranking, ScoreError
from recsys.training import distributed

LIST = 10  # K
NO_ITEMS = np.empty(0, np.int64)


@dataclass(frozen=True)
class Lists:
    """What would have been recommended: seen items hidden, equal scores in the order of item numbers."""

    items: np.ndarray  # (B, K) best first; -1 where no more items are left
    probabilities: np.ndarray | None  # (B, K) that this unseen item is the next one; None: the model gives none


def ranks(
    model: Model,
    held_out: HeldOut,
    protocol: Protocol,
    dataset: Dataset,
    report: ProgressCallback = no_progress,
    batch: int = 256,
) -> np.ndarray:
    """(B,) int rank of each held-out item, 1 = best; a matrix of users × items never exists.

    `dataset` is the whole set, from which the sampled protocols take training counts and full histories. Processes
    started by `torchrun` rank a part each, and each gets all ranks. Reports {"stage": "rank", "done", "total"} after
    each batch. Raises ScoreError when the scores are not (B, I) finite numbers, ProtocolError when the data is too
    small for the protocol.
    """
    counts = protocol.split(dataset).train.counts if protocol.sampled else NO_ITEMS
    found = np.zeros(len(held_out), np.int64)
    for part, queries, scores in _scored(model, held_out, dataset, report, batch):
        targets = held_out.targets[part]
        if protocol.sampled:
            found[part] = _ranks_among_sampled(scores, queries, targets, protocol, dataset, counts)
        else:
            found[part] = target_ranks(scores, targets, queries.histories)
    return distributed.all_reduce_array(found)


def ranks_and_lists(
    model: Model, held_out: HeldOut, dataset: Dataset, report: ProgressCallback = no_progress, batch: int = 256
) -> tuple[np.ndarray, Lists]:
    """`ranks` among the whole catalogue, and the lists that these users would have seen.

    Probabilities are those that people are shown: of an item, given that the next item is one of the unseen ones.
    """
    found = np.zeros(len(held_out), np.int64)
    items = np.zeros((len(held_out), LIST), np.int64)
    probabilities = np.zeros((len(held_out), LIST))
    for part, queries, scores in _scored(model, held_out, dataset, report, batch):
        found[part] = target_ranks(scores, held_out.targets[part], queries.histories)
        for row, history in enumerate(queries.histories):
            ranking = Ranking.from_scores(scores[row], history, model.log_probabilities)
            items[part.start + row], probabilities[part.start + row] = _first(ranking)
    given = _gives_probabilities(model, dataset.n_items)
    lists = Lists(distributed.all_reduce_array(items), distributed.all_reduce_array(probabilities) if given else None)
    return distributed.all_reduce_array(found), lists


def _scored(
    model: Model, held_out: HeldOut, dataset: Dataset, report: ProgressCallback, batch: int
) -> Iterator[tuple[slice, Queries, np.ndarray]]:
    """This process's batches: which rows, the queries, and scores (B, I) that ranks can be taken from."""
    for start in distributed.shard(np.arange(0, len(held_out), batch)):
        part = slice(int(start), min(int(start) + batch, len(held_out)))
        queries = held_out.queries[part]
        yield part, queries, _scores(model, queries, dataset.n_items)
        report({"stage": "rank", "done": part.stop, "total": len(held_out)})


def _scores(model: Model, queries: Queries, n_items: int) -> np.ndarray:
    """(B, I) finite scores, or a ScoreError."""
    scores = model.score(queries)
    if np.shape(scores) != (len(queries), n_items):
        raise ScoreError(f"{model.title} returned scores of shape {np.shape(scores)}, not {(len(queries), n_items)}")
    if not np.isfinite(scores).all():
        raise ScoreError(f"{model.title} returned NaN or infinite scores; train it again with a lower learning rate")
    return scores


def _ranks_among_sampled(
    scores: np.ndarray, queries: Queries, targets: np.ndarray, protocol: Protocol, dataset: Dataset, counts: np.ndarray
) -> np.ndarray:
    """(B,) rank of each target among itself and the items drawn for its user; scores (B, I), counts (I,)."""
    assert queries.users is not None, "held-out queries know their users"
    histories = [dataset.history(user) for user in queries.users]
    items = np.column_stack([targets, protocol.candidates(counts, histories, queries.users)])  # (B, 1 + N)
    first = np.zeros(len(items), np.int64)
    return target_ranks(np.take_along_axis(scores, items, 1), first, [NO_ITEMS] * len(items))


def _first(ranking: Ranking) -> tuple[np.ndarray, np.ndarray]:
    """(K,) the best items, -1 where no more are left, and (K,) their probabilities, 0 where there are none."""
    items, probabilities = np.full(LIST, -1), np.zeros(LIST)
    best = ranking.top(LIST)
    items[: len(best)] = best
    found = ranking.probabilities(best)
    if found is not None:
        probabilities[: len(best)] = found
    return items, probabilities


def _gives_probabilities(model: Model, n_items: int) -> bool:
    """Whether this model gives probabilities; found without scoring, because all processes have to agree."""
    return model.log_probabilities(np.zeros(n_items, np.float32), NO_ITEMS) is not None
