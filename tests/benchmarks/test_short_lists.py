import json

import pytest

from benchmarks import short_lists
from recsys.serving import predictor


@pytest.mark.slow
def test_the_default_recommender_serves_short_lists_better_than_the_best_network(home, tmp_path, capsys):
    assert predictor.default_name("ml-latest-sample") == "pool"
    file = tmp_path / "figures.json"
    arguments = ["pool", "sasrec-memory", "--lengths", "1", "3", "--users", "500", "--json", str(file)]
    short_lists.main(arguments)
    pool, network = json.loads(file.read_text("utf-8"))["rows"]
    for length in ("1", "3"):
        assert pool[length]["ndcg@10"] > network[length]["ndcg@10"]
