from pages.ui import browser, tour
from recsys.paths import REPOSITORY
from tests.pages.reading import keys, said


def strip(app):
    """What the tour says; "" where it is not shown."""
    return " ".join(html.value for html in app.get("html") if 'class="nr-tour"' in html.value)


def test_the_first_visit_has_a_tour_of_four_steps_and_then_no_more(visit):
    app = visit()
    for number, (title, _) in enumerate(tour.STEPS, start=1):
        assert f"{number} of {4}" in strip(app)
        assert title in strip(app)
        app.button(key="tour-next").click().run()
    assert strip(app) == ""
    assert not app.run().exception
    assert strip(app) == ""
    assert app.session_state.tour_closed


def test_the_tour_can_be_left_at_any_step_gone_back_in_and_taken_again(visit):
    app = visit()
    app.button(key="tour-next").click().run()
    app.button(key="tour-back").click().run()
    assert tour.STEPS[0][0] in strip(app)
    app.button(key="tour-skip").click().run()
    assert strip(app) == ""
    app.button(key="tour-again").click().run()
    assert tour.STEPS[0][0] in strip(app)


def test_a_link_with_films_shows_no_tour_but_the_way_to_it(visit):
    app = visit(s="1-2")
    assert strip(app) == ""
    assert "tour-again" in keys(app)


def test_the_tour_is_on_the_first_page_alone_and_waits_there(visit):
    app = visit()
    app.switch_page("3_evaluation.py").run()
    assert strip(app) == ""
    assert "tour-again" not in keys(app)
    assert strip(app.switch_page("1_watch_next.py").run())


def test_a_browser_that_has_seen_the_tour_is_not_shown_it(visit, monkeypatch):
    monkeypatch.setattr(browser, "has_seen_tour", lambda: True)
    assert strip(visit()) == ""


def test_the_script_sets_the_cookie_that_is_looked_for():
    script = (REPOSITORY / "assets" / "style" / "nextreel.js").read_text("utf-8")
    assert f'"{browser.TOUR_COOKIE}=seen;' in script


def test_the_tour_and_the_introduction_ask_for_no_order_and_name_the_switch_of_the_order(visit):
    app = visit()
    assert "in any order, and get recommendations" in said(app)
    assert "They can be in any order." in strip(app)
    switch = visit(s="1-2").toggle(key="in_watch_order").label
    assert f"switch on “{switch}”" in said(app)
    for _step in range(2):
        app.button(key="tour-next").click().run()
    assert f"With “{switch}”, the latest films count most." in strip(app)
