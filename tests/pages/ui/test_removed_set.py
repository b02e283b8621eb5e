"""A data set that is deleted while a visitor has it open."""

import pytest

from pages.ui import cache, dataset_menu
from pages.ui.dataset_menu import DEFAULT_DATASET
from recsys.cli.main import main
from recsys.data import own_data, tables
from tests.pages.conftest import SCRIPTS
from tests.pages.reading import said, watched

ROWS = "".join(f"{name},{item},{time}\n" for name in ("ann", "bob", "cat") for time, item in enumerate("xyzw"))


@pytest.fixture
def shop(home, monkeypatch):
    """A data set of the visitor's own."""
    monkeypatch.setattr(
        dataset_menu, "menu_label", cache.dataset_title
    )  # AppTest cannot send an option whose label has changed
    own_data.add("shop", own_data.check(tables.parse("shop.csv", f"user,item,time\n{ROWS}".encode())), "shop.csv")


def remove(name):
    assert main(["data", "remove", name]) == 0


@pytest.mark.parametrize("page", SCRIPTS)
def test_every_page_falls_back_to_the_built_in_set(visit, shop, page):
    app = visit(page, data="shop", s="1-2")
    assert not app.exception
    assert app.session_state.visitor.current.dataset == "shop"
    remove("shop")
    app.run()
    assert not app.exception
    assert app.session_state.visitor.current.dataset == DEFAULT_DATASET
    assert "The data set {data} was deleted, so you see the films that come with the app.".format(data="shop") in said(
        app
    )
    app.run()
    assert not app.exception


def test_the_other_pages_of_the_session_work_too(visit, shop):
    app = visit(data="shop", s="1-2")
    remove("shop")
    for page in SCRIPTS.values():
        assert not app.switch_page(page).run().exception
    assert "The data set {data} was deleted, so you see the films that come with the app.".format(data="shop") in said(
        app
    )


def replace_shop(items="zyw"):
    text = "user,item,time\n" + "".join(f"{name},{item},{time}\n" for name in "ab" for time, item in enumerate(items))
    own_data.add("shop", own_data.check(tables.parse("shop.csv", text.encode())), "shop.csv", overwrite=True)


def test_films_of_a_set_that_was_replaced_are_looked_up_again(visit, shop):
    app = visit(data="shop", s="4-1")
    assert watched(app) == ["z", "w"]
    replace_shop()
    app.run()
    assert not app.exception
    assert watched(app) == ["w"]  # 4 is no item any more, and 1 still is
    app.run()
    assert not app.exception


@pytest.mark.parametrize("back", ["menu", "undo"])
def test_films_of_a_set_that_was_replaced_meanwhile_are_forgotten(visit, shop, back):
    app = visit(data="shop", s="4-1")
    app.selectbox(key="chosen_data").set_value(DEFAULT_DATASET).run()
    replace_shop("zy")
    if back == "menu":
        app.selectbox(key="chosen_data").set_value("shop").run()
    else:
        app.button(key="undo").click().run()
    assert not app.exception
    assert app.session_state.visitor.current.dataset == ("shop" if back == "menu" else DEFAULT_DATASET)
    assert watched(app) == []


def test_a_set_that_was_replaced_can_be_left_at_once(visit, shop):
    app = visit(data="shop", s="4-1")
    replace_shop("zy")
    app.selectbox(key="chosen_data").set_value(DEFAULT_DATASET).run()  # the callback runs before the page notices
    assert not app.exception


def test_a_film_of_a_set_that_was_replaced_is_not_ranked_any_more(visit, shop):
    app = visit("compare", data="shop", s="1-2", compare="popular~markov")
    app.session_state.compare_section = "rank"
    app.run().text_input(key="seek").set_value("z").run()
    next(button for button in app.button if button.key.startswith("seek-")).click().run()
    assert "**z**" in said(app)
    replace_shop("wx")
    app.run()
    assert not app.exception
    assert "z is not in shop" in said(app)


def test_undo_and_a_change_of_the_set_do_not_lead_back_to_it(visit, shop):
    app = visit(data="shop", s="1-2")
    next(button for button in app.button if button.key.startswith("remove-")).click().run()
    remove("shop")
    app.selectbox(key="chosen_data").set_value(DEFAULT_DATASET).run()  # the callback runs before the page notices
    assert not app.exception
    assert app.session_state.visitor.current.dataset == DEFAULT_DATASET
    app.button(key="undo").click().run()
    assert not app.exception
    assert app.session_state.visitor.current.dataset == DEFAULT_DATASET


def test_back_does_not_lead_to_a_set_that_was_deleted(visit, shop, follow):
    app = visit(data="shop", s="1-2")
    app.selectbox(key="chosen_data").set_value(DEFAULT_DATASET).run()
    remove("shop")
    follow(app, {"data": "shop", "s": "1-2"})
    assert not app.exception
    assert app.session_state.visitor.current.dataset == DEFAULT_DATASET
    assert "The link names a data set that does not exist" in said(app)
    app.button(key="undo").click().run()
    assert not app.exception
    assert app.session_state.visitor.current.dataset == DEFAULT_DATASET


def test_a_link_restores_items_with_long_numbers(visit, monkeypatch):
    monkeypatch.setattr(dataset_menu, "menu_label", cache.dataset_title)
    isbns = [9780141439518, 9780141439600, 9780141441146]
    rows = "".join(f"{user},{item},{time}\n" for user in (1, 2) for time, item in enumerate(isbns))
    own_data.add("books", own_data.check(tables.parse("b.csv", f"user,item,time\n{rows}".encode())), "b.csv")
    app = visit(data="books", s=f"{isbns[2]}-{isbns[0]}", rated=f"{isbns[0]}.4")
    assert app.session_state.visitor.current.films == (2, 0)
    assert list(app.session_state.visitor.ratings.values()) == [4.0]
    assert app.query_params["s"] == f"{isbns[2]}-{isbns[0]}"
