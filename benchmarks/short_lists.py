"""Measure NDCG@10 for short lists: a recommender gets only the newest k films of each user.

    python -m benchmarks.short_lists                                      the default recommender, built-in data set
    python -m benchmarks.short_lists pool sasrec-memory markov --json benchmarks/short_lists.json
    python -m benchmarks.short_lists pool --part valid                    to choose between settings

The data set is split as for the recommenders of the app. The target is the last film of each user, with `--part valid`
the last film but one. All films that the user watched before are excluded, also films that the recommender does not
get. Films with the same score as the target rank above it. The intervals are 95 % bootstrap intervals over users.
`request_ms` is the median time of a request on one thread.
"""

import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.script import parser, request_seconds, write_json
from recsys import checkpoints, machine
from recsys.data import datasets
from recsys.data.dataset import Dataset, HeldOut
from recsys.errors import exit_on_error
from recsys.evaluation import significance
from recsys.evaluation.protocols import FULL
from recsys.evaluation.rank import rank_held_out
from recsys.ranking import metrics
from recsys.serving import predictor
from recsys.serving.recommend import Request

LENGTHS = (1, 2, 3, 5, 10)
WHOLE_HISTORY = 0  # length that means all films, as in `Protocol.n_newest`
REQUEST_LENGTHS = (3, 50)  # films in the timed requests
METRIC = "ndcg@10"
N_REQUESTS = 200


@exit_on_error()
def main(argv: Sequence[str] | None = None) -> None:
    """Measure the named recommenders and print a line for each."""
    arguments = parser(__doc__)
    arguments.add_argument("recommenders", nargs="*", help="names; default: the default recommender")
    arguments.add_argument("--dataset", default=datasets.DEFAULT_DATASET)
    arguments.add_argument("--part", choices=("test", "valid"), default="test")
    arguments.add_argument("--lengths", type=int, nargs="+", default=list(LENGTHS), metavar="K")
    arguments.add_argument("--users", type=int, metavar="N", help="measure the first N users only")
    options = arguments.parse_args(argv)
    dataset = datasets.ensure(options.dataset)
    splitting = datasets.serving_splitting(dataset.name)
    part = getattr(splitting(dataset), options.part)
    held_out = HeldOut(part.queries[: options.users], part.targets[: options.users])
    rows = []
    for name in options.recommenders or [predictor.default_name(dataset.name)]:
        model = checkpoints.load_or_fit(name, dataset, splitting=splitting)
        by_length: dict[str, Any] = {}
        for length in (*options.lengths, WHOLE_HISTORY):
            protocol = replace(FULL, n_newest=length)
            ranks = rank_held_out(model, held_out, protocol, dataset, with_lists=False).ranks
            low, high = significance.intervals(ranks[None])[METRIC]
            value = float(np.mean(metrics.rank_values(ranks, METRIC)))
            by_length[str(length or "all")] = {METRIC: round(value, 4), "interval": [round(low, 4), round(high, 4)]}
        milliseconds = {str(n): round(request_ms(name, dataset, held_out, n), 1) for n in REQUEST_LENGTHS}
        rows.append({"recommender": name, **by_length, "request_ms": milliseconds})
        figures = "  ".join(f"{length}: {figure[METRIC]:.4f}" for length, figure in by_length.items())
        print(f"{name:20s} {figures}  request (3 films): {milliseconds['3']} ms", flush=True)
    description = {"dataset": dataset.name, "part": options.part, "splitting": splitting.name, "users": len(held_out)}
    write_json(options.json, description | {"seed": 0, "machine": machine.describe(), "rows": rows})


def request_ms(name: str, dataset: Dataset, held_out: HeldOut, length: int) -> float:
    """Return the median milliseconds of a request with the newest `length` films of a user."""
    loaded = predictor.load(name, dataset)
    requests = [Request(tuple(history[-length:].tolist())) for history in held_out.queries.histories[:N_REQUESTS]]
    seconds, _ = request_seconds(loaded, [requests[0], *requests])
    return 1000 * statistics.median(seconds[1:])  # without the first request, a warm-up


if __name__ == "__main__":
    main()
