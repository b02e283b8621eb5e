"""Rank held-out items among all items that are not excluded, or among sampled items.

Shapes: B queries, I items, K items of a list, N sampled candidates, T = MAX_RELEVANT.
"""

from dataclasses import dataclass

import numpy as np

from recsys.data.dataset import Dataset, HeldOut, Queries
from recsys.data.split import ORDERS_PER_USER
from recsys.errors import Message
from recsys.evaluation.protocols import Protocol
from recsys.models.base import Model
from recsys.progress import ProgressCallback, no_progress
from recsys.ranking.metrics import MAX_RELEVANT, best_ranks
from recsys.ranking.ranking import Ranking, ScoreError
from recsys.training import distributed

LIST_LENGTH = 10  # K


@dataclass(frozen=True)
class HeldOutRanks:
    """Ranks of the held-out items and, if requested, lists with the K best items of each query.

    If the protocol sets `n_given`, each user has ORDERS_PER_USER queries, with the liked items in different random
    orders. `ranks` then has the `best_ranks` of each query, (users, ORDERS_PER_USER, T).
    """

    ranks: np.ndarray  # (B,) int64, 1 = best
    lists: np.ndarray | None = None  # (B, K) items that are not in the history, best first; -1: no item is left
    probabilities: np.ndarray | None = None  # (B, K) of `lists`; None: the model has no probabilities


def rank_held_out(
    model: Model,
    held_out: HeldOut,
    protocol: Protocol,
    dataset: Dataset,
    report: ProgressCallback = no_progress,
    seed: int = 0,
    batch_size: int = 256,
    with_lists: bool = True,
) -> HeldOutRanks:
    """Rank each held-out item among the items that compete with it under the protocol.

    Items with the same score as the held-out item are ranked before it. If the held-out item is also in the history, no
    item is excluded, except under sampled protocols. Lists never contain items of the history. In lists, items with
    equal scores are in item order. Sampled protocols give no lists. With `protocol.n_newest`, the model gets shortened
    histories, but all items of the whole histories are excluded. Under `torchrun`, each process ranks a part of the
    queries, and all processes return the whole result. `dataset` is the whole data set, and `seed` the training seed.

    Raises ScoreError if the scores are not finite numbers of shape (B, I), and ProtocolError if the data set is too
    small for the protocol.
    """
    if protocol.n_given:
        return _rank_liked(model, held_out, protocol.n_given, dataset.n_items, report, batch_size)
    n_queries = len(held_out)
    with_lists = with_lists and not protocol.n_candidates
    target_ranks = np.zeros(n_queries, np.int64)
    lists = np.zeros((n_queries, LIST_LENGTH), np.int64)
    probabilities = np.zeros((n_queries, LIST_LENGTH))
    for start in distributed.shard(np.arange(0, n_queries, batch_size)):
        rows = range(start, min(start + batch_size, n_queries))
        queries, targets = held_out.queries[rows.start : rows.stop], held_out.targets[rows.start : rows.stop]
        scores = _scores(model, protocol.shorten(queries), dataset.n_items)
        if protocol.n_candidates:
            assert queries.users is not None, "held-out queries have users"
            counts = protocol.split(dataset, seed).train.counts
            # including the target and later films, which must not be candidates either
            whole_histories = [dataset.history(user) for user in queries.users]
            candidates = protocol.candidates(counts, whole_histories, queries.users)  # (B, N)
            competing = np.column_stack([targets, candidates])  # (B, 1 + N), the target in column 0
            for row, row_scores in zip(rows, np.take_along_axis(scores, competing, 1), strict=True):
                target_ranks[row] = Ranking.from_scores(row_scores).rank_ties_last(0)
        else:
            for row, row_scores, history, target in zip(rows, scores, queries.histories, targets, strict=True):
                ranking = Ranking.from_scores(row_scores, history, model.log_probabilities)
                if with_lists:
                    lists[row], probabilities[row] = _top(ranking)
                if (history == target).any():  # excluding only the other items would make the target easy to find
                    ranking = Ranking.from_scores(row_scores)
                target_ranks[row] = ranking.rank_ties_last(target)
        report({"stage": "rank", "done": rows.stop, "total": n_queries})
    # A process without a batch must also take part in the sum below. So a dummy query shows if the model has
    # probabilities.
    zero_scores, no_items = np.zeros(dataset.n_items, np.float32), np.empty(0, np.int64)
    has_probabilities = with_lists and model.log_probabilities(zero_scores, no_items) is not None
    return HeldOutRanks(  # in each process, the rows of other processes are 0, so the sum has all rows
        distributed.all_reduce_array(target_ranks),
        distributed.all_reduce_array(lists) if with_lists else None,
        distributed.all_reduce_array(probabilities) if has_probabilities else None,
    )


def _rank_liked(
    model: Model, held_out: HeldOut, n_given: int, n_items: int, report: ProgressCallback, batch_size: int
) -> HeldOutRanks:
    """Rank the liked items of each query. The model gets the first `n_given`, and the others are the targets."""
    # `data.split.by_user` stores the last liked item as the target and the others as the history
    liked = [np.append(items, last) for items, last in zip(held_out.queries.histories, held_out.targets, strict=True)]
    ranks = np.zeros((len(liked), MAX_RELEVANT), np.int64)
    lists = np.zeros((len(liked), LIST_LENGTH), np.int64)
    for start in distributed.shard(np.arange(0, len(liked), batch_size)):
        rows = range(start, min(start + batch_size, len(liked)))
        histories = [items[:n_given] for items in liked[rows.start : rows.stop]]
        scores = _scores(model, Queries(histories), n_items)
        for row, row_scores, history in zip(rows, scores, histories, strict=True):
            ranking = Ranking.from_scores(row_scores, history)
            lists[row], _ = _top(ranking)
            targets = liked[row][n_given:]
            ranks[row] = best_ranks(np.array([ranking.rank_ties_last(target) for target in targets]))
        report({"stage": "rank", "done": rows.stop, "total": len(liked)})
    ranks, lists = distributed.all_reduce_array(ranks), distributed.all_reduce_array(lists)
    return HeldOutRanks(ranks.reshape(-1, ORDERS_PER_USER, MAX_RELEVANT), lists)


def _scores(model: Model, queries: Queries, n_items: int) -> np.ndarray:
    """Return scores (B, I). Raises ScoreError if they are not finite or have another shape."""
    scores = model.score(queries)
    expected_shape = (len(queries), n_items)
    if np.shape(scores) != expected_shape:
        text = "{title} returned scores of shape {scores}, not {expected}"
        raise ScoreError(text, title=Message(model.title), scores=np.shape(scores), expected=expected_shape)
    if not np.isfinite(scores).all():
        text = (
            "{title} returned NaN or infinite scores; train it again with other settings (a network: with a lower "
            "learning rate)"
        )
        raise ScoreError(text, title=Message(model.title))
    return scores


def _top(ranking: Ranking) -> tuple[np.ndarray, np.ndarray]:
    """Return the K best items and their probabilities, padded with -1 and 0. Without probabilities, all are 0."""
    items = ranking.top(LIST_LENGTH)
    probabilities = ranking.probabilities(items)
    padding = (0, LIST_LENGTH - len(items))
    padded_probabilities = np.zeros(LIST_LENGTH) if probabilities is None else np.pad(probabilities, padding)
    return np.pad(items, padding, constant_values=-1), padded_probabilities
