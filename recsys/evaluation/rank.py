"""Rank held-out items: each batch of queries is scored once.

Shapes: B queries, I items, K items of a list.
"""

from dataclasses import dataclass

import numpy as np

from recsys.data.dataset import Dataset, HeldOut, Queries
from recsys.evaluation.protocols import Protocol
from recsys.models.base import Model
from recsys.progress import ProgressCallback, no_progress
from recsys.ranking.ranking import Ranking, ScoreError
from recsys.training import distributed

LIST_LENGTH = 10  # K
NO_ITEMS = np.empty(0, np.int64)


@dataclass(frozen=True)
class HeldOutRanks:
    """Ranks of the held-out items and, if requested, the lists that their users would get."""

    ranks: np.ndarray  # (B,) int64, 1 = best
    lists: np.ndarray | None = None  # (B, K) items that are not in the history, best first; -1: no item is left
    probabilities: np.ndarray | None = None  # (B, K) of each listed item to be the next one; None: the model gives none


def ranks(
    model: Model,
    held_out: HeldOut,
    protocol: Protocol,
    dataset: Dataset,
    report: ProgressCallback = no_progress,
    batch: int = 256,
    seed: int = 0,
) -> np.ndarray:
    """Return only the ranks (B,) of `rank_held_out`."""
    return rank_held_out(model, held_out, protocol, dataset, seed, report, with_lists=False, batch=batch).ranks


def rank_held_out(
    model: Model,
    held_out: HeldOut,
    protocol: Protocol,
    dataset: Dataset,
    seed: int = 0,
    report: ProgressCallback = no_progress,
    with_lists: bool = True,
    batch: int = 256,
) -> HeldOutRanks:
    """Rank each held-out item among the items that the protocol lets it compete with.

    A tie counts against the held-out item. In lists, equal scores are ordered by item number. Sampled protocols give no
    lists. Each process that `torchrun` started ranks a part, and all processes return the whole result.

    `dataset` is the whole data set, and `seed` the training seed of the split. `report` is called with {"stage":
    "rank", "done", "total"} after each batch.

    Raises:
        ScoreError: The scores are not finite numbers of shape (B, I).
        ProtocolError: The data set is too small for the protocol.
    """
    n, with_lists = len(held_out), with_lists and not protocol.n_candidates
    counts = protocol.split(dataset, seed).train.counts if protocol.n_candidates else NO_ITEMS
    # without real scores, so that all processes agree
    has_probabilities = model.log_probabilities(np.zeros(dataset.n_items, np.float32), NO_ITEMS) is not None
    target_ranks, lists = np.zeros(n, np.int64), np.zeros((n, LIST_LENGTH), np.int64)
    probabilities = np.zeros((n, LIST_LENGTH))
    for start in distributed.shard(np.arange(0, n, batch)):
        rows = range(start, min(start + batch, n))
        queries, targets = held_out.queries[rows.start : rows.stop], held_out.targets[rows.start : rows.stop]
        scores = _scores(model, queries, dataset.n_items)
        if protocol.n_candidates:
            assert queries.users is not None, "held-out queries have users"
            histories = [dataset.history(user) for user in queries.users]
            competing = np.column_stack([targets, protocol.candidates(counts, histories, queries.users)])  # (B, 1 + N)
            for row, of_row in zip(rows, np.take_along_axis(scores, competing, 1), strict=True):
                target_ranks[row] = Ranking.from_scores(of_row).rank_ties_last(0)
        else:
            for row, of_row, history, target in zip(rows, scores, queries.histories, targets, strict=True):
                ranking = Ranking.from_scores(of_row, history, model.log_probabilities)
                if with_lists:
                    lists[row], probabilities[row] = _top(ranking)
                if (history == target).any():  # a target is ranked even if its user has watched it before
                    ranking = Ranking.from_scores(of_row, history[history != target])
                target_ranks[row] = ranking.rank_ties_last(target)
        report({"stage": "rank", "done": rows.stop, "total": n})
    return HeldOutRanks(
        distributed.all_reduce_array(target_ranks),
        distributed.all_reduce_array(lists) if with_lists else None,
        distributed.all_reduce_array(probabilities) if with_lists and has_probabilities else None,
    )


def _scores(model: Model, queries: Queries, n_items: int) -> np.ndarray:
    """Return scores (B, I). Raises ScoreError if they are not finite or have another shape."""
    scores = model.score(queries)
    if np.shape(scores) != (len(queries), n_items):
        raise ScoreError(f"{model.title} returned scores of shape {np.shape(scores)}, not {(len(queries), n_items)}")
    if not np.isfinite(scores).all():
        raise ScoreError(f"{model.title} returned NaN or infinite scores; train it again with a lower learning rate")
    return scores


def _top(ranking: Ranking) -> tuple[np.ndarray, np.ndarray]:
    """Return the best items (K,), -1 if no item is left, and their probabilities (K,), 0 if there are none."""
    items, probabilities = np.full(LIST_LENGTH, -1), np.zeros(LIST_LENGTH)
    best = ranking.top(LIST_LENGTH)
    items[: len(best)] = best
    if (of_best := ranking.probabilities(best)) is not None:
        probabilities[: len(best)] = of_best
    return items, probabilities
