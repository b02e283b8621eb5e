import hashlib
import threading
from dataclasses import replace
from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import dataset_menu, errors, tasks
from pages.ui.dataset_menu import DatasetTask
from recsys import paths
from recsys.data import datasets, download, own_data, published, tables
from recsys.errors import recsys_command
from recsys.jobs import queue
from tests import toys
from tests.data import archives
from tests.data.server import serving, status
from tests.pages import world
from tests.pages.reading import keys, said, titles, watched

FIRST, OTHER = "ml-latest-sample", "ml-1m"
FETCH = DatasetTask("fetch", OTHER)
LONG = 30.0  # seconds, at most, for what ends in milliseconds


@pytest.fixture
def site(home, monkeypatch):
    """The site of MovieLens, with a little 1M on it."""
    content = archives.zipped(archives.double_colon())
    md5 = hashlib.md5(content, usedforsecurity=False).hexdigest()
    little = {"md5": md5, "years": (1980, 1999)}  # AppTest trips over a changed label
    monkeypatch.setitem(datasets.PUBLISHED, OTHER, replace(datasets.PUBLISHED[OTHER], **little))
    monkeypatch.setattr(download, "PAUSE_SECONDS", 0.0)
    with serving(content) as server:
        monkeypatch.setattr(published, "SITE", server.address.removesuffix("file.zip"))
        yield server


def fetched(name=OTHER):
    """Wait until a data set is there or cannot be had."""
    task = tasks.find(DatasetTask("fetch", name).name)
    assert task is None or task.wait(LONG)


def chosen(app):
    return app.selectbox(key="chosen_data")


# What a data set holds


def test_the_table_has_everything_that_a_menu_says():
    for name, entry in datasets.PUBLISHED.items():
        assert entry.users > 0, name
        oldest, newest = entry.years
        assert 1990 < newest < 2030, name
        assert oldest is None or 1870 < oldest < newest, name


def test_what_a_prepared_set_holds_is_counted(home):
    dataset = world.build()
    known = dataset_menu.dataset_size(FIRST)
    assert (known.n_users, known.n_films) == (dataset.n_users, len(world.TITLES) + 1)
    assert (known.oldest, known.newest) == (1940, 2000)
    assert known.n_items == len(world.TITLES)
    assert known.n_untested_users == 0


def test_people_with_fewer_than_three_films_are_counted(home):
    world.save(
        replace(
            toys.dataset([[0, 1, 2], [0, 1], [2], [0, 1, 2, 0]], 3, "own"),
            catalog=world.build("own", world.TITLES[:3]).catalog,
        )
    )
    assert dataset_menu.dataset_size("own").n_untested_users == 2
    assert "2 people have fewer than three films." in " ".join(
        dataset_menu.training_notes("own", dataset_menu.dataset_size("own"))
    )


def test_a_set_whose_films_need_one_rating_says_so(home):
    world.save(world.build("ml-20m"))
    said = dataset_menu.training_notes("ml-20m", dataset_menu.dataset_size("ml-20m"))
    assert f"Recommenders learn from the {len(world.TITLES)} films that have ratings." in said


def test_other_data_under_the_same_name_is_counted_again(home):
    before = dataset_menu.dataset_size(FIRST).n_films
    world.save(world.build(titles=world.TITLES[:20]))
    assert dataset_menu.dataset_size(FIRST).n_films == 21 != before


def test_the_menu_names_a_set_by_what_it_holds(home):
    assert dataset_menu.menu_label(FIRST) == "MovieLens latest (sample) · films 1940–2000"
    assert dataset_menu.menu_label(OTHER) == "MovieLens 1M · films 1919–2000"
    assert dataset_menu.menu_label("ml-25m") == "MovieLens 25M · films up to 2019"
    assert dataset_menu.menu_label("gone") == "gone"


def test_sets_stand_by_size_after_the_first_and_own_ones_last():
    names = dataset_menu.sort_names(["own", "ml-32m", "ml-1m", "ml-latest-sample", "ml-100k", "ml-latest-small"])
    assert names == ["ml-latest-sample", "ml-100k", "ml-latest-small", "ml-1m", "ml-32m", "own"]


def panel():
    import streamlit as st

    from pages.ui import dataset_menu, session

    session.load()
    dataset_menu.dialog_body()
    st.text(st.session_state.visitor.current.dataset)


@pytest.fixture
def opened(home):
    """The panel with all sets, on a page of its own."""
    return AppTest.from_function(panel, default_timeout=60).run()


def test_each_set_says_what_it_holds_its_size_its_conditions_and_has_one_button(opened):
    text = said(opened)
    assert not opened.exception
    assert "**MovieLens 1M**: 6,040 people, 3,883 films, 1919–2000" in text
    assert "6 MB to download. For research only; sharing and commercial use require permission from GroupLens" in text
    assert "https://files.grouplens.org/datasets/movielens/ml-1m-README.txt" in text
    assert f"Recommenders learn from the {len(world.TITLES)} films with at least 5 ratings." in text
    assert "Trained: BERT4Rec." in text
    assert "No trained recommenders yet." in text
    others = [name for name in dataset_menu.sort_names(list(datasets.PUBLISHED)) if name != FIRST]
    assert keys(opened) == [f"enrich-{FIRST}", *(f"get-{name}" for name in others)]


def test_an_open_set_can_be_left_for_another_one(home):
    world.save(world.build("ml-latest-small"))
    app = AppTest.from_function(panel, default_timeout=60).run()
    app.button(key="open-ml-latest-small").click().run()
    assert app.text[0].value == "ml-latest-small"
    assert "get-ml-latest-sample" not in keys(app)
    assert "open-ml-latest-sample" in keys(app)


def test_a_set_of_ones_own_is_deleted_after_a_second_click_unless_it_is_open(home, monkeypatch):
    own_data.add("shop", own_data.check(tables.parse("a", b"user,item\n1,2\n")), "a")
    app = AppTest.from_function(panel, default_timeout=60).run()
    assert [key for key in keys(app) if key.startswith("delete-")] == ["delete-now-shop"]
    with monkeypatch.context() as patch:
        patch.setattr(
            queue, "jobs", lambda: [queue.Job(id="1", variant="bert4rec", dataset="shop", state=queue.State.RUNNING)]
        )
        app.button(key="delete-now-shop").click().run()
    assert "A recommender is being trained for shop" in said(app)
    app.button(key="delete-now-shop").click().run()
    assert not app.exception
    assert datasets.prepared_names() == [FIRST]
    assert "delete-now-shop" not in keys(app)
    own_data.add("shop", own_data.check(tables.parse("a", b"user,item\n1,2\n")), "a")
    app.run().button(key="open-shop").click().run()
    assert "delete-now-shop" not in keys(app)


def test_on_a_public_server_nobody_deletes_a_set(home, monkeypatch):
    monkeypatch.setenv(paths.PUBLIC, "1")
    own_data.add("shop", own_data.check(tables.parse("a", b"user,item\n1,2\n")), "a")
    assert "delete-now-shop" not in keys(AppTest.from_function(panel, default_timeout=60).run())


# Getting one


def test_a_set_that_is_not_here_says_what_it_is_and_is_had_by_one_button(visit, site):
    app = visit(data=OTHER, s="10-20")
    assert "MovieLens 1M is not on this computer yet." in said(app)
    assert "6,040 people" in said(app)
    app.button(key=f"get-{OTHER}").click().run()
    fetched()
    app.run()
    assert not app.exception
    assert watched(app) == ["Toy Story", "The Matrix"]
    assert app.query_params["data"] == OTHER
    assert f"fetch-{OTHER}-stop" not in keys(app)


def test_a_set_arrives_while_the_visitor_goes_on_with_another_one(visit, site):
    app = visit(s="1-2-3")
    app.session_state.visitor.tasks = [FETCH]
    tasks.start(FETCH.name, partial(dataset_menu.run_task, FETCH))
    fetched()
    app.run()
    assert watched(app) == titles(0, 1, 2)
    assert "MovieLens 1M is ready." in [one.value for one in app.success]
    app.button(key=f"fetch-{OTHER}-open").click().run()
    assert chosen(app).value == OTHER
    assert not app.success
    app.run()
    assert not app.success


def test_an_arrival_can_be_put_away(visit, site):
    app = visit()
    app.session_state.visitor.tasks = [FETCH]
    tasks.start(FETCH.name, partial(dataset_menu.run_task, FETCH))
    fetched()
    app.run().button(key=f"fetch-{OTHER}-away").click().run()
    assert not app.success
    assert chosen(app).value == FIRST
    assert dataset_menu.menu_label(OTHER) in chosen(app).options


def test_getting_a_set_can_be_called_off_and_goes_on_where_it_was(visit, site):
    arrived, go_on = threading.Event(), threading.Event()
    site.content = archives.zipped(archives.double_colon() | {"padding": bytes(range(256)) * 4000})

    def pause(request):
        site.behave(request, stop_after=200)
        arrived.set()
        assert go_on.wait(LONG)

    site.tricks = [pause]
    app = visit(data=OTHER)
    app.button(key=f"get-{OTHER}").click().run()
    assert arrived.wait(LONG)
    app.run()
    app.button(key=f"fetch-{OTHER}-stop").click().run()
    go_on.set()
    fetched()
    app.run()
    assert datasets.prepared_names() == [FIRST]
    assert f"get-{OTHER}" in keys(app)
    assert not list(paths.prepared(OTHER).parent.glob("*.part"))


def test_why_a_set_could_not_be_had_is_a_sentence_and_it_can_be_tried_again(visit, site):
    site.tricks = [status(404)]
    app = visit(data=OTHER)
    app.button(key=f"get-{OTHER}").click().run()
    fetched()
    app.run()
    assert "MovieLens 1M could not be downloaded: 127.0.0.1 answered 404 Not Found; the file may have moved." in said(
        app
    )
    app.button(key=f"fetch-{OTHER}-again").click().run()
    fetched()
    app.run()
    assert not app.exception
    assert chosen(app).value == OTHER
    assert "could not be downloaded" not in said(app)


def saying(event):
    import streamlit as st

    from pages.ui import dataset_menu

    st.session_state.lang = "uk"
    st.text(dataset_menu.download_text("ml-1m", event))


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        (
            {"stage": "download", "done": 0, "total": None, "from": "the package index"},
            "Завантажуємо MovieLens 1M; звідки: індекс пакунків",
        ),
    ],
)
def test_progress_is_said_in_ukrainian(event, sentence):
    app = AppTest.from_function(saying, kwargs={"event": event}).run()
    assert app.text[0].value == sentence


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        ({}, "Downloading MovieLens 1M"),
        (
            {"stage": "download", "done": 2_100_000, "total": 5_917_549, "from": "x"},
            "Downloading MovieLens 1M: 2.1 of 5.9 MB",
        ),
        (
            {"stage": "download", "done": 0, "total": None, "from": "the package index"},
            "Downloading MovieLens 1M from the package index",
        ),
        ({"stage": "note", "text": "the site is slow"}, "the site is slow"),
        ({"stage": "parse"}, "Reading the ratings of MovieLens 1M"),
        ({"stage": "keep"}, "Saving MovieLens 1M"),
    ],
)
def test_progress_is_said_in_words(event, sentence):
    assert dataset_menu.download_text(OTHER, event) == sentence


@pytest.mark.parametrize(("public", "shown"), [("", True), ("0", True), ("1", False)])
def test_visitors_of_a_public_server_cannot_add_data(visit, monkeypatch, public, shown):
    monkeypatch.setenv(paths.PUBLIC, public)
    app = visit()
    app.button(key="more-sets").click().run()
    assert bool([one for one in app.expander if one.label == "Add your own data"]) == shown


def test_visitors_of_a_public_server_fetch_nothing_and_see_the_sets_that_are_here(visit, monkeypatch):
    monkeypatch.setenv(paths.PUBLIC, "1")
    app = visit(data=OTHER)
    assert f"get-{OTHER}" not in keys(app)
    assert "The administrator of this server can run:" in said(app)
    assert errors.hide_paths(recsys_command("data", "get", OTHER)) in [one.value for one in app.code]
    app = visit()
    app.button(key="more-sets").click().run()
    assert not [key for key in keys(app) if key.startswith("get-")]
    assert "MovieLens 20M" not in said(app)
