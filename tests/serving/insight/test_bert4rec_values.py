from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from scipy.special import softmax

from recsys.data.dataset import Queries
from recsys.models.bert4rec import Bert4RecConfig
from recsys.models.bert4rec_paper import Bert4RecPaper
from recsys.serving.insight.attention import read_attention
from recsys.serving.insight.bert4rec_values import (
    compute_values,
    layer_predictions,
    paper_differences,
    run_layers,
    sample_masked_positions,
)
from recsys.serving.recommend import Request, ServingError, recommend
from tests.serving.given import predictor
from tests.serving.insight.test_attention import WORLD, bert, calibrated, sasrec

FILMS = [4, 5, 6, 7, 8]


def test_the_steps_lead_from_the_films_to_the_answers_of_the_model():
    model = bert()
    values = compute_values(predictor(WORLD, model), FILMS, k=3)
    scores = model.score(Queries([np.array(FILMS)]))[0]
    assert values.predictions["item"].tolist() == np.argsort(-scores)[:3].tolist()
    assert values.predictions["score"].tolist() == pytest.approx(np.sort(scores)[::-1][:3].tolist(), rel=1e-5)


def test_the_lesson_has_the_probabilities_of_the_recommendations():
    asked = predictor(WORLD, calibrated(bert(only_unseen=True)))
    found = compute_values(asked, FILMS, k=5)
    wanted = [film.probability for film in recommend(asked, Request(tuple(FILMS), 5))]
    assert found.calibration_factor == 0.5
    assert found.predictions["probability"].tolist() == pytest.approx(wanted, rel=1e-4)
    assert layer_predictions(asked, found, 5)[-1]["probability"].tolist() == pytest.approx(wanted, rel=1e-4)
    assert compute_values(asked, [1, 2]).calibration_factor == 0.25  # a shorter list


def test_where_training_compares_unseen_films_only_so_does_the_lesson():
    model = bert(only_unseen=True)
    bert_predictor = predictor(WORLD, model)
    values = compute_values(bert_predictor, FILMS, k=20)
    assert set(values.predictions["item"]) == set(range(20)) - set(FILMS)
    assert values.predictions["probability"].sum() == pytest.approx(1)
    assert all(not set(FILMS) & set(table["item"]) for table in layer_predictions(bert_predictor, values, 20))
    covered = sample_masked_positions(model, np.array(FILMS))
    logits = torch.from_numpy(model.fill(np.array(FILMS), covered))
    logits[:, np.delete(FILMS, covered)] = -torch.inf
    expected = F.cross_entropy(logits, torch.from_numpy(np.array(FILMS)[covered]), reduction="none")
    np.testing.assert_allclose(values.masked_films["loss"], expected.numpy(), rtol=1e-5)


def test_the_softmax_is_shown_step_by_step():
    predictions = compute_values(predictor(WORLD, bert()), FILMS, k=20).predictions
    assert predictions["probability"].sum() == pytest.approx(1)
    assert predictions["weight"].iloc[0] == 1
    np.testing.assert_allclose(predictions["weight"], np.exp(predictions["score"] - predictions["score"].iloc[0]))
    np.testing.assert_allclose(
        predictions["probability"], predictions["weight"] / predictions["weight"].sum(), rtol=1e-5
    )


def test_films_are_covered_that_have_films_on_both_sides():
    for n in range(3, 14):
        covered = sample_masked_positions(bert(length=20), np.arange(n))
        assert len(covered)
        assert 0 < covered.min() <= covered.max() < n - 1


def test_the_loss_of_a_covered_film_is_what_training_would_compute():
    model = bert()
    masked_films = compute_values(predictor(WORLD, model), FILMS).masked_films
    example = np.array(FILMS)
    covered = sample_masked_positions(model, example)
    logits = torch.from_numpy(model.fill(example, covered))
    expected = F.cross_entropy(logits, torch.from_numpy(example[covered]), reduction="none")
    assert masked_films["item"].tolist() == example[covered].tolist()
    np.testing.assert_allclose(masked_films["loss"], expected.numpy(), rtol=1e-5)
    np.testing.assert_allclose(masked_films["probability"], np.exp(-masked_films["loss"]))


def test_only_the_newest_films_are_a_training_example():
    values = compute_values(predictor(WORLD, bert(length=20)), [film % 20 for film in range(17)])
    assert (len(values.training_labels), len(values.attention.labels)) == (12, 18)


def test_the_last_reading_is_the_answer():
    bert_predictor = predictor(WORLD, bert())
    values = compute_values(bert_predictor, FILMS, k=5)
    predictions_by_layer = layer_predictions(bert_predictor, values, 5)
    assert len(predictions_by_layer) == 3
    assert predictions_by_layer[-1]["item"].tolist() == values.predictions["item"].tolist()
    before = layer_predictions(bert_predictor, compute_values(bert_predictor, [1, 2]), 5)[0]
    assert (
        before["item"].tolist() == predictions_by_layer[0]["item"].tolist()
    )  # without a layer, the films do not matter


def test_prediction_reads_the_films_and_a_mask_and_training_hides_some_of_them():
    values = compute_values(predictor(WORLD, bert()), FILMS)
    labels = [f"Film {film} ({1990 + film})" for film in FILMS]
    assert values.attention.labels == [*labels, "[mask]"]
    assert len(values.training_labels) == len(FILMS)
    pairs = zip(labels, values.training_labels, strict=True)
    assert [label for label, training_label in pairs if training_label == "[mask]"] == values.masked_labels
    assert values.masked_labels


def test_film_and_position_embeddings_add_up_to_the_input():
    model = bert(Bert4RecPaper)
    values = compute_values(predictor(WORLD, model), FILMS)
    weights = model.state()
    np.testing.assert_allclose(values.token_embeddings, weights["items.weight"][[*FILMS, 21]])
    np.testing.assert_allclose(values.position_embeddings, weights["positions.weight"][: len(FILMS) + 1])


def test_with_a_relative_bias_the_film_embeddings_alone_are_the_input():
    values = compute_values(predictor(WORLD, bert()), FILMS)
    assert values.position_embeddings is None


def test_one_film_and_many_films_have_steps():
    assert compute_values(predictor(WORLD, bert()), [3]).training_labels == ["[mask]"]
    assert len(compute_values(predictor(WORLD, bert(length=10)), list(range(20))).attention.labels) == 10


def test_other_models_have_other_steps():
    with pytest.raises(ServingError, match="the lesson explains BERT4Rec"):
        compute_values(predictor(WORLD, sasrec()), FILMS)


FILMS = [4, 5, 6, 7, 8]
PAPER = {"architecture": Bert4RecPaper, "pmi_init": False, "last_item_mask_prob": 0.0}
KINDS = [{}, PAPER, {"layers": 3, "heads": 4}]


@pytest.mark.parametrize("settings", KINDS)
def test_match_and_bias_make_the_attention_of_the_model(settings):
    bert_predictor = predictor(WORLD, bert(**settings))
    mean_attention = read_attention(bert_predictor, FILMS)
    layers = run_layers(bert_predictor, mean_attention.tokens)
    logits = layers.scaled_dot_product + (0 if layers.bias is None else layers.bias)
    np.testing.assert_allclose(softmax(logits, axis=-1), mean_attention.weights, atol=1e-5)
    assert (layers.bias is None) == (settings == PAPER)


@pytest.mark.parametrize("settings", KINDS)
def test_read_after_the_last_layer_the_mask_gives_the_scores_of_the_model(settings):
    model = bert(**settings)
    tokens = model.input_tokens(np.array(FILMS))
    layers = run_layers(predictor(WORLD, model), tokens)
    np.testing.assert_allclose(layers.logit_lens[-1], model.fill(tokens, np.array([len(FILMS)]))[0], atol=1e-4)
    assert layers.logit_lens.shape == (model.config.layers + 1, WORLD.n_items)
    assert layers.states.shape == (model.config.layers + 1, len(tokens), 8)


def test_the_bias_falls_by_the_slopes():
    model = bert()
    layers = run_layers(predictor(WORLD, model), model.input_tokens(np.array(FILMS)))
    layer, head, slope = 1, 0, layers.slopes[1, 0]
    assert layers.bias[layer, head, 4, 1] == pytest.approx(-slope[0] * np.log(4))
    assert layers.bias[layer, head, 1, 4] == pytest.approx(-slope[1] * np.log(4))


def test_departures_from_the_paper_are_those_of_the_settings():
    assert paper_differences(predictor(WORLD, bert())) == [
        "relative_bias", "pre_norm", "projection", "pmi_init", "last_only", "average",
    ]  # fmt: skip
    more = paper_differences(predictor(WORLD, bert(only_unseen=True, redraw=True)))
    assert more[-2:] == ["only_unseen", "redraw"]
    schedule = replace(Bert4RecConfig().schedule, ema_decay=0.0)
    assert paper_differences(predictor(WORLD, bert(**PAPER, schedule=schedule))) == []


def test_other_models_are_refused():
    with pytest.raises(ServingError, match="the lesson explains BERT4Rec"):
        run_layers(predictor(WORLD, sasrec()), np.array([1]))
