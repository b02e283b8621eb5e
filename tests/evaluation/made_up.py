"""Results that nobody measured."""

import numpy as np

from recsys.evaluation import results
from recsys.ranking.metrics import summary

CIRCUMSTANCES = {"machine": "a machine", "device": "cpu", "date": "2026-01-02T03:04", "versions": {"torch": "2.13"}}


def keep(variant, ranks, dataset="toy", protocol="full", rules=None, **more):
    """Write a result as `evaluate` does, with made-up ranks (S, B)."""
    ranks = np.asarray(ranks)
    each = [summary(row) for row in ranks]
    document = dict.fromkeys(("variant", "model", "title", "family", "paper"), variant)
    document |= {"dataset": dataset, "protocol": {"name": protocol, "ranked": "all", **(rules or {})}}
    document |= {"fingerprint": "f" * 64, "config": {}, "users": ranks.shape[1]}
    document |= {"seeds": [{"seed": seed, "metrics": metrics} for seed, metrics in enumerate(each)]}
    document |= {"mean": {name: float(np.mean([metrics[name] for metrics in each])) for name in each[0]}}
    document |= {"std": {"ndcg@10": 0.0123} if len(ranks) > 1 else {}, "run": CIRCUMSTANCES}
    results.write(document | more, ranks)
