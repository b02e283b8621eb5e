import numpy as np
import pytest
import torch

from recsys.models.bert4rec import Bert4Rec, Bert4RecConfig
from recsys.models.popular import Popular
from recsys.models.sasrec import SasRec, SasRecConfig
from recsys.serving.insight.mean_attention import NEWEST, NOTHING, mean, sequences
from recsys.serving.recommend import ServingError
from tests import toys
from tests.serving.given import predictor

LENGTHS = (5, 15, 16, 30, 60, 17)  # two are too short: the test leaves 15 films but one of the second
WORLD = toys.dataset([np.arange(length) % 20 for length in LENGTHS], 20)


def untrained(model):
    torch.manual_seed(0)
    model.module = model.build(WORLD.n_items).eval()
    return model


def bert(**settings):
    return untrained(Bert4Rec(Bert4RecConfig(**{"dim": 8, "length": 80, "init": 0.5} | settings)))


def sasrec():
    return untrained(SasRec(SasRecConfig(dim=8, length=80, init=0.5)))


@pytest.mark.parametrize("model", [bert(), sasrec()], ids=["bert4rec", "sasrec"])
def test_the_mean_is_that_of_the_newest_positions_of_the_test_histories_and_nothing_is_rescaled(model):
    found = mean(sequences(predictor(WORLD, model)))
    histories = [np.arange(length - 1) % 20 for length in LENGTHS if length > NEWEST]
    each = [model.attention(model.input_tokens(history))[..., -NEWEST:, -NEWEST:] for history in histories]
    assert found.people == len(histories) == 4
    np.testing.assert_allclose(found.weights, np.mean(each, 0), rtol=1e-5)
    assert (found.within() < 0.999).all()
    np.testing.assert_allclose(found.within(), found.weights.sum(-1))


def test_positions_are_counted_back_from_the_next_film_and_only_a_mask_has_no_number():
    both, left = mean(sequences(predictor(WORLD, bert()))), mean(sequences(predictor(WORLD, sasrec())))
    assert both.labels == [*map(str, range(14, 0, -1)), "[mask]"]
    assert left.labels == [*map(str, range(15, 0, -1))]
    table = left.table()
    assert len(table) == left.weights.size
    row = table[
        (table["layer"] == 2) & (table["head"] == 1) & (table["attends"] == "1") & (table["attended to"] == "3")
    ]
    assert row["weight"].item() == left.weights[1, 0, -1, -3]


def test_what_is_no_film_of_a_short_history_has_no_weight_and_the_newest_token_comes_last():
    found = sequences(predictor(WORLD, sasrec()))
    assert found.tokens.shape[1] == 50  # what is kept of the longest
    short = found.tokens[(found.tokens == NOTHING).any(1)]
    assert sorted(short[:, -1].tolist()) == [8, 14, 15]  # one film of each history is the test's
    rows = (found.tokens == NOTHING)[:, None, None]
    assert not found.weights[np.broadcast_to(rows[..., None], found.weights.shape)].any()
    np.testing.assert_allclose(mean(found).weights, found.weights[..., -NEWEST:, -NEWEST:].mean(0), rtol=1e-5)


def test_a_model_that_reads_less_is_averaged_over_what_it_reads_and_the_same_people_are_drawn_each_time():
    assert mean(sequences(predictor(WORLD, bert(length=8)))).weights.shape == (2, 2, 8, 8)
    first, again = sequences(predictor(WORLD, bert()), n=2), sequences(predictor(WORLD, bert()), n=2)
    assert len(first.tokens) == 2
    np.testing.assert_array_equal(first.tokens, again.tokens)


def test_models_without_attention_and_worlds_without_long_histories_are_refused_with_a_sentence():
    with pytest.raises(ServingError, match="no attention to look at"):
        sequences(predictor(WORLD, Popular().fit(WORLD)))
    with pytest.raises(ServingError, match="nobody in cycle has watched 15 films"):
        sequences(predictor(toys.cycle(), bert()))
