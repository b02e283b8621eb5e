import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import cache
from recsys.data import datasets, own_data, tables
from tests.pages.reading import keys, said

ROWS = "".join(f"{name},{item},{time}\n" for name in ("ann", "bob", "cat") for time, item in enumerate("xyzw"))
USUAL = f"customer,product,date\n{ROWS}".encode()
ODD = f"who;what;date\n{ROWS}".replace(",", ";").encode()


def panel():
    import streamlit as st

    from pages.ui import add_dataset, session

    session.load()
    add_dataset.form()
    st.text(st.session_state.visitor.current.dataset)


@pytest.fixture
def form(home):
    return AppTest.from_function(panel, default_timeout=60).run()


def given(app, data, name="shop.csv", items=None):
    """The form with a file in it."""
    app.file_uploader(key="own_file").upload(name, data, "text/csv").run()
    if items:
        app.file_uploader(key="own_items").upload("items.csv", items, "text/csv").run()
    assert not app.exception
    return app


def test_the_form_says_how_large_a_file_may_be_and_who_sees_it(form):
    assert "up to 50 MB" in said(form)
    assert "Everyone who opens this app" in said(form)
    assert keys(form) == []


def test_a_file_is_checked_before_it_becomes_a_set_that_is_open(form):
    given(form, USUAL)
    assert "12 rows: 3 people, 4 items, 12 events" in said(form).replace("\\", "")
    assert datasets.prepared_names() == ["ml-latest-sample"]
    form.button(key="own-add").click().run()
    assert datasets.load("shop").user_names.tolist() == ["ann", "bob", "cat"]
    assert form.text[-1].value == "shop"


def test_columns_that_do_not_show_are_chosen(form):
    given(form, ODD)
    assert "Choose the column for: {roles}.".format(roles="Person and Item") in said(form)
    assert "own-add" not in keys(form)
    form.selectbox(key="own_column_user_shop.csv").select("who")
    form.selectbox(key="own_column_item_shop.csv").select("what").run()
    form.button(key="own-add").click().run()
    assert datasets.load("shop").n_items == 4


def test_titles_are_taken_from_a_second_file(form):
    given(form, USUAL, items=b"product,title\nx,Tea\ny,Soap\n")
    form.button(key="own-add").click().run()
    assert datasets.load("shop").catalog.movies["title"].tolist() == ["w", "Tea", "Soap", "z"]


def test_a_name_that_is_taken_is_said_and_nothing_is_lost(form):
    given(form, USUAL)
    form.text_input(key="own_name_shop.csv").set_value("ml-1m").run()
    form.button(key="own-add").click().run()
    assert "is reserved" in said(form)
    assert datasets.prepared_names() == ["ml-latest-sample"]
    assert form.text[-1].value == "ml-latest-sample"


def test_a_set_of_ones_own_can_be_put_in_the_place_of_another(form):
    own_data.add("shop", own_data.check(tables.parse("a", b"user,item\n1,2\n")), "a")
    assert cache.dataset("shop").n_users == 1
    given(form, USUAL)
    assert form.button(key="own-add").label == "Replace *{name}*".format(name="shop")
    form.button(key="own-add").click().run()
    assert cache.dataset("shop").n_users == 3


def test_what_is_no_table_is_a_sentence(form):
    given(form, b"just words\nand more of them\n", "notes.txt")
    assert "columns" in said(form)
    assert "own-add" not in keys(form)


@pytest.mark.parametrize(
    ("data", "advice"),
    [
        (b"customer,product,time\nann,x,24.01.23\nbob,y,25.01.23\n", "choose “none” for “Time”"),
        (b"customer,product,rating\nann,x,good\nbob,y,bad\n", "choose “none” for “Rating”"),
        (b"words\nwords\n", "save the file as CSV"),
    ],
)
def test_errors_name_the_controls_of_the_dialog(form, data, advice):
    given(form, data)
    assert advice in said(form)
    assert "--" not in said(form)


def test_the_minimum_of_events_that_leaves_nothing_is_named_as_in_the_dialog(form):
    given(form, USUAL)
    form.number_input(key="own_fewest").set_value(1000).run()
    form.button(key="own-add").click().run()
    assert "a lower number for “Leave out items with fewer events than”" in said(form)


@pytest.fixture
def work(monkeypatch):
    """The names of the files that were parsed, and the columns by which they were checked, in this order."""
    done = []

    def parse(name, data, *how):
        done.append(name)
        return real_parse(name, data, *how)

    def check(table, items=None, wanted=None, *how):
        done.append({"items": items is not None} | (wanted or {}))
        return real_check(table, items, wanted, *how)

    real_parse, real_check = tables.parse, own_data.check
    monkeypatch.setattr(tables, "parse", parse)
    monkeypatch.setattr(own_data, "check", check)
    return done


COLUMNS = {"items": False, "user": "customer", "item": "product", "time": "date", "rating": "none"}


def test_a_file_is_parsed_and_checked_once(work, form):
    given(form, USUAL)
    for number in range(3):
        form.text_input(key="own_name_shop.csv").set_value(f"shop{number}").run()
    form.segmented_control(key="own_noun").set_value("film").run()
    assert work == ["shop.csv", COLUMNS]
    form.button(key="own-add").click().run()
    assert datasets.load("shop2").noun == "film"


def test_other_columns_are_checked_without_parsing_the_file_again(work, form):
    given(form, USUAL)
    time = form.selectbox(key="own_column_time_shop.csv")
    time.select("none").run()
    assert work[2:] == [COLUMNS | {"time": "none"}]
    assert "there are no times" in said(form)


def test_a_new_upload_is_parsed_and_checked(work, form):
    given(form, USUAL)
    given(form, USUAL + b"dora,x,9\n", items=b"product,title\nx,Tea\n")
    assert work == ["shop.csv", COLUMNS, "shop.csv", COLUMNS, "items.csv", COLUMNS | {"items": True}]
    assert "13 rows: 4 people" in said(form)


def test_the_results_are_dropped_with_the_upload(work, form):
    given(form, USUAL)
    form.file_uploader(key="own_file").clear().run()
    given(form, USUAL)
    assert work == ["shop.csv", COLUMNS] * 2


def test_a_set_of_items_is_not_called_one_of_films(visit):
    own_data.add("shop", own_data.check(tables.parse("shop.csv", USUAL)), "shop.csv")
    app = visit(data="shop")
    assert not app.exception
    assert next(one.value for one in app.header) == "Your items"
    assert app.selectbox(key="chosen_data").label == "Items from"
    assert app.text_input(key="search").label.startswith("Add an item")
    assert app.text_input(key="search").placeholder == "Search 4 items"
