import json

import numpy as np
import pytest

from recsys import paths, store
from recsys.__main__ import main
from recsys.data import prepared
from recsys.data.split import by_time, cuts, leave_one_out
from recsys.evaluation import _commands, results
from recsys.evaluation.metrics import ScoreError, ndcg
from recsys.evaluation.protocols import FULL, POPULARITY_100, PROTOCOLS
from recsys.evaluation.run import EvaluationError, evaluate, ranks
from tests import fakes, toys

CYCLE = toys.cycle()
SPLIT = leave_one_out(CYCLE)
SPANNING = toys.over_days([[((user + place) % 30, 4 * place + user % 4) for place in range(10)] for user in range(40)])


def wide(n_users=40, n_items=300, seed=0):
    """Enough films to draw 100 from; low numbers are watched more often."""
    rng = np.random.default_rng(seed)
    chances = 1 / np.arange(1, n_items + 1)
    chances /= chances.sum()
    return toys.dataset([rng.choice(n_items, 25, replace=False, p=chances) for _ in range(n_users)], n_items, "wide")


class Oracle(fakes.Counts):
    """Knows that the next film is the last one plus one."""

    def score(self, queries):
        return np.eye(20, dtype=np.float32)[[(history[-1] + 1) % 20 for history in queries.histories]]


class Broken(fakes.Counts):
    def __init__(self, scores):
        super().__init__()
        self.scores = scores

    def score(self, queries):
        return self.scores


def train(seed, power=1.0, dataset=CYCLE):
    model = fakes.Trained(fakes.CountsConfig(power)).fit(leave_one_out(dataset).train)
    model.counts = model.counts + seed * np.arange(dataset.n_items, dtype=np.float32)
    store.save(paths.checkpoint(dataset.name, "trained", seed), "trained", model, dataset, seed)


def test_whoever_knows_the_cycle_ranks_every_target_first():
    for held_out in (SPLIT.valid, SPLIT.test):
        assert (ranks(Oracle(), held_out, FULL, CYCLE) == 1).all()


def test_ranks_do_not_depend_on_the_batch_size():
    dataset = wide()
    split = leave_one_out(dataset)
    model = fakes.Counts().fit(split.train)
    for protocol in (FULL, POPULARITY_100):
        expected = ranks(model, split.test, protocol, dataset)
        assert np.array_equal(ranks(model, split.test, protocol, dataset, batch=7), expected)
        assert len(set(expected)) > 5


def test_popularity_100_ranks_the_target_among_its_users_100_films():
    dataset = wide()
    split = leave_one_out(dataset)
    model = fakes.Counts().fit(split.train)
    found = ranks(model, split.test, POPULARITY_100, dataset)
    lists = POPULARITY_100.candidates(split.train.counts, dataset.histories, split.test.queries.users)
    for rank, target, films in zip(found, split.test.targets, lists, strict=True):
        assert rank == 1 + sum(model.counts[film] >= model.counts[target] for film in films)


def test_progress_is_reported_batch_by_batch():
    events = []
    ranks(Oracle(), SPLIT.test, FULL, CYCLE, events.append, batch=150)
    assert events == [{"stage": "rank", "done": done, "total": 200} for done in (150, 200)]


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.full((200, 20), np.nan), "NaN"),
        (np.where(np.arange(20) == 3, -np.inf, np.zeros((200, 1))), "infinite"),
        (np.zeros((200, 22)), r"\(200, 22\), not \(200, 20\)"),
        (None, "not"),
    ],
)
@pytest.mark.parametrize("protocol", [FULL, POPULARITY_100])
def test_scores_that_cannot_be_ranked_are_refused_in_words(scores, message, protocol):
    with pytest.raises(ScoreError, match=message):
        ranks(Broken(scores), SPLIT.test, protocol, CYCLE)


def test_every_trained_seed_is_measured_and_averaged():
    for seed in (0, 1, 4):
        train(seed)
    document = evaluate("trained", CYCLE)
    assert [run["seed"] for run in document["seeds"]] == [0, 1, 4]
    each = [run["metrics"]["ndcg@10"] for run in document["seeds"]]
    assert document["mean"]["ndcg@10"] == pytest.approx(np.mean(each), abs=1e-6)
    assert document["std"]["ndcg@10"] == pytest.approx(np.std(each, ddof=1), abs=1e-6)
    assert len(set(each)) > 1


def test_the_document_says_what_was_measured_and_is_what_was_written():
    document = evaluate("counts", CYCLE)
    assert document["model"] == "Counts"
    assert document["protocol"] == {"name": "full", **FULL.rules}
    assert document["fingerprint"] == CYCLE.fingerprint
    assert document["config"] == {"power": 1.0, "sizes": (3, 4)}
    assert document["std"] == {}  # the spread of a single run was not measured
    written = results.load("cycle", "full", "counts")
    for name in ("seeds", "mean", "protocol", "fingerprint", "variant"):
        assert written[name] == document[name]
    kept = results.ranks("cycle", "full", "counts")
    assert kept.shape == (1, 200)
    assert ndcg(kept[0], 10) == pytest.approx(document["mean"]["ndcg@10"], abs=1e-6)


def test_the_document_tells_how_sure_its_figures_are_and_what_the_lists_were_like():
    for seed in (0, 1):
        train(seed)
    document = evaluate("trained", CYCLE)
    assert set(document["interval"]) == set(results.METRICS)
    assert all(low <= document["mean"][name] <= high for name, (low, high) in document["interval"].items())
    each = [run["beyond"]["novelty@10"] for run in document["seeds"]]
    assert document["beyond"]["novelty@10"] == pytest.approx(np.mean(each), abs=1e-6)
    assert "calibration" not in document  # counts are no probabilities
    assert json.loads(json.dumps(document))["interval"] == document["interval"]
    sampled = evaluate("counts", wide(), "uniform-100")
    assert "beyond" not in sampled  # among drawn films nothing is recommended
    assert sampled["interval"]["hr@10"][1] > 0


def test_where_scores_give_probabilities_they_are_compared_with_what_happened(monkeypatch):
    monkeypatch.setattr(fakes.Counts, "softmax", True)
    found = evaluate("counts", CYCLE)["calibration"]
    assert 0 <= found["ece"] <= 1
    assert len(found["by_rank"]["predicted"]) == len(found["by_rank"]["hit_rate"]) == 9  # of 20 films 11 were seen
    assert sum(row["share"] for row in found["bins"]) == pytest.approx(1, abs=1e-5)


def test_a_second_run_repeats_everything_but_the_circumstances(home):
    folder = paths.results(home, "cycle", "full")
    first = evaluate("counts", CYCLE) and {path.name: path.read_bytes() for path in folder.iterdir()}
    again = evaluate("counts", CYCLE) and {path.name: path.read_bytes() for path in folder.iterdir()}
    assert first["counts.npz"] == again["counts.npz"]
    first, again = json.loads(first["counts.json"]), json.loads(again["counts.json"])
    assert first.pop("run")["date"]
    assert again.pop("run")["seconds"] >= 0
    assert json.dumps(first) == json.dumps(again)


def test_validation_figures_are_returned_but_never_become_a_result():
    document = evaluate("counts", CYCLE, part="valid")
    assert results.available() == []
    expected = ranks(store.ready("counts", CYCLE), SPLIT.valid, FULL, CYCLE)
    assert document["mean"]["mrr"] == pytest.approx(np.mean(1 / expected), abs=1e-6)
    assert document["mean"] != evaluate("counts", CYCLE)["mean"]


def test_shipping_puts_the_same_files_into_assets(home):
    evaluate("counts", CYCLE, ship=True)
    for name in ("counts.json", "counts.npz"):
        kept, shipped = (paths.results(root, "cycle", "full") / name for root in (home, paths.ASSETS))
        assert kept.read_bytes() == shipped.read_bytes()


def test_seeds_with_different_settings_are_not_averaged():
    train(0)
    train(1, power=2.0)
    with pytest.raises(EvaluationError, match="different settings; choose some with --seeds"):
        evaluate("trained", CYCLE)
    assert len(evaluate("trained", CYCLE, seeds=[1])["seeds"]) == 1


def test_for_time_a_model_is_measured_that_knows_nothing_of_what_came_after_the_cut():
    document = evaluate("counts", SPANNING, "time")
    assert document["protocol"]["dates"] == cuts(SPANNING).dates
    split = by_time(SPANNING)
    found = results.ranks("days", "time", "counts")
    assert np.array_equal(found[0], ranks(fakes.Counts().fit(split.train), split.test, FULL, SPANNING))
    evaluate("counts", SPANNING)
    kept = [store.ready("counts", SPANNING, protocol=protocol).counts for protocol in ("full", "time")]
    assert np.array_equal(kept[0], leave_one_out(SPANNING).train.counts)
    assert np.array_equal(kept[1], split.train.counts)


def test_for_time_a_model_that_has_to_be_trained_needs_a_training_of_its_own():
    train(0, dataset=SPANNING)
    with pytest.raises(store.StoreError, match=r"run: python -m recsys train trained --dataset days --protocol time$"):
        evaluate("trained", SPANNING, "time")
    model = fakes.Trained().fit(by_time(SPANNING).train)
    store.save(
        paths.checkpoint(paths.training("days", "time"), "trained", 3), "trained", model, SPANNING, 3, {}, "time"
    )
    assert [run["seed"] for run in evaluate("trained", SPANNING, "time")["seeds"]] == [3]
    assert [run["seed"] for run in evaluate("trained", SPANNING, "full")["seeds"]] == [0]


def test_a_model_trained_for_time_on_the_command_line_is_the_one_that_is_measured(capsys):
    prepared.save(SPANNING, {})
    assert main(["train", "trained", "--dataset", "days", "--protocol", "time", "--seed", "2"]) == 0
    assert "evaluate trained --dataset days --protocol time" in capsys.readouterr().out
    kept = store.load(store.find("trained", "days@time"), SPANNING)
    assert np.array_equal(kept.counts, by_time(SPANNING).train.counts)
    assert main(["evaluate", "trained", "--dataset", "days", "--protocol", "time"]) == 0
    assert main(["evaluate", "trained", "--dataset", "days"]) == 1  # nothing was trained for leave-one-out


def test_a_model_in_the_wrong_place_is_not_measured_on_what_it_has_learnt():
    train(0, dataset=SPANNING)
    where = paths.checkpoint(paths.training("days", "time"), "trained", 0)
    where.parent.mkdir(parents=True)
    paths.checkpoint("days", "trained", 0).rename(where)
    with pytest.raises(store.StoreError, match=r"learnt from what the protocol time holds out; run: .*--protocol time"):
        evaluate("trained", SPANNING, "time")


def test_the_command_prints_a_table_or_one_line(monkeypatch, capsys):
    monkeypatch.setattr(_commands.movielens, "load", lambda name: CYCLE)
    assert _commands.evaluate_command("counts", "cycle") == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "Counts · cycle · full · test"
    assert [line.split()[0] for line in printed[2:]] == list(results.METRICS)
    for variant, protocol in (("nobody", "full"), ("trained", "full"), ("counts", "popularity-100")):
        assert _commands.evaluate_command(variant, "cycle", protocol) == 1
        message = capsys.readouterr().err.strip()
        assert message
        assert "\n" not in message


def test_all_models_and_protocols_are_measured_in_one_call_and_what_cannot_be_is_told(monkeypatch, capsys):
    monkeypatch.setattr(_commands.movielens, "load", lambda name: SPANNING)
    train(0, dataset=SPANNING)
    assert _commands.evaluate_command("all", "days", "all") == 0
    printed = capsys.readouterr()
    assert [line.split()[:2] for line in printed.out.splitlines()] == [
        ["counts", "full"],
        ["trained", "full"],
        ["counts", "time"],
    ]
    skipped = printed.err.splitlines()
    assert [line.split(":")[0] for line in skipped if line.startswith("skipped")] == [
        "skipped counts, popularity-100",
        "skipped trained, popularity-100",
        "skipped counts, uniform-100",
        "skipped trained, uniform-100",
        "skipped trained, time",
    ]
    assert "train trained --dataset days --protocol time" in skipped[-1]
    assert results.available() == [("days", "full"), ("days", "time")]


def test_all_of_nothing_is_a_failure(monkeypatch, capsys):
    monkeypatch.setattr(_commands.movielens, "load", lambda name: toys.dataset([[0], [1], [2]], 3))
    assert _commands.evaluate_command("all", "toy", "all") == 1
    assert "nobody has three films" in capsys.readouterr().err


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
def test_users_of_one_film_each_end_in_a_sentence_under_every_protocol(monkeypatch, capsys, protocol):
    monkeypatch.setattr(_commands.movielens, "load", lambda name: toys.dataset([[0], [1], [2]], 3))
    assert _commands.evaluate_command("counts", "toy", protocol) == 1
    (message,) = capsys.readouterr().err.splitlines()
    assert "toy: nobody" in message
    assert "choose another data set" in message or "use --protocol full" in message


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("protocol", list(PROTOCOLS))
def test_a_model_without_numbers_ends_in_a_sentence_and_leaves_no_result(monkeypatch, capsys, protocol, bad):
    monkeypatch.setattr(_commands.movielens, "load", lambda name: SPANNING)
    monkeypatch.setattr(fakes.Counts, "score", lambda self, queries: np.full((len(queries), 30), bad, np.float32))
    assert _commands.evaluate_command("counts", "days", protocol) == 1
    assert "train it again with a lower learning rate" in capsys.readouterr().err
    assert results.available() == []


def test_results_from_before_intervals_were_measured_are_still_read():
    document = evaluate("counts", CYCLE)
    old = {name: value for name, value in document.items() if name not in ("interval", "beyond", "calibration")}
    results.write(old, results.ranks("cycle", "full", "counts"))
    assert results.leaderboard("cycle", "full")["ndcg@10"].tolist() == [document["mean"]["ndcg@10"]]
    assert "interval" not in results.load("cycle", "full", "counts")
