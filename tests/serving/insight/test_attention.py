from dataclasses import replace

import numpy as np
import pytest

from recsys.models.bert4rec import Bert4Rec, Bert4RecConfig
from recsys.models.length_weights import LengthWeights
from recsys.models.popular import Popular
from recsys.models.sasrec import SasRec, SasRecConfig
from recsys.models.sasrec_paper import SasRecPaper
from recsys.models.sequence_model import CALIBRATION_EDGES
from recsys.serving.insight import attention as attending
from recsys.serving.insight.attention import (
    MAX_DISTANCE,
    Attention,
    attention_by_distance,
    most_attended,
    read_attention,
    sample_histories,
)
from recsys.serving.recommend import ServingError
from tests import toys
from tests.models.configs import untrained
from tests.serving.given import predictor

WORLD = toys.cycle(n_items=20)


def bert(architecture=Bert4Rec, **settings):
    return untrained(architecture(Bert4RecConfig(**{"dim": 8, "length": 10, "init": 0.5} | settings)), WORLD.n_items)


def calibrated(model):
    """Return the model with factors for 0 to 1, 2, 3 to 4, 5 to 9, 10 to 49, and more films."""
    model.calibration = LengthWeights(n_members=1, edges=CALIBRATION_EDGES)
    model.calibration.set_weights(np.array([[0.125], [0.25], [0.4], [0.5], [0.6], [0.7]], np.float32))
    return model


def sasrec(**settings):
    return untrained(SasRec(SasRecConfig(**{"dim": 8, "length": 10, "init": 0.5} | settings)), WORLD.n_items)


def known(*last_row):
    """An attention of films 3, 1, 2 whose mask looks at the tokens as given; one layer, one head."""
    weights = np.full((1, 1, 4, 4), 0.25)
    weights[0, 0, -1] = last_row
    tokens = np.array([3, 1, 2, 21])
    return Attention(tokens, tokens < 20, ["Film 3", "Film 1", "Film 2", "[mask]"], weights, True)


def test_the_last_token_is_the_mask_in_a_model_that_fills_blanks_and_else_the_newest_film():
    both, left = read_attention(predictor(WORLD, bert()), [4, 5]), read_attention(predictor(WORLD, sasrec()), [4, 5])
    assert both.labels == ["Film 4 (1994)", "Film 5 (1995)", "[mask]"]
    assert left.labels == ["Film 4 (1994)", "Film 5 (1995)"]
    assert read_attention(predictor(WORLD, sasrec()), []).labels == ["start"]
    assert (both.ends_with_mask, left.ends_with_mask) == (True, False)
    assert both.is_film.tolist() == [True, True, False]


@pytest.mark.parametrize(
    "model",
    [bert(), sasrec(), untrained(SasRecPaper(SasRecConfig(dim=8, length=10, init=0.5)), WORLD.n_items)],
    ids=["bert4rec", "relative_bias", "sasrec"],
)
def test_every_row_adds_up_to_one_and_only_a_mask_sees_both_sides(model):
    seen = read_attention(predictor(WORLD, model), [4, 5, 6])
    n_tokens = 4 if isinstance(model, Bert4Rec) else 3
    assert seen.weights.shape == (2, 2, n_tokens, n_tokens)
    np.testing.assert_allclose(seen.weights.sum(-1), 1, rtol=1e-5)
    assert (np.triu(seen.weights, 1) > 0).any() == isinstance(model, Bert4Rec)


def test_a_view_is_one_head_or_the_mean_of_those_left_open():
    seen = read_attention(predictor(WORLD, bert()), [4, 5, 6])
    np.testing.assert_array_equal(seen.mean_weights(1, 0), seen.weights[1, 0])
    np.testing.assert_allclose(seen.mean_weights(layer=1), (seen.weights[1, 0] + seen.weights[1, 1]) / 2)
    np.testing.assert_allclose(seen.mean_weights(), seen.weights.mean((0, 1)))


def test_a_history_longer_than_the_model_reads_keeps_its_newest_films():
    assert read_attention(predictor(WORLD, bert()), range(20)).tokens.tolist() == [*range(11, 20), 21]


def test_what_is_looked_at_most_comes_first_and_the_mask_is_no_film():
    assert most_attended(known(0.1, 0.3, 0.2, 0.4)) == [(1, 0.3), (2, 0.2), (0, 0.1)]
    assert most_attended(known(0.1, 0.3, 0.2, 0.4), k=1) == [(1, 0.3)]


def test_by_distance_is_the_mean_over_those_whose_history_reaches_so_far(monkeypatch):
    shares = {1: known(0, 0, 0.8, 0.2), 2: known(0.6, 0.1, 0.2, 0.1)}
    short = replace(shares[1], weights=shares[1].weights[:, :, 1:, 1:], is_film=np.array([True, True, False]))
    monkeypatch.setattr(attending, "read_attention", lambda _, history: short if history[0] == 1 else shares[2])
    found = attention_by_distance(None, [np.array([1]), np.array([2])]).table()
    assert found["distance"].tolist() == [1, 2, 3]
    assert found["people"].tolist() == [2, 2, 1]
    assert found["attention"].tolist() == pytest.approx([0.5, 0.05, 0.6])


def test_parts_by_distance_add_up_to_the_whole():
    model, people = bert(), sample_histories(WORLD, 9)
    whole = attention_by_distance(predictor(WORLD, model), people)
    parts = [attention_by_distance(predictor(WORLD, model), part) for part in (people[:4], people[4:])]
    np.testing.assert_allclose(whole.sums, parts[0].sums + parts[1].sums, rtol=1e-5)
    assert whole.n_users.tolist() == (parts[0].n_users + parts[1].n_users).tolist()
    assert whole.n_users[:5].tolist() == [9] * 5
    assert whole.sums.shape == (2, 2, MAX_DISTANCE)


def test_the_same_people_are_drawn_each_time_and_never_more_than_there_are():
    first, again = sample_histories(WORLD, 10), sample_histories(WORLD, 10)
    assert all(np.array_equal(one, other) for one, other in zip(first, again, strict=True))
    assert len(sample_histories(toys.dataset([[1], [2, 3]], 20), 200)) == 2
    with pytest.raises(ServingError, match="nobody has watched"):
        attention_by_distance(predictor(WORLD, bert()), [])


def test_models_without_attention_and_unknown_films_are_refused_with_a_sentence():
    with pytest.raises(ServingError, match="no attention weights; choose BERT4Rec"):
        read_attention(predictor(WORLD, Popular().fit(WORLD)), [1])
    with pytest.raises(ServingError, match="there is no item 20"):
        read_attention(predictor(WORLD, bert()), [20])
