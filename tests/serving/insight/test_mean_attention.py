import numpy as np
import pytest

from recsys.models.bert4rec import Bert4Rec, Bert4RecConfig
from recsys.models.popular import Popular
from recsys.models.sasrec import SasRec, SasRecConfig
from recsys.serving.insight import attention
from recsys.serving.insight.attention import (
    MAX_TOKENS,
    MIN_USERS,
    PAD,
    AttentionBatch,
    collect_attention,
    expected_by_position,
    genre_attention,
    mean_attention,
)
from recsys.serving.recommend import ServingError
from tests import toys
from tests.models.configs import untrained
from tests.serving.given import predictor

LENGTHS = (5, 15, 16, 30, 60, 17)  # two are too short: the test leaves 15 films but one of the second
WORLD = toys.dataset([np.arange(length) % 20 for length in LENGTHS], 20)


def bert(**settings):
    return untrained(Bert4Rec(Bert4RecConfig(**{"dim": 8, "length": 80, "init": 0.5} | settings)), WORLD.n_items)


def sasrec():
    return untrained(SasRec(SasRecConfig(dim=8, length=80, init=0.5)), WORLD.n_items)


@pytest.mark.parametrize("model", [bert(), sasrec()], ids=["bert4rec", "sasrec"])
def test_the_mean_is_that_of_the_newest_positions_of_the_test_histories_and_nothing_is_rescaled(model):
    found = mean_attention(collect_attention(predictor(WORLD, model)))
    histories = [np.arange(length - 1) % 20 for length in LENGTHS if length > MAX_TOKENS]
    each = [model.attention(model.input_tokens(history))[..., -MAX_TOKENS:, -MAX_TOKENS:] for history in histories]
    assert found.n_users == len(histories) == 4
    np.testing.assert_allclose(found.weights, np.mean(each, 0), rtol=1e-5)
    assert (found.weights.sum(-1) < 0.999).all()


def test_positions_are_counted_back_from_the_next_film_and_only_a_mask_has_no_number():
    both, left = (
        mean_attention(collect_attention(predictor(WORLD, bert()))),
        mean_attention(collect_attention(predictor(WORLD, sasrec()))),
    )
    assert both.labels == [*map(str, range(14, 0, -1)), "[mask]"]
    assert left.labels == [*map(str, range(15, 0, -1))]
    table = left.table()
    assert len(table) == left.weights.size
    row = table[
        (table["layer"] == 2) & (table["head"] == 1) & (table["attends"] == "1") & (table["attended to"] == "3")
    ]
    assert row["weight"].item() == left.weights[1, 0, -1, -3]


def test_what_is_no_film_of_a_short_history_has_no_weight_and_the_newest_token_comes_last():
    found = collect_attention(predictor(WORLD, sasrec()))
    assert found.tokens.shape[1] == 50  # what is kept of the longest
    short = found.tokens[(found.tokens == PAD).any(1)]
    assert sorted(short[:, -1].tolist()) == [8, 14, 15]  # one film of each history is the test's
    rows = (found.tokens == PAD)[:, None, None]
    assert not found.weights[np.broadcast_to(rows[..., None], found.weights.shape)].any()
    np.testing.assert_allclose(
        mean_attention(found).weights, found.weights[..., -MAX_TOKENS:, -MAX_TOKENS:].mean(0), rtol=1e-5
    )


def test_a_model_that_reads_less_is_averaged_over_what_it_reads_and_the_same_people_are_drawn_each_time(monkeypatch):
    assert mean_attention(collect_attention(predictor(WORLD, bert(length=8)))).weights.shape == (2, 2, 8, 8)
    monkeypatch.setattr(attention, "MAX_USERS", 2)
    first, again = collect_attention(predictor(WORLD, bert())), collect_attention(predictor(WORLD, bert()))
    assert len(first.tokens) == 2
    np.testing.assert_array_equal(first.tokens, again.tokens)


def test_models_without_attention_and_worlds_without_long_histories_are_refused_with_a_sentence():
    with pytest.raises(ServingError, match="no attention weights"):
        collect_attention(predictor(WORLD, Popular().fit(WORLD)))
    with pytest.raises(ServingError, match="nobody in cycle has watched 15 films"):
        collect_attention(predictor(toys.cycle(), bert()))


N_ITEMS, WIDTH, PEOPLE = 40, 24, 60
CATALOG = toys.catalog(N_ITEMS)  # even films are comedies, odd ones horror
DISTANCE = np.subtract.outer(np.arange(WIDTH), np.arange(WIDTH))


def network(tokens, preference=1.0, causal=False, self_attention=0.5):
    """One layer and head that looks at distance, and `preference` times as much at films of its own genre."""
    near = np.where(
        DISTANCE > 0, (1.0 + abs(DISTANCE)) ** -1.5, (0.0 if causal else 1.0) * (1.0 + abs(DISTANCE)) ** -0.3
    )
    np.fill_diagonal(near, self_attention)
    same = tokens[:, :, None] % 2 == tokens[:, None] % 2
    weights = near * np.where(same & (DISTANCE != 0), preference, 1.0) * (tokens >= 0)[:, None]
    weights = weights * (tokens >= 0)[..., None]
    total = weights.sum(-1, keepdims=True)
    weights = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return AttentionBatch(tokens, weights[:, None, None].astype(np.float32), 15, False)


def in_blocks():
    """Histories that begin with films of one genre and end with films of the other: genres stand apart."""
    even, odd = np.arange(0, WIDTH, 2), np.arange(1, WIDTH, 2)
    return np.array([np.concatenate([even, odd] if person % 2 else [odd, even]) for person in range(PEOPLE)])


def shuffled(seed=0):
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(N_ITEMS)[:WIDTH] for _ in range(PEOPLE)])


def times(found, names=("Comedy", "Horror")):
    return found.table(list(names))["ratio"].to_numpy().reshape(len(names), -1)


@pytest.mark.parametrize("causal", [False, True])
def test_a_network_that_looks_at_distance_alone_prefers_no_genre_even_where_genres_stand_apart(causal):
    tokens = in_blocks()
    tokens[::3, :7] = PAD  # histories of several lengths, whose positions divide 100% over fewer films
    found = genre_attention(network(tokens, causal=causal), CATALOG)
    np.testing.assert_allclose(times(found), 1, atol=2e-3)
    plain = found.observed.sum((0, 1, 2)) / found.pairs.sum(0)
    assert plain[0, 0] > 1.2 * plain[0, 1]  # what the mean of each pair would say: that they prefer their own


@pytest.mark.parametrize(("causal", "least"), [(False, 1.8), (True, 1.6)])
def test_a_preference_for_the_own_genre_is_found_less_of_it_where_few_films_compete(causal, least):
    found = times(genre_attention(network(shuffled(), preference=2.0, causal=causal), CATALOG))
    own_over_other = found.diagonal() / found[:, ::-1].diagonal()
    assert ((own_over_other > least) & (own_over_other < 2.05)).all()
    assert (found.diagonal() > 1.2).all()


def test_what_position_explains_adds_up_to_what_was_given_by_each_film_and_at_each_distance():
    weights = network(shuffled(), preference=3.0).weights[:, 0, 0]
    others = np.broadcast_to(~np.eye(WIDTH, dtype=bool), weights.shape)
    expected = expected_by_position(np.where(others, weights, 0), others)
    observed = np.where(others, weights, 0)
    np.testing.assert_allclose(expected.sum(2), observed.sum(2), rtol=1e-4)
    for distance in (-20, -1, 1, 7):
        at = distance == DISTANCE
        np.testing.assert_allclose(expected[:, at].sum(), observed[:, at].sum(), rtol=1e-4)


def test_neither_attention_to_itself_nor_that_of_a_mask_counts():
    tokens = shuffled()
    one, other = (network(tokens, 2.0, self_attention=share) for share in (0.0, 5.0))
    np.testing.assert_allclose(times(genre_attention(one, CATALOG)), times(genre_attention(other, CATALOG)), rtol=0.02)
    tokens[:, -1] = N_ITEMS + 1
    found = genre_attention(network(tokens, 2.0), CATALOG)
    assert found.pairs.sum() == PEOPLE * (WIDTH - 1) * (WIDTH - 2)


def test_the_interval_holds_one_where_there_is_no_preference_and_not_where_there_is():
    tokens = shuffled()
    none, strong = (genre_attention(network(tokens, preference), CATALOG) for preference in (1.0, 2.0))
    table = none.table(["Comedy", "Horror"])
    assert ((table["low"] <= 1.001) & (table["high"] >= 0.999)).all()
    table = strong.table(["Horror", "Comedy"])
    assert table[["from", "to"]].to_numpy()[1].tolist() == ["Horror", "Comedy"]
    assert (table["low"].iloc[[0, 3]] > 1).all()
    assert (table["high"].iloc[[1, 2]] < 1).all()


def test_of_a_pair_that_few_people_have_watched_nothing_is_said():
    tokens = shuffled()[:, :12] // 2 * 2  # comedies alone, but for some people
    tokens = np.concatenate([np.full((PEOPLE, WIDTH - 12), PAD), tokens], 1)
    tokens[: MIN_USERS - 1, -1] = 1
    table = genre_attention(network(tokens), CATALOG).table(["Comedy", "Horror"]).set_index(["from", "to"])
    assert table.loc[("Comedy", "Comedy"), "ratio"] > 0
    assert np.isnan(table.loc[("Comedy", "Horror"), ["ratio", "low", "high"]].astype(float)).all()
    assert table.loc[("Comedy", "Horror"), "people"] == MIN_USERS - 1
