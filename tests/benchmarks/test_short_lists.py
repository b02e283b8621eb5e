import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import short_lists
from recsys.data.dataset import HeldOut, Queries
from recsys.serving import predictor
from tests import toys
from tests.models.test_pool import Table


def test_ranks_read_the_newest_items_only_and_exclude_the_whole_history(monkeypatch):
    follows = Table(np.eye(6, k=1) * 2 + np.eye(6, k=2))  # best: the next number, then the one after that
    held_out = HeldOut(Queries([np.array([3, 1]), np.array([2, 1])]), np.array([3, 3]))
    model = follows.fit(toys.cycle(6, 10))
    assert short_lists.ranks_of_newest(model, held_out, 1).tolist() == [2, 1]  # 2 was watched by the second user
    given = []
    monkeypatch.setattr(model, "score", lambda queries: given.append(queries) or np.zeros((2, 6)))
    whole = HeldOut(replace(held_out.queries, are_whole=True), held_out.targets)
    for length in (short_lists.WHOLE_HISTORY, 1):
        short_lists.ranks_of_newest(model, whole, length)
    assert [queries.are_whole for queries in given] == [True, False]


@pytest.mark.slow
def test_the_default_recommender_serves_short_lists_better_than_the_best_network(home, tmp_path, capsys):
    assert predictor.default("ml-latest-sample") == "pool"
    file = tmp_path / "figures.json"
    arguments = ["pool", "sasrec-memory", "--lengths", "1", "3", "--users", "500", "--json", str(file)]
    short_lists.main(arguments)
    pool, network = json.loads(file.read_text("utf-8"))["rows"]
    for length in ("1", "3"):
        assert pool[length]["ndcg@10"] > network[length]["ndcg@10"]
