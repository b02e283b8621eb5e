from dataclasses import replace

import numpy as np
import pytest

from recsys.models.bert4rec import Bert4RecConfig
from recsys.models.bert4rec_paper import Bert4RecPaper
from recsys.serving.insight.attention import attention
from recsys.serving.insight.layers import departures, layers
from recsys.serving.recommend import ServingError
from tests.serving.given import predictor
from tests.serving.insight.test_attention import WORLD, bert, sasrec

FILMS = [4, 5, 6, 7, 8]
PAPER = {"architecture": Bert4RecPaper, "pmi_init": False, "last_item_mask_prob": 0.0}
KINDS = [{}, PAPER, {"layers": 3, "heads": 4}]


@pytest.mark.parametrize("settings", KINDS)
def test_match_and_bias_make_the_attention_of_the_model(settings):
    asked = predictor(WORLD, bert(**settings))
    seen = attention(asked, FILMS)
    found = layers(asked, seen.tokens)
    np.testing.assert_allclose(found.weights, seen.weights, atol=1e-5)
    assert (found.bias is None) == (settings == PAPER)


@pytest.mark.parametrize("settings", KINDS)
def test_read_after_the_last_layer_the_mask_gives_the_scores_of_the_model(settings):
    model = bert(**settings)
    tokens = model.input_tokens(np.array(FILMS))
    found = layers(predictor(WORLD, model), tokens)
    np.testing.assert_allclose(found.read[-1], model.fill(tokens, np.array([len(FILMS)]))[0], atol=1e-4)
    assert found.read.shape == (model.config.layers + 1, WORLD.n_items)
    assert found.states.shape == (model.config.layers + 1, len(tokens), 8)


def test_the_bias_falls_by_the_slopes():
    model = bert()
    found = layers(predictor(WORLD, model), model.input_tokens(np.array(FILMS)))
    layer, head, slope = 1, 0, found.slopes[1, 0]
    assert found.bias[layer, head, 4, 1] == pytest.approx(-slope[0] * np.log(4))
    assert found.bias[layer, head, 1, 4] == pytest.approx(-slope[1] * np.log(4))


def test_departures_from_the_paper_are_those_of_the_settings():
    assert departures(predictor(WORLD, bert())) == [
        "relative_bias", "pre_norm", "projection", "pmi_init", "last_only", "average",
    ]  # fmt: skip
    more = departures(predictor(WORLD, bert(only_unseen=True, redraw=True)))
    assert more[-2:] == ["only_unseen", "redraw"]
    schedule = replace(Bert4RecConfig().schedule, ema_decay=0.0)
    assert departures(predictor(WORLD, bert(**PAPER, schedule=schedule))) == []


def test_other_models_are_refused():
    with pytest.raises(ServingError, match="the steps of BERT4Rec"):
        layers(predictor(WORLD, sasrec()), np.array([1]))
