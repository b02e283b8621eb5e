from benchmarks import bench_evaluate as evaluate
from recsys.data import datasets
from recsys.evaluation import evaluate as run


def test_the_timed_ranking_has_the_ndcg_of_the_evaluation(toy_home):
    result = evaluate.measure(evaluate.Options(dataset="ml-latest-sample", model="popular"))
    assert result["ndcg@10"] == run.evaluate("popular", datasets.load("ml-latest-sample"))["mean"]["ndcg@10"]
    assert (result["users"], result["films"], result["device"]) == (60, 20, "cpu")
    assert result["users_per_second"] > 0
    assert "60 users of ml-latest-sample" in evaluate.format_lines(result)[0]
