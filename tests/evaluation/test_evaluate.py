import json
import shutil
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from recsys import checkpoints, paths
from recsys.cli.main import main
from recsys.data import prepared
from recsys.data.split import BY_TIME, LEAVE_ONE_OUT, UNTIED, Splitting, by_time, latest_cuts, leave_one_out
from recsys.errors import RecsysError
from recsys.evaluation import protocols, report, results, significance, tables
from recsys.evaluation.evaluate import EvaluationError, evaluate
from recsys.evaluation.protocols import FULL, POPULARITY_100, PROTOCOLS, TIE_RULES, UNTIED_FULL, Protocol
from recsys.evaluation.rank import rank_held_out
from recsys.models.registry import UnknownModelError
from recsys.ranking.metrics import ndcg
from recsys.ranking.ranking import ScoreError, log_sum_exp
from tests import fakes, toys
from tests.artifacts import change

CYCLE = toys.cycle()
SPLIT = leave_one_out(CYCLE)
SPANNING = toys.over_days([[((user + place) % 30, 4 * place + user % 4) for place in range(12)] for user in range(40)])


def wide(n_users=40, n_items=300, seed=0):
    """Enough films to draw 100 from; low numbers are watched more often."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, n_items + 1)
    shares /= shares.sum()
    return toys.dataset([rng.choice(n_items, 25, replace=False, p=shares) for _ in range(n_users)], n_items, "wide")


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


def train(seed, power=1.0, dataset=CYCLE, splitting=LEAVE_ONE_OUT, notes=None):
    model = fakes.Trained(fakes.CountsConfig(power=power)).fit(splitting(dataset).train)
    model.counts = model.counts + seed * np.arange(dataset.n_items, dtype=np.float32)
    return checkpoints.save("trained", model, dataset, seed, notes, splitting=splitting)


def test_whoever_knows_the_cycle_ranks_every_target_first():
    for held_out in (SPLIT.valid, SPLIT.test):
        assert (rank_held_out(Oracle(), held_out, FULL, CYCLE).ranks == 1).all()


def test_ranks_do_not_depend_on_the_batch_size():
    dataset = wide()
    split = leave_one_out(dataset)
    model = fakes.Counts().fit(split.train)
    for protocol in (FULL, POPULARITY_100):
        expected = rank_held_out(model, split.test, protocol, dataset).ranks
        assert np.array_equal(rank_held_out(model, split.test, protocol, dataset, batch_size=7).ranks, expected)
        assert len(set(expected)) > 5


def test_popularity_100_ranks_the_target_among_its_users_100_items():
    dataset = wide()
    split = leave_one_out(dataset)
    model = fakes.Counts().fit(split.train)
    found = rank_held_out(model, split.test, POPULARITY_100, dataset).ranks
    lists = POPULARITY_100.candidates(split.train.counts, dataset.histories, split.test.queries.users)
    for rank, target, items in zip(found, split.test.targets, lists, strict=True):
        assert rank == 1 + sum(model.counts[item] >= model.counts[target] for item in items)


def test_progress_is_reported_batch_by_batch():
    events = []
    rank_held_out(Oracle(), SPLIT.test, FULL, CYCLE, events.append, batch_size=150)
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
        rank_held_out(Broken(scores), SPLIT.test, protocol, CYCLE)


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
    assert document["protocol"] == {"name": "full", **FULL.rules_on(CYCLE)}
    assert (document["fingerprint"], document["data_sha256"]) == (CYCLE.fingerprint, CYCLE.full_fingerprint)
    assert document["users"] == 200
    assert document["run"]["device"] == "cpu"
    assert document["config"] == {"power": 1.0, "sizes": (3, 4)}
    assert document["std"] == {}  # the spread of a single run was not measured
    written = results.load("cycle", "full", "counts")
    for name in ("seeds", "mean", "protocol", "fingerprint", "variant"):
        assert written[name] == document[name]
    kept = results.ranks("cycle", "full", "counts")
    assert kept.shape == (1, 200)
    assert ndcg(kept[0], 10) == pytest.approx(document["mean"]["ndcg@10"], abs=1e-6)


def test_lists_without_an_unseen_item_are_not_described():
    document = evaluate("counts", toys.dataset([[0, 1, 0], [1, 0, 1]], 2))
    assert "beyond" not in document
    assert "nan" not in str(document)


def test_the_document_says_how_precise_its_figures_are_and_what_the_lists_were_like():
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
    def softmax(self, scores, items):
        return scores[items] - log_sum_exp(scores)

    monkeypatch.setattr(fakes.Counts, "log_probabilities", softmax)
    found = evaluate("counts", CYCLE)["calibration"]
    assert found["over"] == results.UNSEEN_ITEMS
    assert 0 <= found["ece"] <= 1
    assert len(found["by_rank"]["predicted"]) == len(found["by_rank"]["hit_rate"]) == 9  # of 20 films 11 were seen
    assert sum(row["share"] for row in found["bins"]) == pytest.approx(1, abs=1e-5)


def test_a_second_run_repeats_everything_but_the_circumstances(home):
    board = paths.results(home, "cycle", "full")
    first = evaluate("counts", CYCLE) and json.loads(board.read_bytes())
    again = evaluate("counts", CYCLE) and json.loads(board.read_bytes())
    assert first["files"] == again["files"]  # named by hash
    first, again = first["documents"]["counts"], again["documents"]["counts"]
    assert first.pop("run")["date"]
    assert again.pop("run")["seconds"] >= 0
    assert json.dumps(first) == json.dumps(again)


def test_validation_figures_are_returned_but_never_become_a_result():
    document = evaluate("counts", CYCLE, part="valid")
    assert results.available() == []
    expected = rank_held_out(checkpoints.load_or_fit("counts", CYCLE), SPLIT.valid, FULL, CYCLE).ranks
    assert document["mean"]["mrr"] == pytest.approx(np.mean(1 / expected), abs=1e-6)
    assert document["mean"] != evaluate("counts", CYCLE)["mean"]


def test_what_was_fitted_on_validation_is_not_measured_on_it(monkeypatch):
    monkeypatch.setattr(fakes.Counts, "is_fitted_on_validation", True)
    with pytest.raises(EvaluationError, match="were fitted on the validation films"):
        evaluate("counts", CYCLE, part="valid")
    assert evaluate("counts", CYCLE)["users"] == 200


def test_shipping_puts_the_same_files_into_assets(home):
    evaluate("counts", CYCLE, ship=True)
    folders = [paths.results(root, "cycle", "full").parent for root in (home, paths.ASSETS)]
    kept, shipped = ({path.name: path.read_bytes() for path in folder.iterdir()} for folder in folders)
    assert len(kept) == 2
    assert kept == shipped


def test_seeds_with_different_settings_are_not_averaged():
    train(0)
    train(1, power=2.0)
    with pytest.raises(EvaluationError, match="different settings; choose seeds with --seeds"):
        evaluate("trained", CYCLE)
    assert len(evaluate("trained", CYCLE, seeds=[1])["seeds"]) == 1


def test_seeds_added_later_stand_as_if_all_had_been_measured_at_once():
    for seed in (0, 1, 4):
        train(seed)
    at_once, hidden = evaluate("trained", CYCLE), results.ranks("cycle", "full", "trained")
    evaluate("trained", CYCLE, seeds=[1, 4])
    evaluate("trained", CYCLE, seeds=[0, 4], add_to_stored=True)
    later = results.load("cycle", "full", "trained")
    for name in ("seeds", "mean", "std", "interval", "beyond"):
        assert later[name] == at_once[name], name
    assert np.array_equal(results.ranks("cycle", "full", "trained"), hidden)
    assert later["run"]["earlier"]["date"] <= later["run"]["date"]


def test_the_result_remembers_how_long_each_of_its_seeds_was_trained():
    def noted(seed, seconds):
        train(seed, notes={"seconds": seconds, "device": "cpu"})
        return {"seed": seed, "seconds": seconds, "hardware": "cpu"}

    times = [noted(0, 60.0), noted(1, 70.0)]
    train(2)
    assert evaluate("trained", CYCLE)["run"]["trained"] == times
    assert "trained" not in evaluate("trained", CYCLE, seeds=[2])["run"]
    evaluate("trained", CYCLE, seeds=[1])
    train(0, notes={"seconds": 65.0, "device": "cpu"})
    added = evaluate("trained", CYCLE, seeds=[0, 2], add_to_stored=True)
    assert [(one["seed"], one["seconds"]) for one in added["run"]["trained"]] == [(0, 65.0), (1, 70.0)]
    train(1)
    added = evaluate("trained", CYCLE, seeds=[1], add_to_stored=True)
    assert [one["seed"] for one in added["run"]["trained"]] == [0]


def test_each_protocol_has_the_times_of_its_own_trainings():
    train(0, notes={"seconds": 60.0, "device": "cpu"})
    train(0, splitting=UNTIED, notes={"seconds": 70.0, "device": "cpu"})
    assert evaluate("trained", CYCLE, UNTIED_FULL)["run"]["trained"][0]["seconds"] == 70


def test_a_seed_measured_again_takes_the_place_of_the_old_one():
    train(0)
    evaluate("trained", CYCLE)
    model = fakes.Trained(fakes.CountsConfig()).fit(leave_one_out(CYCLE).train)
    model.counts = -model.counts
    checkpoints.save("trained", model, CYCLE, 0)
    alone = rank_held_out(model, SPLIT.test, FULL, CYCLE).ranks
    document = evaluate("trained", CYCLE, add_to_stored=True)
    assert [run["metrics"] for run in document["seeds"]] == [document["mean"]]
    assert np.array_equal(results.ranks("cycle", "full", "trained"), [alone])
    assert document["mean"]["mrr"] == pytest.approx(np.mean(1 / alone), abs=1e-6)


def test_seeds_are_added_only_to_a_result_of_the_same_settings_and_data():
    with pytest.raises(results.ResultError, match="has not been measured yet"):
        train(0) and evaluate("trained", CYCLE, add_to_stored=True)
    evaluate("trained", CYCLE)
    train(1, power=2.0)
    with pytest.raises(
        EvaluationError, match=r"other data or settings; measure all seeds again; run: .*evaluate trained"
    ):
        evaluate("trained", CYCLE, seeds=[1], add_to_stored=True)
    train(1)
    later = replace(CYCLE.interactions, timestamp=CYCLE.interactions.timestamp + 1)
    with pytest.raises(EvaluationError, match="other data or settings"):
        evaluate("trained", replace(CYCLE, interactions=later), seeds=[1], add_to_stored=True)
    assert [run["seed"] for run in results.load("cycle", "full", "trained")["seeds"]] == [0]


def test_a_result_that_does_not_tell_times_and_ratings_yet_is_added_to():
    for seed in (0, 1):
        train(seed)
    evaluate("trained", CYCLE, seeds=[0])
    change(paths.results(paths.home(), "cycle", "full"), "trained", "data_sha256")
    found = evaluate("trained", CYCLE, seeds=[1], add_to_stored=True)
    assert len(found["seeds"]) == 2
    assert found["data_sha256"] == CYCLE.full_fingerprint


def test_seeds_can_be_added_to_a_result_that_lacks_a_list_metric():
    for seed in (1, 4):
        train(seed)
    document = evaluate("trained", CYCLE, seeds=[1])
    del document["seeds"][0]["beyond"]["gini@10"]
    results.write(document, results.ranks("cycle", "full", "trained"))
    assert "gini@10" not in evaluate("trained", CYCLE, seeds=[4], add_to_stored=True)["beyond"]
    # the seed with all metrics comes first
    evaluate("trained", CYCLE, seeds=[4])
    document = results.load("cycle", "full", "trained")
    del document["seeds"][0]["beyond"]["gini@10"]
    results.write(document, results.ranks("cycle", "full", "trained"))
    beyond = evaluate("trained", CYCLE, seeds=[1], add_to_stored=True)["beyond"]
    assert "gini@10" not in beyond
    assert "coverage@10" in beyond


def test_figures_on_validation_are_added_to_nothing():
    for seed in (0, 1):
        train(seed)
    evaluate("trained", CYCLE, seeds=[0])
    document = evaluate("trained", CYCLE, seeds=[1], part="valid", add_to_stored=True)
    assert [row["seed"] for row in document["seeds"]] == [1]


def test_seeds_of_which_some_learnt_from_another_set_too_are_not_measured_together():
    for seed, also in ((0, ""), (1, "ml-1m")):
        model = fakes.Trained(fakes.CountsConfig()).fit(leave_one_out(CYCLE).train)
        model.added_dataset = also
        checkpoints.save("trained", model, CYCLE, seed)
    with pytest.raises(EvaluationError, match="were also trained on another data set; choose seeds with --seeds"):
        evaluate("trained", CYCLE)
    assert "also" not in evaluate("trained", CYCLE, seeds=[0])
    assert evaluate("trained", CYCLE, seeds=[1])["also"] == "ml-1m"


def test_a_result_tells_what_was_known_of_films_where_that_was_read(monkeypatch):
    richer = toys.enriched(CYCLE, {100: {"directors": ["Ann Lee"]}})
    assert "details" not in evaluate("counts", richer)
    monkeypatch.setattr(fakes.Counts, "uses_credits", True)
    assert evaluate("counts", richer)["details"] == richer.catalog.details.fingerprint
    assert "details" not in evaluate("counts", CYCLE)


def test_under_time_a_model_is_measured_that_knows_nothing_of_what_came_after_the_cut():
    document = evaluate("counts", SPANNING, "time")
    assert document["protocol"]["dates"] == latest_cuts(SPANNING).dates
    split = by_time(SPANNING)
    found = results.ranks("days", "time", "counts")
    assert np.array_equal(found[0], rank_held_out(fakes.Counts().fit(split.train), split.test, FULL, SPANNING).ranks)
    evaluate("counts", SPANNING)
    kept = [
        checkpoints.load_or_fit("counts", SPANNING, splitting=splitting).counts
        for splitting in (LEAVE_ONE_OUT, BY_TIME)
    ]
    assert np.array_equal(kept[0], leave_one_out(SPANNING).train.counts)
    assert np.array_equal(kept[1], split.train.counts)


def test_untied_each_seed_learns_from_its_own_drawing_and_is_measured_on_it():
    tied = replace(CYCLE, interactions=replace(CYCLE.interactions, timestamp=CYCLE.interactions.timestamp // 600))
    document = evaluate("counts", tied, "untied", seeds=[0, 2])
    assert "the training seed" in document["protocol"]["order"]
    found = results.ranks("cycle", "untied", "counts")
    for row, seed in enumerate([0, 2]):
        split = UNTIED(tied, seed)
        assert np.array_equal(
            checkpoints.load_or_fit("counts", tied, seed, splitting=UNTIED).counts, split.train.counts
        )
        assert np.array_equal(found[row], rank_held_out(fakes.Counts().fit(split.train), split.test, FULL, tied).ranks)
    assert np.array_equal(results.comparable_ranks("cycle", "untied", "counts"), found[:1])
    assert not np.array_equal(found[0], found[1])
    evaluate("counts", tied, "untied", seeds=[2])
    with pytest.raises(results.ResultError, match="has no result for seed 0"):
        results.comparable_ranks("cycle", "untied", "counts")


def test_under_time_a_model_that_needs_training_needs_one_of_its_own():
    train(0, dataset=SPANNING)
    with pytest.raises(checkpoints.CheckpointError) as refused:
        evaluate("trained", SPANNING, "time")
    assert "-m recsys train trained --dataset days" in refused.value.command
    assert refused.value.command.endswith(" time")
    train(3, dataset=SPANNING, splitting=BY_TIME)
    assert [run["seed"] for run in evaluate("trained", SPANNING, "time")["seeds"]] == [3]
    assert [run["seed"] for run in evaluate("trained", SPANNING, "full")["seeds"]] == [0]


def test_a_model_in_the_wrong_folder_is_not_measured_on_what_it_has_learnt():
    folder = train(0, dataset=SPANNING)
    shutil.copytree(folder, paths.checkpoint("days", BY_TIME.name, "trained", 0))
    with pytest.raises(checkpoints.CheckpointError):
        evaluate("trained", SPANNING, "time")
    assert results.available() == []


def backwards(dataset):
    """The same name, users and films, everybody's history the other way round."""
    events = dataset.interactions
    item = np.concatenate([history[::-1] for history in dataset.histories])
    return replace(dataset, interactions=replace(events, item=item))


def test_a_trained_model_of_other_data_is_not_measured():
    train(0)
    with pytest.raises(checkpoints.CheckpointError, match=r"run: .*-m recsys train trained --dataset cycle"):
        evaluate("trained", backwards(CYCLE))
    assert results.available() == []


def test_what_is_fitted_on_first_use_is_fitted_again_on_other_data():
    """The last item of the one is the first of the other: an old fit would have seen what is asked for."""
    evaluate("counts", CYCLE)
    other = backwards(CYCLE)
    with pytest.warns(UserWarning, match="fitting again"):
        evaluate("counts", other)
    fresh = fakes.Counts().fit(leave_one_out(other).train)
    expected = rank_held_out(fresh, leave_one_out(other).test, FULL, other).ranks
    assert np.array_equal(results.ranks("cycle", "full", "counts")[0], expected)


def first_item_is_test(dataset, seed):
    """A splitting that nobody else has: the first item of a history is asked for, after the last one."""
    split = leave_one_out(dataset)
    targets = np.array([history[0] for history in dataset.histories])
    return replace(split, test=replace(split.test, targets=targets), description={"name": "circle", "turns": 1})


def test_a_further_protocol_is_one_object(monkeypatch):
    circle = Protocol(
        "circle",
        title="Round",
        meaning="The first film is asked for after the last one.",
        rules={"ranked": "the whole catalogue"},
        splitting=Splitting("circle", first_item_is_test, "circle"),
    )
    monkeypatch.setitem(PROTOCOLS, "circle", circle)
    document = evaluate("counts", CYCLE, "circle")
    rules = {"ranked": "the whole catalogue", "turns": 1, "order": TIE_RULES["file"]}
    rules[protocols.REPEATS] = protocols.REPEATS_RULE  # the first item is also the last one
    assert document["protocol"] == {"name": "circle"} | rules
    assert tables.leaderboard("cycle", "circle")["variant"].tolist() == ["counts"]
    assert protocols.sort_names(["circle", "full"]) == ["full", "circle"]
    assert protocols.title("circle") == "Round"
    assert paths.checkpoint("cycle", "circle", "counts", 0).exists()
    assert evaluate("counts", CYCLE, circle, part="valid")["users"] == 200


def random_holdout(dataset, seed):
    """Hold out two random items of each user instead of the last two."""
    rng, order = np.random.default_rng(seed), []
    for start, end in pairwise(dataset.offsets):
        held_out = start + rng.choice(end - start, 2, replace=False)
        order += [*np.setdiff1d(np.arange(start, end), held_out), *held_out]
    return leave_one_out(replace(dataset, interactions=dataset.interactions.select(np.array(order))))


RANDOM = Splitting("random", random_holdout, "random-holdout", is_seeded=True)
RANDOM_HOLDOUT = Protocol("random-holdout", "Random films", "Two random films of each person are hidden.", {}, RANDOM)


def test_a_seeded_protocol_is_trained_evaluated_and_compared_on_the_split_of_each_seed(monkeypatch):
    monkeypatch.setitem(PROTOCOLS, "random-holdout", RANDOM_HOLDOUT)
    with pytest.raises(checkpoints.CheckpointError) as refused:
        evaluate("trained", CYCLE, "random-holdout", [1])
    assert refused.value.command.endswith("train trained --dataset cycle --protocol random-holdout --seed 1")
    for seed in (0, 1):
        model = fakes.Trained(fakes.CountsConfig()).fit(RANDOM(CYCLE, seed).train)
        checkpoints.save("trained", model, CYCLE, seed, splitting=RANDOM)
    document = evaluate("trained", CYCLE, "random-holdout")
    assert [run["seed"] for run in document["seeds"]] == [0, 1]
    evaluate("counts", CYCLE, "random-holdout", [0, 1])
    stored = results.ranks("cycle", "random-holdout", "counts")
    for seed in (0, 1):
        split = random_holdout(CYCLE, seed)
        expected = rank_held_out(fakes.Counts().fit(split.train), split.test, RANDOM_HOLDOUT, CYCLE, seed=seed).ranks
        assert np.array_equal(stored[seed], expected)
    assert not np.array_equal(*stored)
    assert np.array_equal(results.comparable_ranks("cycle", "random-holdout", "counts"), stored[:1])
    assert tables.leaderboard("cycle", "random-holdout")["variant"].tolist() == ["counts", "trained"]
    (row,) = significance.pairwise_tests("cycle", "random-holdout").to_dict("records")
    assert (row["difference"], row["differs"]) == (0, False)  # both count the same films
    assert report.training_command("trained", "cycle", "random-holdout").endswith("--protocol random-holdout")


def test_candidates_are_sampled_by_the_training_counts_of_the_seed():
    given = []

    def sampler(counts, excluded, n, rng):
        given.append(counts)
        return protocols.sample_uniformly(counts, excluded, n, rng)

    evaluate("counts", CYCLE, replace(RANDOM_HOLDOUT, n_candidates=5, sampler=sampler), [1])
    assert all(np.array_equal(counts, RANDOM(CYCLE, 1).train.counts) for counts in given)
    assert not np.array_equal(given[0], RANDOM(CYCLE, 0).train.counts)


@pytest.mark.parametrize("sampled", [0, 5])
def test_one_evaluation_computes_its_split_once(sampled):
    times = []

    def divide(dataset, seed):
        times.append(dataset)
        return leave_one_out(dataset)

    splitting, sampler = Splitting("counted", divide, "counted"), protocols.sample_uniformly
    counted = Protocol("counted", "Counted", "", {}, splitting, n_candidates=sampled, sampler=sampler)
    evaluate("counts", toys.cycle(), counted)
    assert len(times) == 1


def test_names_that_nobody_has_are_answered_with_those_there_are():
    with pytest.raises(UnknownModelError, match="no recommender is called nobody; choose one of: counts, trained"):
        evaluate("nobody", CYCLE)
    with pytest.raises(protocols.ProtocolError, match="no protocol is called sampled; choose one of: full"):
        evaluate("counts", CYCLE, "sampled")


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
def test_users_of_one_item_each_end_in_a_sentence_under_every_protocol(protocol):
    with pytest.raises(RecsysError, match=r"toy: (nobody|no held-out person) .*; choose a"):
        evaluate("counts", toys.dataset([[0], [1], [2]], 3), protocol)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("protocol", list(PROTOCOLS))
def test_a_model_without_numbers_ends_in_a_sentence_and_leaves_no_result(monkeypatch, protocol, bad):
    monkeypatch.setattr(fakes.Counts, "score", lambda self, queries: np.full((len(queries), 30), bad, np.float32))
    with pytest.raises(RecsysError, match="train it again with other settings"):
        evaluate("counts", SPANNING, protocol)
    assert results.available() == []


def test_a_model_trained_for_time_on_the_command_line_is_the_one_that_is_measured():
    prepared.save(SPANNING, {})
    assert main(["train", "trained", "--dataset", "days", "--protocol", "time", "--seed", "2"]) == 0
    kept = checkpoints.load(checkpoints.find("trained", "days", splitting=BY_TIME), SPANNING, BY_TIME)
    assert np.array_equal(kept.counts, by_time(SPANNING).train.counts)
    assert main(["evaluate", "trained", "--dataset", "days", "--protocol", "time"]) == 0
    assert main(["evaluate", "trained", "--dataset", "days"]) == 1  # nothing was trained for leave-one-out


def test_the_command_prints_a_table_or_one_line(capsys):
    prepared.save(CYCLE, {})
    assert main(["evaluate", "counts", "--dataset", "cycle"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "Counts · cycle · full · test"
    assert [line.split()[0] for line in printed[2:]] == list(results.METRICS)
    for variant, protocol in (("nobody", "full"), ("trained", "full"), ("counts", "popularity-100")):
        assert main(["evaluate", variant, "--dataset", "cycle", "--protocol", protocol]) == 1
        (message,) = capsys.readouterr().err.strip().splitlines()
        assert message


def test_all_models_and_protocols_are_measured_in_one_call_and_what_cannot_be_is_named(capsys):
    prepared.save(SPANNING, {})
    train(0, dataset=SPANNING)
    assert main(["evaluate", "all", "--dataset", "days", "--protocol", "all"]) == 0
    printed = capsys.readouterr()
    measured, skipped = [], []
    for name, protocol in PROTOCOLS.items():
        for recommender in ("counts", "trained"):  # `trained` has no checkpoint for another split
            is_measured = not protocol.n_candidates and (recommender == "counts" or protocol.splitting == LEAVE_ONE_OUT)
            (measured if is_measured else skipped).append((recommender, name))
    assert [tuple(line.split()[:2]) for line in printed.out.splitlines()] == measured
    messages = [line for line in printed.err.splitlines() if line.startswith("skipped")]
    assert [line.split(":")[0] for line in messages] == [f"skipped {model}, {name}" for model, name in skipped]
    assert any("train trained --dataset days" in message for message in messages)
    assert set(results.available()) == {("days", name) for _, name in measured}


def test_all_of_nothing_is_a_failure(capsys):
    prepared.save(toys.dataset([[0], [1], [2]], 3), {})
    assert main(["evaluate", "all", "--dataset", "toy", "--protocol", "all"]) == 1
    assert "nobody has three films" in capsys.readouterr().err


def test_results_without_intervals_and_lists_are_still_read():
    document = evaluate("counts", CYCLE)
    old = {name: value for name, value in document.items() if name not in ("interval", "beyond", "calibration")}
    results.write(old, results.ranks("cycle", "full", "counts"))
    assert tables.leaderboard("cycle", "full")["ndcg@10"].tolist() == [document["mean"]["ndcg@10"]]
    assert "interval" not in results.load("cycle", "full", "counts")
