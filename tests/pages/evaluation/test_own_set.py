"""Evaluation for a data set of the visitor's own."""

import numpy as np
import pytest

from pages.ui import cache, recommenders, tasks
from recsys import paths
from recsys.data import own_data, tables
from recsys.errors import RecsysError
from recsys.evaluation import results
from recsys.evaluation.evaluate import evaluate as evaluate_recommender
from tests.pages.conftest import SCRIPTS
from tests.pages.evaluation.test_page import result
from tests.pages.reading import keys, said

LONG = 60.0  # seconds, at most, for what ends in a few


@pytest.fixture
def shop():
    """A shop in which everybody buys the next of forty items, beside results of MovieLens 1M."""
    rows = [(f"p{person}@shop.example", (person + step) % 40, step) for person in range(40) for step in range(6)]
    lines = [f"{who},S{what},{1_700_000_000 + when}\n" for who, what, when in rows]
    text = "customer_email,sku,ordered_at\n" + "".join(lines)
    own_data.add("shop", own_data.check(tables.parse("shop.csv", text.encode())), "shop.csv")
    ranks = np.array([[4, 30, 9]])
    for name in ("ml-1m", "ml-latest-sample"):
        results.write(result("popular", name, "full", ranks), ranks)


def evaluated(app):
    """Press the button and wait for the end; the page as it is then."""
    app.button(key="evaluate-shop").click().run()
    assert not app.exception
    assert tasks.find("evaluate/shop").wait(LONG)
    app.run()
    assert not app.exception
    return app


def board(app):
    return " ".join(html.proto.body for html in app.get("html") if '<table class="nr-board"' in html.proto.body)


def test_no_results_of_another_set_are_shown(visit, shop, monkeypatch):
    monkeypatch.setattr(paths, "ASSETS", paths.REPOSITORY / "assets")  # with the studies of MovieLens
    app = visit("evaluation", data="shop")
    assert not app.exception
    assert app.selectbox(key="results_of").options == ["shop"]
    assert board(app) == ""
    assert "studies" not in app.get_by_key("section").options
    assert "No recommender has been evaluated on shop yet." in said(app)


def test_another_set_that_was_chosen_before_is_left(visit, shop):
    app = visit("evaluation")
    app.selectbox(key="results_of").set_value("ml-1m").run()
    assert "Popular" in board(app)
    app.switch_page(SCRIPTS["watch_next"]).run()
    app.selectbox(key="chosen_data").set_value("shop").run()
    app.switch_page(SCRIPTS["evaluation"]).run()
    assert not app.exception
    assert app.selectbox(key="results_of").value == "shop"
    assert board(app) == ""


def test_the_button_measures_the_recommenders_that_need_no_training(visit, shop, monkeypatch):
    monkeypatch.setattr("pages.ui.cache.all_recommenders", few)
    app = evaluated(visit("evaluation", data="shop"))
    assert "Most popular" in board(app)
    assert results.load("shop", "full", "item-knn")["users"] == 40
    assert [metric.label for metric in app.metric] == [
        cache.recommender_title(few()[name]) for name in ("item-knn", "popular")
    ]
    assert [metric.value for metric in app.metric] == ["100.0%", "0.0%"]
    assert "evaluate-shop" not in keys(app)


def test_the_error_of_a_single_recommender_is_shown(visit, shop, monkeypatch):
    def fail_for_markov(name, *args, **kwargs):
        if name == "markov":
            raise RecsysError("the model file is damaged")
        return evaluate_recommender(name, *args, **kwargs)

    monkeypatch.setattr("pages.ui.cache.all_recommenders", few)
    with monkeypatch.context() as patch:
        patch.setattr("recsys.evaluation.evaluate.evaluate", fail_for_markov)
        app = evaluated(visit("evaluation", data="shop"))
    assert "The model file is damaged." in said(app)
    assert "Most popular" in board(app)
    assert "evaluate-shop" in keys(app)


def few():
    """Three recommenders that are fitted at once."""
    from recsys.serving.predictor import all_recommenders

    return {one.name: one for one in all_recommenders() if one.name in ("popular", "item-knn", "markov")}


def test_the_recommender_chosen_on_watch_next_stands_beside_the_most_popular(visit, shop):
    for name, rank in {"popular": 9, "item-knn": 2, "markov": 1}.items():
        ranks = np.full((1, 40), rank)
        known = {"fingerprint": cache.dataset("shop").fingerprint, "title": name}
        results.write(result(name, "shop", "full", ranks) | known, ranks)
    app = visit("evaluation", data="shop")
    assert [metric.label for metric in app.metric] == ["item-knn", "popular"]
    app = visit("evaluation", data="shop", model="markov")
    assert [metric.label for metric in app.metric] == ["markov", "popular"]


def test_a_set_without_trained_networks_begins_with_item_knn(visit, shop):
    assert recommenders.default("shop") == "item-knn"
    app = visit(data="shop")
    assert not app.exception
    assert app.selectbox(key="model").value == "item-knn"


def test_a_set_on_which_nobody_can_be_tested_says_so(visit, home):
    own_data.add("tiny", own_data.check(tables.parse("tiny.csv", b"user,item\na,x\na,y\nb,x\nb,z\n")), "tiny.csv")
    app = visit("evaluation", data="tiny")
    app.button(key="evaluate-tiny").click().run()
    assert tasks.find("evaluate/tiny").wait(LONG)
    app.run()
    assert not app.exception
    assert app.warning
    assert "evaluate-tiny" in keys(app)
