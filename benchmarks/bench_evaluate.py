"""Measure how long it takes to rank the test film of every user among all films not in the user's history."""

from typing import Any

from benchmarks.script import costs
from recsys import checkpoints
from recsys.config import config_class
from recsys.data import datasets
from recsys.evaluation import protocols
from recsys.evaluation.rank import rank_held_out
from recsys.ranking.metrics import ndcg


@config_class
class Options:
    """The data set and the recommender to evaluate."""

    dataset: str = "ml-1m"  # name of a data set that has been downloaded
    model: str = "bert4rec"  # the recommender: trained, shipped, or one that is fitted on first use


def measure(options: Options) -> dict[str, Any]:
    """Return wall time, CPU time, peak memory and NDCG@10.

    Loading the data set and the model is not timed, but it is part of the peak memory.
    """
    dataset = datasets.load(options.dataset)
    model = checkpoints.load_or_fit(options.model, dataset)
    held_out = protocols.FULL.split(dataset).test
    with costs() as figures:
        test_ranks = rank_held_out(model, held_out, protocols.FULL, dataset, with_lists=False).ranks
    return {
        "dataset": options.dataset,
        "model": options.model,
        "device": model.device,
        "users": len(held_out),
        "films": dataset.n_items,
        **figures,
        "users_per_second": round(len(held_out) / figures["seconds"], 1),
        "ndcg@10": round(ndcg(test_ranks, 10), 6),
    }


def format_lines(result: dict[str, Any]) -> list[str]:
    """Format a result of `measure` for the terminal."""
    return [
        f"{result['model']} on {result['device']}, {result['users']:,} users of {result['dataset']}, "
        f"test film ranked among all unseen films ({result['films']:,} in all): NDCG@10 {result['ndcg@10']:.4f}",
        f"{result['seconds']:.2f} s ({result['cpu_seconds']:.2f} s of CPU), {result['users_per_second']:,.0f} users/s, "
        f"{result['memory_mb']:,.0f} MB at most",
    ]
