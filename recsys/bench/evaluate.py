"""Measure how long it takes to rank the held-out film of every user among all films."""

import time
from dataclasses import dataclass
from typing import Any

from recsys import store
from recsys.data import movielens
from recsys.evaluation import protocols
from recsys.evaluation.rank_held_out import ranks
from recsys.ranking.metrics import ndcg
from recsys.runtime import peak_memory_mb


@dataclass(frozen=True)
class Options:
    """The data set and the recommender to evaluate."""

    dataset: str = "ml-1m"  # data set, on this machine
    model: str = "bert4rec"  # the recommender: trained, shipped, or one that is fitted on first use


def measure(options: Options) -> dict[str, Any]:
    """Time the ranking for all test users, without loading the data and the model.

    The result includes NDCG@10, so that a reader can compare it with the published value.
    """
    dataset = movielens.load(options.dataset)
    model = store.ready(options.model, dataset)
    held_out = protocols.FULL.split(dataset).test
    start, cpu_start = time.perf_counter(), time.process_time()
    test_ranks = ranks(model, held_out, protocols.FULL, dataset)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
    return {
        "dataset": options.dataset,
        "model": options.model,
        "device": model.device,
        "users": len(held_out),
        "films": dataset.n_items,
        "seconds": round(seconds, 3),
        "cpu_seconds": round(cpu_seconds, 3),
        "users_per_second": round(len(held_out) / seconds, 1),
        "memory_mb": round(peak_memory_mb(), 1),
        "ndcg@10": round(ndcg(test_ranks, 10), 6),
    }


def lines(result: dict[str, Any]) -> list[str]:
    """Format a result of `measure` for the terminal."""
    return [
        f"{result['model']} on {result['device']}, {result['users']:,} users of {result['dataset']}, "
        f"{result['films']:,} films ranked for each: NDCG@10 {result['ndcg@10']:.4f}",
        f"{result['seconds']:.2f} s ({result['cpu_seconds']:.2f} s of CPU), {result['users_per_second']:,.0f} users/s, "
        f"{result['memory_mb']:,.0f} MB at most",
    ]
