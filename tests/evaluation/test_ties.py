import json
from dataclasses import replace

import numpy as np
import pytest

from recsys import paths, storage
from recsys.data.dataset import DataError
from recsys.evaluation import file_order
from recsys.evaluation.evaluate import evaluate
from tests.evaluation.test_file_order import by_id, world


def collect(sentences):
    """Return a callback that appends the text of an error."""
    return lambda error: sentences.append(str(error))


@pytest.fixture(autouse=True)
def fake_models(home, no_assets):
    """Use the real recommenders, unlike other tests of this folder."""


MADE = world(by_id, n_users=300, films=12)


def test_the_order_of_the_file_is_named_counted_and_worth_something_until_it_is_drawn():
    found = file_order.measure(MADE)
    assert (found["order"], found["tables"]) == ("ascending", {})
    assert found["lower"] == {"same second": 0.0, "alone": 0.0}
    assert found["pairs"] == {"same second": 300 * 9, "alone": 0}
    assert (found["share"], found["targets"]) == (round(9 / 11, 5), 1.0)
    assert found["people_quantiles"]["50"] == round(9 / 11, 4)
    assert [row["pairs"] for row in found["years"]] == [300 * 11]
    popular, drawn = (
        next(row for row in found["rules"] if (row["title"], row["protocol"]) == ("Most popular", protocol))
        for protocol in ("full", "untied")
    )
    assert popular["with the order"] > 1.2 * popular["alone"]
    assert abs(drawn["with the order"] - drawn["alone"]) < 0.03
    assert popular["weight"] > 0


def test_recommenders_stand_beside_themselves_in_both_orders():
    for protocol in ("full", "untied"):
        evaluate("popular", MADE, protocol)
    evaluate("item-knn", MADE, "untied")  # not under full, so there is nothing to set it beside
    (row,) = file_order.measure(MADE)["recommenders"]
    assert (row["variant"], row["seeds"]) == ("popular", 1)
    assert row["full"] == pytest.approx(evaluate("popular", MADE)["mean"]["ndcg@10"], abs=1e-5)
    assert row["untied"] == pytest.approx(evaluate("popular", MADE, "untied")["mean"]["ndcg@10"], abs=1e-5)
    assert row["full tied"] == row["full"]  # every hidden film shares its second


def test_people_whose_hidden_film_is_tied_are_told_from_the_others():
    time = np.asarray(MADE.interactions.timestamp).copy()
    time[MADE.offsets[1:151] - 1] += 1  # half of the people rate their last film by itself
    made = replace(MADE, interactions=replace(MADE.interactions, timestamp=time))
    for protocol in ("full", "untied"):
        evaluate("popular", made, protocol)
    found = file_order.measure(made)
    (row,) = found["recommenders"]
    assert found["targets"] == 0.5
    assert row["untied"] == pytest.approx((row["untied tied"] + row["untied other"]) / 2, abs=2e-5)
    assert row["full tied"] != row["full other"]


def test_a_set_in_a_drawn_order_has_nothing_to_show():
    with pytest.raises(DataError, match="are already in random order"):
        file_order.measure(replace(MADE, ties="drawn"))


def test_what_was_kept_is_read_again_and_damage_is_said_with_the_command(home):
    said = []
    assert file_order.read("toy", collect(said)) is None
    found = file_order.measure(MADE)
    path = file_order.write(found, ship=True)
    assert figures(file_order.read("toy", collect(said))) == figures(found)
    assert not said
    path.write_bytes(path.read_bytes().replace(b'"people": 300', b'"people": 301'))
    assert figures(file_order.read("toy", collect(said))) == figures(found)  # the one in assets/
    assert "experiment ties --dataset toy" in said[0]


def figures(document):
    """A document as it is read from a file, without its run, where the file keeps its own hash."""
    return {name: value for name, value in json.loads(json.dumps(document)).items() if name != "run"}


def test_recommenders_of_an_older_file_have_the_names_of_today():
    rows = [{"title": "Popular in the session", "family": "No learning"}, {"title": "Hybrid", "family": "Hybrid"}]
    storage.replace_file(paths.ties(paths.home(), "toy"), storage.sign_document({"recommenders": rows}))
    document = file_order.read("toy", pytest.fail)
    assert [row["title"] for row in document["recommenders"]] == ["Watched near the last two films", "Hybrid"]
    assert [row["family"] for row in document["recommenders"]] == ["Counting", "Mixtures"]
