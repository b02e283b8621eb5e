import threading
from types import SimpleNamespace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import cache, errors, format, recommenders
from pages.ui.recommenders import State
from recsys import checkpoints, paths, storage
from recsys.data import film_details
from recsys.data.dataset import DataError
from recsys.data.split import LEAVE_ONE_OUT
from recsys.errors import recsys_command
from recsys.models import registry
from recsys.models.sasrec import SasRecConfig
from recsys.serving.predictor import all_recommenders
from recsys.training.options import TrainConfig
from tests.models.configs import changed
from tests.pages import world
from tests.pages.reading import keys, picks, said

DATA = "ml-latest-sample"
LONG = 30.0  # seconds, at most, for what ends in milliseconds


@pytest.fixture
def at_leisure(monkeypatch):
    """A page that waits for every fit, so that nothing depends on how fast this machine is."""
    monkeypatch.setattr(recommenders, "MAX_WAIT_SECONDS", LONG)


@pytest.fixture
def slow(monkeypatch):
    """What is fitted takes half a minute, as far as anybody can tell."""
    monkeypatch.setattr(recommenders, "fit_seconds", lambda name, dataset: 30.0)


def choose(app, name):
    return app.selectbox(key="model").set_value(name).run()


def made_up(ratings, films):
    return SimpleNamespace(name="ml-25m", interactions=np.empty(ratings, np.bool_), n_items=films)


# The menu


def test_the_known_come_first_and_families_stay_together():
    known = cache.all_recommenders()
    names = list(known)
    assert sorted(names) == sorted(recommender.name for recommender in all_recommenders())
    assert names[:2] == ["bert4rec", "bert4rec-memory"]
    families = [known[name].family for name in names]
    assert len(set(families)) == sum(one != before for one, before in zip(families, ["", *families], strict=False))
    assert families[0] == "Transformers"
    assert names.index("gru4rec-ce") < names.index("markov") < names.index("item-knn") < names.index("ials")


def test_what_this_module_knows_by_name_exists():
    assert set(recommenders.SECONDS_PER_MILLION_RATINGS) | set(recommenders.SECONDS_PER_THOUSAND_FILMS) <= set(
        registry.names()
    )
    assert not any(registry.get(name).needs_training for name in recommenders.SECONDS_PER_MILLION_RATINGS)


def test_the_menu_marks_what_is_not_trained_and_nothing_else(home):
    menu = recommenders.menu_labels(DATA)
    assert menu["bert4rec"] == "BERT4Rec"
    assert menu["item-knn"] == "Item kNN"
    assert menu["sasrec-bce"] == "{model} · not trained".format(model="SASRec (BCE)")
    marked = {name for name, label in menu.items() if label != registry.get(name).title}
    networks = {name for name in menu if registry.get(name).needs_training}
    standing_on_some = {"pool", "pool-favourites", "hybrid", "hybrid-few", "ensemble"}
    assert marked == networks - {"bert4rec"} | standing_on_some


def test_what_takes_long_is_marked_until_it_is_fitted(home, slow):
    assert recommenders.menu_labels(DATA)["ease"] == "{model} · not prepared".format(model="EASE")
    cache.load_predictor("ease", DATA)
    assert recommenders.menu_labels(DATA)["ease"] == "EASE"


def test_states_are_computed_again_only_after_a_change_on_disk(home, monkeypatch):
    computed, find_state = [], recommenders._find_state
    monkeypatch.setattr(recommenders, "_find_state", lambda *names: computed.append(names) or find_state(*names))
    n = len(recommenders.menu_labels(DATA))
    recommenders.menu_labels(DATA)
    assert len(computed) == n
    for number, change in enumerate((train_sasrec, enrich, world.untrain), start=2):
        change()
        recommenders.menu_labels(DATA)
        recommenders.menu_labels(DATA)
        assert len(computed) == number * n


def enrich():
    film_details.write(DATA, {1: {"titles": ["Зоряні війни"]}})


def test_the_first_one_is_the_network_or_what_is_quickly_had_without_it(home):
    assert recommenders.default(DATA) == "bert4rec"
    world.untrain()
    assert recommenders.default(DATA) == "item-knn"


def test_the_first_one_is_the_best_where_that_is_trained(home):
    settings = changed(registry.get("sasrec-memory").preset(""), dim=8, length=8, epochs=1)
    world.train(cache.dataset(DATA), settings, "sasrec-memory")
    assert recommenders.default(DATA) == "sasrec-memory"


def test_a_time_is_a_sum_that_grows_with_the_data():
    small, large = made_up(100_000, 2_000), made_up(25_000_000, 60_000)
    assert recommenders.fit_seconds("ials", small) < recommenders.MAX_AUTOMATIC_SECONDS
    assert recommenders.fit_seconds("ials", large) > recommenders.MAX_CLICK_SECONDS
    assert recommenders.fit_seconds("ease", large) > 1_000  # films cubed
    assert recommenders.fit_seconds("popular", large) < recommenders.MAX_AUTOMATIC_SECONDS


def test_film_vectors_that_are_there_need_not_be_made(home):
    dataset = made_up(300_000, 6_000)
    assert recommenders.fit_seconds("content-sentence", dataset) > recommenders.MAX_CLICK_SECONDS
    folder = home / "film_vectors" / "ml-25m"
    folder.mkdir(parents=True)
    (folder / "0123456789abcdef.safetensors").touch()
    assert recommenders.fit_seconds("content-sentence", dataset) < recommenders.MAX_AUTOMATIC_SECONDS


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.5, "a few seconds"),
        (12, "about 10 seconds"),
        (44, "about 40 seconds"),
        (58, "about a minute"),
        (200, "about 3 minutes"),
    ],
)
def test_times_are_round(seconds, said):
    assert format.format_duration(seconds) == said


# On a page


def test_one_that_needs_no_training_is_fitted_when_it_is_chosen(visit, at_leisure):
    app = visit(s="1-2-3")
    assert checkpoints.find("markov", DATA) is None
    choose(app, "markov")
    assert not app.exception
    assert picks(app)[0] == world.TITLES[3][:-7]
    assert checkpoints.find("markov", DATA) is not None


def test_one_that_takes_longer_is_fitted_by_a_button_that_says_how_long(visit, at_leisure, slow):
    app = choose(visit(s="1-2-3"), "markov")
    assert "{model} has not been prepared for {data} yet. Preparation is only needed once.".format(
        model="Markov chain", data="MovieLens latest (sample)"
    ) in said(app)
    assert "Most popular" in said(app)  # meanwhile
    assert checkpoints.find("markov", DATA) is None
    assert app.button(key="fit-markov").label == "Prepare Markov chain (about 30 seconds)"
    app.button(key="fit-markov").click().run()
    assert not app.exception
    assert checkpoints.find("markov", DATA) is not None
    assert picks(app)[0] == world.TITLES[3][:-7]
    assert app.selectbox(key="model").value == "markov"


def test_one_that_takes_more_than_a_minute_shows_the_command(visit, monkeypatch):
    monkeypatch.setattr(recommenders, "fit_seconds", lambda name, dataset: 61.0)
    app = choose(visit(s="1-2-3"), "ease")
    assert "{model} has not been prepared for {data} yet. Preparing it takes more than a minute.".format(
        model="EASE", data="MovieLens latest (sample)"
    ) in said(app)
    assert recsys_command("train", "ease", "--dataset", DATA) in said(app)
    assert "fit-ease" not in keys(app)


def test_a_network_that_is_not_trained_shows_the_command_and_names_what_can_answer(visit):
    app = choose(visit(s="1-2-3"), "sasrec-bce")
    assert recsys_command("train", "sasrec-bce", "--dataset", DATA) in said(app)
    assert "These need no training and are prepared in seconds when you choose them: {models}.".format(
        models="Markov chain, Item kNN, ALS and Content (TF-IDF)"
    ) in said(app)
    assert len(picks(app)) == 10


def test_a_mixture_names_the_networks_that_it_lacks_with_the_commands_that_train_them(visit):
    app = choose(visit(s="1-2-3"), "hybrid")
    missing = {"model": "Hybrid", "data": "MovieLens latest (sample)", "members": "SASRec (softmax)"}
    assert (
        "{model} is a mixture of several recommenders. Not trained for {data} yet: {members}. Training takes minutes "
        "to hours."
    ).format(**missing) in said(app)
    assert recsys_command("train", "sasrec-softmax", "--dataset", DATA) in said(app)
    assert len(picks(app)) == 10  # of another
    world.untrain()
    command = recommenders.predictors.training_command("hybrid-few", DATA)
    assert [line.split()[-3] for line in command.split(" && ")] == ["sasrec-softmax", "bert4rec"]


def test_a_mixture_is_fitted_as_soon_as_its_networks_are_there(visit, at_leisure):
    train_sasrec()
    assert recommenders.state("hybrid", DATA) is State.QUICK
    app = choose(visit(s="1-2-3"), "hybrid")
    assert not app.exception
    assert picks(app)[0] == world.TITLES[3][:-7]
    assert recommenders.state("hybrid", DATA) is State.READY
    train_sasrec(epochs=6)
    assert recommenders.state("hybrid", DATA) is State.QUICK  # its weights are those of another network


def test_a_mixture_takes_as_long_as_its_members_that_are_not_there(home):
    dataset = made_up(1_000_000, 4_000)
    dataset.n_users = 6_000
    alone = recommenders.fit_seconds("markov", dataset) + recommenders.fit_seconds("content-tfidf", dataset)
    assert (
        recommenders.MAX_AUTOMATIC_SECONDS
        < recommenders.fit_seconds("hybrid", dataset)
        < recommenders.MAX_CLICK_SECONDS
    )
    assert recommenders.fit_seconds("hybrid", dataset) > alone
    dataset.n_users = 6_000_000
    assert recommenders.fit_seconds("hybrid", dataset) < recommenders.MAX_CLICK_SECONDS


def train_sasrec(epochs=5):
    schedule = TrainConfig(epochs=epochs, batch_size=32, lr=1e-2, warmup_steps=20)
    world.train(
        world.build(), SasRecConfig(schedule=schedule, dim=32, layers=1, length=24, dropout=0.0), "sasrec-softmax"
    )


def test_a_network_that_was_trained_meanwhile_answers_in_the_next_run(visit):
    meta = paths.checkpoint(DATA, LEAVE_ONE_OUT.name, "bert4rec", 0) / checkpoints.META
    trained = meta.read_bytes()
    world.untrain()
    app = choose(visit(s="1-2-3"), "bert4rec")
    assert "{model} is not trained for {data} yet. Training takes minutes to hours.".format(
        model="BERT4Rec", data="MovieLens latest (sample)"
    ) in said(app)
    storage.replace_file(meta, trained)  # as a training in a terminal does
    app.run()
    assert "not been trained" not in said(app)
    assert world.TITLES[3][:-7] in picks(app)[:3]


def test_a_choice_outlives_its_mark(visit, slow):
    app = choose(visit(s="1-2-3"), "markov")
    assert "{model} · not prepared".format(model="Markov chain") in app.selectbox(key="model").options
    cache.load_predictor("markov", DATA)  # by another visitor
    app.run()
    assert "{model} · not prepared".format(model="Markov chain") not in app.selectbox(key="model").options
    assert app.selectbox(key="model").value == "markov"
    assert picks(app)[0] == world.TITLES[3][:-7]


@pytest.fixture
def fit(monkeypatch):
    """A fit that goes on until it is let go; `fit.error` ends it."""
    load, let_go = recommenders.predictors.load, threading.Event()
    settings = SimpleNamespace(error=None, let_go=let_go)

    def hold(name, dataset, report=None):
        if report is None:
            return load(name, dataset)
        report({"stage": "fit", "done": 1, "total": 2})
        assert let_go.wait(LONG)
        report({"stage": "fit", "done": 2, "total": 2})
        if settings.error:
            raise settings.error
        return load(name, dataset, report)

    monkeypatch.setattr(recommenders.predictors, "load", hold)
    monkeypatch.setattr(recommenders, "MAX_WAIT_SECONDS", 0.0)
    yield settings
    let_go.set()
    assert fitting() is None or fitting().wait(LONG)  # before the home of another test takes its place


def fitting(name="markov"):
    return recommenders.find_fit(name, DATA)


def test_while_a_fit_goes_on_the_page_shows_how_far_it_is_and_another_one_answers(visit, fit):
    app = choose(visit(s="1-2-3"), "markov")
    assert not app.exception
    assert "stop-markov" in keys(app)
    assert len(picks(app)) == 10
    fit.let_go.set()
    assert fitting().wait(LONG)
    app.run()
    assert picks(app)[0] == world.TITLES[3][:-7]
    assert "stop-markov" not in keys(app)


def test_a_fit_can_be_called_off_and_begun_again(visit, fit):
    app = choose(visit(s="1-2-3"), "markov")
    app.button(key="stop-markov").click().run()
    fit.let_go.set()
    assert fitting().wait(LONG)
    app.run()
    assert checkpoints.find("markov", DATA) is None
    assert "stop-markov" not in keys(app)
    app.button(key="fit-markov").click().run()
    assert fitting().wait(LONG)
    app.run()
    assert picks(app)[0] == world.TITLES[3][:-7]


def test_why_a_fit_failed_is_a_sentence_and_it_can_be_tried_again(visit, fit):
    fit.error = DataError("the disk is full")
    app = choose(visit(s="1-2-3"), "markov")
    fit.let_go.set()
    assert fitting().wait(LONG)
    app.run()
    assert "The disk is full." in said(app)
    fit.error = None
    app.button(key="again-markov").click().run()
    assert fitting().wait(LONG)
    app.run()
    assert picks(app)[0] == world.TITLES[3][:-7]


def test_a_bug_in_a_fit_stays_a_bug(visit, fit):
    fit.error = KeyError("a bug")
    app = choose(visit(s="1-2-3"), "markov")
    assert not app.exception
    fit.let_go.set()
    assert fitting().wait(LONG)
    assert app.run().exception


def test_several_are_fitted_at_once(home):
    recommenders.start(["markov", "item-knn", "sasrec-bce", "bert4rec"], world.build())
    assert all(fitting(name).wait(LONG) for name in ("markov", "item-knn"))
    assert recommenders.state("item-knn", DATA) is State.READY
    assert fitting("sasrec-bce") is None  # nobody can fit a network here
    assert fitting("bert4rec") is None  # it is there


def test_what_the_disk_refuses_to_keep_answers_all_the_same(visit, at_leisure, monkeypatch):
    def full(*arguments):
        raise checkpoints.CheckpointError("the disk is full")

    monkeypatch.setattr(checkpoints, "_write", full)
    app = choose(visit(s="1-2-3"), "markov")
    assert not app.exception
    assert picks(app)[0] == world.TITLES[3][:-7]
    once = cache.load_predictor("markov", DATA)
    app.run()
    assert cache.load_predictor("markov", DATA) is once


def twice(name):
    import streamlit as st

    from pages.ui import cache, recommenders

    for _ in range(2):
        st.text(str(recommenders.predictor(name, cache.dataset("ml-latest-sample"))))


@pytest.mark.parametrize(("name", "buttons"), [("markov", ["fit-markov"]), ("caser", ["train-caser"])])
def test_two_parts_of_a_page_can_wait_for_the_same_one(home, slow, name, buttons):
    app = AppTest.from_function(twice, kwargs={"name": name}, default_timeout=60).run()
    assert not app.exception
    assert [text.value for text in app.text] == ["None", "None"]
    assert keys(app) == buttons
    assert len(app.info) == 2


def test_two_parts_of_a_page_can_watch_the_same_fit(home, fit):
    app = AppTest.from_function(twice, kwargs={"name": "markov"}, default_timeout=60).run()
    assert not app.exception
    assert keys(app) == ["stop-markov"]


def test_a_failed_fit_does_not_count_for_the_data_that_replace_the_data_set(home, monkeypatch):
    load = recommenders.predictors.load

    def fail(*arguments):
        raise DataError("too few ratings")

    monkeypatch.setattr(recommenders.predictors, "load", fail)
    recommenders.start(["markov"], world.build())
    assert fitting().wait(LONG)
    assert fitting().error
    monkeypatch.setattr(recommenders.predictors, "load", load)
    replacement = world.build(titles=world.TITLES[:20])
    world.save(replacement)
    assert fitting() is None
    recommenders.start(["markov"], replacement)
    assert fitting().wait(LONG)
    assert fitting().error is None
    assert recommenders.state("markov", DATA) is State.READY


def test_what_was_called_off_is_begun_again_by_nobody_but_the_visitor(home, fit):
    dataset = world.build()
    recommenders.start(["markov"], dataset)
    called_off = fitting()
    called_off.cancel()
    fit.let_go.set()
    assert called_off.wait(LONG)
    recommenders.start(["markov"], dataset)
    assert fitting() is called_off
    recommenders.restart("markov", dataset)
    assert fitting() is not called_off
    assert fitting().wait(LONG)
    assert recommenders.state("markov", DATA) is State.READY


# On a public server


@pytest.mark.parametrize("seconds", [30.0, 100.0])
def test_visitors_of_a_public_server_start_no_fit_that_takes_long(visit, monkeypatch, seconds):
    monkeypatch.setenv(paths.PUBLIC, "1")
    monkeypatch.setattr(recommenders, "fit_seconds", lambda name, dataset: seconds)
    app = choose(visit(s="1-2"), "ease")
    assert "{model} has not been prepared for {data} yet. Preparation is only needed once.".format(
        model="EASE", data=cache.dataset_title(DATA)
    ) in said(app)
    assert "The administrator of this server can run:" in said(app)
    assert errors.hide_paths(recsys_command("train", "ease", "--dataset", DATA)) in [one.value for one in app.code]
    assert "fit-ease" not in keys(app)
    assert fitting("ease") is None


def test_what_takes_seconds_is_fitted_for_them_too(visit, monkeypatch, at_leisure):
    monkeypatch.setenv(paths.PUBLIC, "1")
    app = choose(visit(s="1-2"), "markov")
    assert picks(app)
    assert "The administrator of this server can run:" not in said(app)


def test_an_error_is_forgotten_after_a_fit_in_a_terminal(visit, fit):
    fit.error = DataError("the disk is full")
    app = choose(visit(s="1-2-3"), "markov")
    fit.let_go.set()
    assert fitting().wait(LONG)
    assert "The disk is full." in said(app.run())
    fit.error = None
    recommenders.predictors.load("markov", cache.dataset(DATA), lambda event: None)
    app.run()
    assert "The disk is full." not in said(app)
    assert picks(app)[0] == world.TITLES[3][:-7]
