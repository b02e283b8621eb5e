"""The memory of a network: its scores are mixed with the scores of counts."""

import numpy as np
import pytest
from scipy import sparse

from recsys.data.dataset import HeldOut, Queries
from recsys.data.split import leave_one_out
from recsys.models import count_memory, registry
from recsys.models.count_memory import CountConfigs, CountMemory
from recsys.models.ease import Ease, EaseConfig
from recsys.models.length_weights import comparable_scores
from recsys.models.markov import Markov, MarkovConfig
from recsys.ranking import metrics
from recsys.ranking.ranking import Ranking
from recsys.training.options import RunOptions
from tests import toys
from tests.models.configs import changed

QUICK = {"dim": 8, "length": 8, "epochs": 1, "batch_size": 32}
CIRCLE = toys.cycle(20, 80, 12)


def with_memory(name="sasrec-softmax", split=None, valid=True, **settings):
    split, variant = split or leave_one_out(CIRCLE), registry.get(name)
    model = variant.model(changed(variant.preset("ml-100k"), memory=True, **QUICK, **settings))
    return model.fit(split.train, split.valid if valid else None)


def ndcg(scores, held_out):
    return metrics.summary(metrics.target_ranks(scores, held_out.targets, held_out.queries.histories))["ndcg@10"]


@pytest.mark.parametrize("name", ["sasrec-softmax", "bert4rec", "gsasrec", "gru4rec-ce"])
def test_an_untrained_network_with_memory_recommends_by_counts(name):
    """One epoch teaches next to nothing; that a film is followed by the next one has been counted."""
    split = leave_one_out(CIRCLE)
    model = with_memory(name, split)
    assert ndcg(model.network_scores(split.test.queries), split.test) < 0.8
    assert ndcg(model.score(split.test.queries), split.test) > 0.95


def test_scores_are_the_weighted_sum_of_logits_and_two_counts():
    split = leave_one_out(CIRCLE)
    model, queries = with_memory(split=split), split.test.queries[:5]
    followers = Markov(registry.get("markov").preset("toy")).fit(split.train)
    companions = Ease(
        EaseConfig(regularization=registry.get("ease").preset("toy").regularization, rank=count_memory.RANK)
    ).fit(split.train)
    component_scores = [model.network_scores(queries)]
    component_scores += [comparable_scores(counted, counted.score(queries)) for counted in (followers, companions)]
    weights = model.count_memory.length_weights.weights[1]  # the histories have 11 items
    np.testing.assert_allclose(model.score(queries), np.tensordot(weights, component_scores, 1), rtol=1e-4, atol=1e-5)
    assert (weights > 0).all()


def test_the_counts_have_the_settings_of_the_run():
    split, variant = leave_one_out(CIRCLE), registry.get("sasrec-softmax")
    model = variant.model(changed(variant.preset(""), memory=True, **QUICK))
    configs = CountConfigs(MarkovConfig(window=3, recent=2), EaseConfig(regularization=7.0))
    model.fit(split.train, split.valid, RunOptions(count_configs=configs))
    assert model.count_memory.markov.config == configs.markov
    assert model.count_memory.ease.config == EaseConfig(regularization=7.0, rank=count_memory.RANK)


def test_the_memory_counts_another_data_set_than_the_network_learns_from():
    split, variant = leave_one_out(CIRCLE), registry.get("sasrec-softmax")
    backwards = leave_one_out(toys.dataset([history[::-1] for history in CIRCLE.histories], CIRCLE.n_items)).train
    model = variant.model(changed(variant.preset(""), memory=True, **QUICK))
    model.fit(split.train, split.valid, RunOptions(count_data=backwards))
    expected = Markov(MarkovConfig()).fit(backwards).transitions
    np.testing.assert_array_equal(model.count_memory.markov.transitions.toarray(), expected.toarray())


def test_the_settings_of_a_run_are_those_that_are_tuned_for_the_data_set():
    configs = registry.count_configs(registry.get("sasrec-memory").preset(""), "ml-latest-sample")
    assert configs.markov == registry.get("markov").preset("ml-latest-sample") != MarkovConfig()
    assert configs.ease == registry.get("ease").preset("ml-latest-sample") != EaseConfig()
    assert registry.count_configs(registry.get("sasrec-softmax").preset(""), "ml-latest-sample") is None


def test_a_loaded_memory_scores_as_the_fitted_one_whatever_its_settings():
    """Two settings of the Markov chain matter when it scores."""
    configs, queries = CountConfigs(MarkovConfig(recent=2, history_decay=0.3)), Queries([np.array([3, 9, 14, 1])])
    memory = CountMemory(configs).fit(CIRCLE, None, None, RunOptions())
    memory.length_weights.set_weights(np.ones((3, 3), np.float32))
    again, network = CountMemory(), np.zeros((1, 20), np.float32)
    assert memory.state()["memory.followers.indices"].dtype == np.uint16
    again.load_state(memory.state(), 20)
    np.testing.assert_array_equal(again.combine(network, queries), memory.combine(network, queries))
    older = {
        name: array for name, array in memory.state().items() if name not in ("memory.recent", "memory.history_decay")
    }
    again.load_state(older, 20)  # such as the checkpoints that are shipped


def test_the_number_of_followers_of_an_item_is_limited(monkeypatch):
    monkeypatch.setattr(count_memory, "MAX_TRANSITIONS", 3)
    memory = CountMemory().fit(CIRCLE, None, None, RunOptions())
    assert np.diff(memory.markov.transitions.indptr).max() == 3
    assert memory.markov.transitions[[4], [5]] > 0


def test_counts_that_contradict_the_validation_data_get_low_weights():
    """The network gives the targets high scores. The targets contradict the counts."""
    rng, split = np.random.default_rng(0), leave_one_out(CIRCLE)
    targets = np.array([rng.choice(np.setdiff1d(np.arange(20), history)) for history in split.valid.queries.histories])
    answers = {tuple(history): target for history, target in zip(split.valid.queries.histories, targets, strict=True)}

    def network(queries):
        return np.array(
            [5.0 * (np.arange(20) == answers.get(tuple(history), -1)) for history in queries.histories], np.float32
        )

    memory = CountMemory().fit(split.train, HeldOut(split.valid.queries, targets), network, RunOptions())
    assert memory.length_weights.weights[1, 0] > 1
    assert memory.length_weights.weights[1, 1] < 0.2


def test_companions_have_fewer_ranks_on_a_large_catalogue(monkeypatch):
    monkeypatch.setattr(count_memory, "RANK", 10)
    monkeypatch.setattr(count_memory, "REDUCED_RANK", 4)
    monkeypatch.setattr(count_memory, "MANY_ITEMS", 20)
    assert CountMemory().fit(CIRCLE, None, None, RunOptions()).ease.weights.shape == (20, 10)
    monkeypatch.setattr(count_memory, "MANY_ITEMS", 19)
    memory = CountMemory().fit(CIRCLE, None, None, RunOptions())
    assert memory.ease.weights.shape == (20, 4)
    queries, network = Queries([np.array([3, 4])]), np.zeros((1, 20), np.float32)
    again = CountMemory()
    again.load_state(memory.state(), 20)
    np.testing.assert_array_equal(again.combine(network, queries), memory.combine(network, queries))


@pytest.mark.parametrize("missing", ["memory.pool", "memory.followers.counts", "memory.companions.weights"])
def test_a_state_without_its_memory_is_refused(missing):
    model = with_memory()
    state = {name: array for name, array in model.state().items() if name != missing}
    with pytest.raises((KeyError, ValueError)):
        registry.get("sasrec-softmax").model(model.config).load_state(state, 20)


def test_a_network_with_memory_has_probabilities_for_every_loss():
    model = with_memory("gsasrec")
    assert model.has_probabilities
    assert not registry.get("gsasrec").model().has_probabilities
    seen = np.array([3, 7])
    ranking = Ranking.from_scores(model.score(Queries([seen]))[0], seen, model.log_probabilities)
    assert ranking.probabilities(np.arange(20)).sum() == pytest.approx(1)


@pytest.mark.parametrize(("name", "has_probabilities"), [("gsasrec", False), ("sasrec-softmax", True)])
def test_without_validation_data_a_memory_has_the_probabilities_of_the_network(name, has_probabilities):
    model = with_memory(name, valid=False)
    again = registry.get(name).model(model.config)
    again.load_state(model.state(), 20)
    network = with_memory(name)
    network.remove_count_memory()
    queries, items = Queries([np.array([3, 7])]), np.arange(20)
    np.testing.assert_array_equal(model.score(queries), model.network_scores(queries))
    row = model.score(queries)[0]
    for each in (model, again):
        assert each.has_probabilities == has_probabilities
        assert not each.is_fitted_on_validation
        np.testing.assert_array_equal(each.log_probabilities(row, items), network.log_probabilities(row, items))
    assert with_memory(name).is_fitted_on_validation
    assert not network.is_fitted_on_validation


def test_the_highest_values_of_each_row_are_kept():
    rows = np.array([[0, 5, 1, 3], [2, 0, 0, 0], [0, 0, 0, 0], [4, 1, 6, 5]], np.float32)
    kept = count_memory.top_per_row(sparse.csr_array(rows), 2).toarray()
    np.testing.assert_array_equal(kept, [[0, 5, 0, 3], [2, 0, 0, 0], [0, 0, 0, 0], [0, 0, 6, 5]])
