import pytest
import streamlit as st

from pages.ui import session as ui_session
from tests.pages import world
from tests.pages.reading import said, titles, watched

OTHER = [*world.TITLES[:10], *world.TITLES[11:]]  # one film less, other ids


def switch(app, name):
    return app.selectbox(key="chosen_data").set_value(name).run()


def remove_first(app):
    next(button for button in app.button if button.key.startswith("remove-")).click().run()


def address(app):
    return {name: text if isinstance(text, str) else text[0] for name, text in app.query_params.items()}


@pytest.fixture
def two_sets(home):
    world.save(world.build("ml-latest-small", OTHER, first_id=500))


def test_a_data_set_that_is_come_back_to_has_its_films_again(visit, two_sets):
    app = switch(visit(s="2-11-3"), "ml-latest-small")
    remove_first(app)
    assert watched(app) == titles(2)
    assert watched(switch(app, "ml-latest-sample")) == titles(1, 10, 2)
    assert watched(switch(app, "ml-latest-small")) == titles(2)


def test_a_change_of_the_data_set_is_undone_and_what_was_before_it_too(visit, two_sets):
    app = visit(s="2-11-3")
    remove_first(app)
    switch(app, "ml-latest-small")
    app.button(key="undo").click().run()
    assert app.session_state.visitor.current.dataset == app.selectbox(key="chosen_data").value == "ml-latest-sample"
    assert watched(app) == titles(10, 2)
    app.button(key="undo").click().run()
    assert watched(app) == titles(1, 10, 2)
    assert app.button(key="undo").disabled


def test_an_undone_change_of_the_data_set_can_be_made_again(visit, two_sets):
    app = switch(visit(s="2-3"), "ml-latest-small")
    app.button(key="undo").click().run()
    remove_first(app)
    assert watched(switch(app, "ml-latest-small")) == titles(2)


def test_films_that_are_not_wanted_go_along_and_come_back(visit, two_sets):
    app = switch(visit(s="2-3", **{"not": "11-4"}), "ml-latest-small")
    assert app.session_state.visitor.current.not_interested == (3,)
    switch(app, "ml-latest-sample")
    assert app.session_state.visitor.current.not_interested == (10, 3)


def test_a_link_to_a_set_that_is_not_here_is_still_there_after_a_look_at_another(visit):
    app = visit(data="ml-1m", s="1-2")
    switch(app, "ml-latest-sample")
    assert watched(app) == []
    assert address(app) == {}
    app.button(key="undo").click().run()
    assert (address(app)["data"], address(app)["s"]) == ("ml-1m", "1-2")


def test_back_and_forward_bring_back_what_was_there_with_its_undo(visit, follow):
    app = visit()
    app.button(key="take-Animated family films").click().run()
    five = address(app)
    remove_first(app)
    four, films = address(app), watched(app)

    follow(app, five)
    assert len(watched(app)) == 5
    assert not app.button(key="undo").disabled
    follow(app, {})
    assert watched(app) == []
    assert app.session_state.visitor.undo_stack == []
    follow(app, four)
    assert watched(app) == films
    app.button(key="undo").click().run()
    assert len(watched(app)) == 5


def test_back_brings_back_what_was_chosen_beside_the_films(visit, follow):
    app = visit(s="1-2")
    at_first = address(app)
    app.button_group(key="how_many").set_value(5).run()
    assert address(app)["n"] == "5"
    follow(app, at_first)
    assert app.button_group(key="how_many").value == 10
    assert app.session_state.visitor.undo_stack == []


def test_back_to_an_address_of_an_earlier_visit_is_read_and_can_be_undone(visit, follow):
    app = visit(s="1-2")
    follow(app, {"data": "ml-latest-sample", "s": "3", "n": "5"})
    assert watched(app) == titles(2)
    assert app.button_group(key="how_many").value == 5
    app.button(key="undo").click().run()
    assert watched(app) == titles(0, 1)


def test_the_state_of_a_url_that_is_visited_again_is_the_last_to_be_removed(visit, monkeypatch):
    monkeypatch.setattr(ui_session, "MAX_STORED_URLS", 2)
    app = visit(s="1")
    first = app.session_state.visitor.current_url
    app.button_group(key="how_many").set_value(5).run()
    app.button_group(key="how_many").set_value(10).run()  # the first URL again
    assert app.session_state.visitor.current_url == first
    app.button_group(key="how_many").set_value(20).run()
    assert first in app.session_state.visitor.by_url


def test_a_click_before_the_address_has_changed_is_no_step_back(visit):
    """Who clicks fast sends the address of before the last click."""
    app = visit()
    app.button(key="take-Animated family films").click().run()
    app.query_params.clear()
    remove_first(app)
    assert len(watched(app)) == 4


def test_a_page_change_has_the_address_before_the_navigation(visit, monkeypatch):
    """Then the browser makes one step of its history of it, not two."""
    app, seen, navigation = visit(s="1-2"), [], st.navigation
    whole = address(app)
    monkeypatch.setattr(
        st, "navigation", lambda *pages, **look: seen.append(st.query_params.to_dict()) or navigation(*pages, **look)
    )
    app.query_params.clear()
    app.switch_page("3_evaluation.py").run()
    assert seen[-1] == whole


def test_a_film_that_training_left_out_goes_along_and_comes_back(visit, two_sets):
    rare = len(world.TITLES)
    app = switch(visit(s=f"1-{rare + 1}"), "ml-latest-small")
    assert watched(app) == [*titles(0), world.RARE[:-7]]
    assert app.session_state.visitor.current.films == (0, rare - 1)  # one film less is known there
    assert address(app)["s"] == f"500-{500 + rare - 1}"
    switch(app, "ml-latest-sample")
    assert app.session_state.visitor.current.films == (0, rare)


@pytest.mark.parametrize("forged", ["no such set", b"\xff", 7, ["ml-latest-small"]])
def test_a_set_that_there_is_not_is_not_opened_whatever_a_browser_sends(visit, forged):
    app = visit(s="1-2")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(st, "session_state", app.session_state)
        ui_session.open_dataset(forged)
    assert app.session_state.visitor.current.dataset == "ml-latest-sample"


def test_more_than_two_steps_can_be_undone(visit):
    app = visit(s="1-2-3-4-5")
    for _ in range(4):
        remove_first(app)
    assert watched(app) == titles(4)
    for n_left in (2, 3, 4, 5):
        app.button(key="undo").click().run()
        assert len(watched(app)) == n_left
    assert watched(app) == titles(0, 1, 2, 3, 4)


def order_switch(app):
    """Whether the list is a history, as the switch shows, or None without a switch."""
    assert not app.exception
    return {toggle.key: toggle.value for toggle in app.toggle}.get("in_watch_order")


def surprise(app):
    app.session_state["surprise-open"] = True
    app.run().button(key="surprise").click().run()
    return app


def test_the_link_of_a_history_is_of_a_history(visit):
    app = visit()
    app.button(key="surprise").click().run()
    assert order_switch(app)
    link = address(app)
    assert link["order"] == "true"
    again = visit(**link)
    assert order_switch(again)
    assert watched(again) == watched(app)
    assert again.session_state.visitor.current.in_watch_order


def test_the_films_of_a_user_stay_a_history_without_one_of_them(visit):
    app = visit()
    app.button(key="surprise").click().run()
    remove_first(app)
    assert order_switch(app)


def test_undo_brings_back_the_user_and_the_order_of_the_list(visit):
    app = surprise(visit(s="1-2-3"))
    person = app.session_state.visitor.current.user
    assert person.items == app.session_state.visitor.current.films
    for _ in range(3):  # the next person is another one
        surprise(app)
    for _ in range(3):
        app.button(key="undo").click().run()
    assert app.session_state.visitor.current.user == person
    assert order_switch(app)
    assert "A real person from" in said(app)
    app.button(key="undo").click().run()
    assert app.session_state.visitor.current.user is None
    assert order_switch(app) is False


def test_a_new_list_is_favourites_again(visit):
    app = visit(s="1-2-3", order="true")
    assert order_switch(app)
    app.button(key="clear").click().run()
    app.button(key="take-Animated family films").click().run()
    assert order_switch(app) is False
    assert "order" not in address(app)
    app = visit(s="1", order="true")
    remove_first(app)
    assert not app.session_state.visitor.current.in_watch_order
    app.button(key="undo").click().run()
    assert app.session_state.visitor.current.in_watch_order


def test_each_data_set_keeps_the_order_of_its_list(visit, two_sets):
    app = switch(visit(s="2-11-3", order="true"), "ml-latest-small")
    assert order_switch(app)
    app.button(key="clear").click().run()
    app.button(key="take-Animated family films").click().run()
    assert order_switch(app) is False
    assert order_switch(switch(app, "ml-latest-sample"))
    assert order_switch(switch(app, "ml-latest-small")) is False


def test_back_and_forward_bring_back_the_order(visit, follow):
    app = visit(s="1-2-3")
    favourites = address(app)
    app.toggle(key="in_watch_order").set_value(True).run()
    history = address(app)
    assert order_switch(follow(app, favourites)) is False
    assert order_switch(follow(app, history))


def test_the_visitor_can_say_that_the_list_is_in_the_order_of_watching(visit, monkeypatch):
    taken_for_favourites = []
    monkeypatch.setattr(ui_session, "for_unordered_list", lambda each: taken_for_favourites.append(each) or each)
    app = visit(s="1-2-3")
    assert taken_for_favourites
    taken_for_favourites.clear()
    app.toggle(key="in_watch_order").set_value(True).run()
    assert not taken_for_favourites
    assert app.query_params["order"] == "true"
    app.button(key="undo").click().run()
    assert taken_for_favourites
    app.toggle(key="in_watch_order").set_value(True).run()
    app.toggle(key="in_watch_order").set_value(False).run()
    assert taken_for_favourites
    assert "order" not in app.query_params


def test_who_moves_a_film_cares_about_the_order(visit):
    app = visit(s="1-2-3")
    assert not app.toggle(key="in_watch_order").value
    app.button(key="down-1").click().run()
    assert not app.exception
    assert app.toggle(key="in_watch_order").value
    app.button(key="undo").click().run()
    assert not app.exception
    assert not app.toggle(key="in_watch_order").value
    assert not visit(s="1-2-3", order="x").toggle(key="in_watch_order").value
    assert visit(s="1-2-3", order="true").toggle(key="in_watch_order").value


def test_a_single_film_has_no_switch(visit):
    assert order_switch(visit(s="1", order="true")) is None
