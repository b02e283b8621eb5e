"""Measure how long it takes to rank the test film of every user among all films that the user has not seen."""

import time
from typing import Any

from recsys import checkpoints
from recsys.config import config_class
from recsys.data import datasets
from recsys.evaluation import protocols
from recsys.evaluation.rank import rank_held_out
from recsys.ranking.metrics import ndcg
from recsys.runtime import peak_memory_mb


@config_class
class Options:
    """The data set and the recommender to evaluate."""

    dataset: str = "ml-1m"  # name of a data set that has been downloaded
    model: str = "bert4rec"  # the recommender: trained, shipped, or one that is fitted on first use


def measure(options: Options) -> dict[str, Any]:
    """Return wall time, CPU time, peak memory and NDCG@10. Loading the data and the model is not timed."""
    dataset = datasets.load(options.dataset)
    model = checkpoints.load_or_fit(options.model, dataset)
    held_out = protocols.FULL.split(dataset).test
    start, cpu_start = time.perf_counter(), time.process_time()
    test_ranks = rank_held_out(model, held_out, protocols.FULL, dataset, with_lists=False).ranks
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
        "memory_mb": round(peak_memory_mb(), 1),  # peak of the process, loading included
        "ndcg@10": round(ndcg(test_ranks, 10), 6),
    }


def lines(result: dict[str, Any]) -> list[str]:
    """Format a result of `measure` for the terminal."""
    return [
        f"{result['model']} on {result['device']}, {result['users']:,} users of {result['dataset']}, "
        f"test film ranked among the unseen of {result['films']:,} films: NDCG@10 {result['ndcg@10']:.4f}",
        f"{result['seconds']:.2f} s ({result['cpu_seconds']:.2f} s of CPU), {result['users_per_second']:,.0f} users/s, "
        f"{result['memory_mb']:,.0f} MB at most",
    ]
