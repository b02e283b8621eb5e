"""One pass over the held-out queries: each batch is scored once, and what the measures need of the scores is kept.

Shapes: B queries, I items, K films of a list.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from recsys.data.schema import Dataset, HeldOut, Queries
from recsys.data.split import leave_one_out
from recsys.evaluation.metrics import ScoreError, target_ranks
from recsys.evaluation.protocols import Protocol
from recsys.models.base import Recommender
from recsys.serving.recommend import log_sum_exp, top
from recsys.training import distributed
from recsys.training.run import ignore

Report = Callable[[dict[str, Any]], None]
Link = Callable[[np.ndarray, np.ndarray], np.ndarray]  # scores (I,) and films (K,) → predicted probabilities (K,)

LIST = 10  # K


@dataclass(frozen=True)
class Lists:
    """What would have been recommended: seen films hidden, equal scores by item number."""

    films: np.ndarray  # (B, K) items, best first; -1 where the films ran out
    chances: np.ndarray | None  # (B, K) predicted probabilities; None: this model's scores are none


def ranks(
    model: Recommender,
    held_out: HeldOut,
    protocol: Protocol,
    dataset: Dataset,
    report: Report = ignore,
    batch: int = 256,
) -> np.ndarray:
    """(B,) int rank of each held-out film, 1 = best; a users × films matrix never exists.

    `dataset` is the whole set, from which the sampled protocols take training counts and full histories.
    Processes started by `torchrun` rank a share each and all get the whole.
    Reports {"stage": "rank", "done", "total"} after each batch. Raises ScoreError when the scores are not (B, I) finite
    numbers, ProtocolError when the data is too small for the protocol.
    """
    counts = leave_one_out(dataset).train.counts if protocol.sampled else np.empty(0)
    found = np.zeros(len(held_out), np.int64)
    for part, queries, scores in _scored(model, held_out, dataset, report, batch):
        found[part] = _ranks(scores, queries, held_out.targets[part], protocol, dataset, counts)
    return distributed.combined(found)


def ranks_and_lists(
    model: Recommender,
    held_out: HeldOut,
    protocol: Protocol,
    dataset: Dataset,
    report: Report = ignore,
    batch: int = 256,
) -> tuple[np.ndarray, Lists]:
    """`ranks` for a protocol that ranks the whole catalogue, and the lists that its users would have seen.

    Probabilities are those that the app prints, over all films, seen ones included; those of a model trained with gBCE
    are σ(score - log I), its paper's σ(score) (arXiv:2308.07192): our loss counts scores from the logit of 1 / I.
    """
    link = _link(model)
    found = np.zeros(len(held_out), np.int64)
    films = np.zeros((len(held_out), LIST), np.int64)
    chances = np.zeros((len(held_out), LIST))
    for part, queries, scores in _scored(model, held_out, dataset, report, batch):
        found[part] = _ranks(scores, queries, held_out.targets[part], protocol, dataset, np.empty(0))
        for row, history in enumerate(queries.histories):
            films[part.start + row], chances[part.start + row] = _list(scores[row], history, link)
    lists = Lists(distributed.combined(films), distributed.combined(chances) if link else None)
    return distributed.combined(found), lists


def _scored(
    model: Recommender, held_out: HeldOut, dataset: Dataset, report: Report, batch: int
) -> Iterator[tuple[slice, Queries, np.ndarray]]:
    """This process's batches: which rows, the queries, and scores (B, I) that ranks can be taken from."""
    for start in distributed.share(np.arange(0, len(held_out), batch)):
        part = slice(int(start), min(int(start) + batch, len(held_out)))
        queries = held_out.queries[part]
        yield part, queries, _scores(model, queries, dataset.n_items)
        report({"stage": "rank", "done": part.stop, "total": len(held_out)})


def _scores(model: Recommender, queries: Queries, n_items: int) -> np.ndarray:
    """(B, I) finite scores, or a ScoreError."""
    scores = model.score(queries)
    if np.shape(scores) != (len(queries), n_items):
        raise ScoreError(f"{model.title} returned scores of shape {np.shape(scores)}, not {(len(queries), n_items)}")
    if not np.isfinite(scores).all():
        raise ScoreError(f"{model.title} returned NaN or infinite scores; train it again with a lower learning rate")
    return scores


def _ranks(
    scores: np.ndarray, queries: Queries, targets: np.ndarray, protocol: Protocol, dataset: Dataset, counts: np.ndarray
) -> np.ndarray:
    """(B,) rank of each target among all films not seen, or among itself and its user's sampled films."""
    if not protocol.sampled:
        return target_ranks(scores, targets, queries.histories)
    assert queries.users is not None, "held-out queries know their users"
    histories = [dataset.history(user) for user in queries.users]
    films = np.column_stack([targets, protocol.candidates(counts, histories, queries.users)])  # (B, 1 + N)
    nothing_seen = [np.empty(0, np.int64)] * len(films)
    return target_ranks(np.take_along_axis(scores, films, 1), np.zeros(len(films), np.int64), nothing_seen)


def _list(scores: np.ndarray, seen: np.ndarray, link: Link | None) -> tuple[np.ndarray, np.ndarray]:
    """(K,) the first films after a history and (K,) their probabilities, 0 where there are none; scores (I,)."""
    films, chances = np.full(LIST, -1), np.zeros(LIST)
    best = top(scores.astype(np.float64), seen, LIST)  # of a copy: hiding films overwrites their scores
    films[: len(best)] = best
    if link:
        chances[: len(best)] = link(scores, best)
    return films, chances


def _link(model: Recommender) -> Link | None:
    """What makes probabilities of a model's scores, if anything does."""
    if model.softmax:
        return lambda scores, films: np.exp(scores[films] - log_sum_exp(scores))
    if getattr(model.config, "loss", "") == "gbce":
        return lambda scores, films: expit(scores[films] - np.log(len(scores)))  # as the loss counts them
    return None
